"""The README at its word: its commands are run and its files written, in order, in one empty folder.

A fenced block says by its first line what it is. After ``sh`` come commands, one a line: ``addnorm`` and
``pytest`` are run, of ``make`` it is checked that the target is there, and what sets a machine up is left
alone. A language and a file name (``toml mine.toml``, ``python test_frames.py``) is a file, and is there for
the commands after it. Blocks of any other kind are for the eye.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

BLOCK = re.compile(r"^```(?P<language>\w+)(?: (?P<file>\S+))?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
SETS_UP = {"git", "cd", "brew", "pip", "python3"}


def commands(readme: str, folder: Path) -> Iterator[list[str]]:
    """The commands of a README; a file is written when its turn has come."""
    for block in BLOCK.finditer(readme):
        if block["file"]:
            (folder / block["file"]).write_text(block["body"], encoding="utf-8")
        elif block["language"] == "sh":
            lines = (shlex.split(line, comments=True) for line in block["body"].splitlines())
            yield from (words for words in lines if words and words[0] not in SETS_UP)


def as_tested(command: list[str]) -> list[str]:
    """What is run in a command's place: make only looks; films are small and fast unless their size is given."""
    program, *arguments = command
    assert program in {"make", "addnorm", "pytest", "python"}, f"the README names an unknown program: {program}"
    if program == "make":
        return ["make", "--dry-run", *arguments]
    if arguments[:1] == ["render"] and not {"--size", "--stills"} & {*arguments}:
        return [*command, "--size", "480p15", "--pace", "4"]
    return command


def follow(readme: str, checkout: Path, folder: Path, environment: Mapping[str, str]) -> list[str]:
    """Do what a README says and return the commands that were run."""
    followed = []
    for command in map(as_tested, commands(readme, folder)):
        place = checkout if command[0] == "make" else folder
        run = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
        assert run.returncode == 0, f"{shlex.join(command)}\n{run.stdout}{run.stderr}"
        followed.append(shlex.join(command))
    return followed


def environment(programs: Path) -> dict[str, str]:
    """A reader's environment: this process's, without CI, and with another folder of programs in front."""
    own = {name: value for name, value in os.environ.items() if name != "CI"}
    return {**own, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


def test_the_readme_does_what_it_says(checkout: Path, tmp_path: Path) -> None:
    readme = (checkout / "README.md").read_text(encoding="utf-8")
    followed = follow(readme, checkout, tmp_path, environment(Path(sys.executable).parent))
    assert {"make --dry-run film", "make --dry-run test"} <= {*followed}
    assert any(command.startswith("addnorm ") for command in followed)


@pytest.fixture
def stand_in(tmp_path: Path) -> dict[str, str]:
    """An ``addnorm`` that only wants its last argument to be a file."""
    script = tmp_path / "bin" / "addnorm"
    script.parent.mkdir()
    script.write_text(
        '#!/bin/sh\nfor last; do :; done\ntest -f "$last" || { echo "no $last" >&2; exit 2; }\n'
    )
    script.chmod(0o755)
    return environment(script.parent)


def test_files_are_there_for_the_commands_after_them(
    checkout: Path, tmp_path: Path, stand_in: dict[str, str]
) -> None:
    file = "```toml mine.toml\nid = 'mine'\n```\n"
    text = f"{file}\n```sh\ngit clone somewhere\naddnorm values mine.toml  # mine\n```\n"
    assert follow(text, checkout, tmp_path, stand_in) == ["addnorm values mine.toml"]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("addnorm values nowhere.toml", "no nowhere.toml"),
        ("make no-such-target", "No rule to make target"),
        ("curl somewhere", "unknown program"),
    ],
)
def test_a_command_that_does_not_work_is_found(
    checkout: Path, tmp_path: Path, stand_in: dict[str, str], line: str, complaint: str
) -> None:
    with pytest.raises(AssertionError, match=complaint):
        follow(f"```sh\n{line}\n```\n", checkout, tmp_path, stand_in)


def test_films_are_made_small(checkout: Path, tmp_path: Path, stand_in: dict[str, str]) -> None:
    (tmp_path / "4").touch()
    [command] = follow("```sh\naddnorm render r44\n```\n", checkout, tmp_path, stand_in)
    assert command == "addnorm render r44 --size 480p15 --pace 4"
