"""How many places a reader needs to recompute the printed statistics and outputs by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal, localcontext

from addnorm.mathcore.errors import ExampleError
from addnorm.mathcore.labels import NumberStyle, detail_style, format_number, label, shown_style
from addnorm.mathcore.trace import Trace

MOST_PLACES = 15  # float64 has no more to give


@contextmanager
def _while_digits_last() -> Iterator[None]:
    """Where a number does not have two certain digits, the function around which this stands answers None."""
    with suppress(ExampleError):
        yield


@_while_digits_last()
def recompute_places(trace: Trace, followed: int) -> int | None:
    """The fewest places in which to print a token's row so that its details come out by hand.

    A reader takes the row that LayerNorm reads (r, in pre-norm x) as printed in that many places, and ε, γ
    and β as printed; computes μ = mean(r), σ² = mean((r − μ)²) and u = γ (r − μ) / √(σ² + ε) + β; and
    rounds at the end. The answer is the smallest number, from the places of the details up to 15, with
    which every printed digit of μ, σ² and u comes out. It is None if there is none; then the page has to
    say ≈. For R44 it is seven.
    """
    features = range(trace.example.n_features)
    style = detail_style(trace.example)
    source = trace["ln.mean"].inputs[0]
    names = [f"ln.mean[{followed}]", f"ln.var[{followed}]", *(f"ln.out[{followed},{i}]" for i in features)]
    printed = [(label(trace, name, style).text, shown_style(trace, name, style)) for name in names]
    gamma, beta = ([_read(trace, f"{name}[{i}]", style) for i in features] for name in ("gamma", "beta"))
    eps = _read(trace, "eps", style)
    for places in range(style.decimals, MOST_PLACES + 1):
        row = [_read(trace, f"{source}[{followed},{i}]", NumberStyle.detail(places)) for i in features]
        by_hand = layer_norm_by_hand(row, gamma, beta, eps)
        if all(
            format_number(float(number), s) == text
            for number, (text, s) in zip(by_hand, printed, strict=True)
        ):
            return places
    return None


@_while_digits_last()
def sheet_places(trace: Trace, followed: int, features: Sequence[int]) -> int | None:
    """The fewest places in which to print a token's x and O so that everything after them comes out by hand.

    As `recompute_places`, but the reader also adds x and O, whose sum r comes out in as many places. Where
    ``features`` are not all there are, the reader has μ and σ² in as many places too and computes those features.
    For R44 it is seven.
    """
    for places in range(detail_style(trace.example).decimals, MOST_PLACES + 1):
        if _sheet_comes_out(trace, followed, features, places):
            return places
    return None


def _sheet_comes_out(trace: Trace, followed: int, features: Sequence[int], places: int) -> bool:
    style, given = detail_style(trace.example), NumberStyle.detail(places)
    x, update = (
        [_read(trace, f"{name}[{followed},{i}]", given) for i in features] for name in ("resid_pre", "attn_out")
    )
    total = [a + b for a, b in zip(x, update, strict=True)]
    row = x if trace.example.norm == "pre" else total
    gamma, beta = ([_read(trace, f"{name}[{i}]", style) for i in features] for name in ("gamma", "beta"))
    eps = _read(trace, "eps", style)
    statistics = f"ln.mean[{followed}]", f"ln.var[{followed}]"
    whole = len(features) == trace.example.n_features
    mean, var = statistics_by_hand(row) if whole else (_read(trace, name, given) for name in statistics)
    outputs = normalized_by_hand(row, mean, var, gamma, beta, eps)
    computed = [(name, number, style) for name, number in zip(statistics, (mean, var), strict=True) if whole]
    for i, r, u in zip(features, total, outputs, strict=True):
        computed += [(f"resid_mid[{followed},{i}]", r, given), (f"ln.out[{followed},{i}]", u, style)]
    return all(
        format_number(float(number), shown_style(trace, name, asked)) == label(trace, name, asked).text
        for name, number, asked in computed
    )


def layer_norm_by_hand(
    row: Sequence[Decimal], gamma: Sequence[Decimal], beta: Sequence[Decimal], eps: Decimal
) -> list[Decimal]:
    """μ, σ² and each u of one row, to fifty digits."""
    mean, var = statistics_by_hand(row)
    return [mean, var, *normalized_by_hand(row, mean, var, gamma, beta, eps)]


def statistics_by_hand(row: Sequence[Decimal]) -> tuple[Decimal, Decimal]:
    """μ and σ² of one row, to fifty digits."""
    with localcontext(prec=50):
        mean = sum(row, Decimal()) / len(row)
        return mean, sum(((r - mean) ** 2 for r in row), Decimal()) / len(row)


def normalized_by_hand(
    row: Sequence[Decimal],
    mean: Decimal,
    var: Decimal,
    gamma: Sequence[Decimal],
    beta: Sequence[Decimal],
    eps: Decimal,
) -> list[Decimal]:
    """Each u of one row from its μ and σ², to fifty digits."""
    with localcontext(prec=50):
        root = (var + eps).sqrt()
        return [g * (r - mean) / root + b for r, g, b in zip(row, gamma, beta, strict=True)]


def _read(trace: Trace, name: str, style: NumberStyle) -> Decimal:
    """A number as a reader takes it off the page."""
    return Decimal(label(trace, name, style).ascii)
