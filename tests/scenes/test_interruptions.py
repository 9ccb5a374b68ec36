"""A render that is stopped at any moment: what was published stays whole, and the next run completes.

A moment is a step of the render's own: a file is opened, made, moved or removed below the output folder, or a frame is
encoded. So fifty seeded moments are the same ones on every machine, and the ones that matter are among them.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from addnorm.mathcore.trace import Trace, run
from addnorm.scenes.cache import clean
from addnorm.scenes.films import FILMS
from addnorm.scenes.render import Failed, Order, render
from addnorm.scenes.storyboard import Storyboard
from addnorm.scenes.video import ClipEncoder, Size, frame_count

TRIALS = 50
STEPS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree"}
MEDIA = {".mp4", ".png", ".svg", ".webm", ".gif", ".srt", ".vtt", ".json", ".md"}
Contents = dict[str, bytes]


def fill(order: Order, out: Path) -> None:
    for step in render([order], out, 1):
        assert not isinstance(step, Failed), step.error


def published(out: Path) -> Contents:
    """What somebody finds who looks into the output folder."""
    files = (path for path in out.rglob("*") if path.is_file() and ".addnorm" not in path.parts)
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def in_progress(out: Path) -> list[Path]:
    return [path for path in (out / ".addnorm").rglob("*") if path.is_file()]


@dataclass(frozen=True)
class Stopped:
    """How a render ended that was to be stopped, and how many steps it had taken until then."""

    status: int | None
    steps: int


def stopped(order: Order, out: Path, at: int, how: signal.Signals) -> Stopped:
    """Render in a process of its own that gets a signal at its ``at``-th step; at 0 it gets none."""
    context = get_context("fork")
    steps = context.Value("i", 0)

    def step() -> None:
        steps.value += 1
        if steps.value == at:
            os.kill(os.getpid(), how)

    def work() -> None:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # as the command line has it
        sys.addaudithook(lambda event, args: step() if event in STEPS and str(out) in str(args[0]) else None)
        ClipEncoder.write = _counting(ClipEncoder.write, step)  # type: ignore[method-assign]
        with suppress(KeyboardInterrupt):
            fill(order, out)
            os._exit(0)
        os._exit(130)

    process = context.Process(target=work)
    process.start()
    process.join()
    return Stopped(process.exitcode, steps.value)


def _counting(call: Callable[..., None], step: Callable[[], None]) -> Callable[..., None]:
    def counted(*args: object, **kwargs: object) -> None:
        step()
        call(*args, **kwargs)

    return counted


@pytest.fixture(scope="module")
def orders(trace: Trace) -> Sequence[Order]:
    """Two versions of a film of two states and a panel. Their β differs, so no file but the pictures is the same."""
    r44 = FILMS["r44"]
    marked = {state.name: state.name for state in r44.storyboard(trace).states}  # all of them are on each picture
    film = replace(r44, storyboard=_short, names={**r44.names, **marked})
    other = run(replace(trace.example, beta=np.array([0.0, 0, 0, 0.5])))
    return [Order(film, each, size=Size(128, 72, 15), pace=4) for each in (trace, other)]


def _short(trace: Trace) -> Storyboard:
    board = FILMS["r44"].storyboard(trace)
    return replace(board, states=board.states[:2])


@pytest.fixture(scope="module")
def versions(orders: Sequence[Order], tmp_path_factory: pytest.TempPathFactory) -> Sequence[Contents]:
    """What undisturbed renders of the two publish."""
    return [published(_filled(order, tmp_path_factory.mktemp("undisturbed"))) for order in orders]


def _filled(order: Order, out: Path) -> Path:
    fill(order, out)
    return out


def test_fifty_renders_that_are_stopped(orders: Sequence[Order], versions: Sequence[Contents], tmp_path: Path) -> None:
    steps = stopped(orders[1], _filled(orders[0], tmp_path / "counted"), 0, signal.SIGTERM).steps
    assert steps > 50
    chance, out, cut = random.Random(44), _filled(orders[0], tmp_path / "out"), 0
    assert versions[0].keys() == versions[1].keys()
    assert versions[0]["r44/zh-72p15/film.mp4"] != versions[1]["r44/zh-72p15/film.mp4"]
    for trial in range(TRIALS):
        how = chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        end = stopped(orders[(trial + 1) % 2], out, chance.randint(1, steps), how)
        assert end.status in (0, -9 if how == signal.SIGKILL else 130)
        cut += end.status != 0
        found = published(out)
        assert found.keys() == versions[0].keys()
        assert [name for name in found if found[name] not in (versions[0][name], versions[1][name])] == []
        assert [path for path in in_progress(out) if path.suffix in MEDIA] == []
        left = [*(out / ".addnorm" / "work").iterdir()]
        assert len(left) <= (how == signal.SIGKILL and end.status != 0)
        if trial % 10 == 9:
            fill(orders[trial // 10 % 2], out)
            assert published(out) == versions[trial // 10 % 2]
            assert [*(out / ".addnorm" / "work").iterdir()] == []
    assert cut > TRIALS / 2
    assert frame_count(out / "r44" / "zh-72p15" / "film.mp4") > 1


def test_what_is_kept_is_whole_after_renders_that_were_killed(trace: Trace, tmp_path: Path) -> None:
    """The film is the package's own here, so its pictures are kept and found again."""
    captions = ("It adds.", "It is added.")
    examples = [replace(trace.example, captions={"en": {"b0": caption}}) for caption in captions]
    looks = {"language": "en", "states": ("b4", "b0"), "moving": False, "size": Size(128, 72, 15)}
    orders = [Order(FILMS["r44"], run(example), **looks) for example in examples]  # type: ignore[arg-type]
    versions = [published(_filled(order, tmp_path / str(n))) for n, order in enumerate(orders)]
    steps = stopped(orders[0], tmp_path / "counted", 0, signal.SIGKILL).steps
    chance, out, cut = random.Random(45), tmp_path / "out", 0
    for trial in range(8):
        order, version = orders[trial % 2], versions[trial % 2]
        if trial % 3 == 2:
            clean(out)
        cut += stopped(order, out, chance.randint(1, steps), signal.SIGKILL).status != 0
        fill(order, out)
        assert published(out) == version
        assert [*(out / ".addnorm" / "work").iterdir()] == []
        kept = [path for path in in_progress(out) if path.is_relative_to(out / ".addnorm" / "cache")]
        assert {len(path.name) for path in kept} == {64}  # digests: no parts of entries are left among them
    assert cut > 2
