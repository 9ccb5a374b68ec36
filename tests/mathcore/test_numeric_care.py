"""Numbers that are hard on float64, and the known faults of this field, each with its right value."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from addnorm.mathcore import (
    AddnormError,
    Display,
    Example,
    ExampleError,
    GivenOutput,
    LabelError,
    Trace,
    Weights,
    cell_style,
    detail_label,
    format_number,
    label,
    load_example,
    run,
    stage_label,
)
from addnorm.mathcore.labels import NumberStyle
from addnorm.mathcore.ops import layer_norm, residual_add, softmax


def example_of(x: Any, output: Any = None, **fields: Any) -> Example:
    """An example of some rows and, unless given, an output of zeros."""
    x = np.array(x, dtype=float)
    output = np.zeros_like(x) if output is None else np.array(output, dtype=float)
    ones, zeros = np.ones(x.shape[1]), np.zeros(x.shape[1])
    return Example(
        **{"id": "care", "x": x, "attention": GivenOutput(output), "gamma": ones, "beta": zeros} | fields
    )


def cells(trace: Trace, name: str, token: int = 0) -> list[str]:
    return [stage_label(trace, f"{name}[{token},{i}]").text for i in range(trace.example.n_features)]


def test_a_negative_tie_keeps_its_sign() -> None:
    assert format_number(-0.0005, NumberStyle.cell(3)) == "−0.001"
    assert format_number(-0.05, NumberStyle.cell(1)) == "−0.1"


def test_the_mean_of_a_normalized_row_is_zero() -> None:
    trace = run(example_of([[0.1, 0.2, 0.4]]))
    row = trace["ln.normalized"].value[0]
    noise = sum(trace.noise.of("ln.normalized", (0, i)) for i in range(3)) / 3
    assert format_number(float(row.mean()), NumberStyle.cell(3), noise=noise) == "0"
    assert format_number(-7.4e-17, NumberStyle.cell(3), noise=noise) == "0"
    assert format_number(-7.4e-17, NumberStyle.cell(3)) == "0.000"


def test_the_centered_row_has_its_own_labels() -> None:
    trace = run(example_of([[1.0, 2.0, 4.5]]))
    assert cells(trace, "ln.centered") == ["−1.500", "−0.500", "2"]
    assert cells(trace, "resid_mid") == ["1", "2", "4.500"]


def test_biased_variance_with_eps_inside_the_root() -> None:
    trace = run(example_of([[1, 0, 0, 0]], eps=1e-5))
    expected = np.array([0.75, -0.25, -0.25, -0.25]) / np.sqrt(0.1875 + 1e-5)
    np.testing.assert_allclose(trace["ln.out"].value[0], expected, rtol=0, atol=1e-15)
    assert cells(trace, "ln.out") == ["1.732", "−0.577", "−0.577", "−0.577"]
    assert detail_label(trace, "ln.out[0,0]").text == "1.732005"


@pytest.mark.parametrize(("row", "text"), [([0, 2], "0.999995"), ([0, 4], "0.999999")])
def test_the_variance_after_normalizing_is_just_under_one(row: list[float], text: str) -> None:
    trace = run(example_of([row]))
    assert detail_label(trace, "ln.out[0,1]").text == text
    assert detail_label(trace, "ln.normalized_std[0]").text == text
    assert trace["ln.normalized_std"].value[0] < 1
    assert stage_label(trace, "ln.normalized_std[0]").text == text


@pytest.mark.parametrize("mean", [1e4, 1e8, 1e12, 2.0**50])
def test_a_large_mean_costs_no_digits(mean: float) -> None:
    row = mean + np.array([0.25, -0.5, 0.75, 1.0])
    trace = run(example_of([row]))
    with mpmath.workdps(50):
        exact = [mpmath.mpf(float(entry)) for entry in row]
        mu = sum(exact) / 4
        var = sum((entry - mu) ** 2 for entry in exact) / 4
        assert abs(trace["ln.var"].value[0] - var) < 1e-15
        for feature, entry in enumerate(exact):
            u = (entry - mu) / mpmath.sqrt(var + mpmath.mpf(1e-5))
            assert abs(trace["ln.out"].value[0, feature] - u) < 1e-14


def test_one_pass_in_float32_would_have_gone_negative() -> None:
    row = np.float32(10000) + np.array([0.25, -0.5, 0.75, 1.0], dtype=np.float32)
    one_pass = np.mean(row * row, dtype=np.float32) - np.mean(row, dtype=np.float32) ** 2
    assert abs(one_pass - 0.328125) > 0.1
    assert run(example_of([row]))["ln.var"].value[0] == 0.328125


def test_half_precision_is_widened_first(tmp_path: Path) -> None:
    x = np.array([[300.0, -300.0, 0.5]], dtype=np.float16)
    np.savez(tmp_path / "half.npz", x=x, O=np.zeros_like(x), eps=1e-12)
    example = load_example(tmp_path / "half.npz")
    trace = run(example)
    assert (example.dtype, trace["resid_pre"].dtype, trace["attn_out"].dtype) == ("float16",) * 3
    assert (trace["resid_mid"].dtype, trace["eps"].dtype, example.eps) == ("float64", "float64", 1e-12)
    assert trace["ln.var"].value[0] == pytest.approx(60000.055555555555, rel=1e-15)


def test_numbers_print_as_they_were_stored(tmp_path: Path) -> None:
    x = np.array([[0.1, -2.7, 1e-9, 3e10]], dtype=np.float32)
    np.savez(tmp_path / "single.npz", x=x, O=x.astype(float), eps=np.float32(1e-12))
    trace = run(load_example(tmp_path / "single.npz"))
    assert [detail_label(trace, f"resid_pre[0,{i}]").text for i in range(4)] == [
        "0.1",
        "−2.7",
        "10⁻⁹",
        "3×10¹⁰",
    ]
    assert detail_label(trace, "attn_out[0,0]").text == "0.10000000149011612"
    assert stage_label(trace, "eps").text == "10⁻¹²"


def test_the_file_s_eps_wins() -> None:
    trace = run(example_of([[0, 0.001]], eps=1e-12))
    assert stage_label(trace, "eps").text == "10⁻¹²"
    assert trace["ln.rstd"].value[0] == pytest.approx(1 / np.sqrt(0.0005**2 + 1e-12), rel=1e-15)


@pytest.mark.parametrize("shape", [(1, 4), (4,), (2, 1)])
def test_shapes_that_would_broadcast_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ExampleError) as caught:
        example_of(np.ones((2, 4)), np.ones(shape))
    assert str(shape) in str(caught.value)
    assert "(2, 4)" in str(caught.value)
    with pytest.raises(AddnormError, match="the same tokens × features"):
        residual_add(np.ones((2, 4)), np.ones(shape))


def test_pre_norm_and_post_norm_differ_in_numbers_and_in_provenance() -> None:
    x, output = [[1.0, 2.0, 4.0]], [[0.5, 0.0, -1.0]]
    post, pre = (run(example_of(x, output, norm=norm)) for norm in ("post", "pre"))
    assert (post["ln.mean"].inputs, pre["ln.mean"].inputs) == (("resid_mid",), ("resid_pre",))
    assert post["ln.mean"].value[0] == pytest.approx(6.5 / 3)
    assert pre["ln.mean"].value[0] == pytest.approx(7 / 3)
    assert post["resid_mid"].value.tolist() == pre["resid_mid"].value.tolist() == [[1.5, 2, 3]]


def test_pre_norm_attention_reads_the_normalized_row(r44: Example) -> None:
    trace = run(replace(r44, norm="pre"))
    assert trace["attn.q"].inputs == ("ln.out",)
    np.testing.assert_array_equal(trace["attn.q"].value[0], trace["ln.out"].value[:, :2])


def test_normalized_and_output_keep_their_names_apart() -> None:
    trace = run(example_of([[0, 2]], gamma=np.array([2.0, 2.0]), beta=np.array([1.0, 1.0])))
    assert cells(trace, "ln.normalized") == ["−1.000", "1.000"]
    assert cells(trace, "ln.out") == ["−1.000", "3.000"]
    assert stage_label(trace, "ln.out[0,1]").value == 2 * stage_label(trace, "ln.normalized[0,1]").value + 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_by_place(bad: float) -> None:
    x = np.ones((3, 4))
    x[1, 2] = bad
    with pytest.raises(ExampleError, match=rf"input\.x: {bad} at token 2, feature 3; "):
        example_of(x)
    with pytest.raises(ExampleError, match=rf"attention\.output: {bad} at token 2, feature 3; "):
        example_of(np.ones((3, 4)), x)
    with pytest.raises(ExampleError, match=rf"layer_norm\.gamma: {bad} at feature 3; "):
        example_of(np.ones((3, 4)), gamma=x[1])


@pytest.mark.parametrize("value", [0.0, 0.1, -3.3, 1e8 / 3, 1e300])
@pytest.mark.parametrize("features", [1, 3, 7, 384])
def test_a_constant_row_gives_beta(value: float, features: int) -> None:
    beta = np.linspace(-1, 1, features)
    trace = run(example_of(np.full((1, features), value), beta=beta))
    assert trace["ln.var"].value[0] == 0
    assert trace["ln.out"].value[0].tolist() == beta.tolist()
    assert stage_label(trace, "ln.var[0]").text == "0"


@pytest.mark.parametrize(
    "row", [[0.1, 0.1, 0.1], [0, 0, 0], [1e300] * 3, [5e-324, 0, 0], [1e-170, -1e-170, 0]]
)
def test_zero_variance_without_eps_is_refused(row: list[float]) -> None:
    with pytest.raises(
        ExampleError, match=r"layer_norm\.eps: token 2 has .*variance .* ε is 0; give an ε above 0"
    ):
        run(example_of([[1, 2, 3], row], eps=0.0))


def test_a_row_constant_up_to_rounding_is_refused_without_eps() -> None:
    """0.1 + 0.2 is 0.3 in decimals and not in float64: dividing by that difference would show ±1."""
    example = example_of([[0.1, 0.3]], [[0.2, 0.0]], eps=0.0)
    with pytest.raises(ExampleError, match=r"token 1 has a variance of .*, zero up to rounding"):
        run(example)
    trace = run(replace(example, eps=1e-5))
    assert cells(trace, "ln.out") == ["0", "0"]


def test_a_tiny_variance_without_eps_is_as_good_as_any() -> None:
    trace = run(example_of([[3e-150, -1e-150]], eps=0.0))
    assert trace["ln.out"].value[0].tolist() == [1, -1]


def test_denormals() -> None:
    trace = run(example_of([[1e-310, 3e-310]]))
    assert trace["ln.var"].value[0] == 0
    np.testing.assert_allclose(
        trace["ln.out"].value[0], [-1e-310 / np.sqrt(1e-5), 1e-310 / np.sqrt(1e-5)], rtol=1e-4
    )
    assert cells(trace, "resid_pre") == ["10⁻³¹⁰", "3×10⁻³¹⁰"]
    assert stage_label(trace, "ln.var[0]").text == "0"


@pytest.mark.parametrize(
    ("x", "output", "field"),
    [
        ([[1e308, 1]], [[1e308, 1]], "resid_mid: overflows float64 at token 1, feature 1"),
        ([[1, 2], [1e300, -1e300]], None, "ln.var: overflows float64 at token 2"),
        ([[1.7e308, -1.7e308]], None, "ln.mean: overflows float64 at token 1"),
    ],
)
def test_what_overflows_is_refused_by_name(x: Any, output: Any, field: str) -> None:
    with pytest.raises(ExampleError, match=field):
        run(example_of(x, output))


def test_attention_that_overflows_is_refused_by_name(r44: Example) -> None:
    with pytest.raises(ExampleError, match=r"attn\.pattern: overflows float64 at head 1, token 1, key 1"):
        run(replace(r44, x=r44.x * 1e200))


def test_an_overflowing_gain_is_refused_by_name() -> None:
    with pytest.raises(ExampleError, match=r"ln\.out: overflows float64 at token 1, feature 2"):
        run(example_of([[0, 1, 0, 0]], gamma=np.array([1, 1.7e308, 1, 1])))


def test_huge_numbers_that_do_not_overflow_are_shown() -> None:
    trace = run(example_of([[1e150, -1e150]]))
    assert cells(trace, "resid_mid") == ["10¹⁵⁰", "−10¹⁵⁰"]
    assert cells(trace, "ln.out") == ["1", "−1"]
    assert stage_label(trace, "ln.var[0]").text == "1.00×10³⁰⁰"


def test_mixed_magnitudes_in_one_row() -> None:
    trace = run(example_of([[1e9, 0.1, -1e-9, 12345.678]]))
    assert cells(trace, "resid_pre") == ["10⁹", "0.100", "0.000", "1.23×10⁴"]


def test_a_row_too_small_for_places_is_shown_in_powers_of_ten() -> None:
    trace = run(example_of([[1.2e-7, -3.456e-8, 0, 2e-4]]))
    assert cells(trace, "resid_pre") == ["1.2×10⁻⁷", "−3.46×10⁻⁸", "0", "2×10⁻⁴"]
    assert detail_label(trace, "resid_mid[0,1]").text == "0.000000"
    tiny = run(example_of([[1.2e-7, -3.456e-6, 0, 2e-6]]))
    details = [detail_label(tiny, f"resid_mid[0,{i}]").text for i in range(4)]
    assert details == ["1.2×10⁻⁷", "−3.456×10⁻⁶", "0.000000", "2×10⁻⁶"]


def test_one_feature() -> None:
    trace = run(example_of([[3.25]], beta=np.array([-2.0])))
    assert cells(trace, "ln.out") == ["−2"]
    with pytest.raises(ExampleError, match="zero variance"):
        run(example_of([[3.25]], eps=0.0))


def test_gains_shown_as_one_number_only_where_they_are_one() -> None:
    trace = run(example_of([[1, 2, 3]], gamma=np.array([1, 2, 1.5])))
    with pytest.raises(
        LabelError, match=r"gamma\[\*\]: its entries differ, from 1 to 2; show them one by one"
    ):
        stage_label(trace, "gamma[*]")
    assert label(trace, "gamma[2]", cell_style(trace.example)).text == "1.500"


def test_softmax_of_large_scores() -> None:
    np.testing.assert_array_equal(softmax(np.array([[1e300, 1e300, 0.0]])), [[0.5, 0.5, 0.0]])


def test_statistics_do_not_cross_tokens() -> None:
    """Each row alone gives what it gives among others."""
    rows = np.random.default_rng(5).normal(size=(4, 4))
    together = layer_norm(rows, np.ones(4), np.zeros(4), 1e-5)
    for token in range(4):
        alone = layer_norm(rows[token : token + 1], np.ones(4), np.zeros(4), 1e-5)
        np.testing.assert_array_equal(together.out[token], alone.out[0])


# What float64 loses


def refused(trace: Trace, reference: str, shown: Any = stage_label) -> str:
    with pytest.raises(ExampleError) as caught:
        shown(trace, reference)
    return str(caught.value)


def test_an_output_that_cancelled_out_is_refused() -> None:
    """Its first feature is −2 and float64 has −4."""
    weights = Weights(1, np.eye(2), np.eye(2), np.array([[1e8, 1e8], [1, 3]]), np.array([[1, 1e8], [-1, -1e8]]))
    trace = run(replace(example_of([[1e8, 1], [1, 2]]), attention=weights, source="e.toml"))
    assert trace["attn_out"].value[0, 0] == -4
    assert refused(trace, "attn_out[0,0]") == (
        "e.toml: attn_out: -4 at token 1, feature 1, where float64 may be 1e+08 off: fewer than 2 digits are "
        "certain; give numbers that differ less in size"
    )


NEARLY_CONSTANT = [
    ([[1e3] * 4], [[1e-12, 2e-12, 6e-12, 3e-12]]),
    ([[1e8] * 3], [[1e-7, 2.3e-7, 4.1e-7]]),
]


@pytest.mark.parametrize(("x", "output"), NEARLY_CONSTANT)
def test_a_row_that_only_rounding_tells_apart_is_refused_without_eps(x: Any, output: Any) -> None:
    trace = run(example_of(x, output, eps=0.0))
    assert refused(trace, "ln.out[0,0]").endswith("give numbers that differ less in size, or a larger ε")


@pytest.mark.parametrize(("x", "output"), NEARLY_CONSTANT)
@pytest.mark.parametrize("eps", [0.0, 1e-5])
def test_a_variance_that_rounding_hides_is_not_said_to_be_zero(x: Any, output: Any, eps: float) -> None:
    assert stage_label(run(example_of(x, output, eps=eps)), "ln.var[0]").text == "0.000000"


def test_a_parameter_near_a_whole_number_keeps_its_digits() -> None:
    trace = run(example_of([[1e8 / 3]], [[0.3]], beta=np.array([-0.9998]), eps=1e-12))
    assert cells(trace, "ln.out") == ["−1.000"]
    assert detail_label(trace, "ln.out[0,0]").text == "−0.999800"


def test_digits_that_large_terms_swallow_are_left_out() -> None:
    trace = run(example_of([[1e12 / 3 + 0.3, 1e12 / 3 + 2, 1e12 / 3 - 4, 1e12 / 3]]))
    assert cells(trace, "ln.centered") == ["0.725", "2.425", "−3.575", "0.425"]
    assert [detail_label(trace, f"ln.centered[0,{n}]").text for n in (0, 1)] == ["0.725", "2.425"]


def test_fewer_places_are_offered_where_they_would_do() -> None:
    example = example_of([[1e12 / 3 + 2, 1e12 / 3 - 2, 1e12 / 3]])
    assert refused(run(example), "ln.centered[0,2]", detail_label).endswith("or 3 for display.statistics_decimals")
    trace = run(replace(example, display=Display(statistics_decimals=3)))
    assert detail_label(trace, "ln.centered[0,2]").text == "0.000"


@pytest.mark.parametrize("row", [[1e15, 1e15 + 1, 1e15 + 4], [2.0**30 + 0.25, 2.0**30, 2.0**30 - 3]])
def test_large_numbers_that_float64_holds_cost_no_digits(row: list[float]) -> None:
    trace = run(example_of([row]))
    assert [len(text.removeprefix("−")) for text in cells(trace, "ln.out")] == [5, 5, 5]
    assert detail_label(trace, "ln.var[0]").decimals == 6


def test_saturated_attention_is_certain() -> None:
    """Scores of 10¹⁶ are off by about one, and the largest still takes everything."""
    trace = run(replace(example_of([[1e8, 1], [1, 2]]), attention=Weights(1, *[np.eye(2)] * 4)))
    assert [stage_label(trace, f"attn.pattern[0,0,{key}]").text for key in (0, 1)] == ["1.000", "0"]
