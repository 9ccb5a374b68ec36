"""What the states that follow one token show in pre-norm.

b0 x alone, b1 its statistics, b2 the normalized row, b3 attention's output and the sum.
"""

from __future__ import annotations

from addnorm.mathcore.trace import Trace
from addnorm.scenes.films.r44.parts import (
    FILM,
    arithmetic,
    before_gain,
    conventions,
    measured_row,
    named_row,
    normalized_row,
    state,
    statistics,
)
from addnorm.scenes.storyboard import Element, State

DIRECT_PATH = Element("direct_path", "junction", words=(f"{FILM}.b0.direct", f"{FILM}.b0.pending"))


def _b0(trace: Trace) -> State:
    return state(
        "b0",
        conventions(trace),
        Element("position", "position"),
        named_row(trace, "resid_pre"),
        DIRECT_PATH,
        Element("norm_copy", "copy", words=(f"{FILM}.b0.copy", f"{FILM}.layer_norm", f"{FILM}.attention")),
    )


def _b1(trace: Trace) -> State:
    return state("b1", conventions(trace), named_row(trace, "resid_pre"), DIRECT_PATH, *measured_row(trace))


def _b2(trace: Trace) -> State:
    return state(
        "b2",
        conventions(trace),
        named_row(trace, "resid_pre"),
        DIRECT_PATH,
        *normalized_row(trace),
        Element("next", "next", words=(f"{FILM}.attention",)),
        passing=before_gain(trace),
    )


def _b3(trace: Trace) -> State:
    return state(
        "b3",
        conventions(trace),
        named_row(trace, "ln.out"),
        *statistics(trace),
        Element("attention_bar", "attention", words=(f"{FILM}.b3.attention",)),
        named_row(trace, "attn_out"),
        named_row(trace, "resid_pre"),
        arithmetic(trace),
        named_row(trace, "resid_mid"),
        Element("done_sum", "junction"),
        Element("next_block", "next", words=(f"{FILM}.b3.next",)),
    )


FOLLOWED = {"b0": _b0, "b1": _b1, "b2": _b2, "b3": _b3}
