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
        "addnorm's source": source_digest({name: Path(import_module(name).__path__[0]) for name in _PACKAGES}),
        "Python": platform.python_version(),
        "processor": platform.machine(),
        **{name: version(name) for name in _DISTRIBUTIONS},
        "cairo": cairo.cairo_version_string(),
        **libraries,
    }


def source_digest(folders: Mapping[str, Path]) -> str:
    """A digest of every file in packages, data included: simple, and nothing is forgotten."""
    digest = sha256()
    for package, folder in folders.items():
        for path in sorted(path for path in folder.rglob("*") if path.suffix != ".pyc" and path.is_file()):
            content = path.read_bytes()
            digest.update(f"{package} {path.relative_to(folder).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()
