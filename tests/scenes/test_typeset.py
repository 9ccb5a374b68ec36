"""Typesetting, with the font file itself as the oracle: fontTools reads every outline and every advance."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from fontTools.pens.basePen import BasePen
from fontTools.ttLib import TTFont

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes import typeset as module
from addnorm.scenes.paths import asset
from addnorm.scenes.typeset import (
    CAP_HEIGHT,
    FONT_FILE,
    LINE_PITCH,
    SCRIPT_SCALE,
    Paragraph,
    Span,
    drawable,
    missing_characters,
    typeset,
    typeset_formula,
)

Array = Any


class Cubics(BasePen):  # type: ignore[misc]
    """Collects a glyph as cubic Bézier segments, every contour closed."""

    def __init__(self, glyphs: Any) -> None:
        super().__init__(glyphs)
        self.segments: list[Array] = []

    def _moveTo(self, point: Any) -> None:
        self.start = np.array(point, dtype=float)

    def _lineTo(self, point: Any) -> None:
        a, b = np.array(self._getCurrentPoint(), dtype=float), np.array(point, dtype=float)
        self.segments.append(np.array([a, a + (b - a) / 3, a + (b - a) * 2 / 3, b]))

    def _curveToOne(self, *points: Any) -> None:
        self.segments.append(np.array([self._getCurrentPoint(), *points], dtype=float))

    def _closePath(self) -> None:
        if not np.allclose(self.segments[-1][-1], self.start):
            self._lineTo(tuple(self.start))


class Font:
    """The bundled font as its file has it, in em."""

    def __init__(self) -> None:
        self._font = TTFont(asset("fonts", FONT_FILE))
        self._glyphs, self._em = self._font.getGlyphSet(), self._font["head"].unitsPerEm

    def outline(self, character: str) -> Array:
        pen = Cubics(self._glyphs)
        self._glyphs[self._font.getBestCmap()[ord(character)]].draw(pen)
        return np.concatenate(pen.segments) / self._em if pen.segments else np.zeros((0, 2))

    def advance(self, character: str) -> float:
        return float(self._glyphs[self._font.getBestCmap()[ord(character)]].width / self._em)


@pytest.fixture(scope="module")
def font() -> Font:
    return Font()


def set_text(text: str, language: str = "en") -> Array:
    return typeset([Span(text)], language).outlines[0][:, :2]


def parts(outline: Array, text: str, font: Font) -> list[tuple[str, Array]]:
    """An outline cut into what the font has for each character of a text: neither more nor less."""
    inked = [(c, font.outline(c)) for c in text if not c.isspace()]
    counts = [len(glyph) for _, glyph in inked]
    assert sum(counts) == len(outline), text
    pieces = np.split(outline, np.cumsum(counts)[:-1])
    return [(c, piece - glyph) for (c, glyph), piece in zip(inked, pieces, strict=True)]


NUMBERS = ["0123456789", "−0.385420", "1.2×", "0.592455", "=", "≈", "384"]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_are_the_fonts_own_outlines_side_by_side(text: str, language: str, font: Font) -> None:
    places = itertools.accumulate((font.advance(c) for c in text), initial=0.0)
    for (character, offset), x in zip(parts(set_text(text, language), text, font), places, strict=False):
        assert np.abs(offset - (x, 0)).max() < 1e-9, character
    assert typeset([Span(text)], language).width == pytest.approx(sum(map(font.advance, text)), abs=1e-9)


@pytest.mark.parametrize("wrong", ["0.592454", "0.592445", "0.59245"])
def test_another_digit_is_not_taken_for_the_right_one(wrong: str, font: Font) -> None:
    outline = set_text("0.592455")
    assert sum(len(font.outline(c)) for c in wrong) != len(outline) or any(
        np.ptp(offset, axis=0).max() > 1e-3 for _, offset in parts(outline, wrong, font)
    )


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "neighbours", [("μ", " = "), ("归一化", ""), ("LN ", "，"), ("σ² = ", " token"), ("x₁", "个特征"), ("…", "")]
)
def test_digits_keep_their_shape_next_to_other_scripts(neighbours: tuple[str, str], language: str, font: Font) -> None:
    before, after = neighbours
    outline = typeset([Span(before), Span("1.098888"), Span(after)], language).outlines[1][:, :2]
    for character, offset in parts(outline, "1.098888", font):
        assert np.ptp(offset, axis=0).max() < 1e-9, character
        assert abs(offset[0, 1]) < 1e-9


LITERAL = [
    "x<y", "a & b", "<pad>", "#", "$", "_", "\\", "\"it's\"", "'a' “b” «c»", "{ln.mean[0]}", "[CLS]", "##ing",
    "fi ffl ff", "--- -- ...", "~ @a *b* `c`", "= h", "- list", "+ 1", "/ term: x", "// no comment", "/* no */",
    "https://a.b/c", "\\u{41} \\n", "#let x = 1", "$x^2$", "a_b^c", "Ġthe", "▁to", "@ref",
    "&amp; &#65;", "100%", "归一化 LN",
]  # fmt: skip


@pytest.mark.parametrize("text", LITERAL)
def test_a_text_appears_as_it_is_typed(text: str, font: Font) -> None:
    if missing_characters(text):
        text = drawable(text)
    for character, offset in parts(set_text(text), text, font):
        assert np.ptp(offset, axis=0).max() < 1e-9, character
        assert abs(offset[0, 1]) < 1e-9, character


def test_characters_run_from_left_to_right_in_their_order(font: Font) -> None:
    text = "<pad> & {x}"
    lefts = [offset[0, 0] for _, offset in parts(set_text(text), text, font)]
    assert lefts == sorted(lefts)
    assert len(set(lefts)) == len(lefts)


@pytest.mark.parametrize(("text", "digits", "above"), [("10⁻⁵", "−5", True), ("x₁₂", "12", False)])
def test_scripts_are_smaller_digits_above_or_below(text: str, digits: str, above: bool, font: Font) -> None:
    base = sum(len(font.outline(c)) for c in text if c in "10x")
    scripts = set_text(text)[base:]
    for character in digits:
        glyph = font.outline(character)
        piece, scripts = scripts[: len(glyph)], scripts[len(glyph) :]
        offset = piece - SCRIPT_SCALE * glyph
        assert np.ptp(offset, axis=0).max() < 1e-9
        assert (offset[0, 1] > 0.3) == above
        assert (offset[0, 1] < -0.1) != above
    assert not len(scripts)


def test_spans_share_one_baseline_and_follow_one_another(font: Font) -> None:
    setting = typeset([Span("μ = "), Span(math="sigma^2"), Span("1.0"), Span("归")])
    for outline, text in ((setting.outlines[2], "1.0"), (setting.outlines[3], "归")):
        assert all(abs(offset[0, 1]) < 1e-9 for _, offset in parts(outline[:, :2], text, font))
    lefts = [outline[:, 0].min() for outline in setting.outlines]
    rights = [outline[:, 0].max() for outline in setting.outlines]
    assert all(
        right <= left for right, left in itertools.pairwise([0.0, *itertools.chain(*zip(lefts, rights, strict=True))])
    )


def test_a_capital_is_as_high_as_is_said(font: Font) -> None:
    assert font.outline("H")[:, 1].max() == pytest.approx(CAP_HEIGHT, abs=1e-3)
    assert font.outline("8")[:, 1].max() == pytest.approx(CAP_HEIGHT, abs=0.02)


def test_a_paragraph_breaks_into_centred_lines_at_one_distance() -> None:
    setting = typeset([Span("H H H H H H H H")], paragraph=Paragraph(3.0))
    feet = sorted({round(float(y), 6) for y in setting.outlines[0].reshape(-1, 4, 3)[:, 0, 1] if y <= 0}, reverse=True)
    lines = [y for y in feet if min(abs(y + n * LINE_PITCH) for n in range(setting.lines)) < 1e-6]
    assert setting.lines == len(lines) > 1
    assert setting.width == pytest.approx(3.0)
    for n in range(setting.lines):
        on_line = np.abs(setting.outlines[0][:, 1] + n * LINE_PITCH - CAP_HEIGHT / 2) < CAP_HEIGHT
        xs = setting.outlines[0][on_line, 0]
        assert xs.min() + xs.max() == pytest.approx(3.0, abs=0.02)


def test_a_formula_gives_the_outline_of_each_atom() -> None:
    whole = typeset_formula("atom(#0, x) atom(#1, frac(1, y)) atom(#2, sqrt(z))", 3)
    assert all(len(outline) for outline in whole.outlines)
    assert whole.outlines[1][:, 1].max() > 0 > whole.outlines[1][:, 1].min()


def test_a_character_that_the_font_lacks_is_an_error_that_names_it() -> None:
    with pytest.raises(AddnormError, match=r"'🙂' \(U\+1F642\)"):
        typeset([Span("token 🙂")])
    assert drawable("a🙂b") == "aU+1F642b"
    assert missing_characters("μσ²γβε⊙√≈⁻⁵₁ 归一化") == ()


def test_nothing_but_the_bundled_fonts_is_used() -> None:
    """A script that the bundled font does not have is on many systems, and must not come from there."""
    with pytest.raises(AddnormError, match="the bundled font has no"):
        typeset([Span("สวัสดี")])


def test_the_same_text_gives_the_same_outline_in_any_order() -> None:
    texts = [*NUMBERS, *LITERAL[:6], "归一化"]
    first = {text: set_text(text).copy() for text in texts}
    module._typeset.cache_clear()
    module._outline.cache_clear()
    random.Random(7).shuffle(texts)
    for text in (*texts, *texts):
        assert np.array_equal(set_text(text), first[text])


def test_outlines_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        set_text("1")[0] = 0
