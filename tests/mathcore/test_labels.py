"""How numbers are written."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from addnorm.mathcore import (
    Display,
    Example,
    GivenOutput,
    Label,
    LabelError,
    NumberStyle,
    Reference,
    Trace,
    cell_style,
    closes,
    detail_label,
    detail_style,
    format_number,
    label,
    relation,
    run,
    stage_label,
    stage_style,
    statistic_style,
    value,
)
from addnorm.mathcore.labels import to_ascii

CELL, STATISTIC = NumberStyle.cell(3), NumberStyle.statistic(6)
DETAIL, PARAMETER = NumberStyle.detail(6), NumberStyle.parameter()


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "1"),
        (0, "0"),
        (-0.0, "0"),
        (-2, "−2"),
        (1.5, "1.500"),
        (0.80222, "0.802"),
        (-0.0056, "−0.006"),
        (0.0004, "0.000"),
        (-0.0004, "0.000"),
        (-1e-300, "0.000"),
        (-0.0005, "−0.001"),
        (0.0005, "0.001"),
        (0.0625, "0.062"),  # ties to even
        (0.1875, "0.188"),
        (1.0005, "1.000"),  # float64's 1.0005 lies below the tie
        (0.9999, "1.000"),
        (-0.9999999999999999, "−1.000"),
        (1234.5, "1234.500"),
        (-1234.5, "−1234.500"),
        (9999.9994, "9999.999"),
        (9999.9996, "1.00×10⁴"),
        (12345.678, "1.23×10⁴"),
        (-12345.678, "−1.23×10⁴"),
        (12345678, "12345678"),
        (346000000, "3.46×10⁸"),
        (346123456, "3.46×10⁸"),
        (100000000, "10⁸"),
        (-100000000, "−10⁸"),
        (100000001, "1.00×10⁸"),
        (1.7e308, "1.7×10³⁰⁸"),
    ],
)
def test_cells(number: float, text: str) -> None:
    assert format_number(number, CELL) == text


@pytest.mark.parametrize(
    ("number", "noise", "text"),
    [
        (0.9999999999999999, 1e-15, "1"),
        (1.0000000000000002, 1e-15, "1"),
        (-7.4e-17, 1e-15, "0"),
        (-2.0000000000000004, 1e-15, "−2"),
        (1.4999999999999998, 1e-15, "1.500"),
        (0.9999999999999999, 0, "1.000"),
        (0.9999999, 1e-15, "1.000"),
        (1, 1e-10, "1"),
        (-0.9998, 3e-4, "−1.000"),  # whole means nothing where the noise is that large
        (3, 1e-8, "3.000"),
        (0, 1e-8, "0.000"),
        (12345678, 1e-3, "12345678"),
    ],
)
def test_whole_up_to_noise(number: float, noise: float, text: str) -> None:
    assert format_number(number, CELL, noise=noise) == text


@pytest.mark.parametrize(
    ("number", "noise", "style", "text"),
    [
        (1.2345, 0.0005, CELL, "1.234"),
        (1.2345, 0.00051, CELL, "1.23"),
        (1.2345, 0.05, CELL, "1.2"),
        (1.2345, 0.051, CELL, ""),
        (12.345, 0.3, CELL, "12"),
        (123.45, 3, CELL, "1.2×10²"),
        (-123456.7, 3, CELL, "−1.23×10⁵"),
        (-123456.7, 3, STATISTIC, "−1.23×10⁵"),
        (-123456.7, 0.5, STATISTIC, "−123457"),
        (123456789.5, 3, DETAIL, "1.234568×10⁸"),
        (123456789.5, 300, DETAIL, "1.23457×10⁸"),
        (0.0004, 0.0004, CELL, "0.000"),  # that it rounds to zero is certain
        (0.0004, 0.0006, CELL, ""),
        (0.0234, 0.002, CELL, ""),
        (0, 0.002, CELL, ""),
        (-4, 3, CELL, ""),
        (-4, 0.05, CELL, "−4.0"),
        (3, float("nan"), CELL, ""),
        (3, float("inf"), STATISTIC, ""),
        (1.234e-5, 1e-8, STATISTIC, "0.000012"),
        (1.234e-7, 1e-10, STATISTIC, "1.23×10⁻⁷"),
        (1.234e-7, 1e-9, STATISTIC, "1.2×10⁻⁷"),
        (1.234e-7, 1e-8, STATISTIC, "0.000000"),
        (1.234e-7, 1e-6, STATISTIC, ""),
        (1e-17, 1e-8, STATISTIC, "0.000000"),
        (1.2e-7, 1e-9, replace(CELL, small=True), "1.2×10⁻⁷"),
        (1.2e-7, 1e-7, replace(CELL, small=True), "0.000"),
        (0.1, 1, PARAMETER, "0.1"),
    ],
)
def test_digits_in_doubt_are_left_out(number: float, noise: float, style: NumberStyle, text: str) -> None:
    assert format_number(number, style, noise=noise) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.75, "0.750000"),
        (2, "2.000000"),
        (0, "0"),
        (1.098887907320214, "1.098888"),
        (-0.000012, "−0.000012"),
        (0.00000999999, "0.000010"),
        (0.0000094, "9.4×10⁻⁶"),
        (1.2e-7, "1.2×10⁻⁷"),
        (1.2345e-7, "1.23×10⁻⁷"),
        (1e-7, "10⁻⁷"),
        (12345678.5, "12345678.500000"),
        (123456789.5, "1.23×10⁸"),
    ],
)
def test_statistics(number: float, text: str) -> None:
    assert format_number(number, STATISTIC) == text


@pytest.mark.parametrize(
    ("number", "decimals", "text"),
    [
        (1.7268, 0, "1.73"),
        (-0.225, 0, "−0.225"),
        (2, 0, "2"),
        (0.0123456, 0, "0.0123"),
        (0.00123456, 0, "1.23×10⁻³"),
        (12.6, 0, "13"),
        (0.4, 1, "0.4"),
        (0.04321, 1, "0.0432"),
        (0, 0, "0"),
        (-1e-17, 0, "−10⁻¹⁷"),
    ],
)
def test_statistics_of_few_places_have_two_digits_all_the_same(number: float, decimals: int, text: str) -> None:
    assert format_number(number, NumberStyle.statistic(decimals)) == text


@pytest.mark.parametrize("style", [NumberStyle.cell(0), NumberStyle.detail(0)])
def test_no_places_are_no_point(style: NumberStyle) -> None:
    assert [format_number(number, style) for number in (1.2, -0.4, -0.6, 0.0, 2.5, 99999.5)] == [
        "1",
        "0",
        "−1",
        "0",
        "2",
        "100000",
    ]


def test_a_statistic_that_is_zero_up_to_noise_is_zero() -> None:
    assert format_number(-1e-17, STATISTIC, noise=1e-16) == "0"
    assert format_number(-1e-17, STATISTIC) == "−10⁻¹⁷"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "1.000000"),
        (0, "0.000000"),
        (-1e-17, "0.000000"),
        (-0.0055604634, "−0.005560"),
        (12345678.12345678, "12345678.123457"),
        (123456789.5, "1.234568×10⁸"),
    ],
)
def test_details(number: float, text: str) -> None:
    assert format_number(number, DETAIL) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1e-5, "10⁻⁵"),
        (1e-12, "10⁻¹²"),
        (2.5e-6, "2.5×10⁻⁶"),
        (0.1, "0.1"),
        (1, "1"),
        (0, "0"),
        (-1, "−1"),
        (0.001, "0.001"),
        (0.0001, "0.0001"),
        (0.00025, "0.00025"),
        (-2.7, "−2.7"),
        (0.1 + 0.2, "0.30000000000000004"),
        (100000, "100000"),
        (1e6, "10⁶"),
        (123456789, "123456789"),
        (5e-324, "5×10⁻³²⁴"),
    ],
)
def test_parameters(number: float, text: str) -> None:
    assert format_number(number, PARAMETER) == text


@pytest.mark.parametrize(
    ("stored", "number", "text"),
    [
        ("float32", float(np.float32(0.1)), "0.1"),
        ("float64", float(np.float32(0.1)), "0.10000000149011612"),
        ("float16", float(np.float16(0.1)), "0.1"),
        ("int32", 7.0, "7"),
    ],
)
def test_parameters_are_shortest_in_their_own_type(stored: str, number: float, text: str) -> None:
    assert format_number(number, PARAMETER, stored=stored) == text


styles = st.one_of(
    st.builds(NumberStyle.cell, st.integers(0, 6)),
    st.builds(NumberStyle.statistic, st.integers(0, 9)),
    st.builds(NumberStyle.detail, st.integers(0, 9)),
    st.just(PARAMETER),
)
everyday = st.floats(-1e5, 1e5)
finite = st.one_of(
    everyday, st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**9), 10**9).map(float)
)


def shown(number: float, style: NumberStyle) -> Decimal:
    return Decimal(to_ascii(format_number(number, style)))


@given(finite, styles)
def test_what_is_shown_is_the_number_to_half_a_unit_in_the_last_place(
    number: float, style: NumberStyle
) -> None:
    text = format_number(number, style)
    assert re.fullmatch(r"−?(\d+(\.\d+)?|(\d(\.\d+)?×)?10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text)
    displayed = Decimal(to_ascii(text))
    exact = style.kind == "parameter"
    exponent = displayed.as_tuple().exponent
    assert isinstance(exponent, int)
    if exact:
        assert float(displayed) == number
    else:
        assert abs(displayed - Decimal(number)) <= Decimal(5).scaleb(exponent - 1) * (1 + Decimal("1e-25"))


@given(everyday, st.floats(0, 1e3), styles)
def test_every_digit_that_is_shown_is_certain(number: float, noise: float, style: NumberStyle) -> None:
    text = format_number(number, style, noise=noise)
    assume(text and style.kind != "parameter")
    exponent = Decimal(to_ascii(text)).as_tuple().exponent
    assert isinstance(exponent, int)
    assert Decimal(noise) <= Decimal(5).scaleb(exponent - 1) * (1 + Decimal("1e-14"))


@given(finite, styles)
def test_zero_has_no_sign(number: float, style: NumberStyle) -> None:
    text = format_number(number, style)
    assert text.startswith("−") == (Decimal(to_ascii(text)) < 0)
    assert "-" not in text


@given(finite, styles)
def test_a_sign_is_all_that_negation_changes(number: float, style: NumberStyle) -> None:
    assert shown(-number, style) == -shown(number, style)


@given(finite, finite, styles)
def test_larger_numbers_never_look_smaller(one: float, other: float, style: NumberStyle) -> None:
    """Among numbers written in places, and among those written in powers of ten."""
    low, high = sorted((one, other))
    assume(("×" in format_number(low, style)) == ("×" in format_number(high, style)))
    assert shown(low, style) <= shown(high, style)


@given(finite, styles)
def test_showing_again_what_was_shown_changes_nothing(number: float, style: NumberStyle) -> None:
    assume(abs(number) < 1e308)  # rounded to three digits, the largest floats are none
    once = shown(number, style)
    assert shown(float(once), style) == once


@given(finite, styles)
def test_text_fits_its_room(number: float, style: NumberStyle) -> None:
    text = format_number(number, style)
    assert style.kind == "parameter" or "10" in text or len(text.removeprefix("−")) <= style.room


@given(everyday, st.integers(0, 6))
def test_places_are_those_of_python_s_format(number: float, decimals: int) -> None:
    """An independent rounding: Decimal's, half to even, of the exact binary value."""
    text = format_number(number, NumberStyle.cell(decimals))
    assume("×" not in text and number != int(number))
    assert Decimal(to_ascii(text)) == round(Decimal(number), decimals)


def test_ascii() -> None:
    assert [to_ascii(text) for text in ("−0.385", "1.2×10⁻⁷", "10⁻⁵", "−10⁸", "3", "−3.46×10⁸")] == [
        "-0.385",
        "1.2e-7",
        "1e-5",
        "-1e8",
        "3",
        "-3.46e8",
    ]


def test_a_label_knows_its_places(trace: Trace) -> None:
    assert stage_label(trace, "resid_mid[0,2]").decimals == 3
    assert stage_label(trace, "resid_mid[0,0]").decimals == 0
    assert stage_label(trace, "ln.var[0]").decimals == 6
    assert stage_label(trace, "eps").decimals is None
    mid = stage_label(trace, "resid_mid[0,2]")
    assert (mid.ref, mid.text, mid.style) == ("resid_mid[0,2]", "0.802", CELL)
    assert mid.value == trace["resid_mid"].value[0, 2]
    assert stage_label(trace, "ln.out[0,2]").ascii == "-0.385"


def test_places_are_the_example_s(r44: Example) -> None:
    trace = run(replace(r44, display=Display(decimals=1, statistics_decimals=2)))
    assert stage_label(trace, "resid_mid[0,2]").text == "0.8"
    assert stage_label(trace, "ln.var[0]").text == "0.59"
    assert detail_label(trace, "resid_mid[0,2]").text == "0.80"


def test_styles_on_stage(r44: Example) -> None:
    assert stage_style(r44, "eps") == stage_style(r44, "gamma[*]") == PARAMETER
    assert stage_style(r44, "gamma[1]") == stage_style(r44, "attn.pattern[0,0,0]") == cell_style(r44) == CELL
    for name in ("mean", "var", "std", "rstd", "normalized_std"):
        assert stage_style(r44, f"ln.{name}[0]") == statistic_style(r44) == STATISTIC
    assert detail_style(r44) == DETAIL


def test_value_of_a_reference(trace: Trace) -> None:
    assert value(trace, "resid_pre[1,3]") == 1
    assert value(trace, Reference("resid_pre", (2, 3))) == 0
    assert value(trace, "gamma[*]") == 1
    assert value(trace, "eps") == 1e-5


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("resid_mid[0,4]", "resid_mid[0,4]: no feature 4; they count from 0 to 3"),
        ("resid_mid[3,0]", "resid_mid[3,0]: no token 3; they count from 0 to 2"),
        ("resid_mid[0]", "resid_mid[0]: 1 index; write resid_mid[token,feature]"),
        ("eps[0]", "eps[0]: 1 index; write eps"),
        ("resid_mit[0,0]", '"resid_mit" is not in the trace of this example; did you mean "resid_mid"?'),
        ("resid_pre[0,*]", "resid_pre[0,*]: its entries differ, from 0 to 1; show them one by one"),
        ("r 1", '"r 1" is no reference; write it like resid_mid[0,2] or eps'),
    ],
)
def test_references_to_no_number(trace: Trace, reference: str, message: str) -> None:
    with pytest.raises(LabelError) as caught:
        value(trace, reference)
    assert str(caught.value) == message


def test_a_given_output_has_no_attention(r44: Example) -> None:
    given_output = run(replace(r44, attention=GivenOutput(r44.x)))
    with pytest.raises(LabelError, match="not in the trace"):
        stage_label(given_output, "attn.pattern[0,0,0]")


def _label(text: str) -> Label:
    return Label("x", text, 0.0, None, CELL)


@pytest.mark.parametrize(
    ("terms", "total", "sign"),
    [
        (("1", "−0.198"), "0.802", "="),
        (("0.1", "0.2"), "0.3", "="),  # exactly, though not in float64
        (("0.333", "0.333"), "0.667", "≈"),
        (("10⁸", "−10⁸", "1.2×10⁻⁷"), "1.2×10⁻⁷", "="),
        (("10³⁰⁰", "10⁻³⁰⁰"), "10³⁰⁰", "≈"),
        (("0.000",), "0", "="),
    ],
)
def test_shown_sums(terms: tuple[str, ...], total: str, sign: str) -> None:
    assert relation(list(map(_label, terms)), _label(total)) == sign
    assert closes(list(map(_label, terms)), _label(total)) == (sign == "=")


def test_shown_means() -> None:
    assert relation(list(map(_label, ("1", "2", "4", "4"))), _label("2.750000"), divisor=4) == "="
    assert relation(list(map(_label, ("1", "0", "0"))), _label("0.333333"), divisor=3) == "≈"


@given(st.integers(-999, 999), st.integers(-999, 999), st.integers(-2, 2))
def test_sums_close_where_the_digits_do(a: int, b: int, error: int) -> None:
    terms = [format_number(n / 100, NumberStyle.cell(2)) for n in (a, b)]
    total = format_number((a + b + error) / 100, NumberStyle.cell(2))
    assert closes(list(map(_label, terms)), _label(total)) == (error == 0)


def test_a_label_s_noise_comes_from_its_terms() -> None:
    """2.3 − 1.3 is 0.9999999999999998 in float64, and reads 1."""
    ones, zeros = np.ones(2), np.zeros(2)
    example = Example(
        id="noise",
        x=np.array([[2.3, 0.5]]),
        attention=GivenOutput(np.array([[-1.3, 0.25]])),
        gamma=ones,
        beta=zeros,
    )
    trace = run(example)
    assert trace["resid_mid"].value[0, 0] == 0.9999999999999998
    assert stage_label(trace, "resid_mid[0,0]").text == "1"
    assert label(trace, "resid_mid[0,0]", DETAIL).text == "1.000000"
    given_as_such = run(replace(example, x=np.array([[0.9999999999999998, 0.5]])))
    assert stage_label(given_as_such, "resid_pre[0,0]").text == "1.000"
    assert detail_label(given_as_such, "resid_pre[0,0]").text == "0.9999999999999998"
