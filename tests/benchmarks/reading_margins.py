"""How small and how badly encoded a number may be and still be read: run by hand, prints a table.

    python tests/benchmarks/reading_margins.py

Pictures full of numbers, half of them wrong in one digit, in the colours of both themes, are encoded as a hold of
some frames; the last one is judged. "halved" are drawn twice as large, encoded as a film is, scaled to half their
size and encoded again. For each height and quality the table gives how many right numbers were taken for wrong,
how many wrong ones for right, how far right numbers came on the way to a wrong one (at most FARTHEST is right)
and how little wrong ones did.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import av
import click
import numpy as np

from addnorm.scenes.typeset import CAP_HEIGHT
from addnorm.scenes.verify.passage import Passage, Picture, Plane
from addnorm.scenes.verify.raster import Pose, Sheet, ink
from addnorm.scenes.verify.reading import FARTHEST, MOST_LEFT_OVER, Reader, Spot
from addnorm.scenes.video import decode_yuv

HEIGHTS = (4.0, 4.5, 5.0, 6.0, 8.0, 12.0)
QUALITIES = (23, 28, 34)
NUMBERS = 1500
WIDTH, HEIGHT = 480, 270
FRAMES = 10
COLORS = {"dark": (31.0, 219.0), "dimmed": (41.0, 159.0), "light": (235.0, 42.0)}  # ground and ink, in levels


class Cell(NamedTuple):
    """A number that is expected in a place, and the one that is drawn there."""

    spot: Spot
    drawn: str


def cells(height: float, ink_level: float, random: np.random.Generator) -> Iterator[Cell]:
    """A picture full of numbers like those of a film; every other one is drawn with a digit changed."""
    em = height / CAP_HEIGHT
    for row in np.arange(2 * em, HEIGHT - 2 * em, 2.2 * em):
        for column in np.arange(em, WIDTH - 7 * em, 7 * em):
            places = int(random.integers(1, 7))
            text = f"{abs(random.normal(0, 1)):.{places}f}"
            text = f"\N{MINUS SIGN}{text}" if random.random() < 0.3 else text
            n = int(random.choice([n for n, character in enumerate(text) if character.isdigit()]))
            digit = random.choice([digit for digit in "0123456789" if digit != text[n]])
            drawn = f"{text[:n]}{digit}{text[n + 1 :]}" if random.random() < 0.5 else text
            x, y = column + random.random(), row + random.random()
            (left, bottom), (right, top) = ink(text)
            box = (x + left * em, y - top * em, (right - left) * em, (top - bottom) * em)
            yield Cell(Spot("", text, box, ink_level), drawn)


def picture(drawn: list[Cell], ground: float, scale: int) -> Picture:
    """The numbers on a flat ground, ``scale`` times as large."""
    plane = np.full((HEIGHT * scale, WIDTH * scale), ground, dtype=np.float32)
    sheet = Sheet(0, 0, WIDTH * scale, HEIGHT * scale)
    for spot, text in drawn:
        at = spot.pose
        covered = sheet.coverage(text, Pose(at.em_x * scale, at.em_y * scale, at.x * scale, at.y * scale))
        plane += covered * np.float32(spot.ink - ground)
    return np.round(plane).astype(np.uint8)


def encode(shown: Picture, path: Path, options: dict[str, str]) -> None:
    """A hold of one picture."""
    frame = av.VideoFrame(shown.shape[1], shown.shape[0], "yuv420p")
    for plane, levels in zip(frame.planes, (shown, None, None), strict=True):
        content = np.full((plane.height, plane.line_size), 128, dtype=np.uint8)
        if levels is not None:
            content[:, : plane.width] = levels
        plane.update(content.tobytes())
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=30, options=options)
        stream.width, stream.height, stream.pix_fmt = shown.shape[1], shown.shape[0], "yuv420p"
        for n in range(FRAMES):
            frame.pts, frame.time_base = n, Fraction(1, 30)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def last_picture(path: Path, width: int, height: int) -> Picture:
    """The last picture of a video, scaled by another scaler than the verifier's own."""
    with av.open(str(path)) as container:
        *_, frame = container.decode(video=0)
    scaled = frame.reformat(width, height, "yuv420p", interpolation="BICUBIC")
    plane = scaled.planes[0]
    return np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, plane.line_size)[:, : plane.width].copy()


class Result(NamedTuple):
    """How numbers were judged: for each whether it was wrong, how far it came, and what was left over."""

    wrong: np.ndarray
    toward: np.ndarray
    left_over: np.ndarray


def measure(height: float, crf: int, halved: bool, folder: Path) -> Result:
    """Judge numbers of a height after encoding."""
    random = np.random.default_rng([round(10 * height), crf, halved])
    results: list[tuple[bool, float, float]] = []
    while len(results) < NUMBERS:
        for ground, ink_level in COLORS.values():
            drawn = list(cells(height, ink_level, random))
            shown = picture(drawn, ground, 2 if halved else 1)
            if halved:
                encode(shown, folder / "film", {"preset": "ultrafast", "qp": "20"})
                shown = last_picture(folder / "film", WIDTH, HEIGHT)
            encode(shown, folder / "clip", {"preset": "medium", "crf": str(crf)})
            *_, (seen, _) = decode_yuv(folder / "clip", WIDTH, HEIGHT)
            blank: Plane = np.full((HEIGHT, WIDTH), ground, dtype=np.float32)
            expected = picture([Cell(spot, spot.text) for spot, _ in drawn], ground, 1).astype(np.float32)
            passage = Passage.between(expected, seen) or Passage.untouched()
            for cell in drawn:
                judgement = Reader(cell.spot, blank, passage).judge(seen)
                results.append((cell.drawn != cell.spot.text, judgement.toward, judgement.left_over))
    return Result(*map(np.array, zip(*results, strict=True)))


def main() -> None:
    """Print the table."""
    click.echo("digits    CRF   numbers   right, rejected   wrong, accepted   right at most   wrong at least")
    for halved in (False, True):
        for height in HEIGHTS:
            for crf in QUALITIES:
                with TemporaryDirectory() as folder:
                    wrong, toward, left_over = measure(height, crf, halved, Path(folder))
                taken = (toward <= FARTHEST) & (left_over <= MOST_LEFT_OVER)
                rejected, accepted = (~taken & ~wrong).sum() / (~wrong).sum(), (taken & wrong).sum() / wrong.sum()
                click.echo(
                    f"{height:4.1f} px {'halved' if halved else '      '} {crf:3d}   {len(wrong):5d}   "
                    f"{rejected:12.4%}   {accepted:14.4%}   {toward[~wrong].max():10.2f}   {toward[wrong].min():12.2f}"
                )


if __name__ == "__main__":
    main()
