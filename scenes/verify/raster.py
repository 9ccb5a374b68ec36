"""Numbers as pixels: what a number's text, or any other made of the same characters, looks like on a picture.

The verifier draws here what a finished video ought to show, from the outlines that typesetting gives and with
a rasterizer of its own, so that nothing the stage drew is compared with itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import cairo
import numpy as np
from numpy.typing import NDArray

from addnorm.scenes.typeset import Span, typeset

BLANKS = {"\N{FIGURE SPACE}": "0", "\N{PUNCTUATION SPACE}": "."}
"""Blanks as wide as the character that they take the place of, which the font does not have."""

_FINE = 4096  # Paths are kept in whole 256ths of a pixel: make an em so many pixels, so that nothing is lost.


@dataclass(frozen=True)
class Pose:
    """How a text stands on a picture: the pixels in an em, across and down, and the start of its baseline.

    ``x`` grows to the right and ``y`` downwards, from the picture's top left corner.
    """

    em_x: float
    em_y: float
    x: float
    y: float

    def moved(self, ems: float) -> Pose:
        """The same, so many em further right."""
        return Pose(self.em_x, self.em_y, self.x + ems * self.em_x, self.y)


def pose(text: str, left: float, top: float, width: float, height: float) -> Pose:
    """How a text stands whose ink fills a box given in pixels."""
    (ink_left, ink_bottom), (ink_right, ink_top) = ink(text)
    em_x = width / (ink_right - ink_left)
    em_y = height / (ink_top - ink_bottom)
    return Pose(em_x, em_y, left - ink_left * em_x, top + ink_top * em_y)


@cache
def advance(text: str) -> float:
    """The width that a text takes, in em. Its characters stand side by side; none is kerned."""
    return sum(_character(character)[1] for character in text)


@cache
def ink(text: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """The corners (left, bottom) and (right, top) of a text's ink, in em from the start of its baseline."""
    places = [advance(text[:n]) for n in range(len(text))]
    points = np.concatenate([_character(character)[0] + (x, 0.0) for character, x in zip(text, places, strict=True)])
    (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
    return (float(left), float(bottom)), (float(right), float(top))


class Sheet:
    """A part of a picture to draw texts on: which share of each pixel's area they cover."""

    def __init__(self, left: int, top: int, width: int, height: int) -> None:
        """The part's corner and size, in pixels of the picture."""
        self.shape = (height, width)
        stride = cairo.ImageSurface.format_stride_for_width(cairo.FORMAT_A8, width)
        self._pixels = np.zeros((height, stride), dtype=np.uint8)
        surface = cairo.ImageSurface.create_for_data(self._pixels.data, cairo.FORMAT_A8, width, height, stride)
        self._surface = surface
        self._context = cairo.Context(surface)
        self._corner = (left, top)

    def coverage(self, text: str, where: Pose) -> NDArray[np.float32]:
        """The share of each pixel, from 0 to 1, that the text covers."""
        context = self._context
        context.save()
        context.set_operator(cairo.OPERATOR_CLEAR)
        context.paint()
        context.set_operator(cairo.OPERATOR_OVER)
        context.translate(where.x - self._corner[0], where.y - self._corner[1])
        context.scale(where.em_x, -where.em_y)
        for character in text:
            context.append_path(_path(character))
            context.translate(_character(character)[1], 0)
        context.fill()
        context.restore()
        self._surface.flush()
        height, width = self.shape
        return self._pixels[:height, :width].astype(np.float32) / np.float32(255)


@cache
def _character(character: str) -> tuple[NDArray[np.float64], float]:
    """A character's outline, cubic segments in em of shape (4·n, 2), and its advance."""
    if character in BLANKS:
        return np.zeros((0, 2)), _character(BLANKS[character])[1]
    setting = typeset([Span(character)])
    return setting.outlines[0][:, :2], setting.width


@cache
def _path(character: str) -> Any:
    """A character's outline as a path of the rasterizer."""
    context = cairo.Context(cairo.ImageSurface(cairo.FORMAT_A8, 1, 1))
    context.scale(_FINE, _FINE)
    here = None
    for start, *controls in _character(character)[0].reshape(-1, 4, 2):
        if here is None or not np.allclose(start, here, atol=1e-6):
            context.move_to(*start)
        context.curve_to(*np.ravel(controls))
        here = controls[-1]
    return context.copy_path()
