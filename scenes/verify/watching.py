"""Watching a video: every frame is held against the one that was staged, and what is wrong is noted."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from pathlib import Path
from typing import NamedTuple

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.verify.judging import Gallery, Judge, Staging, Verdict, Wrong
from addnorm.scenes.video import decode_yuv, pictures_at


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

    def note(self, verdict: Verdict) -> None:
        """Add the verdict on the next frame. What was already wrong with the one before goes on."""
        before, self._going_on = self._going_on, {}
        for wrong in verdict.wrong:
            n = before.get(wrong, len(self.stretches))
            if wrong in before:
                self.stretches[n] = self.stretches[n]._replace(last=self.frames)
            else:
                self.stretches.append(Stretch(wrong, self.frames, self.frames))
            self._going_on[wrong] = n
        self.frames += 1
        self.readings += verdict.readings


def watch(path: Path, stagings: Sequence[Staging], gallery: Gallery) -> Watched:
    """Watch a video that shows states one after the other.

    ``gallery`` has the states that may have been mixed up. The video has as many frames as its states take. Raises
    AddnormError if they cannot all be decoded.
    """
    height, width = stagings[0].still.shape
    starts = accumulate((staging.frames for staging in stagings), initial=0)
    holds = [start + len(staging.motion) for start, staging in zip(starts, stagings, strict=False)]
    first_of_hold = pictures_at(path, width, height, holds)  # they tell how to judge what comes before them
    watched, judge = Watched(), None
    frames = decode_yuv(path, width, height)
    for staging, hold in zip(stagings, first_of_hold, strict=False):
        judge = Judge(staging, gallery, hold, judge)
        for staged, frame in zip(staging.motion, frames, strict=False):
            watched.note(judge.in_motion(staged, frame))
        for frame in islice(frames, staging.frames - len(staging.motion)):
            watched.note(judge.at_rest(frame))
    if watched.frames != sum(staging.frames for staging in stagings):
        raise AddnormError(f"{path}: it cannot be decoded to its end")
    return watched


def state_at_end(path: Path, width: int, height: int, gallery: Gallery) -> str | None:
    """The state whose finished picture a video shows at its end, if it is one's."""
    last = deque(decode_yuv(path, width, height), maxlen=1)
    return gallery.state_of(last[0].brightness) if last else None
