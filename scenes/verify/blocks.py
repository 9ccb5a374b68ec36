"""Comparing pictures block by block: does each small square show what it should?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from addnorm.scenes.verify.passage import Picture, Plane
from addnorm.scenes.video import Frame

BLOCK = 12
"""Pixels. Pictures are compared in squares of this side."""


class Blocks:
    """An expected picture, or several planes of one, cut into blocks.

    ``side`` is that of a block in pixels of these planes, and ``faintest`` a contrast in levels: a block that shows
    less is taken to show so much.
    """

    def __init__(self, expected: Plane, side: int, faintest: float) -> None:
        self._expected, self._side = expected, side
        rows, columns = (_summed(np.ones(length, dtype=np.float32), side, -1) for length in expected.shape[-2:])
        pixels = np.outer(rows, columns)
        sums, squares = self._sums(expected), self._sums(expected * expected)
        self._least = pixels * np.float32(faintest**2 * (1 if expected.ndim == 2 else len(expected)))
        self._contrast = _together(squares - sums * sums / pixels) + self._least

    def differences(self, picture: Picture | Plane) -> Plane:
        """By how much of what it shows each block differs, as energy."""
        difference = picture - self._expected
        return np.asarray(_together(self._sums(difference * difference)) / self._contrast)

    @property
    def busy(self) -> int:
        """How many blocks show something."""
        return int((self._contrast > 2 * self._least).sum())

    def _sums(self, planes: Plane) -> Plane:
        """The sum over each block."""
        return _summed(_summed(planes, self._side, -2), self._side, -1)


def _summed(planes: Plane, side: int, axis: int) -> Plane:
    """The sums of ``side`` neighbours each along an axis; a rest at the end counts to the last ones."""
    many = planes.shape[axis] // side
    whole, rest = np.split(planes, [many * side], axis=axis)
    shape = (*planes.shape[:axis], many, side, *planes.shape[axis:][1:])
    sums = whole.reshape(shape).sum(axis=axis)
    sums[(..., -1) if axis == -1 else (..., -1, slice(None))] += rest.sum(axis=axis)
    return np.asarray(sums)


def _together(planes: Plane) -> Plane:
    """The planes' sum, where there are several."""
    return planes if planes.ndim == 2 else np.asarray(planes.sum(axis=0))


def halved(frame: Frame) -> Frame:
    """A picture of half the width and height, whose brightness is in pixels as large as those of colour were."""
    return Frame(_halved(frame.brightness), _halved(frame.colour))


def _halved(planes: Picture) -> Picture:
    height, width = (side // 2 * 2 for side in planes.shape[-2:])
    wide = np.add(planes[..., 0:height:2, :width], planes[..., 1:height:2, :width], dtype=np.uint16)
    return np.asarray((wide[..., ::2] + wide[..., 1::2] + 2) >> 2, dtype=np.uint8)


def box_around(blocks: NDArray[np.bool_]) -> tuple[float, float, float, float]:
    """The box around some blocks of a whole picture: left, top, width and height in pixels."""
    rows, columns = (np.flatnonzero(blocks.any(axis=axis)) for axis in (1, 0))
    left, top = float(columns[0] * BLOCK), float(rows[0] * BLOCK)
    return left, top, float((columns[-1] + 1) * BLOCK - left), float((rows[-1] + 1) * BLOCK - top)


def blocks_covering(part: tuple[slice, slice]) -> tuple[slice, slice]:
    """The blocks that a part of a whole picture lies in."""
    rows, columns = (slice(side.start // BLOCK, -(-side.stop // BLOCK)) for side in part)
    return rows, columns
