"""Reading NPZ files that nobody vouches for.

numpy's own loader believes what a file says of itself: it allocates what a header claims and inflates
whatever is inside. This one reads only arrays it knows by name, of numbers or text, without pickle, and no
more bytes than the header, the archive and the size limits agree on.
"""

from __future__ import annotations

import io
import math
import re
import sys
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np

from addnorm.mathcore.errors import ExampleError, found_in, nearest
from addnorm.mathcore.example import MAX_FEATURES, MAX_TOKEN_LENGTH, MAX_TOKENS

AXES = {
    "x": ("tokens", "features"),
    "O": ("tokens", "features"),
    "gamma": ("features",),
    "beta": ("features",),
    "eps": (),
    "tokens": ("tokens",),
    "token": (),
}
MAX_HEADER_BYTES = 10_000
MAX_DIRECTORY_BYTES = 10_000
MAX_ENTRIES = MAX_TOKENS * MAX_FEATURES

_FORMATS = {b"\x93NUMPY\x01\x00": 2, b"\x93NUMPY\x02\x00": 4}  # with how many bytes tell the header's length
_DESCR = re.compile(r"'descr'\s*:\s*'([<>=|]?[a-zA-Z?][0-9]{0,9})'")
_ORDER = re.compile(r"'fortran_order'\s*:\s*(True|False)")
_SHAPE = re.compile(r"'shape'\s*:\s*\(([0-9, ]*)\)")

# What zipfile, zlib and numpy raise on a damaged file.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, TypeError, ValueError)

Stored = np.ndarray[Any, np.dtype[Any]]


def read_npz(path: Path) -> dict[str, Stored]:
    """The arrays of an NPZ by name, each of the right number of axes, in the type it was stored in.

    Raises ExampleError, naming the file and the array, for an unknown or a damaged array and for one too
    large.
    """
    with found_in(str(path)):
        try:
            return _read(path)
        except _DAMAGE as error:
            reason = getattr(error, "strerror", None) or f"{error}" or type(error).__name__
            raise ExampleError("NPZ", f"cannot be read ({reason})", "a file written by numpy.savez") from None


def _read(path: Path) -> dict[str, Stored]:
    if path.exists() and not path.is_file():
        raise ExampleError("NPZ", "not a file", "a file written by numpy.savez")
    _require_short_directory(path)
    arrays: dict[str, Stored] = {}
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            name = entry.filename.removesuffix(".npy")
            if name not in AXES:
                raise ExampleError(name, "unknown array", nearest(name, AXES))
            if name in arrays:
                raise ExampleError(name, "stored twice", "one array of this name")
            arrays[name] = _read_array(archive, entry, name)
    return arrays


def _require_short_directory(path: Path) -> None:
    """Refuse an archive whose list of entries is long, for zipfile reads all of it: APPNOTE.TXT, section 4.3.16."""
    with path.open("rb") as file:
        file.seek(-min(42, path.stat().st_size), io.SEEK_END)
        end = file.read()
    if end[-22:-18] != b"PK\5\6" or end[-2:] != b"\0\0":
        raise zipfile.BadZipFile("not a zip file, or one with a comment")
    if end[:-22].startswith(b"PK\6\7") or int.from_bytes(end[-10:-6], "little") > MAX_DIRECTORY_BYTES:
        raise zipfile.BadZipFile("too many entries")


def _read_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> Stored:
    """One array, after its header, its size in the archive and the limits have been found to agree."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ExampleError(name, "an unusual compression", "numpy.savez or numpy.savez_compressed")
    with archive.open(entry) as stream:
        dtype, order, shape = _read_header(stream, name)
        _check(name, dtype, shape)
        length = math.prod(shape) * dtype.itemsize
        held = entry.file_size - stream.tell()
        if length != held:
            found = f"a header that claims {length} bytes where the archive holds {held}"
            raise ExampleError(name, found, "write the file again")
        content = stream.read(length)
    if len(content) != length:
        raise ExampleError(name, f"{len(content)} bytes of {length}", "write the file again")
    if dtype.kind == "U" and np.frombuffer(content, dtype.byteorder + "u4").max() > sys.maxunicode:
        raise ExampleError(name, "a number that is no character", "an array of str")
    return np.frombuffer(content, dtype).reshape(shape, order=order)


def _read_header(stream: IO[bytes], name: str) -> tuple[np.dtype[Any], Any, tuple[int, ...]]:
    """dtype, order ("C" or "F") and shape, as NPY format 1 or 2 tells them (numpy.lib.format)."""
    width = _FORMATS.get(stream.read(8))
    length = int.from_bytes(stream.read(width or 0), "little")
    if width is None or length > MAX_HEADER_BYTES:
        raise ExampleError(name, "not an array in NPY format", "an array saved by numpy.savez")
    header = stream.read(length).decode("latin-1")
    descr, order, shape = _DESCR.search(header), _ORDER.search(header), _SHAPE.search(header)
    if not (descr and order and shape):
        raise ExampleError(name, "not a plain array", "an array of one type, numbers or text")
    sizes = tuple(int(size) for size in shape[1].replace(" ", "").split(",") if size)
    return np.dtype(descr[1]), "F" if order[1] == "True" else "C", sizes


def _check(name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """Refuse, before anything is allocated, what cannot be the array of this name."""
    axes = AXES[name]
    if len(shape) != len(axes) or 0 in shape:
        raise ExampleError(
            name, f"shape {shape}", " × ".join(axes) if axes else "a single number, of shape ()"
        )
    if math.prod(shape) > MAX_ENTRIES:
        raise ExampleError(name, f"shape {shape}", f"at most {MAX_TOKENS} tokens × {MAX_FEATURES} features")
    if dtype.hasobject:
        raise ExampleError(name, "an object array", "numbers of one type, and tokens as an array of str")
    if name == "tokens" and dtype.kind != "U":
        raise ExampleError(name, f"an array of {dtype.name}", "an array of str")
    if name == "tokens" and dtype.itemsize > 4 * MAX_TOKEN_LENGTH:
        raise ExampleError(
            name, f"labels of up to {dtype.itemsize // 4} characters", f"at most {MAX_TOKEN_LENGTH}"
        )
