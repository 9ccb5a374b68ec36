"""Words and formulas as HTML: text stays text, symbols come from the core, every glyph is there."""

from __future__ import annotations

import re
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from fontTools.ttLib import TTFont

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.symbols import definitions, layer_norm_formula, symbol
from addnorm.scenes.exporters import markup
from addnorm.scenes.exporters.markup import bundled, fonts, mathml, raised, rich
from addnorm.scenes.text import Constant, Run, User, symbol_line


def tags(formula: str) -> list[str]:
    return [element.tag for element in ElementTree.fromstring(formula).iter()]


def letters(formula: str) -> str:
    return "".join(ElementTree.fromstring(formula).itertext())


def test_a_users_text_stays_text() -> None:
    line = (Run("<script>alert(\"1\")</script> & '中文'", User("title"), "text"),)
    assert rich(line) == "&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt; &amp; &#39;中文&#39;"


def test_a_symbol_is_a_formula_in_its_colour() -> None:
    assert rich(symbol_line(symbol("resid_mid", 0))) == '<math><msub class="sum"><mi>𝑟</mi><mn>1</mn></msub></math>'
    assert 'class="statistics"' in mathml(symbol("ln.var").math)
    assert 'class="out"' in mathml(symbol("ln.normalized", 0).math)


def test_no_line_begins_with_the_mark_after_a_symbol() -> None:
    line = (*symbol_line(symbol("resid_pre")), Run(", and more", Constant("key"), "text"))
    assert rich(line) == '<span class="whole"><math><mi class="x">𝑥</mi></math>,</span> and more'


def test_chinese_and_latin_are_spaced_as_in_the_captions() -> None:
    line = (Run("第", Constant("key"), "text"), Run("2", User("n"), "text"), Run("讲", Constant("key"), "text"))
    assert rich(line) == "第 2 讲"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1.2×10⁻⁷", "1.2×10<sup>−7</sup>"),
        ("−0.385", "−0.385"),
        ("O₁ <b>", "O<sub>1</sub> &lt;b&gt;"),
        ("σ²", "σ<sup>2</sup>"),
    ],
)
def test_raised_and_lowered_digits(text: str, written: str) -> None:
    assert raised(text) == written


def test_the_layer_norm_formula_says_what_it_says_on_stage() -> None:
    formula = mathml(layer_norm_formula("post").math, display=True)
    assert letters(formula) == "LN(𝑟)=𝛾⊙𝑟−𝜇𝜎2+𝜀+𝛽"
    [fraction] = ElementTree.fromstring(formula).iter("mfrac")
    top, bottom = fraction
    assert "".join(top.itertext()) == "𝑟−𝜇"
    assert bottom.tag == "msqrt"  # ε is under the root
    assert "".join(bottom.itertext()) == "𝜎2+𝜀"


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize(("token", "features"), [(0, 4), (11, 384), (8, 1), (9, 9)])
def test_every_definition_can_be_set(norm: str, token: int, features: int) -> None:
    texts = [letters(mathml(formula.math, display=True)) for formula in definitions(norm, token, features)]
    row = "𝑥" if norm == "pre" else "𝑟"
    assert f"𝜇=1{features}∑𝑓=1{features}{row}{token + 1},𝑓" in texts
    assert f"𝜎2=1{features}∑𝑓=1{features}({row}{token + 1},𝑓−𝜇)2" in texts
    assert f"𝑢{token + 1}=LN({row}{token + 1})" in texts
    assert texts[-1 if norm == "pre" else 0] == f"𝑟{token + 1}=𝑥{token + 1}+𝑂{token + 1}"


def embedded(style: str) -> dict[str, TTFont]:
    faces = re.findall(r'font-family:"([^"]+)";src:url\(data:font/woff;base64,([^)]+)\)', style)
    return {family: TTFont(BytesIO(b64decode(content))) for family, content in faces}


def test_the_fonts_have_every_glyph_of_the_page_and_few_others() -> None:
    page = "残差 <p>r₁</p>" + "".join(mathml(formula.math) for formula in definitions("post", 0, 4))
    found = embedded(fonts(page))
    assert {ord(c) for c in "残差<p>r"} <= found["addnorm text"].getBestCmap().keys()
    math = "".join(re.findall(r"<math.*?</math>", page))
    assert {ord(c) for c in letters(f"<p>{math}</p>")} <= found["addnorm math"].getBestCmap().keys()
    assert ord("√") in found["addnorm math"].getBestCmap()
    assert "MATH" in found["addnorm math"]
    assert len(found["addnorm text"].getGlyphOrder()) < 100


def test_the_fonts_are_the_same_bytes_every_time() -> None:
    first = fonts("<math><mi>𝑟</mi></math> 残差")
    markup._face.cache_clear()
    assert fonts("<math><mi>𝑟</mi></math> 残差") == first


@pytest.mark.parametrize("parts", [("reveal", "notes.js"), ("reveal", "reveal.js"), ("page", "page.js")])
def test_no_script_can_end_the_element_it_is_in(parts: tuple[str, str]) -> None:
    assert not re.search("<(!--|/?script)", bundled(*parts), re.IGNORECASE)


def test_a_style_sheet_that_could_end_its_element_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sheet = tmp_path / "bad.css"
    sheet.write_text("p::before { content: '</style>' }")
    monkeypatch.setattr(markup, "asset", lambda *_: sheet)
    with pytest.raises(AddnormError, match="would end the element"):
        bundled("bad.css")


def test_fonts_are_made_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    """In a session that also renders, manim has every message of every library printed."""
    caplog.set_level("DEBUG")
    assert fonts("seldom seen: ȶ")
    assert [record.getMessage() for record in caplog.records] == []
