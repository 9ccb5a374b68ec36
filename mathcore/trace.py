"""One run of an example: every value on the way from x to u, by name, with how it was computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from addnorm.mathcore import ops
from addnorm.mathcore.errors import ExampleError, found_in
from addnorm.mathcore.example import Example, GivenOutput
from addnorm.mathcore.noise import Noise, U
from addnorm.mathcore.reference import AXES, Axis

if TYPE_CHECKING:
    from addnorm.mathcore.ops import Array

SMALLEST_NORMAL = 2.0**-1022


@dataclass(frozen=True, eq=False)
class Activation:
    """One named array of the trace, float64 and read-only.

    ``op`` says how it was computed, and ``inputs`` from which activations; an "input" or a "parameter" has
    none. ``dtype`` is the type it was stored in, float64 for whatever was computed.
    """

    name: str
    value: Array
    op: str
    inputs: tuple[str, ...] = ()
    dtype: str = "float64"

    @property
    def axes(self) -> tuple[Axis, ...]:
        """What each axis of the value counts."""
        return AXES[self.name]


class Trace(Mapping[str, Activation]):
    """The activations of one example, in the order they are computed. A trace is equal to itself alone."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self, example: Example, activations: Mapping[str, Activation]) -> None:
        self.example = example
        self._activations = dict(activations)

    @cached_property
    def noise(self) -> Noise:
        """The bounds on the rounding errors of its values."""
        return Noise(self.example, {name: activation.value for name, activation in self.items()})

    def __getitem__(self, name: str) -> Activation:
        return self._activations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._activations)

    def __len__(self) -> int:
        return len(self._activations)


def run(example: Example) -> Trace:
    """Compute the trace of an example.

    Post-norm (Vaswani et al. 2017): r = x + MHA(x), u = LN(r).
    Pre-norm (Xiong et al. 2020): u = LN(x), r = x + MHA(u).

    Raises ExampleError where a value overflows float64, naming the activation, and where ε leaves a
    variance of zero, naming the token.
    """
    trace: dict[str, Activation] = {}

    def put(name: str, value: Array, op: str, *inputs: str) -> None:
        dtype = "float64" if inputs else example.dtypes.get(name, "float64")
        value.flags.writeable = False
        trace[name] = Activation(name, value, op, inputs, dtype)
        if inputs:
            _refuse_overflow(trace[name])

    def attend(source: str) -> None:
        attention = example.attention
        if isinstance(attention, GivenOutput):
            put("attn_out", attention.output, "input")
            return
        steps = ops.multi_head_attention(
            trace[source].value,
            attention.w_q,
            attention.w_k,
            attention.w_v,
            attention.w_o,
            attention.heads,
            causal=example.mask == "causal",
        )
        put("attn.q", steps.q, "project", source)
        put("attn.k", steps.k, "project", source)
        put("attn.v", steps.v, "project", source)
        put("attn.pattern", steps.pattern, "softmax", "attn.q", "attn.k")
        put("attn_out", steps.out, "mix", "attn.pattern", "attn.v")

    def add() -> None:
        r = ops.residual_add(trace["resid_pre"].value, trace["attn_out"].value)
        put("resid_mid", r, "add", "resid_pre", "attn_out")

    def normalize(source: str) -> None:
        steps = ops.layer_norm(trace[source].value, example.gamma, example.beta, example.eps)
        put("ln.mean", steps.mean, "mean", source)
        put("ln.centered", steps.centered, "subtract", source, "ln.mean")
        put("ln.var", steps.var, "mean_square", "ln.centered")
        _refuse_zero_variance(steps.mean, steps.var, example.eps)
        put("ln.std", steps.std, "root", "ln.var")
        put("ln.rstd", steps.rstd, "reciprocal_root", "ln.var", "eps")
        put("ln.normalized", steps.normalized, "multiply", "ln.centered", "ln.rstd")
        put("ln.normalized_std", steps.normalized_std, "multiply", "ln.std", "ln.rstd")
        put("ln.out", steps.out, "scale_and_shift", "ln.normalized", "gamma", "beta")

    with found_in(example.source), np.errstate(all="ignore"):  # put() looks at every computed value
        put("resid_pre", example.x, "input")
        put("gamma", example.gamma, "parameter")
        put("beta", example.beta, "parameter")
        put("eps", np.array(example.eps), "parameter")
        if example.norm == "post":
            attend("resid_pre")
            add()
            normalize("resid_mid")
        else:
            normalize("resid_pre")
            attend("ln.out")
            add()
    return Trace(example, trace)


def trace_json(trace: Trace) -> dict[str, Any]:
    """The activations as plain JSON data, by name: axes, shape, dtype, op, inputs and value of each."""
    return {
        name: {
            "axes": list(activation.axes),
            "shape": list(activation.value.shape),
            "dtype": activation.dtype,
            "op": activation.op,
            "inputs": list(activation.inputs),
            "value": activation.value.tolist(),
        }
        for name, activation in trace.items()
    }


def _refuse_overflow(activation: Activation) -> None:
    value = activation.value
    if np.isfinite(value.sum()):  # one pass; only what is not finite, or sums to it, is worth a closer look
        return
    finite = np.isfinite(value)
    if not finite.all():
        first = np.unravel_index(int(np.argmin(finite)), value.shape)
        place = ", ".join(f"{axis} {i + 1}" for axis, i in zip(activation.axes, first, strict=True))
        raise ExampleError(
            activation.name, f"overflows float64 at {place}", "scale the example's numbers down"
        )


def _refuse_zero_variance(mean: Array, var: Array, eps: float) -> None:
    """Where σ² + ε is zero, or no more than what rounding leaves of a constant row, u would be noise."""
    rounding = (2 * U * mean) ** 2
    vanishing = (var + eps < SMALLEST_NORMAL) | ((var > 0) & (var + eps <= rounding))
    if vanishing.any():
        token = int(np.argmax(vanishing))
        variance = (
            "zero variance" if var[token] == 0 else f"a variance of {var[token]:.1e}, zero up to rounding,"
        )
        remedy = "give an ε above 0, or this token unequal features"
        raise ExampleError("layer_norm.eps", f"token {token + 1} has {variance} and ε is {eps:g}", remedy)
