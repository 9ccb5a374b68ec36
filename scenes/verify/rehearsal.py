"""What was staged for a video, in which size, and kept for the next: one folder's videos show the same again."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from addnorm.scenes.verify.judging import Gallery, Staging
from addnorm.scenes.verify.origin import Origin
from addnorm.scenes.verify.passage import Plane
from addnorm.scenes.video import Screening, Size

if TYPE_CHECKING:
    from addnorm.scenes.stage import Production, Stage
    from addnorm.scenes.verify.reading import Spot

SHARP_DIGIT = 8.0
"""Pixels. A video is looked at in half its size, or less, if its lowest digits are still as high as this."""

LEAST_HEIGHT = 540
"""Pixels. And if its pictures are."""


class Rehearsal:
    """A film staged at a size and frame rate, state by state as they are asked for."""

    def __init__(self, origin: Origin, size: Size) -> None:
        self.size = size
        self.gallery = Gallery(lambda: {state.name: self._finished(state.name)[0] for state in origin.board.states})
        self._origin = origin
        self._stagings: dict[str, Staging] = {}
        self._pictures: dict[str, tuple[Plane, tuple[Spot, ...]]] = {}

    def staging(self, state: str) -> Staging:
        """A state, played."""
        if state not in self._stagings:
            from addnorm.scenes.verify.restage import restage

            self._stagings[state] = restage(self._stage, self._production, state, self.size)
        return self._stagings[state]

    def is_sharp(self, state: str) -> bool:
        """Whether the lowest digits of a state are high enough."""
        return all(spot.digit_height >= SHARP_DIGIT for spot in self._finished(state)[1])

    def _finished(self, state: str) -> tuple[Plane, tuple[Spot, ...]]:
        """The finished picture of a state, and its numbers."""
        if state in self._stagings:
            return self._stagings[state].still, self._stagings[state].spots
        if state not in self._pictures:
            from addnorm.scenes.verify.restage import finished_picture

            self._pictures[state] = finished_picture(self._stage, self._production, state, self.size)
        return self._pictures[state]

    @cached_property
    def _production(self) -> Production:
        from addnorm.scenes.stage import Production

        says = self._origin.says
        return Production(self._origin.trace, *(says[key] for key in ("language", "theme", "pace", "captions")))

    @cached_property
    def _stage(self) -> type[Stage]:
        return self._origin.film.stage(self._origin.trace)


class Stagings:
    """The last film that was rehearsed, in each size."""

    def __init__(self) -> None:
        self._production: object = None
        self._rehearsals: dict[Size, Rehearsal] = {}

    def of(self, origin: Origin, screening: Screening) -> Rehearsal:
        """A video's film at its own size, or at a part of it in which the numbers of its states are still sharp."""
        if self._production != origin.production:
            self._production, self._rehearsals = origin.production, {}
        for part in (4, 3, 2):
            if screening.height >= part * LEAST_HEIGHT:
                rehearsal = self._at(origin, screening, part)
                if all(map(rehearsal.is_sharp, origin.states)):
                    return rehearsal
        return self._at(origin, screening, 1)

    def _at(self, origin: Origin, screening: Screening, part: int) -> Rehearsal:
        width, height = (2 * round(side / part / 2) for side in (screening.width, screening.height))
        size = Size(width, height, int(screening.frame_rate))
        if size not in self._rehearsals:
            self._rehearsals[size] = Rehearsal(origin, size)
        return self._rehearsals[size]
