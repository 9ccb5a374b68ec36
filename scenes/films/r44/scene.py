"""The R44 film in motion. ``manim render -ql scenes/films/r44/scene.py R44`` plays it; R44English is in English."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from manim import (
    Animation,
    AnimationGroup,
    Create,
    FadeIn,
    FadeOut,
    LaggedStart,
    Mobject,
    MoveAlongPath,
    Transform,
    VGroup,
    there_and_back,
)

from addnorm.mathcore.symbols import symbol
from addnorm.mathcore.trace import Trace
from addnorm.scenes.elements.lettering import Pen
from addnorm.scenes.elements.shapes import path
from addnorm.scenes.elements.value_chart import Travel
from addnorm.scenes.films.r44 import picture
from addnorm.scenes.films.r44.picture import DRAW, Easel
from addnorm.scenes.films.r44.states import NAMES, normalized_row, storyboard
from addnorm.scenes.stage import Picture, Stage, draw_in, early, exchange, glide, late
from addnorm.scenes.storyboard import Element, State, Storyboard
from addnorm.scenes.text import symbol_line
from addnorm.scenes.theme import TYPE

MORE = ("more.before", "more.after")
CHROME = ("heading", "marker", "conventions", "caption")


class R44(Stage):
    """One token: x on the skip path, attention's Δ added, LayerNorm over that row."""

    names = NAMES

    @staticmethod
    def storyboard(trace: Trace) -> Storyboard:
        return storyboard(trace)

    @cached_property
    def easel(self) -> Easel:
        return Easel(self.trace, self.wording, Pen(self.theme, self.production.language), self.board)

    def draw(self, element: Element, state: State) -> Mobject:
        return DRAW[element.kind](self.easel, element, state)

    def enter_b4(self, before: Picture, after: Picture) -> None:
        """The token row appears; x goes both ways, through attention and past it; both meet."""
        tokens = [after[name] for name in after if name.startswith(("token.", "more."))]
        self.move(*exchange(before, after, *CHROME), *map(FadeIn, tokens), seconds=0.8)
        self.move(draw_in(after["input"]), seconds=1.0)
        self.move(draw_in(after["reading"]), FadeIn(after["attention"][0]), seconds=1.0)
        self.move(FadeIn(after["junction"]), seconds=0.4)
        x = self.easel.pen.write(symbol_line(symbol("resid_pre")), TYPE.symbol + 10)
        way = path(picture.skip_path(), self.theme.color("x"), radius=0.75)
        x.center_on(*picture.skip_path()[0])
        self.move(
            draw_in(after["skip"]),
            draw_in(VGroup(*after["attention"][1:])),
            MoveAlongPath(x, way),
            seconds=1.8,
        )
        self.move(FadeOut(x), draw_in(after["result"]), seconds=0.8)

    def enter_b5(self, before: Picture, after: Picture) -> None:
        """The tokens line up in a column, and each unfolds into its row of features."""
        followed = f"row.{self.trace.example.followed}"
        others = [name for name in after if name.startswith("row.") and name != followed]
        flow = ("reading", "input", "skip", "attention", "junction")
        tokens = [name for name in before if name.startswith("token.")]
        self.move(*exchange(before, after, *CHROME), *exchange(before, {}, *flow, *MORE), seconds=0.8)
        row = after[followed]
        go, (sum_box, words) = before["result"]
        copies = [sum_box.copy() for _ in row.cells]
        self.remove(before["result"], sum_box)
        self.move(
            *(glide(before[name], after[name]) for name in tokens if name in after),
            *(FadeOut(before[name]) for name in tokens if name not in after),
            *(FadeIn(after[name]) for name in after if name.startswith("token.") and name not in before),
            FadeOut(go),
            FadeOut(words, rate_func=early),
            *(Transform(copy, cell) for copy, cell in zip(copies, row.cells, strict=True)),
            FadeIn(VGroup(*(member for member in row if member not in row.cells)), rate_func=late),
            seconds=1.4,
        )
        if others:
            self.move(LaggedStart(*(FadeIn(after[name]) for name in others), lag_ratio=0.4), seconds=0.8)
        self.move(draw_in(after["bracket"]), seconds=0.8)
        norms = [name for name in after if name.startswith("norm.")]
        self.move(*(draw_in(after[name]) for name in norms), *exchange({}, after, "axis", *MORE), seconds=1.0)

    def enter_b0(self, before: Picture, after: Picture) -> None:
        """Only the followed token stays; its row parts into the two rows it was made of."""
        followed = self.trace.example.followed
        stays = (f"token.{followed}", f"row.{followed}")
        leaving = [name for name in before if name not in CHROME and name not in stays]
        self.move(*exchange(before, after, *CHROME), *exchange(before, {}, *leaving), seconds=0.8)
        frame, chip = after["position"]
        summed = before[stays[1]]
        rows = [after[name][0] for name in ("row.attn_out", "row.resid_pre")]
        copies = [VGroup(*(cell.copy() for cell in summed.cells)) for _ in rows]
        self.remove(*summed.cells, before[stays[0]])
        self.move(
            FadeIn(frame),
            glide(before[stays[0]], chip),
            FadeOut(VGroup(*(member for member in summed if member not in summed.cells))),
            *(Transform(copy, VGroup(*row.cells)) for copy, row in zip(copies, rows, strict=True)),
            seconds=1.2,
        )
        inside = [VGroup(*(member for member in row if member not in row.cells)) for row in rows]
        names = [after[name][1] for name in ("row.attn_out", "row.resid_pre")]
        self.move(*map(FadeIn, (*inside, *names)), seconds=0.8)
        self.move(draw_in(after["junction"]), seconds=0.8)

    def enter_b1(self, before: Picture, after: Picture) -> None:
        """Both rows travel, feature by feature, into their sum."""
        inputs = ("row.attn_out", "row.resid_pre")
        self.move(
            *exchange(before, after, *CHROME),
            *(glide(before[name], after[name]) for name in (*inputs, "position")),
            FadeOut(before["junction"]),
            seconds=0.8,
        )
        total, name = after["row.resid_mid"]
        plus = VGroup(*after["sums"][::2])
        signs = VGroup(*after["sums"][1::2])
        self.move(
            FadeIn(plus), FadeIn(VGroup(*total.cells)), FadeIn(name), draw_in(after["junction"]), seconds=1.0
        )
        cards = [
            VGroup(
                *(
                    VGroup(row[0].cells[n].copy(), row[0].numbers[n].copy())
                    for row in (after[name] for name in inputs)
                )
            )
            for n in range(len(total.cells))
        ]
        self.move(
            LaggedStart(
                *(
                    AnimationGroup(*(card.animate.move_to(cell) for card in pair))
                    for pair, cell in zip(cards, total.cells, strict=True)
                ),
                lag_ratio=0.25,
            ),
            seconds=2.2,
        )
        rest = VGroup(*(member for member in total if member not in total.cells))
        self.move(
            *(FadeOut(card, rate_func=early) for card in cards),
            FadeIn(rest, rate_func=late),
            FadeIn(signs),
            seconds=1.0,
        )

    def enter_b2(self, before: Picture, after: Picture) -> None:
        """r's row alone is circled; its bars grow, then μ rises, the band opens, and the formula follows."""
        rows = ("row.attn_out", "row.resid_pre", "row.resid_mid", "junction")
        self.move(
            *exchange(before, after, *CHROME),
            *(glide(before[name], after[name]) for name in rows),
            FadeOut(before["position"]),
            FadeOut(before["sums"]),
            seconds=1.0,
        )
        self.move(draw_in(after["circled"]), draw_in(after["bracket"]), seconds=0.8)
        band, bars, zero, level, *cut = after["chart"]
        formula = self.formula_parts(after["formula"])
        self.move(FadeIn(formula["name"]), Create(zero), Travel(bars, self.trace), seconds=1.2)
        self.move(Travel(level, self.trace), FadeIn(after["mean"]), FadeIn(formula["center"]), seconds=1.2)
        self.take_away(bars, zero, level)
        self.add(bars, zero, level)
        self.move(
            Travel(band, self.trace),
            FadeIn(after["variance"]),
            FadeIn(after["spread"]),
            FadeIn(formula["scale"]),
            seconds=1.2,
        )
        self.move(FadeIn(formula["gain"]), FadeIn(formula["shift"]), *map(FadeIn, cut), seconds=0.8)

    def enter_b3(self, before: Picture, after: Picture) -> None:
        """The bars shift by μ and scale by 1/√(σ² + ε); where γ and β do anything, they go on into u's."""
        self.move(*exchange(before, after, *CHROME, "circled", "bracket", "spread"), seconds=0.8)
        ways = picture.chart_stages(self.easel)
        start = VGroup(*before["chart"][:4])
        if "normalized" in ways:
            normalized = self.draw(normalized_row(self.trace), self.board.state("b3"))
            start = self.travel(before["chart"], start, picture.value_chart(self.easel, *ways["normalized"]))
            self.move(draw_in(normalized), seconds=0.8)
            self.move(*self.glow(after["formula"], "gain", "shift"), seconds=1.2)
            self.travel(start, start, VGroup(*after["chart"][:4]))
            cells, name = normalized
            self.move(
                *(FadeOut(part, rate_func=early) for part in (VGroup(*cells.numbers), name)),
                *(FadeIn(part, rate_func=late) for part in after["row.ln.out"]),
                seconds=1.0,
            )
            self.take_away(normalized)
        else:
            self.travel(before["chart"], start, VGroup(*after["chart"][:4]))
            self.move(draw_in(after["row.ln.out"]), seconds=0.8)
        self.move(draw_in(after["next"]), *map(FadeIn, after["chart"][4:]), seconds=0.8)

    def travel(self, old: Mobject, start: VGroup, end: VGroup) -> VGroup:
        """Let a chart travel into the next one; values written beside bars go first, since they name the old ones."""
        if len(old) > 4:
            self.move(FadeOut(VGroup(*old[4:])), seconds=0.4)
        self.take_away(old)
        band, bars, zero, level = end
        base = start[2]
        for shape in (band, bars, level):
            if len(shape.points):
                shape.travel_to(0.0, self.trace)
        bars.set_fill(start[1].get_fill_color())
        leaving = [start[n] for n in (0, 3) if not len(end[n].points) and len(start[n].points)]
        self.add(*leaving, band, bars, base, level)
        moving = [Travel(shape, self.trace) for shape in (band, level) if len(shape.points)]
        goal = self.theme.color(bars.end.name)
        self.move(*map(FadeOut, leaving), *moving, Travel(bars, self.trace, goal), Transform(base, zero), seconds=2.0)
        self.take_away(base)
        self.add(zero, level)
        return end

    def glow(self, formula: Mobject, *parts: str) -> list[Animation]:
        """Parts of the formula light up in the colour of what they make, and go back."""
        color = self.theme.color("ln.out")
        groups = self.formula_parts(formula)
        return [groups[part].animate(rate_func=there_and_back).set_fill(color) for part in parts]

    def formula_parts(self, formula: Mobject) -> dict[str, VGroup]:
        """The glyphs of a formula by the part they belong to."""
        parts: dict[str, VGroup] = {}
        for glyphs in formula:
            source: Any = glyphs.ink.run.source
            parts.setdefault(source.formula.atoms[source.n].part, VGroup()).add(glyphs)
        return parts


class R44English(R44):
    """The same film in English."""

    language = "en"
