"""What the doctor finds on machines that lack something, and the line it gives for it."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from addnorm.scenes import doctor
from addnorm.scenes.cli import main
from addnorm.scenes.doctor import Finding, examine


def found(out: Path, subject: str) -> Finding:
    """The one finding on a subject."""
    [finding] = [finding for finding in examine(out) if finding.subject.startswith(subject)]
    return finding


def test_a_machine_that_has_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "-o", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "all that a film needs is here"
    assert any(line.startswith("ok    manim: 0.22") for line in lines)
    assert not [line for line in lines if line.startswith("WRONG")]


def test_every_requirement_is_examined(tmp_path: Path) -> None:
    needed = {re.split("[<>=]", line)[0] for line in metadata.requires("addnorm") or [] if "extra" not in line}
    assert {"manim", "numpy", "typst", "av"} < needed
    assert needed | {"sets text", "encodes video"} < {finding.subject for finding in examine(tmp_path)}


def test_a_missing_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(doctor, "requires", lambda _: ["numpy>=2.1,<3", "no-such-thing>=1.2,<2"])
    assert found(tmp_path, "no-such-thing").state == "missing"
    assert main(["doctor", "-o", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert f"WRONG no-such-thing: missing\n      {sys.executable} -m pip install 'no-such-thing>=1.2,<2'\n" in out
    assert out.endswith("1 to mend, each by the line below it\n")


def test_a_version_that_is_not_admitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "requires", lambda _: ["numpy>=99"])
    finding = found(tmp_path, "numpy")
    assert finding.state == f"{metadata.version('numpy')}, but numpy>=99 is needed"
    assert finding.mend.endswith("pip install 'numpy>=99'")


@pytest.mark.parametrize(
    ("managers", "mend"),
    [
        (["dnf", "pacman"], "sudo dnf install"),
        (["apt-get"], "sudo apt-get install"),
        (["brew"], "brew install pkgconf cairo pango"),
        ([], "install cairo and pango with the package manager"),
    ],
)
def test_a_missing_system_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, managers: list[str], mend: str
) -> None:
    def refuse(name: str) -> None:
        raise ImportError(f"{name}: libpangocairo-1.0.so.0: cannot open shared object file: No such file")

    monkeypatch.setattr(doctor, "import_module", refuse)
    monkeypatch.setattr(shutil, "which", lambda name: name if name in managers else None)
    finding = found(tmp_path, "manim")
    assert "lacks a system library: manim: libpangocairo" in finding.state
    assert finding.mend.startswith(mend)


def test_a_package_that_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise ImportError(f"no {name} here")

    monkeypatch.setattr(doctor, "import_module", refuse)
    finding = found(tmp_path, "pycairo")
    assert finding.state == f"{metadata.version('pycairo')} cannot be imported: no cairo here"
    assert "--force-reinstall" in shlex.split(finding.mend)


def test_what_is_optional_does_not_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "requires", lambda _: ['no-such-slides>=1; extra == "slides"'])
    assert main(["doctor", "-o", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "-     no-such-slides, for addnorm export pptx: missing\n" in out
    assert "pip install 'addnorm[slides]'\n" in out


def test_text_that_cannot_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("addnorm.scenes.typeset.asset", tmp_path.joinpath)
    monkeypatch.setattr("addnorm.scenes.typeset._cmap", frozenset)
    finding = found(tmp_path, "sets text")
    assert finding.state.startswith("AddnormError: text '归一化'")
    assert not finding.right


def test_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    assert found(tmp_path / "new" / "out", "output folder").right
    assert found(tmp_path / "file" / "out", "output folder").state.endswith("Not a directory")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100 * 2**20))
    finding = found(tmp_path, "output folder")
    assert (finding.state, finding.right) == ("100 MB free", False)


def test_a_folder_that_may_not_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(doctor, "TemporaryDirectory", refuse)
    finding = found(tmp_path, "output folder")
    assert finding.mend == f"sudo chown $(id -u) {tmp_path}"


def test_it_runs_where_the_command_line_does_not() -> None:
    hide = "import sys; sys.modules['click'] = sys.modules['cloup'] = sys.modules['numpy'] = None\n"
    run = f"{hide}from runpy import run_module; run_module('addnorm.scenes.doctor', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "WRONG numpy" in done.stdout
    assert "WRONG click" in done.stdout
