"""From a real render to exports by the command line: clips as manim drew them, numbers as the core has them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from addnorm.mathcore import load_example, run
from addnorm.scenes.cli import main
from addnorm.scenes.films import FILMS
from addnorm.scenes.paths import find_example
from addnorm.scenes.render import Order, render
from addnorm.scenes.video import Size
from tests.exporters.conftest import STATES, Window, pixels


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """R44 in small pictures, at four times its pace."""
    out = tmp_path_factory.mktemp("out")
    trace = run(load_example(find_example("r44")))
    order = Order(FILMS["r44"], trace, language="en", size=Size(640, 360, 15), pace=4)
    assert [*render([order], out, os.cpu_count() or 1)]
    return out / "r44"


def test_the_page_of_a_real_film(film: Path, window: Callable[..., Window], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "page", str(film)]) == 0
    made = Path(capsys.readouterr().out.strip())
    assert made == film / "page.html"
    page = window(locale="en-US", color_scheme="dark", viewport={"width": 1280, "height": 900}).open(made, "#b3")
    expect(page.locator(".controls[data-now=ended]")).to_be_attached()
    ended = pixels(page, ".state.current .picture").astype(int)
    page.keyboard.press("Home")
    page.keyboard.press("End")
    expect(page.locator("video")).to_have_count(0)
    still = pixels(page, ".state.current .picture").astype(int)
    # Colours are coded at half the size, which shows at edges; a film one pixel higher than its still is off by 4.
    assert np.abs(ended - still).mean() < 2
    assert np.abs(still - np.median(still, axis=(0, 1))).mean() > 10
    assert page.locator(".state.told .shown dd").last.text_content() == "1.1710.650−0.385−1.435"


def test_the_deck_of_a_real_film(film: Path, window: Callable[..., Window], tmp_path: Path) -> None:
    target = tmp_path / "a talk.html"
    assert main(["export", "reveal", str(film), "-o", str(target)]) == 0
    page = window(locale="en-US").open(target, "#/b2")
    expect(page.locator("section.present .face.chosen video")).to_have_count(1)
    assert page.locator(".slides > section").evaluate_all("all => all.map(one => one.id)") == ["title", *STATES]


def test_exporting_never_loads_manim(film: Path, tmp_path: Path) -> None:
    forms = ("page", "reveal", "pptx", "beamer")
    commands = [["export", form, str(film), "-o", str(tmp_path / f"{form}.html")] for form in forms]
    program = (
        "import json, sys; from addnorm.scenes.cli import main; "
        f"assert [main(command) for command in {json.dumps(commands)}] == [0, 0, 0, 0]; "
        "print('manim' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True).splitlines()[-1] == "False"


@pytest.mark.parametrize(
    ("arguments", "status", "complaint"),
    [
        (["export", "page"], 2, "OUT/EXAMPLE"),
        (["export", "page", "nowhere"], 2, "addnorm: nowhere: no film in it; give a folder that addnorm rendered to"),
        (["export", "film", "nowhere"], 2, "No such command 'film'"),
        (["export", "page", "nowhere", "--example", "nothing.toml"], 2, "nothing.toml"),
    ],
)
def test_what_cannot_be_exported_is_said_in_a_line(
    arguments: list[str], status: int, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == status
    [line] = capsys.readouterr().err.splitlines()
    assert complaint in line
