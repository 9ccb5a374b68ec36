"""How far float64 may be off: a bound on the rounding error of every computed value.

A number that is whole up to its bound is meant to be whole: O₁'s first feature is exactly 1, but a softmax
can sum to 0.9999999999999999.

The bounds follow the standard model of floating-point arithmetic (Higham 2002, "Accuracy and Stability of
Numerical Algorithms", sections 2.2 and 3.1), to first order: an operation is off by at most u = 2⁻⁵³ of its
result, a sum of n terms by at most n u of the sum of their magnitudes, and the errors of the operands are
carried along. What x + Δ loses is known exactly. So a sum's bound is a few units in the last place of its
terms, however small the sum itself.

The example's own numbers stand for decimals and may be off by u of themselves; whole numbers and those of few
bits, such as 0.25 or whatever was stored as float32, are meant as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from addnorm.mathcore.example import Example, Weights
from addnorm.mathcore.ops import join_heads, split_heads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from addnorm.mathcore.ops import Array

U = 2.0**-53
TINIEST = 2.0**-1074  # what a product may lose outright below the normal range
LARGEST_WHOLE = 2.0**53
SPARE_BITS = np.int64(2**20 - 1)  # of a decimal that float64 does not hold, all of them are 0 once in a million


class Noise:
    """The bounds for the values of one trace, worked out token by token when they are asked for."""

    def __init__(self, example: Example, values: Mapping[str, Array]) -> None:
        self._example = example
        self._values = values
        self._rows: dict[int, dict[str, Array]] = {}

    def of(self, name: str, index: tuple[int, ...]) -> float:
        """The bound for one value; zero for what the example gives, inf or nan where the bound overflows."""
        if name in ("resid_pre", "gamma", "beta", "eps") or (name == "attn_out" and not self._computed):
            return 0.0
        with np.errstate(all="ignore"):
            if name.startswith("attn."):
                return float(self._attention[name][index])
            token, *feature = index
            if token not in self._rows:
                self._rows[token] = self._of_rows(slice(token, token + 1))
        return float(self._rows[token][name][(0, *feature)])

    @property
    def _computed(self) -> bool:
        return isinstance(self._example.attention, Weights)

    def _of_rows(self, rows: slice) -> dict[str, Array]:
        """The bounds of attn_out, resid_mid and ln.* for some tokens."""
        x, update, r = (self._values[name][rows] for name in ("resid_pre", "attn_out", "resid_mid"))
        of_x = _of_given(x)
        of_update = self._attention["attn_out"][rows] if self._computed else _of_given(update)
        of_r = of_x + of_update + _lost(x, update, r)
        if self._example.norm == "pre":
            source, of_source, same = x, of_x, _like_the_first(x)
        else:
            source, of_source = r, of_r
            same = np.arange(r.shape[-1]) == 0 if self._computed else _like_the_first(x, update)
        of_norm = self._of_layer_norm(rows, source, of_source, same)
        return {"attn_out": of_update, "resid_mid": of_r, **of_norm}

    def _of_layer_norm(self, rows: slice, r: Array, of_r: Array, same: NDArray[np.bool_]) -> dict[str, Array]:
        """The bounds of ln.* for some tokens, given the rows it reads and theirs; see ops.layer_norm.

        ``same`` are the entries that equal their row's first one whatever the rounding.
        """
        centered, normalized, out = (
            self._values[f"ln.{name}"][rows] for name in ("centered", "normalized", "out")
        )
        var, std, rstd, band = (
            self._values[f"ln.{name}"][rows] for name in ("var", "std", "rstd", "normalized_std")
        )
        gamma, beta, eps = self._example.gamma, self._example.beta, self._example.eps
        n = r.shape[-1]
        shifted = r - r[:, :1]
        of_shifted = np.where(same, 0, of_r + of_r[:, :1] + _lost(r, -r[:, :1], shifted))
        of_offset = (of_shifted + n * U * np.abs(shifted)).mean(axis=-1, keepdims=True)
        of_centered = of_shifted + of_offset + U * np.abs(centered)
        of_mean = (of_r[:, :1] + of_offset)[:, 0] + U * np.abs(self._values["ln.mean"][rows])
        of_squares = (2 * np.abs(centered) + of_centered) * of_centered
        of_var = of_squares.mean(axis=-1) + (n + 2) * U * var + TINIEST
        of_std = np.where(of_var < var, of_var / np.maximum(std, TINIEST), np.sqrt(of_var)) + U * std
        doubt = (of_var + U * eps) / (var + eps)
        of_rstd = np.where(doubt < 0.5, rstd * doubt, np.inf) + 4 * U * rstd
        of_normalized = of_centered * (rstd + of_rstd)[:, None] + np.abs(centered) * of_rstd[:, None]
        of_normalized += U * np.abs(normalized)
        of_product = (of_normalized + 2 * U * np.abs(normalized)) * np.abs(gamma)
        return {
            "ln.mean": of_mean,
            "ln.centered": of_centered,
            "ln.var": of_var,
            "ln.std": of_std,
            "ln.rstd": of_rstd,
            "ln.normalized": of_normalized,
            "ln.normalized_std": of_std * rstd + std * of_rstd + U * band,
            "ln.out": of_product + U * np.abs(beta) + U * np.abs(out),
        }

    @cached_property
    def _attention(self) -> dict[str, Array]:
        """The bounds of attn.* and attn_out, for all tokens; see ops.multi_head_attention."""
        weights = self._example.attention
        assert isinstance(weights, Weights)
        source, of_source = self._source_of_attention()
        q, k, v, pattern = (self._values[f"attn.{name}"] for name in ("q", "k", "v", "pattern"))
        of_q, of_k, of_v = (
            split_heads(_of_product(source, of_source, w, _of_given(w)), weights.heads)
            for w in (weights.w_q, weights.w_k, weights.w_v)
        )
        of_scores = _of_product(q, of_q, k.transpose(0, 2, 1), of_k.transpose(0, 2, 1))
        of_scores += 4 * U * np.abs(q) @ np.abs(k).transpose(0, 2, 1)
        of_scores /= math.sqrt(q.shape[-1])
        # An absolute error of its argument is a relative one of exp; one in the numerator, one in the sum. A
        # share is off by no more than the others together are.
        rounding = (pattern.shape[-1] + 8) * U
        doubt = np.expm1(2 * of_scores.max(axis=-1, keepdims=True))
        of_pattern = np.minimum(pattern, 1 - pattern + rounding) * doubt + pattern * rounding
        mixed = join_heads(pattern @ np.abs(v))
        of_mixed = join_heads(_of_product(pattern, of_pattern, v, of_v))
        of_out = _of_product(mixed, of_mixed, weights.w_o, _of_given(weights.w_o))
        return {
            "attn.q": of_q,
            "attn.k": of_k,
            "attn.v": of_v,
            "attn.pattern": of_pattern,
            "attn_out": of_out,
        }

    def _source_of_attention(self) -> tuple[Array, Array]:
        """The rows that attention reads, and their bounds."""
        x = self._values["resid_pre"]
        of_x = _of_given(x)
        if self._example.norm == "post":
            return x, of_x
        return self._values["ln.out"], self._of_layer_norm(slice(None), x, of_x, _like_the_first(x))["ln.out"]


def _of_product(a: Array, of_a: Array, b: Array, of_b: Array) -> Array:
    """The bound for a @ b, given those of a and b."""
    magnitudes = np.abs(a) @ np.abs(b)
    bound: Array = of_a @ np.abs(b) + (np.abs(a) + of_a) @ of_b + a.shape[-1] * U * magnitudes
    return bound


def _of_given(array: Array) -> Array:
    """The bound for numbers of the example: how far the decimals they stand for may be."""
    whole = (array == np.rint(array)) & (np.abs(array) <= LARGEST_WHOLE)
    short = (array.view(np.int64) & SPARE_BITS) == 0
    return np.where(whole | short, 0, U * np.abs(array))


def _lost(a: Array, b: Array, total: Array) -> Array:
    """The rounding error of ``total``, which is a + b in float64: Knuth's two-sum (Higham 2002, section 4.3)."""
    rest = total - a
    return np.abs((a - (total - rest)) + (b - rest))


def _like_the_first(*terms: Array) -> NDArray[np.bool_]:
    """Where every term of a sum is that of the row's first entry."""
    alike: NDArray[np.bool_] = np.all([term == term[:, :1] for term in terms], axis=0)
    return alike
