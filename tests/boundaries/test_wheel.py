"""The wheel, built from the checkout and installed elsewhere: whole, by itself, and under one name only."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

PACKAGES = ("mathcore", "scenes", "assets")


@dataclass(frozen=True)
class Installation:
    """A fresh environment that holds the wheel: its interpreter, its packages, and what the wheel brought."""

    python: Path
    packages: Path
    contents: frozenset[str]

    def run(self, statements: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run Python statements there, with ``folder`` as the working directory."""
        command = [str(self.python), "-c", statements]
        return subprocess.run(command, cwd=folder, env={}, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def installation(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Build from a copy, so that nothing in the checkout changes and nothing left over in it gets in."""
    source, wheels, home = (tmp_path_factory.mktemp(name) for name in ("source", "wheels", "home"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(checkout / name, source)
    for name in PACKAGES:
        shutil.copytree(checkout / name, source / name)
    compiled = source / "mathcore" / "__pycache__" / "stale.pyc"
    compiled.parent.mkdir(exist_ok=True)
    compiled.touch()
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps"]
    build = [*pip, "wheel", *offline, "--no-build-isolation", "--wheel-dir", wheels, source]
    subprocess.run(build, check=True, capture_output=True)
    [wheel] = wheels.iterdir()

    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    python = home / "bin" / "python"
    subprocess.run([*pip, "--python", python, "install", *offline, wheel], check=True, capture_output=True)
    [packages] = home.glob("lib/python*/site-packages")
    # numpy and the rest from this environment; a .pth file is not read from there, so its addnorm stays out
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return Installation(python, packages, frozenset(zipfile.ZipFile(wheel).namelist()))


def test_nothing_but_addnorm_is_put_there(installation: Installation) -> None:
    names = {path.name for path in installation.packages.iterdir()} - {"dependencies.pth"}
    [information] = [name for name in names if name.endswith(".dist-info")]
    assert names == {"addnorm", information}
    assert {path.name for path in (installation.packages / "addnorm").iterdir()} == set(PACKAGES)


def test_it_has_every_file_of_the_packages_and_no_other(checkout: Path, installation: Installation) -> None:
    found = [path for name in PACKAGES for path in (checkout / name).rglob("*") if path.is_file()]
    expected = {f"addnorm/{path.relative_to(checkout)}" for path in found if path.suffix != ".pyc"}
    assert {name for name in installation.contents if ".dist-info/" not in name} == expected


def test_pytest_finds_its_plugin(installation: Installation) -> None:
    [information] = installation.packages.glob("addnorm-*.dist-info")
    plugins = PathDistribution(information).entry_points.select(group="pytest11")
    assert [plugin.value for plugin in plugins] == ["addnorm.scenes.pytest_plugin"]


def test_the_licences_go_with_it(installation: Installation) -> None:
    [licences] = installation.packages.glob("addnorm-*.dist-info/licenses")
    assert (licences / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
    assert "OPEN FONT LICENSE" in (licences / "assets/fonts/OFL.txt").read_text(encoding="utf-8")


def test_the_bare_names_stay_the_users_own(installation: Installation, tmp_path: Path) -> None:
    for name in PACKAGES:
        assert f"No module named '{name}'" in installation.run(f"import {name}", tmp_path).stderr
    (tmp_path / "scenes").mkdir()
    (tmp_path / "scenes" / "__init__.py").write_text("mine = True")
    mixed = installation.run("import scenes, addnorm.scenes; print(scenes.mine)", tmp_path)
    assert mixed.stdout == "True\n", mixed.stderr


def test_it_finds_its_assets_from_anywhere(installation: Installation, tmp_path: Path) -> None:
    program = """
from addnorm.scenes.paths import asset, bundled_examples, find_example
from addnorm.mathcore import load_example
print(asset("fonts").parents[1])
print(load_example(find_example("r44")).id, "r44" in bundled_examples())
"""
    found = installation.run(program, tmp_path)
    assert found.stdout.splitlines() == [str(installation.packages / "addnorm"), "r44 True"], found.stderr
