"""The pre-norm pictures: where things stand that stand elsewhere in post-norm, and what post-norm has not.

b1 and b2 are read from below: x at the foot, its bars over it, u on top. In b3 the branch comes down again, from
u through attention to O, and meets x, which has been waiting on its direct path.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from manim import Mobject, VGroup, VMobject

from addnorm.scenes.elements.nodes import block, plus_node
from addnorm.scenes.elements.shapes import arrow, path, segment
from addnorm.scenes.films.r44.picture import DRAW, Drawing
from addnorm.scenes.films.r44.picture.easel import (
    CELL_HEIGHT,
    DETAIL_SIDE,
    RIGHT,
    ROWS_LEFT,
    ROWS_RIGHT,
    SUM_RADIUS,
    SUM_X,
    Branch,
    Easel,
    Layout,
    fitted,
)
from addnorm.scenes.films.r44.picture.position_rows import feed, sum_y
from addnorm.scenes.films.r44.picture.two_paths import ATTENTION_HEIGHT, FLOW_Y
from addnorm.scenes.storyboard import Element, State
from addnorm.scenes.theme import TYPE

_BESIDE_CHART = {"mean": 1.15, "variance": 0.57, "formula": -0.15}

PRE_NORM = Layout(
    branch=Branch(entry=(-3.2, 2.3), attention=(-0.25, 2.5)),
    rows={
        "b0": {"resid_pre": -0.95},
        "b1": {"resid_pre": -2.02},
        "b2": {"resid_pre": -2.02, "ln.normalized": 2.04, "ln.out": 2.04},
        "b3": {"ln.out": 2.04, "attn_out": 0.02, "resid_pre": -1.03, "resid_mid": -2.08},
    },
    charts={"b1": (-1.3, 2.1), "b2": (-1.3, 1.55)},
    side={
        "b1": _BESIDE_CHART,
        "b2": _BESIDE_CHART,
        "b3": {"mean": 1.95, "variance": 1.37, "formula": 0.66},
        "details": DETAIL_SIDE,
    },
)

MIDDLE = (ROWS_LEFT + ROWS_RIGHT) / 2
"""The middle of the rows of b0 to b3."""

WAITING_OVER = 0.62
"""How far over x's row ⊕ waits, and as far again its other end."""

NORM_Y, NORM_WIDTH, NORM_HEIGHT = 1.25, 2.3, 0.9
BAR_HEIGHT = 0.66


class DirectPath(VGroup):
    """x's way into ⊕, and what says that nothing else has arrived there."""

    def __init__(self, way: VMobject, node: VGroup, waiting: VGroup) -> None:
        super().__init__(way, waiting, node)
        self.way, self.node, self.waiting = way, node, waiting


def norm(easel: Easel, element: Element, state: State) -> Mobject:
    """b4's LayerNorm, the first block of the branch, and the arrow from it into attention."""
    pen = easel.pen
    middle, width = easel.layout.branch.entry
    attention, its_width = easel.layout.branch.attention
    line = easel.wording.line(element.words[0], "statistics")
    on = [(middle + width / 2 + 0.05, FLOW_Y), (attention - its_width / 2 - 0.05, FLOW_Y)]
    body = block(pen, line, middle, FLOW_Y, width, ATTENTION_HEIGHT, TYPE.caption, "statistics")
    return VGroup(body, arrow(on, pen.theme.color("out")))


def norm_copy(easel: Easel, element: Element, state: State) -> Mobject:
    """LayerNorm over x's row, reading a copy of it; pale, the way that is still ahead, through attention to ⊕."""
    pen = easel.pen
    reading, name = (easel.wording.line(key, "statistics") for key in element.words[:2])
    ahead = easel.wording.line(element.words[2], "secondary")
    row = easel.y(state, "resid_pre")
    foot = NORM_Y - NORM_HEIGHT / 2
    up = arrow([(MIDDLE, row + CELL_HEIGHT / 2 + 0.06), (MIDDLE, foot - 0.05)], pen.theme.color("statistics"))
    words = pen.write(reading, TYPE.note).place(MIDDLE + 0.3, foot - 0.45)
    body = block(pen, name, MIDDLE, NORM_Y, NORM_WIDTH, NORM_HEIGHT, TYPE.caption, "statistics")
    width = pen.write(ahead, TYPE.note).advance + 0.4
    right = SUM_X - 0.45
    color = pen.theme.color("line")
    into = arrow([(MIDDLE + NORM_WIDTH / 2 + 0.06, NORM_Y), (right - width - 0.05, NORM_Y)], color)
    attention = block(pen, ahead, right - width / 2, NORM_Y, width, CELL_HEIGHT, TYPE.note, "line")
    down = path([(right + 0.03, NORM_Y), (SUM_X, NORM_Y), (SUM_X, row + 2 * WAITING_OVER)], color)
    return VGroup(up, words, body, into, attention, down)


def direct_path(easel: Easel, element: Element, state: State) -> Mobject:
    """x's direct path into ⊕, where nothing else has arrived."""
    pen = easel.pen
    row = easel.y(state, "resid_pre")
    y = row + WAITING_OVER
    other = segment((SUM_X, y + SUM_RADIUS), (SUM_X, y + WAITING_OVER), pen.theme.color("line"), 4)
    path_name = fitted(easel, element.words[0], TYPE.note, RIGHT - SUM_X - 0.2, "x")
    pending = fitted(easel, element.words[1], TYPE.note, RIGHT - SUM_X - 0.5, "secondary")
    return DirectPath(
        feed(easel, state, "resid_pre", "x", y - SUM_RADIUS),
        plus_node(pen, SUM_X, y, SUM_RADIUS, "line"),
        VGroup(other, path_name.place(SUM_X + 0.2, row - 0.1), pending.place(SUM_X + 0.5, y - 0.1)),
    )


def attention_bar(easel: Easel, element: Element, state: State) -> Mobject:
    """Attention between u's row and O's."""
    pen = easel.pen
    above, below = (easel.y(state, row) for row in ("ln.out", "attn_out"))
    y, half = (above + below) / 2, BAR_HEIGHT / 2
    edge = CELL_HEIGHT / 2 + 0.05
    into = arrow([(MIDDLE, above - edge), (MIDDLE, y + half + 0.05)], pen.theme.color("out"))
    out = arrow([(MIDDLE, y - half - 0.05), (MIDDLE, below + edge)], pen.theme.color("update"))
    line = easel.wording.line(element.words[0], "update")
    width = ROWS_RIGHT - ROWS_LEFT - 0.12
    return VGroup(into, block(pen, line, MIDDLE, y, width, BAR_HEIGHT, TYPE.note, "update"), out)


def next_block(easel: Easel, element: Element, state: State) -> Mobject:
    """Where the sum goes on from ⊕, un-normalized."""
    pen = easel.pen
    y = sum_y(easel, state)
    line = easel.wording.line(element.words[0], "secondary")
    width = pen.write(line, TYPE.note).advance + 0.4
    into = arrow([(SUM_X + SUM_RADIUS, y), (RIGHT - width - 0.05, y)], pen.theme.color("sum"))
    return VGroup(into, block(pen, line, RIGHT - width / 2, y, width, CELL_HEIGHT, TYPE.note, "line"))


DRAW_PRE_NORM: Mapping[str, Drawing] = MappingProxyType(
    {
        **DRAW,
        "norm": norm,
        "norm_copy": norm_copy,
        "direct_path": direct_path,
        "attention_bar": attention_bar,
        "next_block": next_block,
    }
)
