"""A picture in tiles, of which some are marked: those that were drawn on, or that have changed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

HEIGHT = 40
"""Rows of a tile: it divides the height of every named size."""

WIDTH = 640
"""Columns of a tile. Smaller tiles would fit closer to what changes, but each takes time by itself."""

Tiles = NDArray[np.bool_]
"""Rows × columns of tiles; the last ones may reach beyond the picture."""

Part = tuple[slice, slice]
"""Rows and columns of pixels, or of tiles."""


def no_tiles(height: int, width: int) -> Tiles:
    """A picture of so many pixels with no tile marked."""
    return np.zeros((-(-height // HEIGHT), -(-width // WIDTH)), dtype=np.bool_)


def tiles_of(left: float, top: float, right: float, bottom: float) -> Part:
    """The tiles that a box of pixels lies on."""
    return (
        slice(max(0, int(top // HEIGHT)), max(0, int(bottom // HEIGHT) + 1)),
        slice(max(0, int(left // WIDTH)), max(0, int(right // WIDTH) + 1)),
    )


def pixels(tiles: Tiles) -> Iterator[Part]:
    """The pixels of all marked tiles, in pieces; those that stand one below the other are in one piece."""
    for number, column in enumerate(tiles.T):
        ends = np.flatnonzero(np.diff(column, prepend=False, append=False)).tolist()
        for top, bottom in zip(ends[::2], ends[1::2], strict=True):
            yield slice(top * HEIGHT, bottom * HEIGHT), slice(number * WIDTH, (number + 1) * WIDTH)
