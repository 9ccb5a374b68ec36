"""Every figure of the course's page, from the whole numbers of the bundled example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from addnorm.mathcore import (
    Example,
    GivenOutput,
    Label,
    Reference,
    Trace,
    detail_label,
    label,
    relation,
    run,
    stage_label,
)
from addnorm.mathcore.labels import NumberStyle

FIGURES: dict[str, float | list[float]] = {
    "resid_pre": [1, 0, 1, 0],
    "attn_out": [1, 1.598887907320214, -0.197775814640428, -0.005560463398930],
    "resid_mid": [2, 1.598887907320214, 0.802224185359572, -0.005560463398930],
    "ln.out": [1.170705339310943, 0.649589184753599, -0.385419090588764, -1.434875433475778],
    "ln.mean": 1.098887907320214,
    "ln.var": 0.592454642771364,
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_the_followed_token(trace: Trace, name: str) -> None:
    np.testing.assert_allclose(trace[name].value[0], FIGURES[name], rtol=0, atol=1e-12)


def test_attention_weights(trace: Trace) -> None:
    expected = [0.401112092679786, 0.197775814640428, 0.401112092679786]
    np.testing.assert_allclose(trace["attn.pattern"].value[0, 0], expected, rtol=0, atol=1e-12)


def test_the_other_tokens(trace: Trace) -> None:
    expected = [
        [1, 2.802224185359572, -0.503489843484554, 1.706826121523912],
        [2, 2.751744921742277, 0.802224185359572, 0.197775814640428],
    ]
    np.testing.assert_allclose(trace["resid_mid"].value[1:], expected, rtol=0, atol=1e-12)


def test_with_a_causal_mask_the_first_token_sees_only_itself(r44: Example) -> None:
    trace = run(replace(r44, mask="causal"))
    assert trace["attn_out"].value[0].tolist() == [1, 1, 0, -1]
    assert trace["resid_mid"].value[0].tolist() == [2, 1, 1, -1]
    assert trace["ln.mean"].value[0] == 0.75
    assert trace["ln.var"].value[0] == 1.1875
    assert np.array_equal(np.triu(trace["attn.pattern"].value[0], 1), np.zeros((3, 3)))


def test_closed_form_to_fifty_digits(trace: Trace) -> None:
    with mpmath.workdps(50):
        w = 1 / (1 + 2 * mpmath.exp(1 / mpmath.sqrt(2)))
        a = (1 - w) / 2
        for feature, exact in enumerate((mpmath.mpf(1), 2 - a, -w, 2 * w - a)):
            assert abs(mpmath.mpf(float(trace["attn_out"].value[0, feature])) - exact) < 1e-15


def test_the_printed_output_is_not_enough(r44: Example) -> None:
    """Fed back in, its six digits give 0.592454 and −0.385420: the course has them from an unrounded O₁."""
    printed = np.zeros((3, 4))
    printed[0] = [1, 1.598888, -0.197776, -0.005560]
    trace = run(replace(r44, attention=GivenOutput(printed)))
    assert detail_label(trace, "ln.var[0]").text == "0.592454"
    assert detail_label(trace, "ln.out[0,2]").text == "−0.385420"


SCREEN = {
    "resid_pre[0,*]": "1 0 1 0",
    "attn_out[0,*]": "1 1.599 −0.198 −0.006",
    "resid_mid[0,*]": "2 1.599 0.802 −0.006",
    "ln.out[0,*]": "1.171 0.650 −0.385 −1.435",
    "ln.mean[0]": "1.098888",
    "ln.var[0]": "0.592455",
    "eps": "10⁻⁵",
}
DETAILS = {
    "resid_pre[0,*]": "1 0 1 0",
    "attn_out[0,*]": "1.000000 1.598888 −0.197776 −0.005560",
    "resid_mid[0,*]": "2.000000 1.598888 0.802224 −0.005560",
    "ln.out[0,*]": "1.170705 0.649589 −0.385419 −1.434875",
    "ln.mean[0]": "1.098888",
    "ln.var[0]": "0.592455",
    "eps": "10⁻⁵",
}


@pytest.mark.parametrize(("table", "make"), [(SCREEN, stage_label), (DETAILS, detail_label)])
def test_labels(trace: Trace, table: dict[str, str], make: Callable[[Trace, Reference], Label]) -> None:
    for reference, text in table.items():
        ref = Reference.parse(reference)
        each = ref.each(trace.example.shape_of(ref.name))
        assert " ".join(make(trace, single).text for single in each) == text


def test_gain_and_bias_shown_as_one_number(trace: Trace) -> None:
    assert stage_label(trace, "gamma[*]").text == "1"
    assert stage_label(trace, "beta[*]").text == "0"


def test_the_column_sum_closes_in_cells(trace: Trace) -> None:
    for feature in range(4):
        x, update, r = (
            stage_label(trace, f"{name}[0,{feature}]") for name in ("resid_pre", "attn_out", "resid_mid")
        )
        assert relation([x, update], r) == "="


def test_the_mean_of_the_shown_cells_is_not_the_mean(trace: Trace) -> None:
    row = [stage_label(trace, f"resid_mid[0,{feature}]") for feature in range(4)]
    assert relation(row, stage_label(trace, "ln.mean[0]"), divisor=4) == "≈"
    exact = [label(trace, f"resid_pre[0,{feature}]", NumberStyle.cell(3)) for feature in range(4)]
    assert relation(exact[:2], exact[0]) == "="
