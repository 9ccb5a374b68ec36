"""A vector as a row of cells, one a feature; of a wide vector the middle ones are counted instead of shown."""

from __future__ import annotations

from dataclasses import dataclass

from manim import VGroup
from manim.mobject.geometry.polygram import RoundedRectangle

from addnorm.mathcore.labels import Label
from addnorm.scenes.elements.lettering import Lettering, Pen
from addnorm.scenes.elements.shapes import THIN, box
from addnorm.scenes.storyboard import Window
from addnorm.scenes.text import Line, value_line
from addnorm.scenes.theme import PIXEL, TYPE

GAP = 0.12
GAP_WIDTH = 2.0
PADDING = 0.07


@dataclass(frozen=True)
class Columns:
    """Where the features stand: a window of cells of equal width between two edges, in scene units.

    Where features are hidden, a gap of ``GAP_WIDTH`` says how many.
    """

    left: float
    right: float
    window: Window

    @property
    def pitch(self) -> float:
        """Distance between the middles of neighbouring cells."""
        return (self.right - self.left - self._gap) / len(self.window.shown)

    @property
    def cell_width(self) -> float:
        """Width of a cell."""
        return self.pitch - GAP

    @property
    def middles(self) -> tuple[float, ...]:
        """The middle of each shown feature's cell."""
        return tuple(
            self.left + (n + 0.5) * self.pitch + (self._gap if n >= self.window.gap else 0.0)
            for n in range(len(self.window.shown))
        )

    @property
    def gap_middle(self) -> float:
        """The middle of the gap."""
        return self.left + self.window.gap * self.pitch + self._gap / 2

    @property
    def _gap(self) -> float:
        return GAP_WIDTH if self.window.hidden else 0.0


class VectorRow(VGroup):
    """Cells and numbers of one vector."""

    def __init__(self, cells: list[RoundedRectangle], numbers: list[Lettering], gap: Lettering | None) -> None:
        self.cells = VGroup(*cells)
        self.numbers = VGroup(*numbers)
        self.gap = VGroup(*([] if gap is None else [gap]))
        super().__init__(self.cells, self.numbers, self.gap)

    @property
    def contents(self) -> VGroup:
        """All that stands in or between the cells."""
        return VGroup(self.numbers, self.gap)


def vector_row(
    pen: Pen,
    labels: tuple[Label, ...],
    columns: Columns,
    y: float,
    height: float,
    size: float,
    role: str,
    *,
    dimmed: bool = False,
    elided: Line = (),
) -> VectorRow:
    """A row at height ``y`` with one number in each shown cell, and ``elided`` where the rest would be."""
    theme = pen.theme
    stroke = theme.color("line" if dimmed else role)
    cells = [box(x, y, columns.cell_width, height, stroke, theme.color("surface"), THIN) for x in columns.middles]
    numbers = [
        pen.write(value_line(label, "secondary" if dimmed else "text"), size).center_on(x, y)
        for label, x in zip(labels, columns.middles, strict=True)
    ]
    gap = pen.write(elided, TYPE.note).center_on(columns.gap_middle, y) if elided else None
    return VectorRow(cells, numbers, gap)


def number_size(widest: float, size: float, columns: Columns) -> float:
    """The font size at which every number fits into its cell, at most ``size``; ``widest`` is in em."""
    widest *= size * PIXEL
    room = columns.cell_width - 2 * PADDING
    return size if widest <= room else size * room / widest
