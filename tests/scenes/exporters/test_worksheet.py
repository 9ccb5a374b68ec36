"""The recompute sheet keeps its word: from the digits printed on it, exact arithmetic gives every digit asked for."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from addnorm.mathcore import Display, Example, GivenOutput, load_example, run
from addnorm.mathcore.recompute import SheetPlaces
from addnorm.scenes.exporters.worksheet import MOST_FEATURES, SHOWN_FEATURES, Entry, Worksheet, worksheet
from addnorm.scenes.paths import find_example


def numbers(entry: Entry) -> list[Fraction]:
    return [Fraction(label.ascii) for label in entry.labels]


def root(number: Fraction) -> Fraction:
    """The square root to a hundred digits."""
    scale = 10 ** (100 + 2 * len(str(number.denominator)))
    return Fraction(math.isqrt(number.numerator * scale * scale // number.denominator), scale)


def worked_out(sheet: Worksheet, norm: str) -> dict[str, list[Fraction]]:
    """What a reader gets who has nothing but what is given on the sheet, by symbol."""
    given = {e.symbol.text: numbers(e) for e in (*sheet.parameters, *sheet.rows, *sheet.statistics) if e.given}
    first, *others = (entry.symbol.text for entry in sheet.rows)
    update = next(name for name in others if name.startswith("O"))
    result = {
        entry.symbol.text: [a + b for a, b in zip(given[first], given[update], strict=True)]
        for entry in sheet.rows
        if entry.symbol.text.startswith("r")
    }
    row = given[first] if norm == "pre" else next(iter(result.values()))
    if "μ" not in given:
        mean = sum(row, Fraction()) / len(row)
        result |= {"μ": [mean], "σ²": [sum(((r - mean) ** 2 for r in row), Fraction()) / len(row)]}
    [mean], [var] = ({**given, **result}[name] for name in ("μ", "σ²"))
    gamma, beta = (given[name] * (len(row) if len(given[name]) == 1 else 1) for name in ("γ", "β"))
    std = root(var + given["ε"][0])
    [u] = [entry.symbol.text for entry in sheet.rows if entry.symbol.text.startswith("u")]
    result[u] = [g * (r - mean) / std + b for r, g, b in zip(row, gamma, beta, strict=True)]
    return result


def in_the_form_of(number: Fraction, text: str, places: int) -> Fraction:
    """A number rounded, halves up, to so many decimal places; of its factor, where it is written in powers of ten."""
    unit = Fraction(1, 10**places)
    if "e" in text:
        unit *= Fraction(10) ** Decimal(text).adjusted()
    rounded = math.floor(abs(number) / unit + Fraction(1, 2)) * unit
    return -rounded if number < 0 else rounded


def wrong(sheet: Worksheet, example: Example) -> list[str]:
    """What is asked for and comes out otherwise than it stands in the answers."""
    assert sheet.places
    found = worked_out(sheet, example.norm)
    asked = [entry for entry in (*sheet.rows, *sheet.statistics) if not entry.given]
    assert {entry.symbol.text for entry in asked} == found.keys()
    complaints = []
    for entry in asked:
        name = entry.symbol.text
        places = sheet.places.total if name.startswith("r") else example.display.statistics_decimals
        for number, label in zip(found[name], entry.labels, strict=True):
            if in_the_form_of(number, label.ascii, places) != Fraction(label.ascii):
                complaints.append(f"{name}: {label.text}, not {float(number)}")
    return complaints


@st.composite
def examples(draw: st.DrawFn) -> Example:
    """Rows of a few or many features: typed in a few digits, or with all that float64 or float32 has, at any scale."""
    features = draw(st.integers(2, MOST_FEATURES + 4))
    digits, scale = draw(st.sampled_from([(10, 1), (1000, 1), (3e8, 1), (3e8, 1e-9), (3e8, 1e5), (7, 1e-3)]))
    whole = st.integers(-10 * int(digits), 10 * int(digits))
    x, output = (
        np.array(draw(st.lists(whole, min_size=features, max_size=features, unique=True))) / digits * scale
        for _ in range(2)
    )
    gamma, beta = np.ones(features), np.zeros(features)
    if draw(st.booleans()):
        gamma, beta = np.linspace(0.7, 1.9, features), np.arange(features) / draw(st.sampled_from([8, 7]))
    dtypes = {}
    if draw(st.booleans()):
        x, output = (array.astype(np.float32).astype(np.float64) for array in (x, output))
        dtypes = {"resid_pre": "float32", "attn_out": "float32"}
    return Example(
        id="drawn",
        x=x[None],
        attention=GivenOutput(output[None]),
        gamma=gamma,
        beta=beta,
        eps=draw(st.sampled_from([1e-5, 0.001, 1e-12, 0.1])),
        norm=draw(st.sampled_from(["post", "pre"])),
        display=Display(3, draw(st.integers(3, 9))),
        dtypes=dtypes,
    )


@settings(max_examples=60, derandomize=True, deadline=None)
@given(examples())
def test_every_digit_that_is_promised_comes_out(example: Example) -> None:
    sheet = worksheet(run(example))
    assume(sheet.places)
    assert wrong(sheet, example) == []


@pytest.mark.parametrize(
    ("name", "places"),
    [("r44", SheetPlaces(7, 7)), ("r44-pre", SheetPlaces(6, 6)), ("minilm", SheetPlaces(8, 7))],
)
def test_the_bundled_examples_come_out(name: str, places: SheetPlaces) -> None:
    example = load_example(find_example(name))
    sheet = worksheet(run(example))
    assert sheet.places == places
    assert wrong(sheet, example) == []


def test_a_place_fewer_would_be_seen(r44: Example) -> None:
    sheet = worksheet(run(r44))
    x, update, *others = sheet.rows
    shorter = tuple(replace(label, text=label.text[:-1]) for label in update.labels)
    spoilt = replace(sheet, rows=(x, replace(update, labels=shorter), *others))
    assert "u₁: −0.385419" in " ".join(wrong(spoilt, r44))


def test_what_is_asked_for_is_what_the_core_has(r44: Example) -> None:
    rows = {entry.symbol.text: [label.text for label in entry.labels] for entry in worksheet(run(r44)).rows}
    assert rows == {
        "x₁": ["1", "0", "1", "0"],
        "O₁": ["1.0000000", "1.5988879", "−0.1977758", "−0.0055605"],
        "r₁": ["2.0000000", "1.5988879", "0.8022242", "−0.0055605"],
        "u₁": ["1.170705", "0.649589", "−0.385419", "−1.434875"],
    }
    other = worksheet(run(replace(r44, followed=1)))
    assert [entry.symbol.text for entry in other.rows] == ["x₂", "O₂", "r₂", "u₂"]
    assert [label.ref for label in other.statistics[0].labels] == ["ln.mean[1]"]


def test_in_pre_norm_the_sum_comes_last() -> None:
    sheet = worksheet(run(load_example(find_example("r44-pre"))))
    assert [(entry.symbol.text, entry.given) for entry in sheet.rows] == [
        ("x₁", True),
        ("u₁", False),
        ("O₁", True),
        ("r₁", False),
    ]
    assert sheet.source.text == "x₁"
    assert not any(entry.given for entry in sheet.statistics)


def test_of_a_wide_row_some_features_are_worked_out_and_its_statistics_are_given() -> None:
    sheet = worksheet(run(load_example(find_example("minilm"))))
    assert sheet.window.shown == (0, 1, 2, 381, 382, 383)
    assert len(sheet.window.shown) == SHOWN_FEATURES
    assert [(entry.symbol.text, entry.given) for entry in sheet.rows] == [
        ("x₃", True),
        ("O₃", True),
        ("r₃", False),
        ("γ", True),
        ("β", True),
        ("u₃", False),
    ]
    assert [(entry.labels[0].text, entry.given) for entry in sheet.statistics] == [
        ("0.00741243", True),
        ("0.38437275", True),
    ]


def test_parameters_that_differ_by_feature_are_rows_and_others_single(r44: Example) -> None:
    sheet = worksheet(run(replace(r44, gamma=np.array([1, 2, 3, 4.5]))))
    assert [entry.symbol.text for entry in sheet.parameters] == ["ε", "β"]
    assert [entry.symbol.text for entry in sheet.rows] == ["x₁", "O₁", "r₁", "γ", "u₁"]


def test_without_places_that_do_the_digits_are_those_of_the_details() -> None:
    """The mean is 1.0000005, a half that one reader rounds up and another to even."""
    x = np.array([[1.0, 1.000001]])
    example = Example("half", x, GivenOutput(np.zeros((1, 2))), np.ones(2), np.zeros(2), eps=1.0)
    sheet = worksheet(run(example))
    assert sheet.places is None
    assert [label.text for label in sheet.statistics[0].labels] == [f"{1.0000005:.6f}"]
