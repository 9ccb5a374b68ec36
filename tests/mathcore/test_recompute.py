"""How many places a reader needs."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from addnorm.mathcore import (
    Display,
    Example,
    ExampleError,
    GivenOutput,
    Trace,
    detail_label,
    label,
    recompute_places,
    run,
)
from addnorm.mathcore.labels import NumberStyle
from addnorm.mathcore.recompute import SheetPlaces, given_style, sheet_places


def plain_example(row: list[float], output: list[float], **fields: object) -> Example:
    ones, zeros = np.ones(len(row)), np.zeros(len(row))
    defaults = {
        "id": "plain",
        "x": np.array([row]),
        "attention": GivenOutput(np.array([output])),
        "gamma": ones,
    }
    return Example(**{**defaults, "beta": zeros, **fields})  # type: ignore[arg-type]


def reader_gets(trace: Trace, places: int) -> list[str]:
    """What a reader with a pocket calculator of forty digits gets from r at so many places."""
    features = range(trace.example.n_features)
    row = [Fraction(label(trace, f"resid_mid[0,{i}]", NumberStyle.detail(places)).ascii) for i in features]
    mean = sum(row) / len(row)
    var = sum((r - mean) ** 2 for r in row) / len(row)
    scale = 10**40
    root = Fraction(math.isqrt(int((var + Fraction(str(trace.example.eps))) * scale**2)), scale)
    return [rounded(Fraction(number)) for number in (mean, var, *((r - mean) / root for r in row))]


def rounded(number: Fraction) -> str:
    """A number to six places; of a half, which some round up and others to even, both, unless they agree."""
    scaled = abs(number) * 10**6
    is_half = scaled % 1 == Fraction(1, 2)
    nearest = {int(scaled) + 1, round(scaled)} if is_half else {round(scaled)}
    sign = "−" if number < 0 else ""
    return " or ".join(sorted(f"{sign if n else ''}{n // 10**6}.{n % 10**6:06d}" for n in nearest))


def printed(trace: Trace) -> list[str]:
    names = ["ln.mean[0]", "ln.var[0]", *(f"ln.out[0,{i}]" for i in range(trace.example.n_features))]
    return [detail_label(trace, name).text for name in names]


def test_seven_places_for_the_course_example(trace: Trace) -> None:
    assert recompute_places(trace, 0) == 7
    assert reader_gets(trace, 7) == printed(trace)
    from_six = reader_gets(trace, 6)
    assert from_six != printed(trace)
    assert (from_six[1], from_six[4]) == ("0.592454", "−0.385420")


@settings(max_examples=40)
@given(st.lists(st.integers(-(10**9), 10**9), min_size=6, max_size=6, unique=True))
def test_a_reader_gets_every_digit_and_with_fewer_places_not(numbers: list[int]) -> None:
    x, output = [n / 3e8 for n in numbers[:3]], [n / 3e8 for n in numbers[3:]]
    trace = run(plain_example(x, output, eps=0.001))
    assume(not any("×" in text for text in printed(trace)))
    enough = (places for places in range(6, 16) if reader_gets(trace, places) == printed(trace))
    assert recompute_places(trace, 0) == next(enough, None)


@pytest.mark.parametrize("numbers", [[0, 451941892, 1, 107203357, -1, 2], [0, 451941891, 1, 107203357, -1, 2]])
def test_a_mean_that_is_nearly_a_half(numbers: list[int]) -> None:
    x, output = [n / 3e8 for n in numbers[:3]], [n / 3e8 for n in numbers[3:]]
    trace = run(plain_example(x, output, eps=0.001))
    enough = (places for places in range(6, 16) if reader_gets(trace, places) == printed(trace))
    assert recompute_places(trace, 0) == next(enough, None)


def test_whole_numbers_need_no_more_than_the_details() -> None:
    assert recompute_places(run(plain_example([1, 2], [3, 5])), 0) == 6


def test_other_tokens(trace: Trace) -> None:
    assert all(recompute_places(trace, token) in range(6, 10) for token in (1, 2))


def test_places_never_fall_below_those_of_the_details(r44: Example) -> None:
    trace = run(replace(r44, display=Display(3, 9)))
    places = recompute_places(trace, 0)
    assert places is not None
    assert places >= 9


def test_none_where_no_places_will_do() -> None:
    """In float32, 1000.1 and 1000.2 are shown as given, which is not quite what they are."""
    row = np.array([1000.1, 1000.2], dtype=np.float32).tolist()
    trace = run(plain_example(row, [0, 0], norm="pre", dtypes={"resid_pre": "float32"}))
    assert detail_label(trace, "resid_pre[0,0]").text == "1000.1"
    assert detail_label(trace, "ln.mean[0]").text == "1000.149994"
    assert recompute_places(trace, 0) is None


def test_gains_biases_and_eps_are_read_as_printed() -> None:
    fields = {"gamma": np.array([0.3, -1.7]), "beta": np.array([1e-3, 2.5]), "eps": 1e-12}
    assert recompute_places(run(plain_example([1, 2], [3, 5], **fields)), 0) == 6


def test_pre_norm_reads_x_as_given() -> None:
    assert recompute_places(run(plain_example([0.123456789, 2], [1 / 3, 5], norm="pre")), 0) == 6


@pytest.mark.parametrize("scale", [1e-9, 1e12])
def test_rows_in_powers_of_ten(scale: float) -> None:
    trace = run(plain_example([1 * scale, 2.5 * scale], [3.25 * scale, 0.0]))
    places = recompute_places(trace, 0)
    assert places is None or places >= 6


def test_digits_that_read_as_a_constant_row_do_not_do() -> None:
    """Up to eight places both features read 1, and with ε = 0 the root of their variance is zero."""
    trace = run(plain_example([1.0, 1.000000004], [0, 0], eps=0.0))
    assert recompute_places(trace, 0) == 9
    assert sheet_places(trace, 0, (0, 1)) == SheetPlaces(9, 9)


@pytest.mark.parametrize("row", [[1e-150, 3e-150], [1e150, 3e150], [5e-324, 1.0], [1e-300, -1e-300, 1e-310]])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_no_number_is_too_small_or_too_large_to_be_tried(row: list[float], norm: str) -> None:
    fields: dict[str, object] = {"norm": norm, "eps": 0.0 if max(map(abs, row)) > 1e-155 else 1e-307}
    trace = run(plain_example(row, row, **fields))
    assert recompute_places(trace, 0) in (None, *range(6, 16))
    sheet_places(trace, 0, range(len(row)))
    sheet_places(trace, 0, (0,))


def test_a_half_that_readers_round_in_two_ways_is_not_promised() -> None:
    """The mean is 1.0000005 to the last digit: rounded to six places 1.000001, or to even 1.000000."""
    trace = run(plain_example([1.0, 1.000001], [0, 0], eps=1.0))
    assert recompute_places(trace, 0) is None
    assert sheet_places(trace, 0, (0, 1)) is None


def test_a_sum_may_have_fewer_places_than_its_terms() -> None:
    """Five sixths twice: 0.833333 + 0.833333 is 1.666666 and not 1.666667, but rounded to one place less it is."""
    trace = run(plain_example([5 / 6, 1 / 9], [5 / 6, 1 / 9]))
    assert sheet_places(trace, 0, (0, 1)) == SheetPlaces(7, 6)


def test_what_is_given_in_few_digits_is_printed_so() -> None:
    trace = run(plain_example([0.5, 2], [1 / 3, 0.25]))
    assert given_style(trace, ["resid_pre[0,0]", "resid_pre[0,1]"], 6) == NumberStyle.parameter()
    refs = ["attn_out[0,0]", "attn_out[0,1]"]
    style = given_style(trace, refs, 6)
    assert [label(trace, ref, style).text for ref in refs] == ["0.333333", "0.250000"]


def test_where_float64_runs_out_of_digits_no_number_of_places_will_do() -> None:
    """The first r is 0 up to 10⁻⁸: in nine places it has no two certain digits, and fewer places do not suffice."""
    trace = run(plain_example([1e8 / 3, 0.0, 0.0], [-1e8 / 3, 1e-4 / 7, 1e-5 / 3]))
    assert detail_label(trace, "ln.out[0,1]").decimals == 5
    with pytest.raises(ExampleError):
        label(trace, "resid_mid[0,0]", NumberStyle.detail(15))
    assert recompute_places(trace, 0) is None
    assert sheet_places(trace, 0, range(3)) is None
