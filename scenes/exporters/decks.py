"""Decks: of all that was rendered, what goes together into one document, and what that document is called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import category

from addnorm.mathcore.symbols import Symbol, symbol
from addnorm.scenes.exporters.outputs import FIRST_THEME, Clip, Output, Rendered, alternatives
from addnorm.scenes.text import plain


@dataclass(frozen=True)
class Deck:
    """The examples of an export in one language and one theme, in the order given."""

    language: str
    theme: str
    outputs: tuple[Output, ...]

    @property
    def name(self) -> str:
        """A name for its file: the examples, the language, and the theme if it is not the usual one."""
        first, *rest = (output.trace.example.id for output in self.outputs)
        more = f"-and-{len(rest)}-more" if len(rest) > 1 else "".join(f"-{example}" for example in rest)
        theme = "" if self.theme == FIRST_THEME else f"-{self.theme}"
        return f"{first}{more}-{self.language}{theme}"

    @property
    def title(self) -> str:
        """What it is about: the titles of its examples."""
        return " / ".join(dict.fromkeys(one_line(output.title) for output in self.outputs))


def decks(examples: Sequence[Rendered]) -> Iterator[Deck]:
    """A deck for each language and theme. Several examples make one; what one of them lacks the others have."""
    for language, theme in alternatives(examples):
        outputs = (output for each in examples for output in each.outputs)
        same = tuple(output for output in outputs if (output.language, output.theme) == (language, theme))
        yield Deck(language, theme, same)


LEGEND = ("resid_pre", "attn_out", "resid_mid", "ln.mean", "ln.var", "ln.out")
"""The quantities whose colours a title slide shows."""


def legend(output: Output) -> tuple[Symbol, ...]:
    """The symbols on a title slide; those of rows belong to the followed token."""
    example = output.trace.example
    rows = ("resid_pre", "attn_out", "resid_mid", "ln.out")
    return tuple(symbol(name, example.followed if name in rows else None, example.norm) for name in LEGEND)


def notes(output: Output, clip: Clip) -> tuple[str, ...]:
    """What a speaker has at hand in a state, a line each: its caption, and its figures as they are shown."""
    figures = (f"{row.symbol.text} = {row.text}" for row in output.figures(clip.labels))
    return (one_line(plain(clip.caption)), *figures)


def one_line(text: str) -> str:
    """A user's text on one line; control characters, which XML forbids, as their code points."""
    return "".join(f"U+{ord(c):04X}" if category(c) == "Cc" else c for c in " ".join(text.split()))
