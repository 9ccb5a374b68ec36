"""A file to start from: ``addnorm new``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.example_files import id_of
from addnorm.scenes.paths import asset


def write_new_example(path: Path) -> None:
    """Write a commented example that renders as it is; its id is the file's name. An existing file stays as it is."""
    if path.suffix.lower() != ".toml":
        raise AddnormError(f"{path}: a new example is a .toml file; give a name such as {path.stem or 'lecture'}.toml")
    text = asset("template.toml").read_text(encoding="utf-8").replace('"ID"', f'"{id_of(path)}"', 1)
    try:
        with path.open("x", encoding="utf-8") as file, _whole_or_not(path):
            file.write(text)
            file.flush()
    except FileExistsError:
        raise AddnormError(f"{path}: there is a file of this name already; give another name") from None
    except OSError as error:
        raise AddnormError(f"{path}: cannot be written ({error.strerror}); give another place") from None


@contextmanager
def _whole_or_not(path: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise
