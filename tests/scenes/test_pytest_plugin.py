"""Test suites of others: each is written to a folder of its own and run by a pytest of its own.

That pytest runs in this process, which takes a twentieth of the time, except where it matters what it loads.
"""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from PIL import Image

import addnorm.scenes.snapshots  # noqa: F401  # else every pytest would load it anew

pytest_plugins = ["pytester"]

FRAME = """
    from addnorm.scenes.manifest import Shown
    from addnorm.scenes.snapshots import FrameValues, Still

    def frame(**texts):
        labels = [Shown(ref, text, float(text), 3, "shown", (0, 0, 9, 9), 1.0) for ref, text in texts.items()]
        return FrameValues(labels, "b2", 0, "frame 0 of b2")
"""
ONE = "def test_one(frame_snapshot): frame_snapshot(frame(mean='1', var='0.592455'))"
TWO = "def test_two(frame_snapshot): frame_snapshot(frame(mean='2'))"
NONE = "def test_none(): pass"
ONE_FILE, TWO_FILE = "__frames__/test_it/test_one.txt", "__frames__/test_it/test_two.txt"


class Suite:
    """A folder with a test suite."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.folder = pytester.path
        self._pytester = pytester

    def write(self, *tests: str, name: str = "test_it") -> None:
        """Write a test file."""
        (self.folder / f"{name}.py").write_text(dedent(FRAME) + "\n" + "\n\n".join(map(dedent, tests)))

    def run(self, *arguments: str, alone: bool = False) -> tuple[int, str]:
        """Run pytest there, or ``alone`` in a process of its own; its exit status and what it says."""
        run = self._pytester.runpytest_subprocess if alone else self._pytester.runpytest_inprocess
        result = run("-p", "no:hypothesispytest", *arguments)
        return result.ret, "\n".join((*result.outlines, *result.errlines))

    def update(self, *, alone: bool = False) -> None:
        """Write all snapshots."""
        status, says = self.run("--update-frames", alone=alone)
        assert status == 0, says

    @property
    def files(self) -> set[str]:
        """The snapshots that are there."""
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("__frames__/*/*")}


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Suite:
    monkeypatch.delenv("CI", raising=False)
    return Suite(pytester)


def test_starting_pytest_loads_neither_manim_nor_numpy(suite: Suite) -> None:
    (suite.folder / "conftest.py").write_text(
        "import sys\n\ndef pytest_unconfigure():\n"
        "    print('loaded', sorted({'addnorm.scenes.pytest_plugin', 'manim', 'numpy', 'PIL'} & {*sys.modules}))\n"
    )
    (suite.folder / "test_it.py").write_text(NONE)
    status, says = suite.run("-s", alone=True)
    assert status == 0
    assert "loaded ['addnorm.scenes.pytest_plugin']" in says


def test_a_missing_snapshot_fails_until_it_is_written(suite: Suite) -> None:
    suite.write(ONE)
    status, says = suite.run()
    assert status == 1
    assert "b2: there is no snapshot" in says
    assert f"snapshot: {ONE_FILE}; if the frame is right, run pytest --update-frames" in says
    assert suite.files == set()
    status, says = suite.run("--update-frames")
    assert status == 0
    assert f"wrote {ONE_FILE}" in says
    kept = (suite.folder / ONE_FILE).read_text(encoding="utf-8")
    assert kept == "frame 0 of b2\nmean  1         shown  0,0 9×9\nvar   0.592455  shown  0,0 9×9\n"
    status, says = suite.run()
    assert status == 0
    assert "wrote" not in says


def test_a_changed_digit_fails_and_is_told(suite: Suite) -> None:
    suite.write(ONE)
    suite.update()
    suite.write(ONE.replace("0.592455", "0.592454"))
    status, says = suite.run()
    assert status == 1
    assert re.search(r"^E +AssertionError: b2: var read 0\.592455, now 0\.592454$", says, re.MULTILINE)
    assert f"snapshot: {ONE_FILE};" in says
    suite.update()
    assert "0.592454" in (suite.folder / ONE_FILE).read_text(encoding="utf-8")
    assert suite.run()[0] == 0


def test_nothing_is_updated_where_ci_is_set(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    suite.write(ONE)
    suite.update()
    before = (suite.folder / ONE_FILE).read_bytes()
    suite.write(TWO, ONE.replace("0.592455", "0.592454"))
    monkeypatch.setenv("CI", "true")
    status, says = suite.run("--update-frames")
    assert status == pytest.ExitCode.USAGE_ERROR
    assert "--update-frames is refused where CI is set" in says
    assert suite.files == {ONE_FILE}
    assert (suite.folder / ONE_FILE).read_bytes() == before
    assert suite.run()[0] == 1


def test_an_orphan_fails_until_it_is_removed(suite: Suite) -> None:
    suite.write(ONE, TWO)
    suite.update()
    suite.write(ONE)
    status, says = suite.run()
    assert status == 1
    assert "no test uses these snapshots; pytest --update-frames removes them" in says
    assert TWO_FILE in says
    assert ONE_FILE not in says
    status, says = suite.run("--update-frames")
    assert status == 0
    assert f"removed {TWO_FILE}" in says
    assert suite.files == {ONE_FILE}
    assert suite.run()[0] == 0


def test_a_call_less_leaves_an_orphan(suite: Suite) -> None:
    suite.write(ONE + "; frame_snapshot(frame(mean='3'))")
    suite.update()
    assert suite.files == {ONE_FILE, "__frames__/test_it/test_one.2.txt"}
    suite.write(ONE)
    status, says = suite.run()
    assert status == 1
    assert "test_one.2.txt" in says


def test_a_file_without_snapshots_any_more_leaves_orphans(suite: Suite) -> None:
    suite.write(ONE)
    suite.update()
    suite.write(NONE)
    status, says = suite.run()
    assert status == 1
    assert ONE_FILE in says


def test_a_test_file_that_is_gone_leaves_orphans(suite: Suite) -> None:
    suite.write(ONE)
    suite.write(TWO, name="test_gone")
    suite.update()
    (suite.folder / "test_gone.py").unlink()
    status, says = suite.run()
    assert status == 1
    assert "__frames__/test_gone/test_two.txt" in says
    suite.update()
    assert suite.files == {ONE_FILE}


@pytest.mark.parametrize(
    "arguments", [("test_it.py::test_none",), ("-k", "none"), ("--deselect", "test_it.py::test_one"), ("--lf",)]
)
def test_what_did_not_run_is_no_orphan(suite: Suite, arguments: tuple[str, ...]) -> None:
    suite.write(ONE, TWO, NONE)
    suite.update()
    suite.write(ONE, TWO, NONE.replace("pass", "assert False"))
    assert suite.run()[0] == 1
    suite.write(ONE, TWO, NONE)
    status, says = suite.run("--update-frames", *arguments)
    assert status == 0, says
    assert suite.files == {ONE_FILE, TWO_FILE}


@pytest.mark.parametrize(
    "trouble", ["assert False", "import pytest; pytest.skip('today')", "import pytest; pytest.xfail()"]
)
def test_what_a_test_did_not_come_to_is_no_orphan(suite: Suite, trouble: str) -> None:
    suite.write(ONE, TWO)
    suite.update()
    suite.write(ONE, TWO.replace(": ", f": {trouble}; ", 1))
    _, says = suite.run("--update-frames")
    assert "snapshots" not in says
    assert suite.files == {ONE_FILE, TWO_FILE}


def test_tests_after_the_first_failure_leave_no_orphans(suite: Suite) -> None:
    suite.write(ONE, TWO)
    suite.update()
    suite.write("def test_first(): assert False", ONE, TWO)
    status, says = suite.run("-x")
    assert status == 1
    assert "no test uses" not in says


def test_each_test_has_its_own_snapshots(suite: Suite) -> None:
    suite.write(
        """
        import pytest

        @pytest.mark.parametrize("mean", ["1", "1.5"])
        @pytest.mark.parametrize("sign", ["a/b", "a:b", "中"])
        def test_it(frame_snapshot, mean, sign):
            frame_snapshot(frame(mean=mean))
            frame_snapshot(frame(mean=mean, var=mean))

        class TestIt:
            def test_it(self, frame_snapshot):
                frame_snapshot(frame(mean="4"))
        """
    )
    suite.update()
    names = {Path(file).name for file in suite.files}
    assert len(names) == 2 * 2 * 3 + 1
    assert {"test_it[a%2Fb-1.5].txt", "test_it[a%3Ab-1].2.txt", "TestIt.test_it.txt"} <= names
    assert suite.run()[0] == 0


def png(pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> bytes:
    file = BytesIO()
    Image.fromarray(pixels).save(file, format="PNG")
    return file.getvalue()


STILL = """
    from pathlib import Path

    def test_still(frame_snapshot):
        frame_snapshot(Still("b2", Path("now.png").read_bytes()))
"""


def test_a_picture_with_a_moved_block_fails_and_can_be_looked_at(suite: Suite) -> None:
    picture = np.zeros((40, 80, 3), dtype=np.uint8)
    picture[8:16, 16:24] = 255
    suite.write(STILL)
    (suite.folder / "now.png").write_bytes(png(picture))
    status, says = suite.run()
    assert status == 1
    assert "b2: there is no snapshot" in says
    suite.update()
    assert suite.files == {"__frames__/test_it/test_still.png"}
    assert suite.run()[0] == 0

    (suite.folder / "now.png").write_bytes(png(np.roll(picture, 4, axis=1)))
    status, says = suite.run()
    assert status == 1
    assert "b2: 2 blocks of the picture differ by more than 12, the one at 16,8 by 127.5\n" in says
    shown = dict(re.findall(r"^E +(now|difference): (.*)$", says, re.MULTILINE))
    assert Path(shown["now"]).read_bytes() == (suite.folder / "now.png").read_bytes()
    columns = np.asarray(Image.open(shown["difference"])).max(axis=(0, 2))
    assert [n for n, value in enumerate(columns) if value] == [*range(16, 20), *range(24, 28)]

    (suite.folder / "now.png").write_bytes(png(picture[:-2]))
    status, says = suite.run()
    assert status == 1
    assert "b2: the picture is 80 × 38 pixels, its snapshot 80 × 40" in says


FILM = """
    from manim import FadeIn

    from addnorm.mathcore import stage_label
    from addnorm.scenes.elements.lettering import Pen
    from addnorm.scenes.stage import Stage
    from addnorm.scenes.storyboard import Element, State, Storyboard
    from addnorm.scenes.text import value_line


    class Variance(Stage):
        example, language = "mine.toml", "en"

        @staticmethod
        def storyboard(trace):
            number = Element("number", "variance", labels=(stage_label(trace, "ln.var[0]"),))
            return Storyboard("mine", (State("s1", (number, Element("caption", "caption"))),))

        def draw(self, element, state):
            line = value_line(*element.labels) if element.labels else self.wording.caption("mine", state.name)
            return Pen(self.theme, self.production.language).write(line, 44).center_on(0, 0 if element.labels else -3)

        def enter_s1(self, before, after):
            self.move(*map(FadeIn, after.values()), seconds=1)
"""

EXAMPLE = """
    id = "mine"
    [input]
    x = [[1, 0, 1, 0], [0, 1, 0, 1]]
    [attention]
    output = [[1, 1.6, -0.2, 0], [0, 0, 1, 1]]
    [captions.en]
    s1 = "The variance is {ln.var[0]}."
"""

STRANGER = """
    from scenes.mine import Variance

    def test_r44(frame_values, frame_snapshot):
        frame_snapshot(frame_values("r44", state="b2", size="480p15"))

    def test_mine(frame_values, frame_still, frame_snapshot):
        frame_snapshot(frame_values(scene=Variance, state="s1"))
        frame_snapshot(frame_values(scene=Variance, time=0.5))
        frame_snapshot(frame_still(scene=Variance, state="s1", size="480p15"))
"""


def test_a_strangers_suite_with_scenes_of_its_own(suite: Suite) -> None:
    """Only what is installed, in a repository whose own package is called scenes."""
    scenes = suite.folder / "scenes"
    scenes.mkdir()
    (scenes / "__init__.py").touch()
    (scenes / "mine.py").write_text(dedent(FILM))
    (suite.folder / "mine.toml").write_text(dedent(EXAMPLE))
    (suite.folder / "test_it.py").write_text(dedent(STRANGER))
    (suite.folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    suite.update(alone=True)
    assert suite.files == {
        f"__frames__/test_it/test_{name}" for name in ("r44.txt", "mine.txt", "mine.2.txt", "mine.png")
    }
    r44, mine, fading = (
        (suite.folder / f"__frames__/test_it/test_{name}.txt").read_text(encoding="utf-8").splitlines()
        for name in ("r44", "mine", "mine.2")
    )
    assert r44[0] == "r44 zh 480p15, last frame of b2"
    assert ["ln.var[0]", "0.592455", "shown"] in [line.split()[:3] for line in r44]
    assert mine[0] == "mine en 1080p60, last frame of s1"
    assert [line.split()[:3] for line in mine[1:]] == [["ln.var[0]", "0.590000", "shown"]] * 2
    assert fading[0] == "mine en 1080p60, 0.5 s, frame 30 of s1"
    assert [line.split()[:3] for line in fading[1:]] == [["ln.var[0]", "0.590000", "fading"]] * 2

    (suite.folder / "mine.toml").write_text(dedent(EXAMPLE).replace("1.6", "1.7"))
    status, says = suite.run("-k", "mine", alone=True)
    assert status == 1
    assert "s1: ln.var[0] read 0.590000, now 0.616875" in says
