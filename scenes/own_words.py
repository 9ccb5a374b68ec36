"""Whether an example's own words can be drawn: in a known language, by the font, in the room there is.

What any text has to keep is checked when an example is made; what depends on the film, here, before it is drawn.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from addnorm.mathcore.errors import ExampleError, found_in, nearest, quoted
from addnorm.mathcore.labels import stage_label
from addnorm.mathcore.reference import Reference, caption_parts
from addnorm.mathcore.trace import Trace
from addnorm.scenes.text import Line, Run, User, languages, plain
from addnorm.scenes.theme import PIXEL, TYPE
from addnorm.scenes.truth import false_number
from addnorm.scenes.typeset import Paragraph, Setting, Span, missing_characters, typeset


@dataclass(frozen=True)
class Room:
    """How wide a line may be, in units of the scene, and how many lines a caption and a note may take."""

    width: float
    caption: int
    note: int


def check_own_words(trace: Trace, shown: Mapping[str, Collection[str]], room: Room) -> None:
    """Refuse, by its field, what of an example's title, notes and captions a film cannot show.

    ``shown`` names the film's states, each with the references of the numbers that it shows.
    """
    example = trace.example
    with found_in(example.source):
        for field, by_language in (("title", example.title), ("note", example.note), ("captions", example.captions)):
            for language in by_language:
                if language not in languages():
                    remedy = nearest(language, languages())
                    raise ExampleError(f"{field}.{language}", "no language of the film", remedy)
        for language, note in example.note.items():
            field = f"note.{language}"
            _check_characters(note, field)
            _check_room((Run(note, User(field)),), field, language, room.width, room.note)
        for language, captions in example.captions.items():
            for state, caption in captions.items():
                field = f"captions.{language}.{state}"
                if state not in shown:
                    raise ExampleError(field, "no such state", nearest(state, shown))
                _check_characters(caption, field)
                line = _caption_line(trace, caption, field, shown[state])
                _check_room(line, field, language, room.width, room.caption)


def _caption_line(trace: Trace, caption: str, field: str, shown: Collection[str]) -> Line:
    """A caption with its values, which are values of its state, in a sentence that says what they are."""
    parts = caption_parts(caption)
    references = [part for part in parts if isinstance(part, Reference)]
    for reference in references:
        if str(reference) not in shown:
            remedy = nearest(str(reference), shown) if shown else "it shows no number"
            raise ExampleError(field, f"names {reference}, which this state does not show", remedy)
    if references and not any(character.isalpha() for part in parts if isinstance(part, str) for character in part):
        raise ExampleError(field, f"{quoted(caption)} has no words", "say what the number is, or leave the field out")
    line = tuple(
        Run(part, User(field)) if isinstance(part, str) else Run((number := stage_label(trace, part)).text, number)
        for part in parts
    )
    if false := false_number(line, trace.example.norm):
        raise ExampleError(field, false, "put a word between")
    return line


def _check_characters(text: str, field: str) -> None:
    """The font has every character."""
    for lacking in missing_characters(text):
        found = f"the character {quoted(lacking)} (U+{ord(lacking):04X}), which the film's font does not have"
        raise ExampleError(field, found, "write it in other words")


def _check_room(line: Line, field: str, language: str, width: float, most: int) -> None:
    """A line breaks into few enough lines, and they are short enough."""
    large, small = (_set(line, language, width / (size * PIXEL)) for size in (TYPE.caption, TYPE.note))
    if np.ptp(np.concatenate(large.outlines)[:, 0]) > width / (TYPE.caption * PIXEL):
        longest = max(plain(line).split(), key=len)
        raise ExampleError(field, f"the word {quoted(longest)} is wider than the picture", "break it into words")
    if small.lines > most:
        found = f"{quoted(plain(line))} takes {small.lines} lines"
        raise ExampleError(field, found, f"at most {most} lines have room; make it shorter")


def _set(line: Line, language: str, width: float) -> Setting:
    return typeset([Span(run.text) for run in line], language, Paragraph(width))
