"""The files of the checkout: no host and no machine is named in them, fonts have licences, examples load."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from addnorm.mathcore import load_example

FOLDERS = (".ci", "assets", "mathcore", "scenes", "tests")
# written so that this file does not match
HOSTS = r"py[p]i\.org|python[h]osted|deb\.[d]ebian|npm[j]s\.org|--(?:extra-)?[i]ndex-url"
ELSEWHERE = re.compile(rf"{HOSTS}|/(?:work|farm|root|home|Users)/[a-z]", re.IGNORECASE)


def texts(checkout: Path) -> Iterator[tuple[Path, str]]:
    """Every text file of the project."""
    files = [path for path in checkout.iterdir() if path.is_file() and path.name != ".git"]
    files += [path for folder in FOLDERS for path in (checkout / folder).rglob("*") if path.is_file()]
    for path in files:
        try:
            yield path, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def test_no_registry_and_no_machine_is_named(checkout: Path) -> None:
    found = {path.name: ELSEWHERE.findall(text) for path, text in texts(checkout)}
    assert {"pyproject.toml", "constraints.txt", "r44.toml", "paths.py", "test_files.py"} <= found.keys()
    assert {name: hits for name, hits in found.items() if hits} == {}


@pytest.mark.parametrize(
    "parts", [("py", "pi.org"), ("--extra", "-index-url"), ("--index", "-url"), ("/ho", "me/ada")]
)
def test_a_host_and_a_machines_path_are_found(parts: tuple[str, str]) -> None:
    assert ELSEWHERE.search("".join(parts))


def unlicensed(folder: Path) -> list[str]:
    """The fonts in a folder that have no licence text beside them."""
    fonts = [path for path in folder.rglob("*") if path.suffix in {".ttf", ".otf", ".ttc", ".woff2"}]
    assert fonts
    return [font.name for font in fonts if not [*font.parent.glob("OFL*.txt"), *font.parent.glob("LICENSE*")]]


def test_every_font_has_its_licence_beside_it(checkout: Path, tmp_path: Path) -> None:
    assert unlicensed(checkout / "assets") == []
    (tmp_path / "Stray.otf").touch()
    assert unlicensed(tmp_path) == ["Stray.otf"]


def test_every_example_loads_under_its_own_name(checkout: Path) -> None:
    files = sorted((checkout / "assets" / "examples").glob("*.toml"))
    assert files
    assert [load_example(file).id for file in files] == [file.stem for file in files]
