"""The SVG of a picture shows what its PNG shows: a second rasterizer draws it, and the two are compared."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import typst
from numpy.typing import NDArray
from PIL import Image

from addnorm.mathcore.trace import Trace, run
from addnorm.scenes.filming import take_still
from addnorm.scenes.films import FILMS
from addnorm.scenes.stage import Production
from addnorm.scenes.video import parse_size

SVG = "{http://www.w3.org/2000/svg}"
PAGE = b"""#set page(width: 1280pt, height: 720pt, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg", width: 100%)"""


def taken(trace: Trace, state: str, folder: Path, theme: str = "dark") -> tuple[bytes, str]:
    """A state's picture as PNG and as SVG."""
    still, vector = folder / "still", folder / "vector"
    size = parse_size("720p15")
    take_still(FILMS["r44"].stage(trace), Production(trace, "zh", theme), state, size, still, vector)
    return still.read_bytes(), vector.read_text(encoding="utf-8")


def pixels(png: bytes) -> NDArray[np.float64]:
    return np.asarray(Image.open(BytesIO(png)).convert("RGB")).astype(np.float64)


def rasterized(svg: str) -> NDArray[np.float64]:
    return pixels(typst.compile(PAGE, format="png", ppi=72.0, sys_inputs={"svg": svg}))


def differ(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    """Whether two pictures differ by more than how edges are smoothed."""
    off = np.abs(a - b).max(axis=2)
    return bool(np.abs(a - b).mean() > 0.6 or (off > 80).sum() > 20)


@pytest.mark.parametrize(("state", "theme"), [("b4", "light"), ("b3", "dark"), ("details", "dark")])
def test_svg_and_png_show_the_same(trace: Trace, state: str, theme: str, tmp_path: Path) -> None:
    png, svg = taken(trace, state, tmp_path, theme)
    assert not differ(rasterized(svg), pixels(png))


def test_a_missing_number_would_be_seen(trace: Trace, tmp_path: Path) -> None:
    png, svg = taken(trace, "b3", tmp_path)
    lines = svg.splitlines()
    longest = max(range(len(lines)), key=lambda n: len(lines[n]))
    assert differ(rasterized("\n".join(lines[:longest] + lines[longest + 1 :])), pixels(png))


def test_another_example_gives_another_svg_and_the_same_one_the_same_bytes(trace: Trace, tmp_path: Path) -> None:
    x = trace.example.x.copy()
    x[0, 3] = 0.5
    first = taken(trace, "b2", tmp_path)
    assert taken(trace, "b2", tmp_path) == first
    assert taken(run(replace(trace.example, x=x)), "b2", tmp_path)[1] != first[1]


def test_no_text_and_no_font_is_asked_for(trace: Trace, tmp_path: Path) -> None:
    _, svg = taken(trace, "b4", tmp_path)
    root = ElementTree.fromstring(svg)
    assert {child.tag for child in root} == {f"{SVG}title", f"{SVG}path"}
    assert root.findtext(f"{SVG}title", "").startswith("b4 · R44 · ")
    assert root.get("viewBox") == "0 0 1920 1080"
