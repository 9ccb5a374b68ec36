"""How fast, measured against what others need: ``make bench`` runs all this and prints one table.

Whatever is compared runs in turns within one run, so that other work on the machine hardly counts. Seconds are those
of the clock, and in brackets those of all processors together. Memory is the greatest resident size of one
process (ru_maxrss), pages that it shares with others included. The whole takes some minutes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from runpy import run_path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from addnorm.mathcore.example import Example, GivenOutput
from addnorm.mathcore.trace import run as compute
from addnorm.scenes.video import parse_size

CHECKOUT = Path(__file__).parents[2]
PYTHON = sys.executable
ADDNORM = str(Path(PYTHON).with_name("addnorm"))
MANIM = str(Path(PYTHON).with_name("manim"))
MEGABYTE = 1024 if sys.platform.startswith("linux") else 1024**2
"""How many units of ru_maxrss make one."""

LONGER = """
import sys
from pathlib import Path
from addnorm.mathcore.example_files import load_example
from addnorm.mathcore.trace import run
from addnorm.scenes.filming import film_clip
from addnorm.scenes.films.r44.scene import R44
from addnorm.scenes.paths import find_example
from addnorm.scenes.stage import Production
from addnorm.scenes.video import parse_size
production = Production(run(load_example(find_example("r44"))), pace=float(sys.argv[1]))
film_clip(R44, production, "b1", parse_size("1080p60"), Path(sys.argv[2], "clip"), Path(sys.argv[2], "still"))
"""

LOSSLESS = """
import sys
from pathlib import Path
from addnorm.scenes import video
video._ENCODER = video._ENCODER | {"qp": sys.argv[1]}
""" + LONGER.split("\n", 3)[3].replace("float(sys.argv[1])", "1")


class Cost(NamedTuple):
    """What a process and those that it started took."""

    wall: float
    cpu: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.wall:.2f} s ({self.cpu:.2f})"


class Row(NamedTuple):
    """A line of the table: a number that ought to be at most a limit (or at least, for a quality)."""

    what: str
    ours: str
    against: str
    number: float
    limit: float
    goal: float | None = None
    at_least: bool = False

    @property
    def holds(self) -> bool:
        return self.number >= self.limit if self.at_least else self.number <= self.limit


def cost(*command: str, status: int = 0) -> Cost:
    """Run a command, which is to end with a status, and say what it took."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        errors = process.stderr.read()
        _, ended, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(ended)
    if process.returncode != status:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{errors}")
    return Cost(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / MEGABYTE)


def the_film(folder: Path) -> Iterator[Row]:
    """The whole film with all its files, against plain manim and against ffmpeg, and what it takes in memory."""
    scene = str(CHECKOUT / "scenes/films/r44/scene.py")
    ours = cost(ADDNORM, "render", "-o", str(folder / "out"))
    stock = cost(MANIM, "render", "-qh", "--disable_caching", "--media_dir", str(folder / "media"), scene, "R44")
    again = cost(ADDNORM, "render", "-o", str(folder / "again"))
    best = min(ours, again)
    yield Row("film against plain manim -qh", str(best), str(stock), best.wall / stock.wall, 0.30, 0.18)
    if ffmpeg := shutil.which("ffmpeg"):
        film = ("-v", "error", "-nostdin", "-i", str(folder / "out/r44/zh/film.mp4"), "-map", "0:v")
        decoded = cost(ffmpeg, *film, "-f", "null", "-")
        encoded = cost(ffmpeg, *film, "-c:v", "libx264", "-preset", "veryfast", "-f", "null", "-")
        needs = Cost(encoded.wall - decoded.wall, encoded.cpu - decoded.cpu, encoded.megabytes)
        what = "film against ffmpeg veryfast (without decoding)"
        yield Row(what, str(best), str(needs), best.wall / needs.wall, 0.9, 0.5)
    unchanged = cost(ADDNORM, "render", "-o", str(folder / "out"))
    yield Row("film rendered again without a change (s)", str(unchanged), "", unchanged.wall, 0.5)
    alone = cost(ADDNORM, "render", "--jobs", "1", "-o", str(folder / "alone"))
    megabytes = max(ours.megabytes, alone.megabytes)
    yield Row(
        "memory of a process, 1080p60 (MB)", f"{ours.megabytes:.0f}, {alone.megabytes:.0f} alone", "", megabytes, 350
    )
    yield from wide(folder, best)


def wide(folder: Path, film: Cost) -> Iterator[Row]:
    """Films of many features, against that of four."""
    rng = np.random.default_rng(0)
    tokens = [f"token {n + 1}" for n in range(20)]
    x, update = rng.normal(size=(2, 20, 384))
    gamma, beta = rng.normal(1, 0.2, 384), rng.normal(0, 0.2, 384)
    np.savez(folder / "wide.npz", x=x, O=update, gamma=gamma, beta=beta, eps=1e-5, tokens=np.array(tokens))
    for what, example in (("384 features × 20 tokens", str(folder / "wide.npz")), ("minilm", "minilm")):
        took = cost(ADDNORM, "render", example, "-o", str(folder / "wide"))
        yield Row(f"{what} against r44 (CPU)", str(took), str(film), took.cpu / film.cpu, 1.3)


def a_longer_film(folder: Path) -> Iterator[Row]:
    """A clip that lasts ten times as long may take no more memory."""
    short, long = (cost(PYTHON, "-c", LONGER, pace, str(folder)).megabytes for pace in ("1", "0.1"))
    yield Row("memory of a clip ten times as long", f"{long:.0f} MB", f"{short:.0f} MB", long / short, 1.1)


def two_jobs(_folder: Path) -> Iterator[Row]:
    """A course of several films in two processes, against one."""
    one, two = run_path(str(Path(__file__).with_name("course_throughput.py")))["medians"]()
    what = "throughput of two jobs against one (needs two idle processors)"
    yield Row(what, f"{two:.2f} s", f"{one:.2f} s", one / two, 1.8, at_least=True)


def large_pictures(folder: Path) -> Iterator[Row]:
    """What 4K takes in memory: two processes at work, and the one that waits for them."""
    size = ("--size", "2160p60", "--pace", "4", "--states", "b0,b3", "--jobs", "2")
    took = cost(ADDNORM, "render", *size, "-o", str(folder))
    yield Row("memory of 4K with two jobs (MB)", f"3 × {took.megabytes:.0f}", "", 3 * took.megabytes, 24 * 1024)


def quality(folder: Path) -> Iterator[Row]:
    """How near the encoded frames are to the drawn ones."""
    ffmpeg = shutil.which("ffmpeg")
    if ffmpeg is None:
        return
    for name, quantizer in (("ours", "20"), ("lossless", "0")):
        (folder / name).mkdir()
        cost(PYTHON, "-c", LOSSLESS, quantizer, str(folder / name))
    inputs = [part for name in ("ours", "lossless") for part in ("-f", "mp4", "-i", str(folder / name / "clip"))]
    done = subprocess.run(
        [ffmpeg, "-nostdin", *inputs, "-lavfi", "ssim", "-f", "null", "-"], check=True, capture_output=True, text=True
    )
    similarity = float(done.stderr.rpartition("All:")[2].split()[0])
    yield Row("SSIM of b1 against lossless frames", f"{similarity:.5f}", "", similarity, 0.999, at_least=True)


def the_audit(_folder: Path) -> Iterator[Row]:
    """The audit's share of a render."""
    total = run_path(str(Path(__file__).with_name("audit_cost.py")))["total"]
    for example in ("r44", "minilm"):
        audited, bare = total(example, parse_size("720p30"))
        what = f"the audit's share of {example} at 720p30 (CPU)"
        yield Row(what, f"{audited:.2f} s", f"{bare:.2f} s without", 1 - bare / audited, 0.10)


def the_core(_folder: Path) -> Iterator[Row]:
    """The trace of a large example, against the statistics alone."""
    rng = np.random.default_rng(0)
    x, update = rng.normal(size=(2, 4096, 4096))
    gamma, beta = np.ones(4096), np.zeros(4096)

    def bare() -> None:
        r = x + update
        centered = r - r.mean(axis=1, keepdims=True)
        variance = (centered**2).mean(axis=1, keepdims=True)
        assert (centered / np.sqrt(variance + 1e-5) * gamma + beta).shape == r.shape

    def core() -> None:
        compute(Example("large", x, GivenOutput(update), gamma, beta))

    ours, against = in_turns(lambda: clocked(core), lambda: clocked(bare), 7)
    yield Row("the core on 4096 tokens × 4096 features", f"{ours:.2f} s", f"{against:.2f} s", ours / against, 3)


def starting(folder: Path) -> Iterator[Row]:
    """Help and errors, against what Python itself needs to load."""
    wrong = folder / "wrong.toml"
    wrong.write_text('id = "wrong"\n', encoding="utf-8")
    for what, command, module, limit in (
        ("addnorm --help", (ADDNORM, "--help"), "cloup", 2),
        ("a wrong example", (ADDNORM, "render", str(wrong)), "numpy", 2),
        ("addnorm values", (ADDNORM, "values"), "numpy", 3),
    ):
        ours, against = in_turns(
            partial(seconds, *command, status=2 if str(wrong) in command else 0),
            partial(seconds, PYTHON, "-c", f"import {module}"),
            9,
        )
        yield Row(f"{what} against import {module} (CPU)", f"{ours:.3f} s", f"{against:.3f} s", ours / against, limit)


def seconds(*command: str, status: int = 0) -> float:
    """The CPU seconds of a command."""
    return cost(*command, status=status).cpu


def in_turns(ours: Callable[[], float], others: Callable[[], float], turns: int) -> tuple[float, float]:
    """The medians of two measurements that take turns."""
    pairs = [(ours(), others()) for _ in range(turns)]
    first, second = (median(column) for column in zip(*pairs, strict=True))
    return first, second


def clocked(work: Callable[[], None]) -> float:
    """The CPU seconds of a piece of work."""
    start = time.process_time()
    work()
    return time.process_time() - start


ALL = (the_film, two_jobs, a_longer_film, large_pictures, quality, the_audit, the_core, starting)
PARTS = {part.__name__: part for part in ALL}


def main(wanted: Sequence[str]) -> int:
    """Measure the parts that are wanted, or all, and print the table."""
    table = Table("", "ours", "against", "number", "limit", "goal", "")
    for name in wanted or PARTS:
        sys.stderr.write(f"{name} …\n")
        with TemporaryDirectory() as folder:
            for row in PARTS[name](Path(folder)):
                goal = "" if row.goal is None else f"{row.goal:g}"
                number = f"{row.number:.3g}" if row.number < 100 else f"{row.number:.0f}"
                table.add_row(row.what, row.ours, row.against, number, f"{row.limit:g}", goal, "" if row.holds else "!")
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
