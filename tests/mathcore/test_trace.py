"""What a trace says of its values: names, axes, provenance, and the same as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from addnorm.mathcore import Activation, Example, GivenOutput, Trace, Weights, run, trace_json
from addnorm.mathcore.example import Mask
from addnorm.mathcore.ops import join_heads, split_heads

POST = [
    "resid_pre", "gamma", "beta", "eps",
    "attn.q", "attn.k", "attn.v", "attn.pattern", "attn_out", "resid_mid",
    "ln.mean", "ln.centered", "ln.var", "ln.std", "ln.rstd", "ln.normalized", "ln.normalized_std", "ln.out",
]  # fmt: skip


@pytest.fixture(params=["post", "pre", "causal", "given"])
def any_trace(request: pytest.FixtureRequest, r44: Example) -> Trace:
    variants: dict[str, dict[str, Any]] = {
        "post": {"gamma": np.array([1, 2, 3, 4.0]), "beta": np.array([0, 1, 0, 2.0])},
        "pre": {"norm": "pre"},
        "causal": {"mask": "causal"},
        "given": {"attention": GivenOutput(r44.x * 0.3)},
    }
    return run(replace(r44, **variants[request.param]))


def test_names_in_the_order_of_computation(trace: Trace, r44: Example) -> None:
    assert list(trace) == POST
    pre = run(replace(r44, norm="pre"))
    assert list(pre) == POST[:4] + POST[10:] + POST[4:10]
    given_output = run(replace(r44, attention=GivenOutput(r44.x)))
    assert list(given_output) == POST[:4] + POST[8:]


def test_every_activation_comes_after_its_inputs(any_trace: Trace) -> None:
    seen: set[str] = set()
    for name, activation in any_trace.items():
        assert activation.name == name
        assert set(activation.inputs) <= seen
        seen.add(name)


def test_values_are_read_only_float64_with_one_axis_each(any_trace: Trace) -> None:
    for activation in any_trace.values():
        assert activation.value.dtype == np.float64
        assert not activation.value.flags.writeable
        assert activation.value.ndim == len(activation.axes)


PROVENANCE: dict[str, Callable[..., Any]] = {
    "add": lambda x, update: x + update,
    "mean": lambda r: r.mean(axis=1),
    "subtract": lambda r, mean: r - mean[:, None],
    "mean_square": lambda centered: (centered**2).mean(axis=1),
    "root": np.sqrt,
    "reciprocal_root": lambda var, eps: (var + eps) ** -0.5,
    "multiply": lambda a, b: (a.T * b).T,
    "scale_and_shift": lambda normalized, gamma, beta: normalized * gamma + beta,
    "softmax": lambda q, k: np.exp(q @ k.transpose(0, 2, 1) / 2**0.5),
}


def test_op_and_inputs_say_how_a_value_came_about(any_trace: Trace) -> None:
    """Done again from op and inputs alone, with numpy's own means, every value comes out."""
    for activation in any_trace.values():
        inputs = [any_trace[name].value for name in activation.inputs]
        weights = any_trace.example.attention
        match activation.op:
            case "input" | "parameter":
                assert not inputs
                continue
            case "project" if isinstance(weights, Weights):
                matrix = getattr(weights, activation.name.replace("attn.", "w_"))
                again = split_heads(inputs[0] @ matrix, weights.heads)
            case "mix" if isinstance(weights, Weights):
                again = join_heads(inputs[0] @ inputs[1]) @ weights.w_o
            case "softmax":
                scores = PROVENANCE["softmax"](*inputs)
                seen = np.tril(scores) if any_trace.example.mask == "causal" else scores
                again = seen / seen.sum(axis=-1, keepdims=True)
            case op:
                again = PROVENANCE[op](*inputs)
        np.testing.assert_allclose(activation.value, again, rtol=0, atol=1e-13)


def test_the_pattern_is_a_distribution_over_keys(any_trace: Trace) -> None:
    if "attn.pattern" in any_trace:
        pattern = any_trace["attn.pattern"].value
        np.testing.assert_allclose(pattern.sum(axis=-1), 1, rtol=0, atol=1e-15)
        assert pattern.min() >= 0


def test_a_given_output_is_an_input(r44: Example) -> None:
    trace = run(replace(r44, attention=GivenOutput(r44.x)))
    assert trace["attn_out"].op == "input"
    assert trace["attn_out"].inputs == ()
    assert "attn.q" not in trace


def test_json(any_trace: Trace) -> None:
    data = json.loads(json.dumps(trace_json(any_trace), allow_nan=False))
    assert list(data) == list(any_trace)
    for name, activation in any_trace.items():
        assert list(data[name]) == ["axes", "shape", "dtype", "op", "inputs", "value"]
        assert tuple(data[name]["shape"]) == activation.value.shape
        assert np.array_equal(np.array(data[name]["value"]).reshape(activation.value.shape), activation.value)
    assert data["resid_pre"]["axes"] == ["token", "feature"]
    assert data["eps"] | {"value": None} == {
        "axes": [], "shape": [], "dtype": "float64", "op": "parameter", "inputs": [], "value": None
    }  # fmt: skip


def test_one_changed_entry_changes_only_what_depends_on_it(r44: Example) -> None:
    """With a causal mask, what the first token becomes does not depend on the others."""
    x = r44.x.copy()
    x[2, 1] = 5
    masks: list[tuple[Mask, bool]] = [("causal", False), ("none", True)]
    for mask, first_token_changes in masks:
        before, after = run(replace(r44, mask=mask)), run(replace(r44, mask=mask, x=x))
        for name in ("resid_mid", "ln.mean", "ln.var", "ln.out"):
            assert np.array_equal(before[name].value[0], after[name].value[0]) != first_token_changes
            assert not np.array_equal(before[name].value[2], after[name].value[2])


def test_an_activation_is_plain_data() -> None:
    activation = Activation("ln.mean", np.zeros(3), "mean", ("resid_mid",))
    assert activation.axes == ("token",)
    assert activation.dtype == "float64"
