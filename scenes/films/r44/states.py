"""The R44 film as data: one token, x kept, Δ added, LayerNorm over that row. Six states and a details panel.

Works for any example; what depends on its shape is asked of the trace. In post-norm order, which stands here:
b4 two paths, b5 which axis, b0 the two rows, b1 their sum, b2 its statistics, b3 the normalized row.
In pre-norm b0 to b3 tell another story; they stand in ``pre_norm.states``.
"""

from __future__ import annotations

from addnorm.mathcore.labels import detail_label
from addnorm.mathcore.trace import Trace
from addnorm.scenes.films.r44.parts import (
    FILM,
    OWN_WORDS,
    ROW_SLOTS,
    ROWS,
    TOKEN_SLOTS,
    arithmetic,
    before_gain,
    conventions,
    detail_window,
    is_affine,
    measured_row,
    named_row,
    normalized_by,
    normalized_row,
    row_labels,
    shown_tokens,
    state,
    statistics,
)
from addnorm.scenes.films.r44.pre_norm import states as pre_norm
from addnorm.scenes.own_words import check_own_words
from addnorm.scenes.storyboard import Element, State, Storyboard, window_around
from addnorm.scenes.text import is_constant
from addnorm.scenes.typeset import advance
from addnorm.scenes.witness import asked

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


def storyboard(trace: Trace) -> Storyboard:
    """The film's states for a trace."""
    followed = pre_norm.FOLLOWED if trace.example.norm == "pre" else FOLLOWED
    builders = {"b4": _b4, "b5": _b5, **followed}
    states = tuple(builders[name](trace) for name in STATES)
    check_own_words(trace, {state.name: {label.ref for label in state.labels} for state in states}, OWN_WORDS)
    return Storyboard(FILM, states, (State("details", _details(trace)),), CAUTIONS, POINTERS)


@asked
def widest_number(trace: Trace, language: str) -> float:
    """The width in em of the widest number in the rows of all states: they share one size."""
    elements = (element for state in storyboard(trace).states for element in state.elements)
    return max(advance(label.text, language) for e in elements if "row" in e.kind for label in e.labels)


@asked
def row_names(trace: Trace) -> tuple[str, ...]:
    """The catalogue keys of the names of all rows: they share one size too."""
    elements = (element for state in storyboard(trace).states for element in state.elements)
    return tuple(sorted({key for e in elements if e.kind == "named_row" for key in e.words}))


def _b4(trace: Trace) -> State:
    norm = Element("norm", "norm", words=(f"{FILM}.layer_norm",))
    return state(
        "b4",
        Element("reading", "reading", words=(f"{FILM}.b4.reading",)),
        *shown_tokens(trace, TOKEN_SLOTS),
        Element("input", "input"),
        Element("skip", "skip", words=(f"{FILM}.b4.skip",)),
        *((norm,) if trace.example.norm == "pre" else ()),
        Element("attention", "attention", words=(f"{FILM}.attention",)),
        Element("junction", "junction"),
        Element("result", "result"),
    )


def _b5(trace: Trace) -> State:
    example = trace.example
    looks = {
        token: "followed" if token == example.followed else "dimmed"
        for token in window_around(example.n_tokens, example.followed, ROW_SLOTS)
    }
    rows = (
        Element("token_row", f"row.{token}", labels=row_labels(trace, normalized_by(trace), token), look=look)
        for token, look in looks.items()
    )
    norms = (
        Element("layer_norm", f"norm.{token}", words=(f"{FILM}.layer_norm",), look=look)
        for token, look in looks.items()
    )
    axis = Element("position_axis", "axis", words=(f"{FILM}.b5.axis",))
    return state(
        "b5",
        *shown_tokens(trace, ROW_SLOTS),
        *rows,
        Element("rows_name", "rows_name", words=(f"{FILM}.b5.rows",)),
        Element("bracket", "bracket", words=(f"{FILM}.b5.bracket",)),
        *norms,
        *((axis,) if example.n_tokens > 1 else ()),
    )


def _b0(trace: Trace) -> State:
    return state(
        "b0",
        conventions(trace),
        Element("position", "position"),
        named_row(trace, "attn_out"),
        named_row(trace, "resid_pre"),
        Element("pending_sum", "junction", words=(f"{FILM}.b0.pending",)),
    )


def _b1(trace: Trace) -> State:
    return state(
        "b1",
        conventions(trace),
        Element("position", "position"),
        named_row(trace, "attn_out"),
        named_row(trace, "resid_pre"),
        arithmetic(trace),
        named_row(trace, "resid_mid"),
        Element("done_sum", "junction"),
    )


def _b2(trace: Trace) -> State:
    return state(
        "b2",
        conventions(trace),
        named_row(trace, "attn_out"),
        named_row(trace, "resid_pre"),
        named_row(trace, "resid_mid"),
        Element("done_sum", "junction"),
        *measured_row(trace),
    )


def _b3(trace: Trace) -> State:
    return state(
        "b3",
        conventions(trace),
        named_row(trace, "attn_out"),
        named_row(trace, "resid_pre"),
        named_row(trace, "resid_mid"),
        Element("done_sum", "junction"),
        *normalized_row(trace),
        Element("next", "next", words=(f"{FILM}.b3.next",)),
        passing=before_gain(trace),
    )


FOLLOWED = {"b0": _b0, "b1": _b1, "b2": _b2, "b3": _b3}


def _details(trace: Trace) -> tuple[Element, ...]:
    followed = trace.example.followed
    normalized = (("ln.normalized",) if is_affine(trace) else ()) + ("ln.out",)
    added = ("attn_out", "resid_mid")
    order = (*normalized, *added) if trace.example.norm == "pre" else (*added, *normalized)
    rows = (
        Element(
            "detail_row",
            f"detail.{quantity}",
            labels=tuple(detail_label(trace, f"{quantity}[{followed},{n}]") for n in detail_window(trace).shown),
            words=(ROWS[quantity],),
        )
        for quantity in ("resid_pre", *order)
    )
    varying = (name for name in ("gamma", "beta") if not is_constant(getattr(trace.example, name)))
    parameters = (
        Element(
            "detail_row",
            f"detail.{name}",
            labels=tuple(detail_label(trace, f"{name}[{n}]") for n in detail_window(trace).shown),
            words=(f"{FILM}.row.{name}",),
        )
        for name in varying
    )
    recompute = "recompute_elided" if detail_window(trace).hidden else "recompute"
    return (
        Element("heading", "heading", words=(f"{FILM}.details.heading",)),
        *rows,
        *parameters,
        *statistics(trace),
        conventions(trace),
        Element("recompute", "recompute", words=(f"{FILM}.details.{recompute}",)),
        *((Element("note", "note"),) if trace.example.note else ()),
    )
