"""What is filmed again when an input changes: exactly what shows it, never less, and nothing when nothing changes.

The films here are R44 at four times its pace, in small pictures.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from addnorm.mathcore import load_example, run
from addnorm.mathcore.example import Display, Example, GivenOutput, Weights
from addnorm.scenes import shots, witness
from addnorm.scenes.cache import Cache, clean
from addnorm.scenes.cli import main
from addnorm.scenes.films import FILMS
from addnorm.scenes.makers import makers, source_digest
from addnorm.scenes.paths import asset
from addnorm.scenes.render import Order, Published, Taken, render
from addnorm.scenes.video import Size

ALL = "b4 b5 b0 b1 b2 b3 details"
SMALL = Size(160, 90, 15)
Change = Callable[[Example], Example]


def order_of(example: Example, **changes: Any) -> Order:
    looks: dict[str, Any] = {"language": "en", "size": SMALL, "pace": 4, "moving": False} | changes
    return Order(FILMS["r44"], run(example), **looks)


def made(order: Order, out: Path) -> str:
    """Fill an order; say what was filmed for it."""
    taken = [step for step in render([order], out, 1) if isinstance(step, Taken)]
    assert {step.name for step in taken} == {*order.stills}
    return " ".join(name for name in order.stills if any(step.name == name and not step.kept for step in taken))


def missing(order: Order, out: Path) -> str:
    """What would be filmed for an order."""
    return " ".join(name for name in order.stills if order.shot(name).recall(Cache(out)) is None)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".addnorm" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def given() -> Example:
    """The sum of R44 with attention's output as given, and a γ and β that do something and differ by feature."""
    r44 = load_example(asset("examples", "r44.toml"))
    output = GivenOutput(run(r44)["attn_out"].value)
    return replace(r44, attention=output, gamma=np.array([1, 2, 0.5, 1]), beta=np.array([0, 0, 0.5, 0.25]))


@pytest.fixture(scope="module")
def out(r44: Example, given: Example, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output folder in which R44 was filmed, and its pictures and those of the given sum were taken."""
    folder = tmp_path_factory.mktemp("out")
    assert made(order_of(r44, moving=True), folder) == ALL
    assert made(order_of(r44), folder) == ALL.removesuffix(" details")  # which is a picture in both
    assert made(order_of(given), folder) == ALL.removeprefix("b4 ")  # which shows no number
    return folder


def put(array: Any, index: Any, value: float) -> Any:
    changed = array.copy()
    changed[index] = value
    return changed


def caption(language: str, state: str) -> Change:
    return lambda example: replace(example, captions={language: {state: "The row as it is."}})


def weights(example: Example) -> Weights:
    assert isinstance(example.attention, Weights)
    return example.attention


# For each change: what shows it in the film, whose clips begin with the picture before, and in the pictures alone.
CHANGES: dict[str, tuple[Change, str, str]] = {
    "nothing": (lambda e: e, "", ""),
    "the id": (lambda e: replace(e, id="other"), "", ""),
    "the file": (lambda e: replace(e, source="elsewhere.toml"), "", ""),
    "the title": (lambda e: replace(e, title={"en": "Another title"}), "", ""),
    "a note": (lambda e: replace(e, note={"en": "Another note"}), "details", "details"),
    "a note in another language": (lambda e: replace(e, note={**e.note, "zh": "另一句话"}), "", ""),
    "a caption in another language": (caption("zh", "b2"), "", ""),
    "the caption of b4": (caption("en", "b4"), "b4 b5", "b4"),
    "the caption of b2": (caption("en", "b2"), "b2 b3", "b2"),
    "the caption of b3": (caption("en", "b3"), "b3", "b3"),
    "a number of x": (
        lambda e: replace(e, x=put(e.x, (0, 1), 0.25)),
        "b5 b0 b1 b2 b3 details",
        "b5 b0 b1 b2 b3 details",
    ),
    "a weight": (
        lambda e: replace(e, attention=replace(weights(e), w_o=weights(e).w_o * 1.5)),
        "b5 b0 b1 b2 b3 details",
        "b5 b0 b1 b2 b3 details",
    ),
    "γ": (lambda e: replace(e, gamma=2 * e.gamma), "b0 b1 b2 b3 details", "b0 b1 b2 b3 details"),
    "β": (lambda e: replace(e, beta=put(e.beta, 2, 0.5)), "b0 b1 b2 b3 details", "b0 b1 b2 b3 details"),
    "ε": (lambda e: replace(e, eps=1e-6), "b0 b1 b2 b3 details", "b0 b1 b2 b3 details"),
    "the mask": (lambda e: replace(e, mask="causal"), ALL, ALL),
    "the norm": (lambda e: replace(e, norm="pre"), ALL, ALL),
    "the token": (lambda e: replace(e, followed=1), ALL, ALL),
    "the token's label": (lambda e: replace(e, tokens=("it", *e.tokens[1:])), "b4 b5 b0 b1 b2", "b4 b5 b0 b1"),
    "another's label": (lambda e: replace(e, tokens=(*e.tokens[:2], "it")), "b4 b5 b0", "b4 b5"),
    "decimals": (lambda e: replace(e, display=Display(2, 6)), "b5 b0 b1 b2 b3", "b5 b0 b1 b2 b3"),
    "decimals of statistics": (lambda e: replace(e, display=Display(3, 5)), "b2 b3 details", "b2 b3 details"),
}
GIVEN: dict[str, tuple[Change, str]] = {
    "a number of x": (lambda e: replace(e, x=put(e.x, (0, 1), 0.25)), "b5 b0 b1 b2 b3 details"),
    "another token's x": (lambda e: replace(e, x=put(e.x, (2, 1), 0.25)), "b5"),
    "one γ": (lambda e: replace(e, gamma=put(e.gamma, 3, 1.25)), "b3 details"),
    "one β": (lambda e: replace(e, beta=put(e.beta, 1, 0.125)), "b3 details"),
    "ε": (lambda e: replace(e, eps=1e-6), "b0 b1 b2 b3 details"),
    "the mask": (lambda e: replace(e, mask="causal"), "b4"),
}


@pytest.mark.parametrize(("change", "film", "pictures"), CHANGES.values(), ids=CHANGES)
def test_a_change_redoes_exactly_what_shows_it(
    r44: Example, out: Path, change: Change, film: str, pictures: str
) -> None:
    assert missing(order_of(change(r44), moving=True), out) == film
    assert missing(order_of(change(r44)), out) == pictures


@pytest.mark.parametrize(("change", "pictures"), GIVEN.values(), ids=GIVEN)
def test_where_the_output_is_given_a_number_is_in_fewer_pictures(
    given: Example, out: Path, change: Change, pictures: str
) -> None:
    assert missing(order_of(change(given)), out) == pictures


@pytest.mark.parametrize(
    "looks",
    [
        {"language": "zh"},
        {"theme": "light"},
        {"size": Size(160, 90, 30)},
        {"size": Size(162, 90, 15)},
        {"pace": 2.0},
        {"captions": False},
    ],
    ids=str,
)
def test_whatever_is_set_redoes_all(r44: Example, out: Path, looks: dict[str, Any]) -> None:
    assert missing(order_of(r44, **looks), out) == ALL
    assert missing(order_of(r44, moving=True, **looks), out) == ALL


@pytest.mark.parametrize("name", makers())
def test_another_source_or_version_redoes_all(
    r44: Example, out: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    others = {**makers(), name: "another"}
    monkeypatch.setattr(shots, "makers", lambda: others)
    assert missing(order_of(r44), out) == ALL


def test_every_file_of_the_package_is_part_of_its_digest(tmp_path: Path) -> None:
    (tmp_path / "fonts").mkdir()
    files = [tmp_path / "stage.py", tmp_path / "fonts" / "a.ttf"]
    for path in files:
        path.write_bytes(b"content")
    digests = {source_digest({"package": tmp_path})}
    for path in files:
        path.write_bytes(b"another")
        digests.add(source_digest({"package": tmp_path}))
    files[0].rename(tmp_path / "stages.py")
    digests.add(source_digest({"package": tmp_path}))
    assert len(digests) == 4
    (tmp_path / "stage.pyc").write_bytes(b"compiled")
    assert source_digest({"package": tmp_path}) in digests


# --- never less than what shows it


@pytest.fixture
def copy(out: Path, tmp_path: Path) -> Path:
    """What is kept, in an output folder to change."""
    shutil.copytree(out / ".addnorm", tmp_path / "copy" / ".addnorm")
    return tmp_path / "copy"


def compare_with_fresh(order: Order, copy: Path, fresh: Path) -> None:
    """Fill an order with what is kept and without; the pictures must be the same."""
    made(order, copy)
    assert made(order, fresh).split() == [*order.stills]
    assert contents(copy) == contents(fresh)


@pytest.mark.parametrize(
    ("of", "change"),
    [("given", "another token's x"), ("given", "one γ"), ("r44", "decimals of statistics")],
)
def test_with_what_is_kept_the_pictures_are_those_of_a_fresh_render(
    request: pytest.FixtureRequest, copy: Path, tmp_path: Path, of: str, change: str
) -> None:
    table: dict[str, Any] = GIVEN if of == "given" else CHANGES
    compare_with_fresh(order_of(table[change][0](request.getfixturevalue(of))), copy, tmp_path / "fresh")


def test_a_film_of_kept_and_new_clips_is_that_of_a_fresh_render(r44: Example, copy: Path, tmp_path: Path) -> None:
    order = order_of(caption("en", "b3")(r44), moving=True)
    assert made(order, copy) == "b3"
    assert made(order, tmp_path / "fresh") == ALL
    assert contents(copy) == contents(tmp_path / "fresh")


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A witness that does not note what is asked of captions."""
    noted = vars(witness.Witness)["questions"]

    def forget(self: Any) -> list[Any]:
        return [question for question in noted.fget(self) if "caption" not in repr(question)]

    monkeypatch.setattr(witness.Witness, "questions", property(forget))


@pytest.mark.usefixtures("forgetful")
def test_a_question_that_is_not_noted_would_be_seen(r44: Example, tmp_path: Path) -> None:
    order = order_of(r44, states=("b2",))
    assert [step for step in render([order], tmp_path / "kept", 1) if isinstance(step, Published)]
    with pytest.raises(AssertionError):
        compare_with_fresh(order_of(caption("en", "b2")(r44), states=("b2",)), tmp_path / "kept", tmp_path / "fresh")


# --- doing nothing


@pytest.fixture(scope="module")
def mine(out: Path) -> list[str]:
    """The command that made R44's pictures."""
    return ["render", "--lang", "en", "--size", "480p15", "--stills", "-o", str(out / "mine")]


LOADED = """
import sys
from addnorm.scenes.cli import main
status = main(sys.argv[1:])
print(*sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr)
sys.exit(status)
"""


def test_again_without_a_change_it_does_nothing_and_says_the_same(
    mine: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(mine) == 0
    first = capsys.readouterr().out
    times = {path: path.stat().st_mtime_ns for path in Path(mine[-1]).rglob("*.png")}
    again = subprocess.run([sys.executable, "-c", LOADED, *mine], capture_output=True, text=True, check=True)
    assert again.stdout.replace(", as before", "") == first
    assert again.stdout.count(", as before") == 7
    assert {*again.stderr.split()} & {"manim", "typst", "PIL", "fontTools", "rich"} == set()
    assert {path: path.stat().st_mtime_ns for path in Path(mine[-1]).rglob("*.png")} == times


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b"mine")], ids=["gone", "changed"])
def test_a_file_that_is_gone_or_changed_is_published_again_and_not_drawn(
    mine: list[str], capsys: pytest.CaptureFixture[str], harm: Callable[[Path], Any]
) -> None:
    assert main(mine) == 0
    before = contents(Path(mine[-1]))
    harm(Path(mine[-1]) / "r44" / "en-480p15" / "stills" / "b2.svg")
    again = subprocess.run([sys.executable, "-c", LOADED, *mine], capture_output=True, text=True, check=True)
    assert again.stdout.count(", as before") == 7
    assert "manim" not in again.stderr.split()
    assert contents(Path(mine[-1])) == before
    capsys.readouterr()


def test_clean_removes_what_is_kept_and_no_film(
    mine: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(mine) == 0
    before = contents(Path(mine[-1]))
    capsys.readouterr()
    assert main(["clean", "-o", mine[-1]]) == 0
    assert capsys.readouterr().out.endswith(" MB removed\n")
    assert not (Path(mine[-1]) / ".addnorm").exists()
    assert contents(Path(mine[-1])) == before
    assert main(["clean", "-o", str(tmp_path / "nowhere")]) == 0
    assert capsys.readouterr().out == "nothing was kept\n"


# --- the cache


def test_an_entry_is_read_as_it_was_written(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.read("takes/a") is None
    cache.write("takes/a", b"first", tmp_path)
    cache.write("takes/a", b"second", tmp_path)
    assert cache.read("takes/a") == b"second"
    assert cache.names("takes") == ["takes/a"]
    assert cache.names("questions") == []
    assert [path.name for path in tmp_path.iterdir()] == [".addnorm"]


@pytest.mark.parametrize("damage", [b"", b"x", b"x" * 100], ids=["empty", "short", "other"])
def test_a_damaged_entry_is_none_and_is_removed(tmp_path: Path, damage: bytes) -> None:
    cache = Cache(tmp_path)
    cache.write("takes/a", b"content", tmp_path)
    [entry] = (tmp_path / ".addnorm" / "cache" / "takes").iterdir()
    entry.write_bytes(damage)
    assert cache.read("takes/a") is None
    assert cache.names("takes") == []


def test_damaged_takes_and_questions_are_filmed_again(r44: Example, out: Path, copy: Path) -> None:
    for entry in [*(copy / ".addnorm" / "cache").glob("takes/*"), *(copy / ".addnorm" / "cache").glob("questions/*/*")]:
        entry.write_bytes(entry.read_bytes()[:-1] + b"?")
    assert missing(order_of(r44), copy) == ALL
    assert missing(order_of(r44), out) == ""


def test_what_was_used_last_stays_within_the_limit(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=3 * 132)
    for number, name in enumerate("abcde"):
        cache.write(f"takes/{name}", b"x" * 100, tmp_path)
        os.utime(tmp_path / ".addnorm" / "cache" / "takes" / name, (number, number))
    assert cache.read("takes/a")
    cache.trim()
    assert cache.names("takes") == ["takes/a", "takes/d", "takes/e"]


def test_nothing_is_kept_where_there_is_no_room_for_it(tmp_path: Path) -> None:
    (tmp_path / ".addnorm").mkdir()
    (tmp_path / ".addnorm" / "cache").write_text("in the way")
    cache = Cache(tmp_path)
    cache.write("takes/a", b"content", tmp_path)
    assert cache.read("takes/a") is None
    cache.trim()
    assert [path.name for path in tmp_path.iterdir()] == [".addnorm"]


def test_clean_leaves_work_in_progress(tmp_path: Path) -> None:
    from addnorm.scenes.publish import working_folder

    with working_folder(tmp_path) as work:
        Cache(tmp_path).write("takes/a", b"content", work)
        clean(tmp_path)
        assert work.exists()
    assert Cache(tmp_path).names("takes") == []
