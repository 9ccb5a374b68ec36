"""The frame audit: whatever is drawn must be what the math says, on every frame.

It walks the leaves of the draw list after all updaters have run and reports what it saw of the labels, which
becomes the manifest. It trusts nothing that a mobject says of itself except which value it claims to show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from manim import Mobject, VMobject

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.labels import Label
from addnorm.mathcore.trace import Trace
from addnorm.scenes.elements.lettering import Glyphs, similarity
from addnorm.scenes.elements.shapes import Shape
from addnorm.scenes.elements.value_chart import ValueShape
from addnorm.scenes.text import Wording

TOLERANCE = 1e-6
"""Largest distance, in em or scene units, that a point may have from its place. Rounding leaves about 1e-12."""


class AuditError(AddnormError):
    """A frame shows something that the math does not have."""


@dataclass(frozen=True)
class Sighting:
    """One label on one frame: its box in scene units (left, top, right, bottom) and its opacity."""

    mark: int
    label: Label
    box: tuple[float, float, float, float]
    opacity: float


@dataclass(frozen=True)
class LengthSighting:
    """One value drawn as a length on one frame: where it starts and ends, in scene units, and its progress."""

    mark: int
    ref: str
    low: float
    high: float
    progress: float


class Auditor:
    """Checks what is drawn for one trace in one language."""

    def __init__(self, trace: Trace, wording: Wording) -> None:
        self._trace = trace
        self._wording = wording
        self._true_runs: set[object] = set()

    def inspect(self, drawn: Sequence[Mobject]) -> tuple[Sighting, ...]:
        """Check the leaves of a draw list and report the labels among them. Raises AuditError."""
        visible = [mobject for mobject in drawn if _opacity(mobject) > 0]
        sightings = tuple(sighting for mobject in visible for sighting in self._look_at(mobject))
        travelling = {shape.t for shape in visible if isinstance(shape, ValueShape) and 0 < shape.t < 1}
        if len(travelling) > 1:
            raise AuditError(f"lengths on their way have gone different shares of it: {sorted(travelling)}")
        return sightings

    def _look_at(self, mobject: Mobject) -> tuple[Sighting, ...]:
        if isinstance(mobject, Glyphs):
            return self._glyphs(mobject)
        if isinstance(mobject, ValueShape):
            self._value_shape(mobject)
        elif not _is_plain_shape(mobject):
            raise AuditError(
                f"{type(mobject).__name__} is drawn, which neither comes from the text factory"
                f" nor is a plain shape; use scenes.elements"
            )
        return ()

    def _glyphs(self, glyphs: Glyphs) -> tuple[Sighting, ...]:
        run = glyphs.ink.run
        if run not in self._true_runs:
            if complaint := self._wording.complaint(run):
                raise AuditError(complaint)
            self._true_runs.add(run)
        _, rest = similarity(glyphs.points, glyphs.ink.outline)
        if rest > TOLERANCE:
            raise AuditError(
                f"{run.text!r}: the drawn glyphs are not those of this text under one even scaling and a shift"
                f" (off by {rest:.3g} em)"
            )
        if not isinstance(run.source, Label):
            return ()
        (left, bottom, _), (right, top, _) = glyphs.points.min(axis=0), glyphs.points.max(axis=0)
        return (Sighting(id(glyphs), run.source, (left, top, right, bottom), _opacity(glyphs)),)

    def _value_shape(self, shape: ValueShape) -> None:
        expected = shape.expected(self._trace)
        if shape.points.shape != expected.shape:
            raise AuditError(f"{type(shape).__name__} of {_names(shape)} has lost or gained parts")
        shift = (shape.points - expected).mean(axis=0)
        if np.abs(shape.points - expected - shift).max() > TOLERANCE:
            raise AuditError(f"{type(shape).__name__} of {_names(shape)}: a drawn length is not the length of its value")


def _names(shape: ValueShape) -> str:
    return ", ".join(f"{quantity.name}[{quantity.token}]" for quantity in shape.quantities())


def _opacity(mobject: Mobject) -> float:
    if not isinstance(mobject, VMobject):
        return 1.0
    stroke = mobject.get_stroke_opacity() if mobject.get_stroke_width() > 0 else 0.0
    return float(max(mobject.get_fill_opacity(), stroke))


def _is_plain_shape(mobject: Mobject) -> bool:
    """Geometry that manim draws from numbers of its own; a bare VMobject or an SVG could hide a text."""
    module = type(mobject).__module__
    return isinstance(mobject, Shape) or module.startswith("manim.mobject.geometry.")
