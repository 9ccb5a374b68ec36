"""The command line: what it prints, what it refuses and how, what it loads, how it is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from addnorm.mathcore import load_example
from addnorm.scenes.cli import main
from addnorm.scenes.paths import asset
from addnorm.scenes.text import languages
from addnorm.scenes.theme import themes

MINE = """
id = "mine"
[input]
x = [[0.5, -1.0, 2.0]]
[attention]
output = [[0.1, 0.2, 0.3]]
"""


class Run:
    """What a command printed, and its exit status."""

    def __init__(self, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
        self.status = main(arguments)
        self.out, self.err = capsys.readouterr()


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(MINE, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _keep_signals() -> Any:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


# --- values


def test_values_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(("values", "--json"), capsys)
    assert (run.status, run.err) == (0, "")
    values = json.loads(run.out)
    assert list(values) == ["example", "activations", "states"]
    assert values["example"] == load_example(asset("examples", "r44.toml")).canonical()
    update = values["activations"]["attn_out"]
    assert {key: update[key] for key in update if key != "value"} == {
        "axes": ["token", "feature"],
        "shape": [3, 4],
        "dtype": "float64",
        "op": "mix",
        "inputs": ["attn.pattern", "attn.v"],
    }
    assert update["value"][0] == pytest.approx(
        [1, 1.598887907320214, -0.197775814640428, -0.005560463398930], abs=1e-12
    )
    assert values["activations"]["eps"]["value"] == 1e-5


def test_the_labels_of_every_state_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    states = json.loads(Run(("values", "--json"), capsys).out)["states"]
    assert list(states) == ["b4", "b5", "b0", "b1", "b2", "b3"]
    texts = {state: {label["ref"]: label["text"] for label in labels} for state, labels in states.items()}
    rows = {
        "resid_pre[0,{}]": ["1", "0", "1", "0"],
        "attn_out[0,{}]": ["1", "1.599", "−0.198", "−0.006"],
        "resid_mid[0,{}]": ["2", "1.599", "0.802", "−0.006"],
        "resid_mid[1,{}]": ["1", "2.802", "−0.503", "1.707"],
        "resid_mid[2,{}]": ["2", "2.752", "0.802", "0.198"],
        "ln.out[0,{}]": ["1.171", "0.650", "−0.385", "−1.435"],
    }
    x, update, r, r2, r3, u = ({ref.format(n): text for n, text in enumerate(row)} for ref, row in rows.items())
    b0 = {"eps": "10⁻⁵", "gamma[*]": "1", "beta[*]": "0", **update, **x}
    b2 = {**b0, **r, "ln.mean[0]": "1.098888", "ln.var[0]": "0.592455"}
    assert texts == {"b4": {}, "b5": r | r2 | r3, "b0": b0, "b1": b0 | r, "b2": b2, "b3": b2 | u}
    [label] = [label for label in states["b1"] if label["ref"] == "resid_mid[0,2]"]
    assert label == {"ref": "resid_mid[0,2]", "text": "0.802", "value": label["value"], "decimals": 3}
    assert label["value"] == pytest.approx(0.802224185359572, abs=1e-12)


def test_values_as_tables(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(("values",), capsys)
    assert (run.status, run.err) == (0, "")
    lines = run.out.splitlines()
    assert lines[0] == "r44: 3 tokens of 4 features, 2 heads, no mask, post-norm; token 1 is followed"
    [update] = [line for line in lines if line.startswith("attn_out ")]
    assert update.split()[:5] == ["attn_out", "mix", "attn.pattern,", "attn.v", "[0,*]"]
    assert [float(number) for number in update.split()[5:]] == pytest.approx(
        [1, 1.598887907320214, -0.197775814640428, -0.005560463398930], abs=1e-12
    )
    first = lines.index(next(line for line in lines if line.startswith("b2 ")))
    last = lines.index(next(line for line in lines if line.startswith("b3 ")))
    b2 = [line[7:] for line in lines[first:last]]
    assert b2[-1].split() == ["ln.var[0]", "0.592455", "0.5924546427713637"]
    assert len({line.index(line.split()[1], len(line.split()[0])) for line in b2}) == 1  # aligned


def test_values_of_a_large_example_fit_on_a_page(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "wide.toml"
    row = "[" + ", ".join(str(n % 7) for n in range(300)) + "]"
    rows = "[" + ", ".join([row] * 40) + "]"
    path.write_text(f'id = "wide"\ntoken = 40\n[input]\nx = {rows}\n[attention]\noutput = {rows}\n')
    run = Run(("values", str(path)), capsys)
    assert run.status == 0
    assert len(run.out.splitlines()) < 150
    assert max(map(len, run.out.splitlines())) < 200
    assert [line.split()[2:] for line in run.out.splitlines() if line.startswith("resid_pre ")] == [
        ["[39,*]", "0", "1", "2", "…", "4", "5"]
    ]


# --- what is wrong


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("values", "nowhere"), "nowhere: no example of this name; give one of "),
        (("values", "nowhere.toml"), "nowhere.toml: file: No such file or directory; "),
        (("render", "nowhere.npz"), "nowhere.npz: "),
        (("render", "--states", "b0,b9"), "states: 'b9' is not one of r44; give some of b4, b5"),
        (("render", "--states", ""), "states: '' is not one of r44; give some of b4, b5"),
        (("render", "--states", "4-5"), "states: '4-5' is not one of r44; give some of b4, b5"),
        (("render", "--lang", "zh,fr"), "language: 'fr' has no catalogue; give one of "),
        (("render", "--lang", ""), "language: '' has no catalogue; give one of "),
        (("render", "--theme", "blue"), "theme: 'blue' is not known; give one of dark, light"),
        (("render", "--size", "1080"), "size: '1080'; write HEIGHTpRATE such as 1080p60"),
        (("render", "--size", "1081p60"), "size: '1081p60'; write"),
        (("render", "--pace", "0"), "pace: 0; give a factor from 0.25 to 4"),
        (("render", "--pace", "nan"), "pace: nan; give a factor from 0.25 to 4"),
        (("render", "--scheduler", "here"), "scheduler: 'here'; write its address as tcp://HOST:PORT"),
        (("render", "--scheduler", "nonsense://a:1"), "scheduler: 'nonsense://a:1'; write"),
        (("render", "--cache", "-1"), "Invalid value for '--cache' (env var: 'ADDNORM_CACHE'): -1.0 is not in "),
        (("render", "--jobs", "0"), "Invalid value for '--jobs': 0 is not in the range x>=1."),
        (("render", "--captions", "no"), "Invalid value for '--captions': 'no' is not one of 'on', 'off'."),
        (("render", "mine.toml", "./mine.toml"), "./mine.toml: id: 'mine' is also that of mine.toml; "),
        (("render", "-o", "mine.toml"), "mine.toml: a file; give a folder for -o"),
        (("render", "--colour", "red"), "No such option"),
        (("paint",), "No such command 'paint'."),
    ],
)
def test_a_wrong_request_is_one_line_and_writes_nothing(
    mine: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(mine.parent)
    run = Run(arguments, capsys)
    assert run.status == 2
    assert run.out == ""
    assert run.err.startswith(f"addnorm: {message}")
    assert len(run.err.splitlines()) == 1
    assert list(mine.parent.iterdir()) == [mine]


def test_a_folder_that_cannot_be_made_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(("render", "-o", "x" * 300), capsys)
    assert run.status == 1
    assert "/.addnorm/work: cannot be written: File name too long; " in run.err
    assert len(run.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("token = 9", "token: token 9 of 1; 1 to 1"),
        ('[captions.zh]\nb9 = "x"', "captions.zh.b9: "),
        ("colour = 3", "colour: "),
    ],
)
@pytest.mark.parametrize("command", ["values", "render"])
def test_a_wrong_example_names_file_field_and_remedy(
    mine: Path, capsys: pytest.CaptureFixture[str], command: str, line: str, message: str
) -> None:
    mine.write_text(MINE.replace('"mine"', f'"mine"\n{line}') if "[" not in line else f"{MINE}{line}\n")
    run = Run((command, str(mine)), capsys)
    assert (run.status, run.out) == (2, "")
    assert run.err.startswith(f"addnorm: {mine}: {message}")
    assert len(run.err.splitlines()) == 1


def test_a_name_that_breaks_the_line_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(("values", "no\nwhere"), capsys)
    assert run.status == 2
    assert len(run.err.splitlines()) == 1


def test_a_failed_render_is_one_line_and_status_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / ".addnorm").write_text("in the way")
    run = Run(("render", "-o", str(tmp_path)), capsys)
    assert run.status == 1
    assert run.err.startswith(f"addnorm: {tmp_path}/.addnorm/work: cannot be written: Not a directory; ")
    assert len(run.err.splitlines()) == 1


# --- help


def test_help_names_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert Run((), capsys).out == Run(("--help",), capsys).out != ""
    run = Run(("render", "--help"), capsys)
    assert run.status == 0
    for word in (*languages(), *themes(), "--states", "--stills", "--size", "--captions", "--pace", "--jobs", "--out"):
        assert word in run.out
    assert max(map(len, run.out.splitlines())) <= 100


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    from importlib.metadata import version

    assert Run(("--version",), capsys).out == f"addnorm {version('addnorm')}\n"


LOADED = """
import sys
from addnorm.scenes.cli import main
main(sys.argv[1:])
print(*sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def loaded_by(*arguments: str) -> set[str]:
    """The packages that are loaded when a command has run."""
    command = [sys.executable, "-c", LOADED, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return {*run.stderr.splitlines()[-1].split()}


def test_help_loads_no_numbers_and_values_no_pictures(mine: Path) -> None:
    heavy = {"manim", "av", "PIL", "rich", "typst", "fontTools", "scipy"}
    assert loaded_by("render", "--help") & {*heavy, "numpy"} == set()
    assert loaded_by("render", "--colour") & {*heavy, "numpy"} == set()
    assert loaded_by("values", str(mine)) & {*heavy, "numpy"} == {"numpy"}
    own_words = {"typst", "fontTools"}  # to see whether they fit
    assert loaded_by("values", "--json") & {*heavy, "numpy"} == {"numpy", *own_words}
    assert loaded_by("render", "nowhere.toml") & {*heavy, "numpy"} == {"numpy"}


def test_a_plain_label_needs_no_look_into_the_font() -> None:
    from fontTools.ttLib import TTFont

    with TTFont(asset("fonts", "NotoSansSC-Regular.ttf")) as font:
        assert {*range(0x20, 0x7F)} <= font.getBestCmap().keys()


# --- render


def test_render_says_what_is_done_and_where_it_is(
    mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(mine.parent)
    run = Run(("render", "mine.toml", "--stills", "--states", "b4", "--size", "480p15", "-o", "-x {y} 例"), capsys)
    assert (run.status, run.err) == (0, "")
    assert run.out == "mine/zh-480p15 b4  still\n-x {y} 例/mine/zh-480p15/stills/b4.png\n"
    assert Path("-x {y} 例/mine/zh-480p15/stills/b4.png").is_file()


ENDLESS = """
import os, signal, sys
from dataclasses import replace
from addnorm.scenes import films
from addnorm.scenes.cli import main

def stage(trace):
    from addnorm.scenes.films.r44.scene import R44
    class Endless(R44):
        def perform(self, state):
            os.write(1, b"filming\\n")  # in one piece, whoever else writes
            signal.pause()
    return Endless

films.FILMS = {"r44": replace(films.FILMS["r44"], stage=stage)}
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("send", "number", "status"), [(os.killpg, signal.SIGINT, 130), (os.kill, signal.SIGTERM, 143)]
)
def test_interrupted_it_says_so_and_leaves_nothing(
    tmp_path: Path, jobs: int, send: Any, number: signal.Signals, status: int
) -> None:
    command = [sys.executable, "-c", ENDLESS, "render", "--size", "480p15", "-o", str(tmp_path), "--jobs", str(jobs)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            assert process.stdout
            assert [process.stdout.readline() for _ in range(jobs)] == ["filming\n"] * jobs
            send(process.pid, number)
            out, err = process.communicate()  # which also waits for all that write there
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)  # or leaving the block would wait for ever
            raise
    assert (process.returncode, out) == (status, "")
    assert err == "addnorm: interrupted; what was published before is as it was\n"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert list((tmp_path / ".addnorm" / "work").iterdir()) == []


PROGRAM = "import sys; from addnorm.scenes.cli import main; sys.exit(main(sys.argv[1:]))"


STOPPED_WHILE_LOADING = """
import os, sys
from addnorm.scenes.start import main
number = int(sys.argv.pop())
sys.addaudithook(lambda event, args: os.kill(os.getpid(), number) if event == "import" and args[0] == "cloup" else None)
sys.exit(main())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_while_the_command_line_is_loaded_is_a_line(number: signal.Signals) -> None:
    command = [sys.executable, "-c", STOPPED_WHILE_LOADING, "--version", str(int(number))]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (128 + number, "")
    assert run.stderr == "addnorm: interrupted; what was published before is as it was\n"


def test_on_a_terminal_there_is_a_bar(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    wanted = ["render", "--stills", "--states", "b4", "--size", "480p15", "-o", str(tmp_path)]
    command = [sys.executable, "-c", PROGRAM, *wanted]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env=environment, text=True, check=False)
    os.close(theirs)
    seen = os.read(ours, 100_000).decode()
    os.close(ours)
    assert run.returncode == 0
    assert run.stdout == f"{tmp_path}/r44/zh-480p15/stills/b4.png\n"
    assert "━" in seen
    assert "1/1" in seen


def test_a_caption_that_does_not_fit_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = tmp_path / "long.toml"
    words = "so many words that no lecture hall could read them " * 6
    example.write_text(
        f'id = "long"\ninput.x = [[1, 2]]\nattention.output = [[0, 1]]\ncaptions.en.b2 = "{words}"\n', encoding="utf-8"
    )
    out = tmp_path / "out"
    assert main(["render", str(example), "--lang", "en", "--stills", "--size", "480p15", "-o", str(out)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"addnorm: {example}: captions.en.b2: ")
    assert not list(out.rglob("*.png"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_an_output_with_no_room_is_one_line() -> None:
    command = [sys.executable, "-c", PROGRAM, "values"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "addnorm: no space left where this is written; make room\n")


def test_a_folder_is_no_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(("render", str(tmp_path)), capsys)
    assert run.status == 2
    assert run.err == f"addnorm: {tmp_path}: a folder; give the files in it: {tmp_path}/*.toml\n"


def test_a_clip_without_a_ground_is_not_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "b3.webm").touch()
    run = Run(("verify", str(tmp_path / "b3.webm")), capsys)
    assert run.status == 2
    assert "b3.webm: WebM is not verified, as it has no ground of its own; give the mp4 beside it" in run.err


def test_suffixes_may_be_in_capitals(tmp_path: Path, mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = mine.rename(tmp_path / "MINE.TOML")
    assert Run(("values", str(path)), capsys).status == 0
    assert Run(("new", str(tmp_path / "NEW.TOML")), capsys).status == 0


# --- courses


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Three examples."""
    folder = tmp_path / "course"
    folder.mkdir()
    for name in ("one", "two", "three"):
        example = f'id = "{name}"\ninput.x = [[1, 2]]\nattention.output = [[0, 1]]\n'
        (folder / f"{name}.toml").write_text(example, encoding="utf-8")
    return folder


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_film_that_fails_does_not_stop_the_course(
    course: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    from addnorm.mathcore.errors import AddnormError
    from addnorm.scenes.films.r44.scene import R44

    draw = R44.draw

    def fail(stage: R44, *element: Any) -> Any:
        if (stage.trace.example.id, stage.production.language) == ("two", "en"):
            raise AddnormError("state b2: wrong")
        return draw(stage, *element)

    monkeypatch.setattr(R44, "draw", fail)
    examples = [str(course / f"{name}.toml") for name in ("one", "two", "three")]
    out = course / "out"
    looks = ("--lang", "zh,en", "--stills", "--states", "b2", "--size", "480p15", "--jobs", str(jobs), "-o", str(out))
    run = Run(("render", *examples, *looks), capsys)
    assert (run.status, run.err) == (1, "addnorm: two/en-480p15: state b2: wrong\n")
    films = {str(path.relative_to(out).parent.parent) for path in out.rglob("b2.png")}
    assert films == {f"{name}/{lang}-480p15" for name in ("one", "two", "three") for lang in ("zh", "en")} - {
        "two/en-480p15"
    }
    assert run.out.count("b2.png") == 5


def test_a_film_whose_place_is_taken_is_named_at_the_end(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = course / "out"
    out.mkdir()
    (out / "one").write_text("mine")
    examples = (str(course / "one.toml"), str(course / "three.toml"))
    run = Run(("render", *examples, "--stills", "--states", "b4", "--size", "480p15", "-o", str(out)), capsys)
    assert run.status == 1
    [line] = run.err.splitlines()
    assert line.startswith("addnorm: one/zh-480p15: ")
    assert "cannot be written: Not a directory; " in line
    assert (out / "three" / "zh-480p15" / "stills" / "b4.png").exists()
    assert (out / "one").read_text() == "mine"


def test_all_files_that_are_wrong_are_named_before_anything_is_done(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (course / "one.toml").write_text('id = "one"\ncolour = 3\n')
    (course / "three.toml").write_text('id = "two"\ninput.x = [[1, 2]]\nattention.output = [[0, 1]]\n')
    names = [str(course / f"{name}.toml") for name in ("one", "two", "three", "four")]
    run = Run(("render", *names, "-o", str(course / "out")), capsys)
    assert (run.status, run.out) == (2, "")
    assert [line.split(": ")[1] for line in run.err.splitlines()] == [names[0], names[2], names[3]]
    assert not (course / "out").exists()
