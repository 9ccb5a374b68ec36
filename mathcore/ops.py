"""The mathematics of Add & Norm: arrays in, arrays out, float64 throughout.

Shapes: T tokens, D features, H heads of width d = D / H. A token is a row; matrices act from the right.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from addnorm.mathcore.errors import AddnormError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class Attention(NamedTuple):
    """The steps of multi-head attention: q, k and v (H, T, d), pattern (H, T, T), out (T, D)."""

    q: Array
    k: Array
    v: Array
    pattern: Array
    out: Array


class LayerNorm(NamedTuple):
    """The steps of LayerNorm: centered, normalized and out (T, D), the others one number a token (T,)."""

    mean: Array
    centered: Array
    var: Array
    std: Array
    rstd: Array
    normalized: Array
    normalized_std: Array
    out: Array


def softmax(scores: Array) -> Array:
    """exp(s) / Σ exp(s) along the last axis. The row's maximum is taken off first: exp cannot overflow."""
    weights: Array = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights


def split_heads(x: Array, heads: int) -> Array:
    """(T, D) cut along the features into H heads of width d: (H, T, d)."""
    tokens, features = x.shape
    return x.reshape(tokens, heads, features // heads).transpose(1, 0, 2)


def join_heads(x: Array) -> Array:
    """(H, T, d) laid side by side: (T, D). The inverse of split_heads."""
    heads, tokens, width = x.shape
    return x.transpose(1, 0, 2).reshape(tokens, heads * width)


def attention_scores(q: Array, k: Array) -> Array:
    """q kᵀ / √d in each head, (H, T, T): how much each token asks of each other."""
    scores: Array = q @ k.transpose(0, 2, 1)
    scores /= math.sqrt(q.shape[-1])
    return scores


def hide_later_tokens(scores: Array) -> Array:
    """The causal mask: −∞ above the diagonal, where a token would look at a later one."""
    return np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)


def multi_head_attention(
    x: Array, w_q: Array, w_k: Array, w_v: Array, w_o: Array, heads: int, *, causal: bool
) -> Attention:
    """Concat(head₁, …, head_H) W_O, where head_h = softmax(q kᵀ / √d) v.

    Vaswani et al. 2017, "Attention Is All You Need", eq. 1 and section 3.2.2. Each W is (D, D); the heads
    lie side by side in the columns of x W_Q, x W_K and x W_V.
    """
    q, k, v = split_heads(x @ w_q, heads), split_heads(x @ w_k, heads), split_heads(x @ w_v, heads)
    scores = attention_scores(q, k)
    pattern = softmax(hide_later_tokens(scores) if causal else scores)
    return Attention(q, k, v, pattern, join_heads(pattern @ v) @ w_o)


def residual_add(x: Array, update: Array) -> Array:
    """x + Δ, (T, D); nothing is broadcast. He et al. 2016, "Deep Residual Learning", eq. 1."""
    if x.shape != update.shape:
        raise AddnormError(f"x {x.shape} + Δ {update.shape}: both must be the same tokens × features")
    return x + update


def layer_norm(r: Array, gamma: Array, beta: Array, eps: float) -> LayerNorm:
    """γ ⊙ (r − μ) / √(σ² + ε) + β, each token by itself over its D features.

    Ba, Kiros and Hinton 2016, "Layer Normalization", eq. 3 and 4, with ε inside the root. σ² is biased
    (divided by D) and computed in two passes, after the mean. Distances are taken from the row's first
    feature: so a large mean costs no digits, and a constant row has a variance of exactly 0.

    ``std`` is √σ², without ε; ``rstd`` is 1 / √(σ² + ε); their product ``normalized_std`` is what a
    distance of one σ becomes in the normalized row, just under 1.
    """
    first = r[:, :1]
    centered = r - first
    offset = centered.mean(axis=-1, keepdims=True)  # μ − r₁
    centered -= offset  # (r − r₁) − (μ − r₁) = r − μ
    mean = (first + offset)[:, 0]
    var = np.einsum("td,td->t", centered, centered) / r.shape[-1]
    std = np.sqrt(var)
    rstd = 1 / np.sqrt(var + eps)
    normalized = centered * rstd[:, None]
    out = normalized * gamma
    out += beta
    return LayerNorm(mean, centered, var, std, rstd, normalized, std * rstd, out)
