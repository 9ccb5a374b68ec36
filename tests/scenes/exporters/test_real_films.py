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
from PIL import Image
from playwright.sync_api import expect

from addnorm.mathcore import load_example, run
from addnorm.scenes.cli import main
from addnorm.scenes.exporters.gif import write_gif
from addnorm.scenes.exporters.outputs import read_outputs
from addnorm.scenes.films import FILMS
from addnorm.scenes.paths import find_example
from addnorm.scenes.render import Order, render
from addnorm.scenes.theme import load_theme
from addnorm.scenes.video import Size
from tests.scenes.exporters.conftest import STATES, Window, pixels


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


def test_the_handout_of_a_real_film(film: Path, tmp_path: Path) -> None:
    target = tmp_path / "handout"
    assert main(["export", "handout", str(film), "-o", str(target)]) == 0
    text = subprocess.check_output(["pdftotext", target / "r44-en.pdf", "-"], text=True)
    assert len(text.split("\f")[:-1]) == 6
    assert "−1.434875" in text.split("\f")[-2]
    subprocess.run(["pdftoppm", "-r", "72", "-singlefile", target / "r44-en.pdf", target / "first"], check=True)
    with Image.open(target / "first.ppm") as page:
        ground = np.asarray(page.convert("RGB"))[200:300, 80:515]
    assert np.median(ground, axis=(0, 1)).tolist() == [255, 255, 255]  # the film is dark, its print is light


def test_the_gifs_of_a_real_film_are_flat_where_it_is(film: Path, tmp_path: Path) -> None:
    """On every picture the ground is the theme's to the bit, and no other colour stands near to it."""
    [example] = read_outputs([film])
    ground = [int(load_theme("dark").color("ground")[n : n + 2], 16) for n in (1, 3, 5)]
    for state in ("b2", "b3"):
        path = tmp_path / f"{state}.gif"
        write_gif(example.outputs[0].clip(state), path, "dark")
        with Image.open(path) as gif:
            for number in range(gif.n_frames):  # type: ignore[attr-defined]
                gif.seek(number)
                apart = np.abs(np.asarray(gif.convert("RGB")).astype(int) - ground).max(axis=2)
                assert (apart == 0).mean() > 0.6
                assert not ((apart > 0) & (apart < 9)).any()
        assert path.stat().st_size < 200_000


def test_exporting_never_loads_manim(film: Path, tmp_path: Path) -> None:
    forms = ("page", "reveal", "pptx", "beamer", "handout")
    commands = [["export", form, str(film), "-o", str(tmp_path / f"{form}.html")] for form in forms]
    program = (
        "import json, sys; from addnorm.scenes.cli import main; "
        f"assert [main(command) for command in {json.dumps(commands)}] == [0] * {len(forms)}; "
        "print('manim' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True).splitlines()[-1] == "False"


@pytest.mark.parametrize(
    ("arguments", "status", "complaint"),
    [
        (["export", "page"], 2, "OUT/EXAMPLE"),
        (["export", "page", "nowhere"], 2, "addnorm: nowhere: not there; give a folder that addnorm rendered to"),
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
