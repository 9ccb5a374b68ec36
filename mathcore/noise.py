"""How far float64 may be off: a bound on the rounding error of every value in a trace.

A number that is whole up to this bound is whole: O₁'s first feature is exactly 1, but a softmax can sum to
0.9999999999999999. The bounds follow the standard model of floating-point arithmetic (Higham 2002, "Accuracy
and Stability of Numerical Algorithms", sections 2.2 and 3.1), to first order: each operation rounds by at most
u = 2⁻⁵³ of its result, a sum of n terms by at most n u of the sum of their magnitudes, and errors of the operands are
carried along. The example's own numbers stand for decimals and may be off by u of themselves. Where no terms cancel,
the bound is a few units in the last place of the value.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from addnorm.mathcore.example import Weights
from addnorm.mathcore.reference import Reference
from addnorm.mathcore.trace import Trace

if TYPE_CHECKING:
    from addnorm.mathcore.ops import Array

U = 2.0**-53
SMALLEST = 5e-324  # below the normal range a product may lose this much outright


def noise_of_sum(terms: Array) -> float:
    """The bound for a plain sum of numbers that are themselves rounded: (n + 1) u Σ |terms|."""
    return float((np.size(terms) + 1) * U * np.abs(terms).sum())


class Noise:
    """Bounds on the errors of one trace's values, computed for a token when they are asked for."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._rows: dict[int, dict[str, Array]] = {}

    def of(self, reference: Reference) -> float:
        """The bound for a single value. Zero for inputs and parameters: they are what the example says."""
        activation = self._trace[reference.name]
        if not activation.inputs:
            return 0.0
        index = tuple(i for i in reference.index if i != "*")
        if reference.name.startswith("attn."):
            return float(self._attention[reference.name][index])
        token, *feature = index
        if token not in self._rows:
            self._rows[token] = self._row(slice(token, token + 1))
        return float(self._rows[token][reference.name][(0, *feature)])

    def _row(self, rows: slice) -> dict[str, Array]:
        """The bounds of resid_mid, attn_out and ln.* for some tokens."""
        trace = self._trace
        x, update, r = (trace[name].value[rows] for name in ("resid_pre", "attn_out", "resid_mid"))
        of_update = self._attention["attn_out"][rows] if trace["attn_out"].inputs else U * np.abs(update)
        of_sum = U * np.abs(x) + of_update + U * np.abs(r)
        of_source = of_sum if trace.example.norm == "post" else U * np.abs(x)
        return {"attn_out": of_update, "resid_mid": of_sum, **self._layer_norm(rows, of_source)}

    def _layer_norm(self, rows: slice, of_source: Array) -> dict[str, Array]:
        trace = self._trace
        source = trace[trace["ln.mean"].inputs[0]].value[rows]
        centered, normalized, out = (trace[f"ln.{n}"].value[rows] for n in ("centered", "normalized", "out"))
        var, std, rstd, band = (trace[f"ln.{n}"].value[rows] for n in ("var", "std", "rstd", "normalized_std"))
        gamma, beta, eps = trace["gamma"].value, trace["beta"].value, float(trace["eps"].value)
        n = source.shape[-1]

        of_mean = of_source.mean(axis=-1) + n * U * np.abs(source).mean(axis=-1)
        of_centered = of_source + of_mean[:, None] + U * np.abs(centered)
        of_var = ((2 * np.abs(centered) + of_centered) * of_centered).mean(axis=-1) + (n + 2) * U * var + SMALLEST
        of_std = np.where(var > of_var, of_var / np.maximum(std, SMALLEST), np.sqrt(of_var)) + U * std
        of_rstd = rstd * (of_var + U * eps) / (var + eps) + 3 * U * rstd
        of_normalized = of_centered * rstd[:, None] + np.abs(centered) * of_rstd[:, None] + U * np.abs(normalized)
        of_band = of_std * rstd + std * of_rstd + U * band
        of_out = (of_normalized + 2 * U * np.abs(normalized)) * np.abs(gamma) + U * np.abs(beta) + U * np.abs(out)
        return {
            "ln.mean": of_mean,
            "ln.centered": of_centered,
            "ln.var": of_var,
            "ln.std": of_std,
            "ln.rstd": of_rstd,
            "ln.normalized": of_normalized,
            "ln.normalized_std": of_band,
            "ln.out": of_out,
        }

    @cached_property
    def _attention(self) -> dict[str, Array]:
        """The bounds of attn.* and attn_out, for all tokens: each attends to all."""
        trace, weights = self._trace, self._trace.example.attention
        assert isinstance(weights, Weights)
        source = trace[trace["attn.q"].inputs[0]].value
        of_source = U * np.abs(source)
        if trace.example.norm == "pre":
            of_source = self._layer_norm(slice(None), U * np.abs(trace["resid_pre"].value))["ln.out"]
        features = source.shape[-1]

        def product(a: Array, of_a: Array, b: Array, of_b: Array) -> Array:
            """The bound for a @ b."""
            a, b = np.abs(a), np.abs(b)
            return np.asarray(of_a @ b + a @ of_b + a.shape[-1] * U * (a @ b))

        def heads(bound: Array) -> Array:
            return bound.reshape(len(bound), weights.heads, -1).transpose(1, 0, 2)

        q, k, v, pattern = (trace[f"attn.{name}"].value for name in ("q", "k", "v", "pattern"))
        of_q, of_k, of_v = (heads(product(source, of_source, w, U * np.abs(w))) for w in (weights.w_q, weights.w_k, weights.w_v))
        of_scores = product(q, of_q, k.transpose(0, 2, 1), of_k.transpose(0, 2, 1)) / math.sqrt(q.shape[-1])
        # exp turns an absolute error of its argument into a relative one; numerator and sum each carry the largest.
        relative = 2 * of_scores.max(axis=-1, keepdims=True) + (pattern.shape[-1] + 8) * U
        of_pattern = relative * pattern
        of_mixed = product(pattern, of_pattern, v, of_v)
        mixed = (pattern @ np.abs(v)).transpose(1, 0, 2).reshape(source.shape)
        of_mixed = of_mixed.transpose(1, 0, 2).reshape(len(source), features)
        of_out = product(mixed, of_mixed, weights.w_o, U * np.abs(weights.w_o))
        return {"attn.q": of_q, "attn.k": of_k, "attn.v": of_v, "attn.pattern": of_pattern, "attn_out": of_out}
