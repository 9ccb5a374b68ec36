"""An example as a document: the nested tables of the example file, which are also what ``canonical()`` writes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from addnorm.mathcore.errors import ExampleError, nearest, shortened
from addnorm.mathcore.example import STORED_TYPES, Display, Example, GivenOutput, Weights

if TYPE_CHECKING:
    from addnorm.mathcore.ops import Array

TOP = ("id", "norm", "mask", "token", "tokens", "title", "captions", "input", "attention", "layer_norm", "display")
LARGEST_WHOLE = 2**53  # beyond it, float64 skips whole numbers


def example_from(document: Mapping[str, Any], source: str | None = None) -> Example:
    """The Example that a document describes; the inverse of ``Example.canonical()``.

    Strict: an unknown key, a missing field, a wrong type or a broken rule raises ExampleError, naming ``source``.
    """
    try:
        return _example(document, source)
    except ExampleError as error:
        raise error.within(source) from None


def _example(document: Mapping[str, Any], source: str | None) -> Example:
    top = Table(document, "", (*TOP, "dtypes"))
    layer_norm = top.table("layer_norm", ("eps", "gamma", "beta"))
    display = top.table("display", ("decimals", "statistics_decimals"))
    identity = top.text("id")
    x = top.table("input", ("x",)).array("x", "token", "feature")
    features = x.shape[-1]
    return Example(
        id=identity,
        x=x,
        attention=_attention(top.table("attention", ("heads", "w_q", "w_k", "w_v", "w_o", "output")), features),
        gamma=layer_norm.array("gamma", "feature", default=np.ones(features)),
        beta=layer_norm.array("beta", "feature", default=np.zeros(features)),
        eps=layer_norm.number("eps", 1e-5),
        norm=cast(Any, top.text("norm", "post")),  # Example refuses what is not one of the two
        mask=cast(Any, top.text("mask", "none")),
        followed=top.whole("token", 1) - 1,
        tokens=top.texts("tokens"),
        display=Display(display.whole("decimals", 3), display.whole("statistics_decimals", 6)),
        title=top.table("title").all_texts(),
        captions={language: states.all_texts() for language, states in top.table("captions").all_tables()},
        dtypes=top.table("dtypes").all_texts(),
        source=source,
    )


def _attention(table: Table, features: int) -> Weights | GivenOutput:
    matrices = ("w_q", "w_k", "w_v", "w_o")
    given = [name for name in ("heads", *matrices) if name in table.data]
    if "output" in table.data:
        if given:
            raise ExampleError(table.path(given[0]), "given beside attention.output", "keep the weights or the output")
        return GivenOutput(table.array("output", "token", "feature"))
    if not given:
        remedy = "give heads, w_q, w_k, w_v and w_o, or the output itself as output"
        raise ExampleError("attention", "neither weights nor output", remedy)
    heads = table.whole("heads")
    w_q, w_k, w_v, w_o = (_weights(table, name, features, heads) for name in matrices)
    return Weights(heads, w_q, w_k, w_v, w_o)


def _weights(table: Table, name: str, features: int, heads: int) -> Array:
    """One D × D matrix: written out, as "identity", or (but for w_o) as a list of each head's D × (D / heads)."""
    value = table.required(name)
    per_head = "" if name == "w_o" else ", or a list of matrices, one for each head"
    if value == "identity":
        return np.eye(features)
    if not isinstance(value, list):
        raise ExampleError(table.path(name), kind_of(value), f'a {features} × {features} matrix{per_head}, or "identity"')
    first_row = value[0] if value else None
    stacked = isinstance(first_row, list) and bool(first_row) and isinstance(first_row[0], list)
    if not stacked or name == "w_o":
        return table.array(name, "row", "column")
    matrices = table.array(name, "head", "row", "column")
    wanted = (heads, features, features // heads if heads > 0 else 0)
    if matrices.shape != wanted:
        remedy = f"shape {wanted}: {features} × (features / heads) for each head"
        raise ExampleError(table.path(name), f"shape {matrices.shape}", remedy)
    return np.concatenate(list(matrices), axis=1)


class Table:
    """One table of the document. Hands out its fields by type, and refuses keys it does not know."""

    def __init__(self, data: object, name: str, keys: Collection[str] | None = None) -> None:
        if not isinstance(data, Mapping):
            raise ExampleError(name or "example", kind_of(data), "a table")
        self.data = data
        self.name = name
        for key in data if keys is not None else ():
            if key not in keys:
                raise ExampleError(self.path(key), "unknown key", nearest(str(key), keys))

    def path(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else str(key)

    def required(self, key: str) -> Any:
        if key not in self.data:
            raise ExampleError(self.path(key), "missing", "this field is needed")
        return self.data[key]

    def table(self, key: str, keys: Collection[str] | None = None) -> Table:
        """The table under ``key``; an empty one where it is left out."""
        return Table(self.data.get(key, {}), self.path(key), keys)

    def all_tables(self) -> list[tuple[str, Table]]:
        return [(key, self.table(key)) for key in self.data]

    def all_texts(self) -> dict[str, str]:
        return {key: self.text(key) for key in self.data}

    def text(self, key: str, default: str | None = None) -> str:
        value = self.required(key) if default is None else self.data.get(key, default)
        if not isinstance(value, str):
            raise ExampleError(self.path(key), kind_of(value), 'a text in quotes, like "…"')
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            wrong = value if not isinstance(value, list) else next(i for i in value if not isinstance(i, str))
            raise ExampleError(self.path(key), kind_of(wrong), "a list of texts")
        return tuple(value)

    def whole(self, key: str, default: int | None = None) -> int:
        value = self.required(key) if default is None else self.data.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ExampleError(self.path(key), kind_of(value), "a whole number")
        if abs(value) > LARGEST_WHOLE:
            raise ExampleError(self.path(key), kind_of(value), "a small whole number")
        return value

    def number(self, key: str, default: float) -> float:
        return _number(self.data.get(key, default), self.path(key), "")

    def array(self, key: str, *axes: str, default: Array | None = None) -> Array:
        """The float64 array under ``key``: nested lists of numbers, one level an axis, or already an array."""
        if default is not None and key not in self.data:
            return default
        value = self.required(key)
        if isinstance(value, np.ndarray):
            return widened(value, self.path(key))
        array = np.array(_nested(value, self.path(key), axes, ""), dtype=np.float64)
        array.flags.writeable = False  # nobody else holds it, so the Example need not copy it
        return array


def widened(array: np.ndarray[Any, Any], field: str) -> Array:
    """A stored array as read-only float64. Raises ExampleError for any type that float64 does not hold exactly."""
    if array.dtype.name not in STORED_TYPES:
        raise ExampleError(field, f"an array of {array.dtype.name}", "numbers: float64, float32, float16 or integers")
    if array.dtype.kind in "iu" and array.size and max(abs(int(array.max())), abs(int(array.min()))) > LARGEST_WHOLE:
        raise ExampleError(field, "integers beyond 2^53, which float64 does not hold", "save the array as float64")
    wide = array.astype(np.float64, copy=False)
    wide.flags.writeable = False
    return wide


def _nested(value: object, field: str, axes: Sequence[str], place: str) -> Any:
    """Lists nested as deep as there are axes, every number a float and no row longer than another."""
    if not axes:
        return _number(value, field, place)
    if not isinstance(value, list):
        raise ExampleError(field, kind_of(value) + place, f"a list, one entry for each {axes[0]}")
    between = "," if place else " at"
    rows = [_nested(item, field, axes[1:], f"{place}{between} {axes[0]} {i}") for i, item in enumerate(value, start=1)]
    for number, row in enumerate(rows[1:] if len(axes) > 1 else (), start=2):
        if len(row) != len(rows[0]):
            found = f"{len(row)} entries{place}{between} {axes[0]} {number}, {len(rows[0])} at {axes[0]} 1"
            raise ExampleError(field, found, "as many in each")
    return rows


def _number(value: object, field: str, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ExampleError(field, kind_of(value) + place, "a number")
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        raise ExampleError(field, f"{kind_of(value)}{place}, beyond 2^53", "a float, such as 1e16")
    return float(value)


def kind_of(value: object) -> str:
    """What a value is, in a few words, however large it is."""
    match value:
        case bool():
            return f"the boolean {str(value).lower()}"
        case int():
            return f"the number {value}" if abs(value) <= LARGEST_WHOLE else f"a number of {value.bit_length()} bits"
        case float():
            return f"the number {value}"
        case str():
            return f"the text {shortened(value)}"
        case list() | tuple():
            return f"a list of {len(value)}"
        case Mapping():
            return "a table"
        case np.ndarray():
            return f"an array of {value.dtype.name}"
        case _:
            return f"a {type(value).__name__}"
