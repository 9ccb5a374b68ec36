"""Places and files that are not as usual: they work, or one line says what is wrong. What was published stays.

Whatever a disk may refuse is refused here by the process's own limit on the size of files, which binds every
library, and by the steps of the render itself, at a step that is counted.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.cache import clean
from addnorm.scenes.cli import main
from addnorm.scenes.publish import working_folder

MINE = 'id = "mine"\ninput.x = [[0.5, -1.0, {}]]\nattention.output = [[0.1, 0.2, 0.3]]\n'
LOOKS = ("--states", "b4", "--size", "480p15", "--pace", "4", "--jobs", "1")
STILL = ("--stills", *LOOKS)
CLIP = "mine/zh-480p15/clips/b4.mp4"
ODD_NAMES = (
    "it's here", "br{ace}", " two  words ", "-x", "中文", "🙂", "%d", "new\nline", "~", "a;b$(c)", "[a]*", "...",
)  # fmt: skip
Contents = dict[str, bytes]


class Run:
    """What a command printed, and its exit status."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: Path | str) -> None:
        self.status = main([str(argument) for argument in arguments])
        self.out, self.err = capsys.readouterr()

    @property
    def line(self) -> str:
        """The one line that says what is wrong."""
        assert self.status in (1, 2)
        [line] = self.err.splitlines()
        assert line.startswith("addnorm: ")
        return line


def contents(out: Path) -> Contents:
    files = (path for path in out.rglob("*") if path.is_file() and ".addnorm" not in path.parts)
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with an example."""
    (tmp_path / "mine.toml").write_text(MINE.format("2"))
    (tmp_path / "other.toml").write_text(MINE.format("3"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output folder with a clip, and what is kept of it."""
    folder = tmp_path_factory.mktemp("rendered")
    (folder / "mine.toml").write_text(MINE.format("2"))
    assert main(["render", str(folder / "mine.toml"), *LOOKS, "-o", str(folder / "out")]) == 0
    return folder / "out"


# --- names


@pytest.mark.parametrize("name", ODD_NAMES)
def test_every_command_takes_any_name(name: str, rendered: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(rendered, name)
    typed = f"./{name}"  # as one writes a path that begins with a dash
    new = Run(capsys, "new", f"{typed}/{name}.toml")
    assert (new.status, new.err) == (0, "")
    [example] = [f"./{path}" for path in Path(name).glob("*.toml")]
    assert Run(capsys, "values", example).status == 0
    drawn = Run(capsys, "render", example, *STILL, "-o", name)
    assert (drawn.status, drawn.err) == (0, "")
    assert "b4  3.4 s of film, as before" in Run(capsys, "render", "mine.toml", *LOOKS, "-o", name).out
    exported = Run(capsys, "export", "page", f"{typed}/mine")
    assert (exported.status, exported.out) == (0, f"{name}/mine/page.html\n")
    assert Run(capsys, "export", "page", f"{typed}/mine", "-o", f"{typed}/{name}.html").status == 0
    assert f"output folder {name}: " in Run(capsys, "doctor", "-o", name).out
    assert Run(capsys, "clean", "-o", name).status == 0
    assert contents(Path(name)).items() >= contents(rendered).items()
    assert not Path(name, ".addnorm").exists()
    assert {path.name for path in Path().iterdir()} == {"mine.toml", "other.toml", name}


def test_verify_takes_any_name(rendered: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "it's {a} %d 中文🙂\n*"
    shutil.copytree(rendered, name)
    assert Run(capsys, "verify", f"{name}/mine/zh-480p15").status == 0


def test_the_line_that_new_gives_can_be_typed(capsys: pytest.CaptureFixture[str]) -> None:
    assert Run(capsys, "new", "./-x y.toml").out.endswith("addnorm render './-x y.toml' --stills\n")
    assert Run(capsys, "values", "./-x y.toml").status == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_a_name_that_is_no_text(rendered: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    shutil.copytree(rendered, name)
    commands = (
        ("render", "mine.toml", *LOOKS, "-o", name), ("new", f"{name}/new.toml"),
        ("export", "page", f"{name}/mine"), ("doctor", "-o", name), ("render", f"{name}/none.toml"),
    )  # fmt: skip
    code = "import sys; from addnorm.scenes.cli import main; print(*map(main, eval(sys.argv[1])))"
    run = subprocess.run([sys.executable, "-c", code, ascii(commands)], capture_output=True, check=True)
    assert run.stdout.splitlines()[-1] == b"0 0 0 0 2"
    assert b"caf\xe9/mine/page.html\n" in run.stdout
    assert len(run.stderr.splitlines()) == 1


def test_a_path_that_is_too_long(capsys: pytest.CaptureFixture[str]) -> None:
    long = "x" * 300
    commands = (
        ("render", "mine.toml", *STILL, "-o", long), ("render", f"{long}.toml"), ("values", f"{long}.toml"),
        ("new", f"{long}.toml"), ("export", "page", long), ("verify", f"{long}.mp4"), ("clean", "-o", long),
    )  # fmt: skip
    for command in commands:
        assert "File name too long" in Run(capsys, *command).line
    assert Run(capsys, "doctor", "-o", long).err == ""


# --- something else is there


@pytest.mark.parametrize(
    "place",
    ["", "mine", "mine/zh-480p15", "mine/zh-480p15/clips", "mine/zh-480p15/stills", ".addnorm", ".addnorm/work"],
)
@pytest.mark.parametrize("kind", ["file", "link that leads nowhere", "pipe"])
def test_something_else_where_a_folder_should_be(
    place: str, kind: str, rendered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path("out", place)
    if place.startswith("mine"):
        shutil.copytree(rendered / ".addnorm", "out/.addnorm")
    path.parent.mkdir(parents=True, exist_ok=True)
    match kind:
        case "file":
            path.write_text("mine")
        case "pipe":
            os.mkfifo(path)
        case _:
            path.symlink_to("nowhere")
    line = Run(capsys, "render", "mine.toml", *LOOKS, "-o", "out").line
    assert "cannot be written: " in line or "addnorm: out: a " in line
    assert kind != "link that leads nowhere" or kind in line
    assert (path.is_symlink(), path.is_fifo()) == (kind == "link that leads nowhere", kind == "pipe")
    assert Run(capsys, "doctor", "-o", "out").err == ""
    assert Run(capsys, "clean", "-o", "out").status == 0


@pytest.mark.parametrize("name", ["clips/b4.mp4", "stills/b4.png", "values.json"])
def test_a_folder_where_a_file_should_be(name: str, rendered: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(rendered, "out")
    path = Path("out/mine/zh-480p15", name)
    path.unlink()
    path.mkdir()
    before = contents(Path("out"))
    run = Run(capsys, "render", "mine.toml", *LOOKS, "-o", "out")
    assert f"{path}: cannot be written: Is a directory; " in run.line
    assert contents(Path("out")) == before
    assert Run(capsys, "export", "page", "out/mine").line
    Run(capsys, "verify", "out/mine/zh-480p15")
    assert path.is_dir()


def test_a_link_to_a_folder_is_that_folder(rendered: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("out", "mine", "cache"):
        Path(f"real {name}").mkdir()
    Path("out").symlink_to("real out")
    Path("out/mine").symlink_to("../real mine")
    Path("out/.addnorm").mkdir()
    Path("out/.addnorm/cache").symlink_to("../../real cache")
    assert Run(capsys, "render", "mine.toml", *LOOKS, "-o", "out").status == 0
    assert contents(Path("real mine")).keys() == {str(Path(name).relative_to("mine")) for name in contents(rendered)}
    assert Run(capsys, "clean", "-o", "out").status == 0
    assert [*Path("real cache").iterdir()] == []
    assert Path("out").is_symlink()
    assert Path("out/mine").is_symlink()


def test_a_link_in_a_files_place_is_replaced_and_what_it_leads_to_stays(
    rendered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("out", CLIP).parent.mkdir(parents=True)
    Path("precious").write_text("mine")
    Path("out", CLIP).symlink_to(Path("precious").absolute())
    assert Run(capsys, "render", "mine.toml", *LOOKS, "-o", "out").status == 0
    assert Path("precious").read_text() == "mine"
    assert contents(Path("out")) == contents(rendered)


def test_a_pipe_or_a_folder_among_the_videos_is_passed_over(
    rendered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(rendered, "out")
    os.mkfifo("out/mine/zh-480p15/clips/a.mp4")
    Path("out/mine/zh-480p15/film.mp4").mkdir()
    assert "no video there" in Run(capsys, "verify", "out/mine/zh-480p15/clips/a.mp4").line
    Path("out", CLIP).unlink()
    assert "no video there" in Run(capsys, "verify", "out/mine/zh-480p15").line


# --- examples


@pytest.mark.parametrize("suffix", ["toml", "npz"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "socket", "loop", "nothing", "unreadable"])
def test_what_is_no_example_is_a_line(
    kind: str, suffix: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(f"odd.{suffix}")
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "device":
            path.symlink_to("/dev/zero")
        case "socket":
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(str(path))
        case "loop":
            path.symlink_to(path)
        case "unreadable":
            path.write_text(MINE.format("2"))
            path.chmod(0)
            _refuse(monkeypatch, path)
    for command in ("values", "render"):
        run = Run(capsys, command, path)
        assert run.line.startswith(f"addnorm: {path}: ")
        assert run.status == 2
    Path("with.toml").write_text('id = "with"\narrays = "odd.npz"\n')
    assert Run(capsys, "values", "with.toml").line


def _refuse(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """Refuse to open a file, as the system does for everybody but root."""
    opened = Path.open

    def refused(self: Path, *arguments: object, **more: object) -> object:
        if self == path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))
        return opened(self, *arguments, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refused)


@pytest.mark.parametrize("name", ["", ".", "..", "/", "mine", ".toml"])
def test_a_new_example_needs_a_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ".toml file; give a name such as " in Run(capsys, "new", name).line


# --- a disk that refuses


LIMITED = """
import os, resource, sys
from addnorm.scenes.cli import main

def no_file_above(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

def refuse_from(step, number):
    steps = iter(range(1, step))
    def refuse(event, arguments):
        writing = event in ("os.mkdir", "os.rename") or (event == "open" and arguments[2] & os.O_ACCMODE)
        if writing and "out" in str(arguments[0]) and not next(steps, None):
            raise OSError(number, os.strerror(number), str(arguments[0]))
    sys.addaudithook(refuse)

eval(sys.argv[1])
sys.exit(main(sys.argv[2:]))
"""
"""A command for which no file may be larger than so many bytes, or which is refused, from a step on, to open for
writing, to make or to move any file below out."""


def limited(how: str, *command: str) -> tuple[int, list[str]]:
    """Its exit status, and what it said on standard error."""
    run = subprocess.run([sys.executable, "-c", LIMITED, how, *command], capture_output=True, text=True, check=False)
    return run.returncode, run.stderr.splitlines()


RENDER = ("render", "other.toml", *LOOKS, "-o", "out")
EXPORTS = tuple(("export", form, "out/mine") for form in ("page", "frames", "pptx", "beamer"))


@pytest.mark.parametrize(("command", "size"), [(RENDER, 20_000), *((command, 1000) for command in (RENDER, *EXPORTS))])
def test_a_disk_that_takes_no_large_file(command: Sequence[str], size: int, rendered: Path) -> None:
    shutil.copytree(rendered, "out")
    before = contents(Path("out"))
    status, [line] = limited(f"no_file_above({size})", *command)
    assert status == 1
    assert "out/" in line
    assert "cannot be written: File too large; " in line
    assert contents(Path("out")) == before
    assert [*Path("out/.addnorm/work").iterdir()] == []


@pytest.mark.parametrize(
    ("command", "number", "step"),
    [
        *((("render", "mine.toml", *LOOKS, "-o", "out"), errno.ENOSPC, step) for step in (1, 2, 4, 7, 12)),
        (("render", "mine.toml", *LOOKS, "-o", "out"), errno.EROFS, 3),
        (EXPORTS[0], errno.EROFS, 1),
        (EXPORTS[0], errno.ENOENT, 3),
        (EXPORTS[3], errno.ENOSPC, 5),
    ],
)
def test_a_disk_that_refuses_from_a_step_on(command: Sequence[str], number: int, step: int, rendered: Path) -> None:
    """Each file is the old one or the new one, whichever step it is."""
    shutil.copytree(rendered, "out")
    Path("out/mine/zh-480p15/stills/b4.png").write_text("old")
    before = contents(Path("out"))
    status, lines = limited(f"refuse_from({step}, {number})", *command)
    assert (status, len(lines)) in ((1, 1), (0, 0))
    assert status or step > 2
    if status:
        assert os.strerror(number) in lines[0]
    after = contents(Path("out"))
    for name, content in before.items():
        assert after[name] in (content, contents(rendered)[name])


def test_a_folder_that_vanishes_midway(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from addnorm.scenes import filming

    film = filming.take_still

    def take(*arguments: object, **more: object) -> None:
        shutil.rmtree("out")
        film(*arguments, **more)  # type: ignore[arg-type]

    for jobs in ("1", "2"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(filming, "take_still", take)
            stills = ("--stills", "--states", "b4,b1", "--size", "480p15")
            assert main(["render", "mine.toml", *stills, "--jobs", jobs, "-o", "out"]) == 1
        [line] = capfd.readouterr().err.splitlines()
        assert "No such file or directory; it takes a folder that may be written to" in line
    assert tmp_path.exists()


def test_the_folder_one_is_in_vanished(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = here / "mine.toml"
    (here / "gone").mkdir()
    os.chdir(here / "gone")
    (here / "gone").rmdir()
    assert "No such file or directory" in Run(capsys, "render", example, *STILL).line
    with pytest.raises(AddnormError, match="No such file or directory"):
        working_folder(Path("out")).__enter__()
    os.chdir(here)


def test_a_new_example_is_whole_or_not_there() -> None:
    status, [line] = limited("no_file_above(100)", "new", "new.toml")
    assert status == 2
    assert "new.toml: cannot be written (File too large); " in line
    assert not Path("new.toml").exists()


def test_an_export_elsewhere_that_fails_leaves_nothing_there(rendered: Path) -> None:
    Path("elsewhere").mkdir()
    command = ("export", "page", str(rendered / "mine"), "-o", "elsewhere/page.html")
    status, [line] = limited("no_file_above(1000)", *command)
    assert status == 1
    assert "File too large" in line
    assert [*Path("elsewhere").iterdir()] == []


def test_clean_says_what_it_may_not_remove(rendered: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(rendered, "out")

    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(AddnormError, match=r"out/\.addnorm/cache/.*: cannot be removed: Permission denied"):
        clean(Path("out"))
