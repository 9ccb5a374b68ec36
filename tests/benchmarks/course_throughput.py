"""How much two jobs gain over one on a course of several small films, in turns, in one run.

``python tests/benchmarks/course_throughput.py [FILMS] [WIDTHxHEIGHT@RATE]`` prints the seconds of each turn and the
ratio of the medians; at least 1.8 is wanted on two processors with nothing else to do. Nothing is kept between turns.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from addnorm.mathcore.example_files import load_example
from addnorm.mathcore.trace import run
from addnorm.scenes.films import FILMS
from addnorm.scenes.paths import find_example
from addnorm.scenes.render import Order, Published, render
from addnorm.scenes.video import Size

TURNS = 3
SMALL = Size(854, 480, 30)


def course(films: int, size: Size) -> list[Order]:
    """So many films of R44, each of other numbers."""
    r44 = load_example(find_example("r44"))
    examples = [replace(r44, id=f"film{n}", x=r44.x + n / 4) for n in range(films)]
    return [Order(FILMS["r44"], run(example), size=size, pace=4) for example in examples]


def seconds(orders: Sequence[Order], jobs: int) -> float:
    """How long a course takes in so many processes."""
    with TemporaryDirectory() as out:
        start = time.perf_counter()
        done = [step for step in render(orders, Path(out), jobs) if isinstance(step, Published)]
        taken = time.perf_counter() - start
    assert len(done) == len(orders)
    return taken


def medians(films: int = 4, size: Size = SMALL) -> tuple[float, float]:
    """The median seconds of a course with one job and with two; each turn is told on stderr."""
    orders = course(films, size)
    seconds(orders[:1], 2)  # manim is loaded and fonts are read
    turns = [(seconds(orders, 1), seconds(orders, 2)) for _ in range(TURNS)]
    for one, two in turns:
        sys.stderr.write(f"{films} films: {one:6.2f} s with one job, {two:6.2f} s with two, ratio {one / two:.2f}\n")
    one, two = (median(column) for column in zip(*turns, strict=True))
    return one, two


def main(films: str = "4", size: str = "854x480@30") -> None:
    """Print the table."""
    width, _, rest = size.partition("x")
    height, _, rate = rest.partition("@")
    one, two = medians(int(films), Size(int(width), int(height), int(rate)))
    sys.stdout.write(f"medians: {one:.2f} s and {two:.2f} s, ratio {one / two:.2f}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
