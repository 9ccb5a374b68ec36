"""Where things are: the bundled data, found the same way from a checkout and from an installed wheel."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from addnorm.mathcore.errors import AddnormError


def asset(*parts: str) -> Path:
    """The path of a bundled file or folder, such as ``asset("fonts", "NotoSansSC-Regular.ttf")``."""
    return Path(str(files("addnorm.assets").joinpath(*parts)))


def bundled_examples() -> tuple[str, ...]:
    """The names of the examples that come with the package."""
    return tuple(sorted({path.stem for path in asset("examples").iterdir() if path.suffix == ".toml"}))


def find_example(name_or_path: str) -> Path:
    """The file behind an EXAMPLE argument: a bundled name, or a path to a ``.toml`` or ``.npz`` file."""
    if name_or_path in bundled_examples():
        return asset("examples", f"{name_or_path}.toml")
    path = Path(name_or_path)
    if os.path.isdir(name_or_path):  # noqa: PTH112  unlike Path, never an error
        raise AddnormError(f"{name_or_path}: a folder; give the files in it: {path / '*.toml'}")
    if path.suffix.lower() not in (".toml", ".npz"):
        known = ", ".join(bundled_examples())
        raise AddnormError(
            f"{name_or_path}: no example of this name; give one of {known}, or a path to a .toml or .npz file"
        )
    return path
