"""How many places a reader needs to recompute the printed statistics and outputs by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal, localcontext

from addnorm.mathcore.errors import ExampleError
from addnorm.mathcore.labels import Label, NumberStyle, detail_style, label
from addnorm.mathcore.trace import Trace

MOST_PLACES = 15  # float64 has no more to give
_BY_HAND = Context(prec=50, traps=[])  # what has no finite result is no number then, and equals none


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
    refs = [f"ln.mean[{followed}]", f"ln.var[{followed}]", *(f"ln.out[{followed},{i}]" for i in features)]
    printed = [label(trace, ref, style) for ref in refs]
    gamma, beta = ([_read(label(trace, f"{name}[{i}]", style)) for i in features] for name in ("gamma", "beta"))
    eps = _read(label(trace, "eps", style))
    for places in _tried(trace):
        cells = (label(trace, f"{source}[{followed},{i}]", NumberStyle.detail(places)) for i in features)
        row = [_read(cell) for cell in cells]
        if _come_out(layer_norm_by_hand(row, gamma, beta, eps), printed):
            return places
    return None


@dataclass(frozen=True)
class SheetPlaces:
    """In how many places a sheet to recompute prints x and O (``given``), and their sum r (``total``)."""

    given: int
    total: int


@_while_digits_last()
def sheet_places(trace: Trace, followed: int, features: Sequence[int]) -> SheetPlaces | None:
    """The fewest places in which to print a token's x and O so that everything after them comes out by hand.

    As `recompute_places`, but the reader starts from x and O as `given_style` has them, and so with γ and β. r comes
    out in ``total`` places, the most with which it does: no more than ``given``, no fewer than the details have. Where
    ``features`` are not all there are, the reader has μ and σ² in ``given`` places too and computes those
    features. None if no number of places will do. For R44 both are seven.
    """
    for given in _tried(trace):
        total = _most_for_the_sum(trace, followed, features, given)
        if total is not None and _rest_comes_out(trace, followed, features, given):
            return SheetPlaces(given, total)
    return None


def given_style(trace: Trace, refs: Sequence[str], places: int) -> NumberStyle:
    """The style in which a sheet prints a row: as the example gives it, if that is all of it and takes no more places.

    Else it is rounded. A trained model's numbers are: float32's shortest digits stand for a number near them.
    """
    if trace[refs[0].partition("[")[0]].inputs:
        return NumberStyle.detail(places)
    as_given = [label(trace, ref, NumberStyle.parameter()) for ref in refs]
    fits = all(int(_read(each).as_tuple().exponent) >= -places for each in as_given)
    whole = all(float(each.ascii) == each.value for each in as_given)
    return NumberStyle.parameter() if fits and whole else NumberStyle.rounded(places)


def _tried(trace: Trace) -> range:
    return range(detail_style(trace.example).decimals, MOST_PLACES + 1)


def _most_for_the_sum(trace: Trace, followed: int, features: Sequence[int], given: int) -> int | None:
    """The most places of r in which the sum of the printed x and O comes out."""
    x, update = (_row(trace, f"{name}[{followed},{{}}]", features, given) for name in ("resid_pre", "attn_out"))
    with localcontext(_BY_HAND):
        sums = [a + b for a, b in zip(x, update, strict=True)]
    for total in reversed(range(detail_style(trace.example).decimals, given + 1)):
        printed = [label(trace, f"resid_mid[{followed},{i}]", NumberStyle.detail(total)) for i in features]
        if _come_out(sums, printed):
            return total
    return None


def _rest_comes_out(trace: Trace, followed: int, features: Sequence[int], given: int) -> bool:
    """Whether μ, σ² (where the whole row is there) and u come out of the printed numbers."""
    style = detail_style(trace.example)
    row = _row(trace, f"resid_pre[{followed},{{}}]", features, given)
    if trace.example.norm == "post":
        update = _row(trace, f"attn_out[{followed},{{}}]", features, given)
        with localcontext(_BY_HAND):
            row = [a + b for a, b in zip(row, update, strict=True)]
    gamma, beta = (_row(trace, f"{name}[{{}}]", features, given) for name in ("gamma", "beta"))
    eps = _read(label(trace, "eps", style))
    refs = f"ln.mean[{followed}]", f"ln.var[{followed}]"
    outputs = [label(trace, f"ln.out[{followed},{i}]", style) for i in features]
    if len(features) == trace.example.n_features:
        printed = [*(label(trace, ref, style) for ref in refs), *outputs]
        return _come_out(layer_norm_by_hand(row, gamma, beta, eps), printed)
    mean, var = (_read(label(trace, ref, NumberStyle.detail(given))) for ref in refs)
    return _come_out(normalized_by_hand(row, mean, var, gamma, beta, eps), outputs)


def layer_norm_by_hand(
    row: Sequence[Decimal], gamma: Sequence[Decimal], beta: Sequence[Decimal], eps: Decimal
) -> list[Decimal]:
    """μ, σ² and each u of one row, to fifty digits; as `normalized_by_hand`."""
    mean, var = statistics_by_hand(row)
    return [mean, var, *normalized_by_hand(row, mean, var, gamma, beta, eps)]


def statistics_by_hand(row: Sequence[Decimal]) -> tuple[Decimal, Decimal]:
    """μ and σ² of one row, to fifty digits."""
    with localcontext(_BY_HAND):
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
    """Each u of one row from its μ and σ², to fifty digits.

    Digits can be so few that they read as a constant row; where ε is zero too, no u is a finite number.
    """
    with localcontext(_BY_HAND):
        root = (var + eps).sqrt()
        return [g * (r - mean) / root + b for r, g, b in zip(row, gamma, beta, strict=True)]


def _come_out(computed: Iterable[Decimal], printed: Iterable[Label]) -> bool:
    """Whether numbers computed by hand, rounded as far as the printed ones are, read the same.

    Halves are rounded up by some readers and to even by others; both have to get what is printed.
    """
    return all(_reads(number, shown) for number, shown in zip(computed, printed, strict=True))


def _reads(number: Decimal, shown: Label) -> bool:
    text = _read(shown)
    last = -shown.decimals if shown.decimals is not None else text.adjusted() - shown.style.significant + 1
    with localcontext(_BY_HAND):
        place = Decimal((0, (1,), last))
        return all(number.quantize(place, rounding) == text for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN))


def _row(trace: Trace, ref: str, features: Sequence[int], given: int) -> list[Decimal]:
    """A row as a reader of a sheet takes it off the page; ``ref`` has braces for the feature."""
    refs = [ref.format(i) for i in features]
    style = given_style(trace, refs, given)
    return [_read(label(trace, each, style)) for each in refs]


def _read(shown: Label) -> Decimal:
    """A number as a reader takes it off the page."""
    return Decimal(shown.ascii)
