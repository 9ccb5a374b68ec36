"""Snapshot tests for the numbers on frames: fixtures for pytest, there as soon as addnorm is installed.

    def test_variance(frame_values, frame_snapshot):
        frame_snapshot(frame_values("r44", state="b2"))

A snapshot is a file in ``__frames__`` beside the test's own, named after the test. One that differs, is missing or
is used by no test fails; ``pytest --update-frames`` writes and removes as needed, except where CI is set.

pytest loads this module whenever it starts, so manim and numpy are left to the fixtures.
"""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

if TYPE_CHECKING:
    from addnorm.scenes.snapshots import FrameValues, Snapshot, Still

FOLDER = "__frames__"
UPDATE = "--update-frames"

_KEEPER = pytest.StashKey["_Keeper"]()
_KEPT = re.compile(r"(?P<test>.+?)(\.[0-9]+)?\.(txt|png)")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The one flag."""
    parser.getgroup("addnorm", "snapshots of frames").addoption(
        UPDATE, action="store_true", help="write snapshots that differ or are missing, remove those not used"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to update where nobody would look at the changes."""
    if config.getoption(UPDATE) and os.environ.get("CI"):
        raise pytest.UsageError(f"{UPDATE} is refused where CI is set; run it elsewhere and review the changes")
    config.stash[_KEEPER] = _Keeper(config)
    config.pluginmanager.register(config.stash[_KEEPER])


@pytest.fixture(scope="session")
def frame_values() -> Callable[..., FrameValues]:
    """The labels on a frame: ``frame_values("r44", state="b2", frame=90)``; see addnorm.scenes.frames."""
    with warnings.catch_warnings(action="ignore"):  # what manim's imports warn of is not about the tests
        from addnorm.scenes import frames
    return frames.frame_values


@pytest.fixture(scope="session")
def frame_still() -> Callable[..., Still]:
    """A state's finished picture: ``frame_still("r44", state="b2")``; see addnorm.scenes.frames."""
    with warnings.catch_warnings(action="ignore"):
        from addnorm.scenes import frames
    return frames.frame_still


@pytest.fixture
def frame_snapshot(request: pytest.FixtureRequest, tmp_path: Path) -> FrameSnapshot:
    """Fails where a frame differs from its snapshot: ``frame_snapshot(frame_values("r44", state="b2"))``."""
    return FrameSnapshot(request.config.stash[_KEEPER], request.node, tmp_path)


class FrameSnapshot:
    """The snapshots of one test: a file for each call, ``<test>.txt`` or ``.png``, then ``<test>.2.txt`` and so on."""

    def __init__(self, keeper: _Keeper, item: pytest.Item, scratch: Path) -> None:
        self._keeper = keeper
        self._item = item
        self._scratch = scratch
        self._calls: Counter[str] = Counter()

    def __call__(self, frame: Snapshot) -> None:
        """Fail unless what ``frame_values`` or ``frame_still`` gave is as it was kept."""
        __tracebackhide__ = True
        self._calls[frame.suffix] += 1
        call = self._calls[frame.suffix]
        number = "" if call == 1 else f".{call}"
        file = _folder(self._item.path) / f"{_name(self._item)}{number}{frame.suffix}"
        kept = self._keeper.use(file)
        differences = [f"{frame.state}: there is no snapshot"] if kept is None else frame.differences(kept)
        if differences and self._keeper.updates:
            self._keeper.write(file, frame.content())
        elif differences:
            pictures = {} if kept is None else frame.pictures(kept)
            raise AssertionError("\n".join((*differences, *self._where(file, pictures))))

    def _where(self, file: Path, pictures: dict[str, bytes]) -> Iterator[str]:
        """Where the snapshot is, and what there is to look at."""
        yield f"snapshot: {self._keeper.path(file)}; if the frame is right, run pytest {UPDATE}"
        for name, png in pictures.items():
            picture = self._scratch / f"{file.stem}-{name}.png"
            picture.write_bytes(png)
            yield f"{name}: {picture}"


class _Keeper:
    """Reads and writes the snapshots of a session, and finds those that no test used."""

    def __init__(self, config: pytest.Config) -> None:
        self.updates: bool = config.getoption(UPDATE)
        self._root = config.rootpath
        self._whole_files = not (config.getoption("lf", False) or any("::" in word for word in config.args))
        self._awaited: defaultdict[Path, set[str]] = defaultdict(set)
        self._not_passed: defaultdict[Path, set[str]] = defaultdict(set)
        self._used: set[Path] = set()
        self._changes: list[str] = []

    def path(self, file: Path) -> str:
        """A path as the user would write it."""
        return str(file.relative_to(self._root)) if file.is_relative_to(self._root) else str(file)

    def use(self, file: Path) -> bytes | None:
        """What a snapshot holds, if it is there."""
        self._used.add(file)
        return file.read_bytes() if file.exists() else None

    def write(self, file: Path, content: bytes) -> None:
        """Write a snapshot."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        self._changes.append(f"wrote {self.path(file)}")

    # A file's snapshots can be judged once all its tests have ended. Those of a test that did not pass may be of use
    # when it does. Tests left out by -k and the like never end here, and --lf and :: keep them from being known.

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note all tests, before any is left out."""
        for item in items:
            self._awaited[item.path].add(item.nodeid)
            self._not_passed[item.path].add(_name(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        """Note a test that passed."""
        yield
        self._not_passed[item.path].discard(_name(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None]:
        """After the last test of a file, remove the snapshots that nothing used, or fail for them."""
        yield
        self._awaited[item.path].discard(item.nodeid)
        if self._awaited[item.path] or not self._whole_files:
            return
        orphans = [*self._orphans(item.path)]
        if self.updates:
            for file in orphans:
                file.unlink()
                self._changes.append(f"removed {self.path(file)}")
        elif orphans:
            files = "".join(f"\n{self.path(file)}" for file in orphans)
            pytest.fail(f"no test uses these snapshots; pytest {UPDATE} removes them{files}", pytrace=False)

    def _orphans(self, module: Path) -> Iterator[Path]:
        """The unused snapshots of a file's tests, and those of files that are not there any more."""
        for file in sorted((module.parent / FOLDER).glob("*/*")):
            kept = _KEPT.fullmatch(file.name)
            if kept is None:
                continue
            if file.parent == _folder(module):
                if file not in self._used and kept["test"] not in self._not_passed[module]:
                    yield file
            elif not (module.parent / f"{file.parent.name}.py").exists():
                yield file

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was changed."""
        if self._changes:
            terminalreporter.section("snapshots of frames")
            for change in self._changes:
                terminalreporter.write_line(change)


def _folder(module: Path) -> Path:
    """Where the snapshots of a test file are."""
    return module.parent / FOLDER / module.stem


def _name(item: pytest.Item) -> str:
    """A test's name as a file name, which no other test of its file has."""
    names = [node.name for node in item.listchain() if isinstance(node, pytest.Class | pytest.Item)]
    return ".".join(quote(name, safe=" []()=,+@~^") for name in names)
