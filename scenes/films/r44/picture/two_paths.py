"""b4: one token's x on its two ways, through attention and past it."""

from __future__ import annotations

from manim import Mobject, VGroup

from addnorm.mathcore.symbols import symbol
from addnorm.scenes.elements.nodes import Block, block, plus_node
from addnorm.scenes.elements.shapes import arrow, dot, segment
from addnorm.scenes.elements.token import HEIGHT as CHIP_HEIGHT
from addnorm.scenes.elements.token import chip_width, token_chip
from addnorm.scenes.films.r44.picture.easel import GRID_LEFT, RIGHT, Easel
from addnorm.scenes.storyboard import Element, State
from addnorm.scenes.text import symbol_line, token_line
from addnorm.scenes.theme import TYPE

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
