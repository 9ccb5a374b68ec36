"""The Python entry: it makes the files of the command line, and its results show themselves in Jupyter."""

from __future__ import annotations

import re
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path

import pytest

from addnorm.mathcore import ExampleError, load_example
from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.cli import main
from addnorm.scenes.notebook import Files, export, render
from addnorm.scenes.paths import asset


class Shown(HTMLParser):
    """The elements of a result's HTML, with what is in their attributes."""

    def __init__(self, files: Files) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(files._repr_html_())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def content(self, number: int) -> bytes:
        return b64decode(str(self.elements[number][1]["src"]).partition(",")[2])


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Files:
    out = tmp_path_factory.mktemp("it's <here>")
    return render("r44", out=out, lang="en", states=["b0"], size="480p15", pace=4, jobs=1)


def test_a_clip_plays_in_the_notebook(clip: Files) -> None:
    assert [path.relative_to(clip.folder) for path in clip.paths] == [Path("clips/b0.mp4")]
    shown = Shown(clip)
    [(tag, attributes)] = shown.elements
    assert (tag, attributes["title"], "controls" in attributes) == ("video", str(clip.paths[0]), True)
    assert str(attributes["src"]).startswith("data:video/mp4;base64,")
    assert shown.content(0) == clip.paths[0].read_bytes()


def test_the_files_are_those_of_the_command_line(clip: Files, tmp_path: Path) -> None:
    command = "render --lang en --states b0 --size 480p15 --pace 4 --jobs 1 -o"
    assert main([*command.split(), str(tmp_path)]) == 0
    mine = {path.relative_to(clip.folder): path.read_bytes() for path in clip.folder.rglob("*") if path.is_file()}
    theirs = tmp_path / "r44" / "en-480p15"
    assert mine == {path.relative_to(theirs): path.read_bytes() for path in theirs.rglob("*") if path.is_file()}


def test_pictures_show_too(tmp_path: Path) -> None:
    example = load_example(asset("examples", "r44.toml"))
    stills = render(example, out=tmp_path, states=["b0", "b1"], stills=True, size="480p15", jobs=1)
    shown = Shown(stills)
    assert [tag for tag, _ in shown.elements] == ["img", "img"]
    assert [shown.content(n) for n in range(2)] == [path.read_bytes() for path in stills.paths]


def test_an_export_is_a_link(clip: Files) -> None:
    page = export("page", clip)
    assert page.paths == (clip.folder.parent / "page.html",)
    [(tag, attributes)] = Shown(page).elements
    assert tag == "a"
    assert not re.search(r"[ '<>]", str(attributes["href"]))


def test_a_gif_shows_itself(clip: Files, tmp_path: Path) -> None:
    folder = export("gif", clip.folder, out=tmp_path / "gif", loop=True)
    gifs = sorted(folder.paths[0].rglob("*.gif"))
    assert len(gifs) == 1
    assert Shown(Files(tmp_path, tuple(gifs))).content(0) == gifs[0].read_bytes()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"lang": "xx"}, "language: 'xx'"),
        ({"size": "huge"}, "size: 'huge'"),
        ({"states": ["b9"]}, "states: 'b9'"),
        ({"theme": "pink"}, "theme: 'pink'"),
    ],
)
def test_what_cannot_be_had(tmp_path: Path, arguments: dict[str, object], complaint: str) -> None:
    with pytest.raises(AddnormError, match=complaint):
        render("r44", out=tmp_path, **arguments)  # type: ignore[arg-type]
    assert not [*tmp_path.iterdir()]


def test_a_wrong_example_is_said_to_be_wrong(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("id = 3")
    with pytest.raises(ExampleError, match="id"):
        render(tmp_path / "mine.toml", out=tmp_path)


def test_a_wrong_export(clip: Files) -> None:
    with pytest.raises(AddnormError, match="format: 'flip'; give one of page"):
        export("flip", clip)
    with pytest.raises(AddnormError, match="page: has no loop; it takes nothing more"):
        export("page", clip, loop=True)
