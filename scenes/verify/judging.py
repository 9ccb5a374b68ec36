"""Judging one picture of a video: is it the one that was staged, and does every number on it read as it should?

In a hold, brightness is compared at full size; in motion, where an encoder takes less care, at half of it, and
colour at a quarter. Each number is read from its pixels, in the hold and wherever it already stands during the motion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from addnorm.scenes.verify.blocks import BLOCK, Blocks, blocks_covering, box_around, halved
from addnorm.scenes.verify.passage import Passage, Picture, Plane
from addnorm.scenes.verify.reading import Judgement, Reader, Spot
from addnorm.scenes.verify.reel import Reel
from addnorm.scenes.video import Frame

SMALLEST_DIGIT = 5.0
"""Pixels. A number whose digits are lower is not read: encoded at CRF 28, some right ones look like wrong ones.

Measured by tests/benchmarks/reading_margins.py on 3,672 numbers of this height, as they were drawn or scaled to half
their size: a right one came at most 0.43 of the way to a wrong one, a wrong one at least 0.81.
"""

FAINTEST, FAINTEST_COLOUR = 12.0, 8.0
"""Levels. A block that shows less contrast than this is taken to show so much."""

AT_REST, IN_MOTION, IN_COLOUR = 0.5, 0.8, 2.0
"""By which share of what it shows, as energy, a block may differ: its brightness in a hold and in motion; its colour.

Measured on R44 in both themes, at 480p to 720p, encoded at CRF 20 to 28: right pictures came to 0.30, 0.50 and 1.34.
A wrong digit 14 pixels high is off by more than 0.5 in 19 cases of 20; two colours that have changed places by 3 to 4.
"""

SCALED = 1.6
"""So many times as much where a video is not quite 16 : 9, for then its pictures were scaled by some program.

Sharpness may then change across a picture. Measured on 480p scaled to 720 × 406, 848 × 480 and others by four methods:
right pictures came to 0.74 in holds and 1.06 in motion.
"""

ALTOGETHER = 1 / 3
"""If so many of the blocks that show something differ, it is another picture, and nothing is read from it."""


class Staging(NamedTuple):
    """One state as it ought to look, at a video's frame rate.

    ``motion`` has its pictures until the hold, which lasts for the rest of its ``frames``, and ``end`` is that of the
    hold, all in half the size. ``still`` is the brightness of the hold in full size, in levels from 16 to 235,
    ``blank`` the same without its numbers, and ``spots`` tells where those stand. ``tolerance`` is how many times as
    much as usual a block may differ.
    """

    state: str
    frames: int
    frame_rate: int
    motion: Reel
    end: Frame
    still: Plane
    blank: Plane
    spots: tuple[Spot, ...]
    tolerance: float = 1.0

    @property
    def readable(self) -> tuple[Spot, ...]:
        """The numbers that are large enough to be read."""
        return tuple(spot for spot in self.spots if spot.digit_height >= SMALLEST_DIGIT)


@dataclass(frozen=True)
class Wrong:
    """What is wrong with a frame: a number, with what it should read and does, or, without one, the picture.

    Then ``found`` is the state whose picture it is, if it is one's, and ``aspect`` says whether the picture differs
    or its colours alone. ``box`` is left, top, width and height, in pixels of the pictures that were staged.
    """

    state: str
    found: str
    box: tuple[float, float, float, float] = field(compare=False)
    ref: str = ""
    expected: str = ""
    aspect: str = "picture"


class Verdict(NamedTuple):
    """What is wrong with a frame, and how many numbers were read on it."""

    wrong: tuple[Wrong, ...]
    readings: int


class Gallery:
    """The finished pictures of a film's states, to tell which one a frame shows. Asked for only when one is wrong."""

    def __init__(self, stills: Callable[[], Mapping[str, Plane]]) -> None:
        self._stills = stills

    @cached_property
    def _blocks(self) -> dict[str, Blocks]:
        return {state: Blocks(still, BLOCK, FAINTEST) for state, still in self._stills().items()}

    def state_of(self, picture: Picture) -> str | None:
        """The state whose finished picture this is."""
        return next(
            (state for state, blocks in self._blocks.items() if blocks.differences(picture).max() <= AT_REST), None
        )


class Judge:
    """Says what is wrong with the pictures of one state.

    How pictures came through is told by ``hold``, the first one of the state's hold; where that is another picture,
    it is as with the state ``before``.
    """

    def __init__(self, staging: Staging, gallery: Gallery, hold: Frame, before: Judge | None) -> None:
        self._staging, self._gallery = staging, gallery
        untouched = Passage.untouched(), Passage.untouched(reach=1)
        full, half = before.passages if before else untouched
        self.passage: Passage = Passage.between(staging.still, hold.brightness) or full
        end = staging.end.brightness.astype(np.float32)
        self.passage_halved: Passage = Passage.between(end, halved(hold).brightness, reach=1) or half
        self._still = Blocks(self.passage.arrived(staging.still), BLOCK, FAINTEST)
        self._colour = _colours(staging.end)
        self._readers = [Reader(spot, staging.blank, self.passage) for spot in staging.readable]
        self._last: tuple[Frame | None, Frame, Verdict] | None = None
        self._judged: dict[Spot, tuple[Picture, Judgement]] = {}
        self._found: dict[Spot, tuple[str, str]] = {}

    @property
    def passages(self) -> tuple[Passage, Passage]:
        """How pictures came through, and how they did in half the size."""
        return self.passage, self.passage_halved

    def at_rest(self, frame: Frame) -> Verdict:
        """Judge a picture of the hold."""
        return self._once(None, frame, lambda: self._verdict_at_rest(frame))

    def in_motion(self, staged: Frame, frame: Frame) -> Verdict:
        """Judge a picture of the motion, which should be the one that was staged."""
        return self._once(staged, frame, lambda: self._verdict_in_motion(staged, frame))

    def _once(self, staged: Frame | None, frame: Frame, judge: Callable[[], Verdict]) -> Verdict:
        """The verdict that was given just before, if it was on the same picture."""
        if self._last is None or self._last[0] is not staged or self._last[1] is not frame:
            self._last = staged, frame, judge()
        return self._last[2]

    def _verdict_at_rest(self, frame: Frame) -> Verdict:
        differing = self._still.differences(frame.brightness) > AT_REST * self._staging.tolerance
        if differing.any() and self._gallery.state_of(frame.brightness) == self._staging.state:
            differing[:] = False  # it is the picture as it was staged; what was fitted is a little off
        return self._verdict(frame, differing, self._still.busy, self._tinted(self._colour, frame), self._readers)

    def _verdict_in_motion(self, staged: Frame, frame: Frame) -> Verdict:
        blocks = Blocks(self.passage_halved.arrived(staged.brightness.astype(np.float32)), BLOCK // 2, FAINTEST)
        differing = blocks.differences(halved(frame).brightness) > IN_MOTION * self._staging.tolerance
        end = self._staging.end.brightness
        resting = [reader for reader in self._readers if reader.is_on(staged.brightness, end)]
        return self._verdict(frame, differing, blocks.busy, self._tinted(_colours(staged), frame), resting)

    def _tinted(self, expected: Blocks, frame: Frame) -> NDArray[np.bool_]:
        return expected.differences(halved(frame).colour) > IN_COLOUR * self._staging.tolerance

    def _verdict(
        self,
        frame: Frame,
        differing: NDArray[np.bool_],
        busy: int,
        tinted: NDArray[np.bool_],
        readers: Sequence[Reader],
    ) -> Verdict:
        state, picture = self._staging.state, frame.brightness
        if differing.any():
            other = self._gallery.state_of(picture) or ""
            if other or differing.sum() > busy * ALTOGETHER:
                return Verdict((Wrong(state, other, box_around(differing)),), 0)
        wrong = []
        for reader in readers:
            judgement, spot = self._judgement(reader, picture), reader.spot
            if judgement.right:
                self._found.pop(spot, None)
            else:
                differing[blocks_covering(reader.inside)] = False
                tinted[blocks_covering(reader.inside)] = False
                wrong.append(Wrong(state, self._reading(reader, judgement, picture), spot.box, spot.ref, spot.text))
        if differing.any():
            wrong.append(Wrong(state, "", box_around(differing)))
        elif tinted.any():
            wrong.append(Wrong(state, "", box_around(tinted), aspect="colours"))
        return Verdict(tuple(wrong), len(readers))

    def _judgement(self, reader: Reader, picture: Picture) -> Judgement:
        """How a number's place looks; judged anew only when it looks different from the frame before."""
        seen, known = picture[reader.inside], self._judged.get(reader.spot)
        if known is None or not np.array_equal(seen, known[0]):
            known = seen, reader.judge(picture)
            self._judged[reader.spot] = known
        return known[1]

    def _reading(self, reader: Reader, judgement: Judgement, picture: Picture) -> str:
        """What stands in a number's place; read anew only when it is another wrong one than on the frame before."""
        known = self._found.get(reader.spot)
        if known is None or known[0] != judgement.wrong:
            known = judgement.wrong, reader.read(picture)
            self._found[reader.spot] = known
        return known[1]


def _colours(staged: Frame) -> Blocks:
    """The colours of a picture of half the size, so coarse that it does not matter how the picture came through."""
    return Blocks(staged.colour.astype(np.float32), BLOCK // 4, FAINTEST_COLOUR)

