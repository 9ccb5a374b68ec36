"""What the states of the R44 film are made of, in post-norm and in pre-norm: rows, sums, chart, statistics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from addnorm.mathcore.labels import Label, detail_label, relation, stage_label
from addnorm.mathcore.symbols import layer_norm_formula
from addnorm.mathcore.trace import Trace
from addnorm.scenes.own_words import Room
from addnorm.scenes.storyboard import Element, Relation, State, Window, elide_middle, window_around
from addnorm.scenes.text import is_constant, text_width, token_text
from addnorm.scenes.witness import asked

FILM = "r44"

OWN_WORDS = Room(width=12.0, caption=2, note=3)

TOKEN_SLOTS = 5
ROW_SLOTS = 3
TOKENS_ROOM, TOKEN_EDGES = 80.0, 5.5

ROWS = {
    "resid_pre": f"{FILM}.row.input",
    "attn_out": f"{FILM}.row.update",
    "resid_mid": f"{FILM}.row.sum",
    "ln.normalized": f"{FILM}.row.normalized",
    "ln.out": f"{FILM}.row.out",
}
"""The rows of the followed token and what they are called."""

# How much fits into a row, on stage and in the wider columns of the details, at the smallest font size in widths of
# a digit.
MEASURED = ("resid_pre", "attn_out", "resid_mid", "ln.out")
ROW_ROOM, DETAIL_ROOM = 40.0, 41.4
CELL_EDGES, GAP_ROOM, MOST_CELLS, MOST_BESIDE_GAP = 1.6, 14.0, 5, 3

# In a wide row's chart, what is cut: at most so many values, each so many times larger than the next one.
FEWEST_CUT, MOST_CUT, OUTLIER = 24, 2, 2.0


@asked
def feature_window(trace: Trace) -> Window:
    """The features whose numbers are shown on stage: all of them if they fit, else the first ones and the last."""
    example = trace.example
    tokens = window_around(example.n_tokens, example.followed, ROW_SLOTS)
    rows = [f"{quantity}[{token},{{}}]" for quantity in MEASURED for token in tokens]
    return _fitting(trace, rows, stage_label, ROW_ROOM)


@asked
def detail_window(trace: Trace) -> Window:
    """The features whose numbers the details show."""
    rows = [f"{quantity}[{trace.example.followed},{{}}]" for quantity in MEASURED] + ["gamma[{}]", "beta[{}]"]
    return _fitting(trace, rows, detail_label, DETAIL_ROOM)


def _fitting(trace: Trace, rows: list[str], write: Callable[[Trace, str], Label], room: float) -> Window:
    """The widest window of a room in which every number of some rows can be written."""
    total = trace.example.n_features
    candidates = {*range(min(total, MOST_CELLS)), total - 1}
    cell = CELL_EDGES + max(_digits(write(trace, row.format(n)).text) for row in rows for n in candidates)
    most = min(MOST_CELLS, int(room / cell))
    return elide_middle(total, most, max(1, min(MOST_BESIDE_GAP, int((room - GAP_ROOM) / cell))))


def _digits(text: str) -> float:
    """The width of a number in widths of a digit: a point takes half of one, raised digits two thirds."""
    return sum(0.5 if c == "." else 0.68 if c in "⁻⁰¹²³⁴⁵⁶⁷⁸⁹" else 1.0 for c in text)


def state(name: str, *elements: Element, passing: tuple[Element, ...] = ()) -> State:
    """A state: its elements between its heading and its caption."""
    heading = Element("heading", "heading", words=(f"{FILM}.{name}.heading",))
    caption = Element("caption", "caption", words=(f"{FILM}.{name}.caption",))
    return State(name, (heading, Element("marker", "marker"), *elements, caption), passing)


def shown_tokens(trace: Trace, most: int) -> tuple[Element, ...]:
    """The tokens shown, at most so many and no more than fit side by side, and where a long row goes on."""
    total, followed = trace.example.n_tokens, trace.example.followed
    widest = max(text_width(token_text(label)) for label in trace.example.tokens)
    shown = window_around(total, followed, max(1, min(most, int(TOKENS_ROOM / (widest + TOKEN_EDGES)))))
    ends = (("before", shown.start), ("after", total - shown.stop))
    tokens = tuple(
        Element("token", f"token.{token}", look="followed" if token == followed else "dimmed") for token in shown
    )
    return (*tokens, *(Element("more_tokens", f"more.{end}") for end, hidden in ends if hidden))


def conventions(trace: Trace) -> Element:
    """ε, γ, β; each of the latter two only where it is one number."""
    example = trace.example
    constant = [name for name in ("gamma", "beta") if is_constant(getattr(example, name))]
    labels = tuple(stage_label(trace, ref) for ref in ("eps", *(f"{name}[*]" for name in constant)))
    return Element("conventions", "conventions", labels=labels, words=(f"{FILM}.conventions",))


def row_labels(trace: Trace, quantity: str, token: int) -> tuple[Label, ...]:
    """The numbers shown of one token's row."""
    return tuple(stage_label(trace, f"{quantity}[{token},{feature}]") for feature in feature_window(trace).shown)


def named_row(trace: Trace, quantity: str) -> Element:
    """A row of the followed token with its name."""
    labels = row_labels(trace, quantity, trace.example.followed)
    return Element("named_row", f"row.{quantity}", labels=labels, words=(ROWS[quantity],))


def arithmetic(trace: Trace) -> Element:
    """x + O = r, feature by feature."""
    rows = (row_labels(trace, quantity, trace.example.followed) for quantity in ("resid_pre", "attn_out", "resid_mid"))
    relations = tuple(
        Relation((x, update), relation((x, update), total), total) for x, update, total in zip(*rows, strict=True)
    )
    return Element("sums", "sums", relations=relations)


@asked
def normalized_by(trace: Trace) -> str:
    """The quantity whose rows LayerNorm reads: r in post-norm, x in pre-norm."""
    return trace["ln.mean"].inputs[0]


@asked
def is_affine(trace: Trace) -> bool:
    """Whether γ and β do anything: whether u differs from the normalized row."""
    return bool((trace.example.gamma != 1).any() or (trace.example.beta != 0).any())


def statistics(trace: Trace) -> tuple[Element, ...]:
    """μ and σ² of the followed row, and the formula they go into."""
    followed = trace.example.followed
    return (
        Element("statistic", "mean", labels=(stage_label(trace, f"ln.mean[{followed}]"),)),
        Element("statistic", "variance", labels=(stage_label(trace, f"ln.var[{followed}]"),)),
        Element("formula", "formula", parts=layer_norm_formula(trace.example.norm).parts),
    )


def measured_row(trace: Trace) -> tuple[Element, ...]:
    """The row that LayerNorm reads, singled out: its bars with μ and the band of one σ, and its statistics."""
    followed = trace.example.followed
    return (
        Element("circled", "circled"),
        Element("row_bracket", "bracket", words=(f"{FILM}.measured.bracket",)),
        _chart(trace, normalized_by(trace), (f"ln.mean[{followed}]", f"ln.std[{followed}]")),
        Element("spread", "spread", words=(f"{FILM}.measured.spread",)),
        *statistics(trace),
    )


def normalized_row(trace: Trace) -> tuple[Element, ...]:
    """What LayerNorm makes of that row: u as bars and as numbers, beside the statistics and the formula."""
    band = () if is_affine(trace) else (f"ln.normalized_std[{trace.example.followed}]",)
    spread = Element("spread", "spread.normalized", words=(f"{FILM}.normalized.spread",))
    chart = _chart(trace, "ln.out", band)
    return (chart, *((spread,) if band else ()), *statistics(trace), named_row(trace, "ln.out"))


def before_gain(trace: Trace) -> tuple[Element, ...]:
    """The row before γ and β with its chart, which passes on the way to u where they do anything."""
    if not is_affine(trace):
        return ()
    chart = _chart(trace, "ln.normalized", (f"ln.normalized_std[{trace.example.followed}]",))
    return (named_row(trace, "ln.normalized"), replace(chart, name="chart.normalized"))


def _chart(trace: Trace, quantity: str, others: tuple[str, ...]) -> Element:
    followed = trace.example.followed
    bars = tuple(f"{quantity}[{followed},{feature}]" for feature in range(trace.example.n_features))
    return Element("chart", "chart", labels=cut_labels(trace, quantity), lengths=(*bars, *others))


@asked
def cut_features(trace: Trace, quantity: str) -> tuple[int, ...]:
    """The features of the followed row whose bars are cut: in a wide row, those that stand far above all others.

    A value is cut if it is more than OUTLIER times as large as the next one in magnitude. Rows of few features
    show each number in full, so nothing is cut there.
    """
    row = np.abs(trace[quantity].value[trace.example.followed])
    if len(row) < FEWEST_CUT:
        return ()
    order = np.argsort(-row, kind="stable")
    steps = [n for n in range(min(MOST_CUT, len(row) - 1)) if row[order[n]] > OUTLIER * row[order[n + 1]]]
    return tuple(sorted(int(feature) for feature in order[: max(steps) + 1])) if steps else ()


def cut_labels(trace: Trace, quantity: str) -> tuple[Label, ...]:
    """The values of the bars that are cut."""
    followed = trace.example.followed
    return tuple(stage_label(trace, f"{quantity}[{followed},{feature}]") for feature in cut_features(trace, quantity))
