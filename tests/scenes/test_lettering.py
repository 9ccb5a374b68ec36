"""Letterings: where they stand, and how drawn points are recognized as those of a text."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addnorm.mathcore.labels import stage_label
from addnorm.mathcore.symbols import layer_norm_formula, symbol
from addnorm.mathcore.trace import Trace
from addnorm.scenes.elements.lettering import Ink, Pen
from addnorm.scenes.text import FormulaAtom, name_line, symbol_line, value_line
from addnorm.scenes.theme import PIXEL, load_theme
from addnorm.scenes.typeset import CAP_HEIGHT, Paragraph

EXACT = 1e-9


@pytest.fixture(scope="module")
def pen() -> Pen:
    return Pen(load_theme("dark"), "en")


@pytest.fixture(scope="module")
def ink(pen: Pen, trace: Trace) -> Ink:
    return pen.write(value_line(stage_label(trace, "ln.out[0,2]")), 44).glyphs[0].ink


def test_a_line_stands_on_its_baseline_at_its_edge_or_middle(pen: Pen) -> None:
    for align, left in (("left", 1.0), ("center", 1 - 0.5), ("right", 1 - 1.0)):
        line: Any = pen.write(name_line("HH"), 50).place(1.0, 2.0, align)  # type: ignore[arg-type]
        points = line.glyphs[0].points
        assert points[:, 1].min() == pytest.approx(2.0, abs=EXACT)
        assert points[:, 1].max() == pytest.approx(2.0 + CAP_HEIGHT * 50 * PIXEL, abs=1e-3)
        bearing = points[:, 0].min() - (1.0 + (left - 1.0) * line.advance)
        assert 0 < bearing < 0.2 * line.em


def test_capitals_are_centred_on_a_point(pen: Pen) -> None:
    points = pen.write(name_line("H"), 50).center_on(-3, 1.5).glyphs[0].points
    assert points[:, 1].min() + points[:, 1].max() == pytest.approx(3.0, abs=1e-3)
    assert points[:, 0].min() + points[:, 0].max() == pytest.approx(-6.0, abs=1e-3)


def test_glyphs_know_their_line_and_copies_share_their_ink(pen: Pen) -> None:
    line = (*symbol_line(symbol("ln.mean", 0)), *name_line(" = "), *name_line("R44"))
    lettering = pen.write(line, 44)
    assert [glyphs.ink.run for glyphs in lettering.glyphs] == list(line)
    assert all(glyphs.ink.line is lettering.glyphs[0].ink.line for glyphs in lettering.glyphs)
    assert lettering.copy().glyphs[1].ink is lettering.glyphs[1].ink
    assert deepcopy(lettering.glyphs[0]).ink is lettering.glyphs[0].ink


def test_ink_set_again_is_the_same(pen: Pen) -> None:
    line = name_line("one two three four")
    for lettering in (pen.write(line, 44), pen.write(line, 44, paragraph=Paragraph(4.0))):
        for glyphs in lettering.glyphs:
            assert np.array_equal(glyphs.ink.set_again()[glyphs.ink.n], glyphs.ink.outline)


def test_a_formula_has_a_run_for_each_atom(pen: Pen) -> None:
    formula = layer_norm_formula("post")
    sources = [glyphs.ink.run.source for glyphs in pen.formula(formula, 40).glyphs]
    assert sources == [FormulaAtom(formula, n) for n in range(len(formula.atoms))]


places = st.floats(-20, 20)


@settings(deadline=None, max_examples=50)
@given(scale=st.floats(1e-2, 50), x=places, y=places)
def test_even_scaling_and_a_shift_are_recognized(ink: Ink, scale: float, x: float, y: float) -> None:
    found, rest = ink.fit(ink.outline * scale + [x, y, 0])
    assert found == pytest.approx(scale, rel=1e-9)
    assert rest < EXACT


@settings(deadline=None, max_examples=50)
@given(by=st.floats(1e-4, 2) | st.floats(-0.9, -1e-4), axis=st.sampled_from([0, 1]))
def test_stretching_is_not(ink: Ink, by: float, axis: int) -> None:
    points = ink.outline.copy()
    points[:, axis] *= 1 + by
    assert ink.fit(points)[1] > 1e-5


@settings(deadline=None, max_examples=50)
@given(angle=st.floats(1e-3, 2 * np.pi - 1e-3))
def test_turning_is_not(ink: Ink, angle: float) -> None:
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    assert ink.fit(ink.outline @ turn.T)[1] > 1e-5


@settings(deadline=None, max_examples=50)
@given(n=st.integers(0, 300), by=st.floats(1e-5, 1))
def test_a_moved_point_is_not(ink: Ink, n: int, by: float) -> None:
    points = ink.outline.copy()
    points[n % len(points), n % 2] += by
    assert ink.fit(points)[1] > 1e-6


@pytest.mark.parametrize("axis", [0, 1])
def test_a_mirror_image_is_not(ink: Ink, axis: int) -> None:
    points = ink.outline.copy()
    points[:, axis] *= -1
    assert ink.fit(points)[1] > 0.01


@pytest.mark.parametrize("share", [1e-4, 0.5, 0.9999])
def test_half_a_morph_is_not(ink: Ink, share: float) -> None:
    other = ink.outline.copy()
    other[40:80] = other[80:120]
    assert ink.fit((1 - share) * ink.outline + share * other)[1] > 1e-6


def test_other_numbers_of_points_and_no_numbers_are_not(ink: Ink) -> None:
    assert ink.fit(ink.outline[4:])[1] == np.inf
    assert ink.fit(-ink.outline)[1] == np.inf
    assert not ink.fit(np.full_like(ink.outline, np.nan))[1] < 1
