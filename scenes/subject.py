"""What a film can be of, however it is given, and its trace."""

from __future__ import annotations

from functools import lru_cache
from os import PathLike, fspath

from addnorm.mathcore.example import Example
from addnorm.mathcore.example_files import load_example
from addnorm.mathcore.trace import Trace, run
from addnorm.scenes.paths import find_example

Subject = str | PathLike[str] | Example | Trace
"""A bundled example by name, a .toml or .npz file, or what was loaded from one."""

_run = lru_cache(32)(run)


def trace_of(subject: Subject) -> Trace:
    """The trace of a subject; a file is read anew each time, what is equal is computed once."""
    if isinstance(subject, Trace):
        return subject
    return _run(subject if isinstance(subject, Example) else load_example(find_example(fspath(subject))))
