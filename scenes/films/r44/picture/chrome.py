"""What frames every picture: heading, position marker, caption, and the conventions."""

from __future__ import annotations

from manim import Mobject

from addnorm.scenes.elements import caption as captions
from addnorm.scenes.elements.position_marker import position_marker
from addnorm.scenes.films.r44.parts import (
    FILM,
)
from addnorm.scenes.films.r44.picture.easel import (
    CAPTION_WIDTH,
    CAPTION_Y,
    CONVENTIONS_Y,
    HEADING_Y,
    LEFT,
    MARKER_Y,
    RIGHT,
    Easel,
    fitted,
)
from addnorm.scenes.films.r44.states import STATES
from addnorm.scenes.storyboard import Element, State
from addnorm.scenes.theme import TYPE


def heading(easel: Easel, element: Element, state: State) -> Mobject:
    """What the state is about."""
    room = 8.6 if state.name in STATES else 2 * RIGHT
    return fitted(easel, element.words[0], TYPE.heading, room).place(LEFT, HEADING_Y)


def marker(easel: Easel, element: Element, state: State) -> Mobject:
    """Where in the film the state stands."""
    return position_marker(easel.pen, STATES, state.name, RIGHT, MARKER_Y)


def caption(easel: Easel, element: Element, state: State) -> Mobject:
    """What the state says."""
    line = easel.wording.caption(FILM, state.name)
    return captions.caption(easel.pen, line, TYPE.caption, CAPTION_WIDTH, CAPTION_Y)


def conventions(easel: Easel, element: Element, state: State) -> Mobject:
    """ε, γ, β, and how numbers are computed and shown."""
    return fitted(easel, element.words[0], TYPE.note, 2 * RIGHT, "secondary").place(LEFT, CONVENTIONS_Y)
