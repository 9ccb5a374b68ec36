"""What a test sees of a film: the numbers on one frame, or one still picture; how each is kept and compared.

Numbers are kept as text, one label a line, to be read in review. They are compared as they read on screen, not
by their last bits, which may depend on the machine. Pictures are kept as PNG and compared by blocks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import zip_longest
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from addnorm.scenes.manifest import Shown

BLOCK = 8
"""The side of the squares, in pixels, in which pictures are compared."""

# The largest mean difference in a block, measured on r44's pictures in both themes: 5 for a shift by a fiftieth
# of a pixel, 13 by a tenth; 20 for the least of all wrong digits (a dimmed 8 for a 3 at 480p).
TOLERANCE = 12.0
"""How much a block of a picture may differ by default: mean absolute difference of its colours, in levels of 256."""


class Snapshot(Protocol):
    """What a snapshot can be made of."""

    suffix: ClassVar[str]

    @property
    def state(self) -> str:
        """The state it is of."""

    def content(self) -> bytes:
        """What is kept."""

    def differences(self, kept: bytes) -> list[str]:
        """How it differs from what was kept, one line for each difference."""

    def pictures(self, kept: bytes, /) -> dict[str, bytes]:
        """Pictures (PNG) by what they show: how it looks now and where it differs."""


class FrameValues(tuple[Shown, ...]):
    """The labels on one frame, in the order they are drawn, and where the frame is.

    ``state`` and ``frame`` name the clip and the frame in it, counted from zero; ``title`` is what was asked for.
    """

    suffix = ".txt"
    state: str
    frame: int
    title: str

    def __new__(cls, labels: Iterable[Shown], state: str, frame: int, title: str) -> FrameValues:
        """Labels with where they were seen."""
        values = super().__new__(cls, labels)
        values.state, values.frame, values.title = state, frame, title
        return values

    @property
    def texts(self) -> dict[str, str]:
        """What each number reads on screen, by its reference."""
        return {label.ref: label.text for label in self}

    def content(self) -> bytes:
        """The title, and a line for each label: reference, text, phase, place in whole pixels."""
        lines = [_Line.of(label) for label in self]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
        return "".join(f"{row}\n" for row in (self.title, *rows)).encode()

    def differences(self, kept: bytes) -> list[str]:
        """What reads otherwise, appeared, is gone, or stands elsewhere."""
        title, *rows = kept.decode(errors="replace").splitlines() or [""]
        before = Counter(_Line.read(row) for row in rows if row)
        now = Counter(_Line.of(label) for label in self)
        changes = list(_changes((before - now).elements(), (now - before).elements()))
        if title != self.title:
            changes.insert(0, f"the frame was {title!r}, now {self.title!r}")
        return [f"{self.state}: {change}" for change in changes]

    def pictures(self, _: bytes, /) -> dict[str, bytes]:
        """None: the differences say it all."""
        return {}


class _Line(NamedTuple):
    """A label as it is kept."""

    ref: str
    text: str
    phase: str
    place: str

    @classmethod
    def of(cls, label: Shown) -> _Line:
        x, y, width, height = map(round, label.box)
        faded = "" if label.phase != "fading" else f" {label.opacity:.3f}"
        return cls(label.ref, label.text, f"{label.phase}{faded}", f"{x},{y} {width}×{height}")

    @classmethod
    def read(cls, row: str) -> _Line:
        ref, text, phase, place, *_ = (*re.split(r" {2,}", row), "", "", "")
        return cls(ref, text, phase, place)


def _changes(before: Iterable[_Line], now: Iterable[_Line]) -> Iterator[str]:
    """The changes of labels that are not the same any more, in the order of the frame; what is gone comes last."""
    old, new = _by_reference(before), _by_reference(now)
    for ref in dict.fromkeys((*new, *old)):
        for was, then in zip_longest(old.get(ref, []), new.get(ref, [])):
            if was is None:
                yield f"{ref} appeared, reading {then.text}"
            elif then is None:
                yield f"{ref} is gone, it read {was.text}"
            elif was.text != then.text:
                yield f"{ref} read {was.text}, now {then.text}"
            elif was.phase != then.phase:
                yield f"{ref} was {was.phase}, now {then.phase}"
            else:
                yield f"{ref} stood at {was.place}, now at {then.place}"


def _by_reference(lines: Iterable[_Line]) -> dict[str, list[_Line]]:
    groups: dict[str, list[_Line]] = {}
    for line in lines:
        groups.setdefault(line.ref, []).append(line)
    return groups


@dataclass(frozen=True)
class Still:
    """A state's finished picture, as PNG, and how much a block of it may differ from its snapshot."""

    state: str
    png: bytes
    tolerance: float = TOLERANCE
    suffix: ClassVar[str] = ".png"

    def content(self) -> bytes:
        """The picture as a file."""
        return self.png

    def differences(self, kept: bytes) -> list[str]:
        """Whether it has another size or, by more than the tolerance, other colours."""
        now, before = _pixels(self.png), _pixels(kept)
        if now.shape != before.shape:
            return [f"{self.state}: the picture is {_size(now)} pixels, its snapshot {_size(before)}"]
        blocks = block_differences(now, before)
        worst = float(blocks.max())
        if worst <= self.tolerance:
            return []
        row, column = np.unravel_index(int(blocks.argmax()), blocks.shape)
        count = int((blocks > self.tolerance).sum())
        differ = f"{count} blocks of the picture differ by more than {self.tolerance:g}"
        return [f"{self.state}: {differ}, the one at {column * BLOCK},{row * BLOCK} by {worst:.1f}"]

    def pictures(self, kept: bytes) -> dict[str, bytes]:
        """The picture, and if the sizes agree how far each of its pixels is from the snapshot's."""
        now, before = _pixels(self.png), _pixels(kept)
        pictures = {"now": self.png}
        if now.shape == before.shape:
            png = BytesIO()
            Image.fromarray(np.abs(now - before).astype(np.uint8)).save(png, format="PNG")
            pictures["difference"] = png.getvalue()
        return pictures


def block_differences(left: NDArray[np.int16], right: NDArray[np.int16]) -> NDArray[np.float64]:
    """The mean absolute difference in each block of two pictures of one size (height, width, 3).

    What is missing of a block at the right or lower edge counts as equal.
    """
    apart = np.abs(left - right).mean(axis=2)
    height, width = apart.shape
    apart = np.pad(apart, ((0, -height % BLOCK), (0, -width % BLOCK)))
    rows, columns = (length // BLOCK for length in apart.shape)
    means: NDArray[np.float64] = apart.reshape(rows, BLOCK, columns, BLOCK).mean(axis=(1, 3))
    return means


def _pixels(png: bytes) -> NDArray[np.int16]:
    """The colours of a picture, of shape (height, width, 3). A file that is none has no pixels."""
    try:
        with Image.open(BytesIO(png)) as image:
            return np.asarray(image.convert("RGB"), dtype=np.int16)
    except OSError:
        return np.empty((0, 0, 3), dtype=np.int16)


def _size(pixels: NDArray[np.int16]) -> str:
    height, width, _ = pixels.shape
    return f"{width} × {height}"
