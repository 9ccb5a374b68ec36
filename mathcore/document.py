"""An example as a document: the nested tables of the example file and of ``Example.canonical()``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from addnorm.mathcore.errors import ExampleError, counted, found_in, nearest, quoted
from addnorm.mathcore.example import (
    FLOATS,
    INTEGERS,
    MATRICES,
    MAX_FEATURES,
    MAX_TOKENS,
    Display,
    Example,
    GivenOutput,
    Weights,
)

if TYPE_CHECKING:
    from addnorm.mathcore.ops import Array

KEYS = (
    "id", "norm", "mask", "token", "tokens", "title", "note", "captions",
    "input", "attention", "layer_norm", "display", "dtypes",
)  # fmt: skip
MAX_FEATURES_WITH_WEIGHTS = 2048
LARGEST_WHOLE = 2**53  # beyond it, float64 skips whole numbers
MOST = {"token": MAX_TOKENS} | dict.fromkeys(("feature", "head", "row", "column"), MAX_FEATURES)


class Written(float):
    """A number with the digits it was written in. Made of text alone."""

    text: str

    def __new__(cls, text: str) -> Written:
        """The float64 nearest to the number that a text writes."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    @property
    def vanished(self) -> bool:
        """Whether it is zero where something else is written."""
        return float(self) == 0 and bool(self.text.lower().partition("e")[0].strip("+-0._"))


def example_from(document: Mapping[str, Any], source: str | None = None) -> Example:
    """The Example that a document describes: the inverse of ``Example.canonical()``.

    x, output, gamma, beta and eps may also be numpy arrays. Raises ExampleError, naming ``source``, for an
    unknown key, a missing field, a wrong type or a broken rule.
    """
    with found_in(source):
        top = Table(document, "", KEYS)
        attention = top.table("attention", ("heads", *MATRICES, "output"))
        layer_norm = top.table("layer_norm", ("eps", "gamma", "beta"))
        display = top.table("display", ("decimals", "statistics_decimals"))
        name = top.text("id")
        x = top.table("input", ("x",)).array("x", "token", "feature")
        features = x.shape[-1] if x.ndim else 0
        return Example(
            id=name,
            x=x,
            attention=_attention(attention, features),
            gamma=layer_norm.array("gamma", "feature") if "gamma" in layer_norm.data else np.ones(features),
            beta=layer_norm.array("beta", "feature") if "beta" in layer_norm.data else np.zeros(features),
            eps=layer_norm.number("eps", default=1e-5),
            norm=cast(Any, top.text("norm", default="post")),  # Example refuses what is neither of the two
            mask=cast(Any, top.text("mask", default="none")),
            followed=top.whole("token", default=1) - 1,
            tokens=top.texts("tokens"),
            display=Display(
                decimals=display.whole("decimals", default=3),
                statistics_decimals=display.whole("statistics_decimals", default=6),
            ),
            title=top.table("title").all_texts(),
            note=top.table("note").all_texts(),
            captions={
                language: states.all_texts() for language, states in top.table("captions").all_tables()
            },
            dtypes=top.table("dtypes").all_texts(),
            source=source,
        )


def _attention(table: Table, features: int) -> Weights | GivenOutput:
    weights = [key for key in ("heads", *MATRICES) if key in table.data]
    if "output" in table.data:
        if weights:
            found = f"{table.path(weights[0])} beside it"
            raise ExampleError(table.path("output"), found, "give the weights or the output, not both")
        return GivenOutput(table.array("output", "token", "feature"))
    if not weights:
        raise ExampleError(
            "attention", "missing", "heads, w_q, w_k, w_v and w_o, or the output itself as output"
        )
    if features > MAX_FEATURES_WITH_WEIGHTS:
        remedy = f"at most {MAX_FEATURES_WITH_WEIGHTS}; beyond it give the output itself as output"
        raise ExampleError("attention", f"weights for {features} features", remedy)
    heads = table.whole("heads")
    w_q, w_k, w_v, w_o = (_matrix(table, key, features, heads) for key in MATRICES)
    return Weights(heads, w_q, w_k, w_v, w_o)


def _matrix(table: Table, key: str, features: int, heads: int) -> Array:
    """A D × D matrix: "identity", written out, or (not w_o) a list of D × (D / heads), one for each head."""
    value = table.required(key)
    if value == "identity":
        return np.eye(features)
    if not isinstance(value, list):
        raise ExampleError(table.path(key), kind_of(value), f'{features} × {features} numbers, or "identity"')
    if key == "w_o" or not _is_list_of_matrices(value):
        return table.array(key, "row", "column")
    matrices = table.array(key, "head", "row", "column")
    if matrices.shape[:2] != (heads, features) or matrices.shape[2] * heads != features:
        remedy = f"{heads} matrices of {features} × ({features} / {heads}), or one of {features} × {features}"
        raise ExampleError(table.path(key), f"shape {matrices.shape}", remedy)
    return np.concatenate(list(matrices), axis=1)


def _is_list_of_matrices(value: list[Any]) -> bool:
    first_row = value[0] if value else None
    return isinstance(first_row, list) and bool(first_row) and isinstance(first_row[0], list)


class Table:
    """One table of a document. It refuses keys it does not know, and hands out its fields by type."""

    def __init__(self, data: object, name: str, keys: Collection[str] = ()) -> None:
        """Without ``keys``, any are allowed."""
        if not isinstance(data, Mapping):
            raise ExampleError(name or "example", kind_of(data), "a table")
        self.data = data
        self.name = name
        for key in data if keys else ():
            if key not in keys:
                raise ExampleError(self.path(str(key)), "unknown key", nearest(str(key), keys))

    def path(self, key: str) -> str:
        """The key with the table it stands in: ``input.x``."""
        return f"{self.name}.{key}" if self.name else key

    def required(self, key: str) -> Any:
        """Whatever stands under the key."""
        if key not in self.data:
            raise ExampleError(self.path(key), "missing", "this field is needed")
        return self.data[key]

    def table(self, key: str, keys: Collection[str] = ()) -> Table:
        """The table under the key; an empty one where it is left out."""
        return Table(self.data.get(key, {}), self.path(key), keys)

    def all_tables(self) -> list[tuple[str, Table]]:
        """Every key with its table."""
        return [(key, self.table(key)) for key in self.data]

    def all_texts(self) -> dict[str, str]:
        """Every key with its text."""
        return {key: self.text(key) for key in self.data}

    def text(self, key: str, default: str | None = None) -> str:
        """The text under the key."""
        value = self.required(key) if default is None else self.data.get(key, default)
        if not isinstance(value, str):
            raise ExampleError(self.path(key), kind_of(value), "a text in quotes")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """The list of texts under the key; empty where it is left out."""
        if key not in self.data:
            return ()
        value = self.data[key]
        if not isinstance(value, list):
            raise ExampleError(self.path(key), kind_of(value), "a list of texts")
        if not value:
            raise ExampleError(
                self.path(key), "an empty list", "leave it out, or give a label for each token"
            )
        if len(value) > MAX_TOKENS:
            raise ExampleError(self.path(key), kind_of(value), f"at most {MAX_TOKENS}")
        for item in value:
            if not isinstance(item, str):
                raise ExampleError(self.path(key), f"{kind_of(item)} in the list", "texts in quotes")
        return tuple(value)

    def whole(self, key: str, default: int | None = None) -> int:
        """The whole number under the key."""
        value = self.required(key) if default is None else self.data.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST_WHOLE:
            raise ExampleError(self.path(key), kind_of(value), "a whole number")
        return value

    def number(self, key: str, default: float) -> float:
        """The number under the key."""
        value = self.data.get(key, default)
        return (
            float(widened(value, self.path(key)))
            if isinstance(value, np.ndarray)
            else _number(value, self.path(key))
        )

    def array(self, key: str, *axes: str) -> Array:
        """The read-only float64 array under the key: an array, or lists of numbers, one level an axis."""
        value = self.required(key)
        if isinstance(value, np.ndarray):
            return widened(value, self.path(key))
        array = np.array(_nested(value, self.path(key), axes), dtype=np.float64)
        array.flags.writeable = False
        return array


def widened(array: np.ndarray[Any, Any], where: str) -> Array:
    """A stored array as read-only float64. Raises ExampleError where that does not hold its numbers."""
    if array.dtype.name not in (*FLOATS, *INTEGERS):
        raise ExampleError(
            where, f"an array of {array.dtype.name}", f"numbers: {', '.join(FLOATS)} or integers"
        )
    if (
        array.dtype.name in INTEGERS
        and array.size
        and max(int(array.max()), -int(array.min())) > LARGEST_WHOLE
    ):
        raise ExampleError(
            where, "an integer beyond 2^53, which float64 does not hold", "an array of float64"
        )
    wide: Array = array.astype(np.float64, copy=False)
    wide.flags.writeable = False
    return wide


def _nested(value: object, where: str, axes: Sequence[str], place: str = "") -> Any:
    """The value as lists of floats, nested as deep as there are axes, no list longer than its neighbour."""
    if not axes:
        return _number(value, where, place)
    if not isinstance(value, list):
        raise ExampleError(where, f"{kind_of(value)}{place}", f"a list with an entry for each {axes[0]}")
    if len(value) > (most := MOST[axes[0]]):
        raise ExampleError(where, f"{kind_of(value)}{place}", f"at most {most} {axes[0]}s")
    inside = f"{place}, {axes[0]}" if place else f" at {axes[0]}"
    rows = [
        _nested(item, where, axes[1:], f"{inside} {number}") for number, item in enumerate(value, start=1)
    ]
    for number, row in enumerate(rows, start=1) if len(axes) > 1 else ():
        if len(row) != len(rows[0]):
            found = f"{counted(len(row), 'entry', 'entries')}{inside} {number} but {len(rows[0])}{inside} 1"
            raise ExampleError(where, found, "equally many")
    return rows


def _number(value: object, where: str, place: str = "") -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ExampleError(where, f"{kind_of(value)}{place}", "a number")
    if isinstance(value, Written) and value.vanished:
        found = f"the number {value.text}{place}, which float64 does not tell from 0"
        raise ExampleError(where, found, "0, or at least 5e-324")
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        raise ExampleError(where, f"{kind_of(value)}{place}, beyond 2^53", "a float such as 1e16")
    return float(value)


def kind_of(value: object) -> str:
    """What a value is, in a few words, however large it is."""
    match value:
        case bool():
            return f"the boolean {str(value).lower()}"
        case int() if abs(value) > LARGEST_WHOLE:
            return f"a whole number of {value.bit_length()} bits"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {quoted(value)}"
        case list():
            return f"a list of {len(value)}"
        case Mapping():
            return "a table"
        case np.ndarray():
            return f"an array of {value.dtype.name}"
        case _:
            return f"a {type(value).__name__}"
