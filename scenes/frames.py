"""What is on any frame of a film, found by playing it in the dark: all is staged and audited, nothing is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.camera import StageCamera
from addnorm.scenes.filming import studio, take_still
from addnorm.scenes.films import DEFAULT_FILM, FILMS
from addnorm.scenes.manifest import Json, Screen, clip_record, labels_at
from addnorm.scenes.snapshots import TOLERANCE, FrameValues, Still
from addnorm.scenes.stage import Production, Stage
from addnorm.scenes.subject import Subject, trace_of
from addnorm.scenes.video import Size, parse_size

DEFAULT_SIZE = "1080p60"

MOST_FILMS = 32
"""So many films are remembered; then the oldest is played again if it is asked for."""


def frame_values(
    example: Subject | None = None,
    *,
    state: str | None = None,
    frame: int | None = None,
    time: float | None = None,
    lang: str | None = None,
    size: str = DEFAULT_SIZE,
    pace: float = 1.0,
    captions: bool = True,
    scene: type[Stage] | None = None,
) -> FrameValues:
    """The labels on one frame of a film, as its values.json would have them.

    The frame is a ``frame`` of a ``state``'s clip, counted from zero at the frame rate of ``size``; or what is
    shown at a ``time`` of the film, in seconds; or with the state alone its last one, which is its still.
    ``scene`` is a film of your own; left out, it is the R44 film. Example and language are the scene's own unless
    given. A film is played as far as it is asked for, once. Raises AddnormError for what is not in the film, and
    AuditError if a frame shows what the math does not have.
    """
    trace = trace_of((scene or Stage).example if example is None else example)
    scene = scene or FILMS[DEFAULT_FILM].stage(trace)
    language = lang or scene.language
    reel = _reel(scene, Production(trace, language, pace=pace, captions=captions), parse_size(size))
    if time is not None:
        if frame is not None:
            raise AddnormError(f"frame: {frame} beside a time; give one of the two")
        there, number = reel.at(time)
        if state not in (None, there):
            raise AddnormError(f"time: {time:g} s of the film is in {there}, not in {state}")
        where = f"{time:g} s, frame {number} of {there}"
    elif state is not None:
        there = state
        number = reel.clip(state)["frames"] - 1 if frame is None else frame
        where = f"{'last frame' if frame is None else f'frame {number}'} of {there}"
    else:
        raise AddnormError("state: none is given; give a state, with or without a frame of it, or a time of the film")
    labels = labels_at({"clips": [reel.clip(there)]}, there, number)
    return FrameValues(labels, there, number, f"{trace.example.id} {language} {size}, {where}")


def frame_still(
    example: Subject | None = None,
    *,
    state: str,
    lang: str | None = None,
    theme: str | None = None,
    size: str = DEFAULT_SIZE,
    captions: bool = True,
    scene: type[Stage] | None = None,
    tolerance: float = TOLERANCE,
) -> Still:
    """A state's finished picture, drawn and audited as ``addnorm render --stills`` does.

    ``tolerance`` is how far it may be from its snapshot: the mean absolute difference, in levels of 256, of the
    colours in any block of 8 × 8 pixels.
    """
    trace = trace_of((scene or Stage).example if example is None else example)
    scene = scene or FILMS[DEFAULT_FILM].stage(trace)
    production = Production(trace, lang or scene.language, theme or scene.theme_name, captions=captions)
    with TemporaryDirectory() as folder:
        file = Path(folder, "still")
        take_still(scene, production, state, parse_size(size), file)
        return Still(state, file.read_bytes(), tolerance)


class _Unlit(StageCamera):
    """Sees what is to be drawn and draws nothing; its picture is one pixel, which stays as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.pixel_array = np.zeros((1, 1, 4), dtype=np.uint8)

    def reset(self) -> Self:
        return self

    def set_frame_to_background(self, background: Any) -> None:
        pass

    def capture_mobjects(self, mobjects: Iterable[Any], **kwargs: Any) -> None:
        self.drawn = tuple(self.get_mobjects_to_display(mobjects, **kwargs))


@dataclass(frozen=True, eq=False)
class _Reel:
    """A film, as far as it has been played."""

    scene: type[Stage]
    production: Production
    size: Size
    clips: dict[str, Json] = field(default_factory=dict)

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The film's states in playing order."""
        return tuple(state.name for state in self.scene.storyboard(self.production.trace).states)

    def clip(self, state: str) -> Json:
        """The record of a state's clip."""
        if state not in self.states:
            raise AddnormError(f"state: {state!r} is not in the film; give one of {', '.join(self.states)}")
        if state not in self.clips:
            with studio(self.size):
                stage = self.scene(self.production, (state,))
                stage.renderer.camera = _Unlit()
                stage.render()
            screen = Screen(self.size.width, self.size.height, self.size.frame_rate)
            self.clips[state] = clip_record(state, stage.plays, screen)
        return self.clips[state]

    def at(self, time: float) -> tuple[str, int]:
        """The state that is shown at a time of the film, and the frame of its clip."""
        rate = self.size.frame_rate
        first, number = 0, math.floor(Fraction(time).limit_denominator(10**6) * rate)
        for state in self.states:
            frames = self.clip(state)["frames"]
            if first <= number < first + frames:
                return state, number - first
            first += frames
        raise AddnormError(f"time: {time:g} s; the film lasts from 0 to {first / rate:g} s")


_reels: dict[tuple[object, ...], _Reel] = {}


def _reel(scene: type[Stage], production: Production, size: Size) -> _Reel:
    """The one reel of a film. A trace is known by its identity, which the reel keeps from being given away."""
    settings = (production.language, production.pace, production.captions)
    key = (scene, id(production.trace), *settings, size)
    if key not in _reels:
        if len(_reels) == MOST_FILMS:
            del _reels[next(iter(_reels))]
        _reels[key] = _Reel(scene, production, size)
    return _reels[key]
