"""The trace against the same formulas written as plain loops, in floats and to fifty digits.

The loops share nothing with the core. They can also be told to get one thing wrong, as implementations do;
each wrong variant must then disagree, or the comparison would prove nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from addnorm.mathcore import Example, ExampleError, GivenOutput, Trace, Weights, detail_label, run, stage_label

Rows = list[list[Any]]


@dataclass(frozen=True)
class Loops:
    """Add & Norm one number at a time, over any kind of number. The flags are the mistakes it can make."""

    number: Callable[[float], Any] = float
    exp: Callable[[Any], Any] = math.exp
    sqrt: Callable[[Any], Any] = math.sqrt
    unbiased: bool = False  # divide by n − 1
    eps_outside: bool = False  # 1 / (√σ² + ε)
    over_tokens: bool = False  # one mean for each feature
    other_norm: bool = False  # post for pre, pre for post
    unscaled: bool = False  # q kᵀ without / √d
    other_mask: bool = False  # none for causal, causal for none

    def __call__(self, example: Example) -> dict[str, Any]:
        x = self._matrix(example.x)
        values: dict[str, Any] = {"resid_pre": x}
        if (example.norm == "post") != self.other_norm:
            values |= self._attention(example, x)
            values["resid_mid"] = self._sum(x, values["attn_out"])
            return values | self._layer_norm(example, values["resid_mid"])
        values |= self._layer_norm(example, x)
        values |= self._attention(example, values["ln.out"])
        return values | {"resid_mid": self._sum(x, values["attn_out"])}

    def _matrix(self, array: np.ndarray[Any, Any]) -> Rows:
        return [[self.number(entry) for entry in row] for row in array.tolist()]

    def _sum(self, a: Rows, b: Rows) -> Rows:
        return [[a[i][j] + b[i][j] for j in range(len(a[0]))] for i in range(len(a))]

    def _product(self, a: Rows, b: Rows) -> Rows:
        return [
            [sum(a[i][n] * b[n][j] for n in range(len(b))) for j in range(len(b[0]))] for i in range(len(a))
        ]

    def _attention(self, example: Example, source: Rows) -> dict[str, Any]:
        if isinstance(example.attention, GivenOutput):
            return {"attn_out": self._matrix(example.attention.output)}
        weights = example.attention
        tokens, width = len(source), len(source[0]) // weights.heads
        whole = {name: self._product(source, self._matrix(getattr(weights, f"w_{name}"))) for name in "qkv"}
        steps: dict[str, Any] = {f"attn.{name}": [] for name in (*whole, "pattern")}
        joined: Rows = [[] for _ in range(tokens)]
        for head in range(weights.heads):
            columns = range(head * width, (head + 1) * width)
            q, k, v = ([[row[c] for c in columns] for row in whole[name]] for name in "qkv")
            pattern = [self._pattern(example, i, q, k) for i in range(tokens)]
            for name, step in (("q", q), ("k", k), ("v", v), ("pattern", pattern)):
                steps[f"attn.{name}"].append(step)
            for i in range(tokens):
                joined[i] += [sum(pattern[i][j] * v[j][c] for j in range(tokens)) for c in range(width)]
        return {**steps, "attn_out": self._product(joined, self._matrix(weights.w_o))}

    def _pattern(self, example: Example, token: int, q: Rows, k: Rows) -> list[Any]:
        causal = (example.mask == "causal") != self.other_mask
        seen = range(token + 1) if causal else range(len(k))
        scores = [sum(a * b for a, b in zip(q[token], k[key], strict=True)) for key in seen]
        if not self.unscaled:
            scores = [score / self.sqrt(self.number(len(q[token]))) for score in scores]
        exponentials = [self.exp(score - max(scores)) for score in scores]
        shares = [e / sum(exponentials) for e in exponentials]
        return shares + [self.number(0)] * (len(k) - len(shares))

    def _layer_norm(self, example: Example, rows: Rows) -> dict[str, Any]:
        if self.over_tokens:
            columns = self._statistics(example, [list(column) for column in zip(*rows, strict=True)])
            columns["normalized"] = [list(column) for column in zip(*columns["normalized"], strict=True)]
            steps = columns
        else:
            steps = self._statistics(example, rows)
        gamma, beta = (
            [self.number(entry) for entry in array.tolist()] for array in (example.gamma, example.beta)
        )
        out = [[g * n + b for g, n, b in zip(gamma, row, beta, strict=True)] for row in steps["normalized"]]
        return {
            "ln.mean": steps["mean"],
            "ln.var": steps["var"],
            "ln.normalized": steps["normalized"],
            "ln.out": out,
        }

    def _statistics(self, example: Example, rows: Rows) -> dict[str, Any]:
        eps = self.number(example.eps)
        steps: dict[str, list[Any]] = {"mean": [], "var": [], "normalized": []}
        for row in rows:
            mean = sum(row) / len(row)
            squares = sum((entry - mean) ** 2 for entry in row)
            var = squares / (len(row) - 1 if self.unbiased else len(row))
            scale = self.sqrt(var) + eps if self.eps_outside else self.sqrt(var + eps)
            steps["mean"].append(mean)
            steps["var"].append(var)
            steps["normalized"].append([(entry - mean) / scale for entry in row])
        return steps


FLOATS = Loops()
DIGITS = Loops(mpmath.mpf, mpmath.exp, mpmath.sqrt)


def agree(trace: Trace, expected: dict[str, Any], tolerance: float = 1e-12) -> bool:
    """Whether the trace has every expected value to within the tolerance, relative where it is large."""
    assert expected
    for name, values in expected.items():
        found, wanted = trace[name].value, np.array(values, dtype=object).astype(float)
        if found.shape != wanted.shape:
            return False
        if not np.all(np.abs(found - wanted) <= tolerance * np.maximum(1, np.abs(wanted))):
            return False
    return True


def mistaken(mistake: str) -> Loops:
    """The loops with one of the mistakes."""
    flags: dict[str, Any] = {mistake: True}
    return replace(FLOATS, **flags)


def numbers(largest: float) -> st.SearchStrategy[float]:
    return st.floats(-largest, largest, allow_subnormal=False)


@st.composite
def examples(draw: st.DrawFn, largest: float = 2.0, smallest_eps: float = 1e-5) -> Example:
    """Any shape, γ, β, ε, placement, mask and kind of attention."""

    def array(*shape: int, of: float = largest) -> np.ndarray[Any, Any]:
        size = math.prod(shape)
        return np.array(draw(st.lists(numbers(of), min_size=size, max_size=size))).reshape(shape)

    tokens, heads, width = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    features = heads * width
    weights = Weights(heads, *(array(features, features, of=1.0) for _ in range(4)))
    attention: list[Weights | GivenOutput] = [weights, GivenOutput(array(tokens, features))]
    return Example(
        id="random",
        x=array(tokens, features),
        attention=draw(st.sampled_from(attention)),
        gamma=array(features),
        beta=array(features),
        eps=draw(st.floats(smallest_eps, 1.0)),
        norm=draw(st.sampled_from(["post", "pre"])),
        mask=draw(st.sampled_from(["none", "causal"])),
        followed=draw(st.integers(0, tokens - 1)),
    )


@given(examples())
def test_agrees_with_loops(example: Example) -> None:
    assert agree(run(example), FLOATS(example))


@given(examples())
def test_agrees_to_fifty_digits(example: Example) -> None:
    with mpmath.workdps(50):
        expected = DIGITS(example)
    assert agree(run(example), expected)


@given(examples(largest=100.0, smallest_eps=1e-12))
def test_noise_bounds_the_error(example: Example) -> None:
    """To within 1e-300, for there float64 loses digits outright."""
    with refused_is_skipped():
        trace = run(example)
    with mpmath.workdps(50):
        for name, values in DIGITS(example).items():
            for index, exact in np.ndenumerate(np.array(values, dtype=object)):
                error = abs(mpmath.mpf(float(trace[name].value[index])) - exact)
                slack = 1e-300 + 1e-48 * abs(exact)  # fifty digits are not exact either
                assert error <= trace.noise.of(name, index) + slack, (name, index)


@given(examples())
def test_noise_is_a_few_units_in_the_last_place_of_the_terms(example: Example) -> None:
    trace = run(example)
    for token in range(example.n_tokens):
        for feature in range(example.n_features):
            assert trace.noise.of("resid_mid", (token, feature)) < 1e-11
            assert trace.noise.of("ln.out", (token, feature)) < 1e-8


@st.composite
def lopsided(draw: st.DrawFn) -> Example:
    """Examples whose numbers differ by many orders of magnitude, so that float64 loses digits of the small ones."""
    example = draw(examples(largest=9.0, smallest_eps=0.0))
    powers = [10.0 ** draw(st.integers(-9, 9)) for _ in range(4)]
    x = example.x * powers[0] + powers[1]
    if isinstance(example.attention, GivenOutput):
        attention: Any = GivenOutput(example.attention.output * powers[2] + powers[3])
    else:
        attention = replace(example.attention, w_v=example.attention.w_v * powers[2])
    return replace(example, x=x, attention=attention, eps=draw(st.sampled_from([0.0, 1e-12, 1e-5, 1.0])))


STYLES = (stage_label, detail_label)


@given(st.one_of(examples(largest=100.0), lopsided()))
@settings(max_examples=120)
def test_every_digit_shown_is_the_exact_number_s(example: Example) -> None:
    """Rounded as shown; one unit beside it only where the tie between the two lies within the bound."""
    with refused_is_skipped():
        trace = run(example)
    with mpmath.workdps(60):
        for name, values in DIGITS(example).items():
            for index, exact in np.ndenumerate(np.array(values, dtype=object)):
                for labelled in STYLES if trace[name].inputs else ():
                    with suppress(ExampleError):
                        shown = labelled(trace, f"{name}[{','.join(map(str, index))}]")
                        assert rounds_to(exact, shown.ascii, trace.noise.of(name, index)), (shown, exact)


def rounds_to(exact: Any, text: str, noise: float) -> bool:
    """Whether a number rounds to the digits shown, or would with an error of at most ``noise``, and no more doubt."""
    shown = Decimal(text)
    exponent = shown.as_tuple().exponent
    assert isinstance(exponent, int)
    unit = mpmath.mpf(10) ** exponent
    return noise <= float(unit) / 2 * (1 + 1e-9) and bool(abs(mpmath.mpf(text) - exact) <= unit / 2 + noise + 1e-300)


@pytest.mark.parametrize(
    ("exact", "text", "noise", "right"),
    [
        ("1.2344", "1.234", 0.0, True),
        ("1.2346", "1.234", 0.0, False),
        ("1.2346", "1.234", 1e-4, True),
        ("1.2346", "1.234", 6e-4, False),
        ("-1.2344", "1.234", 0.0, False),
    ],
)
def test_a_wrong_digit_is_noticed(exact: str, text: str, noise: float, right: bool) -> None:
    assert rounds_to(mpmath.mpf(exact), text, noise) == right


@contextmanager
def refused_is_skipped() -> Iterator[None]:
    """A random row may be constant up to rounding, which a tiny ε does not help."""
    try:
        yield
    except ExampleError:
        assume(False)


GENERATOR = np.random.default_rng(20170612)


def _random_example(tokens: int, features: int, norm: Any, mask: Any) -> Example:
    """γ, β and ε far from 1, 0 and 0; as many heads as make a width of two."""
    x, w_q, w_k, w_v, w_o = (
        GENERATOR.normal(size=(rows, features)) for rows in (tokens, features, features, features, features)
    )
    gamma, beta = GENERATOR.normal(size=(2, features))
    weights = Weights(features // 2, w_q, w_k, w_v, w_o)
    return Example(
        id="random", x=x, attention=weights, gamma=gamma, beta=beta, eps=0.01, norm=norm, mask=mask
    )


MISTAKES = ("unbiased", "eps_outside", "over_tokens", "other_norm", "unscaled", "other_mask")


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("mask", ["none", "causal"])
@pytest.mark.parametrize("shape", [(3, 4), (4, 4), (5, 4), (2, 6)])
def test_every_known_mistake_is_noticed(shape: tuple[int, int], mask: str, norm: str, mistake: str) -> None:
    example = _random_example(*shape, norm, mask)
    trace = run(example)
    assert agree(trace, FLOATS(example))
    assert not agree(trace, mistaken(mistake)(example))


@pytest.mark.parametrize("mistake", MISTAKES)
def test_every_known_mistake_is_noticed_in_the_course_example(
    r44: Example, trace: Trace, mistake: str
) -> None:
    assert agree(trace, FLOATS(r44))
    assert not agree(trace, mistaken(mistake)(r44))


@pytest.mark.parametrize("mistake", ["eps_outside", "unbiased"])
def test_the_outcome_alone_shows_a_wrong_formula(trace: Trace, r44: Example, mistake: str) -> None:
    """Not only some step on the way: u itself differs by far more than the tolerance."""
    assert agree(trace, {"ln.out": FLOATS(r44)["ln.out"]})
    assert not agree(trace, {"ln.out": mistaken(mistake)(r44)["ln.out"]}, tolerance=1e-7)


def test_a_square_example_with_a_swapped_axis_is_noticed() -> None:
    example = _random_example(4, 4, "post", "none")
    trace = run(example)
    expected = FLOATS(example)
    swapped = [list(column) for column in zip(*expected["ln.out"], strict=True)]
    assert agree(trace, {"ln.out": expected["ln.out"]})
    assert not agree(trace, {"ln.out": swapped})


def test_comparing_nothing_is_no_agreement(trace: Trace) -> None:
    with pytest.raises(AssertionError):
        agree(trace, {})
