"""What ``addnorm values`` prints: the numbers of a trace and the labels of every state, as tables or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from addnorm.mathcore.labels import Label
from addnorm.mathcore.trace import Activation, Trace, trace_json
from addnorm.scenes.storyboard import Storyboard, elide_middle

# What does not fit on a page is for the JSON.
MOST_COLUMNS, SHOWN_COLUMNS = 6, 5
MOST_TOKENS = 8


def values_json(trace: Trace, board: Storyboard) -> dict[str, Any]:
    """The example, its activations in full precision, and the labels of each state, as plain data."""
    return {
        "example": trace.example.canonical(),
        "activations": trace_json(trace),
        "states": {state.name: [_label_json(label) for label in state.labels] for state in board.states},
    }


def _label_json(label: Label) -> dict[str, Any]:
    return {"ref": label.ref, "text": label.text, "value": label.value, "decimals": label.decimals}


def values_tables(trace: Trace, board: Storyboard) -> str:
    """The same as two aligned tables; of large arrays the followed token's rows and the outer columns."""
    computed = [row for activation in trace.values() for row in _activation_rows(activation, trace)]
    shown = [row for state in board.states for row in _label_rows(state.name, state.labels)]
    return "\n".join(
        (
            _about(trace),
            "",
            *_aligned(("value of", "computed by", "", "numbers"), computed),
            "",
            *_aligned(("state", "number", "on screen", "value"), shown),
        )
    )


def _about(trace: Trace) -> str:
    example = trace.example
    sizes = f"{_counted(example.n_tokens, 'token')} of {_counted(example.n_features, 'feature')}"
    heads = "attention output given" if example.n_heads is None else _counted(example.n_heads, "head")
    mask = "causal mask" if example.mask == "causal" else "no mask"
    followed = f"token {example.followed + 1} is followed"
    return f"{example.id}: {sizes}, {heads}, {mask}, {example.norm}-norm; {followed}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _activation_rows(activation: Activation, trace: Trace) -> Iterator[tuple[str, ...]]:
    """A line for each row of an array: its name, its operation, the index of the row, and its numbers."""
    how = f"{activation.op} {', '.join(activation.inputs)}".strip()
    array = np.atleast_1d(activation.value)
    columns = elide_middle(array.shape[-1], MOST_COLUMNS, SHOWN_COLUMNS)
    texts = {row: [_shortest(array[row][n]) for n in columns.shown] for row in _rows(activation, trace)}
    width = max(len(text) for row in texts.values() for text in row)
    name = activation.name
    for row, numbers in texts.items():
        cells = [number.rjust(width) for number in numbers]
        if columns.hidden:
            cells.insert(columns.gap, "…")
        index = f"[{','.join(map(str, (*row, '*')))}]" if activation.axes else ""
        yield name, how, index, "  ".join(cells)
        name = how = ""


def _rows(activation: Activation, trace: Trace) -> list[tuple[int, ...]]:
    """The indices of an array's rows; in a long example those of the followed token."""
    leading = activation.axes[:-1]
    example = trace.example
    rows = [*np.ndindex(activation.value.shape[: len(leading)])]
    if "token" not in leading or example.n_tokens <= MOST_TOKENS:
        return rows
    axis = leading.index("token")
    return [row for row in rows if row[axis] == example.followed]


def _label_rows(state: str, labels: Sequence[Label]) -> Iterator[tuple[str, ...]]:
    if not labels:
        yield state, "symbols only", "", ""
    for label in labels:
        yield state, label.ref, label.text, _shortest(label.value)
        state = ""


def _shortest(number: float) -> str:
    """All digits that float64 tells apart."""
    return repr(float(number)).removesuffix(".0")


def _aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(cell) for cell in column) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
