"""What a reader is given, and what is to be worked out by hand: the numbers of a handout's recompute sheet."""

from __future__ import annotations

from dataclasses import dataclass

from addnorm.mathcore.labels import Label, NumberStyle, detail_style, label
from addnorm.mathcore.recompute import sheet_places
from addnorm.mathcore.symbols import Symbol, symbol
from addnorm.mathcore.trace import Trace
from addnorm.scenes.storyboard import Window, elide_middle
from addnorm.scenes.text import is_constant

MOST_FEATURES, SHOWN_FEATURES = 8, 6
"""A row of more features than that is shown in part."""


@dataclass(frozen=True)
class Row:
    """A quantity of the sheet: a row by features, or one number."""

    symbol: Symbol
    labels: tuple[Label, ...]
    vector: bool


@dataclass(frozen=True)
class Worksheet:
    """``given`` is printed; ``steps`` are to be filled in, in their order.

    Where ``exact``, whoever takes the printed digits and rounds at the end gets every digit of the answers. Of a
    row of many features only those in ``window`` are worked out, and the statistics of the whole row are given.
    """

    window: Window
    exact: bool
    given: tuple[Row, ...]
    steps: tuple[Row, ...]


def worksheet(trace: Trace) -> Worksheet:
    """The sheet for the followed token: r, μ, σ² and u; in pre-norm r comes last."""
    example = trace.example
    followed, window = example.followed, elide_middle(example.n_features, MOST_FEATURES, SHOWN_FEATURES)
    places = sheet_places(trace, followed, window.shown)
    answer = detail_style(example)
    printed = NumberStyle.detail(answer.decimals if places is None else places)

    def row(quantity: str, style: NumberStyle) -> Row:
        shown = tuple(label(trace, f"{quantity}[{followed},{n}]", style) for n in window.shown)
        return Row(symbol(quantity, followed, example.norm), shown, vector=True)

    def number(ref: str, style: NumberStyle) -> Row:
        return Row(symbol(ref.partition("[")[0]), (label(trace, ref, style),), vector=False)

    def parameter(name: str) -> Row:
        if is_constant(trace[name].value):
            return number(f"{name}[*]", NumberStyle.parameter())
        shown = tuple(label(trace, f"{name}[{n}]", NumberStyle.parameter()) for n in window.shown)
        return Row(symbol(name), shown, vector=True)

    refs = (f"ln.mean[{followed}]", f"ln.var[{followed}]")
    statistics = tuple(number(ref, printed if window.hidden else answer) for ref in refs)
    total, output = row("resid_mid", printed), row("ln.out", answer)
    computed = () if window.hidden else statistics
    given = (
        row("resid_pre", printed),
        row("attn_out", printed),
        number("eps", NumberStyle.parameter()),
        parameter("gamma"),
        parameter("beta"),
        *(statistics if window.hidden else ()),
    )
    steps = (*computed, output, total) if example.norm == "pre" else (total, *computed, output)
    return Worksheet(window, places is not None, given, steps)
