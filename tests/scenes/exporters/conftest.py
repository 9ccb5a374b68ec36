"""What the tests of the exports share: rendered folders that are made in no time, and a real browser.

A folder made here has all that a render leaves, with numbers from the core and small plain pictures: state n
is a white block in the n-th place on a coloured ground, and its clip moves the block there from the one before.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, expect, sync_playwright

from addnorm.mathcore import load_example, run
from addnorm.mathcore.example import Example
from addnorm.mathcore.labels import Label
from addnorm.mathcore.trace import Trace
from addnorm.scenes.exporters.outputs import Rendered, read_outputs
from addnorm.scenes.films import FILMS, Film
from addnorm.scenes.manifest import Play, Screen, Sighting, as_bytes, clip_record, compose, example_record
from addnorm.scenes.paths import find_example
from addnorm.scenes.publish import write
from addnorm.scenes.storyboard import State
from addnorm.scenes.text import Wording
from addnorm.scenes.video import Size, encode_clip

expect.set_options(timeout=30_000)  # a busy machine plays a clip late; what never comes still fails

SIZE = Size(320, 180, 15)
FRAMES = 9
STATES = ("b4", "b5", "b0", "b1", "b2", "b3")
Picture = NDArray[np.uint8]


@dataclass(frozen=True)
class Fake:
    """Makes rendered folders below ``out``."""

    out: Path

    def folder(
        self,
        example: Example,
        language: str = "zh",
        theme: str = "dark",
        size: Size = SIZE,
        states: tuple[str, ...] = STATES,
        change: Callable[[dict[str, Any]], None] | None = None,
        name: str = "",
    ) -> Path:
        """A folder like that of a render; ``change`` may spoil its manifest before the clips are tied to it."""
        film, trace = FILMS["r44"], run(example)
        folder = self.out / example.id / (name or f"{language}-{theme}")
        screen = Screen(size.width, size.height, size.frame_rate)
        board = film.storyboard(trace)
        shown = [state for state in board.states if state.name in states]
        records = [clip_record(state.name, plays(state, film, trace, language), screen) for state in shown]
        origin = {
            "film": "r44",
            "example": example_record(example),
            "language": language,
            "theme": theme,
            "captions": True,
        }
        manifest = compose(origin, screen, records)
        if change:
            change(manifest)
        values = as_bytes(manifest)
        write(folder / "values.json", values)
        comment = json.dumps({"addnorm": "1", **origin, "values_sha256": sha256(values).hexdigest()})
        for number, state in enumerate(shown):
            before, after = (picture(theme, n, size) for n in (number - 1, number))
            (folder / "clips").mkdir(exist_ok=True)
            with encode_clip(folder / "clips" / f"{state.name}.mp4", size, comment=comment) as clip:
                clip.write(before)
                clip.write(after, repeat=FRAMES - 1)
            (folder / "stills").mkdir(exist_ok=True)
            Image.fromarray(after[..., :3]).save(folder / "stills" / f"{state.name}.png")
            (folder / "stills" / f"{state.name}.svg").write_text(drawing(theme, number), encoding="utf-8")
        for panel in board.panels:
            Image.fromarray(picture(theme, len(shown), size)[..., :3]).save(folder / "stills" / f"{panel.name}.png")
        return folder


def plays(state: State, film: Film, trace: Trace, language: str) -> tuple[Play, ...]:
    """A state's numbers, and those that its caption asks for, at rest on all frames."""
    caption = Wording(language, trace, film.names).caption(film.name, state.name)
    said = [run.source for run in caption if isinstance(run.source, Label)]
    labels = {label.ref: label for label in (*state.labels, *said)}.values()
    seen = tuple(Sighting(n, label, (0.0, 1.0, 1.0, 0.0), 1.0) for n, label in enumerate(labels))
    return (Play(state.name, FRAMES, seen),)


GROUNDS = {"dark": (14, 60, 90), "light": (200, 215, 230)}


def picture(theme: str, number: int, size: Size = SIZE) -> Picture:
    """The picture of the n-th state: a white block in its place; before the first state there is none."""
    pixels = np.empty((size.height, size.width, 4), dtype=np.uint8)
    pixels[:] = (*GROUNDS[theme], 255)
    if number >= 0:
        left = 8 + number * 48
        pixels[80:104, left : left + 32] = 255
    return pixels


def drawing(theme: str, number: int) -> str:
    """The picture of the n-th state as SVG."""
    ground = bytes(GROUNDS[theme]).hex()
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="180" viewBox="0 0 320 180">'
        f'<path d="M0 0H320V180H0Z" fill="#{ground}"/>'
        f'<path d="M{8 + number * 48} 80h32v24h-32Z" fill="#ffffff"/></svg>'
    )


@pytest.fixture(scope="session")
def r44() -> Example:
    return load_example(find_example("r44"))


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    return Fake(tmp_path / "it's {out} 中文")


@pytest.fixture(scope="session")
def rendered(r44: Example, tmp_path_factory: pytest.TempPathFactory) -> Rendered:
    """R44 in two languages and two themes."""
    made = Fake(tmp_path_factory.mktemp("rendered"))
    folders = [made.folder(r44, language, theme) for language in ("zh", "en") for theme in ("dark", "light")]
    [example] = read_outputs([folders[0].parent])
    return example


HOW_TO_GET_CHROMIUM = (
    "These tests open exports in Chromium, and there is none. 'make test' installs it on Debian and Ubuntu "
    "(apt-get install chromium); elsewhere put a 'chromium' on the PATH."
)
FLAGS = (
    "--no-sandbox",  # the tests may run as root; what they open is ours
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium(path: str | None = None) -> str:
    """The browser's program, looked for on a path. That there is none is a failure, never a reason to skip."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next((found for name in names if (found := shutil.which(name, path=path))), None)
    if program is None:
        pytest.fail(HOW_TO_GET_CHROMIUM)
    return program


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A browser for all tests."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield started
        started.close()


def viewer(program: str, path: str | None = None) -> str:
    """A program that exports are opened with, looked for on a path. That there is none is a failure as well."""
    found = shutil.which(program, path=path)
    if found is None:
        pytest.fail(
            f"This test opens an export with {program}, and there is none. 'make test' installs it on Debian and "
            "Ubuntu; elsewhere put it on the PATH."
        )
    return found


def pdf_text(pdf: Path) -> list[str]:
    """The text of each page of a PDF, without its blanks and line breaks."""
    text = subprocess.check_output([viewer("pdftotext"), "-raw", pdf, "-"], text=True, encoding="utf-8")
    return ["".join(page.split()) for page in text.split("\f")[:-1]]


def pdf_pictures(pdf: Path) -> list[Picture]:
    """Each page of a PDF as a picture, 480 pixels wide."""
    with TemporaryDirectory() as folder:
        subprocess.run([viewer("pdftoppm"), "-scale-to-x", "480", "-scale-to-y", "-1", pdf, f"{folder}/p"], check=True)
        return [np.asarray(Image.open(page).convert("RGB")) for page in sorted(Path(folder).iterdir())]


@dataclass
class Window:
    """A browser window that notes whatever a page should not do, and fails if it did."""

    page: Page
    complaints: list[str]
    requests: list[str]

    def dismiss(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open(self, file: Path, rest: str = "") -> Page:
        """Open a file as from disk; ``rest`` follows its name."""
        self.page.goto(file.as_uri() + rest)
        return self.page


@pytest.fixture
def window(browser: Browser) -> Iterator[Callable[..., Window]]:
    """Opens windows that are cut off from any network; what was wrong in one of them fails the test."""
    contexts: list[BrowserContext] = []
    windows: list[Window] = []

    def open_one(**options: Any) -> Window:
        settings = {"locale": "zh-CN", "viewport": {"width": 1280, "height": 800}, "offline": True, **options}
        context = browser.new_context(**settings)
        context.set_default_timeout(20_000)
        contexts.append(context)
        new = Window(context.new_page(), [], [])
        new.page.on("console", lambda message: new.complaints.append(message.text))
        new.page.on("pageerror", lambda error: new.complaints.append(str(error)))
        new.page.on("dialog", new.dismiss)
        new.page.on("request", lambda request: new.requests.append(request.url))
        windows.append(new)
        return new

    yield open_one
    for context in contexts:
        context.close()
    for each in windows:
        assert each.complaints == []
        assert each.requests
        assert [url for url in each.requests if not url.startswith(("file:///", "blob:"))] == []


def pixels(page: Page, selector: str) -> Picture:
    """What is seen of an element: height × width × RGB."""
    shot = page.locator(selector).screenshot()
    return np.asarray(Image.open(BytesIO(shot)).convert("RGB"))


def block_of(seen: Picture) -> int | None:
    """Which state's picture is seen: the number of its block, or None if there is no block."""
    height, width, _ = seen.shape
    row = seen[int(height * 92 / 180)].min(axis=1) > 240
    places = np.flatnonzero(row)
    return round((places.mean() / width * 320 - 24) / 48) if len(places) else None


@pytest.fixture(scope="session")
def violations() -> Callable[[Page], list[str]]:
    """What axe finds wrong with a page: the rule and where."""
    axe = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")

    def find(page: Page) -> list[str]:
        page.evaluate(axe)
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        assert found["passes"]
        return [f"{rule['id']}: {node['html'][:150]}" for rule in found["violations"] for node in rule["nodes"]]

    return find
