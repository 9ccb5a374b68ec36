"""Numbers drawn by the verifier: as typesetting places them, and as much ink as the font's outlines hold."""

from __future__ import annotations

import numpy as np
import pytest
from fontTools.pens.areaPen import AreaPen
from fontTools.ttLib import TTFont

from addnorm.scenes.paths import asset
from addnorm.scenes.typeset import FONT_FILE, Span, typeset
from addnorm.scenes.verify.raster import Pose, Sheet, advance, ink, pose

NUMBERS = ("0.592455", "−0.385", "11.171", "7.4−", "1.2×10⁻⁷", "3.46×10⁸", "=", "≈")


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_stands_as_it_is_typeset(text: str) -> None:
    whole = typeset([Span(text)])
    assert advance(text) == pytest.approx(whole.width, abs=1e-9)
    corners = (whole.outlines[0].min(axis=0)[:2], whole.outlines[0].max(axis=0)[:2])
    assert np.abs(np.array(ink(text)) - corners).max() < 1e-9


def test_a_blank_is_as_wide_as_what_it_stands_for() -> None:
    assert advance("0\u2008592\u200755") == advance("0.592455")


@pytest.mark.parametrize("text", ["0.592455", "−1.435"])
@pytest.mark.parametrize("em", [7.3, 40.0])
def test_the_ink_is_that_of_the_font(text: str, em: float) -> None:
    with TTFont(asset("fonts", FONT_FILE)) as font:
        glyphs, cmap, units = font.getGlyphSet(), font.getBestCmap(), font["head"].unitsPerEm
        area = 0.0
        for character in text:
            pen = AreaPen(glyphs)
            glyphs[cmap[ord(character)]].draw(pen)
            area += abs(pen.value) / units**2
    width = round(advance(text) * em) + 4
    covered = Sheet(10, 20, width, round(1.2 * em)).coverage(text, Pose(em, em, 12.3, 20.6 + 0.9 * em))
    assert 0 == covered.min() < 0.7 < covered.max() <= 1
    assert covered.sum() == pytest.approx(area * em**2, rel=0.02)  # where strokes of a 4 overlap, the font counts twice


def test_a_pose_is_found_from_the_box_of_the_ink() -> None:
    (left, bottom), (right, top) = ink("−0.006")
    found = pose("−0.006", 100 + left * 30, 50 - top * 20, (right - left) * 30, (top - bottom) * 20)
    assert (found.em_x, found.em_y, found.x, found.y) == pytest.approx((30, 20, 100, 50))
