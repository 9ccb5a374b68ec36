"""The R44 pictures: how each element of a state looks in its place.

All places are in scene units (the frame is 14.2 wide and 8 high, the origin in its middle). One function draws
one kind of element; ``DRAW`` at the end names them all. What has another place in pre-norm than in post-norm is
in the ``Layout``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
from manim import Mobject, VGroup, VMobject

from addnorm.mathcore.labels import Label
from addnorm.mathcore.symbols import layer_norm_formula, symbol
from addnorm.mathcore.trace import Trace
from addnorm.scenes.elements import caption as captions
from addnorm.scenes.elements.lettering import Lettering, Pen
from addnorm.scenes.elements.nodes import Block, block, plus_node
from addnorm.scenes.elements.position_marker import position_marker
from addnorm.scenes.elements.shapes import THIN, Shape, arrow, axis, bracket, cross, dot, outline, path, segment
from addnorm.scenes.elements.token import HEIGHT as CHIP_HEIGHT
from addnorm.scenes.elements.token import chip_width, token_chip
from addnorm.scenes.elements.value_chart import Band, Bars, Ground, Level, Quantity, Scale
from addnorm.scenes.elements.vector_row import Columns, VectorRow, number_size, vector_row
from addnorm.scenes.films.r44.parts import (
    FILM,
    cut_features,
    cut_labels,
    detail_window,
    feature_window,
    is_affine,
    normalized_by,
)
from addnorm.scenes.films.r44.states import STATES
from addnorm.scenes.storyboard import Element, State, Storyboard
from addnorm.scenes.text import Wording, relation_line, symbol_line, token_line, value_line
from addnorm.scenes.theme import FRAME_HEIGHT, FRAME_WIDTH, SAFE_MARGIN, TYPE

RIGHT = FRAME_WIDTH * (0.5 - SAFE_MARGIN)
LEFT = -RIGHT
TOP = FRAME_HEIGHT * (0.5 - SAFE_MARGIN)

HEADING_Y = 3.2
MARKER_Y = 3.46
CONVENTIONS_Y = 2.6
CAPTION_Y = -2.92
CAPTION_WIDTH = 12.0

# b4: one line of flow, the skip path over it, the token row under it.
FLOW_Y = 0.45
INPUT_X, JUNCTION_X, RESULT_X = -5.55, 2.75, 5.4
ATTENTION_HEIGHT = 1.4
NODE_WIDTH, NODE_HEIGHT = 1.3, 0.9
JUNCTION_RADIUS = 0.36
SKIP_Y = 2.0
TOKENS_Y = -1.95
BUS_Y, FEED_Y, READING_Y = -1.3, -1.02, -0.68
FEED_ASIDE = 0.25

# b5: token rows by features.
GRID_LEFT, GRID_RIGHT = -4.0, 2.2
GRID_TOP, GRID_PITCH, BRACKET_ROOM = 1.35, 1.2, 0.62
AXIS_ROOM = 2.2

# b0 to b3: named rows, the loop that adds two of them, chart and formula.
NAMES_RIGHT = -3.45
ROWS_LEFT, ROWS_RIGHT = -3.3, 2.5
SUM_X, LOOP_X, SUM_RADIUS = 3.5, 4.2, 0.27
SIDE_LEFT = 2.8
CELL_HEIGHT = 0.58
DETAIL_SIDE: Mapping[str, float] = MappingProxyType({"mean": 1.55, "variance": 0.85, "formula": -0.1})
CUT_ROOM = 0.48


@dataclass(frozen=True)
class Branch:
    """b4's branch: the block that x enters first and the middle of attention, each with its width."""

    entry: tuple[float, float]
    attention: tuple[float, float]


@dataclass(frozen=True)
class Layout:
    """Where things stand in one order of the norm.

    ``rows``: heights of the named rows by state; ``charts``: for each of the chart's two states, the one that
    measures and the one that normalizes, its bottom and top; ``side``: by state, the heights of what stands
    beside the rows.
    """

    branch: Branch
    rows: Mapping[str, Mapping[str, float]]
    charts: Mapping[str, tuple[float, float]]
    side: Mapping[str, Mapping[str, float]]


_BESIDE_CHART = {"mean": -0.12, "variance": -0.7, "formula": -1.42}
_ADDED = {"attn_out": 2.04, "resid_pre": 1.33, "resid_mid": 0.56}

POST_NORM = Layout(
    branch=Branch(entry=(-1.5, 3.3), attention=(-1.5, 3.3)),
    rows={
        "b0": {"attn_out": 1.0, "resid_pre": -0.75},
        "b1": {"attn_out": 1.25, "resid_pre": -0.1, "resid_mid": -1.45},
        "b2": _ADDED,
        "b3": {**_ADDED, "ln.normalized": -2.12, "ln.out": -2.12},
    },
    charts={"b2": (-2.3, -0.14), "b3": (-1.68, -0.14)},
    side={"b2": _BESIDE_CHART, "b3": _BESIDE_CHART, "details": DETAIL_SIDE},
)


@dataclass(frozen=True)
class Easel:
    """What is needed to draw: the numbers, the words, the pen."""

    trace: Trace
    wording: Wording
    pen: Pen
    board: Storyboard
    layout: Layout

    @cached_property
    def columns(self) -> Columns:
        """The feature columns of b0 to b3."""
        return Columns(ROWS_LEFT, ROWS_RIGHT, feature_window(self.trace))

    @cached_property
    def number_size(self) -> float:
        """One font size for the numbers of all rows."""
        labels = [
            label
            for state in self.board.states
            for element in state.elements
            if "row" in element.kind
            for label in element.labels
        ]
        return number_size(self.pen, labels, TYPE.number, self.columns)

    @cached_property
    def name_size(self) -> float:
        """One font size for the names of all rows."""
        keys = {key for state in self.board.states for e in state.elements if e.kind == "named_row" for key in e.words}
        widest = max(self.pen.write(self.wording.line(key), TYPE.number).advance for key in keys)
        return TYPE.number * min(1.0, (NAMES_RIGHT - LEFT - 0.2) / widest)

    def y(self, state: State, quantity: str) -> float:
        """The height of a named row."""
        return self.layout.rows[state.name][quantity]

    def token_ys(self, state: State) -> dict[int, float]:
        """The heights of b5's rows, by token; over the followed one there is room for the bracket."""
        tokens = [int(element.name.split(".")[1]) for element in state.elements if element.kind == "token_row"]
        ys, y = {}, GRID_TOP
        for token in tokens:
            if token == self.trace.example.followed and token != tokens[0]:
                y -= BRACKET_ROOM
            ys[token] = y
            y -= GRID_PITCH
        shift = (GRID_TOP + min(ys.values())) / 2 + 0.35
        return {token: y - shift + GRID_TOP - 1.0 for token, y in ys.items()}


class NamedRow(VGroup):
    """A row with its name on the left."""

    def __init__(self, row: VectorRow, name: Lettering) -> None:
        super().__init__(row, name)
        self.row, self.name_line = row, name


class Attention(VGroup):
    """The attention block, and Δ on its way out of it."""

    def __init__(self, body: VGroup, update: VGroup) -> None:
        super().__init__(body, update)
        self.body, self.update_arrow = body, update


class Node(VGroup):
    """A quantity in its box, and the arrows that lead there and on."""

    def __init__(self, ways: VGroup, box: Block) -> None:
        super().__init__(ways, box)
        self.ways, self.box = ways, box


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


class Chart(VGroup):
    """Bars on a zero line; band and level where they say something; values of bars that are cut."""

    def __init__(self, bars: Bars, zero: Shape, band: Band | None, level: Level | None, cut: VGroup) -> None:
        super().__init__(*(part for part in (band, bars, zero, level, cut) if part is not None))
        self.bars, self.zero, self.band, self.level, self.cut = bars, zero, band, level, cut


def fitted(easel: Easel, key: str, size: float, room: float, role: str = "text") -> Lettering:
    """A catalogue line at a font size, smaller if it would be wider than its room."""
    line = easel.wording.line(key, role)
    natural = easel.pen.write(line, size)
    return natural if natural.advance <= room else easel.pen.write(line, size * room / natural.advance)


def heading(easel: Easel, element: Element, state: State) -> Mobject:
    """What the state is about."""
    room = 8.6 if state.name in STATES else 2 * RIGHT
    return fitted(easel, element.words[0], TYPE.heading, room).place(LEFT, HEADING_Y)


def marker(easel: Easel, element: Element, state: State) -> Mobject:
    """Where in the film the state stands."""
    return position_marker(easel.pen, STATES, state.name, RIGHT, MARKER_Y)


def caption(easel: Easel, element: Element, state: State) -> Mobject:
    """What the state says."""
    line = easel.wording.caption(FILM, state.name)
    return captions.caption(easel.pen, line, TYPE.caption, CAPTION_WIDTH, CAPTION_Y)


def conventions(easel: Easel, element: Element, state: State) -> Mobject:
    """ε, γ, β, and how numbers are computed and shown."""
    return fitted(easel, element.words[0], TYPE.note, 2 * RIGHT, "secondary").place(LEFT, CONVENTIONS_Y)


# b4


def token_places(easel: Easel, state: State) -> tuple[dict[int, float], float]:
    """The middle of each token's chip in b4's row, and the width of a chip."""
    tokens = _shown_tokens(state)
    width = chip_width(easel.pen, [token_line(easel.trace, token) for token in tokens])
    pitch = width + 0.35
    middle = easel.layout.branch.entry[0]
    left = middle - min(pitch * (len(tokens) - 1) / 2, RIGHT + middle - 0.75 - width / 2)
    return {token: left + n * pitch for n, token in enumerate(tokens)}, width


def _shown_tokens(state: State) -> list[int]:
    return [int(element.name.split(".")[1]) for element in state.elements if element.kind == "token"]


def token(easel: Easel, element: Element, state: State) -> Mobject:
    """A token: in b4's row, or at the head of its row in b5."""
    index = int(element.name.split(".")[1])
    xs, width = token_places(easel, state)
    if state.name == "b4":
        x, y = xs[index], TOKENS_Y
    else:
        x, y = _column_x(width), easel.token_ys(state)[index]
    return token_chip(easel.pen, token_line(easel.trace, index), x, y, width, TYPE.note, element.look == "followed")


def _column_x(width: float) -> float:
    """The middle of b5's column of tokens."""
    return GRID_LEFT - 0.2 - width / 2


def more_tokens(easel: Easel, element: Element, state: State) -> Mobject:
    """Three dots where the row of tokens goes on."""
    xs, width = token_places(easel, state)
    after = element.name == "more.after"
    if state.name == "b4":
        x, side = (max(xs.values()) + width / 2, 1) if after else (min(xs.values()) - width / 2, -1)
        places = [(x + side * (0.25 + 0.16 * n), TOKENS_Y) for n in range(3)]
    else:
        ys = easel.token_ys(state).values()
        y, side = (min(ys) - 0.34, -1) if after else (max(ys) + 0.34, 1)
        places = [(_column_x(width), y + side * (0.12 + 0.13 * n)) for n in range(3)]
    return VGroup(*(dot(x, y, 0.045, easel.pen.theme.color("secondary")) for x, y in places))


def reading(easel: Easel, element: Element, state: State) -> Mobject:
    """Which positions attention reads: a bus from the tokens into the block, and a line that says so."""
    xs, _ = token_places(easel, state)
    example = easel.trace.example
    read = [xs[t] for t in xs if example.mask == "none" or t <= example.followed]
    color = easel.pen.theme.color("line")
    into = easel.layout.branch.entry[0]
    lines = [segment((x, TOKENS_Y + CHIP_HEIGHT / 2), (x, BUS_Y), color) for x in read]
    bus = segment((min(*read, into), BUS_Y), (max(*read, into), BUS_Y), color)
    up = arrow([(into, BUS_Y), (into, FLOW_Y - ATTENTION_HEIGHT / 2 - 0.06)], color, 2.5, tip=0.2)
    words = easel.pen.write(easel.wording.line(element.words[0], "secondary"), TYPE.note)
    return VGroup(*lines, bus, up, words.place(into + 0.35, READING_Y))


def input_node(easel: Easel, element: Element, state: State) -> Mobject:
    """The followed token's x, fed from its chip, and the arrow into the branch."""
    pen = easel.pen
    xs, _ = token_places(easel, state)
    x = xs[easel.trace.example.followed]
    color = pen.theme.color("x")
    own = x - FEED_ASIDE  # beside the middle of the chip, where the line into attention stands
    feed = arrow(
        [
            (own, TOKENS_Y + CHIP_HEIGHT / 2),
            (own, FEED_Y),
            (INPUT_X, FEED_Y),
            (INPUT_X, FLOW_Y - NODE_HEIGHT / 2 - 0.05),
        ],
        color,
    )
    node = block(pen, symbol_line(symbol("resid_pre")), INPUT_X, FLOW_Y, NODE_WIDTH, NODE_HEIGHT, TYPE.symbol + 10, "x")
    middle, width = easel.layout.branch.entry
    into = arrow([(INPUT_X + NODE_WIDTH / 2 + 0.05, FLOW_Y), (middle - width / 2 - 0.05, FLOW_Y)], color)
    return Node(VGroup(feed, into), node)


def skip(easel: Easel, element: Element, state: State) -> Mobject:
    """The direct path of x round the block into ⊕."""
    pen = easel.pen
    line = arrow(skip_path(), pen.theme.color("x"), 7, radius=0.75, tip=0.34)
    words = pen.write(easel.wording.line(element.words[0], "x"), TYPE.caption)
    return VGroup(line, words.place((INPUT_X + JUNCTION_X) / 2, SKIP_Y + 0.24, "center"))


def skip_path() -> list[tuple[float, float]]:
    """The corners of the skip path, from x to ⊕."""
    return [
        (INPUT_X, FLOW_Y + NODE_HEIGHT / 2 + 0.02),
        (INPUT_X, SKIP_Y),
        (JUNCTION_X, SKIP_Y),
        (JUNCTION_X, FLOW_Y + JUNCTION_RADIUS + 0.05),
    ]


def attention(easel: Easel, element: Element, state: State) -> Mobject:
    """The attention block and its output Δ on the way to ⊕."""
    pen = easel.pen
    line = easel.wording.line(element.words[0], "update")
    middle, width = easel.layout.branch.attention
    body = block(pen, line, middle, FLOW_Y, width, ATTENTION_HEIGHT, TYPE.heading, "update")
    start = middle + width / 2 + 0.05
    out = arrow([(start, FLOW_Y), (JUNCTION_X - JUNCTION_RADIUS - 0.05, FLOW_Y)], pen.theme.color("update"))
    delta = pen.write(symbol_line(symbol("update")), TYPE.symbol + 10)
    delta.place((start + JUNCTION_X - JUNCTION_RADIUS - 0.3) / 2, FLOW_Y + 0.2, "center")
    return Attention(body, VGroup(out, delta))


def junction(easel: Easel, element: Element, state: State) -> Mobject:
    """⊕, where the paths meet."""
    return plus_node(easel.pen, JUNCTION_X, FLOW_Y, JUNCTION_RADIUS, "sum")


def result(easel: Easel, element: Element, state: State) -> Mobject:
    """x + Δ, leaving ⊕."""
    pen = easel.pen
    width = 1.9
    way = [(JUNCTION_X + JUNCTION_RADIUS + 0.05, FLOW_Y), (RESULT_X - width / 2 - 0.05, FLOW_Y)]
    line = easel.wording.line("r44.result", "sum")
    box = block(pen, line, RESULT_X, FLOW_Y, width, NODE_HEIGHT, TYPE.symbol + 6, "sum")
    return Node(VGroup(arrow(way, pen.theme.color("sum"))), box)


# b5


def grid(easel: Easel) -> Columns:
    """The feature columns of b5."""
    return Columns(GRID_LEFT, GRID_RIGHT, feature_window(easel.trace))


def token_row(easel: Easel, element: Element, state: State) -> Mobject:
    """A token's row of features."""
    index = int(element.name.split(".")[1])
    y = easel.token_ys(state)[index]
    role = normalized_by(easel.trace)
    return _vector(easel, element.labels, grid(easel), y, role, dimmed=element.look == "dimmed")


def feature_bracket(easel: Easel, element: Element, state: State) -> Mobject:
    """The bracket over exactly the followed row's features, with the frame round them."""
    pen, columns = easel.pen, grid(easel)
    color = pen.theme.color("statistics")
    y = easel.token_ys(state)[easel.trace.example.followed]
    half = CELL_HEIGHT / 2 + 0.1
    around = outline((columns.left + columns.right) / 2, y, columns.right - columns.left + 0.06, 2 * half, color)
    brace = bracket(columns.left + 0.06, columns.right - 0.06, y + half + 0.06, 0.2, color)
    words = pen.write(easel.wording.line(element.words[0], "statistics"), TYPE.caption)
    return VGroup(around, brace, words.place((columns.left + columns.right) / 2, y + half + 0.44, "center"))


def rows_name(easel: Easel, element: Element, state: State) -> Mobject:
    """What the rows are, under them."""
    words = easel.pen.write(easel.wording.line(element.words[0], "secondary"), TYPE.note)
    return words.place(GRID_LEFT, min(easel.token_ys(state).values()) - 0.78)


def layer_norm(easel: Easel, element: Element, state: State) -> Mobject:
    """One row's own LayerNorm."""
    pen = easel.pen
    y = easel.token_ys(state)[int(element.name.split(".")[1])]
    followed = element.look == "followed"
    role = "statistics" if followed else "line"
    line = easel.wording.line(element.words[0], "statistics" if followed else "secondary")
    width = pen.write(line, TYPE.note).advance + 0.4
    left = GRID_RIGHT + 0.75
    into = arrow(
        [(GRID_RIGHT + (0.09 if followed else 0.0), y), (left - 0.04, y)],
        pen.theme.color(role),
        2.5,
        tip=0.18,
    )
    frame = block(pen, line, left + width / 2, y, width, CELL_HEIGHT, TYPE.note, role)
    return VGroup(into, frame)


def position_axis(easel: Easel, element: Element, state: State) -> Mobject:
    """The axis across positions, struck out."""
    pen = easel.pen
    ys = easel.token_ys(state).values()
    top, bottom = max(ys) + 0.2, min(ys) - 0.2
    x = RIGHT - AXIS_ROOM / 2
    color = pen.theme.color("secondary")
    middle = (top + bottom) / 2
    up, down = arrow([(x, middle), (x, top)], color, 3), arrow([(x, middle), (x, bottom)], color, 3)
    line = easel.wording.line(element.words[0], "secondary")
    words = captions.paragraph(pen, line, TYPE.note, AXIS_ROOM, bottom - 0.45).shift((x, 0.0, 0.0))
    return VGroup(up, down, cross(x, middle, 0.42, pen.theme.color("warning")), words)


# b0 to b3


def _vector(
    easel: Easel, labels: tuple[Label, ...], columns: Columns, y: float, role: str, dimmed: bool = False
) -> VectorRow:
    rest = easel.wording.elided(columns.window.hidden)
    size = easel.number_size
    return vector_row(easel.pen, labels, columns, y, CELL_HEIGHT, size, role, dimmed=dimmed, elided=rest)


def named_row(easel: Easel, element: Element, state: State) -> Mobject:
    """A row of b0 to b3 with its name on the left."""
    quantity = element.name.removeprefix("row.")
    role = quantity
    y = easel.y(state, quantity)
    name = easel.pen.write(easel.wording.line(element.words[0], role), easel.name_size)
    name.place(NAMES_RIGHT, y - 0.13, "right")
    return NamedRow(_vector(easel, element.labels, easel.columns, y, role), name)


def position(easel: Easel, element: Element, state: State) -> Mobject:
    """The frame of one position round its rows, the token's chip on its edge."""
    pen, followed = easel.pen, easel.trace.example.followed
    ys = [
        easel.y(state, element.name.removeprefix("row.")) for element in state.elements if element.kind == "named_row"
    ]
    top, bottom, right = max(ys) + 0.68, min(ys) - 0.55, ROWS_RIGHT + 0.2
    around = outline((LEFT + right) / 2, (top + bottom) / 2, right - LEFT, top - bottom, pen.theme.blend("x", 0.7), 2.5)
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


def circled(easel: Easel, element: Element, state: State) -> Mobject:
    """The frame round the row that LayerNorm reads."""
    columns = easel.columns
    y = easel.y(state, normalized_by(easel.trace))
    width = columns.right - columns.left + 0.06
    return outline((columns.left + columns.right) / 2, y, width, CELL_HEIGHT + 0.2, easel.pen.theme.color("statistics"))


def row_bracket(easel: Easel, element: Element, state: State) -> Mobject:
    """The bracket at that row: it opens towards the chart of the same features."""
    columns, side = easel.columns, chart_side(easel, state)
    y = easel.y(state, normalized_by(easel.trace)) + side * (CELL_HEIGHT / 2 + 0.14)
    color = easel.pen.theme.color("statistics")
    brace = bracket(columns.left + 0.06, columns.right - 0.06, y, side * 0.18, color)
    words = fitted(easel, element.words[0], TYPE.note, NAMES_RIGHT - LEFT, "statistics")
    return VGroup(brace, words.place(NAMES_RIGHT, y - 0.12 + side * 0.08, "right"))


def chart_side(easel: Easel, state: State) -> int:
    """1 if the chart stands over the row that LayerNorm reads, -1 if it stands under it."""
    return 1 if easel.layout.charts[state.name][1] > easel.y(state, normalized_by(easel.trace)) else -1


Way = tuple[Quantity | None, Quantity | None]


@dataclass(frozen=True)
class Passage:
    """A chart's way from one picture to another: of its row, of mean and half width of its band, of its scale."""

    row: tuple[Quantity | None, Quantity]
    mean: Way
    half: Way
    scales: tuple[Scale, Scale]


def chart(easel: Easel, element: Element, state: State) -> Mobject:
    """Signed bars of a row on a zero line, with its mean and the band of one standard deviation round it."""
    return value_chart(easel, passages(easel)[state.name])


def passages(easel: Easel) -> Mapping[str, Passage]:
    """The chart's ways, by where they end.

    They lead from nothing to the bars of the row that LayerNorm reads, on to the normalized row, and, where γ
    and β do anything, over the picture named "normalized" to u.
    """
    trace, token = easel.trace, easel.trace.example.followed
    row = Quantity(normalized_by(trace), token)
    mean, half = Quantity("ln.mean", token), Quantity("ln.std", token)
    normalized, out = Quantity("ln.normalized", token), Quantity("ln.out", token)
    unit = Quantity("ln.normalized_std", token)
    (first, room), (last, last_room) = easel.layout.charts.items()
    wide = chart_scale(trace, row, room, mean, half)
    grown = Passage((None, row), (None, mean), (None, half), (wide, wide))
    if not is_affine(trace):
        flat = chart_scale(trace, out, last_room, None, unit)
        return {first: grown, last: Passage((row, out), (mean, None), (half, unit), (wide, flat))}
    flat = chart_scale(trace, normalized, last_room, None, unit)
    goal = chart_scale(trace, out, last_room, None, None)
    return {
        first: grown,
        "normalized": Passage((row, normalized), (mean, None), (half, unit), (wide, flat)),
        last: Passage((normalized, out), (None, None), (None, None), (flat, goal)),
    }


def value_chart(easel: Easel, passage: Passage) -> Chart:
    """A chart that has come all its way; band and level are there only where they say something."""
    theme, trace, columns = easel.pen.theme, easel.trace, easel.columns
    left, right, scales = columns.left, columns.right, passage.scales
    name = passage.row[1].name
    sides = _bar_sides(columns, trace.example.n_features)
    bars = Bars(*passage.row, Ground(*scales, *sides), trace, theme.color(name))
    ticks = () if columns.window.hidden else columns.middles
    zero = axis(left, right, scales[1].zero, ticks, theme.color("secondary"))
    values = VGroup(*_cut_values(easel, name, scales[1]))
    if passage.half == (None, None):
        return Chart(bars, zero, None, None, values)
    (mean, next_mean), (half, next_half) = passage.mean, passage.half
    ground = Ground(*scales, (left,), (right,))
    pink = theme.color("statistics")
    band = Band((mean, half), (next_mean, next_half), ground, trace, theme.blend("statistics", 0.2))
    band.set_stroke(pink, THIN)
    level = Level(mean, next_mean, Ground(*scales, *_dash_sides(left, right)), trace, pink)
    level.set_stroke(theme.color("ground"), THIN, background=True)  # keeps it apart from the bars it crosses
    return Chart(bars, zero, band, level, values)


def _cut_values(easel: Easel, quantity: str, scale: Scale) -> list[VMobject]:
    """Beside the end of each bar that is cut, a mark across it and its value."""
    pen, columns = easel.pen, easel.columns
    labels = cut_labels(easel.trace, quantity)
    lefts, rights = _bar_sides(columns, easel.trace.example.n_features)
    middles = [(lefts[feature] + rights[feature]) / 2 for feature in cut_features(easel.trace, quantity)]
    grey = pen.theme.color("secondary")
    marks: list[VMobject] = []
    for label, x in zip(labels, middles, strict=True):
        up = label.value > 0
        end = scale.y(np.array(scale.high if up else scale.low)).item()
        y = end - CUT_ROOM / 2 if up else end + CUT_ROOM / 2
        marks += [segment((x - 0.1, y - 0.05 + d), (x + 0.1, y + 0.05 + d), grey) for d in (-0.04, 0.04)]
        others = [other for other in middles if other != x]
        center = others[0] if others else (columns.left + columns.right) / 2
        outward = (x > center) == bool(others)
        text = pen.write(value_line(label, quantity), TYPE.note)
        marks.append(text.place(x + (0.2 if outward else -0.2), y - 0.12, "left" if outward else "right"))
    return marks


def _bar_sides(columns: Columns, features: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """One bar under each cell; of a row too wide for cells, one thin bar a feature across the whole width."""
    if columns.window.hidden:
        pitch = (columns.right - columns.left) / features
        centers, width = [columns.left + (n + 0.5) * pitch for n in range(features)], pitch * 0.8
    else:
        centers, width = list(columns.middles), min(0.62, columns.cell_width * 0.5)
    return tuple(c - width / 2 for c in centers), tuple(c + width / 2 for c in centers)


def _dash_sides(left: float, right: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    step = (right - left) / 29
    lefts = tuple(left + n * step for n in range(0, 29, 2))
    return lefts, tuple(side + step for side in lefts)


def chart_scale(
    trace: Trace, row: Quantity, room: tuple[float, float], mean: Quantity | None, half: Quantity | None
) -> Scale:
    """The scale of one chart: all that it draws fits between its bottom and top.

    Bars that are cut reach beyond all others into room of their own, where their values stand.
    """
    bottom, top = room
    values, cut = row.values(trace), cut_features(trace, row.name)
    center = 0.0 if mean is None else mean.values(trace).item()
    width = 0.0 if half is None else half.values(trace).item()
    drawn = [0.0, *np.delete(values, cut), center - width, center + width]
    low, high = min(drawn), max(drawn)
    if low == high:
        low, high = -1.0, 1.0
    above = CUT_ROOM if any(values[n] > 0 for n in cut) else 0.0
    below = CUT_ROOM if any(values[n] < 0 for n in cut) else 0.0
    unit = (top - bottom - above - below) / (high - low)
    return Scale(top - above - high * unit, unit, low - below / unit, high + above / unit)


def spread(easel: Easel, element: Element, state: State) -> Mobject:
    """The name of the band, beside its middle. It keeps off the words of the bracket."""
    passage, trace = passages(easel)[state.name], easel.trace
    mean = passage.mean[1]
    y = passage.scales[1].y(np.zeros(1) if mean is None else mean.values(trace)).item()
    words = fitted(easel, element.words[0], TYPE.statistic, NAMES_RIGHT - LEFT, "statistics")
    bottom, top = easel.layout.charts[state.name]
    y = max(y, bottom + 0.4) if chart_side(easel, state) > 0 else min(y, top - 0.55)
    return words.place(NAMES_RIGHT, y - 0.13, "right")


def statistic(easel: Easel, element: Element, state: State) -> Mobject:
    """μ = …, σ² = …"""
    pen = easel.pen
    label = element.labels[0]
    named = symbol_line(symbol(label.ref.partition("[")[0]))
    line = (*named, *easel.wording.sign(" = ", "statistics"), *value_line(label, "statistics"))
    return pen.write(line, TYPE.statistic).place(SIDE_LEFT + 0.3, easel.layout.side[state.name][element.name])


def formula(easel: Easel, element: Element, state: State) -> Mobject:
    """The formula, as far as its parts have been used."""
    whole = easel.pen.formula(layer_norm_formula(easel.trace.example.norm), TYPE.formula)
    return whole.place(RIGHT, easel.layout.side[state.name][element.name], "right")


def following(easel: Easel, element: Element, state: State) -> Mobject:
    """Where u goes."""
    pen = easel.pen
    y = easel.y(state, "ln.out")
    line = easel.wording.line(element.words[0], "secondary")
    width = pen.write(line, TYPE.note).advance + 0.4
    into = arrow([(ROWS_RIGHT + 0.06, y), (ROWS_RIGHT + 0.75, y)], pen.theme.color("out"))
    return VGroup(into, block(pen, line, ROWS_RIGHT + 0.8 + width / 2, y, width, CELL_HEIGHT, TYPE.note, "line"))


# the details panel

DETAIL_RIGHT, DETAIL_TOP, DETAIL_PITCH = 2.7, 1.85, 0.72


def detail_row(easel: Easel, element: Element, state: State) -> Mobject:
    """A row of the details: its name, and its numbers at six places."""
    rows = [row for row in state.elements if row.kind == "detail_row"]
    y = DETAIL_TOP - DETAIL_PITCH * rows.index(element)
    columns = Columns(ROWS_LEFT, DETAIL_RIGHT, detail_window(easel.trace))
    size = number_size(easel.pen, [label for row in rows for label in row.labels], TYPE.number, columns)
    quantity = element.name.removeprefix("detail.")
    name = fitted(easel, element.words[0], TYPE.number, NAMES_RIGHT - LEFT, quantity)
    rest = easel.wording.elided(columns.window.hidden)
    cells = vector_row(easel.pen, element.labels, columns, y, CELL_HEIGHT, size, quantity, elided=rest)
    return VGroup(cells, name.place(NAMES_RIGHT, y - 0.13, "right"))


def recompute(easel: Easel, element: Element, state: State) -> Mobject:
    """What to know before recomputing by hand."""
    return captions.paragraph(easel.pen, easel.wording.line(element.words[0]), TYPE.note, CAPTION_WIDTH, -1.85)


def note(easel: Easel, element: Element, state: State) -> Mobject:
    """The example's own note."""
    return captions.paragraph(easel.pen, easel.wording.note(), TYPE.note, CAPTION_WIDTH, -2.83)


Drawing = Callable[[Easel, Element, State], Mobject]

DRAW: Mapping[str, Drawing] = MappingProxyType(
    {
        "heading": heading,
        "marker": marker,
        "caption": caption,
        "conventions": conventions,
        "token": token,
        "reading": reading,
        "input": input_node,
        "skip": skip,
        "attention": attention,
        "junction": junction,
        "result": result,
        "token_row": token_row,
        "bracket": feature_bracket,
        "rows_name": rows_name,
        "layer_norm": layer_norm,
        "position_axis": position_axis,
        "named_row": named_row,
        "pending_sum": pending_sum,
        "done_sum": done_sum,
        "sums": sums,
        "circled": circled,
        "row_bracket": row_bracket,
        "chart": chart,
        "more_tokens": more_tokens,
        "detail_row": detail_row,
        "recompute": recompute,
        "note": note,
        "spread": spread,
        "position": position,
        "statistic": statistic,
        "formula": formula,
        "next": following,
    }
)
