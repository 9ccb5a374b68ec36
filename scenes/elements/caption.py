"""The caption: one centred line, or two of about the same length."""

from __future__ import annotations

from addnorm.scenes.elements.lettering import Lettering, Pen
from addnorm.scenes.text import Line
from addnorm.scenes.theme import PIXEL, TYPE

LINE_PITCH = 1.33
"""Distance of the caption's baselines, in em."""


def caption_block(pen: Pen, line: Line, width: float, y: float) -> Lettering:
    """A caption that stands on up to two lines; ``y`` is the first baseline of two, a single line stands between."""
    size = TYPE.caption
    single = pen.write(line, size)
    half_pitch = LINE_PITCH * size * PIXEL / 2
    if single.advance <= width:
        return single.place(0, y - half_pitch, "center")
    lowest = _lines(pen, line, width)
    narrow = single.advance / lowest
    while _lines(pen, line, narrow) > lowest:
        narrow = min(narrow + 0.1, width)
    return pen.write(line, size, width=narrow).place(0, y, "center")


def _lines(pen: Pen, line: Line, width: float) -> int:
    """How many lines the caption takes at a width."""
    text = pen.write(line, TYPE.caption, width=width)
    return 1 + round(-min(float(glyphs.points[:, 1].min()) for glyphs in text) / text.em / LINE_PITCH)
