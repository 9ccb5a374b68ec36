"""Vector stills: a picture of one theme in the colours of another is the picture that theme draws."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

import pytest

from addnorm.mathcore import run
from addnorm.mathcore.example import Example
from addnorm.scenes.exporters.vectors import picture, repainted
from addnorm.scenes.filming import take_still
from addnorm.scenes.films import FILMS
from addnorm.scenes.stage import Production
from addnorm.scenes.theme import load_theme
from addnorm.scenes.video import parse_size

DARK, LIGHT = load_theme("dark"), load_theme("light")


def drawn(example: Example, state: str, theme: str, folder: Path) -> str:
    """A state's SVG as the render writes it."""
    trace, vector = run(example), folder / theme
    production = Production(trace, "en", theme)
    take_still(FILMS["r44"].stage(trace), production, state, parse_size("480p15"), folder / "still", vector)
    return vector.read_text(encoding="utf-8")


@pytest.mark.parametrize("state", ["b4", "b1", "b3"])  # these have every tint
def test_a_picture_is_repainted_as_the_other_theme_draws_it(r44: Example, state: str, tmp_path: Path) -> None:
    dark, light = (drawn(r44, state, theme, tmp_path) for theme in ("dark", "light"))
    assert dark != light
    assert repainted(dark, DARK, LIGHT) == light
    assert repainted(light, LIGHT, DARK) == dark
    assert repainted(light, LIGHT, LIGHT) == light


def test_a_picture_with_a_colour_of_its_own_stays_as_it_is() -> None:
    own = f'<path fill="{DARK.color("ground")}"/><path fill="#123456"/>'
    assert repainted(own, DARK, LIGHT) == own


def test_no_two_colours_of_a_theme_are_one_colour_of_the_other() -> None:
    for theme, other in ((DARK, LIGHT), (LIGHT, DARK)):
        counterparts = theme.counterparts(other)
        assert len({*counterparts.values()}) == len(counterparts)


def test_without_an_svg_the_png_stands_for_it(tmp_path: Path) -> None:
    (tmp_path / "b2.png").write_bytes(b"a picture")
    _, _, encoded = picture(tmp_path / "b2.png", DARK, LIGHT).partition("data:image/png;base64,")
    assert b64decode(encoded.partition('"')[0]) == b"a picture"
