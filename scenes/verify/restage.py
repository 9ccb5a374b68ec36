"""Staging a film again to know what each of its frames ought to look like, at any size."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from manim import Mobject
from manim.scene.scene_file_writer import SceneFileWriter
from numpy.typing import NDArray

from addnorm.mathcore.labels import Label
from addnorm.scenes.elements.lettering import Glyphs
from addnorm.scenes.filming import studio
from addnorm.scenes.stage import Production, Stage
from addnorm.scenes.text import Sum
from addnorm.scenes.theme import FRAME_HEIGHT, FRAME_WIDTH
from addnorm.scenes.verify.blocks import halved
from addnorm.scenes.verify.judging import SCALED, Staging
from addnorm.scenes.verify.passage import Plane
from addnorm.scenes.verify.reading import Spot
from addnorm.scenes.verify.reel import Reel
from addnorm.scenes.video import Converter, Frame, Size

_LUMA = np.array([0.2126, 0.7152, 0.0722]) * 219 / 255  # BT.709, limited range


def restage(stage_class: type[Stage], production: Production, state: str, size: Size) -> Staging:
    """Play one state in pictures of a size."""
    lens = Lens.of(size)
    take = _Take(lens)
    with studio(lens.stage):
        stage = stage_class(production, (state,), partial(_Watcher, take=take))
        stage.render()
        still, blank, spots = _finished(stage, lens)
    frames = len(take.motion) + take.repeat
    return Staging(state, frames, size.frame_rate, take.motion, take.last[0], still, blank, spots, lens.tolerance)


def finished_picture(
    stage_class: type[Stage], production: Production, state: str, size: Size
) -> tuple[Plane, tuple[Spot, ...]]:
    """The brightness of a state's finished picture, and where its numbers stand, without playing it."""
    lens = Lens.of(size)
    with studio(lens.stage):
        stage = stage_class(production)
        stage.show(stage.board.state(state))
        still, _, spots = _finished(stage, lens)
    return still, spots


@dataclass(frozen=True)
class Lens:
    """Brings pictures of the stage, which is 16 : 9, to the size of a video, which may be a little off that."""

    stage: Size
    size: Size
    converter: Converter = field(default_factory=Converter)

    @classmethod
    def of(cls, size: Size) -> Lens:
        """The lens for a size. Where pictures have to be scaled, the stage is twice as large, to keep them sharp."""
        if abs(size.width * FRAME_HEIGHT - size.height * FRAME_WIDTH) <= FRAME_HEIGHT:  # within a pixel of 16 : 9
            return cls(size, size)
        return cls(Size(2 * round(size.height * FRAME_WIDTH / FRAME_HEIGHT), 2 * size.height, size.frame_rate), size)

    @property
    def tolerance(self) -> float:
        """How many times as much as usual pictures may differ."""
        return 1.0 if self.stage == self.size else SCALED

    def picture(self, rgba: NDArray[Any]) -> Frame:
        """A picture of the stage in the size of the video."""
        return self.converter.frame(rgba, self.size.width, self.size.height)

    def box(self, left: float, bottom: float, right: float, top: float) -> tuple[float, float, float, float]:
        """A box in scene units as left, top, width and height in pixels of the video."""
        wide, high = self.size.width / FRAME_WIDTH, self.size.height / FRAME_HEIGHT
        x, y = (left + FRAME_WIDTH / 2) * wide, (FRAME_HEIGHT / 2 - top) * high
        return x, y, (right - left) * wide, (top - bottom) * high


@dataclass
class _Take:
    """What was played, in half the size: the last picture, how many frames it is shown, and all before it, packed."""

    lens: Lens
    motion: Reel = field(default_factory=Reel)
    last: tuple[Frame, ...] = ()
    repeat: int = 0

    def add(self, rgba: NDArray[Any], repeat: int) -> None:
        """A picture of the stage that is shown on so many frames."""
        for _ in range(self.repeat):
            self.motion.append(self.last[0])
        self.last, self.repeat = (halved(self.lens.picture(rgba)),), repeat


class _Watcher(SceneFileWriter):
    """Takes every picture instead of writing it."""

    def __init__(self, settings: Any, take: _Take) -> None:
        super().__init__(settings)
        self._take = take

    def write_frame(self, pixels: Any, *, repeat: int = 1) -> None:
        self._take.add(pixels, repeat)


def _finished(stage: Stage, lens: Lens) -> tuple[Plane, Plane, tuple[Spot, ...]]:
    """What is on stage at the end: its brightness, the same without numbers, and the numbers."""
    leaves = stage.camera.get_mobjects_to_display(stage.mobjects)
    spots = {id(leaf): spot for leaf in leaves if (spot := _spot(leaf, lens))}
    still = _photograph(stage, leaves, lens)
    blank = _photograph(stage, [leaf for leaf in leaves if id(leaf) not in spots], lens)
    return still, blank, tuple(spots.values())


def _photograph(stage: Stage, leaves: list[Mobject], lens: Lens) -> Plane:
    stage.camera.reset()
    stage.camera.capture_mobjects(leaves)
    return lens.picture(stage.camera.pixel_array).brightness.astype(np.float32)


def _spot(leaf: Mobject, lens: Lens) -> Spot | None:
    """Where and how a leaf is seen, if it is a number or the sign of a sum."""
    if not isinstance(leaf, Glyphs):
        return None
    match leaf.ink.run.source:
        case Label(ref=ref):
            pass
        case Sum(terms=terms, total=total):
            ref = f"{' + '.join(term.ref for term in terms)} = {total.ref}"
        case _:
            return None
    (left, bottom, _), (right, top, _) = leaf.points.min(axis=0), leaf.points.max(axis=0)
    ink = float(leaf.get_fill_color().to_rgb() * 255 @ _LUMA + 16)
    return Spot(ref, leaf.ink.run.text, lens.box(left, bottom, right, top), ink)
