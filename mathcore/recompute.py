"""How many places a reader needs to recompute the printed statistics and outputs by hand."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext

from addnorm.mathcore.labels import NumberStyle, detail_style, format_number, label, shown_style
from addnorm.mathcore.trace import Trace

MOST_PLACES = 15  # float64 has no more to give


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


def layer_norm_by_hand(
    row: Sequence[Decimal], gamma: Sequence[Decimal], beta: Sequence[Decimal], eps: Decimal
) -> list[Decimal]:
    """μ, σ² and each u of one row, to fifty digits."""
    with localcontext(prec=50):
        mean = sum(row, Decimal()) / len(row)
        centered = [r - mean for r in row]
        var = sum((c * c for c in centered), Decimal()) / len(row)
        root = (var + eps).sqrt()
        return [mean, var, *(g * c / root + b for g, c, b in zip(gamma, centered, beta, strict=True))]


def _read(trace: Trace, name: str, style: NumberStyle) -> Decimal:
    """A number as a reader takes it off the page."""
    return Decimal(label(trace, name, style).ascii)
