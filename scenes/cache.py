"""Pieces of finished work, kept in ``OUT/.addnorm/cache`` under names that say what they are made from.

An entry is written whole or not at all and carries its digest: one that is damaged, by whatever, is not there.
Processes share the folder without waiting for one another.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.publish import remove_abandoned

GIB = 2**30
DEFAULT_LIMIT = 2 * GIB
_DIGEST = sha256().digest_size


class Cache:
    """The entries below one output folder; together they take at most ``limit`` bytes once ``trim`` has run."""

    def __init__(self, out: Path, limit: int = DEFAULT_LIMIT) -> None:
        self._folder = out / ".addnorm" / "cache"
        self._limit = limit

    def read(self, name: str) -> bytes | None:
        """An entry's content, or None where there is none that is whole; a damaged one is removed."""
        path = self._folder / name
        with suppress(OSError):
            content = path.read_bytes()
            if sha256(content[_DIGEST:]).digest() == content[:_DIGEST]:
                with suppress(OSError):  # in a folder that is read-only
                    os.utime(path)
                return content[_DIGEST:]
            path.unlink()
        return None

    def write(self, name: str, content: bytes, work: Path) -> None:
        """Keep an entry, made in the working folder ``work`` first. Where there is no room for it, it is not kept."""
        path, part = self._folder / name, work / f"entry {token_hex(8)}"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(sha256(content).digest() + content)
            part.replace(path)
        except OSError:
            with suppress(OSError):
                part.unlink()

    def names(self, folder: str) -> list[str]:
        """The entries in a folder of the cache."""
        try:
            return sorted(f"{folder}/{path.name}" for path in (self._folder / folder).iterdir())
        except OSError:
            return []

    def trim(self) -> None:
        """Remove what has not been used for longest, until the rest is within the limit."""
        entries = []
        for folder, _, names in os.walk(self._folder):
            for path in (Path(folder, name) for name in names):
                with suppress(OSError):  # another process removed it
                    status = path.stat()
                    entries.append((status.st_mtime_ns, status.st_size, path))
        room = self._limit
        for _, size, path in sorted(entries, reverse=True):
            room -= size
            if room < 0:
                with suppress(OSError):
                    path.unlink()


def clean(out: Path) -> int:
    """Remove what is kept, and work that was abandoned, below an output folder; nothing of what was published.

    Returns how many bytes were kept. Raises AddnormError where something cannot be removed.
    """
    folder = out / ".addnorm"
    remove_abandoned(out)
    kept = 0
    for place, _, names in os.walk(folder / "cache"):
        for name in names:
            with suppress(OSError):  # gone meanwhile
                kept += Path(place, name).lstat().st_size
    try:
        _empty(folder / "cache")
    except OSError as error:
        raise AddnormError(f"{error.filename}: cannot be removed: {error.strerror}") from error
    for empty in (folder / "cache", folder / "work", folder):
        with suppress(OSError):  # not there, or in use
            empty.rmdir()
    return kept


def _empty(folder: Path) -> None:
    """Remove what is in a folder. Others may do the same meanwhile, or keep something new, which stays."""
    for place, folders, files in os.walk(folder, topdown=False, onerror=_raise_unless_gone):
        for path in (Path(place, name) for name in (*files, *folders)):
            try:
                if path.is_dir() and not path.is_symlink():
                    path.rmdir()
                else:
                    path.unlink()
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENOTEMPTY):
                    raise


def _raise_unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error
