"""What is missing on a machine, and the line that mends it: ``addnorm doctor``.

Every check looks at one thing that a render needs and that a machine may lack. Where the command line itself
does not start, ``python -m addnorm.scenes.doctor`` says why: beyond the standard library nothing is imported
before it is examined.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from tempfile import TemporaryDirectory

PACKAGE = "addnorm"
ROOM = 500 * 2**20
"""Bytes. A film at 1080p60 and its work in progress take less, one in 4K about as much."""

_IMPORTED_AS = {
    "fonttools": "fontTools.ttLib",
    "jinja2": "jinja2",
    "pillow": "PIL.Image",
    "pycairo": "cairo",
    "python-pptx": "pptx",
}
"""What is imported of a distribution whose module has another name."""

_EXTRAS = {"slides": "addnorm export pptx", "cluster": "addnorm render --scheduler"}
"""What the optional parts are for. The other extras are for work on addnorm itself."""

_ELSEWHERE = "give another folder and try it: addnorm doctor -o FOLDER"

_LIBRARIES = {
    "apt-get": "sudo apt-get install --no-install-recommends gcc pkg-config libcairo2-dev libpango1.0-dev python3-dev",
    "dnf": "sudo dnf install gcc pkgconf-pkg-config cairo-devel pango-devel python3-devel",
    "pacman": "sudo pacman -S --needed gcc pkgconf cairo pango",
    "brew": "brew install pkgconf cairo pango",
}
"""How the system libraries that manim draws with are installed, by package manager."""


@dataclass(frozen=True)
class Finding:
    """One thing that was examined: what it is, how it is, and if it is wrong the line that mends it.

    What is ``optional`` is only needed for what ``subject`` says.
    """

    subject: str
    state: str
    mend: str = ""
    optional: bool = False

    @property
    def right(self) -> bool:
        """Whether nothing needs to be done."""
        return not self.mend

    def __str__(self) -> str:
        mark = "ok" if self.right else "-" if self.optional else "WRONG"
        line = f"{mark:<6}{self.subject}: {self.state}"
        return line if self.right else f"{line}\n      {self.mend}"


def main(out: str = "out") -> int:
    """Examine this machine, print what was found, and say whether it can render: 0 if so, else 1."""
    findings = []
    for finding in examine(Path(out)):
        print(finding)  # noqa: T201  click may be what is missing
        findings.append(finding)
    wrong = sum(not finding.right and not finding.optional for finding in findings)
    print(f"{wrong} to mend, each by the line below it" if wrong else "all that a film needs is here")  # noqa: T201
    return 1 if wrong else 0


def examine(out: Path) -> Iterator[Finding]:
    """Examine the machine, and the folder that films would go to."""
    yield Finding("Python", platform.python_version())
    packages = [_package(requirement) for requirement in _requirements("")]
    yield from packages
    if all(package.right for package in packages):
        yield _tried("sets text", _set_text, _reinstall())
        yield _tried("encodes video", _encode, _pip("--force-reinstall", "av"))
    yield _folder(out)
    for extra, serves in _EXTRAS.items():
        for requirement in _requirements(extra):
            yield _optional(_package(requirement), extra, serves)


def _requirements(extra: str) -> list[str]:
    """The requirements of addnorm, or those of one of its extras: ``manim>=0.22,<0.23``."""
    try:
        lines = requires(PACKAGE) or []
    except PackageNotFoundError:  # run from a checkout that was never installed
        return []
    marker = re.compile(r'\s*;\s*extra\s*==\s*["\']([\w-]+)["\']\s*$')
    found = [(marker.sub("", line), match[1] if (match := marker.search(line)) else "") for line in lines]
    return [requirement for requirement, of in found if of == extra]


def _package(requirement: str) -> Finding:
    """Whether a distribution is there, in a version that is admitted, and can be imported."""
    name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
    try:
        found = version(name)
    except PackageNotFoundError:
        return Finding(name, "missing", _pip(requirement))
    if not _admitted(found, requirement):
        return Finding(name, f"{found}, but {requirement} is needed", _pip(requirement))
    try:
        import_module(_IMPORTED_AS.get(name, name))
    except ImportError as error:
        if "cannot open shared object" in str(error) or "Library not loaded" in str(error):
            return Finding(name, f"{found} lacks a system library: {error}", _system_libraries())
        return Finding(name, f"{found} cannot be imported: {error}", _pip("--force-reinstall", requirement))
    return Finding(name, found)


def _admitted(found: str, requirement: str) -> bool:
    try:
        from packaging.requirements import Requirement
    except ImportError:  # which is said of packaging itself
        return True
    return Requirement(requirement).specifier.contains(found, prereleases=True)


def _optional(finding: Finding, extra: str, serves: str) -> Finding:
    subject = f"{finding.subject}, for {serves}"
    return Finding(subject, finding.state, finding.mend and _pip(f"{PACKAGE}[{extra}]"), optional=True)


def _tried(subject: str, trial: Callable[[], str], mend: str) -> Finding:
    """Do what a render does, on a small scale."""
    try:
        return Finding(subject, trial())
    except Exception as error:  # noqa: BLE001  whatever is wrong is the finding
        return Finding(subject, f"{type(error).__name__}: {error}", mend)


def _set_text() -> str:
    from addnorm.scenes.typeset import Span, typeset

    width = typeset([Span("归一化"), Span(math="mu")], "zh").width
    return f"in the bundled fonts, {width:.1f} em"


def _encode() -> str:
    import numpy as np

    from addnorm.scenes.video import Size, encode_clip, frame_count

    with TemporaryDirectory() as folder:
        clip = Path(folder, "clip")
        with encode_clip(clip, Size(64, 64, 30), comment="") as encoder:
            encoder.write(np.zeros((64, 64, 4), np.uint8), repeat=3)
        return f"H.264, {frame_count(clip)} frames"


def _folder(out: Path) -> Finding:
    """Whether films can be written to a folder, which need not be there yet, and how much room it has."""
    there = next(path for path in (out.absolute(), *out.absolute().parents) if os.path.lexists(path))
    subject = f"output folder {out}"
    try:
        with TemporaryDirectory(dir=there):
            free = shutil.disk_usage(there).free
    except PermissionError:
        return Finding(subject, f"{there} may not be written to", f"sudo chown $(id -u) {shlex.quote(str(there))}")
    except OSError as error:
        return Finding(subject, f"{there}: {error.strerror}", _ELSEWHERE)
    return Finding(subject, f"{free / 2**20:,.0f} MB free", "" if free >= ROOM else f"make room there, or {_ELSEWHERE}")


def _pip(*arguments: str) -> str:
    return shlex.join([sys.executable, "-m", "pip", "install", *arguments])


def _reinstall() -> str:
    return _pip("--force-reinstall", "--no-deps", PACKAGE)


def _system_libraries() -> str:
    lines = (line for manager, line in _LIBRARIES.items() if shutil.which(manager))
    return next(lines, "install cairo and pango with the package manager of your system")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
