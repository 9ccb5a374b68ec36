"""The R44 film as data: one token, x kept, Δ added, LayerNorm over that row. Six states and a details panel.

Works for any example; what depends on its shape is asked of the trace. Post-norm order here:
b4 two paths, b5 which axis, b0 the two rows, b1 their sum, b2 its statistics, b3 the normalized row.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from addnorm.mathcore.errors import ExampleError, nearest
from addnorm.mathcore.labels import Label, detail_label, relation, stage_label
from addnorm.mathcore.symbols import layer_norm_formula
from addnorm.mathcore.trace import Trace
from addnorm.scenes.storyboard import (
    Element,
    Relation,
    State,
    Storyboard,
    Window,
    elide_middle,
    window_around,
)
from addnorm.scenes.text import is_constant, text_width, token_text

FILM = "r44"
NAMES = {
    "film": "R44",
    "previous": "R43",
    "residual_lecture": "2",
    "causal_page": "B01",
    "placement_page": "R49",
    "lab": "LAB 03",
    "lab_part": "F",
    "source_page": "M27",
}
STATES = ("b4", "b5", "b0", "b1", "b2", "b3")
CAUTIONS = tuple(f"{FILM}.cautions.{key}" for key in ("attention", "learned", "gradient", "training"))
POINTERS = tuple(f"{FILM}.pointers.{key}" for key in ("previous", "causal", "placement", "lab", "source"))

TOKEN_SLOTS = 5
ROW_SLOTS = 3
TOKENS_ROOM, TOKEN_EDGES = 80.0, 5.5

# How much fits into a row at the smallest font size, in widths of a digit.
ROWS = ("resid_pre", "attn_out", "resid_mid", "ln.out")
ROW_ROOM, CELL_EDGES, GAP_ROOM, MOST_CELLS, MOST_BESIDE_GAP = 40.0, 1.4, 14.0, 5, 3

# In a wide row's chart, what is cut: at most so many values, each so many times larger than the next one.
FEWEST_CUT, MOST_CUT, OUTLIER = 24, 2, 2.5


def feature_window(trace: Trace) -> Window:
    """The features whose numbers are shown on stage: all of them if they fit, else the first ones and the last."""
    example = trace.example
    tokens = window_around(example.n_tokens, example.followed, ROW_SLOTS)
    return _fitting(trace, [f"{quantity}[{token},{{}}]" for quantity in ROWS for token in tokens], stage_label)


def detail_window(trace: Trace) -> Window:
    """The features whose numbers the details show."""
    return _fitting(trace, [f"{quantity}[{trace.example.followed},{{}}]" for quantity in ROWS], detail_label)


def _fitting(trace: Trace, rows: list[str], write: Callable[[Trace, str], Label]) -> Window:
    """The widest window in which every number of some rows can be written."""
    total = trace.example.n_features
    candidates = {*range(min(total, MOST_CELLS)), total - 1}
    cell = CELL_EDGES + max(_digits(write(trace, row.format(n)).text) for row in rows for n in candidates)
    most = min(MOST_CELLS, int(ROW_ROOM / cell))
    return elide_middle(total, most, max(1, min(MOST_BESIDE_GAP, int((ROW_ROOM - GAP_ROOM) / cell))))


def _digits(text: str) -> float:
    """The width of a number in widths of a digit: a point takes half of one, raised digits two thirds."""
    return sum(0.5 if c == "." else 0.68 if c in "⁻⁰¹²³⁴⁵⁶⁷⁸⁹" else 1.0 for c in text)


def storyboard(trace: Trace) -> Storyboard:
    """The film's states for a trace."""
    for language, captions in trace.example.captions.items():
        for name in captions:
            if name not in STATES:
                raise ExampleError(
                    f"captions.{language}.{name}",
                    "no such state",
                    nearest(name, STATES),
                    trace.example.source,
                )
    builders = (_b4, _b5, _b0, _b1, _b2, _b3)
    passing = {"b3": normalized(trace)} if is_affine(trace) else {}
    states = tuple(
        State(name, builder(trace), passing.get(name, ())) for name, builder in zip(STATES, builders, strict=True)
    )
    return Storyboard(FILM, states, (State("details", _details(trace)),), CAUTIONS, POINTERS)


def _frame(state: str, *elements: Element) -> tuple[Element, ...]:
    return (
        Element("heading", "heading", words=(f"{FILM}.{state}.heading",)),
        Element("marker", "marker"),
        *elements,
        Element("caption", "caption", words=(f"{FILM}.{state}.caption",)),
    )


def _tokens(trace: Trace, most: int) -> tuple[Element, ...]:
    """The tokens shown, at most so many and no more than fit side by side, and where a long row goes on."""
    total, followed = trace.example.n_tokens, trace.example.followed
    widest = max(text_width(token_text(label)) for label in trace.example.tokens)
    shown = window_around(total, followed, max(1, min(most, int(TOKENS_ROOM / (widest + TOKEN_EDGES)))))
    ends = (("before", shown.start), ("after", total - shown.stop))
    tokens = tuple(
        Element("token", f"token.{token}", look="followed" if token == followed else "dimmed") for token in shown
    )
    return (*tokens, *(Element("more_tokens", f"more.{end}") for end, hidden in ends if hidden))


def _b4(trace: Trace) -> tuple[Element, ...]:
    return _frame(
        "b4",
        Element("reading", "reading", words=(f"{FILM}.b4.reading",)),
        *_tokens(trace, TOKEN_SLOTS),
        Element("input", "input"),
        Element("skip", "skip", words=(f"{FILM}.b4.skip",)),
        Element("attention", "attention", words=(f"{FILM}.attention",)),
        Element("junction", "junction"),
        Element("result", "result"),
    )


def _b5(trace: Trace) -> tuple[Element, ...]:
    followed = trace.example.followed
    rows = tuple(
        Element(
            "token_row",
            f"row.{token}",
            labels=_row(trace, "resid_mid", token),
            look="followed" if token == followed else "dimmed",
        )
        for token in window_around(trace.example.n_tokens, followed, ROW_SLOTS)
    )
    norms = tuple(
        Element(
            "layer_norm",
            f"norm.{token}",
            words=(f"{FILM}.layer_norm",),
            look="followed" if token == followed else "dimmed",
        )
        for token in window_around(trace.example.n_tokens, followed, ROW_SLOTS)
    )
    axis = () if trace.example.n_tokens == 1 else (Element("position_axis", "axis", words=(f"{FILM}.b5.axis",)),)
    return _frame(
        "b5",
        *_tokens(trace, ROW_SLOTS),
        *rows,
        Element("bracket", "bracket", words=(f"{FILM}.b5.bracket",)),
        *norms,
        *axis,
    )


def _b0(trace: Trace) -> tuple[Element, ...]:
    return _frame(
        "b0",
        _conventions(trace),
        Element("position", "position"),
        *_inputs(trace),
        Element("pending_sum", "junction", words=(f"{FILM}.b0.pending",)),
    )


def _b1(trace: Trace) -> tuple[Element, ...]:
    return _frame(
        "b1",
        _conventions(trace),
        Element("position", "position"),
        *_inputs(trace),
        _arithmetic(trace),
        _sum(trace),
        Element("done_sum", "junction"),
    )


def _b2(trace: Trace) -> tuple[Element, ...]:
    followed = trace.example.followed
    return _frame(
        "b2",
        _conventions(trace),
        *_inputs(trace),
        _sum(trace),
        Element("done_sum", "junction"),
        Element("circled", "circled"),
        Element("row_bracket", "bracket", words=(f"{FILM}.b2.bracket",)),
        _chart(trace, "resid_mid", (f"ln.mean[{followed}]", f"ln.std[{followed}]")),
        Element("spread", "spread", words=(f"{FILM}.b2.spread",)),
        *_statistics(trace),
    )


def _b3(trace: Trace) -> tuple[Element, ...]:
    followed = trace.example.followed
    band = () if is_affine(trace) else (f"ln.normalized_std[{followed}]",)
    return _frame(
        "b3",
        _conventions(trace),
        *_inputs(trace),
        _sum(trace),
        Element("done_sum", "junction"),
        _chart(trace, "ln.out", band),
        *_statistics(trace),
        Element("named_row", "row.ln.out", labels=_row(trace, "ln.out", followed), words=(f"{FILM}.row.out",)),
        Element("next", "next", words=(f"{FILM}.b3.next",)),
    )


def _conventions(trace: Trace) -> Element:
    example = trace.example
    shared = is_constant(example.gamma) and is_constant(example.beta)
    refs = ("eps", "gamma[*]", "beta[*]") if shared else ("eps",)
    labels = tuple(stage_label(trace, ref) for ref in refs)
    return Element("conventions", "conventions", labels=labels, words=(f"{FILM}.conventions",))


def _inputs(trace: Trace) -> tuple[Element, ...]:
    followed = trace.example.followed
    return (
        Element(
            "named_row",
            "row.attn_out",
            labels=_row(trace, "attn_out", followed),
            words=(f"{FILM}.row.update",),
        ),
        Element(
            "named_row",
            "row.resid_pre",
            labels=_row(trace, "resid_pre", followed),
            words=(f"{FILM}.row.input",),
        ),
    )


def _sum(trace: Trace) -> Element:
    labels = _row(trace, "resid_mid", trace.example.followed)
    return Element("named_row", "row.resid_mid", labels=labels, words=(f"{FILM}.row.sum",))


def _arithmetic(trace: Trace) -> Element:
    rows = (_row(trace, quantity, trace.example.followed) for quantity in ("resid_pre", "attn_out", "resid_mid"))
    relations = tuple(
        Relation((x, update), relation((x, update), total), total) for x, update, total in zip(*rows, strict=True)
    )
    return Element("sums", "sums", relations=relations)


def _statistics(trace: Trace) -> tuple[Element, ...]:
    followed = trace.example.followed
    return (
        Element("statistic", "mean", labels=(stage_label(trace, f"ln.mean[{followed}]"),)),
        Element("statistic", "variance", labels=(stage_label(trace, f"ln.var[{followed}]"),)),
        Element("formula", "formula", parts=layer_norm_formula(trace.example.norm).parts),
    )


def is_affine(trace: Trace) -> bool:
    """Whether γ and β do anything: whether u differs from the normalized row."""
    return bool((trace.example.gamma != 1).any() or (trace.example.beta != 0).any())


def normalized(trace: Trace) -> tuple[Element, ...]:
    """The row before γ and β and its chart, which b3 shows on the way to u where they do anything."""
    followed = trace.example.followed
    labels, lengths = _row(trace, "ln.normalized", followed), _refs(trace, "ln.normalized")
    cut = cut_labels(trace, "ln.normalized")
    return (
        Element("named_row", "row.ln.normalized", labels=labels, words=(f"{FILM}.row.normalized",)),
        Element("chart", "chart.normalized", cut, (*lengths, f"ln.normalized_std[{followed}]")),
    )


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


def _chart(trace: Trace, quantity: str, others: tuple[str, ...]) -> Element:
    lengths = (*_refs(trace, quantity), *others)
    return Element("chart", "chart", labels=cut_labels(trace, quantity), lengths=lengths)


def _row(trace: Trace, quantity: str, token: int) -> tuple[Label, ...]:
    return tuple(stage_label(trace, f"{quantity}[{token},{feature}]") for feature in feature_window(trace).shown)


def _refs(trace: Trace, quantity: str) -> tuple[str, ...]:
    followed = trace.example.followed
    return tuple(f"{quantity}[{followed},{feature}]" for feature in range(trace.example.n_features))


def _details(trace: Trace) -> tuple[Element, ...]:
    followed = trace.example.followed
    rows = tuple(
        Element(
            "detail_row",
            f"detail.{quantity}",
            labels=tuple(detail_label(trace, f"{quantity}[{followed},{n}]") for n in detail_window(trace).shown),
            words=(f"{FILM}.row.{words}",),
        )
        for quantity, words in (
            ("resid_pre", "input"),
            ("attn_out", "update"),
            ("resid_mid", "sum"),
            *((("ln.normalized", "normalized"),) if is_affine(trace) else ()),
            ("ln.out", "out"),
        )
    )
    return (
        Element("heading", "heading", words=(f"{FILM}.details.heading",)),
        *rows,
        *_statistics(trace),
        _conventions(trace),
        Element("recompute", "recompute", words=(f"{FILM}.details.recompute",)),
        *((Element("note", "note"),) if trace.example.note else ()),
    )
