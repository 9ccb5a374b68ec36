from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.publish import publish, working_folder, write

ODD_NAMES = ["it's here", "br{ace}", "two  words", "-dash", "中文", "🙂", "a;b$(c)", "%d"]


def work_folders(out: Path) -> list[Path]:
    return sorted((out / ".addnorm" / "work").iterdir())


@contextmanager
def not_root() -> Iterator[None]:
    """Permissions stop everybody but root, so a test that root runs becomes somebody else for a while."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def stage(work: Path, **files: str) -> dict[str, Path]:
    """Working files by the place they go to; ``film__mp4="…"`` is the content of ``film.mp4``."""
    staged = {}
    for name, content in files.items():
        place = name.replace("__", ".").replace("_", "/")
        write(work / name, content.encode())
        staged[place] = work / name
    return staged


@pytest.mark.parametrize("name", ODD_NAMES)
def test_files_arrive_in_folders_of_any_name(tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    with working_folder(out) as work:
        publish(stage(work, clips_b0__mp4="clip", film__mp4="film"), out / "r44" / name)
    assert (out / "r44" / name / "clips" / "b0.mp4").read_text() == "clip"
    assert (out / "r44" / name / "film.mp4").read_text() == "film"
    assert work_folders(out) == []


def test_a_relative_folder_with_a_leading_dash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with working_folder(Path("-o")) as work:
        publish(stage(work, film__mp4="film"), Path("-o") / "-zh")
    assert Path("-o/-zh/film.mp4").read_text() == "film"


def test_a_file_is_replaced_as_a_whole_and_the_film_comes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "zh"
    names = {"values__json": "values", "film__mp4": "film"}
    with working_folder(tmp_path) as work:
        publish(stage(work, **{name: f"old {text}" for name, text in names.items()}), target)
    seen = []
    replace = Path.replace

    def watched(self: Path, place: Path) -> Path:
        seen.append([(target / name).read_text() for name in ("values.json", "film.mp4")])
        return replace(self, place)

    monkeypatch.setattr(Path, "replace", watched)
    with working_folder(tmp_path) as work:
        publish(stage(work, **{name: f"new {text}" for name, text in names.items()}), target)
    assert seen == [["old values", "old film"], ["new values", "old film"]]
    assert (target / "film.mp4").read_text() == "new film"


def test_an_error_in_the_block_removes_the_working_folder_and_publishes_nothing(tmp_path: Path) -> None:
    def render() -> None:
        with working_folder(tmp_path) as work:
            stage(work, film__mp4="half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert work_folders(tmp_path) == []


def test_each_working_folder_is_its_own_and_one_in_use_is_left_alone(tmp_path: Path) -> None:
    with working_folder(tmp_path) as first:
        write(first / "b0", b"in progress")
        with working_folder(tmp_path) as second:
            assert first != second
            assert work_folders(tmp_path) == sorted([first, second])
        assert (first / "b0").read_bytes() == b"in progress"


KILLED = """
import os, signal, sys
from pathlib import Path
from addnorm.scenes.publish import working_folder, write
with working_folder(Path(sys.argv[1])) as work:
    write(work / "clips" / "b0", b"half a clip")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, tmp_path], check=False)
    assert killed.returncode == -signal.SIGKILL
    [left] = work_folders(tmp_path)
    assert (left / "clips" / "b0").read_bytes() == b"half a clip"
    with working_folder(tmp_path) as work:
        assert work_folders(tmp_path) == [work]


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(AddnormError, match=r"cannot be written: (Not a directory|File exists); "):
        working_folder(tmp_path / "out").__enter__()
    with working_folder(tmp_path) as work, pytest.raises(AddnormError, match="cannot be written"):
        publish(stage(work, film__mp4="film"), tmp_path / "out")
    assert (tmp_path / "out").read_text() == "a file"


def test_a_folder_where_the_film_should_be_is_found_before_anything_moves(tmp_path: Path) -> None:
    target = tmp_path / "zh"
    (target / "film.mp4").mkdir(parents=True)
    with working_folder(tmp_path) as work, pytest.raises(AddnormError, match=r"film\.mp4: .*Is a directory"):
        publish(stage(work, values__json="values", film__mp4="film"), target)
    assert not (target / "values.json").exists()


def test_a_folder_without_permission(tmp_path: Path) -> None:
    (tmp_path / "film.mp4").write_text("old film")
    with working_folder(tmp_path) as work:
        staged = stage(work, film__mp4="new film")
        tmp_path.chmod(0o555)
        with not_root():
            with pytest.raises(AddnormError, match="Permission denied") as refused:
                publish(staged, tmp_path)
            with pytest.raises(AddnormError, match="Permission denied"):
                working_folder(tmp_path / "out").__enter__()
        tmp_path.chmod(0o755)
    assert len(str(refused.value).splitlines()) == 1
    assert (tmp_path / "film.mp4").read_text() == "old film"


def test_a_folder_that_vanished_meanwhile(tmp_path: Path) -> None:
    with working_folder(tmp_path) as work, pytest.raises(AddnormError, match="No such file or directory"):
        publish({"film.mp4": work / "swept away"}, tmp_path / "zh")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is Linux's")
def test_a_full_disk() -> None:
    with pytest.raises(AddnormError, match=r"/dev/full: cannot be written: No space left on device; "):
        write(Path("/dev/full"), b"a picture")
