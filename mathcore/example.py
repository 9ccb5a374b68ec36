"""The example a film is made of: its tokens, its numbers, and the rules they keep.

An Example that exists is sound: each rule below is checked when it is made, and what breaks one is an ExampleError
that names the field as the example file does.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from addnorm.mathcore.errors import ExampleError, LabelError, nearest, shortened
from addnorm.mathcore.reference import AXES, Reference, caption_parts

if TYPE_CHECKING:
    from addnorm.mathcore.ops import Array

Norm = Literal["post", "pre"]
Mask = Literal["none", "causal"]

# What one example may hold. A 4096 × 4096 layer fits; beyond these a film could not show it.
MAX_TOKENS = 4096
MAX_FEATURES = 16384
MAX_FEATURES_WITH_WEIGHTS = 2048
MAX_PATTERN = 2**26  # entries of attn.pattern: heads × tokens × tokens
MAX_TOKEN_LENGTH = 200  # characters of a token's label
MAX_DECIMALS = 6
MAX_STATISTICS_DECIMALS = 9

STORED_TYPES = ("float16", "float32", "float64", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
_SAFE_ID = re.compile(r"\w(?:[\w.-]{0,62}\w)?")


@dataclass(frozen=True, eq=False)
class Weights:
    """Attention by its weights, each D × D and applied from the right; heads lie side by side in the columns."""

    heads: int
    w_q: Array
    w_k: Array
    w_v: Array
    w_o: Array


@dataclass(frozen=True, eq=False)
class GivenOutput:
    """Attention by its output, tokens × D, as another program computed it."""

    output: Array


@dataclass(frozen=True)
class Display:
    """How many decimal places numbers show: in rows, and in statistics and details."""

    decimals: int = 3
    statistics_decimals: int = 6


@dataclass(frozen=True, eq=False)
class Example:
    """One example: T tokens of D features through attention, residual and LayerNorm.

    ``followed`` counts from zero. Arrays are float64 and read-only; ``dtypes`` names, by activation, the type
    of those that were stored in another one. ``source`` is where it was read from, for messages alone.
    Raises ExampleError for whatever breaks a rule.
    """

    id: str
    x: Array
    attention: Weights | GivenOutput
    gamma: Array
    beta: Array
    eps: float = 1e-5
    norm: Norm = "post"
    mask: Mask = "none"
    followed: int = 0
    tokens: tuple[str, ...] = ()
    display: Display = Display()
    title: Mapping[str, str] = field(default_factory=dict)
    captions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    dtypes: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None

    def __post_init__(self) -> None:
        try:
            self._freeze()
            self._check_shapes()
            self._check_numbers()
            self._check_words()
        except ExampleError as error:
            raise error.within(self.source) from None

    # What it is

    @property
    def n_tokens(self) -> int:
        return int(self.x.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.x.shape[1])

    @property
    def n_heads(self) -> int | None:
        """How many heads attend; None where only their output is given."""
        return self.attention.heads if isinstance(self.attention, Weights) else None

    @property
    def dtype(self) -> str:
        """The type x was stored in."""
        return self.dtypes.get("resid_pre", "float64")

    def shape_of(self, name: str) -> tuple[int, ...]:
        """The shape of an activation of this example's trace. LabelError for one it does not have."""
        heads = self.n_heads
        if name not in AXES or (name.startswith("attn.") and heads is None):
            known = [n for n in AXES if heads or not n.startswith("attn.")]
            raise LabelError(f"{shortened(name)} is not in the trace of {self.id}; {nearest(name, known)}")
        width = self.n_features // (heads or 1) if name.startswith("attn.") else self.n_features
        sizes = {"token": self.n_tokens, "key": self.n_tokens, "head": heads or 0, "feature": width}
        return tuple(sizes[axis] for axis in AXES[name])

    # What it is made of

    def canonical(self) -> dict[str, Any]:
        """Plain JSON data, laid out as the example file, from which ``example_from`` makes an equal Example."""
        attention: dict[str, Any]
        if isinstance(self.attention, Weights):
            names = ("w_q", "w_k", "w_v", "w_o")
            attention = {"heads": self.attention.heads, **{n: getattr(self.attention, n).tolist() for n in names}}
        else:
            attention = {"output": self.attention.output.tolist()}
        return {
            "id": self.id,
            "norm": self.norm,
            "mask": self.mask,
            "token": self.followed + 1,
            "tokens": list(self.tokens),
            "title": dict(self.title),
            "captions": {language: dict(states) for language, states in self.captions.items()},
            "input": {"x": self.x.tolist()},
            "attention": attention,
            "layer_norm": {"eps": self.eps, "gamma": self.gamma.tolist(), "beta": self.beta.tolist()},
            "display": {
                "decimals": self.display.decimals,
                "statistics_decimals": self.display.statistics_decimals,
            },
            "dtypes": dict(self.dtypes),
        }

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical data as JSON with sorted keys, in hexadecimal."""
        import hashlib

        text = json.dumps(self.canonical(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Example) and self.canonical() == other.canonical()

    def __hash__(self) -> int:
        return hash(self.digest)

    # The rules it keeps

    def _freeze(self) -> None:
        def put(name: str, value: object, of: object = self) -> None:
            object.__setattr__(of, name, value)

        for name in ("x", "gamma", "beta"):
            put(name, _frozen(getattr(self, name)))
        for name in ("w_q", "w_k", "w_v", "w_o") if isinstance(self.attention, Weights) else ("output",):
            put(name, _frozen(getattr(self.attention, name)), of=self.attention)
        put("eps", float(self.eps))
        put("tokens", tuple(self.tokens) or tuple(f"token {i + 1}" for i in range(len(self.x))))

    def _check_shapes(self) -> None:
        if self.x.ndim != 2 or 0 in self.x.shape:
            raise ExampleError("input.x", _shape(self.x), "tokens × features, at least one of each")
        tokens, features = self.x.shape
        if tokens > MAX_TOKENS or features > MAX_FEATURES:
            limit = f"at most {MAX_TOKENS} tokens × {MAX_FEATURES} features"
            raise ExampleError("input.x", _shape(self.x), limit)
        for name in ("gamma", "beta"):
            array = getattr(self, name)
            if array.shape != (features,):
                remedy = f"shape ({features},), one number for each feature of x of {_shape(self.x)}"
                raise ExampleError(f"layer_norm.{name}", _shape(array), remedy)
        if isinstance(self.attention, Weights):
            self._check_weights(self.attention)
        elif self.attention.output.shape != self.x.shape:
            found = f"{_shape(self.attention.output)} beside x of {_shape(self.x)}"
            raise ExampleError("attention.output", found, "both must be the same tokens × features")
        if not 0 <= self.followed < tokens:
            raise ExampleError("token", f"token {self.followed + 1} of {tokens}", f"1 to {tokens}")
        if len(self.tokens) != tokens:
            raise ExampleError("tokens", f"{len(self.tokens)} labels for {tokens} tokens", "one label for each token")

    def _check_weights(self, weights: Weights) -> None:
        tokens, features = self.x.shape
        if weights.heads < 1 or features % weights.heads:
            found = f"{weights.heads} heads for {features} features"
            raise ExampleError("attention.heads", found, f"a number that divides {features}")
        if features > MAX_FEATURES_WITH_WEIGHTS:
            remedy = f"at most {MAX_FEATURES_WITH_WEIGHTS} with weights; give attention.output instead"
            raise ExampleError("attention", f"weights for {features} features", remedy)
        if weights.heads * tokens * tokens > MAX_PATTERN:
            found = f"{weights.heads} heads × {tokens} × {tokens} tokens"
            raise ExampleError("attention", found, f"at most {MAX_PATTERN} scores; give attention.output instead")
        for name in ("w_q", "w_k", "w_v", "w_o"):
            matrix = getattr(weights, name)
            if matrix.shape != (features, features):
                remedy = f"shape ({features}, {features}) to suit x of {_shape(self.x)}"
                raise ExampleError(f"attention.{name}", _shape(matrix), remedy)

    def _check_numbers(self) -> None:
        _check_finite("input.x", self.x, "token", "feature")
        _check_finite("layer_norm.gamma", self.gamma, "feature")
        _check_finite("layer_norm.beta", self.beta, "feature")
        if isinstance(self.attention, Weights):
            for name in ("w_q", "w_k", "w_v", "w_o"):
                _check_finite(f"attention.{name}", getattr(self.attention, name), "row", "column")
        else:
            _check_finite("attention.output", self.attention.output, "token", "feature")
        if not 0 <= self.eps < np.inf:
            raise ExampleError("layer_norm.eps", f"{self.eps}", "a finite number, 0 or above")
        for name, most in (("decimals", MAX_DECIMALS), ("statistics_decimals", MAX_STATISTICS_DECIMALS)):
            if not 0 <= getattr(self.display, name) <= most:
                raise ExampleError(f"display.{name}", f"{getattr(self.display, name)}", f"0 to {most}")
        self._check_dtypes()

    def _check_dtypes(self) -> None:
        stored: dict[str, Any] = {"resid_pre": self.x, "gamma": self.gamma, "beta": self.beta, "eps": self.eps}
        if isinstance(self.attention, GivenOutput):
            stored["attn_out"] = self.attention.output
        for name, dtype in self.dtypes.items():
            if name not in stored:
                raise ExampleError(f"dtypes.{name}", "not stored in the example", nearest(name, stored))
            if dtype not in STORED_TYPES:
                raise ExampleError(f"dtypes.{name}", shortened(dtype), nearest(dtype, STORED_TYPES))
            with np.errstate(all="ignore"):
                narrowed = np.asarray(stored[name]).astype(dtype)
            if not np.array_equal(narrowed, stored[name]):
                raise ExampleError(f"dtypes.{name}", f"numbers that {dtype} cannot hold", "the type they were stored in")

    def _check_words(self) -> None:
        if not _SAFE_ID.fullmatch(self.id):
            remedy = "letters, digits, - _ . (at most 64, no . or - at either end): it names the output folder"
            raise ExampleError("id", shortened(self.id), remedy)
        if self.norm not in ("post", "pre"):
            raise ExampleError("norm", shortened(self.norm), '"post" or "pre"')
        if self.mask not in ("none", "causal"):
            raise ExampleError("mask", shortened(self.mask), '"none" or "causal"')
        for number, token in enumerate(self.tokens, start=1):
            if len(token) > MAX_TOKEN_LENGTH:
                found = f"token {number} is {len(token)} characters long"
                raise ExampleError("tokens", found, f"at most {MAX_TOKEN_LENGTH}")
        for where, text in self._texts():
            if any(unicodedata.category(c) == "Cs" for c in text):
                raise ExampleError(where, f"{shortened(text)} has half a surrogate pair", "Unicode text")
        for language, states in self.captions.items():
            for state, caption in states.items():
                self._check_caption(f"captions.{language}.{state}", caption)

    def _texts(self) -> list[tuple[str, str]]:
        """Every text of the example with the field it stands in."""
        titles = [(f"title.{language}", title) for language, title in self.title.items()]
        captions = [(f"captions.{lang}.{s}", text) for lang, states in self.captions.items() for s, text in states.items()]
        return [*(("tokens", token) for token in self.tokens), *titles, *captions]

    def _check_caption(self, where: str, caption: str) -> None:
        """A number in a caption is the core's: by reference, never typed."""
        try:
            parts = caption_parts(caption)
            for part in parts:
                if isinstance(part, Reference):
                    part.check(self.shape_of(part.name))
        except LabelError as error:
            found, _, remedy = str(error).partition("; ")
            raise ExampleError(where, found, remedy) from None
        for part in parts:
            typed = [c for c in part if unicodedata.category(c).startswith("N")] if isinstance(part, str) else []
            if typed:
                remedy = "write numbers as references, such as {ln.mean[0]}"
                raise ExampleError(where, f'the typed digit "{typed[0]}"', remedy)


def _frozen(array: Any) -> Array:
    """The array as read-only float64, copied if somebody else could write to it."""
    array = np.asarray(array)
    if array.dtype != np.float64 or array.flags.writeable:
        array = array.astype(np.float64)
        array.flags.writeable = False
    return array


def _shape(array: Array) -> str:
    return f"shape {array.shape}"


def _check_finite(where: str, array: Array, *axes: str) -> None:
    if np.isfinite(array.sum()) or (finite := np.isfinite(array)).all():
        return
    first = np.unravel_index(int(np.argmin(finite)), array.shape)
    place = ", ".join(f"{axis} {index + 1}" for axis, index in zip(axes, first, strict=True))
    raise ExampleError(where, f"{array[first]} at {place}", "every entry must be a finite number")
