"""The one text factory: every glyph on screen is made here, from a line whose every run names its source."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from manim import VGroup, VMobject
from numpy.typing import NDArray

from addnorm.mathcore.symbols import Formula, Symbol
from addnorm.scenes.text import FormulaAtom, Line, Run
from addnorm.scenes.theme import PIXEL, Theme
from addnorm.scenes.typeset import CAP_HEIGHT, Paragraph, Setting, Span, typeset, typeset_formula

Array = NDArray[np.float64]
Align = Literal["left", "center", "right"]


@dataclass(frozen=True, eq=False)
class Ink:
    """What a set of glyphs must look like: the n-th run of a line, with its outline in em. Copies share it.

    ``language`` and ``paragraph`` are what the line was set with.
    """

    line: Line
    n: int
    outline: Array
    language: str
    paragraph: Paragraph | None = None

    @property
    def run(self) -> Run:
        """The run that is shown."""
        return self.line[self.n]

    def set_again(self) -> tuple[Array, ...]:
        """The outlines that typesetting gives for the runs of the line."""
        return _setting(self.line, self.language, self.paragraph).outlines

    def fit(self, points: Array) -> tuple[float, float]:
        """The even scale that, with a shift, maps the outline onto drawn points, and what is then left over.

        The remainder is the largest distance of a drawn point from its place, in em: exact text gives about
        1e-12, a stretched, rotated, mirrored, half-morphed or exchanged one far more.
        """
        if points.shape != self.outline.shape:
            return 0.0, np.inf
        first, last = self._ends
        scale = float((points[last] - points[first]).sum() / (self.outline[last] - self.outline[first]).sum())
        if not scale > 0:
            return scale, np.inf
        off = points - scale * self.outline
        return scale, float(np.abs(off - off[first]).max()) / scale

    @cached_property
    def _ends(self) -> tuple[int, int]:
        """Two points of the outline that are far apart: it is lowest along its diagonal, and highest."""
        along = self.outline.sum(axis=1)
        return int(along.argmin()), int(along.argmax())

    def __deepcopy__(self, memo: dict[int, Any]) -> Ink:
        return self


class Glyphs(VMobject):
    """The glyphs of one run, as one filled shape."""

    def __init__(self, ink: Ink, color: str, em: float) -> None:
        super().__init__(fill_color=color, fill_opacity=1, stroke_width=0)
        self.ink = ink
        self.points = ink.outline * em


class Lettering(VGroup):
    """A typeset line (or centred paragraph): one child for each run that has ink.

    ``em`` is its font size and ``advance`` its width, both in scene units at the size it was made; ``lines`` says
    on how many lines it stands.
    """

    def __init__(self, glyphs: list[Glyphs], em: float, advance: float, lines: int) -> None:
        super().__init__(*glyphs)
        self.glyphs = tuple(glyphs)
        self.em = em
        self.advance = advance
        self.lines = lines

    def place(self, x: float, y: float, align: Align = "left") -> Lettering:
        """Move a freshly made line so that its (first) baseline is at ``y`` and its edge or middle at ``x``."""
        dx = {"left": 0.0, "center": self.advance / 2, "right": self.advance}[align]
        self.shift(np.array([x - dx, y, 0.0]))
        return self

    def center_on(self, x: float, y: float) -> Lettering:
        """Move a freshly made line so that its capitals and digits are centred on a point."""
        return self.place(x, y - CAP_HEIGHT * self.em / 2, "center")

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs this lettering shows."""
        return tuple(glyphs.ink.run for glyphs in self.glyphs)


@dataclass(frozen=True)
class Pen:
    """Writes in one theme and one language."""

    theme: Theme
    language: str

    def write(
        self, line: Line, size: float, *, role: str | None = None, paragraph: Paragraph | None = None
    ) -> Lettering:
        """Set a line at a font size in pixels of a 1080p picture, its first baseline starting at the origin.

        Each run has the colour of its role; ``role`` overrides them all. As a ``paragraph`` it may break.
        """
        return self._lettering(line, size * PIXEL, role, paragraph)

    def formula(self, formula: Formula, size: float) -> Lettering:
        """Set a formula; its runs are the formula's atoms, so that parts can appear one by one."""
        runs = tuple(
            Run(formula.text, FormulaAtom(formula, n), atom.quantity or "text") for n, atom in enumerate(formula.atoms)
        )
        return self._lettering(runs, size * PIXEL, None, None)

    def _lettering(self, line: Line, em: float, role: str | None, paragraph: Paragraph | None) -> Lettering:
        setting = _setting(line, self.language, paragraph)
        glyphs = [
            Glyphs(Ink(line, n, outline, self.language, paragraph), self.theme.color(role or run.role), em)
            for n, (run, outline) in enumerate(zip(line, setting.outlines, strict=True))
            if len(outline)
        ]
        return Lettering(glyphs, em, setting.width * em, setting.lines)


def _setting(line: Line, language: str, paragraph: Paragraph | None) -> Setting:
    if line and isinstance(source := line[0].source, FormulaAtom):
        return typeset_formula(source.formula.math, len(source.formula.atoms))
    return typeset([_span(run) for run in line], language, paragraph)


def _span(run: Run) -> Span:
    return Span(math=run.source.math) if isinstance(run.source, Symbol) else Span(text=run.text)
