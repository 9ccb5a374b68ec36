"""The R44 film in pre-norm: ``manim render -ql scenes/films/r44/pre_norm/scene.py R44PreNorm``."""

from __future__ import annotations

from manim import ApplyMethod, FadeIn, FadeOut

from addnorm.scenes.films.r44.pre_norm.picture import DRAW_PRE_NORM, PRE_NORM
from addnorm.scenes.films.r44.scene import CHROME, R44
from addnorm.scenes.stage import Picture, draw_in, exchange, glide


class R44PreNorm(R44):
    """One token: x on the skip path, LayerNorm on its copy, attention on that, and Δ added to x as it was."""

    example = "r44-pre"
    norm = "pre"
    layout = PRE_NORM
    drawings = DRAW_PRE_NORM
    unfolds = "input"

    def enter_branch(self, after: Picture) -> None:
        """LayerNorm appears first, with the positions that come through it, then attention, which reads them."""
        norm, into_attention = after["norm"]
        self.move(draw_in(after["reading"]), FadeIn(norm), seconds=1.0)
        self.move(draw_in(into_attention), FadeIn(after["attention"].body), seconds=0.8)

    def enter_b0(self, before: Picture, after: Picture) -> None:
        """Only the followed token's row stays: x itself on its direct path, and a copy for LayerNorm."""
        followed = self.trace.example.followed
        token, row = f"token.{followed}", f"row.{followed}"
        leaving = [name for name in before if name not in (*CHROME, token, row)]
        self.move(*self.chrome(before, after), *exchange(before, {}, *leaving), seconds=0.8)
        self.move(
            FadeIn(after["position"].frame),
            glide(before[token], after["position"].chip),
            glide(before[row], after["row.resid_pre"].row),
            FadeIn(after["row.resid_pre"].name_line),
            seconds=1.2,
        )
        self.move(draw_in(after["junction"]), seconds=1.0)
        self.move(draw_in(after["copy"]), seconds=1.0)

    def enter_b1(self, before: Picture, after: Picture) -> None:
        """x's row alone is circled; its bars grow, then μ rises, the band opens, and the formula follows."""
        self.move(
            *self.chrome(before, after),
            *(glide(before[name], after[name]) for name in ("row.resid_pre", "junction")),
            *map(FadeOut, (before["position"], before["copy"])),
            seconds=1.0,
        )
        self.measure(after)

    def enter_b2(self, before: Picture, after: Picture) -> None:
        """The bars shift by μ and scale by 1/√(σ² + ε), and on into u's; u goes on into attention."""
        self.normalize(before, after, self.board.state("b2"))

    def enter_b3(self, before: Picture, after: Picture) -> None:
        """u goes through attention, O comes in, and meets x on its direct path."""
        direct, stays = before["junction"], ("row.resid_pre", "mean", "variance", "formula")
        feeds, _, node = after["junction"]
        self.move(
            *self.chrome(before, after),
            *exchange(before, {}, "chart", "spread.normalized", "next"),
            FadeOut(direct.waiting),
            seconds=0.8,
        )
        self.move(
            *(glide(before[name], after[name]) for name in stays),
            glide(direct.way, feeds[1]),
            ApplyMethod(direct.node.move_to, node),
            draw_in(after["attention"]),
            seconds=1.2,
        )
        self.move(draw_in(after["row.attn_out"]), seconds=0.8)
        self.add_up(after)
        self.take_away(direct)
        self.move(draw_in(after["next"]), seconds=0.8)


class R44PreNormEnglish(R44PreNorm):
    """The same film in English."""

    language = "en"
