"""What a reader is given, and what is to be worked out by hand: the numbers of a handout's recompute sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from addnorm.mathcore.labels import Label, NumberStyle, detail_style, label
from addnorm.mathcore.recompute import SheetPlaces, given_style, sheet_places
from addnorm.mathcore.symbols import Symbol, symbol
from addnorm.mathcore.trace import Trace
from addnorm.scenes.storyboard import Window, elide_middle
from addnorm.scenes.text import is_constant

MOST_FEATURES, SHOWN_FEATURES = 8, 6
"""A row of more features than that is worked out in part."""


@dataclass(frozen=True)
class Entry:
    """A quantity of the sheet: a row, with a label for each feature shown, or one number. ``given`` or asked for."""

    symbol: Symbol
    labels: tuple[Label, ...]
    given: bool


@dataclass(frozen=True)
class Worksheet:
    """``rows`` in the order of the computation; ``statistics`` are those of the row named ``source``.

    With ``places``, whoever takes the printed digits and rounds at the end gets every digit that is asked for; without,
    the last ones may differ. Of a row of many features only those in ``window`` are worked out, and the statistics
    of the whole row are given.
    """

    window: Window
    places: SheetPlaces | None
    parameters: tuple[Entry, ...]
    rows: tuple[Entry, ...]
    source: Symbol
    statistics: tuple[Entry, ...]


def worksheet(trace: Trace) -> Worksheet:
    """The sheet for the followed token: from x and O to r, μ, σ² and u; in pre-norm r comes last."""
    example = trace.example
    followed, answer = example.followed, detail_style(example)
    window = elide_middle(example.n_features, MOST_FEATURES, SHOWN_FEATURES)
    exact = sheet_places(trace, followed, window.shown)
    places = exact or SheetPlaces(answer.decimals, answer.decimals)

    def labels(refs: Sequence[str], style: NumberStyle) -> tuple[Label, ...]:
        return tuple(label(trace, ref, style) for ref in refs)

    def given(named: Symbol, refs: Sequence[str]) -> Entry:
        return Entry(named, labels(refs, given_style(trace, refs, places.given)), given=True)

    def row(quantity: str) -> list[str]:
        return [f"{quantity}[{followed},{n}]" for n in window.shown]

    def of_token(quantity: str) -> Symbol:
        return symbol(quantity, followed, example.norm)

    varying = [name for name in ("gamma", "beta") if not is_constant(trace[name].value)]
    parameters = (
        Entry(symbol("eps"), labels(["eps"], NumberStyle.parameter()), given=True),
        *(given(symbol(name), [f"{name}[*]"]) for name in ("gamma", "beta") if name not in varying),
    )
    x, update = (given(of_token(name), row(name)) for name in ("resid_pre", "attn_out"))
    total = Entry(of_token("resid_mid"), labels(row("resid_mid"), NumberStyle.detail(places.total)), given=False)
    affine = (given(symbol(name), [f"{name}[{n}]" for n in window.shown]) for name in varying)
    output = Entry(of_token("ln.out"), labels(row("ln.out"), answer), given=False)
    partial = bool(window.hidden)
    style = NumberStyle.detail(places.given) if partial else answer
    statistics = tuple(
        Entry(symbol(name), labels([f"{name}[{followed}]"], style), given=partial) for name in ("ln.mean", "ln.var")
    )
    pre = example.norm == "pre"
    rows = (x, *affine, output, update, total) if pre else (x, update, total, *affine, output)
    return Worksheet(window, exact, parameters, rows, (x if pre else total).symbol, statistics)
