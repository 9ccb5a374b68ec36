"""Lengths that stand for numbers: signed bars, a level and a band, all on one scale.

Every shape here can say at any time which points it ought to have. The frame audit asks it with the values of
the trace, so a bar of the wrong length cannot pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from manim import Animation, ManimColor, VMobject
from numpy.typing import NDArray

from addnorm.mathcore.trace import Trace
from addnorm.scenes.manifest import Length

Array = NDArray[np.float64]

LEVEL_THICKNESS = 0.035


@dataclass(frozen=True)
class Quantity:
    """One token's row of a quantity, or its statistic: ``Quantity("resid_mid", 0)``. ``None`` names zero."""

    name: str
    token: int

    def values(self, trace: Trace) -> Array:
        """The values, shape (features,) for a row and (1,) for a statistic."""
        return np.atleast_1d(trace[self.name].value[self.token])

    def refs(self, trace: Trace) -> tuple[str, ...]:
        """The reference of each value."""
        return _refs(self, trace.example.n_features if trace[self.name].value.ndim > 1 else None)


@lru_cache
def _refs(quantity: Quantity, features: int | None) -> tuple[str, ...]:
    row = f"{quantity.name}[{quantity.token}"
    return (f"{row}]",) if features is None else tuple(f"{row},{feature}]" for feature in range(features))


@dataclass(frozen=True)
class Scale:
    """Where a chart stands: a value v is drawn at ``zero + unit·v``, cut at ``low`` and ``high`` (values)."""

    zero: float
    unit: float
    low: float
    high: float

    def y(self, values: Array) -> Array:
        """Scene heights of values."""
        return self.zero + self.unit * np.clip(values, self.low, self.high)

    def toward(self, other: Scale, t: float) -> Scale:
        """The scale at share ``t`` of the way to another one.

        Its ends move evenly, as values and as heights: a value that is on its way between them stays in their room.
        Unit and zero follow from that; written out like this, they are exact where the way starts and ends.
        """
        rest = 1 - t
        low, high = rest * self.low + t * other.low, rest * self.high + t * other.high
        span = high - low
        heights = rest * self.unit * (self.high - self.low) + t * other.unit * (other.high - other.low)
        bend = (self.unit - other.unit) * (self.low * (other.high / span) - other.low * (self.high / span))
        return Scale(rest * self.zero + t * other.zero + rest * t * bend, heights / span, low, high)


@dataclass(frozen=True)
class Ground:
    """Where a value shape stands: the scale at the start and at the end of its way, and each part's sides."""

    start: Scale
    end: Scale
    lefts: tuple[float, ...]
    rights: tuple[float, ...]

    def scale(self, t: float) -> Scale:
        """The scale at share ``t`` of the way."""
        return self.start.toward(self.end, t)

    def __deepcopy__(self, memo: dict[int, Any]) -> Ground:
        return self


class ValueShape(VMobject):
    """A filled shape whose heights are values of the trace.

    It travels from one quantity to another: at ``t`` = 0 it shows ``start``, at 1 ``end``, and in between every
    part of it has gone the same share of its way. Bars reach from zero to the value; a band reaches from
    ``center − half`` to ``center + half``.
    """

    def __init__(self, ground: Ground, trace: Trace, color: str) -> None:
        super().__init__(fill_color=color, fill_opacity=1, stroke_width=0)
        self.ground = ground
        self.t = 1.0
        self.travel_to(1.0, trace)

    def edges(self, trace: Trace, t: float) -> tuple[Array, Array]:
        """Scene heights of the lower and upper edge of each part, at share ``t`` of the way."""
        raise NotImplementedError

    def measured(self) -> tuple[Quantity | None, Quantity | None]:
        """The quantities whose values it draws as lengths, at the start and at the end of its way."""
        raise NotImplementedError

    def values(self, trace: Trace, t: float) -> tuple[Array, Array]:
        """The values at which each length begins and ends, at share ``t`` of the way."""
        raise NotImplementedError

    def lengths(self, trace: Trace) -> Iterator[Length]:
        """Every value drawn now, where it was made to stand."""
        start, end = self.measured()
        progress = self.t
        if progress in (0.0, 1.0):
            start = end = end if progress else start
            progress = 1.0
        if start is None and end is None:
            return
        scale = self.ground.scale(self.t)
        bases, tips = self.values(trace, self.t)
        numbers = np.zeros(len(tips)) if end is None else end.values(trace)
        refs = ((None,) * len(tips) if quantity is None else quantity.refs(trace) for quantity in (start, end))
        places = (scale.y(bases), scale.y(tips), (tips < scale.low) | (tips > scale.high))
        rows = zip(*refs, numbers.tolist(), *(column.tolist() for column in places), strict=True)
        for first, last, number, base, tip, cut in rows:
            yield Length(first, last, number, base, tip, progress, cut)

    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities this shape draws at the end of its way."""
        raise NotImplementedError

    def expected(self, trace: Trace) -> Array:
        """The points this shape ought to have now, shape (16·n, 3)."""
        low, high = self.edges(trace, self.t)
        return _rectangles(np.array(self.ground.lefts), np.array(self.ground.rights), low, high)

    def travel_to(self, t: float, trace: Trace) -> ValueShape:
        """Show share ``t`` of the way."""
        self.t = t
        self.points = self.expected(trace)
        return self


class Bars(ValueShape):
    """One bar a feature, from zero to its value."""

    def __init__(self, start: Quantity | None, end: Quantity, ground: Ground, trace: Trace, color: str) -> None:
        self.start, self.end = start, end
        super().__init__(ground, trace, color)

    def quantities(self) -> tuple[Quantity, ...]:
        """The row."""
        return (self.end,)

    def measured(self) -> tuple[Quantity | None, Quantity | None]:
        """What it draws as lengths, at the start and at the end."""
        return self.start, self.end

    def values(self, trace: Trace, t: float) -> tuple[Array, Array]:
        """Where each length begins and ends, as values."""
        end = self.end.values(trace)
        start = np.zeros_like(end) if self.start is None else self.start.values(trace)
        return np.zeros_like(end), (1 - t) * start + t * end

    def edges(self, trace: Trace, t: float) -> tuple[Array, Array]:
        """Where each part begins and ends, in scene units."""
        scale = self.ground.scale(t)
        tops = scale.y(self.values(trace, t)[1])
        return np.minimum(tops, scale.zero), np.maximum(tops, scale.zero)


class Band(ValueShape):
    """The band center ± half; a ``None`` stands for zero."""

    def __init__(
        self,
        start: tuple[Quantity | None, Quantity | None],
        end: tuple[Quantity | None, Quantity | None],
        ground: Ground,
        trace: Trace,
        color: str,
    ) -> None:
        self.start, self.end = start, end
        super().__init__(ground, trace, color)

    def quantities(self) -> tuple[Quantity, ...]:
        """What it draws at the end of its way."""
        return tuple(quantity for quantity in self.end if quantity is not None)

    def measured(self) -> tuple[Quantity | None, Quantity | None]:
        """What it draws as lengths, at the start and at the end."""
        return self.start[1], self.end[1]

    def values(self, trace: Trace, t: float) -> tuple[Array, Array]:
        """Where each length begins and ends, as values."""
        center, half = (
            (1 - t) * _value(before, trace) + t * _value(after, trace)
            for before, after in zip(self.start, self.end, strict=True)
        )
        return center, center + half

    def edges(self, trace: Trace, t: float) -> tuple[Array, Array]:
        """Where each part begins and ends, in scene units."""
        center, upper = self.values(trace, t)
        scale = self.ground.scale(t)
        return scale.y(2 * center - upper), scale.y(upper)


class Level(ValueShape):
    """A line across the chart at the height of one value; drawn as dashes of one thickness."""

    def __init__(self, start: Quantity | None, end: Quantity | None, ground: Ground, trace: Trace, color: str) -> None:
        self.start, self.end = start, end
        super().__init__(ground, trace, color)

    def quantities(self) -> tuple[Quantity, ...]:
        """What it draws at the end of its way."""
        return () if self.end is None else (self.end,)

    def measured(self) -> tuple[Quantity | None, Quantity | None]:
        """What it draws as lengths, at the start and at the end."""
        return self.start, self.end

    def values(self, trace: Trace, t: float) -> tuple[Array, Array]:
        """Where each length begins and ends, as values."""
        return np.zeros(1), (1 - t) * _value(self.start, trace) + t * _value(self.end, trace)

    def edges(self, trace: Trace, t: float) -> tuple[Array, Array]:
        """Where each part begins and ends, in scene units."""
        y = np.repeat(self.ground.scale(t).y(self.values(trace, t)[1]), len(self.ground.lefts))
        return y - LEVEL_THICKNESS / 2, y + LEVEL_THICKNESS / 2


def _value(quantity: Quantity | None, trace: Trace) -> Array:
    return np.zeros(1) if quantity is None else quantity.values(trace)


def _rectangles(lefts: Array, rights: Array, lows: Array, highs: Array) -> Array:
    """Cubic Bézier points of n upright rectangles, shape (16·n, 3)."""
    lows, highs = np.broadcast_to(lows, lefts.shape), np.broadcast_to(highs, lefts.shape)
    points = np.zeros((len(lefts) * 16, 3))
    for axis, corners in enumerate(((lefts, rights, rights, lefts), (lows, lows, highs, highs))):
        corner = np.stack(corners, axis=1)[..., None]
        ahead = np.roll(corner, -1, axis=1)
        points[:, axis] = (corner + (ahead - corner) * (0, 1 / 3, 2 / 3, 1)).ravel()
    return points


class Travel(Animation):
    """Takes a value shape all its way, and its colour to that of the quantity it arrives at."""

    def __init__(self, shape: ValueShape, trace: Trace, color: str | None = None, **kwargs: Any) -> None:
        super().__init__(shape, **kwargs)
        self._shape = shape
        self._trace = trace
        self._colors = None if color is None else (shape.get_fill_color(), ManimColor(color))

    def interpolate_mobject(self, alpha: float) -> None:
        """Show the share of the way that belongs to a share of the time."""
        t = self.rate_func(alpha)
        self._shape.travel_to(t, self._trace)
        if self._colors is not None:
            start, end = self._colors
            self._shape.set_fill(start.interpolate(end, t))
