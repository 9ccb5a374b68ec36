"""A token of the row: a chip with the token's own label."""

from __future__ import annotations

from manim import VGroup

from addnorm.scenes.elements.lettering import Pen
from addnorm.scenes.elements.shapes import STROKE, THIN, box
from addnorm.scenes.text import Line
from addnorm.scenes.theme import TYPE

PADDING = 0.22
HEIGHT = 0.68


def token_chip(pen: Pen, line: Line, x: float, y: float, width: float, size: float, followed: bool) -> VGroup:
    """A token's chip centred on (x, y); the followed one is lit in the colour of x."""
    color = pen.theme.color("x" if followed else "line")
    frame = box(x, y, width, HEIGHT, color, pen.theme.color("surface"), STROKE if followed else THIN)
    label = pen.write(line, size, role="text" if followed else "secondary").center_on(x, y)
    return VGroup(frame, label)


def chip_width(pen: Pen, lines: list[Line], size: float = TYPE.note) -> float:
    """One width for all chips of a row: that of the widest label, and at least a little more than square."""
    return max(1.1, *(pen.write(line, size).advance + 2 * PADDING for line in lines))
