"""The words of a film in one language: catalogue entries become lines whose every run names its source.

A catalogue (``assets/text/<language>.toml``) holds sentences without a single number. What counts or measures
is asked for in braces and answered by the core::

    caption = "LayerNorm reads the {features} of this row, nothing else: {mean}, {var}"

In braces stand a symbol (``x``, ``r_i`` with the followed token as subscript), a counting phrase
(``features``, ``ordinal``), a name of the film (``film``), or a reference to a value (``ln.mean[0]``). An entry
may be a table of variants; the first whose condition holds for the example is taken, else ``default``.
"""

from __future__ import annotations

import string
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, pairwise, zip_longest
from typing import Any
from unicodedata import east_asian_width

import numpy as np
from numpy.typing import NDArray

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.labels import Label, relation, stage_label
from addnorm.mathcore.recompute import recompute_places
from addnorm.mathcore.symbols import Formula, Symbol, symbol
from addnorm.mathcore.trace import Trace
from addnorm.mathcore.words import elided, words
from addnorm.scenes.paths import asset
from addnorm.scenes.typeset import drawable, scripts_meet
from addnorm.scenes.witness import asked


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


@dataclass(frozen=True)
class Sum:
    """The sign between terms and their total: "=" only where the shown digits satisfy it."""

    terms: tuple[Label, ...]
    total: Label


Source = Label | Sum | Symbol | FormulaAtom | Constant | Counted | Elided | Name | User


@dataclass(frozen=True)
class Run:
    """A piece of text from one source. ``role`` names its colour: a role of the palette or a quantity."""

    text: str
    source: Source
    role: str = "text"


Line = tuple[Run, ...]


def plain(line: Line) -> str:
    """The line as plain text, for captions files and transcripts."""
    texts = [run.text for run in line]
    blanks = (" " if scripts_meet(left, right) else "" for left, right in pairwise(texts))
    return "".join(chain.from_iterable(zip_longest(texts, blanks, fillvalue="")))


def value_line(number: Label, role: str = "text") -> Line:
    """A number by itself."""
    return (Run(number.text, number, role),)


def relation_line(terms: tuple[Label, ...], total: Label, role: str = "secondary") -> Line:
    """The sign between drawn terms and their total."""
    return (Run(relation(terms, total), Sum(terms, total), role),)


def symbol_line(named: Symbol) -> Line:
    """A symbol by itself, in the colour of its quantity."""
    return (Run(named.text, named, named.quantity),)


def name_line(name: str, role: str = "secondary") -> Line:
    """A name by itself."""
    return (Run(name, Name(name), role),)


LONGEST_TOKEN = 12.0
"""How wide a token's label may be, in widths of a digit; a longer one is drawn with its end left out."""


def token_text(label: str) -> str:
    """A token's label as it is drawn: literally, except for what the font lacks and what no chip can hold."""
    text = drawable(label) if label.strip() else "␣"
    if text_width(text) <= LONGEST_TOKEN:
        return text
    kept = next(n for n in range(len(text), 0, -1) if text_width(text[:n]) <= LONGEST_TOKEN - 1.5)
    return f"{text[:kept]}…"


def text_width(text: str) -> float:
    """About how wide a text is, in widths of a digit, without typesetting it."""
    return sum(1.8 if east_asian_width(c) in "WF" else 1.3 if c.isupper() else 1.0 for c in text)


@asked
def token_label(trace: Trace, token: int) -> str:
    """What is drawn of a token's own label, literally; what the font does not have stands as its code point."""
    return token_text(trace.example.tokens[token])


def token_line(trace: Trace, token: int, role: str = "text") -> Line:
    """A token's own label."""
    return (Run(token_label(trace, token), User(f"tokens[{token}]"), role),)


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
        return tuple(self._runs(self.entry(key), Constant(key), role))

    def caption(self, film: str, state: str) -> Line:
        """A state's caption: the user's own where the example has one, else the catalogue's."""
        own = self.trace.example.captions.get(self.language, {})
        if state in own:
            return self.own_line(own[state], f"captions.{self.language}.{state}")
        return self.line(f"{film}.{state}.caption")

    def note(self) -> Line:
        """The example's note in this language, or in another one it is written in; empty if it has none."""
        notes = self.trace.example.note
        language = self.language if self.language in notes else next(iter(notes), "")
        return (Run(notes[language], User(f"note.{language}"), "secondary"),) if notes else ()

    def sign(self, sign: str, role: str = "secondary") -> Line:
        """A sign of arithmetic."""
        return (Run(sign, Name(sign), role),)

    def elided(self, count: int, role: str = "secondary") -> Line:
        """What stands in a row for cells that are not shown; empty if none are hidden."""
        return (Run(f"… {elided(count, self.language)} …", Elided(count), role),) if count else ()

    def own_line(self, text: str, place: str, role: str = "text") -> Line:
        """A line in the user's own words, in which ``{ln.mean[0]}`` stands for a value."""
        return tuple(self._runs(text, User(place), role))

    def entry(self, key: str) -> str:
        """The catalogue's text under a key: of variants, the one that fits the example."""
        node: Any = load_catalogue(self.language)
        for part in key.split("."):
            if not isinstance(node, Mapping) or part not in node:
                raise AddnormError(f"assets/text/{self.language}.toml: {key}: there is no such entry")
            node = node[part]
        while isinstance(node, Mapping):
            node = next((variant for condition, variant in node.items() if condition in self._conditions), None)
        if not isinstance(node, str):
            raise AddnormError(f"assets/text/{self.language}.toml: {key}: no variant fits this example; add 'default'")
        return node

    @cached_property
    def _conditions(self) -> frozenset[str]:
        example = self.trace.example
        holds = {
            "one_token": example.n_tokens == 1,
            "given": example.n_heads is None,
            "both_vary": not is_constant(example.gamma) and not is_constant(example.beta),
            "gamma_varies": not is_constant(example.gamma),
            "beta_varies": not is_constant(example.beta),
            "zero_eps": example.eps == 0,
            "affine": bool((example.gamma != 1).any() or (example.beta != 0).any()),
            "pre": example.norm == "pre",
            "causal": example.mask == "causal",
            "places_shown": self.counted.get("recompute_places") == str(example.display.statistics_decimals),
            "places": "recompute_places" in self.counted,
            "default": True,
        }
        return frozenset(name for name, true in holds.items() if true)

    @cached_property
    def counted(self) -> Mapping[str, str]:
        """Every counting phrase: those of the example's shape, and the places needed to recompute by hand."""
        places = recompute_places(self.trace, self.trace.example.followed)
        extra = {} if places is None else {"recompute_places": str(places)}
        return {**words(self.trace.example, self.language), **extra}

    def _runs(self, template: str, source: Constant | User, role: str) -> Iterator[Run]:
        where = source.key if isinstance(source, Constant) else source.field
        for text, name in pieces(template, where):
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
        if name in self.counted:
            return Run(self.counted[name], Counted(name), role)
        if name in self.names:
            return Run(self.names[name], Name(self.names[name]), role)
        try:
            number = stage_label(self.trace, name)
        except AddnormError as error:
            raise AddnormError(f"{where}: {{{name}}} names nothing that can be shown; {error}") from None
        return Run(number.text, number, number.ref.partition("[")[0])


def is_constant(vector: NDArray[np.float64]) -> bool:
    """Whether a vector can be shown as one number."""
    return bool((vector == vector[0]).all())


def pieces(template: str, where: str) -> Iterator[tuple[str, str | None]]:
    """A template cut at its braces: literal text, and the name in the braces after it if there is one."""
    try:
        for text, name, _, _ in string.Formatter().parse(template):
            yield text, name
    except ValueError as error:
        raise AddnormError(f"{where}: {template!r}: {error}; write {{{{ for a brace") from None
