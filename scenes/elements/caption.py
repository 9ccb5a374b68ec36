"""Centred text: a caption, or a longer note, on one line or on several of about the same length."""

from __future__ import annotations

import re
from collections.abc import Iterator

from addnorm.mathcore.errors import AddnormError, ExampleError, quoted
from addnorm.scenes.elements.lettering import Lettering, Pen
from addnorm.scenes.text import Constant, Line, Run, User, plain
from addnorm.scenes.theme import PIXEL, TYPE
from addnorm.scenes.typeset import LINE_PITCH, Paragraph

LEAST_SHARE = 0.3
"""The share of a text that each of two lines must have for it to be broken where a clause ends."""

_CLAUSE_END = re.compile(r"[，。；：！？]|[,.;:!?](?= )")


def paragraph(pen: Pen, line: Line, size: float, width: float, y: float, most: int) -> Lettering:
    """Centred text, ``width`` wide and ``most`` lines high at most; ``y`` is the first baseline.

    What does not fit is set smaller, down to the size of notes; AddnormError if it is too long even then.
    Two lines break at the end of a clause if they are not too unequal then, more lines wherever they balance.
    """
    if pen.write(line, size, paragraph=Paragraph(width / (size * PIXEL))).lines > most:
        size, needed = TYPE.note, pen.write(line, TYPE.note, paragraph=Paragraph(width / (TYPE.note * PIXEL))).lines
        if needed > most:
            raise _too_long(line, needed, most)
    em = size * PIXEL
    single = pen.write(line, size)
    if single.advance <= width:
        return single.place(0, y, "center")
    fewest = pen.write(line, size, paragraph=Paragraph(width / em)).lines
    if fewest == 2 and (end := _middle_clause(pen, line, size, width)):
        return pen.write(line, size, paragraph=Paragraph(width / em, end)).place(0, y, "center")
    narrow = single.advance / fewest
    while pen.write(line, size, paragraph=Paragraph(narrow / em)).lines > fewest:
        narrow = min(narrow + 0.1, width)
    return pen.write(line, size, paragraph=Paragraph(narrow / em)).place(0, y, "center")


def _too_long(line: Line, needed: int, most: int) -> AddnormError:
    """The error of a text that does not fit; where it is the user's own, it names the field of the example."""
    found, remedy = f"{quoted(plain(line))} takes {needed} lines", f"at most {most} lines have room; make it shorter"
    own = next((run.source.field for run in line if isinstance(run.source, User)), None)
    return AddnormError(f"{found}; {remedy}") if own is None else ExampleError(own, found, remedy)


def caption(pen: Pen, line: Line, size: float, width: float, y: float) -> Lettering:
    """A caption in its place for two lines, the first baseline at ``y``; a single line stands between them."""
    block = paragraph(pen, line, size, width, y, most=2)
    if block.lines == 1:
        block.shift((0.0, -LINE_PITCH * size * PIXEL / 2, 0.0))
    return block


def _middle_clause(pen: Pen, line: Line, size: float, width: float) -> tuple[int, int] | None:
    """Where the clause ends that is nearest to the middle of a text, as run and character, if both halves fit."""
    whole = pen.write(line, size).advance
    ends = [(pen.write(head, size).advance, place) for head, place in _clauses(line)]
    fitting = [
        (abs(first - whole / 2), place)
        for first, place in ends
        if max(first, whole - first) <= width and min(first, whole - first) >= LEAST_SHARE * whole
    ]
    return min(fitting)[1] if fitting else None


def _clauses(line: Line) -> Iterator[tuple[Line, tuple[int, int]]]:
    """The line up to the end of each clause in its words, and that place."""
    for n, run in enumerate(line):
        if isinstance(run.source, Constant | User):
            for match in _CLAUSE_END.finditer(run.text):
                head = Run(run.text[: match.end()], run.source, run.role)
                yield (*line[:n], head), (n, match.end())
