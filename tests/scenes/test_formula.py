"""One formula, written three times: as text, for typesetting, and as code. All three compute the same."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from addnorm.mathcore import ops
from addnorm.mathcore.symbols import layer_norm_formula

Array = Any

RNG = np.random.default_rng(44)
R, GAMMA, BETA, EPS = RNG.normal(1, 2, (3, 5)), RNG.normal(size=5), RNG.normal(size=5), 0.1
STEPS = ops.layer_norm(R, GAMMA, BETA, EPS)
VALUES = {
    "r": R,
    "x": R,
    "mu": STEPS.mean[:, None],
    "var": STEPS.var[:, None],
    "epsilon": EPS,
    "gamma": GAMMA,
    "beta": BETA,
    "sqrt": np.sqrt,
}
TEXT = {"√": "sqrt", "σ²": "var", "γ": "gamma", "β": "beta", "μ": "mu", "ε": "epsilon", "⊙": "*", "−": "-"}


def of_text(formula: str) -> Array:
    """What the right side of a formula in plain text gives."""
    _, _, side = formula.partition(" = ")
    for sign, name in TEXT.items():
        side = side.replace(sign, name)
    return eval(side, {"__builtins__": {}}, VALUES)


def of_math(formula: str) -> Array:
    """What the right side of a formula in Typst's notation gives."""
    formula = unwrapped(unwrapped(formula, "atom", drop=1), "display")
    _, _, side = formula.partition(" = ")
    side = side.replace("sigma^2", "var").replace("dot.o", "*")
    while match := re.search(r"\bfrac\(", side):
        over, under, end = arguments(side, match.end())
        side = f"{side[: match.start()]}(({over}) / ({under})){side[end:]}"
    return eval(side, {"__builtins__": {}}, VALUES)


def arguments(text: str, start: int) -> tuple[str, str, int]:
    """The two arguments of a call whose bracket opens just before ``start``, and where the call ends."""
    depth, comma = 1, 0
    for n in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[n], 0)
        if depth == 1 and text[n] == "," and not comma:
            comma = n
        if depth == 0:
            return text[start:comma], text[comma + 1 : n], n + 1
    raise AssertionError(text)


def unwrapped(text: str, call: str, drop: int = 0) -> str:
    """A formula without the calls of a function; ``drop`` leading arguments go with it."""
    while match := re.search(rf"\b{call}\(", text):
        depth, n = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[n], 0)
            n += 1
        inner = text[match.end() : n - 1].split(",", drop)[-1]
        text = f"{text[: match.start()]}{inner}{text[n:]}"
    return text


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_text_and_typeset_formula_compute_what_the_code_does(norm: str) -> None:
    formula = layer_norm_formula(norm)
    assert np.abs(of_text(formula.text) - STEPS.out).max() < 1e-12
    assert np.abs(of_math(formula.math) - STEPS.out).max() < 1e-12


@pytest.mark.parametrize(
    "wrong",
    [
        "LN(r) = γ ⊙ (r − μ) / (√(σ²) + ε) + β",
        "LN(r) = γ ⊙ (r − μ) / (σ² + ε) + β",
        "LN(r) = γ ⊙ r / √(σ² + ε) + β",
        "LN(r) = γ ⊙ ((r − μ) / √(σ² + ε) + β)",
    ],
)
def test_another_formula_computes_something_else(wrong: str) -> None:
    assert np.abs(of_text(wrong) - STEPS.out).max() > 1e-3


def test_typeset_with_epsilon_outside_the_root_it_computes_something_else() -> None:
    math = layer_norm_formula("post").math
    inside, outside = "sqrt(atom(#6, sigma^2) atom(#7, + epsilon))", "sqrt(atom(#6, sigma^2)) atom(#7, + epsilon)"
    assert inside in math
    assert np.abs(of_math(math.replace(inside, outside)) - STEPS.out).max() > 1e-3


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_formula_names_the_row_that_is_normalized(norm: str) -> None:
    formula = layer_norm_formula(norm)
    letter, quantity = {"post": ("r", "resid_mid"), "pre": ("x", "resid_pre")}[norm]
    assert formula.text.startswith(f"LN({letter}) = ")
    assert {atom.quantity for atom in formula.atoms} == {None, quantity, "ln.mean", "ln.var"}
    assert [int(n) for n in sorted(re.findall(r"atom\(#(\d+)", formula.math), key=int)] == [*range(len(formula.atoms))]
