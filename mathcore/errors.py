"""What is wrong, said in one line: the file, the field, what was found, and what would be right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class AddnormError(Exception):
    """An error for people. Its text is one line and tells what to do."""


class LabelError(AddnormError):
    """A reference names no number of the trace."""


class ExampleError(AddnormError):
    """An example cannot be used. Reads ``FILE: FIELD: FOUND; REMEDY``."""

    def __init__(self, field: str, found: str, remedy: str, file: str | None = None) -> None:
        super().__init__(field, found, remedy, file)
        self.field = field
        self.found = found
        self.remedy = remedy
        self.file = file

    def __str__(self) -> str:
        where = f"{self.file}: " if self.file else ""
        return printable(f"{where}{cut(self.field, 80)}: {cut(self.found, 300)}; {self.remedy}")


@contextmanager
def found_in(file: str | None) -> Iterator[None]:
    """Name the file in ExampleErrors raised within, unless they name one already."""
    try:
        yield
    except ExampleError as error:
        raise ExampleError(error.field, error.found, error.remedy, error.file or file) from None


def cut(text: str, limit: int) -> str:
    """The text, or as much of it as ``limit`` characters hold, with an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def quoted(text: str) -> str:
    """The text in quotes, or its beginning."""
    return f'"{cut(text, 40)}"'


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """How many of something there are: ``1 label``, ``2 labels``."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def nearest(word: str, known: Iterable[str]) -> str:
    """The remedy for an unknown name: the known one it resembles, or else all of them."""
    import difflib  # only an error needs it

    names = sorted(known)
    close = difflib.get_close_matches(word[:80], names, n=1)
    return f"did you mean {quoted(close[0])}?" if close else f"known here: {', '.join(names)}"


def printable(text: str) -> str:
    """The text with escapes for what would break the line or cannot be printed."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
