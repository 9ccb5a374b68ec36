"""A finished picture as SVG: the outlines the camera draws, glyphs included, so it stays crisp at any size.

Nothing in the file depends on the machine, on its fonts or on the size the film is rendered at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from math import hypot

import numpy as np
from manim import CapStyleType, LineJointType, ManimColor, Mobject, VMobject
from numpy.typing import NDArray

from addnorm.scenes.theme import FRAME_HEIGHT, FRAME_WIDTH, PIXEL

Point = list[float]

_WIDTH, _HEIGHT = round(FRAME_WIDTH / PIXEL), round(FRAME_HEIGHT / PIXEL)
_STROKE_UNIT = 0.01
"""Scene units in a unit of manim's stroke width."""

_CAPS = {CapStyleType.ROUND: "round", CapStyleType.SQUARE: "square"}
_JOINTS = {LineJointType.ROUND: "round", LineJointType.BEVEL: "bevel"}


def as_svg(drawn: Iterable[Mobject], ground: str, title: str) -> bytes:
    """What is drawn, from back to front, over a ground, in a picture of 1920 × 1080.

    Colours are flat: a gradient is drawn in the mean of its colours.
    """
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    lines = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>',
        f"<title>{escape(title, quote=False)}</title>",
        f'<path fill="{ground}" d="M0 0H{_WIDTH}V{_HEIGHT}H0Z"/>',
        *(path for mobject in drawn if isinstance(mobject, VMobject) for path in _paths(mobject)),
        "</svg>\n",
    )
    return "\n".join(lines).encode()


def _paths(mobject: VMobject) -> Iterator[str]:
    """A leaf as the camera paints it: the stroke behind, the fill, the stroke in front."""
    outline = _outline(mobject)
    behind, front = (_stroke(mobject, background) for background in (True, False))
    fill = _paint("fill", mobject.get_fill_rgbas())
    if behind:
        yield f'<path fill="none"{behind} d="{outline}"/>'
    if fill or front:
        yield f'<path{fill or _NO_FILL}{front} d="{outline}"/>'


_NO_FILL = ' fill="none"'


def _stroke(mobject: VMobject, background: bool) -> str:
    width = mobject.get_stroke_width(background) * _STROKE_UNIT / PIXEL
    paint = _paint("stroke", mobject.get_stroke_rgbas(background)) if width else ""
    if not paint:
        return ""
    cap, joint = _CAPS.get(mobject.cap_style), _JOINTS.get(mobject.joint_type)
    ends = f' stroke-linecap="{cap}"' if cap else ""
    corners = f' stroke-linejoin="{joint}"' if joint else ' stroke-miterlimit="10"'  # cairo's limit
    return f'{paint} stroke-width="{_number(width)}"{ends}{corners}'


def _paint(kind: str, rgbas: NDArray[np.float64]) -> str:
    """The colour and opacity as attributes; nothing for what leaves no trace."""
    *color, opacity = rgbas.mean(axis=0)
    if round(opacity * 255) == 0:
        return ""
    share = "" if round(opacity * 255) == 255 else f' {kind}-opacity="{opacity:.3f}"'
    return f' {kind}="{ManimColor(color).to_hex()}"{share}'


def _outline(mobject: VMobject) -> str:
    # Found all at once, as the camera does; manim's get_subpaths compares point by point.
    ends = mobject.get_subpath_split_indices_from_points(mobject.points).tolist()
    return "".join(_subpath(mobject.points[first:last, :2]) for first, last in ends)


def _subpath(points: NDArray[np.float64]) -> str:
    """One stroke of the pen: straight segments as lines, closed where it ends where it began."""
    pixels = np.round((points * (1, -1) + (FRAME_WIDTH / 2, FRAME_HEIGHT / 2)) / PIXEL, 2)
    text = f"M{_point(pixels[0].tolist())}"
    for a, b, c, d in pixels.reshape(-1, 4, 2).tolist():  # plain numbers, which are far quicker one by one
        if a == b == c == d:
            continue
        text += f"L{_point(d)}" if _is_straight(a, b, c, d) else f"C{_point(b)} {_point(c)} {_point(d)}"
    return text + ("Z" if (pixels[0] == pixels[-1]).all() else "")


def _is_straight(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Whether both controls stand on the line between the ends, up to the rounding of the places."""
    x, y = d[0] - a[0], d[1] - a[1]
    length = hypot(x, y)
    return length > 0 and all(
        abs(x * (p[1] - a[1]) - y * (p[0] - a[0])) <= 0.02 * length
        and 0 <= x * (p[0] - a[0]) + y * (p[1] - a[1]) <= length * length
        for p in (b, c)
    )


def _point(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    return f"{value + 0.0:.2f}".rstrip("0").rstrip(".")
