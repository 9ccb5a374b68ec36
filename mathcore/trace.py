"""One run of an example: every value on the way from x to u, by name, with how it was computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from addnorm.mathcore import ops
from addnorm.mathcore.errors import ExampleError
from addnorm.mathcore.example import Example, GivenOutput, Weights
from addnorm.mathcore.reference import AXES, Axis

if TYPE_CHECKING:
    from addnorm.mathcore.noise import Noise
    from addnorm.mathcore.ops import Array

SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Activation:
    """One named array of the trace.

    ``op`` says how it was computed and ``inputs`` from which activations: an "input" or a "parameter" has none.
    ``dtype`` is the type it was stored in, float64 for whatever was computed. The value is float64 and read-only.
    """

    name: str
    value: Array
    op: str
    inputs: tuple[str, ...] = ()
    dtype: str = "float64"

    @property
    def axes(self) -> tuple[Axis, ...]:
        return AXES[self.name]


class Trace(Mapping[str, Activation]):
    """The activations of one example, in the order they are computed."""

    def __init__(self, example: Example, activations: Mapping[str, Activation]) -> None:
        self.example = example
        self._activations = dict(activations)

    @cached_property
    def noise(self) -> Noise:
        """Bounds on the rounding errors of its values."""
        from addnorm.mathcore.noise import Noise

        return Noise(self)

    def __getitem__(self, name: str) -> Activation:
        return self._activations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._activations)

    def __len__(self) -> int:
        return len(self._activations)


def run(example: Example) -> Trace:
    """Compute the example's trace.

    Post-norm (Vaswani et al. 2017): r = x + MHA(x), u = LN(r).
    Pre-norm (Xiong et al. 2020): u = LN(x), r = x + MHA(u).

    Raises ExampleError, naming activation and token, where a value overflows float64 or a variance is zero
    and ε does not help.
    """
    activations: dict[str, Activation] = {}

    def put(name: str, value: Array, op: str, *inputs: str) -> Array:
        value = np.asarray(value)
        value.flags.writeable = False
        dtype = "float64" if inputs else example.dtypes.get(name, "float64")
        activations[name] = Activation(name, value, op, inputs, dtype)
        _refuse_overflow(activations[name], example)
        return value

    def attend(source: str) -> Array:
        match example.attention:
            case GivenOutput(output):
                return put("attn_out", output, "input")
            case Weights(heads, w_q, w_k, w_v, w_o):
                steps = ops.multi_head_attention(activations[source].value, w_q, w_k, w_v, w_o, heads, example.mask)
        put("attn.q", steps.q, "project", source)
        put("attn.k", steps.k, "project", source)
        put("attn.v", steps.v, "project", source)
        put("attn.pattern", steps.pattern, "softmax", "attn.q", "attn.k")
        return put("attn_out", steps.out, "mix", "attn.pattern", "attn.v")

    def normalize(source: str) -> None:
        r = activations[source].value
        steps = ops.layer_norm(r, example.gamma, example.beta, example.eps)
        put("ln.mean", steps.mean, "mean", source)
        put("ln.centered", steps.centered, "subtract", source, "ln.mean")
        put("ln.var", steps.var, "mean_square", "ln.centered")
        _refuse_zero_variance(steps.var, example)
        put("ln.std", steps.std, "root", "ln.var")
        put("ln.rstd", steps.rstd, "reciprocal_root", "ln.var", "eps")
        put("ln.normalized", steps.normalized, "multiply", "ln.centered", "ln.rstd")
        put("ln.normalized_std", steps.normalized_std, "multiply", "ln.std", "ln.rstd")
        put("ln.out", steps.out, "scale_and_shift", "ln.normalized", "gamma", "beta")

    x = put("resid_pre", example.x, "input")
    put("gamma", example.gamma, "parameter")
    put("beta", example.beta, "parameter")
    put("eps", np.float64(example.eps), "parameter")
    with np.errstate(all="ignore"):  # every value is checked as it is put
        if example.norm == "pre":
            normalize("resid_pre")
        update = attend("ln.out" if example.norm == "pre" else "resid_pre")
        put("resid_mid", ops.residual_add(x, update), "add", "resid_pre", "attn_out")
        if example.norm == "post":
            normalize("resid_mid")
    return Trace(example, activations)


def trace_json(trace: Trace) -> dict[str, Any]:
    """The activations as plain JSON data: axes, shape, dtype, op, inputs and value of each, by name."""
    return {
        name: {
            "axes": list(a.axes),
            "shape": list(a.value.shape),
            "dtype": a.dtype,
            "op": a.op,
            "inputs": list(a.inputs),
            "value": a.value.tolist(),
        }
        for name, a in trace.items()
    }


def _refuse_overflow(activation: Activation, example: Example) -> None:
    value = activation.value
    if np.isfinite(value.sum()) or (finite := np.isfinite(value)).all():
        return
    first = np.unravel_index(int(np.argmin(finite)), value.shape)
    place = ", ".join(f"{axis} {index + 1}" for axis, index in zip(activation.axes, first, strict=True))
    remedy = "scale the example's numbers down"
    raise ExampleError(activation.name, f"overflows float64 at {place}", remedy, example.source)


def _refuse_zero_variance(var: Array, example: Example) -> None:
    denominators = var + example.eps
    if denominators.min() >= SMALLEST_NORMAL:
        return
    token = int(np.argmin(denominators))
    what = "zero variance" if var[token] == 0 else f"a variance of only {var[token]:.3g}"
    remedy = "give an ε above 0, or this token unequal features"
    raise ExampleError("layer_norm.eps", f"token {token + 1} has {what} and ε is {example.eps:g}", remedy, example.source)
