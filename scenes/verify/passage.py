"""What became of pictures on their way from the stage into a video and out of it again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Plane = NDArray[np.float32]
"""The brightness of a picture or a part of it, height × width, in levels from 16 (black) to 235 (white)."""

Picture = NDArray[np.uint8]
"""The same as a video gives it."""

REACH = 2
"""Pixels. So far a picture may have spread, by resampling or by half a pixel's shift."""

_STRIP = 24  # rows at a time: what is summed up stays in the processor's cache
_RIDGE = 1e-3
_EDGE = 8.0  # levels between neighbours: only where something is drawn, there is something to tell
_LEAST_TOLD, _MOST_TOLD = 1000, 50_000  # pixels
_UNLIKE = 0.25


@dataclass(frozen=True)
class Passage:
    """What became of a picture on its way: every pixel a weighted sum of those around it, and a constant.

    This holds for scaling, blur, sharpening, a shift of up to a pixel and a change of contrast. It is fitted,
    so nobody has to say what was done to a video.
    """

    weights: NDArray[np.float32]
    level: float

    @classmethod
    def untouched(cls, reach: int = REACH) -> Passage:
        """Nothing was done."""
        weights = np.zeros((2 * reach + 1, 2 * reach + 1), dtype=np.float32)
        weights[reach, reach] = 1
        return cls(weights, 0.0)

    @classmethod
    def between(cls, expected: Plane, observed: Picture, reach: int = REACH) -> Passage | None:
        """The passage that best explains a whole picture; None where none does, for it is another picture."""
        size = 2 * reach + 1
        inside = expected[reach:-reach, reach:-reach]
        edges = np.abs(inside[1:, 1:] - inside[:-1, :-1]) > _EDGE
        rows, columns = np.nonzero(edges)
        chosen = slice(None, None, 1 + len(rows) // _MOST_TOLD)  # a part of a large picture tells as much
        rows, columns = rows[chosen], columns[chosen]
        if len(rows) < _LEAST_TOLD:
            return None
        windows = sliding_window_view(expected, (size, size))
        x = windows[rows, columns].reshape(-1, size * size).astype(np.float64)
        y = observed[reach:, reach:][rows, columns].astype(np.float64)
        means, level = x.mean(axis=0), y.mean()
        x -= means
        y -= level
        gram = x.T @ x
        start = cls.untouched(reach).weights.ravel().astype(np.float64)
        ridge = _RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram))  # what is not told stays untouched
        weights = start + np.linalg.solve(gram + ridge, x.T @ (y - x @ start))
        if ((y - x @ weights) ** 2).sum() > _UNLIKE * (y**2).sum():
            return None
        return cls(weights.reshape(size, size).astype(np.float32), float(level - means @ weights))

    @property
    def reach(self) -> int:
        """How many pixels a picture has spread."""
        return len(self.weights) // 2

    def arrived(self, picture: Plane) -> Plane:
        """A whole picture as it comes out."""
        return self.spread(np.pad(picture, self.reach, mode="edge")) + np.float32(self.level)

    def spread(self, planes: Plane) -> Plane:
        """Pictures, or differences of pictures, as they come out; narrower on each side by the reach."""
        height, width = (side - 2 * self.reach for side in planes.shape[-2:])
        out = np.zeros((*planes.shape[:-2], height, width), dtype=np.float32)
        for top in range(0, height, _STRIP):
            strip = out[..., top : top + _STRIP, :]
            for (dy, dx), weight in np.ndenumerate(self.weights):
                rows = slice(top + dy, top + dy + strip.shape[-2])
                strip += weight * planes[..., rows, dx : dx + width]
        return out
