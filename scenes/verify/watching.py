"""Watching a video: is every picture the one that was staged, and does every number on it read as it should?

A state's hold is watched frame by frame, its motion once a beat. Pictures are compared block by block; each
number is read from its pixels, in the hold and wherever it already stands there during the motion.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.verify.passage import Passage, Picture, Plane
from addnorm.scenes.verify.reading import Judgement, Reader, Spot
from addnorm.scenes.video import decode_brightness

BEATS_A_SECOND = 5
"""All durations of a film are whole beats, so whatever its frame rate, so many of its frames a second are known."""

SMALLEST_DIGIT = 5.0
"""Pixels. A number whose digits are lower is not read: encoded at CRF 28, some right ones look like wrong ones.

Measured by tests/benchmarks/reading_margins.py on 3,672 numbers of this height, as they were drawn or scaled to half
their size: a right one came at most 0.43 of the way to a wrong one, a wrong one at least 0.81.
"""

BLOCK = 12
"""Pixels. Pictures are compared in squares of this side."""

FAINTEST = 12.0
"""Levels. A block that shows less contrast than this is taken to show so much."""

AT_REST = 0.5
"""By which share of what it shows, as energy, a block may differ in a hold."""

IN_MOTION, BLOCKS_IN_MOTION = 1.0, 3
"""The same in motion, where encoders take less care, and how many blocks must differ by more."""

ALTOGETHER = 1 / 3
"""If so many of the blocks that show something differ, it is another picture, and nothing is read from it."""


class Staging(NamedTuple):
    """One state as it ought to look; pictures are brightness in levels from 16 to 235, of one size.

    ``motion`` is the picture at the start of each beat until the hold, which lasts up to ``beats``. ``still``
    is the picture of the hold, ``blank`` the same without its numbers, and ``spots`` tells where those stand.
    """

    state: str
    beats: int
    motion: tuple[Picture, ...]
    still: Plane
    blank: Plane
    spots: tuple[Spot, ...]

    @property
    def readable(self) -> tuple[Spot, ...]:
        """The numbers that are large enough to be read."""
        return tuple(spot for spot in self.spots if spot.digit_height >= SMALLEST_DIGIT)


@dataclass(frozen=True)
class Wrong:
    """What is wrong with a frame: a number, with what it should read and does, or, without one, the picture.

    Then ``found`` is the state whose picture it is, if it is one's. ``box`` is left, top, width and height, in
    pixels of the pictures that were staged.
    """

    state: str
    found: str
    box: tuple[float, float, float, float] = field(compare=False)
    ref: str = ""
    expected: str = ""


class Stretch(NamedTuple):
    """The same thing wrong from one frame of a video to another, counted from zero."""

    wrong: Wrong
    first: int
    last: int


@dataclass
class Watched:
    """How many frames were compared, how many numbers were read on them, and what was wrong."""

    frames: int = 0
    readings: int = 0
    stretches: list[Stretch] = field(default_factory=list)
    _going_on: dict[Wrong, int] = field(default_factory=dict)

    def note(self, number: int, verdict: Verdict) -> None:
        """Add the verdict on a frame. What was already wrong with the frame judged before goes on."""
        self.frames += 1
        self.readings += verdict.readings
        before, self._going_on = self._going_on, {}
        for wrong in verdict.wrong:
            if wrong in before:
                n = before[wrong]
                self.stretches[n] = self.stretches[n]._replace(last=number)
            else:
                n = len(self.stretches)
                self.stretches.append(Stretch(wrong, number, number))
            self._going_on[wrong] = n


class Verdict(NamedTuple):
    """What is wrong with a frame, and how many numbers were read on it."""

    wrong: tuple[Wrong, ...]
    readings: int


def watch(path: Path, stagings: Sequence[Staging], known: Sequence[Staging], frames_a_beat: int) -> Watched:
    """Watch a video that shows states one after the other, out of ``known`` states, which it may have mixed up.

    The video has as many frames as its states take. Raises AddnormError if they cannot all be decoded.
    """
    height, width = stagings[0].still.shape
    stills = {staging.state: Blocks(staging.still) for staging in known}
    starts = list(accumulate((staging.beats * frames_a_beat for staging in stagings), initial=0))
    holds = [start + len(staging.motion) * frames_a_beat for start, staging in zip(starts, stagings, strict=False)]

    def looked_at(number: int) -> bool:
        n = bisect(starts, number) - 1
        return n < len(holds) and (number >= holds[n] or (number - starts[n]) % frames_a_beat == 0)

    watched, passage, last = Watched(), Passage.untouched(), -1
    frames = enumerate(decode_brightness(path, width, height, looked_at))
    for first, staging in zip(starts, stagings, strict=False):
        part = islice(frames, staging.beats * frames_a_beat)
        shown = ((number, picture) for number, picture in part if picture is not None)
        opening = list(islice(shown, len(staging.motion) + 1))
        if len(opening) > len(staging.motion):
            judge = _Judge(staging, stills, opening[-1][1], passage)
            passage = judge.passage
            for last, picture in chain(opening, shown):
                watched.note(last, judge.verdict(picture, (last - first) // frames_a_beat))
    if last + 1 != starts[-1]:
        raise AddnormError(f"{path}: it cannot be decoded to its end")
    return watched


class _Judge:
    """Says what is wrong with the pictures of one state.

    How pictures came through is told by the first one of the hold; where that is another picture, by the state
    before.
    """

    def __init__(self, staging: Staging, stills: Mapping[str, Blocks], hold: Picture, before: Passage) -> None:
        self._staging = staging
        self._stills = stills
        self.passage = Passage.between(staging.still, hold) or before
        self._still = Blocks(self.passage.arrived(staging.still))
        self._readers = [Reader(spot, staging.blank, self.passage) for spot in staging.readable]
        self._last: tuple[Picture, Verdict] | None = None
        self._found: dict[Spot, tuple[str, str]] = {}

    def verdict(self, picture: Picture, beat: int) -> Verdict:
        """Judge a picture of one of the state's beats."""
        if beat < len(self._staging.motion):
            staged = self._staging.motion[beat]
            blocks = Blocks(self.passage.arrived(staged.astype(np.float32)))
            resting = [reader for reader in self._readers if reader.is_on(staged, self._staging.still)]
            return self._judge(picture, blocks, IN_MOTION, BLOCKS_IN_MOTION, resting)
        if self._last is None or picture is not self._last[0]:
            self._last = picture, self._judge(picture, self._still, AT_REST, 1, self._readers)
        return self._last[1]

    def _judge(self, picture: Picture, blocks: Blocks, share: float, limit: int, readers: Sequence[Reader]) -> Verdict:
        state, differing = self._staging.state, blocks.differing(picture, share)
        if differing.sum() >= limit:
            other = next(
                (name for name, still in self._stills.items() if not still.differing(picture, AT_REST).any()), ""
            )
            if other or differing.sum() > blocks.busy * ALTOGETHER:
                return Verdict((Wrong(state, other, Blocks.box(differing)),), 0)
        wrong = []
        for reader in readers:
            judgement, spot = reader.judge(picture), reader.spot
            if judgement.right:
                self._found.pop(spot, None)
            else:
                differing[Blocks.covering(reader.inside)] = False
                wrong.append(Wrong(state, self._reading(reader, judgement, picture), spot.box, spot.ref, spot.text))
        if differing.sum() >= limit:
            wrong.append(Wrong(state, "", Blocks.box(differing)))
        return Verdict(tuple(wrong), len(readers))

    def _reading(self, reader: Reader, judgement: Judgement, picture: Picture) -> str:
        """What stands in a number's place; read anew only when it looks different from the frame before."""
        known = self._found.get(reader.spot)
        if known is None or known[0] != judgement.wrong:
            known = judgement.wrong, reader.read(picture)
            self._found[reader.spot] = known
        return known[1]


class Blocks:
    """Compares pictures with an expected one, block by block."""

    def __init__(self, expected: Plane) -> None:
        self._expected = expected
        pixels = _sums(np.ones_like(expected))
        contrast = _sums(expected * expected) - _sums(expected) ** 2 / pixels
        self._contrast = contrast + pixels * np.float32(FAINTEST**2)

    def differing(self, picture: Picture, share: float) -> NDArray[np.bool_]:
        """Which blocks differ by more than a share of what they show, as energy."""
        difference = picture - self._expected
        return np.asarray(_sums(difference * difference) > share * self._contrast)

    @property
    def busy(self) -> int:
        """How many blocks show something."""
        return int((self._contrast > 2 * self._contrast.min()).sum())

    @staticmethod
    def box(blocks: NDArray[np.bool_]) -> tuple[float, float, float, float]:
        """The box around some blocks: left, top, width and height in pixels."""
        rows, columns = (np.flatnonzero(blocks.any(axis=axis)) for axis in (1, 0))
        left, top = float(columns[0] * BLOCK), float(rows[0] * BLOCK)
        return left, top, float((columns[-1] + 1) * BLOCK - left), float((rows[-1] + 1) * BLOCK - top)

    @staticmethod
    def covering(part: tuple[slice, slice]) -> tuple[slice, slice]:
        """The blocks that a part of a picture lies in."""
        rows, columns = (slice(side.start // BLOCK, -(-side.stop // BLOCK)) for side in part)
        return rows, columns


def _sums(plane: Plane) -> Plane:
    """The sum over each block; a rest at the right and the bottom counts to the last ones."""
    height, width = (side // BLOCK * BLOCK for side in plane.shape)
    rows = np.add.reduceat(plane, np.arange(0, height, BLOCK), axis=0)
    return np.asarray(np.add.reduceat(rows, np.arange(0, width, BLOCK), axis=1))


def state_at_end(path: Path, frames: int, known: Sequence[Staging]) -> str | None:
    """The state of which a video of so many frames shows the picture at its end, if it is one's."""
    height, width = known[0].still.shape
    *_, picture = decode_brightness(path, width, height, lambda number: number == frames - 1)
    return None if picture is None else _shown(picture, {staging.state: Blocks(staging.still) for staging in known})


def _shown(picture: Picture, stills: Mapping[str, Blocks]) -> str | None:
    """The state whose finished picture this is."""
    return next((state for state, still in stills.items() if not still.differing(picture, AT_REST).any()), None)
