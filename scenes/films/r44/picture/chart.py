"""b2 and b3: the row that LayerNorm reads as bars, its statistics, the formula, and where u goes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from manim import Mobject, VGroup, VMobject

from addnorm.mathcore.symbols import layer_norm_formula, symbol
from addnorm.mathcore.trace import Trace
from addnorm.scenes.elements.nodes import block
from addnorm.scenes.elements.shapes import THIN, Shape, arrow, axis, bracket, outline, segment
from addnorm.scenes.elements.value_chart import Band, Bars, Ground, Level, Quantity, Scale
from addnorm.scenes.elements.vector_row import Columns
from addnorm.scenes.films.r44.parts import (
    cut_features,
    cut_labels,
    is_affine,
    normalized_by,
)
from addnorm.scenes.films.r44.picture.easel import (
    CELL_HEIGHT,
    LEFT,
    NAMES_RIGHT,
    RIGHT,
    ROWS_RIGHT,
    SIDE_LEFT,
    Easel,
    fitted,
)
from addnorm.scenes.storyboard import Element, State
from addnorm.scenes.text import Line, symbol_line, value_line
from addnorm.scenes.theme import BAND, TYPE

CUT_ROOM = 0.48
"""Height of the room beyond a chart's bars in which those that are cut end, with their values."""


class Chart(VGroup):
    """Bars on a zero line; band and level where they say something; values of bars that are cut."""

    def __init__(self, bars: Bars, zero: Shape, band: Band | None, level: Level | None, cut: VGroup) -> None:
        super().__init__(*(part for part in (band, bars, zero, level, cut) if part is not None))
        self.bars, self.zero, self.band, self.level, self.cut = bars, zero, band, level, cut


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
    return value_chart(easel, passage(easel, state.name))


def passage(easel: Easel, end: str) -> Passage:
    """The chart's way to the picture named ``end``.

    It leads from nothing to the bars of the row that LayerNorm reads, on to the normalized row, and, where γ
    and β do anything, over the picture named "normalized" to u.
    """
    trace, token = easel.trace, easel.trace.example.followed
    row = Quantity(normalized_by(trace), token)
    mean, half = Quantity("ln.mean", token), Quantity("ln.std", token)
    normalized, out = Quantity("ln.normalized", token), Quantity("ln.out", token)
    unit = Quantity("ln.normalized_std", token)
    (first, room), (_, last_room) = easel.layout.charts.items()
    if end == first:
        wide = chart_scale(trace, row, room, mean, half)
        return Passage((None, row), (None, mean), (None, half), (wide, wide))
    reached = normalized if is_affine(trace) else out
    flat = chart_scale(trace, reached, last_room, None, unit)
    if end == "normalized" or reached is out:
        wide = chart_scale(trace, row, room, mean, half)
        return Passage((row, reached), (mean, None), (half, unit), (wide, flat))
    goal = chart_scale(trace, out, last_room, None, None)
    return Passage((normalized, out), (None, None), (None, None), (flat, goal))


def value_chart(easel: Easel, way: Passage) -> Chart:
    """A chart that has come all its way; band and level are there only where they say something."""
    theme, trace, columns = easel.pen.theme, easel.trace, easel.columns
    left, right, scales = columns.left, columns.right, way.scales
    name = way.row[1].name
    sides = _bar_sides(columns, trace.example.n_features)
    bars = Bars(*way.row, Ground(*scales, *sides), trace, theme.color(name))
    ticks = () if columns.window.hidden else columns.middles
    zero = axis(left, right, scales[1].zero, ticks, theme.color("secondary"))
    values = VGroup(*_cut_values(easel, name, scales[1]))
    if way.half == (None, None):
        return Chart(bars, zero, None, None, values)
    (mean, next_mean), (half, next_half) = way.mean, way.half
    ground = Ground(*scales, (left,), (right,))
    pink = theme.color("statistics")
    band = Band((mean, half), (next_mean, next_half), ground, trace, theme.blend("statistics", BAND))
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
    way, trace = passage(easel, state.name), easel.trace
    mean = way.mean[1]
    y = way.scales[1].y(np.zeros(1) if mean is None else mean.values(trace)).item()
    words = fitted(easel, element.words[0], TYPE.statistic, NAMES_RIGHT - LEFT, "statistics")
    bottom, top = easel.layout.charts[state.name]
    y = max(y, bottom + 0.4) if chart_side(easel, state) > 0 else min(y, top - 0.55)
    return words.place(NAMES_RIGHT, y - 0.13, "right")


def statistic(easel: Easel, element: Element, state: State) -> Mobject:
    """μ = …, σ² = …, both in one size."""
    left = SIDE_LEFT + 0.3
    lines = {e.name: _statistic_line(easel, e) for e in state.elements if e.kind == "statistic"}
    widest = max(easel.pen.write(line, TYPE.statistic).advance for line in lines.values())
    size = TYPE.statistic * min(1.0, (RIGHT - left) / widest)
    return easel.pen.write(lines[element.name], size).place(left, easel.layout.side[state.name][element.name])


def _statistic_line(easel: Easel, element: Element) -> Line:
    label = element.labels[0]
    named = symbol_line(symbol(label.ref.partition("[")[0]))
    return (*named, *easel.wording.sign(" = ", "statistics"), *value_line(label, "statistics"))


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
