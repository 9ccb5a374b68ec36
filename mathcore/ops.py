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
    """Every step of multi-head attention: q, k, v (H, T, d), pattern (H, T, T) and out (T, D)."""

    q: Array
    k: Array
    v: Array
    pattern: Array
    out: Array


class LayerNorm(NamedTuple):
    """Every step of LayerNorm: one number a token (T,), or one a feature of each token (T, D)."""

    mean: Array
    centered: Array
    var: Array
    std: Array
    rstd: Array
    normalized: Array
    normalized_std: Array
    out: Array


def softmax(scores: Array) -> Array:
    """exp(s) / Σ exp(s) along the last axis; the row's maximum is subtracted first, so exp cannot overflow."""
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def split_heads(x: Array, w: Array, heads: int) -> Array:
    """x W, (T, D), cut along the features into H heads of width d: (H, T, d)."""
    tokens, features = x.shape
    return (x @ w).reshape(tokens, heads, features // heads).transpose(1, 0, 2)


def attention_scores(q: Array, k: Array) -> Array:
    """q kᵀ / √d of each head, (H, T, T): how much each token asks of each other."""
    return np.asarray(q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1]))


def causal(scores: Array) -> Array:
    """The scores with every later token out of sight: −∞ above the diagonal."""
    tokens = scores.shape[-1]
    return np.where(np.tri(tokens, dtype=bool), scores, -np.inf)


def multi_head_attention(
    x: Array, w_q: Array, w_k: Array, w_v: Array, w_o: Array, heads: int, mask: str
) -> Attention:
    """Concat(head₁, …, head_H) W_O with head_h = softmax(q kᵀ / √d) v.

    Vaswani et al. 2017, "Attention Is All You Need", eq. 1 and section 3.2.2. Each W is (D, D), and the heads
    lie side by side in its columns. ``mask`` is "none" or "causal".
    """
    q, k, v = (split_heads(x, w, heads) for w in (w_q, w_k, w_v))
    scores = attention_scores(q, k)
    pattern = softmax(causal(scores) if mask == "causal" else scores)
    concatenated = (pattern @ v).transpose(1, 0, 2).reshape(x.shape)
    return Attention(q, k, v, pattern, concatenated @ w_o)


def residual_add(x: Array, update: Array) -> Array:
    """x + Δ, feature by feature. He et al. 2016, "Deep Residual Learning", eq. 1. Nothing is broadcast."""
    if x.shape != update.shape:
        raise AddnormError(f"x {x.shape} + update {update.shape}: the shapes differ; give both as tokens × features")
    return x + update


def layer_norm(r: Array, gamma: Array, beta: Array, eps: float) -> LayerNorm:
    """γ ⊙ (r − μ) / √(σ² + ε) + β, each token by itself.

    Ba, Kiros and Hinton 2016, "Layer Normalization", eq. 3–4: μ is the mean of the token's D features and σ²
    their biased variance (divided by D), computed in two passes; ε stands inside the root. ``std`` is √σ²,
    without ε, and serves the ±σ band; ``rstd`` is 1 / √(σ² + ε). ``normalized_std`` is their product: the half
    width of that band after normalizing, just under 1.
    """
    features = r.shape[-1]
    mean = r.mean(axis=-1)
    centered = r - mean[:, None]
    var = np.einsum("td,td->t", centered, centered) / features
    std = np.sqrt(var)
    rstd = 1 / np.sqrt(var + eps)
    normalized = centered * rstd[:, None]
    out = normalized * gamma
    out += beta
    return LayerNorm(mean, centered, var, std, rstd, normalized, std * rstd, out)
