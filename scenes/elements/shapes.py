"""Plain shapes: boxes, arrows, brackets. They carry no number and no text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from manim import Dot, Line, RoundedRectangle, VGroup, VMobject
from numpy.typing import NDArray

Point = tuple[float, float]

STROKE = 4.0
THIN = 2.5
TIP = 0.24


class Shape(VMobject):
    """An outline or area that only decorates: the frame audit lets it pass because it encodes nothing."""


def box(
    x: float, y: float, width: float, height: float, color: str, fill: str, stroke: float = THIN
) -> RoundedRectangle:
    """A rounded box centred on (x, y)."""
    shape = RoundedRectangle(
        corner_radius=min(0.12, height / 4),
        width=width,
        height=height,
        stroke_color=color,
        stroke_width=stroke,
    )
    shape.set_fill(fill, opacity=1)
    return shape.move_to((x, y, 0.0))


def outline(x: float, y: float, width: float, height: float, color: str, stroke: float = STROKE) -> RoundedRectangle:
    """A rounded frame around something, with nothing inside."""
    shape = RoundedRectangle(
        corner_radius=min(0.16, height / 4),
        width=width,
        height=height,
        stroke_color=color,
        stroke_width=stroke,
    )
    return shape.move_to((x, y, 0.0))


def path(points: Sequence[Point], color: str, stroke: float = STROKE, radius: float = 0.3) -> Shape:
    """A line through points whose corners are rounded with the given radius."""
    corners = [np.array([x, y, 0.0]) for x, y in points]
    shape = Shape(stroke_color=color, stroke_width=stroke)
    shape.start_new_path(corners[0])
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        r = min(radius, float(np.linalg.norm(corner - before)) / 2, float(np.linalg.norm(after - corner)) / 2)
        entry = corner + (before - corner) / np.linalg.norm(before - corner) * r
        leave = corner + (after - corner) / np.linalg.norm(after - corner) * r
        shape.add_line_to(entry)
        shape.add_cubic_bezier_curve_to(entry + (corner - entry) * 0.5523, leave + (corner - leave) * 0.5523, leave)
    shape.add_line_to(corners[-1])
    return shape


def arrow(points: Sequence[Point], color: str, stroke: float = STROKE, radius: float = 0.3, tip: float = TIP) -> VGroup:
    """A line through points, corners rounded, with a solid tip on the last one."""
    end = np.array([*points[-1], 0.0])
    back = np.array([*points[-2], 0.0]) - end
    back /= np.linalg.norm(back)
    neck = end + back * tip
    shaft = path([*points[:-1], (float(neck[0]), float(neck[1]))], color, stroke, radius)
    return VGroup(shaft, _tip(end, back, tip, color))


def _tip(end: NDArray[np.float64], back: NDArray[np.float64], size: float, color: str) -> Shape:
    side = np.array([-back[1], back[0], 0.0]) * size * 0.46
    base = end + back * size
    shape = Shape(fill_color=color, fill_opacity=1, stroke_width=0)
    shape.set_points_as_corners([end, base + side, base - side, end])
    return shape


def segment(a: Point, b: Point, color: str, stroke: float = THIN) -> Line:
    """A straight line without a tip."""
    return Line((*a, 0.0), (*b, 0.0), stroke_color=color, stroke_width=stroke)


def axis(left: float, right: float, y: float, ticks: Sequence[float], color: str) -> Shape:
    """A horizontal line with a short tick across it at each of some places."""
    shape = Shape(stroke_color=color, stroke_width=THIN)
    for a, b in (((left, y), (right, y)), *(((x, y - 0.07), (x, y + 0.07)) for x in ticks)):
        shape.start_new_path(_point(*a))
        shape.add_line_to(_point(*b))
    return shape


def cross(x: float, y: float, size: float, color: str) -> VGroup:
    """A cross that strikes something out."""
    h = size / 2
    return VGroup(
        segment((x - h, y - h), (x + h, y + h), color, STROKE + 2),
        segment((x - h, y + h), (x + h, y - h), color, STROKE + 2),
    )


def bracket(left: float, right: float, y: float, depth: float, color: str, stroke: float = STROKE) -> Shape:
    """A curly bracket from ``left`` to ``right``, its ends at ``y`` and its point ``depth`` away (up if positive)."""
    middle, h = (left + right) / 2, depth / 2
    r = min(abs(h), (right - left) / 4)
    k = 0.4477  # a quarter circle as a cubic: 1 − 0.5523
    shape = Shape(stroke_color=color, stroke_width=stroke)
    shape.start_new_path(_point(left, y))
    shape.add_cubic_bezier_curve_to(_point(left, y + h * 0.55), _point(left + r * k, y + h), _point(left + r, y + h))
    shape.add_line_to(_point(middle - r, y + h))
    shape.add_cubic_bezier_curve_to(
        _point(middle - r * k, y + h), _point(middle, y + h * 1.45), _point(middle, y + depth)
    )
    shape.add_cubic_bezier_curve_to(
        _point(middle, y + h * 1.45), _point(middle + r * k, y + h), _point(middle + r, y + h)
    )
    shape.add_line_to(_point(right - r, y + h))
    shape.add_cubic_bezier_curve_to(_point(right - r * k, y + h), _point(right, y + h * 0.55), _point(right, y))
    return shape


def _point(x: float, y: float) -> NDArray[np.float64]:
    return np.array([x, y, 0.0])


def dot(x: float, y: float, radius: float, color: str) -> Dot:
    """A filled dot."""
    return Dot((x, y, 0.0), radius=radius, color=color)
