"""The position marker: a dot for each state of the film, the current one lit and named in full strength."""

from __future__ import annotations

from manim import VGroup

from addnorm.scenes.elements.lettering import Pen
from addnorm.scenes.elements.shapes import dot, segment
from addnorm.scenes.text import name_line
from addnorm.scenes.theme import TYPE

PITCH = 0.64


def position_marker(pen: Pen, names: tuple[str, ...], current: str, right: float, y: float) -> VGroup:
    """Names in a row whose last one ends at ``right``, a dot over each; ``y`` is the middle of the dots."""
    theme = pen.theme
    here = names.index(current)
    labels = [
        pen.write(name_line(name), TYPE.note, role="text" if n == here else "secondary") for n, name in enumerate(names)
    ]
    last = right - labels[-1].advance / 2
    xs = [last - PITCH * (len(names) - 1 - n) for n in range(len(names))]
    line = segment((xs[0], y), (xs[-1], y), theme.color("line"))
    dots = [
        dot(x, y, 0.11 if n == here else 0.065, theme.color("text" if n == here else "line")) for n, x in enumerate(xs)
    ]
    for x, label in zip(xs, labels, strict=True):
        label.place(x, y - 0.46, "center")
    return VGroup(line, *dots, *labels)
