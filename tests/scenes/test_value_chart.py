"""Lengths: what is drawn against what the trace says, for any row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addnorm.mathcore.example import Example, GivenOutput
from addnorm.mathcore.trace import Trace, run
from addnorm.scenes.elements.value_chart import Band, Bars, Ground, Level, Quantity, Scale, ValueShape

Array = Any
EXACT = 1e-9

values = st.floats(-1e3, 1e3, allow_subnormal=False)
rows = st.lists(values, min_size=1, max_size=8)
scales = st.builds(lambda zero, unit: Scale(zero, unit, -1e6, 1e6), zero=st.floats(-3, 3), unit=st.floats(1e-4, 1))


def trace_of(row: list[float]) -> Trace:
    """A trace whose r is this row: nothing is added to it."""
    x = np.array([row])
    return run(Example("row", x, GivenOutput(np.zeros_like(x)), np.ones(len(row)), np.zeros(len(row))))


def ground(scale: Scale, count: int, end: Scale | None = None) -> Ground:
    lefts = tuple(float(n) for n in range(count))
    return Ground(scale, end or scale, lefts, tuple(left + 0.5 for left in lefts))


def extents(shape: ValueShape) -> Array:
    """The lowest and highest point of each part, shape (n, 2)."""
    heights = shape.points[:, 1].reshape(-1, 16)
    return np.stack([heights.min(axis=1), heights.max(axis=1)], axis=1)


def lengths_off(shape: Bars, row: list[float], scale: Scale) -> float:
    """How far the drawn bars are from reaching from zero to each value, at most."""
    tips = [scale.zero + scale.unit * value for value in row]
    expected = [(min(tip, scale.zero), max(tip, scale.zero)) for tip in tips]
    return float(np.abs(extents(shape) - expected).max())


@settings(deadline=None, max_examples=50)
@given(row=rows, scale=scales)
def test_a_bar_is_as_long_as_its_value(row: list[float], scale: Scale) -> None:
    bars = Bars(None, Quantity("resid_mid", 0), ground(scale, len(row)), trace_of(row), "#FFFFFF")
    assert lengths_off(bars, row, scale) < EXACT


def test_a_bar_a_thousandth_too_long_is_noticed() -> None:
    row, scale = [1.0, -2.0, 0.5], Scale(0.0, 0.5, -9, 9)
    bars = Bars(None, Quantity("resid_mid", 0), ground(scale, 3), trace_of(row), "#FFFFFF")
    bars.points[bars.points[:, 1] == bars.points[:, 1].max(), 1] += 1e-3
    assert lengths_off(bars, row, scale) > 0.9e-3


@settings(deadline=None, max_examples=50)
@given(row=rows, start=scales, end=scales, t=st.floats(0, 1))
def test_bars_on_their_way_have_all_gone_the_same_share(row: list[float], start: Scale, end: Scale, t: float) -> None:
    trace = trace_of(row)
    bars = Bars(None, Quantity("resid_mid", 0), ground(start, len(row), end), trace, "#FFFFFF").travel_to(t, trace)
    scale = bars.ground.scale(t)
    tips = np.array(row) * t * scale.unit + scale.zero
    expected = np.stack([np.minimum(tips, scale.zero), np.maximum(tips, scale.zero)], axis=1)
    assert np.abs(extents(bars) - expected).max() < 1e-6


@settings(deadline=None, max_examples=50)
@given(start=scales, end=scales, t=st.floats(0, 1))
def test_a_scale_between_two_is_between_them(start: Scale, end: Scale, t: float) -> None:
    assert start.toward(end, 0).unit == pytest.approx(start.unit)
    assert start.toward(end, 1).zero == pytest.approx(end.zero)
    heights = sorted(scale.zero for scale in (start, start.toward(end, t), end))
    assert start.toward(end, t).zero in (heights[1], pytest.approx(heights[1], abs=1e-6))


@pytest.mark.parametrize("t", [0.0, 0.25, 0.5, 0.9, 1.0])
def test_a_chart_on_its_way_stays_between_its_ends(t: float) -> None:
    start, end = Scale(-1.3, 3.4, 0, 1), Scale(0.125, 1.425, -1, 1)  # both stand on −1.3; tops at 2.1 and 1.55
    scale = start.toward(end, t)
    assert scale.y(np.array([scale.low, scale.high])) == pytest.approx([-1.3, 2.1 - 0.55 * t])
    zero, unit = (1 - t) * start.zero + t * end.zero, (1 - t) * start.unit + t * end.unit
    if 0 < t < 1:  # each going its own way would carry the lower end out of the chart
        assert zero + unit * scale.low < -1.4


def test_a_band_reaches_one_sigma_to_each_side(trace: Trace) -> None:
    mean, std, scale = Quantity("ln.mean", 0), Quantity("ln.std", 0), Scale(-1, 0.7, -9, 9)
    band = Band((None, None), (mean, std), ground(scale, 1), trace, "#FFFFFF")
    low, high = extents(band)[0]
    assert (low + high) / 2 == pytest.approx(-1 + 0.7 * 1.098887907320214, abs=1e-12)
    assert (high - low) / 2 == pytest.approx(0.7 * np.sqrt(0.592454642771364), abs=1e-12)


def test_a_level_lies_at_its_value(trace: Trace) -> None:
    level = Level(None, Quantity("ln.mean", 0), ground(Scale(-1, 0.7, -9, 9), 3), trace, "#FFFFFF")
    middles = extents(level).mean(axis=1)
    assert middles == pytest.approx([-1 + 0.7 * 1.098887907320214] * 3, abs=1e-12)


def test_the_reported_lengths_are_the_drawn_ones(trace: Trace) -> None:
    row = trace["resid_mid"].value[0]
    bars = Bars(None, Quantity("resid_mid", 0), ground(Scale(0.5, 2, -9, 9), 4), trace, "#FFFFFF")
    reported = list(bars.lengths(trace))
    assert [length.end for length in reported] == [f"resid_mid[0,{n}]" for n in range(4)]
    assert [length.value for length in reported] == row.tolist()
    drawn = extents(bars)
    for length, (low, high) in zip(reported, drawn, strict=True):
        assert (min(length.base, length.tip), max(length.base, length.tip)) == pytest.approx((low, high), abs=1e-12)
        assert not length.cut


def test_a_value_beyond_the_scale_is_cut_and_says_so(trace: Trace) -> None:
    bars = Bars(None, Quantity("resid_mid", 0), ground(Scale(0, 1, -1, 1.5), 4), trace, "#FFFFFF")
    assert [length.cut for length in bars.lengths(trace)] == [True, True, False, False]
    assert extents(bars)[:, 1].max() == pytest.approx(1.5)


def test_lengths_on_their_way_tell_where_from_and_how_far(trace: Trace) -> None:
    r, u = Quantity("resid_mid", 0), Quantity("ln.out", 0)
    bars = Bars(r, u, ground(Scale(0, 1, -9, 9), 4), trace, "#FFFFFF").travel_to(0.25, trace)
    length = next(iter(bars.lengths(trace)))
    assert (length.start, length.end, length.progress) == ("resid_mid[0,0]", "ln.out[0,0]", 0.25)
    assert length.tip == pytest.approx(0.75 * 2 + 0.25 * 1.170705339310943, abs=1e-12)
    arrived = next(iter(bars.travel_to(1, trace).lengths(trace)))
    assert (arrived.start, arrived.end, arrived.progress) == ("ln.out[0,0]", "ln.out[0,0]", 1.0)


def test_values_come_from_the_trace_that_is_asked(trace: Trace, affine: Trace) -> None:
    bars = Bars(None, Quantity("ln.out", 0), ground(Scale(0, 1, -9, 9), 4), trace, "#FFFFFF")
    assert np.abs(bars.points - bars.expected(affine)).max() > 0.1


def test_a_small_change_of_the_example_changes_the_lengths(r44: Example, trace: Trace) -> None:
    x = r44.x.copy()
    x[0, 2] += 1e-3
    bars = Bars(None, Quantity("resid_mid", 0), ground(Scale(0, 1, -9, 9), 4), trace, "#FFFFFF")
    assert np.abs(bars.points - bars.expected(run(replace(r44, x=x)))).max() > 0.9e-3
