from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
import pytest
from manim import Circle, Rectangle, VGroup, VMobject, tempconfig
from numpy.typing import NDArray

from addnorm.mathcore.example import MAX_DECIMALS, MAX_STATISTICS_DECIMALS, Display, Example, GivenOutput
from addnorm.mathcore.example_files import load_example
from addnorm.mathcore.labels import stage_label
from addnorm.mathcore.symbols import layer_norm_formula, symbol
from addnorm.mathcore.trace import Trace, run
from addnorm.scenes.elements.caption import paragraph
from addnorm.scenes.elements.lettering import Glyphs, Lettering, Pen
from addnorm.scenes.elements.shapes import THIN, box, segment
from addnorm.scenes.films import FILMS
from addnorm.scenes.legibility import CHECKS, Finding, Layer, Sheet, contrast, examine, visible_runs
from addnorm.scenes.paths import bundled_examples, find_example
from addnorm.scenes.stage import Picture, Production
from addnorm.scenes.text import Constant, Counted, Elided, Run, User, languages, value_line
from addnorm.scenes.theme import FRAME_HEIGHT, FRAME_WIDTH, MEANINGS, PIXEL, Theme, load_theme, themes
from addnorm.scenes.typeset import CAP_HEIGHT, SCRIPT_SCALE, Span, typeset, typeset_formula

Array = NDArray[np.float64]
FILM = FILMS["r44"]
M = TypeVar("M", bound=VMobject)


# Scenes made by hand: black on white, places in pixels of a 1080p picture from its top left corner.

GREY = "#767676"
WHITE = Theme("white", {**load_theme("light").colors, "text": "#000000", "pale": "#777777", "paler": "#BBBBBB"})
PEN = Pen(WHITE, "en")
LINE_WIDTH = THIN / 100 / PIXEL


def ink(mobject: VMobject) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of the points that are drawn; the width of lines comes on top."""
    points = np.concatenate([leaf.points for leaf in mobject.family_members_with_points()])
    across, down = FRAME_WIDTH / PIXEL / 2, FRAME_HEIGHT / PIXEL / 2
    (left, bottom, _), (right, top, _) = points.min(axis=0) / PIXEL, points.max(axis=0) / PIXEL
    return across + left, down - top, across + right, down - bottom


def put(mobject: M, left: float, top: float) -> M:
    there_left, there_top, _, _ = ink(mobject)
    mobject.shift(((left - there_left) * PIXEL, (there_top - top) * PIXEL, 0.0))
    return mobject


def write(text: str, left: float = 1000, top: float = 500, size: float = 40, role: str = "text") -> Lettering:
    return put(PEN.write((Run(text, Constant("a test"), role),), size), left, top)


def rule(left: float, right: float, top: float) -> VMobject:
    """A thin line whose upper side is at a height."""
    return put(segment((0, 0), ((right - left) * PIXEL, 0), GREY), left, top + LINE_WIDTH / 2)


def area(left: float, top: float, width: float, height: float, color: str = GREY) -> VMobject:
    shape = Rectangle(width=width * PIXEL, height=height * PIXEL, stroke_width=0, fill_color=color, fill_opacity=1)
    return put(shape, left, top)


def framed(text: VMobject, width: float, color: str = GREY, fill: str = "#FFFFFF") -> VGroup:
    """A text in the middle of a cell; ``width`` and 80 pixels are the inner measures of its border."""
    left, top, right, bottom = ink(text)
    width += LINE_WIDTH
    height = 80 + LINE_WIDTH
    frame = box(0, 0, width * PIXEL, height * PIXEL, color, fill)
    return VGroup(put(frame, (left + right - width) / 2, (top + bottom - height) / 2), text)


def behind(text: VMobject, color: str, opacity: float = 1) -> VGroup:
    """A text on an area that is larger than it by 20 pixels on each side."""
    left, top, right, bottom = ink(text)
    ground = area(left - 20, top - 20, right - left + 40, bottom - top + 40, color)
    return VGroup(ground.set_fill(opacity=opacity), text)


def good() -> Picture:
    """A heading over a rule, a number in its cell, a bar in a colour that is named, a paragraph."""
    words = (Run("Two lines that stand one above the other", Constant("a test")),)
    return {
        "heading": write("Readable", 200, 100),
        "rule": rule(200, 900, 200),
        "cell": framed(write("1.599", 250, 325), 200),
        "bar": area(600, 300, 60, 200, WHITE.color("sum")),
        "name": write("sum", 700, 300, role="sum"),
        "paragraph": put(paragraph(PEN, words, 60, 5.0, 0, most=9), 200, 700),
    }


def test_a_good_scene_gives_no_finding() -> None:
    picture = good()
    assert examine(picture, WHITE) == ()
    assert [run.text for run in visible_runs(picture)][:3] == ["Readable", "1.599", "sum"]
    assert len(Sheet.of(picture, WHITE).blocks[-1].lines) == 2


# What may be added to the good scene.


def two_texts(down: float, right: float | None = None) -> VMobject:
    """A text, and another one lower by a distance; in the same column, or that far to the right of it."""
    text = write("mmm")
    _, _, end, bottom = ink(text)
    return VGroup(text, write("nnn", 1000 if right is None else end + right, bottom + down))


def with_a_line(distance: float) -> VMobject:
    """A text over a line; the distance is that between the ink of both."""
    text = write("mmm")
    return VGroup(text, rule(900, 1300, ink(text)[3] + distance))


def with_a_bar(distance: float) -> VMobject:
    """A text left of a bar."""
    text = write("mmm")
    return VGroup(area(ink(text)[2] + distance, 450, 60, 200), text)


def displaced_run() -> VMobject:
    """A line whose second run has slipped onto the first."""
    line = PEN.write((Run("first", Constant("a test")), Run("second", Constant("a test"))), 40)
    line[1].shift(((ink(line[0])[2] - 10 - ink(line[1])[0]) * PIXEL, 0.0, 0.0))
    return put(line, 1000, 500)


def chip_over_a_line(*order: int) -> VMobject:
    """A line, a chip across it and the chip's text, painted in an order."""
    text = write("chip")
    _, top, _, bottom = ink(text)
    frame, _ = framed(text, 200)
    parts = (rule(800, 1400, (top + bottom) / 2), frame, text)
    return VGroup(*(parts[n] for n in order))


def under_an_area(letters: float, opacity: float) -> VMobject:
    """Two letters of one shape; an area painted after them covers so many of them, and the blanks around."""
    text = write("H H")
    left, top, right, bottom = ink(text)
    cover = area(left - 20, top - 20, (right - left) * letters / 2 + (20 if letters < 2 else 40), bottom - top + 40)
    return VGroup(text, cover.set_fill(opacity=opacity).set_stroke(GREY, THIN))


def of_height(pixels: float, text: str = "Text") -> VMobject:
    return write(text, size=pixels / CAP_HEIGHT)


def shrunk(text: VMobject, factor: float) -> VMobject:
    return text.scale(factor)


def without_a_glyph() -> VMobject:
    """What the pen refuses to write, claimed by the glyphs of another text."""
    words = write("AB")
    glyphs = words[0]
    assert isinstance(glyphs, Glyphs)
    glyphs.ink = replace(glyphs.ink, line=(Run("A\N{SLIGHTLY SMILING FACE}", User("tokens[0]")),), n=0)
    return words


def without_words(*line: Run) -> VMobject:
    """A bar in the colour of the statistics, and a line beside it that does not say what they are."""
    return VGroup(area(900, 450, 60, 200, WHITE.color("statistics")), put(PEN.write(line, 40), 1000, 500))


def a_number() -> Run:
    (number,) = value_line(stage_label(trace("r44"), "ln.mean[0]"), "statistics")
    return number


def right_at(text: VMobject, right: float, top: float) -> VMobject:
    return put(text, right - (ink(text)[2] - ink(text)[0]), top)


def bottom_at(text: VMobject, left: float, bottom: float) -> VMobject:
    return put(text, left, bottom - (ink(text)[3] - ink(text)[1]))


HALF_CAPITAL = 40 * CAP_HEIGHT / 2
HALF_CHIP = (ink(write("chip"))[3] - ink(write("chip"))[1]) / 2

Check = Callable[[Sheet], Iterator[Finding]]
Made = Callable[[], VMobject]
Expected = tuple[str, str, float, float]  # rule, what, measured, wanted

BAD: dict[str, tuple[Made, list[Expected]]] = {
    "left of the margin": (lambda: write("near", 60), [("margin", "near", 60, 96)]),
    "above the margin": (lambda: write("near", 1000, 50), [("margin", "near", 50, 54)]),
    "right of the margin": (lambda: right_at(write("near"), 1850, 500), [("margin", "near", 70, 96)]),
    "below the margin": (lambda: bottom_at(write("near"), 1000, 1070), [("margin", "near", 10, 54)]),
    "outside the picture": (lambda: write("gone", -10), [("margin", "gone", -10, 96)]),
    "a label under another": (lambda: two_texts(-10), [("text over text", "mmm | nnn", -10, 8)]),
    "a label close under another": (lambda: two_texts(3), [("text over text", "mmm | nnn", 3, 8)]),
    "a label close at a corner": (lambda: two_texts(3, 4), [("text over text", "mmm | nnn", 5, 8)]),
    "a run that slipped": (displaced_run, [("text over text", "first | second", -10, 0)]),
    "a line through a label": (lambda: with_a_line(-9), [("text over line", "mmm", -9, 8)]),
    "a line close under a label": (lambda: with_a_line(3), [("text over line", "mmm", 3, 8)]),
    "a label on the edge of a bar": (lambda: with_a_bar(-9), [("text over line", "mmm", -9, 8)]),
    "a line over a chip": (
        lambda: chip_over_a_line(1, 0, 2),
        [("text over line", "chip", -HALF_CHIP, 8)],
    ),
    "a number as wide as its cell": (
        lambda: framed(w := write("1234567"), ink(w)[2] - ink(w)[0] + 6),
        [("text leaves its cell", "1234567", 3, 8)],
    ),
    "a number wider than its cell": (
        lambda: framed(w := write("1234567"), ink(w)[2] - ink(w)[0] - 18),
        [("text leaves its cell", "1234567", -9, 8)],
    ),
    "a number beside its cell": (
        lambda: VGroup(framed(write("1"), 100)[0], write("1", 1200)),
        [("empty cell", "RoundedRectangle", 0, 1)],
    ),
    "a covered label": (lambda: under_an_area(2, 1), [("covered text", "H H", 1, 0)]),
    "a label under a veil": (lambda: under_an_area(2, 0.1), [("covered text", "H H", 1, 0)]),
    "a half covered label": (
        lambda: under_an_area(1, 1),
        [("text over line", "H H", -HALF_CAPITAL - LINE_WIDTH / 2, 8), ("covered text", "H H", 0.5, 0)],
    ),
    "20 px text": (lambda: of_height(20), [("text height", "Text", 20, 24)]),
    "text that was shrunk": (lambda: shrunk(of_height(40), 0.5), [("text height", "Text", 20, 24)]),
    "a small script": (
        lambda: of_height(21, "10⁻⁵"),
        [("text height", "10⁻⁵", 21, 24), ("script height", "10⁻⁵", 21 * SCRIPT_SCALE, 15)],
    ),
    "grey on white": (lambda: write("pale", role="pale"), [("text contrast", "pale", 4.48, 4.5)]),
    "light grey on white": (lambda: write("pale", role="paler"), [("text contrast", "pale", 1.92, 4.5)]),
    "translucent on white": (
        lambda: write("pale").set_fill(opacity=0.5),
        [("text contrast", "pale", 3.98, 4.5)],
    ),
    "black on a dark bar": (lambda: behind(write("dark"), "#707070"), [("text contrast", "dark", 4.24, 4.5)]),
    "black on a dark tint": (
        lambda: behind(write("dark"), "#000000", 0.6),
        [("text contrast", "dark", 3.66, 4.5)],
    ),
    "a pale bar": (lambda: area(1000, 300, 60, 200, "#959595"), [("mark contrast", "Rectangle", 3.0, 3)]),
    "a pale frame": (
        lambda: framed(write("cell"), 200, "#BBBBBB"),
        [("mark contrast", "RoundedRectangle", 1.92, 3)],
    ),
    "a missing glyph": (without_a_glyph, [("missing glyph", "\N{SLIGHTLY SMILING FACE}", 1, 0)]),
    "a colour without a name": (
        lambda: area(1000, 300, 60, 200, WHITE.color("x")),
        [("unnamed colour", "x", 0, 1)],
    ),
    "a colour with a number alone": (
        lambda: without_words(a_number()),
        [("unnamed colour", "statistics", 0, 1)],
    ),
    "a colour with a count alone": (
        lambda: without_words(Run("… 381 more …", Elided(381), "statistics")),
        [("unnamed colour", "statistics", 0, 1)],
    ),
}

HARMLESS: dict[str, Made] = {
    "a text that cannot be seen": lambda: write("gone", -10).set_fill(opacity=0),
    "texts at a distance": lambda: two_texts(8.01),
    "a line at a distance": lambda: with_a_line(8.01),
    "a bar at a distance": lambda: with_a_bar(8.01),
    "a chip on a line": lambda: chip_over_a_line(0, 1, 2),
    "a line that is painted first": lambda: VGroup(chip_over_a_line(1, 2), chip_over_a_line(0).set_z_index(-1)),
    "a number that fits its cell": lambda: framed(w := write("1234567"), ink(w)[2] - ink(w)[0] + 16.1),
    "24 px text": lambda: of_height(24.01, "10⁻⁵"),
    "the lightest grey": lambda: write("grey", role="line").set_fill(GREY),
    "light grey on a dark bar": lambda: behind(write("grey", role="paler"), "#333333"),
    "black on white on a dark bar": lambda: behind(behind(write("top"), "#FFFFFF"), "#333333"),
    "the palest bar": lambda: area(1000, 300, 60, 200, "#949494"),
    "a faint area with a clear outline": lambda: area(1000, 300, 60, 200, "#EEEEEE").set_stroke(GREY, THIN),
    "a line between the lines of a paragraph": lambda: rule(150, 900, 762),
    "a named colour": lambda: VGroup(area(900, 450, 60, 200, WHITE.color("x")), write("input", role="x")),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_thing_is_found_and_nothing_else(name: str) -> None:
    make, expected = BAD[name]
    findings = examine({**good(), "bad": make()}, WHITE)
    assert [(f.rule, f.what) for f in findings] == [(rule, what) for rule, what, _, _ in expected]
    assert [f.measured for f in findings] == pytest.approx([measured for _, _, measured, _ in expected], abs=0.01)
    assert [f.wanted for f in findings] == [wanted for _, _, _, wanted in expected]
    assert all(f.where.startswith("bad") for f in findings)


@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_thing_gives_no_finding(name: str) -> None:
    assert examine({**good(), "harmless": HARMLESS[name]()}, WHITE) == ()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_each_check_is_seen_to_fail(check: Check) -> None:
    assert [*check(Sheet.of(good(), WHITE))] == []
    assert any([*check(Sheet.of({"bad": make()}, WHITE))] for make, _ in BAD.values())


def test_elements_are_painted_from_back_to_front() -> None:
    chip, line = chip_over_a_line(1, 2), rule(800, 1400, 515)
    assert examine({"line": line, "chip": chip}, WHITE) == ()
    (finding,) = examine({"chip": chip, "line": line}, WHITE)
    assert (finding.rule, finding.what) == ("text over line", "chip")
    assert finding.where == "chip at (1038, 520), line"
    assert str(finding) == f"{finding.rule}: 'chip' in {finding.where}: {finding.measured:.2f}, wanted 8"


def test_contrast_is_that_of_the_standard() -> None:
    """Well-known ratios: black on white, the palest grey that will do on white, the primaries on white."""
    white = np.ones((5, 3))
    others = np.array([[0, 0, 0], [0x76, 0x76, 0x76], [255, 0, 0], [0, 255, 0], [0, 0, 255]]) / 255
    assert contrast(white, others) == pytest.approx([21, 4.54, 4.0, 1.37, 8.59], abs=0.005)
    assert contrast(others, white) == pytest.approx(contrast(white, others))


def test_an_area_contains_the_points_inside_its_outline() -> None:
    """A disc with a hole: its inner outline runs the other way round."""
    ring = Circle(radius=2).append_points(Circle(radius=1).reverse_points().points)
    points = np.random.default_rng(1).uniform(-2.5, 2.5, (2000, 2))
    distance = np.hypot(*points.T)
    clear = np.abs(distance[:, None] - (1, 2)).min(axis=1) > 0.01
    pixels = (points * (1, -1) + np.array([FRAME_WIDTH, FRAME_HEIGHT]) / 2) / PIXEL
    inside = Layer("ring", 0, ring).contains(pixels)
    assert clear.sum() > 1900
    assert (inside == ((distance > 1) & (distance < 2)))[clear].all()


# The film.

PRODUCTIONS = [
    (example, language, theme) for example in bundled_examples() for language in languages() for theme in themes()
]


@cache
def trace(example: str) -> Trace:
    return run(load_example(find_example(example)))


@cache
def pictures(example: str, language: str, theme: str) -> dict[str, Picture]:
    """Every finished picture of the film: its states and its panels."""
    with tempconfig({"dry_run": True}):
        stage = FILM.stage(trace(example))(Production(trace(example), language, theme))
    return {state.name: stage.picture(state) for state in (*stage.board.states, *stage.board.panels)}


def names(example: str) -> list[str]:
    board = FILM.storyboard(trace(example))
    return [state.name for state in (*board.states, *board.panels)]


def each_picture(*productions: tuple[str, ...]) -> pytest.MarkDecorator:
    cases = [(production, name) for production in productions for name in names(production[0])]
    return pytest.mark.parametrize(
        ("production", "name"),
        cases,
        ids=["-".join((name, *production[1:], production[0])) for production, name in cases],
    )


@each_picture(*PRODUCTIONS)
def test_every_picture_of_the_film_can_be_read(production: tuple[str, str, str], name: str) -> None:
    picture = pictures(*production)[name]
    findings = examine(picture, load_theme(production[2]))
    assert len(visible_runs(picture)) > 3
    assert "\n".join(map(str, findings)) == ""


LARGE = [[-11728395.1, -14345678.5, -9876543.2, -12345678.1, -13333333.3], [1, 2, 3, 4, 5.0]]
VARIED = [[7025.123, 0.7, 6999.3, -1.25, 7.5], [1, 2, 3, 4, 5.0]]


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("x", [LARGE, VARIED])
def test_the_most_places_there_may_be_can_be_read(x: Any, norm: Any) -> None:
    rows = np.array(x)
    places = Display(MAX_DECIMALS, MAX_STATISTICS_DECIMALS)
    ones, zeros = np.ones(rows.shape[1]), np.zeros(rows.shape[1])
    example = Example("places", rows, GivenOutput(rows[:, ::-1] / 3), ones, zeros, norm=norm, display=places)
    with tempconfig({"dry_run": True}):
        stage = FILM.stage(run(example))(Production(run(example), "en"))
    texts = {label.ref: label.text for label in stage.board.state("b2").labels if norm == "post"}
    assert max(map(len, texts.values()), default=16) >= 16
    for state in (*stage.board.states, *stage.board.panels):
        found = [str(finding) for finding in examine(stage.picture(state), load_theme("dark"))]
        assert [line for line in found if not line.startswith("mark contrast")] == []  # of the bars, not the numbers


# Words.

CHINESE = re.compile(r"[\u2E80-\u9FFF\uF900-\uFAFF\uFE30-\uFE4F\uFF00-\uFFEF\U00020000-\U0003FFFF]+")
LATIN = re.compile(r"[A-Za-z][A-Za-z-]+")  # a single letter is a symbol
TERMS = {"token", "LayerNorm", "dropout", "post-norm", "pre-norm", "float", "BERT", "MiniLM"}
"""What a Chinese text on the subject leaves in English: terms of the field, names of models and formats."""


def strays(runs: tuple[Run, ...], language: str) -> set[str]:
    """Words of the other language. Numbers, symbols and names belong to none, tokens are what they are."""
    texts = [run.text for run in runs if isinstance(run.source, Constant | Counted | Elided) or is_told(run)]
    if language == "zh":
        return {word for text in texts for word in LATIN.findall(text)} - TERMS
    return {word for text in texts for word in CHINESE.findall(text)}


def is_told(run: Run) -> bool:
    """Whether an example tells something in words of its own: a title, a caption, a note."""
    return isinstance(run.source, User) and not run.source.field.startswith("tokens")


@each_picture(*((example, language) for example in bundled_examples() for language in ("zh", "en")))
def test_no_picture_has_words_of_the_other_language(production: tuple[str, str], name: str) -> None:
    runs = visible_runs(pictures(*production, "dark")[name])
    assert any(isinstance(run.source, Constant) for run in runs)
    assert strays(runs, production[1]) == set()


def test_a_stray_word_is_found() -> None:
    def constants(*texts: str) -> tuple[Run, ...]:
        return tuple(Run(text, Constant("a test")) for text in texts)

    assert strays(constants("LayerNorm 沿哪条轴", "feature axis：特征轴"), "zh") == {"feature", "axis"}
    assert strays(constants("the row", "this 行", "ok。", "（no）"), "en") == {"行", "。", "（", "）"}
    assert strays((Run("two heads", Counted("head_kind")),), "zh") == {"two", "heads"}
    assert strays((Run("来源", User("note.zh")),), "en") == {"来源"}
    assert strays((Run("猫", User("tokens[0]")),), "en") == set()


# The math font, which typesetting does not report on.


def boxes_for_missing_glyphs(outline: Array) -> int:
    """How many of the boxes that the math font draws for a character it lacks stand in an outline."""
    tofu = typeset([Span(math="中")]).outlines[0]
    shape = (tofu - tofu[0]) / np.ptp(tofu[:, 1])
    windows = (outline[n : n + len(tofu)] for n in range(0, len(outline) - len(tofu) + 1, 4))
    return sum(np.allclose((w - w[0]) / max(np.ptp(w[:, 1]), 1e-9), shape, atol=1e-3) for w in windows)


def test_every_symbol_is_in_the_math_font() -> None:
    quantities = [
        "resid_pre",
        "attn_out",
        "update",
        "resid_mid",
        "ln.normalized",
        "ln.out",
        "ln.mean",
        "ln.var",
    ]
    quantities += ["ln.std", "eps", "gamma", "beta"]
    tokens = (None, 0, 8, 9, 122)
    for named in (symbol(q, token, norm) for q in quantities for token in tokens for norm in ("post", "pre")):
        assert boxes_for_missing_glyphs(typeset([Span(math=named.math)]).outlines[0]) == 0, named
    for formula in map(layer_norm_formula, ("post", "pre")):
        outlines = typeset_formula(formula.math, len(formula.atoms)).outlines
        assert [boxes_for_missing_glyphs(outline) for outline in outlines] == [0] * len(formula.atoms)


def test_a_symbol_that_the_math_font_lacks_is_found() -> None:
    assert boxes_for_missing_glyphs(typeset([Span(math="x 龘 y_猫")]).outlines[0]) == 2


# Colours of meanings, as viewers see them.

VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
"""Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency"
(2009), at full severity, for linear RGB."""

APART = 15.0
"""In CIE 1976 colour difference. About 2 can just be seen side by side; across a picture it takes more."""


def seen(color: str, vision: str) -> Array:
    """A colour in CIELAB (white point D65) as a viewer with this vision sees it."""
    srgb = np.array([int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(VISION[vision] @ linear, 0, 1)
    to_xyz = np.array(
        [
            [0.4124564, 0.3575761, 0.1804375],
            [0.2126729, 0.7151522, 0.0721750],
            [0.0193339, 0.1191920, 0.9503041],
        ]
    )
    ratio = to_xyz @ linear / to_xyz.sum(axis=1)
    fx, fy, fz = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


def confusable(theme: Theme, vision: str) -> dict[tuple[str, str], float]:
    """The meanings whose colours a viewer may take for each other, and how far these are apart."""
    roles = dict.fromkeys(MEANINGS.values())
    far = {
        (a, b): float(np.linalg.norm(seen(theme.color(a), vision) - seen(theme.color(b), vision)))
        for a, b in combinations(roles, 2)
    }
    return {pair: round(distance, 1) for pair, distance in far.items() if distance < APART}


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", themes())
def test_the_colours_of_meanings_can_be_told_apart(theme: str, vision: str) -> None:
    assert len(set(MEANINGS.values())) == 5
    assert confusable(load_theme(theme), vision) == {}


def test_colours_that_cannot_be_told_apart_are_found() -> None:
    """Red and green of one brightness are nearly one colour without the green cones, not with them."""
    theme = Theme("traffic light", {**load_theme("dark").colors, "x": "#D03030", "sum": "#6D7B1E"})
    assert ("x", "sum") not in confusable(theme, "normal")
    assert ("x", "sum") in confusable(theme, "deuteranopia")


def test_cielab_is_that_of_the_standard() -> None:
    assert seen("#FFFFFF", "normal") == pytest.approx([100, 0, 0], abs=0.01)
    assert seen("#FF0000", "normal") == pytest.approx([53.24, 80.09, 67.20], abs=0.01)
    assert seen("#0000FF", "normal") == pytest.approx([32.30, 79.19, -107.86], abs=0.01)
