"""b5: the tokens' rows by features, and along which axis LayerNorm looks."""

from __future__ import annotations

from manim import Mobject, VGroup

from addnorm.scenes.elements import caption as captions
from addnorm.scenes.elements.nodes import block
from addnorm.scenes.elements.shapes import arrow, bracket, cross, outline
from addnorm.scenes.elements.vector_row import Columns
from addnorm.scenes.films.r44.parts import (
    feature_window,
    normalized_by,
)
from addnorm.scenes.films.r44.picture.easel import AXIS_ROOM, CELL_HEIGHT, GRID_LEFT, GRID_RIGHT, RIGHT, Easel, vector
from addnorm.scenes.storyboard import Element, State
from addnorm.scenes.theme import TYPE


def grid(easel: Easel) -> Columns:
    """The feature columns of b5."""
    return Columns(GRID_LEFT, GRID_RIGHT, feature_window(easel.trace))


def token_row(easel: Easel, element: Element, state: State) -> Mobject:
    """A token's row of features."""
    index = int(element.name.split(".")[1])
    y = easel.token_ys(state)[index]
    role = normalized_by(easel.trace)
    return vector(easel, element.labels, grid(easel), y, role, dimmed=element.look == "dimmed")


def feature_bracket(easel: Easel, element: Element, state: State) -> Mobject:
    """The bracket over exactly the followed row's features, with the frame round them."""
    pen, columns = easel.pen, grid(easel)
    color = pen.theme.color("statistics")
    y = easel.token_ys(state)[easel.trace.example.followed]
    half = CELL_HEIGHT / 2 + 0.1
    around = outline((columns.left + columns.right) / 2, y, columns.right - columns.left + 0.06, 2 * half, color)
    brace = bracket(columns.left + 0.06, columns.right - 0.06, y + half + 0.06, 0.2, color)
    words = pen.write(easel.wording.line(element.words[0], "statistics"), TYPE.caption)
    return VGroup(around, brace, words.place((columns.left + columns.right) / 2, y + half + 0.44, "center"))


def rows_name(easel: Easel, element: Element, state: State) -> Mobject:
    """What the rows are, under them."""
    words = easel.pen.write(easel.wording.line(element.words[0], "secondary"), TYPE.note)
    return words.place(GRID_LEFT, min(easel.token_ys(state).values()) - 0.78)


def layer_norm(easel: Easel, element: Element, state: State) -> Mobject:
    """One row's own LayerNorm."""
    pen = easel.pen
    y = easel.token_ys(state)[int(element.name.split(".")[1])]
    followed = element.look == "followed"
    role = "statistics" if followed else "line"
    line = easel.wording.line(element.words[0], "statistics" if followed else "secondary")
    width = pen.write(line, TYPE.note).advance + 0.4
    left = GRID_RIGHT + 0.75
    into = arrow(
        [(GRID_RIGHT + (0.09 if followed else 0.0), y), (left - 0.04, y)],
        pen.theme.color(role),
        2.5,
        tip=0.18,
    )
    frame = block(pen, line, left + width / 2, y, width, CELL_HEIGHT, TYPE.note, role)
    return VGroup(into, frame)


def position_axis(easel: Easel, element: Element, state: State) -> Mobject:
    """The axis across positions, struck out."""
    pen = easel.pen
    ys = easel.token_ys(state).values()
    top, bottom = max(ys) + 0.2, min(ys) - 0.2
    x = RIGHT - AXIS_ROOM / 2
    color = pen.theme.color("secondary")
    middle = (top + bottom) / 2
    up, down = arrow([(x, middle), (x, top)], color, 3), arrow([(x, middle), (x, bottom)], color, 3)
    line = easel.wording.line(element.words[0], "secondary")
    words = captions.paragraph(pen, line, TYPE.note, AXIS_ROOM, bottom - 0.45, most=2).shift((x, 0.0, 0.0))
    return VGroup(up, down, cross(x, middle, 0.42, pen.theme.color("warning")), words)
