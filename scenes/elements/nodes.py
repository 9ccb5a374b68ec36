"""The nodes of a block diagram: a labelled block and the ⊕ where two paths meet."""

from __future__ import annotations

from manim import Circle, VGroup, VMobject

from addnorm.scenes.elements.lettering import Lettering, Pen
from addnorm.scenes.elements.shapes import STROKE, box, segment
from addnorm.scenes.text import Line
from addnorm.scenes.theme import AREA


class Block(VGroup):
    """A box with a word or symbol in it."""

    def __init__(self, frame: VMobject, words: Lettering) -> None:
        super().__init__(frame, words)
        self.frame, self.words = frame, words


def block(pen: Pen, line: Line, x: float, y: float, width: float, height: float, size: float, role: str) -> Block:
    """A box with a centred word or symbol in it, centred on (x, y)."""
    color = pen.theme.color(role)
    frame = box(x, y, width, height, color, pen.theme.blend(role, AREA), STROKE)
    return Block(frame, pen.write(line, size).center_on(x, y))


def plus_node(pen: Pen, x: float, y: float, radius: float, role: str) -> VGroup:
    """A circled plus centred on (x, y), drawn as lines."""
    color = pen.theme.color(role)
    ring = Circle(radius=radius, stroke_color=color, stroke_width=STROKE).set_fill(pen.theme.color("ground"), 1)
    arm = radius * 0.5
    return VGroup(
        ring.move_to((x, y, 0.0)),
        segment((x - arm, y), (x + arm, y), color, STROKE),
        segment((x, y - arm), (x, y + arm), color, STROKE),
    )
