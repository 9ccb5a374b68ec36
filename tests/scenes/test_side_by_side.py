"""Processes that work in one output folder at once: each one's result is that of a run by itself."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.trace import Trace, run
from addnorm.scenes import publish as publishing
from addnorm.scenes.cache import Cache, clean
from addnorm.scenes.exporters import FORMATS, export
from addnorm.scenes.exporters import page as page_format
from addnorm.scenes.exporters.outputs import Rendered, read_outputs
from addnorm.scenes.films import FILMS
from addnorm.scenes.publish import working_folder
from addnorm.scenes.render import Failed, Order, Taken, render
from addnorm.scenes.storyboard import Storyboard
from addnorm.scenes.video import Size

SMALL = Size(128, 72, 15)
Contents = dict[str, bytes]
Work = Callable[[], object]


def contents(out: Path) -> Contents:
    files = (path for path in out.rglob("*") if path.is_file() and ".addnorm" not in path.parts)
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def fill(order: Order, out: Path) -> list[str]:
    """Fill an order; what was filmed for it."""
    steps = [*render([order], out, 1)]
    assert [step.error for step in steps if isinstance(step, Failed)] == []
    return [step.name for step in steps if isinstance(step, Taken) and not step.kept]


def at_once(*works: Work) -> list[int | None]:
    """Do each in a process of its own, all from the same moment; their exit statuses."""
    context = get_context("fork")
    barrier = context.Barrier(len(works))

    def work_with_others(work: Work) -> None:
        barrier.wait()
        work()

    processes = [context.Process(target=work_with_others, args=(work,)) for work in works]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return [process.exitcode for process in processes]


def unfinished(out: Path) -> list[Path]:
    return [*(out / ".addnorm" / "work").iterdir()]


def short(trace: Trace) -> Storyboard:
    board = FILMS["r44"].storyboard(trace)
    return replace(board, states=board.states[:1], panels=())


@pytest.fixture(scope="module")
def orders(trace: Trace) -> Sequence[Order]:
    """Films of a state, and pictures of the package's own film, which are kept: two examples of each."""
    r44 = FILMS["r44"]
    marked = {state.name: state.name for state in r44.storyboard(trace).states}
    film = replace(r44, storyboard=short, names={**r44.names, **marked})
    other = run(replace(trace.example, id="other", beta=np.array([0.0, 0, 0, 0.5])))
    moving = [Order(film, each, size=SMALL, pace=4) for each in (trace, other)]
    still = [Order(r44, each, language="en", size=SMALL, states=("b3",), moving=False) for each in (trace, other)]
    return [*moving, *still]


@pytest.fixture(scope="module")
def serial(orders: Sequence[Order], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output folder to which they were rendered one after the other."""
    out = tmp_path_factory.mktemp("serial")
    for order in orders:
        fill(order, out)
    return out


def test_six_renders_of_different_and_the_same_examples(
    orders: Sequence[Order], serial: Path, tmp_path: Path
) -> None:
    film, other_film, stills, other_stills = orders
    at_work = (film, film, other_film, stills, stills, other_stills)
    assert at_once(*(partial(fill, order, tmp_path) for order in at_work)) == [0] * 6
    assert contents(tmp_path) == contents(serial)
    assert unfinished(tmp_path) == []
    for order in (stills, other_stills):
        assert fill(order, tmp_path) == []
        for name in order.stills:
            assert order.shot(name).recall(Cache(tmp_path)) == order.shot(name).recall(Cache(serial))
    assert contents(tmp_path) == contents(serial)


def test_a_cache_that_others_clean_and_trim_meanwhile(tmp_path: Path) -> None:
    """What is read is whole or not there, and nobody is disturbed."""

    def keep() -> None:
        cache = Cache(tmp_path)
        for number in range(300):
            name, content = f"takes/{number % 5}", bytes([number % 5]) * 5000
            with working_folder(tmp_path) as work:
                cache.write(name, content, work)
            assert cache.read(name) in (None, content)

    def tidy() -> None:
        for _ in range(150):
            clean(tmp_path)
            Cache(tmp_path, limit=8000).trim()

    assert at_once(keep, tidy, keep, tidy) == [0] * 4
    clean(tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_two_exports_beside_renders(orders: Sequence[Order], serial: Path, tmp_path: Path) -> None:
    """The same film is rendered again meanwhile, and it comes out the same."""
    alone, out = tmp_path / "alone", tmp_path / "out"
    for folder in (alone, out):
        shutil.copytree(serial, folder, ignore=shutil.ignore_patterns("en*", ".addnorm"))

    def put(form: str, folder: Path) -> Path:
        return export(FORMATS[form], read_outputs([folder / "r44"]))

    for form in ("page", "frames"):
        put(form, alone)
    works = (partial(put, "page", out), partial(put, "frames", out), partial(fill, orders[0], out))
    assert at_once(*works) == [0] * 3
    assert contents(out) == contents(alone)
    assert unfinished(out) == []


def test_an_export_of_what_is_rendered_anew_meanwhile_is_refused(
    serial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it could have a new clip beside old figures."""
    shutil.copytree(serial / "r44" / "zh-72p15", tmp_path / "r44" / "zh-72p15")
    make = page_format.export

    def make_meanwhile(examples: Sequence[Rendered], target: Path) -> None:
        make(examples, target)
        shutil.copyfile(serial / "other/zh-72p15/clips/b4.mp4", tmp_path / "r44/zh-72p15/clips/b4.mp4")

    monkeypatch.setattr(page_format, "export", make_meanwhile)
    with pytest.raises(AddnormError, match="zh-72p15: was rendered anew meanwhile; export it again"):
        export(FORMATS["page"], read_outputs([tmp_path / "r44"]))
    assert not (tmp_path / "r44" / "page.html").exists()


def test_a_folder_that_another_process_takes_away_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[Path] = []

    def take_away(dir: Path) -> str:  # noqa: A002
        if not taken:
            dir.rmdir()
            taken.append(dir)
        return mkdtemp(dir=dir)

    monkeypatch.setattr(publishing, "mkdtemp", take_away)
    with working_folder(tmp_path) as folder:
        assert folder.is_dir()
    assert taken


def test_a_render_with_nothing_to_do_removes_what_was_abandoned(orders: Sequence[Order], tmp_path: Path) -> None:
    fill(orders[2], tmp_path)
    abandoned = tmp_path / ".addnorm" / "work" / "abandoned"
    abandoned.mkdir()
    assert fill(orders[2], tmp_path) == []
    assert not abandoned.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="what is in use is seen by /proc")
def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(3):
        with working_folder(tmp_path):
            (tmp_path / ".addnorm" / "work" / "abandoned").mkdir()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
