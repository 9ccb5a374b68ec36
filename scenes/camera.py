"""The stage's camera: stock manim's pictures to the bit, drawn with as little work as a frame needs.

Between two frames most of a picture stays as it is. So the camera restores only the tiles that were drawn over,
draws nothing that cannot be seen, hands Cairo an outline that has not moved as it was, and can tell which tiles of
the picture have changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import cairo
import numpy as np
from manim import Camera, Mobject, VMobject
from numpy.typing import NDArray

from addnorm.scenes.tiles import Part, Tiles, no_tiles, pixels, tiles_of

Array = NDArray[np.float64]

STEPS = 256
"""Cairo's steps in a pixel. An animation that only fades leaves rounding, which is seldom one of them."""

MARGIN = 3
"""Pixels that a shape may reach beyond its outline by smoothing and rounding."""

MITER_LIMIT = 10
"""How many times half its width a line's corner may stand out; Cairo's default."""


class _Outline(NamedTuple):
    """A shape's points in Cairo's steps, what Cairo made of them, and where they are: left, top, right, bottom."""

    steps: Array
    path: cairo.Path
    box: Array


class _Drawn(NamedTuple):
    """What was drawn of a shape, and on which tiles."""

    shape: int
    outline: _Outline
    paint: tuple[object, ...]
    tiles: Part

    def looks_like(self, other: _Drawn) -> bool:
        """Whether the same was drawn; outlines that are equal are the same one."""
        return self.outline is other.outline and self.paint == other.paint


class StageCamera(Camera):
    """Draws into one picture, ``pixel_array``, and remembers the exact draw list of it in ``drawn``."""

    drawn: tuple[Mobject, ...] = ()

    def __init__(self, **settings: Any) -> None:
        # A picture is what it was begun with and what was drawn over that; those of the last one that was asked for.
        self._beneath: Any = None
        self._over: list[_Drawn] = []
        self._taken: tuple[Any, list[_Drawn]] = None, []
        self._outlines: dict[int, _Outline] = {}
        super().__init__(**settings)

    def take_changed(self) -> Tiles:
        """The tiles that may differ from the picture at which this was last asked; all of them the first time."""
        (beneath, before), now = self._taken, [*self._over]
        self._taken = self._beneath, now
        changed = self._tiles()
        if beneath is not self._beneath:
            changed[:] = True
        elif [one.shape for one in before] != [one.shape for one in now]:
            changed = self._tiles([*before, *now])
        else:
            pairs = zip(before, now, strict=True)
            changed = self._tiles([one for pair in pairs if not pair[0].looks_like(pair[1]) for one in pair])
        return changed

    def _tiles(self, drawn: Sequence[_Drawn] = ()) -> Tiles:
        tiles = no_tiles(self.pixel_height, self.pixel_width)
        for one in drawn:
            tiles[one.tiles] = True
        return tiles

    def set_pixel_array(self, pixel_array: Any, convert_from_floats: bool = False) -> None:
        """Begin with a picture. It must not be altered afterwards: it may be begun with again."""
        if pixel_array is self._beneath:
            for part in pixels(self._tiles(self._over)):
                self.pixel_array[part] = pixel_array[part]
        else:
            super().set_pixel_array(pixel_array, convert_from_floats)
            self._beneath = pixel_array
        self._outlines = {one.shape: one.outline for one in self._over}
        self._over = []

    def capture_mobjects(self, mobjects: Iterable[Mobject], **kwargs: Any) -> None:
        """Draw, and remember what was drawn."""
        self.drawn = tuple(self.get_mobjects_to_display(mobjects, **kwargs))
        super().capture_mobjects(self.drawn, include_submobjects=False)

    def display_vectorized(self, vmobject: VMobject, ctx: cairo.Context[Any]) -> StageCamera:
        """Draw a shape, unless it leaves no trace."""
        if _is_painted(vmobject):
            super().display_vectorized(vmobject, ctx)
        return self

    def set_cairo_context_path(self, ctx: cairo.Context[Any], vmobject: VMobject) -> StageCamera:
        """Give Cairo a shape's outline, one that has not moved as it was given before; and note what is drawn."""
        points = self.transform_points_pre_display(vmobject, vmobject.points)
        steps = _steps(ctx, points)
        outline = self._outlines.get(id(vmobject))
        if outline is not None and np.array_equal(outline.steps, steps):
            ctx.new_path()
            ctx.append_path(outline.path)
        else:
            _trace(ctx, vmobject, points)
            box = np.concatenate([steps.min(axis=1), steps.max(axis=1)]) / STEPS
            outline = _Outline(steps, ctx.copy_path(), box)
        self._over.append(_Drawn(id(vmobject), outline, _paint(vmobject), self._reach(vmobject, outline.box)))
        return self

    def _reach(self, vmobject: VMobject, box: Array) -> Part:
        """The tiles that a shape may reach."""
        width = max(vmobject.get_stroke_width(), vmobject.get_stroke_width(True)) * self.cairo_line_width_multiple
        margin = MARGIN + MITER_LIMIT * width / 2 * self.pixel_height / self.frame_height
        left, top, right, bottom = box.tolist()
        return tiles_of(left - margin, top - margin, right + margin, bottom + margin)


def _is_painted(vmobject: VMobject) -> bool:
    return bool(
        vmobject.get_fill_rgbas()[:, 3].any()
        or (vmobject.get_stroke_width() and vmobject.get_stroke_rgbas()[:, 3].any())
        or (vmobject.get_stroke_width(True) and vmobject.get_stroke_rgbas(True)[:, 3].any())
    )


def _paint(vmobject: VMobject) -> tuple[object, ...]:
    """All that a shape's looks depend on beside its outline."""
    return (
        vmobject.get_fill_rgbas().tobytes(),
        vmobject.get_stroke_rgbas().tobytes(),
        vmobject.get_stroke_rgbas(True).tobytes(),
        vmobject.get_stroke_width(),
        vmobject.get_stroke_width(True),
        vmobject.joint_type,
        vmobject.cap_style,
        *vmobject.sheen_direction,
    )


def _steps(ctx: cairo.Context[Any], points: Array) -> Array:
    """Where points are for Cairo, shape (2, points): it rounds them to its steps, from the top left.

    All x, then all y: numpy takes many times as long along rows of two.
    """
    matrix = ctx.get_matrix()
    columns = np.ascontiguousarray(points[:, :2].T)
    return np.rint((columns * ((matrix.xx,), (matrix.yy,)) + ((matrix.x0,), (matrix.y0,))) * STEPS)


def _trace(ctx: cairo.Context[Any], vmobject: VMobject, points: Array) -> None:
    """What manim's camera does, with plain numbers: it takes each out of an array, which costs twice as much."""
    ctx.new_path()
    curve_to = ctx.curve_to
    for start, end in vmobject.get_subpath_split_indices_from_points(points, n_dims=2).tolist():
        if end - start < 4:
            continue
        flat = points[start:end, :2].ravel().tolist()
        ctx.new_sub_path()
        ctx.move_to(*flat[:2])
        for n in range(2, len(flat) - 5, 8):
            curve_to(*flat[n : n + 6])
        if vmobject.consider_points_equals_2d(points[start], points[end - 1]):
            ctx.close_path()
