"""What pictures are made by: the whole source of the package, and the versions of all that draws."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

_PACKAGES = ("addnorm.mathcore", "addnorm.scenes", "addnorm.assets")
_DISTRIBUTIONS = ("manim", "numpy", "scipy", "typst", "fonttools", "pycairo", "pillow", "av")


@cache
def makers() -> Mapping[str, str]:
    """The source's digest and every version, by name. What is made by others may be another picture."""
    import av
    import cairo

    libraries = {name: ".".join(map(str, number)) for name, number in av.library_versions.items()}
    return {
        "addnorm's source": _source_digest(),
        "Python": platform.python_version(),
        "processor": platform.machine(),
        **{name: version(name) for name in _DISTRIBUTIONS},
        "cairo": cairo.cairo_version_string(),
        **libraries,
    }


def _source_digest() -> str:
    """A digest of every file of the package, data included: simple, and nothing is forgotten."""
    digest = sha256()
    for package in _PACKAGES:
        folder = Path(import_module(package).__path__[0])
        for path in sorted(path for path in folder.rglob("*") if path.suffix != ".pyc" and path.is_file()):
            content = path.read_bytes()
            digest.update(f"{package} {path.relative_to(folder).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()
