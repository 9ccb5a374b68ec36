"""A film to verify, and what can be done to one: encoding it again, painting over it, mixing it up."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from addnorm.mathcore.example import Example
from addnorm.mathcore.trace import run
from addnorm.scenes.films import FILMS
from addnorm.scenes.render import Order, render
from addnorm.scenes.verify import Report, Stagings, verify
from addnorm.scenes.video import Size, join, read_metadata

SIZE = Size(960, 540, 5)

Paint = Callable[[int, NDArray[np.uint8]], None]
"""Changes the brightness of a frame, or all its planes one below the other, given its number."""


class Encode(Protocol):
    """Encodes a video again, as other programs do: with x264 at a CRF, in another size, painted over."""

    def __call__(
        self,
        source: Path,
        target: Path,
        crf: int = 20,
        size: tuple[int, int] | None = None,
        paint: Paint | None = None,
        recolour: Paint | None = None,
    ) -> Path: ...


@pytest.fixture(scope="session")
def encode() -> Encode:
    return _encode


def _encode(
    source: Path,
    target: Path,
    crf: int = 20,
    size: tuple[int, int] | None = None,
    paint: Paint | None = None,
    recolour: Paint | None = None,
) -> Path:
    with av.open(str(source)) as reading, av.open(str(target), "w", format="mp4") as writing:
        writing.metadata.update(reading.metadata)
        old = reading.streams.video[0]
        rate = Fraction(old.average_rate or 0)
        new = writing.add_stream("libx264", rate=rate, options={"crf": str(crf), "preset": "medium"})
        new.width, new.height = size or (old.width, old.height)
        new.pix_fmt = "yuv420p"
        for number, decoded in enumerate(reading.decode(video=0)):
            planes = np.array(decoded.to_ndarray(), dtype=np.uint8)  # a copy: the decoder goes on with its own
            if paint:
                paint(number, planes[: old.height])
            if recolour:
                recolour(number, planes)
            frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            frame = frame.reformat(new.width, new.height, interpolation="BICUBIC")
            frame.pts, frame.time_base = number, 1 / rate
            writing.mux(new.encode(frame))
        writing.mux(new.encode(None))
    return target


@pytest.fixture(scope="session")
def order(r44: Example) -> Order:
    """R44 in Chinese, small and fast."""
    return Order(FILMS["r44"], run(r44), size=SIZE, pace=3)


@pytest.fixture(scope="session")
def film(order: Order, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a published film, not to be changed."""
    return _filled(order, tmp_path_factory.mktemp("film"))


@pytest.fixture(scope="session")
def foreign(order: Order, tmp_path_factory: pytest.TempPathFactory) -> list[NDArray[np.uint8]]:
    """The brightness of the frames of b2, of an example that differs in one number."""
    x = order.trace.example.x.copy()
    x[0, 1] = 0.01
    other = replace(order, trace=run(replace(order.trace.example, x=x)), states=("b2",))
    folder = _filled(other, tmp_path_factory.mktemp("neighbour"))
    with av.open(str(folder / "clips" / "b2.mp4")) as container:
        return [np.array(frame.to_ndarray()[: SIZE.height], np.uint8) for frame in container.decode(video=0)]


def _filled(order: Order, out: Path) -> Path:
    for _ in render([order], out, 1):
        pass
    return out / order.folder


@pytest.fixture
def copy(film: Path, tmp_path: Path) -> Path:
    """The folder of the film, to be changed."""
    return Path(shutil.copytree(film, tmp_path / "copy"))


@pytest.fixture(scope="session")
def stagings() -> Stagings:
    """What was staged of the film for one test serves the next."""
    return Stagings()


@pytest.fixture(scope="session")
def check(stagings: Stagings) -> Callable[[Path], Report]:
    """A call that verifies a video."""
    return partial(verify, stagings=stagings)


@pytest.fixture(scope="session")
def values(film: Path) -> Any:
    return json.loads((film / "values.json").read_bytes())


class Hold:
    """The hold of one state in values.json: which frames of its clip it takes, and where its numbers are."""

    def __init__(self, clip: Any) -> None:
        span = clip["spans"][-1]
        self.first: int = span["first"]
        self.last: int = span["last"]
        self.start: int = clip["first_frame"]
        self.boxes: dict[str, list[float]] = {label["ref"]: label["box"] for label in span["labels"]}


@pytest.fixture(scope="session")
def holds(values: Any) -> dict[str, Hold]:
    return {clip["state"]: Hold(clip) for clip in values["clips"]}


@pytest.fixture(scope="session")
def last_digit(holds: dict[str, Hold]) -> Callable[[range], Paint]:
    """Covers the last digit of σ² in b2's clip, 0.592455, with a copy of the 4 two places before it."""
    left, top, width, height = holds["b2"].boxes["ln.var[0]"]
    pitch = 0.555 * width / (7 * 0.555 + 0.278 - 0.050 - 0.053)  # em: advances of digits and point, bearings of 0 and 5
    rows = slice(int(top) - 1, int(top + height) + 2)
    right = left + width
    ends = (round(right - n * pitch) + 2 for n in (0, 2))
    to, of = (slice(end - round(pitch) - 1, end) for end in ends)

    def during(frames: range) -> Paint:
        def paint(number: int, brightness: NDArray[np.uint8]) -> None:
            if number in frames:
                brightness[rows, to] = brightness[rows, of]

        return paint

    return during


@pytest.fixture(scope="session")
def splice() -> Callable[..., Path]:
    """Joins clips to a video that says of itself what another one says, or something else."""

    def joined(clips: list[Path], target: Path, like: Path, **changes: Any) -> Path:
        says = json.loads(read_metadata(like)["comment"]) | changes
        comment = json.dumps(says)
        join(clips, target, chapters=(), subtitles=(), language="zho", title="", comment=comment)
        return target

    return joined
