"""What the frame audit costs: each state filmed with it and without it, in turns, in one run.

``python tests/benchmarks/audit_cost.py [EXAMPLE] [SIZE] [STATE ...]`` prints a line a state. Times are
seconds of CPU, all threads taken together, so that other work on the machine hardly counts; the share is that of
the audit in a render that has it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from addnorm.mathcore.example_files import load_example
from addnorm.mathcore.trace import run
from addnorm.scenes.audit import Auditor
from addnorm.scenes.filming import film_clip
from addnorm.scenes.films.r44.scene import R44
from addnorm.scenes.paths import find_example
from addnorm.scenes.stage import Production, Stage
from addnorm.scenes.video import Size, parse_size

TURNS = 3
"""How often each state is filmed with it and without; the medians count."""


@contextmanager
def without_audit() -> Iterator[None]:
    """Film what is drawn without looking at it."""

    def inspect(*_args: Any, **_options: Any) -> tuple[()]:
        return ()

    def nothing(*_args: Any) -> None:
        return None

    with (
        patch.object(Auditor, "inspect", inspect),
        patch.object(Auditor, "inspect_camera", nothing),
        patch.object(Auditor, "keep", nothing),
        patch.object(Stage, "_require_shown", nothing),
    ):
        yield


def film(production: Production, state: str, size: Size, folder: Path) -> float:
    """The CPU seconds that a state takes."""
    start = time.process_time()
    film_clip(R44, production, state, size, folder / "clip.mp4", folder / "still.png")
    return time.process_time() - start


def total(example: str, size: Size, states: Sequence[str] = (), turns: int = TURNS) -> tuple[float, float]:
    """The CPU seconds of some states, or of all, with the audit and without it; told state by state."""
    production = Production(run(load_example(find_example(example))), "zh")
    names = states or tuple(state.name for state in R44.storyboard(production.trace).states)
    audited_total = bare_total = 0.0
    with TemporaryDirectory() as folder:
        film(production, names[0], size, Path(folder))  # fonts, outlines, imports
        for state in names:
            pairs: list[Sequence[float]] = []
            for _ in range(turns):
                with_it = film(production, state, size, Path(folder))
                with without_audit():
                    pairs.append((with_it, film(production, state, size, Path(folder))))
            audited, bare = (median(column) for column in zip(*pairs, strict=True))
            report(state, audited, bare)
            audited_total, bare_total = audited_total + audited, bare_total + bare
    return audited_total, bare_total


def main(example: str = "r44", size: str = "1080p60", *states: str) -> None:
    """Print what the audit costs, state by state and in all."""
    report("all", *total(example, parse_size(size), states))


def report(what: str, audited: float, bare: float) -> None:
    sys.stderr.write(f"{what}: {audited:.2f} s with the audit, {bare:.2f} s without: {1 - bare / audited:.1%}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
