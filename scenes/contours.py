"""What a drawn outline covers: its area, its line, and whether it looks like a digit.

Outlines are cubic Bézier curves as manim keeps them, shape (4·n, 3) or (4·n, 2). Areas are filled by the
non-zero winding rule, every contour closed, as the renderer does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from addnorm.scenes.typeset import Span, typeset

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

LIKENESS = 0.006
"""How far each moment of a contour may be from a digit's, in units of its box, to be taken for it."""


def polygons(points: Array, pieces: int = 8) -> list[Array]:
    """Each contour as a polygon, shape (m, 2): its first point, and the ends of so many pieces of each curve."""
    curves = points[:, :2].reshape(-1, 4, 2)
    if not len(curves):
        return []
    breaks = np.flatnonzero(np.maximum(*np.abs(curves[1:, 0] - curves[:-1, 3]).T) > 1e-6) + 1
    flat = np.einsum("sn,cnd->csd", _weights(pieces), curves)
    return [
        np.concatenate([curves[start, :1], part.reshape(-1, 2)])
        for start, part in zip((0, *breaks), np.split(flat, breaks), strict=True)
    ]


@cache
def _weights(pieces: int) -> Array:
    """The weights of a cubic's four points at the end of each piece, shape (pieces, 4)."""
    t = np.arange(1, pieces + 1) / pieces
    return np.stack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3], axis=1)


def inside(outline: Sequence[Array], points: Array) -> Mask:
    """Which points lie in the area of some polygons."""
    start = np.concatenate(outline)
    way_x, way_y = (np.concatenate([np.roll(polygon, -1, axis=0) for polygon in outline]) - start).T
    x, y = points[:, 0, None] - start[:, 0], points[:, 1, None] - start[:, 1]
    side = way_x * y - way_y * x
    above = y >= 0
    up = above & (y < way_y) & (side > 0)
    down = ~above & (y >= way_y) & (side < 0)
    winding = up.sum(axis=1) - down.sum(axis=1)
    return np.asarray(winding != 0)


def near(outline: Sequence[Array], points: Array, distance: float) -> Mask:
    """Which points lie within a distance of the lines of some polygons, drawn open."""
    start = np.concatenate([polygon[:-1] for polygon in outline])
    way_x, way_y = np.concatenate([np.diff(polygon, axis=0) for polygon in outline]).T
    x, y = points[:, 0, None] - start[:, 0], points[:, 1, None] - start[:, 1]
    length = np.maximum(way_x**2 + way_y**2, 1e-18)
    t = np.clip((x * way_x + y * way_y) / length, 0, 1)
    gap = (x - t * way_x) ** 2 + (y - t * way_y) ** 2
    return np.asarray((gap <= distance**2).any(axis=1))


def samples(points: Array, pitch: float) -> Array:
    """Points all over the area of an outline, a pitch apart, and the middles of its contours' boxes."""
    outline = polygons(points)
    corners = np.concatenate(outline)
    (left, bottom), (right, top) = corners.min(axis=0), corners.max(axis=0)
    xs, ys = np.arange(left + pitch / 2, right, pitch), np.arange(bottom + pitch / 2, top, pitch)
    grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    middles = np.array([(polygon.min(axis=0) + polygon.max(axis=0)) / 2 for polygon in outline])
    candidates = np.concatenate([grid, middles])
    found = candidates[inside(outline, candidates)]
    return found if len(found) else middles


def digit_in(points: Array) -> str | None:
    """The digit that a contour of an outline looks like, however it is placed, scaled or stretched.

    Compared are area and moments up to the third order, so neither the number of points matters nor where they
    lie. 0 is left out: its contour is an oval.
    """
    for polygon in polygons(points):
        moments = _moments(polygon)
        if moments is not None:
            digits, models = _digits()
            for n in np.flatnonzero(np.abs(models - moments).max(axis=1) < LIKENESS):
                return digits[n]
    return None


@cache
def _digits() -> tuple[str, Array]:
    """The moments of the outer contour of each digit, in the font of the text and in that of the math: a row each."""
    digits, models = "", []
    for digit in "123456789":
        for span in (Span(text=digit), Span(math=digit)):
            contours = polygons(typeset([span]).outlines[0])
            outer = max(contours, key=lambda polygon: float(np.ptp(polygon, axis=0).sum()))
            moments = _moments(outer)
            assert moments is not None
            digits += digit
            models.append(moments)
    return digits, np.array(models)


def _moments(polygon: Array) -> Array | None:
    """Area, centroid and central moments in units of the polygon's box, or None for what has no area."""
    low, size = polygon.min(axis=0), np.ptp(polygon, axis=0)
    if size.min() < 1e-6:
        return None
    x, y = ((polygon - low) / size).T
    x1, y1 = np.roll(x, -1), np.roll(y, -1)
    weight = (x * y1 - x1 * y) / 2
    area = weight.sum()
    if abs(area) < 1e-3:
        return None
    # Integrals over the triangles that the origin makes with each edge, exact up to the third degree.
    xs, ys = _NODES @ (x, x1), _NODES @ (y, y1)
    shares = _SHARES * (weight / area)
    cx, cy = (shares * xs).sum(), (shares * ys).sum()
    xs, ys = xs - cx, ys - cy
    xx, xy, yy = xs * xs, xs * ys, ys * ys
    higher = [(shares * power).sum() for power in (xx, xy, yy, xx * xs, xx * ys, xy * ys, yy * ys)]
    return np.array([abs(area), cx, cy, *higher])


_NODES = np.array([[0, 0], [1, 0], [0, 1], [0.5, 0], [0, 0.5], [0.5, 0.5], [1 / 3, 1 / 3]])
_SHARES = np.array([3, 3, 3, 8, 8, 8, 27])[:, None] / 60
