"""The example a film is made of: its tokens, its numbers, and the rules they keep.

An Example that exists is sound. Every rule below is checked when one is made; what breaks a rule is an
ExampleError that names the field as the example file does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from addnorm.mathcore.errors import ExampleError, LabelError, counted, found_in, nearest, quoted
from addnorm.mathcore.reference import AXES, Reference, caption_parts

if TYPE_CHECKING:
    from addnorm.mathcore.ops import Array

Norm = Literal["post", "pre"]
Mask = Literal["none", "causal"]

# What an example may hold. A layer of 4096 × 4096 fits.
MAX_TOKENS = 4096
MAX_FEATURES = 16384
MAX_SCORES = 2**26  # heads × tokens × tokens
MAX_TOKEN_LENGTH = 200  # characters of a token's label
MAX_TEXT_LENGTH = 1000  # characters of a title, a note or a caption
MAX_DECIMALS = 6
MAX_STATISTICS_DECIMALS = 9

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
MATRICES = ("w_q", "w_k", "w_v", "w_o")
_UNSEEN = ("Cc", "Cf", "Zl", "Zp")  # of Unicode's categories: control, format, line and paragraph separators
_SAFE_ID = re.compile(r"\w(?:[\w.-]{0,62}\w)?")


@dataclass(frozen=True, eq=False)
class Weights:
    """Attention by its weights, D × D each, applied from the right; heads lie side by side in the columns."""

    heads: int
    w_q: Array
    w_k: Array
    w_v: Array
    w_o: Array

    def __post_init__(self) -> None:
        _freeze(self, *MATRICES)


@dataclass(frozen=True, eq=False)
class GivenOutput:
    """Attention by its output, tokens × D, as another program computed it."""

    output: Array

    def __post_init__(self) -> None:
        _freeze(self, "output")


@dataclass(frozen=True)
class Display:
    """How many decimal places numbers show: in rows, and in statistics and details."""

    decimals: int = 3
    statistics_decimals: int = 6


@dataclass(frozen=True, eq=False)
class Example:
    """One example: T tokens of D features through attention, residual and LayerNorm.

    ``x`` is (T, D), ``gamma`` and ``beta`` are (D,); all arrays are float64 and read-only. ``followed`` is
    the token shown, counted from zero. ``dtypes`` names the type of what was not stored as float64, by
    activation. ``source`` is the file it was read from, for messages alone. Raises ExampleError for
    whatever breaks a rule.
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
    note: Mapping[str, str] = field(default_factory=dict)
    captions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    dtypes: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None

    def __post_init__(self) -> None:
        _freeze(self, "x", "gamma", "beta")
        with found_in(self.source):
            _check_shapes(self)
            if not self.tokens:
                object.__setattr__(self, "tokens", tuple(f"token {i + 1}" for i in range(self.n_tokens)))
            _check_numbers(self)
            _check_stored_types(self)
            _check_words(self)

    @property
    def n_tokens(self) -> int:
        """T."""
        return int(self.x.shape[0])

    @property
    def n_features(self) -> int:
        """D."""
        return int(self.x.shape[1])

    @property
    def n_heads(self) -> int | None:
        """H; None where only the output of attention is given."""
        return self.attention.heads if isinstance(self.attention, Weights) else None

    @property
    def dtype(self) -> str:
        """The type x was stored in."""
        return self.dtypes.get("resid_pre", "float64")

    def shape_of(self, name: str) -> tuple[int, ...]:
        """The shape of an activation in this example's trace. Raises LabelError for one that is not in it."""
        heads = self.n_heads
        if name not in AXES or (name.startswith("attn.") and heads is None):
            known = [n for n in AXES if heads or not n.startswith("attn.")]
            raise LabelError(f"{quoted(name)} is not in the trace of this example; {nearest(name, known)}")
        width = self.n_features // heads if heads and name.startswith("attn.") else self.n_features
        sizes = {"token": self.n_tokens, "key": self.n_tokens, "head": heads or 0, "feature": width}
        return tuple(sizes[axis] for axis in AXES[name])

    def canonical(self) -> dict[str, Any]:
        """Plain JSON data, laid out as the example file. ``example_from`` makes an equal Example of it."""
        attention: dict[str, Any]
        if isinstance(self.attention, Weights):
            matrices = {name: getattr(self.attention, name).tolist() for name in MATRICES}
            attention = {"heads": self.attention.heads, **matrices}
        else:
            attention = {"output": self.attention.output.tolist()}
        return {
            "id": self.id,
            "norm": self.norm,
            "mask": self.mask,
            "token": self.followed + 1,
            "tokens": list(self.tokens),
            "title": dict(self.title),
            "note": dict(self.note),
            "captions": {language: dict(states) for language, states in self.captions.items()},
            "input": {"x": self.x.tolist()},
            "attention": attention,
            "layer_norm": {"eps": self.eps, "gamma": self.gamma.tolist(), "beta": self.beta.tolist()},
            "display": vars(self.display).copy(),
            "dtypes": dict(self.dtypes),
        }

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, of the canonical data as compact JSON with sorted keys."""
        import hashlib
        import json

        text = json.dumps(self.canonical(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Example) and self.canonical() == other.canonical()

    def __hash__(self) -> int:
        return hash(self.digest)


def _freeze(owner: object, *names: str) -> None:
    """Make arrays read-only float64, copying those that somebody else could write to."""
    for name in names:
        array = np.asarray(getattr(owner, name))
        if array.dtype != np.float64 or array.flags.writeable:
            array = array.astype(np.float64)
            array.flags.writeable = False
        object.__setattr__(owner, name, array)


def _check_shapes(example: Example) -> None:
    x = example.x
    if x.ndim != 2 or 0 in x.shape:
        raise ExampleError("input.x", f"shape {x.shape}", "tokens × features, at least one of each")
    tokens, features = x.shape
    if tokens > MAX_TOKENS or features > MAX_FEATURES:
        raise ExampleError(
            "input.x", f"shape {x.shape}", f"at most {MAX_TOKENS} tokens × {MAX_FEATURES} features"
        )
    for name, array in (("gamma", example.gamma), ("beta", example.beta)):
        if array.shape != (features,):
            found = f"shape {array.shape} beside x of shape {x.shape}"
            raise ExampleError(f"layer_norm.{name}", found, f"shape ({features},), a number for each feature")
    if isinstance(example.attention, Weights):
        _check_weights(example.attention, tokens, features)
    elif example.attention.output.shape != x.shape:
        found = f"shape {example.attention.output.shape} beside x of shape {x.shape}"
        raise ExampleError("attention.output", found, "both must be the same tokens × features")
    if not 0 <= example.followed < tokens:
        raise ExampleError("token", f"token {example.followed + 1} of {tokens}", f"1 to {tokens}")
    if example.tokens and len(example.tokens) != tokens:
        found = f"{counted(len(example.tokens), 'label')} beside x of shape {x.shape}"
        raise ExampleError("tokens", found, f"{counted(tokens, 'label')}, one for each token")


def _check_weights(weights: Weights, tokens: int, features: int) -> None:
    heads = weights.heads
    if heads < 1 or features % heads:
        found = f"{counted(heads, 'head')} for {counted(features, 'feature')}"
        raise ExampleError("attention.heads", found, f"a divisor of {features}")
    if heads * tokens * tokens > MAX_SCORES:
        remedy = f"at most {MAX_SCORES} scores; beyond it give attention.output"
        raise ExampleError("attention", f"{counted(heads, 'head')} × {tokens} × {tokens} tokens", remedy)
    for name in MATRICES:
        shape = getattr(weights, name).shape
        if shape != (features, features):
            found = f"shape {shape} beside x of shape {(tokens, features)}"
            raise ExampleError(f"attention.{name}", found, f"shape {(features, features)}")


def _check_numbers(example: Example) -> None:
    _check_finite("input.x", example.x, "token", "feature")
    if isinstance(example.attention, Weights):
        for name in MATRICES:
            _check_finite(f"attention.{name}", getattr(example.attention, name), "row", "column")
    else:
        _check_finite("attention.output", example.attention.output, "token", "feature")
    _check_finite("layer_norm.gamma", example.gamma, "feature")
    _check_finite("layer_norm.beta", example.beta, "feature")
    if not 0 <= example.eps < np.inf:
        raise ExampleError("layer_norm.eps", f"{example.eps}", "a finite number, 0 or above")
    for name, most in (("decimals", MAX_DECIMALS), ("statistics_decimals", MAX_STATISTICS_DECIMALS)):
        if not 0 <= getattr(example.display, name) <= most:
            raise ExampleError(f"display.{name}", f"{getattr(example.display, name)}", f"0 to {most}")


def _check_finite(where: str, array: Array, *axes: str) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):
            return
    finite = np.isfinite(array)
    if not finite.all():
        first = np.unravel_index(int(np.argmin(finite)), array.shape)
        place = ", ".join(f"{axis} {index + 1}" for axis, index in zip(axes, first, strict=True))
        raise ExampleError(where, f"{array[first]} at {place}", "every entry must be a finite number")


def _check_stored_types(example: Example) -> None:
    """A number's shortest form depends on its type: one that cannot hold it would print another number."""
    stored: dict[str, Any] = {name: getattr(example, name) for name in ("gamma", "beta", "eps")}
    stored["resid_pre"] = example.x
    if isinstance(example.attention, GivenOutput):
        stored["attn_out"] = example.attention.output
    for name, dtype in example.dtypes.items():
        if name not in stored:
            raise ExampleError(f"dtypes.{name}", "not stored in this example", nearest(name, stored))
        if dtype not in (*FLOATS, *INTEGERS):
            raise ExampleError(f"dtypes.{name}", quoted(dtype), nearest(dtype, (*FLOATS, *INTEGERS)))
        with np.errstate(over="ignore", invalid="ignore"):
            narrowed = np.asarray(stored[name]).astype(dtype)
        if not np.array_equal(narrowed, stored[name]):
            raise ExampleError(
                f"dtypes.{name}", f"numbers that are not {dtype}", "the type they were stored in"
            )


def _check_words(example: Example) -> None:
    if not _SAFE_ID.fullmatch(example.id):
        remedy = "up to 64 letters, digits and - _ . between them: it names the output folder"
        raise ExampleError("id", quoted(example.id), remedy)
    if example.norm not in ("post", "pre"):
        raise ExampleError("norm", quoted(example.norm), '"post" or "pre"')
    if example.mask not in ("none", "causal"):
        raise ExampleError("mask", quoted(example.mask), '"none" or "causal"')
    for number, token in enumerate(example.tokens, start=1):
        _check_unicode("tokens", token)
        if len(token) > MAX_TOKEN_LENGTH:
            found = f"the label of token {number} has {len(token)} characters"
            raise ExampleError("tokens", found, f"at most {MAX_TOKEN_LENGTH}")
    for language, title in example.title.items():
        _check_text(f"title.{language}", title)
    for language, note in example.note.items():
        _check_text(f"note.{language}", note)
        _check_typed_numbers(f"note.{language}", note, "say in words how many")
    for language, states in example.captions.items():
        for state, caption in states.items():
            _check_text(f"captions.{language}.{state}", caption)
            _check_caption(f"captions.{language}.{state}", caption, example)


def _check_text(where: str, text: str) -> None:
    """A text is one line of characters that can be seen."""
    import unicodedata  # only words need it

    _check_unicode(where, text)
    if len(text) > MAX_TEXT_LENGTH:
        raise ExampleError(where, f"{len(text)} characters", f"at most {MAX_TEXT_LENGTH}")
    if not text.strip():
        raise ExampleError(where, "no words", "leave it out, or say something")
    for character in text:
        if unicodedata.category(character) in _UNSEEN:
            found = f"U+{ord(character):04X} ({unicodedata.name(character, 'a control character').lower()})"
            raise ExampleError(where, found, "one line of text, without control, format and direction characters")


def _check_unicode(where: str, text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ExampleError(where, f"{quoted(text)} holds half a character", "text in Unicode") from None


def _check_caption(where: str, caption: str, example: Example) -> None:
    """A number in a caption is named by reference, never typed, and it exists."""
    try:
        parts = caption_parts(caption)
        for part in parts:
            if isinstance(part, Reference):
                part.check(example.shape_of(part.name))
    except LabelError as error:
        found, _, remedy = str(error).partition("; ")
        raise ExampleError(where, found, remedy) from None
    for part in parts:
        if isinstance(part, str):
            _check_typed_numbers(where, part, "write a number as a reference, like {ln.mean[0]}")


def _check_typed_numbers(where: str, text: str, remedy: str) -> None:
    """A digit that is typed belongs to a name, as in R44, float32 and O₁: it follows a Latin or Greek letter."""
    import unicodedata  # only words need it

    before = ""
    for character in text:
        category = unicodedata.category(character)
        if category.startswith("N") and before not in ("Lu", "Ll"):
            found = f"the typed digit {quoted(character)}"
            raise ExampleError(where, found, f"{remedy}; digits may only end a name such as R44 or float32")
        if not category.startswith(("N", "M")):  # a name goes on with a digit, and with an accent
            before = category
