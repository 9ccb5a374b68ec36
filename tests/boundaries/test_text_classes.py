"""Every glyph comes from the one text factory: no module uses a class of manim that draws text of its own.

The factory itself needs none of them either. What slips in by another way at run time is for the frame audit.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

TEXT = """
    BulletedList Code DecimalMatrix DecimalNumber DecimalTable Integer IntegerMatrix IntegerTable MarkupText
    MathTable MathTex MathTypst Matrix MobjectMatrix MobjectTable Paragraph SingleStringMathTex Table Tex Text
    Title Typst Variable register_font
"""
SHAPES_WITH_LABELS = """
    Axes BarChart BraceLabel BraceText ComplexPlane Label LabeledArrow LabeledDot LabeledLine LabeledPolygram
    NumberLine NumberPlane PolarPlane SampleSpace ThreeDAxes
"""
PICTURES_FROM_FILES = "ImageMobject ImageMobjectFromCamera SVGMobject"
BANNED = {*TEXT.split(), *SHAPES_WITH_LABELS.split(), *PICTURES_FROM_FILES.split()}


def uses(source: str) -> Iterator[str]:
    """The banned names that a module's source takes from manim, ``*`` among them."""
    tree = ast.parse(source)
    aliases = {"manim"}
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.split(".")[0] == "manim":
                yield from (name.name for name in names if name.name in BANNED | {"*"})
            case ast.Import(names=names):
                aliases |= {name.asname or "" for name in names if name.name.split(".")[0] == "manim"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in BANNED:
            owner = node.value
            while isinstance(owner, ast.Attribute):
                owner = owner.value
            if isinstance(owner, ast.Name) and owner.id in aliases:
                yield node.attr


def test_no_module_uses_them(checkout: Path) -> None:
    files = [path for folder in ("mathcore", "scenes") for path in (checkout / folder).rglob("*.py")]
    sources = {path.name: path.read_text(encoding="utf-8") for path in files}
    assert any("manim" in source for source in sources.values())
    assert {name: found for name, source in sources.items() if (found := [*uses(source)])} == {}


@pytest.mark.parametrize(
    "source",
    [
        "from manim import Text",
        "from manim import VGroup, DecimalNumber as Harmless",
        "from manim import *",
        "from manim.mobject.text.text_mobject import MarkupText",
        "import manim\nmanim.Tex('x')",
        "import manim as m\nlabel = m.Integer(3)",
        "import manim.mobject.text.typst_mobject as t\nt.Typst('1')",
        "import manim\nclass Sneaky(manim.mobject.text.numbers.DecimalNumber): ...",
        "def late():\n    from manim import SVGMobject",
    ],
)
def test_each_way_to_use_one_is_found(source: str) -> None:
    assert [*uses(source)]


def test_shapes_and_namesakes_are_free() -> None:
    source = "from manim import Line, VGroup\nfrom addnorm.mathcore.labels import Label\nt = Label.Text"
    assert [*uses(source)] == []


def test_the_list_holds_all_that_manim_has_for_text() -> None:
    import manim

    classes = [value for value in vars(manim).values() if inspect.isclass(value)]
    of_text = {cls for cls in classes if cls.__module__.startswith("manim.mobject.text.")}
    assert {manim.Text, manim.MathTex, manim.DecimalNumber} <= of_text
    missing = {cls.__name__ for cls in classes if issubclass(cls, tuple(of_text))} - BANNED
    assert missing == set()
