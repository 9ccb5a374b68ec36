"""Reading example files: a TOML, an NPZ, or a TOML that takes its arrays from an NPZ beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from addnorm.mathcore.document import KEYS, Table, Written, example_from
from addnorm.mathcore.errors import ExampleError, found_in, quoted
from addnorm.mathcore.example import Example

if TYPE_CHECKING:
    from addnorm.mathcore.npz import Stored

MAX_TOML_BYTES = 16 * 2**20
MAX_COMMAS = 2**20
MAX_LISTS_AND_TABLES = 20_000  # lines that begin with a bracket
MAX_KEYS = 20_000
MAX_KEY_PARTS = 15

# A part of a dotted key and its dot. No search starts within a part, and none is given back.
_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_DEEP_KEY = re.compile(rf"(?<![\w\\-])(?:{_PART}){{{MAX_KEY_PARTS}}}")

# The arrays of an NPZ: where each belongs in the document, and as which activation its type is recorded.
FIELDS = {
    "x": ("input", "x", "resid_pre"),
    "O": ("attention", "output", "attn_out"),
    "gamma": ("layer_norm", "gamma", "gamma"),
    "beta": ("layer_norm", "beta", "beta"),
    "eps": ("layer_norm", "eps", "eps"),
    "tokens": ("", "tokens", ""),
    "token": ("", "token", ""),
}


def load_example(path: Path | str) -> Example:
    """Read an example from a ``.toml`` or ``.npz`` file.

    Raises ExampleError, naming the file and the field, for whatever keeps it from being an Example.
    """
    path = Path(path)
    with found_in(str(path)):
        match path.suffix.lower():
            case ".toml":
                return _load_toml(path)
            case ".npz":
                return _load_npz(path)
            case _:
                raise ExampleError("file name", quoted(path.name), "an example is a .toml or an .npz file")


def _load_toml(path: Path) -> Example:
    document = _parsed(_content(path))
    top = Table(document, "", [key for key in (*KEYS, "arrays") if key != "dtypes"])
    if "arrays" not in document:
        return example_from(document, source=str(path))
    file = _beside(path, top.text("arrays"))
    del document["arrays"]
    return _with_arrays(document, file, source=path)


def _load_npz(path: Path) -> Example:
    """An NPZ alone."""
    return _with_arrays({"id": id_of(path)}, path, source=path)


def id_of(path: Path) -> str:
    """The id an example has by its file's name, with a hyphen for what a folder's should not have."""
    return re.sub(r"[^\w.-]+", "-", path.stem)[:64].strip("-.") or "example"


def _content(path: Path) -> str:
    try:
        if path.exists() and not path.is_file():
            raise ExampleError("file", "not a file", "the path of an example")
        if path.stat().st_size > MAX_TOML_BYTES:
            remedy = f"at most {MAX_TOML_BYTES}; keep large arrays in an NPZ beside it"
            raise ExampleError("file", f"{path.stat().st_size} bytes", remedy)
        return path.read_bytes().decode("utf-8").removeprefix("\ufeff")  # a byte order mark, as Windows writes it
    except UnicodeDecodeError as error:
        raise ExampleError("file", f"not UTF-8 at byte {error.start + 1}", "save it as UTF-8") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise ExampleError("file", getattr(error, "strerror", None) or f"{error}", "a file to read") from None


def _parsed(content: str) -> dict[str, Any]:
    import tomllib  # an NPZ does without

    _refuse_excess(content)
    try:
        return tomllib.loads(content, parse_float=Written)
    except RecursionError:
        raise ExampleError("TOML", "brackets nested too deep", "arrays of at most three levels") from None
    except tomllib.TOMLDecodeError as error:
        raise ExampleError("TOML", f"{error}", "see toml.io for how it is written") from None
    except ValueError:  # Python's own, of a number too long to convert
        found, remedy = "a whole number of more than 4300 digits", "whole numbers up to 2^53"
        raise ExampleError("TOML", found, remedy) from None


def _refuse_excess(content: str) -> None:
    """Refuse what no example needs, and what takes tomllib more time and memory than its length justifies."""
    counts = (
        (content.count(","), "commas", MAX_COMMAS),
        (content.count("="), "signs =", MAX_KEYS),
        (len(re.findall(r"^[ \t]*\[", content, re.MULTILINE)), "lines that begin with [", MAX_LISTS_AND_TABLES),
    )
    for count, what, most in counts:
        if count > most:
            raise ExampleError("TOML", f"{count} {what}", f"at most {most}; keep large arrays in an NPZ beside it")
    if _DEEP_KEY.search(content):
        found = f"a key of more than {MAX_KEY_PARTS} parts"
        raise ExampleError("TOML", found, "captions.en.b2 has the most, 3")


def _beside(path: Path, name: str) -> Path:
    """The NPZ of this name in the folder of ``path``, which neither ``..`` nor a link may leave.

    Where the example is itself a link, as in an editable install, the folder it leads to counts too.
    """
    try:
        file = path.parent / name
        folders = (path.parent.resolve(), path.resolve().parent)
        inside = any(file.resolve().is_relative_to(folder) for folder in folders)
    except (OSError, RuntimeError, ValueError):  # too long a name, a loop of links, a NUL
        inside = False
    if not inside or file.suffix.lower() != ".npz":
        raise ExampleError("arrays", quoted(name), "the name of an .npz file in the example's own folder")
    return file


def _with_arrays(document: dict[str, Any], file: Path, source: Path) -> Example:
    """The example of a document and an NPZ. Errors name the file and the field they come from."""
    from addnorm.mathcore.npz import read_npz

    arrays = read_npz(file)
    for name in ("x", "O") if file == source else ():
        if name not in arrays:
            raise ExampleError(name, "missing", "an NPZ alone needs x and O, both tokens × features")
    origin = {_put(document, name, array, file): name for name, array in arrays.items()}
    try:
        return example_from(document, source=str(source))
    except ExampleError as error:
        if error.field not in origin:
            raise
        raise ExampleError(origin[error.field], error.found, error.remedy, str(file)) from None


def _put(document: dict[str, Any], name: str, array: Stored, file: Path) -> str | None:
    """Put an array in its place and return the field it became.

    What stands in both files is refused, but ``token``: there the TOML chooses.
    """
    section, key, activation = FIELDS[name]
    field = f"{section}.{key}" if section else key
    table = document.setdefault(section, {}) if section else document
    if not isinstance(table, dict) or (name == "token" and key in table):
        return None  # where a table should be, example_from says so
    if key in table:
        raise ExampleError(field, f"given here and in {file.name}", "keep one of the two")
    if activation and array.dtype.name != "float64":
        document.setdefault("dtypes", {})[activation] = array.dtype.name
    table[key] = array if activation else array.tolist()
    return field
