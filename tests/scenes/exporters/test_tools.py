"""The tools of these tests: each can fail."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Error

from tests.scenes.exporters.conftest import SIZE, Window, block_of, chromium, picture, viewer


def test_a_missing_browser_is_a_failure_that_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium"):
        chromium(str(tmp_path))


def test_any_other_missing_program_is_a_failure_too(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="opens an export with soffice, and there is none"):
        viewer("soffice", str(tmp_path))


def test_make_says_which_programs_are_missing(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "pdftotext").touch(0o755)
    answer = subprocess.run(
        ["/bin/sh", checkout / ".ci" / "viewers"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    for program in ("chromium", "pdftoppm", "soffice", "xelatex", "lualatex", "pdflatex"):
        assert program in answer.stderr
    assert "pdftotext" not in answer.stderr
    there = subprocess.run([checkout / ".ci" / "viewers"], env=os.environ, capture_output=True, text=True, check=True)
    assert there.stdout + there.stderr == ""


@pytest.mark.parametrize("number", range(6))
def test_a_picture_tells_its_state(number: int) -> None:
    assert block_of(picture("dark", number)[..., :3]) == number
    assert block_of(picture("dark", -1, SIZE)[..., :3]) is None


@pytest.mark.parametrize(
    ("script", "complaint"),
    [("console.log('psst')", "psst"), ("throw Error('ouch')", "ouch"), ("alert('<b>')", "dialog: <b>")],
)
def test_a_window_notes_what_a_page_should_not_do(
    window: Callable[..., Window], tmp_path: Path, script: str, complaint: str
) -> None:
    (tmp_path / "page.html").write_text(f"<script>{script}</script>")
    opened = window()
    opened.open(tmp_path / "page.html")
    assert opened.complaints == [complaint]
    opened.complaints.clear()


def test_a_window_notes_what_a_page_asks_for(window: Callable[..., Window], tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<img src=http://127.0.0.1:9/picture.png>")
    opened = window()
    opened.open(tmp_path / "page.html")
    assert opened.requests[-1] == "http://127.0.0.1:9/picture.png"
    opened.requests.pop()
    opened.complaints.clear()
    with pytest.raises(Error, match="ERR_INTERNET_DISCONNECTED"):
        opened.page.goto("http://127.0.0.1:9/")
    opened.requests.pop()
