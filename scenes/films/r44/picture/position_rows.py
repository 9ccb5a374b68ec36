"""b0 and b1: the rows of one position, and how two of them add up to the third."""

from __future__ import annotations

from manim import Mobject, VGroup, VMobject

from addnorm.scenes.elements.lettering import Lettering
from addnorm.scenes.elements.nodes import plus_node
from addnorm.scenes.elements.shapes import arrow, outline, path
from addnorm.scenes.elements.token import chip_width, token_chip
from addnorm.scenes.elements.vector_row import VectorRow
from addnorm.scenes.films.r44.picture.easel import (
    LEFT,
    LOOP_X,
    NAMES_RIGHT,
    ROWS_RIGHT,
    SUM_RADIUS,
    SUM_X,
    Easel,
    vector,
)
from addnorm.scenes.storyboard import Element, State
from addnorm.scenes.text import relation_line, token_line
from addnorm.scenes.theme import OUTLINE, TYPE


class NamedRow(VGroup):
    """A row with its name on the left."""

    def __init__(self, row: VectorRow, name: Lettering) -> None:
        super().__init__(row, name)
        self.row, self.name_line = row, name


class Position(VGroup):
    """The frame of one position, and the token's chip on it."""

    def __init__(self, frame: VMobject, chip: VGroup) -> None:
        super().__init__(frame, chip)
        self.frame, self.chip = frame, chip


class Signs(VGroup):
    """The signs of arithmetic between rows: what is added, and what the shown digits give."""

    def __init__(self, plus: VGroup, equals: VGroup) -> None:
        super().__init__(plus, equals)
        self.plus, self.equals = plus, equals


def named_row(easel: Easel, element: Element, state: State) -> Mobject:
    """A row of b0 to b3 with its name on the left."""
    quantity = element.name.removeprefix("row.")
    role = quantity
    y = easel.y(state, quantity)
    name = easel.pen.write(easel.wording.line(element.words[0], role), easel.name_size)
    name.place(NAMES_RIGHT, y - 0.13, "right")
    return NamedRow(vector(easel, element.labels, easel.columns, y, role), name)


def position(easel: Easel, element: Element, state: State) -> Mobject:
    """The frame of one position round its rows, the token's chip on its edge."""
    pen, followed = easel.pen, easel.trace.example.followed
    ys = [
        easel.y(state, element.name.removeprefix("row.")) for element in state.elements if element.kind == "named_row"
    ]
    top, bottom, right = max(ys) + 0.68, min(ys) - 0.55, ROWS_RIGHT + 0.2
    tint = pen.theme.blend("x", OUTLINE)
    around = outline((LEFT + right) / 2, (top + bottom) / 2, right - LEFT, top - bottom, tint, 2.5)
    line = token_line(easel.trace, followed)
    width = chip_width(pen, [line])
    return Position(around, token_chip(pen, line, LEFT + 0.3 + width / 2, top, width, TYPE.note, followed=True))


def pending_sum(easel: Easel, element: Element, state: State) -> Mobject:
    """⊕ waiting for both rows: nothing has been added yet."""
    pen = easel.pen
    feeds, y = _feeds(easel, state, "line", "line"), sum_y(easel, state)
    words = pen.write(easel.wording.line(element.words[0], "secondary"), TYPE.note)
    return VGroup(feeds, plus_node(pen, SUM_X, y, SUM_RADIUS, "line"), words.place(SUM_X + 0.5, y - 0.1))


def done_sum(easel: Easel, element: Element, state: State) -> Mobject:
    """⊕ fed by both rows, and the loop that carries their sum to r's row."""
    pen = easel.pen
    y, target = sum_y(easel, state), easel.y(state, "resid_mid")
    corners = [(SUM_X + SUM_RADIUS, y), (LOOP_X, y), (LOOP_X, target), (ROWS_RIGHT + 0.24, target)]
    loop = arrow(corners, pen.theme.color("sum"), tip=0.22)
    return VGroup(_feeds(easel, state, "update", "x"), loop, plus_node(pen, SUM_X, y, SUM_RADIUS, "sum"))


def sum_y(easel: Easel, state: State) -> float:
    """The height of ⊕, between the two rows that meet there."""
    return (easel.y(state, "attn_out") + easel.y(state, "resid_pre")) / 2


def _feeds(easel: Easel, state: State, upper: str, lower: str) -> VGroup:
    """The lines from O's and x's rows into ⊕."""
    y = sum_y(easel, state)
    return VGroup(
        feed(easel, state, "attn_out", upper, y + SUM_RADIUS),
        feed(easel, state, "resid_pre", lower, y - SUM_RADIUS),
    )


def feed(easel: Easel, state: State, row: str, role: str, end: float) -> VMobject:
    """The line from the right end of a row to the edge of ⊕ at height ``end``."""
    start = ROWS_RIGHT + (0.22 if state.element("position") else 0.04)
    y = easel.y(state, row)
    return path([(start, y), (SUM_X, y), (SUM_X, end)], easel.pen.theme.color(role))


def sums(easel: Easel, element: Element, state: State) -> Mobject:
    """The signs between the rows: what is added, and whether the shown digits add up."""
    pen = easel.pen
    upper = (easel.y(state, "attn_out") + easel.y(state, "resid_pre")) / 2
    lower = (easel.y(state, "resid_pre") + easel.y(state, "resid_mid")) / 2
    plus, equals = VGroup(), VGroup()
    for x, relation in zip(easel.columns.middles, element.relations, strict=True):
        plus.add(pen.write(easel.wording.sign("+"), TYPE.number).center_on(x, upper))
        sign = relation_line(relation.terms, relation.total)
        equals.add(pen.write(sign, TYPE.number).center_on(x, lower))
    return Signs(plus, equals)
