"""From work in progress to published files: each appears under its name whole, or not at all.

Everything is made in a folder of the process's own inside the output folder, hence on the same file system,
and moved into place by rename. No process waits for another: whoever publishes last wins, file by file.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from addnorm.mathcore.errors import AddnormError


@contextmanager
def working_folder(out: Path) -> Iterator[Path]:
    """A new folder below ``out/.addnorm/work``, gone when the block ends.

    A process that is killed leaves its folder behind; the next one to start removes it.
    """
    parent = out / ".addnorm" / "work"
    remove_abandoned(out)
    with writing(parent):
        folder, claim = _new_folder(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(claim)


def remove_abandoned(out: Path) -> None:
    """Remove the working folders that nobody works in any more."""
    try:
        folders = [*(out / ".addnorm" / "work").iterdir()]
    except OSError:  # not there, or not to be looked into
        return
    for folder in folders:
        with suppress(OSError):  # in use, or another process is removing it
            claim = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(claim)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """In here what the system refuses is told of the file ``path``, as an AddnormError."""
    try:
        yield
    except OSError as error:
        raise _unwritten(path, error) from error


@contextmanager
def making(path: Path) -> Iterator[None]:
    """The same for work with many files: what is told names the one that was refused, ``path`` if it is not known."""
    try:
        yield
    except OSError as error:
        raise _unwritten(error.filename2 or error.filename or path, error) from error


def _unwritten(path: Path | str, error: OSError) -> AddnormError:
    in_the_way = ", or a link that leads nowhere" if error.errno == errno.EEXIST else ""
    return AddnormError(
        f"{path}: cannot be written: {error.strerror or error}{in_the_way}; "
        "it takes a folder that may be written to and has room; earlier files are as they were"
    )


def write(path: Path, content: bytes) -> None:
    """Write a working file, in a folder that is made if need be."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def publish(staged: Mapping[str, Path], target: Path) -> None:
    """Move working files to their places below ``target``, in the order given.

    The keys are paths relative to ``target``. Put the film last: whoever sees the new one then finds all that
    belongs to it. What would fail is found before the first file is moved, as far as it can be known.
    """
    for name in staged:
        with writing(target / name):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            if (target / name).is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    for name, working_file in staged.items():
        with writing(target / name):
            working_file.replace(target / name)


# A folder in use is locked by the processes that work in it. The system drops the lock when the last of them
# ends, however it ends; unlike a process number, that holds across containers and is never given to another.
# Where a file system has no locks, nothing is taken for abandoned.


def _new_folder(parent: Path) -> tuple[Path, int]:
    """A new folder and the descriptor that marks it as in use until it is closed.

    In the moment before it is locked, others may remove it as if abandoned, or its parent as if no longer needed.
    Where nothing can be made, for the folder above is gone or a file is in the way, that is so again and again.
    """
    attempts = 100
    while True:
        try:
            parent.mkdir(parents=True, exist_ok=True)
            folder = Path(mkdtemp(dir=parent))
            claim = os.open(folder, os.O_RDONLY)
        except (FileNotFoundError, FileExistsError):  # the second where it went just as it was looked at
            attempts -= 1
            if not attempts:
                raise
            continue
        with suppress(OSError):
            fcntl.flock(claim, fcntl.LOCK_SH)
        if folder.exists():
            return folder, claim
        os.close(claim)
