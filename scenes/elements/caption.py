"""Centred text: a caption, or a longer note, on one line or on several of about the same length."""

from __future__ import annotations

from addnorm.scenes.elements.lettering import Lettering, Pen
from addnorm.scenes.text import Line
from addnorm.scenes.theme import PIXEL
from addnorm.scenes.typeset import LINE_PITCH


def paragraph(pen: Pen, line: Line, size: float, width: float, y: float) -> Lettering:
    """Centred text that breaks into as few lines as the width allows, balanced; ``y`` is the first baseline."""
    single = pen.write(line, size)
    if single.advance <= width:
        return single.place(0, y, "center")
    fewest = pen.write(line, size, width=width).lines
    narrow = single.advance / fewest
    while pen.write(line, size, width=narrow).lines > fewest:
        narrow = min(narrow + 0.1, width)
    return pen.write(line, size, width=narrow).place(0, y, "center")


def caption(pen: Pen, line: Line, size: float, width: float, y: float) -> Lettering:
    """A caption in its place for two lines, whose first baseline is at ``y``; a single line stands between them."""
    block = paragraph(pen, line, size, width, y)
    if block.lines == 1:
        block.shift((0.0, -LINE_PITCH * size * PIXEL / 2, 0.0))
    return block
