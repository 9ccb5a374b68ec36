"""What every picture needs: the places that all share, the layout of an order of the norm, numbers, words and pen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from addnorm.mathcore.labels import Label
from addnorm.mathcore.trace import Trace
from addnorm.scenes.elements.lettering import Lettering, Pen
from addnorm.scenes.elements.vector_row import Columns, VectorRow, number_size, vector_row
from addnorm.scenes.films.r44.parts import OWN_WORDS, feature_window
from addnorm.scenes.films.r44.states import row_names, widest_number
from addnorm.scenes.storyboard import State
from addnorm.scenes.text import Wording
from addnorm.scenes.theme import FRAME_WIDTH, SAFE_MARGIN, TYPE

RIGHT = FRAME_WIDTH * (0.5 - SAFE_MARGIN)
LEFT = -RIGHT

HEADING_Y = 3.2
MARKER_Y = 3.46
CONVENTIONS_Y = 2.6
CAPTION_Y = -2.92
CAPTION_WIDTH = OWN_WORDS.width

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
    layout: Layout

    @cached_property
    def columns(self) -> Columns:
        """The feature columns of b0 to b3."""
        return Columns(ROWS_LEFT, ROWS_RIGHT, feature_window(self.trace))

    @cached_property
    def number_size(self) -> float:
        """One font size for the numbers of all rows."""
        return number_size(widest_number(self.trace, self.pen.language), TYPE.number, self.columns)

    @cached_property
    def name_size(self) -> float:
        """One font size for the names of all rows."""
        lines = map(self.wording.line, row_names(self.trace))
        widest = max(self.pen.write(line, TYPE.number).advance for line in lines)
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


def fitted(easel: Easel, key: str, size: float, room: float, role: str = "text") -> Lettering:
    """A catalogue line at a font size, smaller if it would be wider than its room."""
    line = easel.wording.line(key, role)
    natural = easel.pen.write(line, size)
    return natural if natural.advance <= room else easel.pen.write(line, size * room / natural.advance)


def vector(
    easel: Easel, labels: tuple[Label, ...], columns: Columns, y: float, role: str, dimmed: bool = False
) -> VectorRow:
    """The cells of a row in the film's one size of numbers."""
    rest = easel.wording.elided(columns.window.hidden)
    size = easel.number_size
    return vector_row(easel.pen, labels, columns, y, CELL_HEIGHT, size, role, dimmed=dimmed, elided=rest)
