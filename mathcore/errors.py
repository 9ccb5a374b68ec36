"""What is wrong, said in one line: the file, the field, what was found, and what would be right."""

from __future__ import annotations

from collections.abc import Iterable


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
        return one_line(f"{where}{self.field}: {self.found}; {self.remedy}")

    def within(self, file: str | None) -> ExampleError:
        """The same error, naming the file it was found in (unless it names one already)."""
        return ExampleError(self.field, self.found, self.remedy, self.file or file)


def one_line(text: str) -> str:
    """The text with whatever would break the line, or cannot be printed, escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shortened(text: str, limit: int = 40) -> str:
    """The text, cut to ``limit`` characters, in quotes."""
    return f'"{text}"' if len(text) <= limit else f'"{text[: limit - 1]}…"'


def nearest(word: str, known: Iterable[str]) -> str:
    """The remedy for an unknown name: the known one it resembles, or else all of them."""
    import difflib  # only an error needs it

    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1)
    return f'did you mean "{close[0]}"?' if close else f"known here: {', '.join(names)}"
