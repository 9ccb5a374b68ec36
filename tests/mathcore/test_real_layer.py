"""A real layer: the bundled minilm example against what the model's own framework computed in float32."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from addnorm.mathcore import load_example, run
from addnorm.mathcore.trace import Trace

ROOT = Path(__file__).parents[2]
TOLERANCE = 2e-5


@pytest.fixture(scope="module")
def trace() -> Trace:
    return run(load_example(ROOT / "assets" / "examples" / "minilm.toml"))


@pytest.fixture(scope="module")
def truth() -> NDArray[np.float32]:
    """u of all eight tokens, as the framework gave it."""
    u: NDArray[np.float32] = np.load(Path(__file__).parent / "data" / "minilm-out.npy")
    return u


def difference(u: NDArray[np.float64], truth: NDArray[np.float32]) -> float:
    return float(np.abs(u - truth).max())


def test_u_agrees_with_the_models_own_framework(trace: Trace, truth: NDArray[np.float32]) -> None:
    assert truth.shape == (8, 384)
    assert difference(trace["ln.out"].value, truth) < TOLERANCE


def test_wrong_formulas_do_not_agree(trace: Trace, truth: NDArray[np.float32]) -> None:
    """ε = 1e-5 in place of the model's 1e-12, n − 1 in place of n, and the normalized row without γ and β."""
    centered, var = trace["ln.centered"].value, trace["ln.var"].value[:, None]
    gamma, beta = trace.example.gamma, trace.example.beta
    another_eps = gamma * centered / np.sqrt(var + 1e-5) + beta
    unbiased = gamma * centered / np.sqrt(var * 384 / 383 + trace.example.eps) + beta
    for wrong in (another_eps, unbiased, trace["ln.normalized"].value):
        assert difference(wrong, truth) > TOLERANCE
