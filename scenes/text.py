"""The words of a film in one language: catalogue entries become lines whose every run names its source.

A catalogue (``assets/text/<language>.toml``) holds sentences without a single number. What counts or measures
is asked for in braces and answered by the core::

    caption = "LayerNorm reads the {features} of this row, nothing else: {mean}, {var}"

In braces stand a symbol (``x``, ``r_i`` with the followed token as subscript), a counting phrase (``features``,
``ordinal``), a name of the film (``film``), or a reference to a value (``ln.mean[0]``). An entry may be a table
of variants; the first whose condition holds for the example is taken, else ``default``.
"""

from __future__ import annotations

import string
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.labels import Label, label, stage_label
from addnorm.mathcore.symbols import Formula, Symbol, layer_norm_formula, symbol
from addnorm.mathcore.trace import Trace
from addnorm.mathcore.words import elided, words
from addnorm.scenes.paths import asset


@dataclass(frozen=True)
class Constant:
    """A sentence, or a piece of one, that the catalogue holds under a key."""

    key: str


@dataclass(frozen=True)
class Counted:
    """A phrase that depends on the example's shape, such as "four features"; the core words it."""

    key: str


@dataclass(frozen=True)
class Elided:
    """How many cells of a row are not shown."""

    count: int


@dataclass(frozen=True)
class Name:
    """What a thing is called: the film (R44), a state (b2), another page of the course."""

    name: str


@dataclass(frozen=True)
class User:
    """The user's own words, from the example file; ``field`` says where."""

    field: str


@dataclass(frozen=True)
class FormulaAtom:
    """The n-th atom of a formula of the core."""

    formula: Formula
    n: int


Source = Label | Symbol | FormulaAtom | Constant | Counted | Elided | Name | User


@dataclass(frozen=True)
class Run:
    """A piece of text from one source. ``role`` names its colour: a role of the palette or a quantity."""

    text: str
    source: Source
    role: str = "text"


Line = tuple[Run, ...]


def plain(line: Line) -> str:
    """The line as plain text, for captions files and transcripts."""
    return "".join(run.text for run in line)


def value_line(number: Label, role: str = "text") -> Line:
    """A number by itself."""
    return (Run(number.text, number, role),)


def symbol_line(named: Symbol) -> Line:
    """A symbol by itself, in the colour of its quantity."""
    return (Run(named.text, named, named.quantity),)


def name_line(name: str, role: str = "secondary") -> Line:
    """A name by itself."""
    return (Run(name, Name(name), role),)


def token_line(trace: Trace, token: int, role: str = "text") -> Line:
    """A token's own label, literally."""
    return (Run(trace.example.tokens[token], User(f"tokens[{token}]"), role),)


_SYMBOLS = {
    "x": "resid_pre",
    "O": "attn_out",
    "delta": "update",
    "r": "resid_mid",
    "u": "ln.out",
    "hat": "ln.normalized",
    "mean": "ln.mean",
    "var": "ln.var",
    "std": "ln.std",
    "epsilon": "eps",
    "gamma": "gamma",
    "beta": "beta",
}


def languages() -> tuple[str, ...]:
    """The languages that have a catalogue."""
    return tuple(sorted(path.stem for path in asset("text").glob("*.toml")))


@lru_cache
def load_catalogue(language: str) -> Mapping[str, Any]:
    """The raw catalogue of a language."""
    if language not in languages():
        raise AddnormError(f"language: {language!r} has no catalogue; give one of {', '.join(languages())}")
    return tomllib.loads(asset("text", f"{language}.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Wording:
    """One language's words for one example: looks entries up and fills in what the core knows."""

    language: str
    trace: Trace = field(repr=False)
    names: Mapping[str, str]

    def line(self, key: str, role: str = "text") -> Line:
        """The line under a dotted key, such as ``r44.b2.caption``."""
        return tuple(self._runs(self._entry(key), Constant(key), role))

    def sign(self, sign: str, role: str = "secondary") -> Line:
        """A sign of arithmetic."""
        return (Run(sign, Name(sign), role),)

    def elided(self, count: int, role: str = "secondary") -> Line:
        """What stands in a row for cells that are not shown; empty if none are hidden."""
        return (Run(f"… {elided(count, self.language)} …", Elided(count), role),) if count else ()

    def own_line(self, text: str, place: str, role: str = "text") -> Line:
        """A line in the user's own words, in which ``{ln.mean[0]}`` stands for a value."""
        return tuple(self._runs(text, User(place), role))

    def complaint(self, run: Run) -> str | None:
        """Why a run does not say what its source says now, or None if it does."""
        match run.source:
            case Label(ref=ref):
                truth = label(self.trace, ref, run.source.style).text
            case Symbol(quantity=quantity):
                known = {symbol(quantity, token, self.trace.example.norm).text for token in self._tokens()}
                truth = run.text if run.text in known else f"one of {', '.join(sorted(known))}"
            case FormulaAtom():
                truth = layer_norm_formula(self.trace.example.norm).text
            case Counted(key=key):
                truth = words(self.trace.example, self.language).get(key, "nothing")
            case Elided(count=count):
                truth = f"… {elided(count, self.language)} …"
            case Constant(key=key):
                pieces = {text for text, _ in _pieces(self._entry(key), key)}
                truth = run.text if run.text in pieces else f"a piece of {self._entry(key)!r}"
            case Name(name=name):
                truth = name
            case User(field=place):
                truth = run.text if run.text in self._own_words(place) else "the user's own words"
        return None if run.text == truth else f"{run.text!r} is drawn where {run.source} says {truth!r}"

    def _tokens(self) -> tuple[int | None, ...]:
        return (None, *range(self.trace.example.n_tokens))

    def _entry(self, key: str) -> str:
        node: Any = load_catalogue(self.language)
        for part in key.split("."):
            if not isinstance(node, Mapping) or part not in node:
                raise AddnormError(f"assets/text/{self.language}.toml: {key}: there is no such entry")
            node = node[part]
        if isinstance(node, Mapping):
            conditions = self._conditions()
            node = next((text for condition, text in node.items() if condition in conditions), None)
        if not isinstance(node, str):
            raise AddnormError(f"assets/text/{self.language}.toml: {key}: no variant fits this example; add 'default'")
        return node

    def _conditions(self) -> frozenset[str]:
        example = self.trace.example
        holds = {
            "one_token": example.n_tokens == 1,
            "one_feature": example.n_features == 1,
            "given": example.n_heads is None,
            "learned": not (is_constant(example.gamma) and is_constant(example.beta)),
            "pre": example.norm == "pre",
            "causal": example.mask == "causal",
            "default": True,
        }
        return frozenset(name for name, true in holds.items() if true)

    def _runs(self, template: str, source: Constant | User, role: str) -> Iterator[Run]:
        where = source.key if isinstance(source, Constant) else source.field
        for text, name in _pieces(template, where):
            if text:
                yield Run(text, source, role)
            if name is not None:
                yield self._answer(name, where, role)

    def _answer(self, name: str, where: str, role: str) -> Run:
        letter, _, token = name.partition("_")
        if letter in _SYMBOLS and token in ("", "i"):
            example = self.trace.example
            named = symbol(_SYMBOLS[letter], example.followed if token else None, example.norm)
            return Run(named.text, named, named.quantity)
        counted = words(self.trace.example, self.language)
        if name in counted:
            return Run(counted[name], Counted(name), role)
        if name in self.names:
            return Run(self.names[name], Name(self.names[name]), role)
        try:
            number = stage_label(self.trace, name)
        except AddnormError as error:
            raise AddnormError(f"{where}: {{{name}}} names nothing that can be shown; {error}") from None
        return Run(number.text, number, number.ref.partition("[")[0])

    def _own_words(self, place: str) -> set[str]:
        example = self.trace.example
        own: set[str] = {text for text in example.tokens}
        own |= {text for title in example.title.values() for text, _ in _pieces(title, place)}
        own |= {
            text
            for captions in example.captions.values()
            for caption in captions.values()
            for text, _ in _pieces(caption, place)
        }
        return own


def is_constant(vector: NDArray[np.float64]) -> bool:
    """Whether a vector can be shown as one number."""
    return bool((vector == vector[0]).all())


def _pieces(template: str, where: str) -> Iterator[tuple[str, str | None]]:
    """The template cut at its braces: literal text, and the name in the braces after it if there is one."""
    try:
        for text, name, _, _ in string.Formatter().parse(template):
            yield text, name
    except ValueError as error:
        raise AddnormError(f"{where}: {template!r}: {error}; write {{{{ for a brace") from None
