"""The details panel: the figures to more places, and what to know about them."""

from __future__ import annotations

from manim import Mobject, VGroup

from addnorm.scenes.elements import caption as captions
from addnorm.scenes.elements.vector_row import Columns, number_size, vector_row
from addnorm.scenes.films.r44.parts import OWN_WORDS, detail_window
from addnorm.scenes.films.r44.picture.easel import (
    CAPTION_WIDTH,
    CELL_HEIGHT,
    LEFT,
    NAMES_RIGHT,
    ROWS_LEFT,
    Easel,
    fitted,
)
from addnorm.scenes.storyboard import Element, State
from addnorm.scenes.theme import TYPE
from addnorm.scenes.typeset import advance

DETAIL_RIGHT, DETAIL_TOP, DETAIL_PITCH, DETAIL_ROOM = 2.7, 1.85, 0.72, 3.0


def detail_row(easel: Easel, element: Element, state: State) -> Mobject:
    """A row of the details: its name, and its numbers at six places."""
    rows = [row for row in state.elements if row.kind == "detail_row"]
    pitch = min(DETAIL_PITCH, DETAIL_ROOM / max(1, len(rows) - 1))
    y = DETAIL_TOP - pitch * rows.index(element)
    columns = Columns(ROWS_LEFT, DETAIL_RIGHT, detail_window(easel.trace))
    widest = max(advance(label.text, easel.pen.language) for row in rows for label in row.labels)
    size = number_size(widest, TYPE.number, columns)
    quantity = element.name.removeprefix("detail.")
    name = fitted(easel, element.words[0], TYPE.number, NAMES_RIGHT - LEFT, quantity)
    rest = easel.wording.elided(columns.window.hidden)
    cells = vector_row(
        easel.pen, element.labels, columns, y, min(CELL_HEIGHT, pitch - 0.08), size, quantity, elided=rest
    )
    return VGroup(cells, name.place(NAMES_RIGHT, y - 0.13, "right"))


def recompute(easel: Easel, element: Element, state: State) -> Mobject:
    """What to know before recomputing by hand."""
    return captions.paragraph(easel.pen, easel.wording.line(element.words[0]), TYPE.note, CAPTION_WIDTH, -1.85, most=2)


def note(easel: Easel, element: Element, state: State) -> Mobject:
    """The example's own note."""
    return captions.paragraph(easel.pen, easel.wording.note(), TYPE.note, CAPTION_WIDTH, -2.83, most=OWN_WORDS.note)
