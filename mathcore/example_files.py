"""Reading example files: TOML, NPZ, and a TOML that takes its arrays from an NPZ beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from addnorm.mathcore.document import TOP, Table, example_from
from addnorm.mathcore.errors import ExampleError, shortened
from addnorm.mathcore.example import Example

MAX_TOML_BYTES = 16 * 2**20

# Where each array of an NPZ belongs in the document.
_FIELDS = {
    "x": "input.x",
    "O": "attention.output",
    "gamma": "layer_norm.gamma",
    "beta": "layer_norm.beta",
    "eps": "layer_norm.eps",
    "tokens": "tokens",
    "token": "token",
}
_ACTIVATIONS = {"x": "resid_pre", "O": "attn_out", "gamma": "gamma", "beta": "beta", "eps": "eps"}


def load_example(path: Path) -> Example:
    """Read an example from a ``.toml`` or ``.npz`` file.

    Raises ExampleError, naming the file and the field, for whatever keeps it from being an Example.
    """
    try:
        match path.suffix.lower():
            case ".toml":
                return _load_toml(path)
            case ".npz":
                return _load_npz(path)
        raise ExampleError("file name", shortened(path.name), "an example is a .toml or an .npz file")
    except ExampleError as error:
        raise error.within(str(path)) from None


def _load_toml(path: Path) -> Example:
    document = _read_toml(path)
    if "arrays" not in document:
        return example_from(document, source=str(path))
    file = _beside(path, Table(document, "").text("arrays"))
    del document["arrays"]
    return _with_arrays(document, file, source=path)


def _load_npz(path: Path) -> Example:
    """An NPZ alone: its name is the example's id, with a hyphen for whatever a folder name should not have."""
    identity = re.sub(r"[^\w.-]+", "-", path.stem).strip("-._")
    return _with_arrays({"id": identity[:64]}, path, source=path)


def _read_toml(path: Path) -> dict[str, Any]:
    import tomllib  # an NPZ needs none

    try:
        if not path.is_file():
            raise ExampleError("file", "not a file" if path.exists() else "not found", "the path of an example")
        if path.stat().st_size > MAX_TOML_BYTES:
            remedy = f"at most {MAX_TOML_BYTES}; keep large arrays in an NPZ beside it"
            raise ExampleError("file", f"{path.stat().st_size} bytes", remedy)
        document = tomllib.loads(path.read_bytes().decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ExampleError("encoding", f"not UTF-8 at byte {error.start + 1}", "save the file as UTF-8") from None
    except RecursionError:
        raise ExampleError("TOML", "brackets nested too deep", "arrays of at most three levels") from None
    except OSError as error:
        raise ExampleError("file", error.strerror or str(error), "a file that can be read") from None
    except ValueError as error:  # tomllib's own, a NUL in the path, a number of thousands of digits
        raise ExampleError("TOML", str(error), "a file that follows toml.io") from None
    Table(document, "", (*TOP, "arrays"))  # "dtypes" is for canonical data only
    return document


def _beside(path: Path, name: str) -> Path:
    """The NPZ called ``name`` in the folder of ``path``, which it may not leave, by a link neither."""
    try:
        file = path.parent / name
        inside = file.resolve().is_relative_to(path.parent.resolve()) and not Path(name).is_absolute()
    except (OSError, ValueError, RuntimeError):  # a name too long, a NUL, a loop of links
        inside = False
    if not inside or Path(name).suffix.lower() != ".npz":
        raise ExampleError("arrays", shortened(name), "the name of an .npz file in the example's own folder")
    return file


def _with_arrays(document: dict[str, Any], file: Path, source: Path) -> Example:
    """The example of a document and the arrays of an NPZ. Errors name the file and the field they come from."""
    from addnorm.mathcore.npz import read_npz

    arrays = read_npz(file)
    taken = {_FIELDS[name]: name for name, value in arrays.items() if _put(document, name, value, file)}
    try:
        return example_from(document, source=str(source))
    except ExampleError as error:
        if error.field not in taken:
            raise
        raise ExampleError(taken[error.field], error.found, error.remedy, str(file)) from None


def _put(document: dict[str, Any], name: str, value: Any, file: Path) -> bool:
    """Put an array in its place, and say whether it was taken.

    What stands in both files is refused, but ``token``: there the TOML chooses.
    """
    section, _, key = _FIELDS[name].rpartition(".")
    table = document.setdefault(section, {}) if section else document
    if not isinstance(table, dict) or (name == "token" and key in table):
        return False
    if key in table:
        raise ExampleError(_FIELDS[name], f"given here and in {file.name}", "keep one of the two")
    if name in _ACTIVATIONS and value.dtype.name != "float64":
        document.setdefault("dtypes", {})[_ACTIVATIONS[name]] = value.dtype.name
    table[key] = value.item() if name == "eps" else value
    return True
