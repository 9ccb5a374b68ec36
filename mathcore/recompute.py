"""How many places a reader needs to recompute the printed statistics and outputs by hand."""

from __future__ import annotations

from decimal import Decimal, localcontext

from addnorm.mathcore.labels import NumberStyle, detail_style, format_number, label
from addnorm.mathcore.trace import Trace

MOST_PLACES = 15  # float64 has no more to give


def recompute_places(trace: Trace, followed: int) -> int | None:
    """The fewest places at which a token's row must be printed for its details to come out by hand.

    A reader takes the row that LayerNorm reads (r, or x in pre-norm) as printed at that many places, ε, γ and β as
    printed, and computes μ = mean(r), σ² = mean((r − μ)²) and u = γ (r − μ) / √(σ² + ε) + β, rounding only at the
    end. The answer is the smallest number of places, from those of the details up to 15, from which every printed digit of
    μ, σ² and u comes out; None if there is none, and then the page says ≈. For R44 it is seven.
    """
    example = trace.example
    style = detail_style(example)
    source = trace["ln.mean"].inputs[0]
    features = range(example.n_features)
    references = [f"ln.mean[{followed}]", f"ln.var[{followed}]", *(f"ln.out[{followed},{i}]" for i in features)]
    printed = [label(trace, reference, style) for reference in references]
    for places in range(style.decimals, MOST_PLACES + 1):
        row = [label(trace, f"{source}[{followed},{i}]", NumberStyle.detail(places)) for i in features]
        by_hand = _by_hand(trace, [Decimal(entry.ascii) for entry in row])
        if all(format_number(float(b), style) == p.text for b, p in zip(by_hand, printed, strict=True)):
            return places
    return None


def _by_hand(trace: Trace, row: list[Decimal]) -> list[Decimal]:
    """μ, σ² and u of a printed row, to fifty digits."""
    features = range(len(row))
    gamma, beta = ([Decimal(label(trace, f"{n}[{i}]", NumberStyle.parameter()).ascii) for i in features] for n in ("gamma", "beta"))
    eps = Decimal(label(trace, "eps", NumberStyle.parameter()).ascii)
    with localcontext(prec=50):
        mean = sum(row, Decimal()) / len(row)
        centered = [r - mean for r in row]
        var = sum((c * c for c in centered), Decimal()) / len(row)
        root = (var + eps).sqrt()
        return [mean, var, *(g * c / root + b for g, c, b in zip(gamma, centered, beta, strict=True))]
