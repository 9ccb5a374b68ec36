"""Who may import whom, as ``pyproject.toml`` says, and that each of these rules can fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import grimp
import pytest

PACKAGES = ("mathcore", "scenes", "assets")


def lint_imports(folder: Path, *, only: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the rules in ``folder``; with ``only``, on the ``addnorm`` there and no other."""
    program = "import importlinter.cli; raise SystemExit(importlinter.cli.lint_imports())"
    command = [sys.executable, "-c", program]
    environment = {"PATH": ""}
    if only:
        command.insert(1, "-S")  # leaves out the installed addnorm
        environment["PYTHONPATH"] = f"{only}:{sysconfig.get_path('purelib')}"
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_rules_hold(checkout: Path) -> None:
    report = lint_imports(checkout)
    assert report.returncode == 0, report.stdout
    assert "kept, 0 broken" in report.stdout


@pytest.fixture
def copy(checkout: Path, tmp_path: Path) -> Path:
    """A copy of the packages and the rules, to plant something in."""
    for package in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__", "fonts")
        shutil.copytree(checkout / package, tmp_path / "addnorm" / package, ignore=ignored)
    shutil.copy(checkout / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_rules_hold_in_an_unchanged_copy(copy: Path) -> None:
    report = lint_imports(copy, only=copy)
    assert report.returncode == 0, report.stdout


@pytest.mark.parametrize(
    ("module", "line", "rule"),
    [
        ("mathcore/ops.py", "from addnorm.scenes import paths", "What draws builds on the math"),
        ("mathcore/errors.py", "from addnorm.mathcore import ops", "The math in layers"),
        ("mathcore/unheard_of.py", "", "The math in layers"),
        ("scenes/paths.py", "from addnorm.scenes import storyboard", "From the command line down"),
        ("scenes/unheard_of.py", "", "From the command line down"),
        ("scenes/theme.py", "def late(): import manim", "Only what draws imports manim"),
        ("scenes/films/r44/states.py", "from addnorm.scenes import stage", "reaches manim by no way round"),
        ("scenes/exporters/page.py", "def late(): from addnorm.scenes import render", "What exports reaches manim"),
    ],
)
def test_a_planted_import_is_found(copy: Path, module: str, line: str, rule: str) -> None:
    with (copy / "addnorm" / module).open("a") as file:
        file.write(f"\n{line}\n")
    report = lint_imports(copy, only=copy)
    assert report.returncode == 1, report.stdout
    assert any(rule in row for row in report.stdout.splitlines() if " BROKEN" in row), report.stdout


def strangers(graph: grimp.ImportGraph) -> set[str]:
    """What mathcore imports beyond numpy and the standard library."""
    ours = {"addnorm.mathcore"} | graph.find_descendants("addnorm.mathcore")
    imported = {name for module in ours for name in graph.find_modules_directly_imported_by(module)}
    return imported - ours - sys.stdlib_module_names - {"numpy"}


def test_the_math_needs_numpy_and_nothing_else() -> None:
    graph = grimp.build_graph("addnorm", include_external_packages=True, cache_dir=None)
    assert "numpy" in graph.modules
    assert strangers(graph) == set()
    graph.add_import(importer="addnorm.mathcore.errors", imported="scipy")
    assert strangers(graph) == {"scipy"}
