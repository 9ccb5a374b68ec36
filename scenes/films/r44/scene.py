"""The R44 film in motion. ``manim render -ql scenes/films/r44/scene.py R44`` plays it; R44English is in English.

The motions that both orders of the norm share come after the states; pre-norm plays them from ``pre_norm.scene``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

from manim import (
    Animation,
    AnimationGroup,
    Create,
    FadeIn,
    FadeOut,
    FadeToColor,
    LaggedStart,
    Mobject,
    MoveAlongPath,
    Transform,
    VGroup,
    there_and_back,
)

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.symbols import symbol
from addnorm.mathcore.trace import Trace
from addnorm.scenes.elements.lettering import Lettering, Pen
from addnorm.scenes.elements.shapes import path
from addnorm.scenes.elements.value_chart import Travel
from addnorm.scenes.films.r44.picture import DRAW, Drawing
from addnorm.scenes.films.r44.picture.chart import Chart, passage, value_chart
from addnorm.scenes.films.r44.picture.easel import POST_NORM, Easel, Layout
from addnorm.scenes.films.r44.picture.two_paths import skip_path
from addnorm.scenes.films.r44.states import NAMES, storyboard
from addnorm.scenes.stage import Picture, Stage, draw_in, early, exchange, glide, late
from addnorm.scenes.storyboard import Element, State, Storyboard
from addnorm.scenes.text import FormulaAtom, symbol_line
from addnorm.scenes.theme import TYPE

MORE = ("more.before", "more.after")
CHROME = ("heading", "marker", "conventions", "caption")
ADDED = ("row.attn_out", "row.resid_pre")


class R44(Stage):
    """One token: x on the skip path, attention's Δ added, LayerNorm over that row.

    ``norm`` is the order it plays; ``layout`` and ``drawings`` are its pictures, and ``unfolds`` names the node
    of b4 that unfolds into a row of features.
    """

    names = NAMES
    norm: ClassVar[str] = "post"
    layout: ClassVar[Layout] = POST_NORM
    drawings: ClassVar[Mapping[str, Drawing]] = DRAW
    unfolds: ClassVar[str] = "result"

    @classmethod
    def storyboard(cls, trace: Trace) -> Storyboard:
        """The film's states for a trace. Raises AddnormError for an example in the other order of the norm."""
        if trace.example.norm != cls.norm:
            raise AddnormError(
                f"{cls.__name__} plays {cls.norm}-norm, but {trace.example.id} is {trace.example.norm}-norm"
            )
        return storyboard(trace)

    @cached_property
    def easel(self) -> Easel:
        """What this production's pictures are drawn with."""
        pen = Pen(self.theme, self.production.language)
        return Easel(self.trace, self.wording, pen, self.layout)

    def draw(self, element: Element, state: State) -> Mobject:
        """An element as it stands in a state's finished picture."""
        return self.drawings[element.kind](self.easel, element, state)

    def chrome(self, before: Picture, after: Picture) -> list[Animation]:
        """Heading, conventions and caption give way to the next ones; the marker moves on."""
        marker = glide(before["marker"], after["marker"]) if "marker" in before else FadeIn(after["marker"])
        return [marker, *exchange(before, after, "heading", "conventions", "caption")]

    def enter_b4(self, before: Picture, after: Picture) -> None:
        """The token row appears; x goes both ways, through attention and past it; both meet."""
        tokens = [after[name] for name in after if name.startswith(("token.", "more."))]
        self.move(*self.chrome(before, after), *map(FadeIn, tokens), seconds=0.8)
        self.move(draw_in(after["input"]), seconds=1.0)
        self.enter_branch(after)
        self.move(FadeIn(after["junction"]), seconds=0.4)
        x = self.easel.pen.write(symbol_line(symbol("resid_pre")), TYPE.symbol + 10)
        way = path(skip_path(), self.theme.color("x"), radius=0.75)
        x.center_on(*skip_path()[0])
        self.move(
            draw_in(after["skip"]),
            draw_in(after["attention"].update_arrow),
            MoveAlongPath(x, way),
            seconds=1.8,
        )
        self.move(FadeOut(x), draw_in(after["result"]), seconds=0.8)

    def enter_b5(self, before: Picture, after: Picture) -> None:
        """The tokens line up in a column, and each unfolds into its row of features."""
        followed = f"row.{self.trace.example.followed}"
        others = [name for name in after if name.startswith("row.") and name != followed]
        tokens = [name for name in before if name.startswith("token.")]
        flow = [name for name in before if name not in (*CHROME, *tokens, self.unfolds)]
        self.move(*self.chrome(before, after), *exchange(before, {}, *flow), seconds=0.8)
        row = after[followed]
        node = before[self.unfolds]
        copies = [node.box.frame.copy() for _ in row.cells]
        self.take_away(node.box.frame)
        self.move(
            *(glide(before[name], after[name]) for name in tokens if name in after),
            *(FadeOut(before[name]) for name in tokens if name not in after),
            *(FadeIn(after[name]) for name in after if name.startswith("token.") and name not in before),
            FadeOut(node.ways),
            FadeOut(node.box.words, rate_func=early),
            *(Transform(copy, cell) for copy, cell in zip(copies, row.cells, strict=True)),
            FadeIn(row.contents, rate_func=late),
            seconds=1.4,
        )
        if others:
            self.move(LaggedStart(*(FadeIn(after[name]) for name in others), lag_ratio=0.4), seconds=0.8)
        self.move(draw_in(after["bracket"]), FadeIn(after["rows_name"]), seconds=0.8)
        norms = [name for name in after if name.startswith("norm.")]
        self.move(*(draw_in(after[name]) for name in norms), *exchange({}, after, "axis", *MORE), seconds=1.0)

    def enter_b0(self, before: Picture, after: Picture) -> None:
        """Only the followed token stays; its row parts into the two rows it was made of."""
        followed = self.trace.example.followed
        stays = (f"token.{followed}", f"row.{followed}")
        leaving = [name for name in before if name not in CHROME and name not in stays]
        self.move(*self.chrome(before, after), *exchange(before, {}, *leaving), seconds=0.8)
        summed = before[stays[1]]
        rows = [after[name].row for name in ("row.attn_out", "row.resid_pre")]
        copies = [summed.cells.copy() for _ in rows]
        self.take_away(summed.cells, before[stays[0]])
        self.move(
            FadeIn(after["position"].frame),
            glide(before[stays[0]], after["position"].chip),
            FadeOut(summed.contents),
            *(glide(copy, row.cells) for copy, row in zip(copies, rows, strict=True)),
            seconds=1.2,
        )
        names = [after[name].name_line for name in ("row.attn_out", "row.resid_pre")]
        self.move(*map(FadeIn, (*(row.contents for row in rows), *names)), seconds=0.8)
        self.move(draw_in(after["junction"]), seconds=0.8)

    def enter_b1(self, before: Picture, after: Picture) -> None:
        """Both rows travel, feature by feature, into their sum."""
        self.move(
            *self.chrome(before, after),
            *(glide(before[name], after[name]) for name in (*ADDED, "position")),
            FadeOut(before["junction"]),
            seconds=0.8,
        )
        self.add_up(after)

    def enter_b2(self, before: Picture, after: Picture) -> None:
        """r's row alone is circled; its bars grow, then μ rises, the band opens, and the formula follows."""
        rows = (*ADDED, "row.resid_mid", "junction")
        self.move(
            *self.chrome(before, after),
            *(glide(before[name], after[name]) for name in rows),
            FadeOut(before["position"]),
            FadeOut(before["sums"]),
            seconds=1.0,
        )
        self.measure(after)

    def enter_b3(self, before: Picture, after: Picture) -> None:
        """The bars shift by μ and scale by 1/√(σ² + ε); where γ and β do anything, they go on into u's."""
        self.normalize(before, after, self.board.state("b3"))

    # What both orders of the norm share.

    def enter_branch(self, after: Picture) -> None:
        """b4's attention appears, and what it reads."""
        self.move(draw_in(after["reading"]), FadeIn(after["attention"].body), seconds=1.0)

    def add_up(self, after: Picture) -> None:
        """The numbers of x and O travel, feature by feature, into their sum r."""
        total, signs = after["row.resid_mid"].row, after["sums"]
        self.move(
            *map(FadeIn, (signs.plus, total.cells, after["row.resid_mid"].name_line)),
            draw_in(after["junction"]),
            seconds=1.0,
        )
        cards = [
            VGroup(*(VGroup(after[name].row.cells[n].copy(), after[name].row.numbers[n].copy()) for name in ADDED))
            for n in range(len(total.cells))
        ]
        gathering = map(_gather, cards, total.cells, total.numbers)
        self.move(LaggedStart(*gathering, lag_ratio=0.25), seconds=2.8)
        self.move(FadeIn(signs.equals), *map(FadeIn, total.gap), seconds=0.6)

    def measure(self, after: Picture) -> None:
        """A row is circled; its bars grow, then μ rises, the band of one σ opens, and the formula follows."""
        self.move(draw_in(after["circled"]), draw_in(after["bracket"]), seconds=0.8)
        chart, formula = after["chart"], self.formula_parts(after["formula"])
        self.move(FadeIn(formula["name"]), Create(chart.zero), Travel(chart.bars, self.trace), seconds=1.2)
        self.move(Travel(chart.level, self.trace), FadeIn(after["mean"]), FadeIn(formula["center"]), seconds=1.2)
        self.take_away(chart.bars, chart.zero, chart.level)
        self.add(chart.band.travel_to(0.0, self.trace), chart.bars, chart.zero, chart.level)
        self.move(
            Travel(chart.band, self.trace),
            *map(FadeIn, (after["variance"], after["spread"], formula["scale"])),
            seconds=1.2,
        )
        self.move(*map(FadeIn, (formula["gain"], formula["shift"], *chart.cut)), seconds=0.8)

    def normalize(self, before: Picture, after: Picture, state: State) -> None:
        """The bars become those of u, by way of the normalized row where γ and β do anything; then u goes on."""
        self.move(*self.chrome(before, after), *exchange(before, after, "circled", "bracket", "spread"), seconds=0.8)
        chart = before["chart"]
        if state.passing:
            normalized = self.present(state.passing[0], state)
            chart = self.travel(chart, value_chart(self.easel, passage(self.easel, "normalized")))
            self.move(draw_in(normalized), *map(FadeIn, chart.cut), seconds=0.8)
            self.move(*self.glow(after["formula"], "gain", "shift"), seconds=1.2)
            self.travel(chart, after["chart"])
            self.move(
                *(FadeOut(part, rate_func=early) for part in (normalized.row.contents, normalized.name_line)),
                *(FadeIn(part, rate_func=late) for part in after["row.ln.out"]),
                seconds=1.0,
            )
            self.take_away(normalized)
        else:
            self.travel(chart, after["chart"])
            self.move(draw_in(after["row.ln.out"]), seconds=0.8)
        self.move(
            draw_in(after["next"]),
            *map(FadeIn, after["chart"].cut),
            *exchange({}, after, "spread.normalized"),
            seconds=0.8,
        )

    def travel(self, old: Chart, new: Chart) -> Chart:
        """Let a chart travel into the next one; values written beside bars go first, since they name the old ones."""
        if len(old.cut):
            self.move(FadeOut(old.cut), seconds=0.4)
        self.take_away(old)
        leaving = [part for part in (old.band, old.level) if part is not None and new.band is None]
        coming = [part for part in (new.band, new.bars, new.level) if part is not None]
        goal = self.theme.color(new.bars.end.name)
        for part in coming:
            part.travel_to(0.0, self.trace)
        new.bars.set_fill(old.bars.get_fill_color())
        line = old.zero.copy()
        self.add(*leaving, *coming, line)
        self.move(
            *map(FadeOut, leaving),
            *(Travel(part, self.trace, goal if part is new.bars else None) for part in coming),
            Transform(line, new.zero),
            seconds=2.0,
        )
        self.take_away(line)
        self.add(new.zero)
        return new

    def glow(self, formula: Lettering, *parts: str) -> list[Animation]:
        """Parts of the formula light up in the colour of what they make, and go back."""
        color = self.theme.color("ln.out")
        groups = self.formula_parts(formula)
        return [FadeToColor(groups[part], color, rate_func=there_and_back) for part in parts]

    def formula_parts(self, formula: Lettering) -> dict[str, VGroup]:
        """The glyphs of a formula by the part they belong to."""
        parts: dict[str, VGroup] = {}
        for glyphs in formula.glyphs:
            source = glyphs.ink.run.source
            assert isinstance(source, FormulaAtom)
            parts.setdefault(source.formula.atoms[source.n].part, VGroup()).add(glyphs)
        return parts


def _gather(cards: VGroup, cell: Mobject, number: Mobject) -> Animation:
    """Both cards of a feature dissolve on their way into the cell of their sum, whose number then appears."""
    leaving = (FadeOut(card, target_position=cell) for card in cards)
    return AnimationGroup(*leaving, FadeIn(number, rate_func=late))


class R44English(R44):
    """The same film in English."""

    language = "en"
