"""Reading NPZ files that nobody vouches for.

numpy's own loader believes what a file says of itself: it allocates what a header claims and inflates whatever is
inside. This one reads only arrays it knows by name, of numbers or text, without pickle, and no more bytes than header,
archive and size limits agree on.
"""

from __future__ import annotations

import ast
import math
import re
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np

from addnorm.mathcore.document import widened
from addnorm.mathcore.errors import ExampleError, nearest
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
MAX_NUMBERS = MAX_TOKENS * MAX_FEATURES

# What zipfile, zlib and ast raise on damaged files.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, SyntaxError, TypeError, ValueError)


def read_npz(path: Path) -> dict[str, Any]:
    """The arrays of an NPZ by name: x, O, gamma, beta and eps as stored, ``tokens`` a list of str, ``token`` an int.

    Raises ExampleError, naming the file and the array, for anything else.
    """
    arrays: dict[str, Any] = {}
    name = "NPZ"
    try:
        if not path.is_file():
            raise ExampleError("NPZ", "not a file" if path.exists() else "not found", "the path of an .npz file")
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                name = entry.filename.removesuffix(".npy")
                if name not in AXES:
                    raise ExampleError(name, "unknown array", nearest(name, AXES))
                if name in arrays:
                    raise ExampleError(name, "stored twice", "keep one array of this name")
                arrays[name] = _converted(name, _read_array(archive, entry))
    except ExampleError as error:
        raise error.within(str(path)) from None
    except _DAMAGE as error:
        found = f"damaged or not an NPZ ({error or type(error).__name__})"
        raise ExampleError(name, found, "write the file again with numpy.savez", str(path)) from None
    return arrays


def _read_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray[Any, Any]:
    """One array of the archive, after its header, its size in the archive and the limits have been found to agree."""
    name = entry.filename.removesuffix(".npy")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ExampleError(name, "an unusual compression", "numpy.savez or numpy.savez_compressed")
    with archive.open(entry) as stream:
        dtype, fortran_order, shape = _read_header(stream, name)
        numbers = math.prod(shape)
        length = numbers * dtype.itemsize
        held = entry.file_size - stream.tell()
        if length != held:
            raise ExampleError(name, f"its header claims {length} bytes, the archive holds {held}", "write the file again")
        if numbers > MAX_NUMBERS:
            raise ExampleError(name, f"shape {shape}", f"at most {MAX_TOKENS} tokens × {MAX_FEATURES} features")
        content = stream.read(length)
    if len(content) != length:
        raise ExampleError(name, f"ends after {len(content)} of {length} bytes", "write the file again")
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran_order else "C")


def _read_header(stream: IO[bytes], name: str) -> tuple[np.dtype[Any], bool, tuple[int, ...]]:
    """dtype, Fortran order and shape, as the NPY format writes them (numpy.lib.format), versions 1 and 2."""
    magic = stream.read(8)
    width = {b"\x93NUMPY\x01\x00": 2, b"\x93NUMPY\x02\x00": 4}.get(magic)
    if width is None:
        raise ExampleError(name, "no array in NPY format 1 or 2", "numpy.savez of a plain array")
    length = int.from_bytes(stream.read(width), "little")
    if length > MAX_HEADER_BYTES:
        raise ExampleError(name, f"a header of {length} bytes", "numpy.savez of a plain array")
    header = ast.literal_eval(stream.read(length).decode("latin-1").strip())
    descr, fortran_order, shape = header["descr"], header["fortran_order"], header["shape"]
    if not isinstance(descr, str) or not re.fullmatch(r"[<>=|]?[a-zA-Z?][0-9]{0,9}", descr):
        raise ExampleError(name, "a structured array", "one plain array of numbers under each name")
    if "O" in descr:
        raise ExampleError(name, "an object array", "numbers of one type, and tokens as an array of str")
    if not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape) or len(shape) > 8:
        raise ValueError("no shape in the header")
    return np.dtype(descr), bool(fortran_order), shape


def _converted(name: str, array: np.ndarray[Any, Any]) -> Any:
    axes = AXES[name]
    if array.ndim != len(axes):
        wanted = " × ".join(axes) if axes else "a single number"
        raise ExampleError(name, f"shape {array.shape}", wanted)
    if name == "tokens":
        if array.dtype.kind != "U" or array.dtype.itemsize > 4 * MAX_TOKEN_LENGTH:
            remedy = f"an array of str, at most {MAX_TOKEN_LENGTH} characters each"
            raise ExampleError(name, f"an array of {array.dtype.name}", remedy)
        return array.tolist()
    if name == "token":
        if array.dtype.kind not in "iu":
            raise ExampleError(name, f"an array of {array.dtype.name}", "a whole number, counted from 1")
        return int(array)
    widened(array, name)  # refuses other types
    return array
