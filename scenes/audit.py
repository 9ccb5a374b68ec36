"""The frame audit: whatever is drawn must be what the math says, on every frame.

It walks the leaves of the draw list after all updaters have run, and reports the numbers and lengths it saw,
which becomes the manifest. It trusts nothing that a mobject says of itself except which value it claims to
show: what a line says is judged by :mod:`truth`, how its glyphs look by typesetting it again, and how long a
length is by the trace. Then it looks at the frame as a whole: whether a number is partly hidden, runs into
another text, or stands beside a length that is on its way.

A leaf that looks as it did on the frame before is not looked at again, so a frame costs what has changed.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from manim import Camera, Mobject, PMobject, VMobject
from manim.mobject.types.image_mobject import AbstractImageMobject
from numpy.typing import NDArray

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.labels import Label
from addnorm.mathcore.trace import Trace
from addnorm.scenes.contours import digit_in, inside, near, polygons, samples
from addnorm.scenes.elements.lettering import Glyphs, Ink
from addnorm.scenes.elements.shapes import Shape
from addnorm.scenes.elements.value_chart import Scale, ValueShape
from addnorm.scenes.manifest import LengthSighting, Seen, Sighting
from addnorm.scenes.text import Line, Sum, Wording
from addnorm.scenes.theme import FRAME_HEIGHT, FRAME_WIDTH
from addnorm.scenes.truth import complaint
from addnorm.scenes.typeset import Paragraph

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Box = tuple[float, float, float, float]

TOLERANCE = 1e-6
"""Largest distance, in em or scene units, that a point may have from its place. Rounding leaves about 1e-12."""

ROUNDING = 1e-9
"""Scene units: what moves no further has not moved."""

UNSEEN = 1 / 510
"""An opacity, or in scene units a size, that leaves no trace in a picture of 256 shades."""

OPAQUE = 0.5
"""From this opacity on, a shape hides what lies under it, and a text counts as one that can be read."""

CONTRAST = 0.1
"""The difference in red, green or blue, from 0 to 1, below which a number is lost on what it is drawn on."""

GLIMPSE = 0.02
"""The share of a number's ink that may be hidden, as where it touches the frame round it; with less than that
left of it, a number is gone."""

BESIDE = 0.3
"""Scene units. A number nearer than that to a length would be read as the value of that length."""

APART = 0.15
"""In em: two texts in a line that are nearer would be read as one."""

SAMPLE_PITCH = 0.08
"""In em: how densely the ink of a number is tested for what hides it."""

FINE_LINE = 3.0
"""The greatest stroke width of the line round a length; half of it lies outside."""

STROKE_UNIT = 0.01
"""Scene units in a unit of manim's stroke width."""


class AuditError(AddnormError):
    """A frame shows something that the math does not have."""


class _Paint(NamedTuple):
    """How a leaf is coloured, as the camera takes it: colours as bytes, so that they compare quickly."""

    fill: bytes
    stroke: bytes
    width: float
    behind: bytes

    @classmethod
    def of(cls, mobject: VMobject) -> _Paint:
        width, behind = mobject.get_stroke_width(), mobject.get_stroke_width(True)
        return cls(
            mobject.get_fill_rgbas().tobytes(),
            mobject.get_stroke_rgbas().tobytes() if width else b"",
            width,
            mobject.get_stroke_rgbas(True).tobytes() if behind else b"",
        )

    def opacities(self) -> tuple[float, float, float]:
        """The greatest opacity of the fill, of the stroke and of the stroke behind the fill."""
        return _opacity(self.fill), _opacity(self.stroke), _opacity(self.behind)


@lru_cache(maxsize=1024)
def _opacity(rgbas: bytes) -> float:
    """The greatest opacity of some colours; on a frame, many leaves have the same."""
    return max(array("d", rgbas)[3::4], default=0.0)


@lru_cache(maxsize=1024)
def _color(rgbas: bytes) -> tuple[float, ...]:
    """Red, green and blue of the first of some colours, from 0 to 1."""
    return tuple(array("d", rgbas)[:3])


@dataclass(eq=False)
class _Leaf:
    """One drawn leaf as it was looked at: how it was painted and placed, and what of numbers it shows.

    ``box`` is left, bottom, right, top. Of glyphs, ``em`` and ``origin`` tell how their outline was placed; of a
    value shape, ``t`` and ``scale`` where on its way it was, and ``raised`` how far up it was moved. A leaf is
    ``at_rest`` if it stands where it stood on the frame before; ``place`` is the same thing for leaves that only
    differ in their paint.
    """

    mobject: VMobject
    claims: tuple[object, ...]
    paint: _Paint
    points: Array
    box: Box
    seen: Seen = ()
    em: float = 0.0
    origin: Array = field(default_factory=lambda: np.zeros(2))
    t: float = 1.0
    scale: Scale | None = None
    raised: float = 0.0
    at_rest: bool = False
    place: object = field(default_factory=object)

    def __post_init__(self) -> None:
        fill, stroke, behind = self.paint.opacities()
        self.opacity = max(fill, stroke, behind)
        self.color = _color(self.paint.fill)
        self.fills, self.strokes = fill >= OPAQUE, stroke >= OPAQUE
        self.is_text = isinstance(self.mobject, Glyphs)
        self.is_length = isinstance(self.mobject, ValueShape)
        self.stance = (self.place, self.fills, self.strokes, self.is_legible, self.paint.fill[:24])

    def repainted(self, paint: _Paint) -> _Leaf:
        """The same leaf in another paint, standing where it stood."""
        leaf = _Leaf.__new__(_Leaf)
        leaf.__dict__.update(self.__dict__, paint=paint)  # what copy() does, in a tenth of the time
        leaf.__post_init__()
        leaf.seen = tuple(sighting._replace(opacity=leaf.opacity) for sighting in self.seen)
        return leaf

    @property
    def is_legible(self) -> bool:
        return self.opacity > OPAQUE

    def __str__(self) -> str:
        kind = type(self.mobject).__name__
        match self.mobject:
            case Glyphs(ink=ink):
                return f"{kind} {ink.run.text!r}"
            case ValueShape() as shape:
                return f"{kind} of {', '.join(f'{q.name}[{q.token}]' for q in shape.quantities()) or 'zero'}"
        x, y = (self.box[0] + self.box[2]) / 2, (self.box[1] + self.box[3]) / 2
        return f"{kind} at ({x:.2f}, {y:.2f})"


class Auditor:
    """Checks what is drawn for one trace in one language."""

    def __init__(self, trace: Trace, wording: Wording) -> None:
        self._trace = trace
        self._wording = wording
        self._true_lines: dict[tuple[Line, str, Paragraph | None], tuple[Array, ...]] = {}
        self._true_inks: dict[int, Ink] = {}
        self._plain_outlines: set[bytes] = set()
        self._ground: Any = None
        self._before: dict[int, _Leaf] = {}
        self._still: list[_Leaf] = []
        self._frame: list[_Leaf] = []
        self._stances: list[object] = []
        self._shares: list[float] = []
        self._covers: dict[tuple[object, ...], Mask] = {}
        self._hidings: dict[tuple[object, ...], tuple[float, list[int]]] = {}

    def inspect(self, drawn: Sequence[Mobject], *, over_still: bool = False) -> Seen:
        """Check the leaves of a draw list, and report the numbers and lengths that can be seen.

        ``over_still`` says that they are drawn over what was kept. Raises AuditError.
        """
        leaves = [leaf for mobject in drawn if (leaf := self._leaf(mobject))]
        self._before = {id(leaf.mobject): leaf for leaf in leaves}
        self._frame = [*self._still, *leaves] if over_still else leaves
        return self._survey()

    def inspect_camera(self, camera: Camera) -> None:
        """Check that everything is drawn on one colour, and that the frame is the whole stage. Raises AuditError."""
        ground: Any = camera.background
        if ground is not self._ground and (ground != ground[0, 0]).any():
            raise AuditError("the ground is not of one colour: it is a picture, which may show anything")
        self._ground = ground
        frame = (camera.frame_width, camera.frame_height, *camera.frame_center[:2])
        whole = (FRAME_WIDTH, FRAME_HEIGHT, 0, 0)
        if max(abs(a - b) for a, b in zip(frame, whole, strict=True)) > 0.02:  # 854 × 480 is not quite 16 : 9
            raise AuditError(f"the camera does not show the whole stage, but {frame[0]:g} × {frame[1]:g} of it")

    def keep(self) -> None:
        """What was just inspected stays as it is, beneath the frames that follow or on all of them."""
        self._still, self._before, self._covers, self._hidings = self._frame, {}, {}, {}
        for leaf in self._still:
            self._rest(leaf)
            if 0 < leaf.t < 1:
                raise AuditError(f"{leaf} rests between two values")
        self._survey()

    # One leaf.

    def _leaf(self, mobject: Mobject) -> _Leaf | None:
        """A leaf as it is drawn now, or None if it cannot be seen."""
        if isinstance(mobject, PMobject | AbstractImageMobject):
            raise AuditError(f"{type(mobject).__name__} is drawn, which is a picture and may show anything")
        if not isinstance(mobject, VMobject):  # a ValueTracker, for which manim draws nothing
            return None
        if mobject.get_background_image():
            raise AuditError(f"{type(mobject).__name__} is coloured from a picture, which may show anything")
        paint, before = _Paint.of(mobject), self._before.get(id(mobject))
        if (before is None or before.paint != paint) and not max(paint.opacities()) >= UNSEEN:
            return None
        claims = (paint.width, *_claims(mobject))
        if before is None or before.claims != claims or not _same_place(before.points, mobject.points):
            box = _box(mobject, paint.width)
            if max(box[2] - box[0], box[3] - box[1]) < UNSEEN:
                return None
            leaf = _Leaf(mobject, claims, paint, mobject.points.copy(), box)
            self._look_at(leaf, moves=before is not None)
            return leaf
        self._rest(before)
        if before.paint == paint:
            return before
        leaf = before.repainted(paint)
        if leaf.is_text or leaf.is_length:
            _require_even_paint(leaf)
        return leaf

    def _rest(self, leaf: _Leaf) -> None:
        """Note that a leaf stands where it stood. A shape that has come to rest must not look like a digit."""
        if not (leaf.at_rest or leaf.is_text or leaf.is_length):
            self._require_no_digit(leaf)
        leaf.at_rest = True

    def _look_at(self, leaf: _Leaf, moves: bool) -> None:
        mobject = leaf.mobject
        if type(mobject) is Glyphs:
            self._glyphs(leaf, mobject)
        elif isinstance(mobject, ValueShape) and _is_defined_in(type(mobject), ValueShape.__module__):
            self._value_shape(leaf, mobject)
        elif isinstance(mobject, Shape) or _is_defined_in(type(mobject), "manim.mobject.geometry."):
            if not moves:
                self._require_no_digit(leaf)
        else:
            raise AuditError(
                f"{leaf} is drawn, which neither comes from the text factory nor is a plain shape; use scenes.elements"
            )

    def _require_no_digit(self, leaf: _Leaf) -> None:
        outline = leaf.points.tobytes()
        if outline not in self._plain_outlines:
            if digit := digit_in(leaf.points):
                raise AuditError(f"{leaf} has the outline of the digit {digit}")
            self._plain_outlines.add(outline)

    def _glyphs(self, leaf: _Leaf, glyphs: Glyphs) -> None:
        ink = glyphs.ink
        if self._true_inks.get(id(ink)) is not ink:
            truth = self._outline(leaf, ink)
            if ink.language != self._wording.language or not np.array_equal(ink.outline, truth):
                raise AuditError(f"{leaf}: its outline is not the one in which this text is set")
            self._true_inks[id(ink)] = ink
        leaf.em, rest = ink.fit(glyphs.points)
        if not rest <= TOLERANCE:
            raise AuditError(
                f"{leaf}: the drawn glyphs are not those of this text under one even scaling and a shift"
                f" (off by {rest:.3g} em)"
            )
        _require_even_paint(leaf)
        leaf.origin = (glyphs.points[0] - leaf.em * ink.outline[0])[:2]
        if isinstance(ink.run.source, Label | Sum):
            left, bottom, right, top = leaf.box
            leaf.seen = (Sighting(id(glyphs), ink.run.source, (left, top, right, bottom), leaf.opacity),)

    def _outline(self, leaf: _Leaf, ink: Ink) -> Array:
        """The outline in which a text that is true is set."""
        key = (ink.line, ink.language, ink.paragraph)
        if key not in self._true_lines:
            if false := complaint(ink.line, self._wording):
                raise AuditError(f"{leaf}: {false}")
            self._true_lines[key] = ink.set_again()
        return self._true_lines[key][ink.n]

    def _value_shape(self, leaf: _Leaf, shape: ValueShape) -> None:
        lefts, rights = np.array(shape.ground.lefts), np.array(shape.ground.rights)
        scale = shape.ground.scale(shape.t)
        if not scale.unit > 0:
            raise AuditError(f"{leaf} is drawn on a scale that does not grow upwards")
        if not 0 <= shape.t <= 1 or (lefts >= rights).any() or (rights[:-1] > lefts[1:]).any():
            raise AuditError(f"{leaf}: its parts do not stand side by side, or it has gone {shape.t} of its way")
        expected = shape.expected(self._trace)
        if shape.points.shape != expected.shape:
            raise AuditError(f"{leaf} has lost or gained parts")
        apart = (shape.points - expected).T.copy()
        shift = apart.mean(axis=1, keepdims=True)
        off = np.abs(apart - shift).max()
        if not off <= TOLERANCE:
            raise AuditError(f"{leaf}: a drawn length is not the length of its value (off by {off:.3g})")
        _require_even_paint(leaf)
        leaf.t, leaf.scale, leaf.raised = shape.t, scale, float(shift[1, 0])
        lengths, up = shape.lengths(self._trace), leaf.raised
        if abs(up) > ROUNDING:
            lengths = (length._replace(base=length.base + up, tip=length.tip + up) for length in lengths)
        leaf.seen = tuple(LengthSighting(id(shape), length, leaf.opacity) for length in lengths)

    # The frame as a whole.

    def _survey(self) -> Seen:
        """Look over the frame, unless everything stands and covers as before, and tell what can be seen."""
        stances: list[object] = [(leaf.stance, leaf.at_rest) for leaf in self._frame]
        if stances != self._stances:
            hidden = self._hidden(self._frame)
            visible = [leaf for leaf in self._frame if hidden.get(leaf, 0) < 1]
            numbers = [leaf for leaf in visible if leaf.seen and leaf.is_text]
            _require_apart(visible, numbers)
            _require_one_chart(visible, numbers)
            self._stances, self._shares = stances, [1 - hidden.get(leaf, 0.0) for leaf in self._frame]
        return tuple(
            sighting if share == 1 else sighting._replace(opacity=sighting.opacity * share)
            for leaf, share in zip(self._frame, self._shares, strict=True)
            if leaf.seen and share
            for sighting in leaf.seen
        )

    def _hidden(self, leaves: list[_Leaf]) -> dict[_Leaf, float]:
        """The share of each number and length that later shapes or the frame's edge hide; 1 if it is gone."""
        hidden: dict[_Leaf, float] = dict.fromkeys(self._lost(leaves), 1.0)
        for leaf, shapes in _overlaps(leaves):
            if leaf in hidden:
                continue
            share, hiding = self._hiding(leaf, shapes)
            if share <= GLIMPSE:
                continue
            hidden[leaf] = share if share < 1 - GLIMPSE else 1.0
            covers = [shapes[n] for n in hiding]
            if share < 1 - GLIMPSE and leaf.is_legible and all(one.at_rest for one in (leaf, *covers)):
                by = " and ".join(str(shape) for shape in covers) or "the edge of the frame"
                raise AuditError(f"{leaf} is partly hidden by {by}")
        return hidden

    def _hiding(self, leaf: _Leaf, shapes: list[_Leaf]) -> tuple[float, list[int]]:
        """The share of a leaf that shapes and the frame's edge hide, and which of the shapes hide something."""
        key = (leaf.place, *((shape.place, shape.fills, shape.strokes) for shape in shapes))
        if key not in self._hidings:
            probes = _probes(leaf)
            masks = [self._cover(leaf, shape, probes) for shape in shapes]
            away = (np.abs(probes) > (FRAME_WIDTH / 2, FRAME_HEIGHT / 2)).any(axis=1)
            share = float(np.logical_or.reduce([away, *masks]).mean())
            self._hidings[key] = share, [n for n, mask in enumerate(masks) if mask.any()]
        return self._hidings[key]

    def _lost(self, leaves: list[_Leaf]) -> list[_Leaf]:
        """The numbers that have the colour of what they are drawn on."""
        numbers = [(rank, leaf) for rank, leaf in enumerate(leaves) if leaf.is_text and leaf.seen]
        if not numbers:
            return []
        areas = [(rank, leaf) for rank, leaf in enumerate(leaves) if leaf.fills and not leaf.is_text]
        ground = (0.0, 0.0, 0.0) if self._ground is None else (self._ground[0, 0, :3] / 255).tolist()
        under = np.array([*(area.color for _, area in areas), ground])
        alike = (np.abs(under - np.array([[leaf.color] for _, leaf in numbers])) < CONTRAST).all(axis=2)
        if not alike.any():
            return []
        earlier = np.array([rank for rank, _ in numbers])[:, None] > np.array([rank for rank, _ in areas], dtype=int)
        behind = earlier & _meet(_boxes([leaf for _, leaf in numbers]), _boxes([leaf for _, leaf in areas]))
        lost = []
        for n in np.flatnonzero(alike[:, -1] | (alike[:, :-1] & behind).any(axis=1)):
            leaf = numbers[n][1]
            bearer = next((m for m in np.flatnonzero(behind[n])[::-1] if self._bears(areas[m][1], leaf)), -1)
            if alike[n, bearer]:
                lost.append(leaf)
        return lost

    def _bears(self, area: _Leaf, leaf: _Leaf) -> bool:
        """Whether most of a number's ink lies on an area."""
        key = (area.place, leaf.place)
        if key not in self._covers:
            self._covers[key] = inside(polygons(area.points, 4), _probes(leaf))
        return bool(self._covers[key].mean() > 0.5)

    def _cover(self, leaf: _Leaf, cover: _Leaf, probes: Array) -> Mask:
        """Which probes of a leaf a shape hides. A line may cross a bar: it hides nothing of its length."""
        key = (leaf.place, cover.place, cover.fills, cover.strokes)
        if key not in self._covers:
            mask = np.zeros(len(probes), dtype=np.bool_)
            left, bottom, right, top = cover.box
            within = np.flatnonzero(((probes >= (left, bottom)) & (probes <= (right, top))).all(axis=1))
            outline = polygons(cover.points, 4)
            if cover.fills and len(within):
                mask[within] = inside(outline, probes[within])
            within = within[~mask[within]]
            if cover.strokes and leaf.is_text and len(within):
                mask[within] = near(outline, probes[within], cover.paint.width * STROKE_UNIT / 2)
            self._covers[key] = mask
        return self._covers[key]


def _overlaps(leaves: list[_Leaf]) -> Iterator[tuple[_Leaf, list[_Leaf]]]:
    """Each number and length of which something may be hidden, with the later shapes that reach into its box."""
    subjects = [(rank, leaf) for rank, leaf in enumerate(leaves) if leaf.seen]
    shapes = [(rank, leaf) for rank, leaf in enumerate(leaves) if not leaf.is_text and leaf.opacity >= OPAQUE]
    if not subjects:
        return
    boxes = _boxes([leaf for _, leaf in subjects])
    later = np.array([rank for rank, _ in subjects])[:, None] < np.array([rank for rank, _ in shapes], dtype=int)
    meeting = later & _meet(boxes, _boxes([leaf for _, leaf in shapes]))
    away = (np.abs(boxes) > (FRAME_WIDTH / 2, FRAME_HEIGHT / 2) * 2).any(axis=1)
    for n in np.flatnonzero(meeting.any(axis=1) | away):
        leaf = subjects[n][1]
        yield (
            leaf,
            [shapes[m][1] for m in np.flatnonzero(meeting[n]) if leaf.is_text or not shapes[m][1].is_length],
        )


def _require_apart(leaves: list[_Leaf], numbers: list[_Leaf]) -> None:
    """No number stands so near another text that both would be read as one."""
    standing = [leaf for leaf in numbers if leaf.at_rest and leaf.is_legible]
    if not standing:
        return
    texts = [leaf for leaf in leaves if leaf.is_text and leaf.at_rest and leaf.is_legible]
    reach = np.array([(-APART * leaf.em, 0, APART * leaf.em, 0) for leaf in standing])
    reached = _boxes(standing) + reach
    for n, m in np.argwhere(_meet(reached, _boxes(texts))):
        number, text = standing[n], texts[m]
        if number is text or (_ink(number).line is _ink(text).line and _ink(number).n != _ink(text).n):
            continue
        if _same_place(number.points, text.points):  # a copy that lies exactly on it
            continue
        if _meet(reached[n : n + 1], _contour_boxes(text)).any():
            raise AuditError(f"{number} runs into {text}")


def _require_one_chart(leaves: list[_Leaf], numbers: list[_Leaf]) -> None:
    """All lengths share one scale and one ground, and on their way one t and no number beside them."""
    moving = [leaf for leaf in leaves if 0 < leaf.t < 1]
    shares = [leaf.t for leaf in moving]
    if moving and max(shares) - min(shares) > TOLERANCE:
        raise AuditError(f"{moving[0]} and other lengths on their way have gone different shares of it: {shares}")
    for leaf in moving:
        near_it = _boxes([leaf]) + np.array((-BESIDE, -BESIDE, BESIDE, BESIDE))
        for n in np.flatnonzero(_meet(near_it, _boxes(numbers))):
            raise AuditError(f"{numbers[n]} stands beside {leaf}, which is between two values")
    standing = [(leaf, leaf.scale) for leaf in leaves if leaf.scale and leaf.at_rest]
    for leaf, scale in standing[1:]:
        first, other = standing[0]
        if abs(scale.unit - other.unit) > TOLERANCE * other.unit:
            raise AuditError(f"{leaf} and {first} are drawn on two scales")
        if scale == other and abs(leaf.raised - first.raised) > TOLERANCE:
            raise AuditError(f"{leaf} and {first} do not stand on the same zero")


def _box(mobject: VMobject, width: float) -> Box:
    half = width * STROKE_UNIT / 2
    columns = mobject.points[:, :2].T.copy()  # numpy takes many times as long along rows of three
    left, bottom = (columns.min(axis=1) - half).tolist()
    right, top = (columns.max(axis=1) + half).tolist()
    return left, bottom, right, top


def _same_place(points: Array, others: Array) -> bool:
    """Whether two outlines lie on one another; what an animation that only fades leaves is rounding."""
    return points.shape == others.shape and bool(np.abs(points - others).max() < ROUNDING)


def _require_even_paint(leaf: _Leaf) -> None:
    """Glyphs and lengths have one colour all over, and no line round them that would alter their form."""
    fill, widest = leaf.paint.fill, max(leaf.paint.width, leaf.mobject.get_stroke_width(True))
    lined = any(leaf.paint.opacities()[1:]) and (leaf.is_text or widest > FINE_LINE)
    if lined or fill[:32] * (len(fill) // 32) != fill:
        raise AuditError(f"{leaf}: it is not of one colour, or has a line round it")


def _claims(mobject: VMobject) -> tuple[Any, ...]:
    """What a mobject claims to show, beyond its looks."""
    match mobject:
        case Glyphs(ink=ink):
            return (id(ink),)
        case ValueShape(t=t, ground=ground):
            return (t, ground, mobject.measured())
        case _:
            return ()


def _is_defined_in(kind: type, module: str) -> bool:
    """Whether a class is really the one of its name in a module (or in one whose name begins so)."""
    home = kind.__module__
    return home.startswith(module) and getattr(sys.modules.get(home), kind.__name__, None) is kind


def _boxes(leaves: list[_Leaf]) -> Array:
    return np.array([leaf.box for leaf in leaves]).reshape(-1, 4)


def _meet(boxes: Array, others: Array) -> Mask:
    """Which boxes overlap which others."""
    left, bottom, right, top = boxes.T[..., None]
    return np.asarray((left < others[:, 2]) & (right > others[:, 0]) & (bottom < others[:, 3]) & (top > others[:, 1]))


def _ink(leaf: _Leaf) -> Ink:
    assert isinstance(leaf.mobject, Glyphs)
    return leaf.mobject.ink


def _probes(leaf: _Leaf) -> Array:
    """Points all over a number's ink, or along the middle of each bar, where something might hide it."""
    if leaf.is_text:
        return leaf.origin + leaf.em * _samples_of(_ink(leaf).outline.tobytes())
    corners = leaf.mobject.points[:, :2].reshape(-1, 4, 4, 2)[:, :, 0]
    low, high = corners[:, 0], corners[:, 2]
    return np.concatenate([low + (high - low) * (0.5, share) for share in (0.1, 0.5, 0.9)])


@lru_cache(maxsize=1024)
def _samples_of(outline: bytes) -> Array:
    return samples(np.frombuffer(outline).reshape(-1, 3), SAMPLE_PITCH)


def _contour_boxes(leaf: _Leaf) -> Array:
    """The boxes of a text's contours: of a paragraph none of them takes in a whole line."""
    return np.tile(leaf.origin, 2) + leaf.em * _contours_of(_ink(leaf).outline.tobytes())


@lru_cache(maxsize=1024)
def _contours_of(outline: bytes) -> Array:
    contours = polygons(np.frombuffer(outline).reshape(-1, 3))
    return np.array([(*contour.min(axis=0), *contour.max(axis=0)) for contour in contours])
