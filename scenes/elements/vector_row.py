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

GAP = 0.12
PADDING = 0.08


@dataclass(frozen=True)
class Columns:
    """Where the features stand: a window of slots of equal width between two edges, in scene units."""

    left: float
    right: float
    window: Window

    @property
    def pitch(self) -> float:
        """Distance between the middles of neighbouring slots."""
        return (self.right - self.left) / self.window.slots

    @property
    def cell_width(self) -> float:
        """Width of a cell."""
        return self.pitch - GAP

    def slot(self, position: int) -> float:
        """The middle of the slot at a position, counted from the left."""
        return self.left + (position + 0.5) * self.pitch

    def positions(self) -> tuple[int, ...]:
        """The slot position of each shown feature; the gap, if any, has one of its own between them."""
        window = self.window
        return tuple(n if n < window.gap else n + (window.hidden > 0) for n in range(len(window.shown)))


class VectorRow(VGroup):
    """Cells and numbers of one vector."""

    def __init__(self, cells: list[RoundedRectangle], numbers: list[Lettering], gap: Lettering | None) -> None:
        super().__init__(*cells, *numbers, *([] if gap is None else [gap]))
        self.cells = cells
        self.numbers = numbers


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
    xs = [columns.slot(position) for position in columns.positions()]
    cells = [box(x, y, columns.cell_width, height, stroke, theme.color("surface"), THIN) for x in xs]
    numbers = [
        pen.write(value_line(label, "secondary" if dimmed else "text"), size).center_on(x, y)
        for label, x in zip(labels, xs, strict=True)
    ]
    gap = pen.write(elided, size * 0.8).center_on(columns.slot(columns.window.gap), y) if elided else None
    return VectorRow(cells, numbers, gap)


def number_size(pen: Pen, labels: list[Label], size: float, columns: Columns) -> float:
    """The font size at which every number fits into its cell, at most ``size``."""
    widest = max(pen.write(value_line(label), size).advance for label in labels)
    room = columns.cell_width - 2 * PADDING
    return size if widest <= room else size * room / widest
