"""Staging a film again to know what its frames ought to look like, at any size and a few times a second.

Every duration of a film is a whole number of beats. Played at one frame a beat it takes a few seconds, whatever
the film's own frame rate, and picture n here is that of every frame rate × beat × n of the film.
"""

from __future__ import annotations

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
from addnorm.scenes.verify.passage import Picture, Plane
from addnorm.scenes.verify.reading import Spot
from addnorm.scenes.verify.watching import BEATS_A_SECOND, Staging
from addnorm.scenes.video import Size

_LUMA = np.array([0.2126, 0.7152, 0.0722], dtype=np.float32) * np.float32(219 / 255)  # BT.709, limited range


def restage(stage_class: type[Stage], production: Production, state: str, width: int, height: int) -> Staging:
    """Play one state in pictures of a size."""
    pictures: list[tuple[Picture, int]] = []
    with studio(Size(width, height, BEATS_A_SECOND)):
        stage = stage_class(production, (state,), partial(_Watcher, pictures=pictures))
        stage.render()
        leaves = stage.camera.get_mobjects_to_display(stage.mobjects)
        spots = {id(leaf): spot for leaf in leaves if (spot := _spot(stage, leaf))}
        still = _photograph(stage, leaves)
        blank = _photograph(stage, [leaf for leaf in leaves if id(leaf) not in spots])
    motion = [picture for picture, beats in pictures[:-1] for _ in range(beats)]
    return Staging(state, len(motion) + pictures[-1][1], tuple(motion), still, blank, tuple(spots.values()))


class _Watcher(SceneFileWriter):
    """Keeps the brightness of every picture and how many frames it is shown."""

    def __init__(self, settings: Any, pictures: list[tuple[Picture, int]]) -> None:
        super().__init__(settings)
        self._pictures = pictures

    def write_frame(self, pixels: Any, *, repeat: int = 1) -> None:
        """Take a picture instead of writing it."""
        self._pictures.append((np.round(_brightness(pixels)).astype(np.uint8), repeat))


def _photograph(stage: Stage, leaves: list[Mobject]) -> Plane:
    stage.camera.reset()
    stage.camera.capture_mobjects(leaves)
    return _brightness(stage.camera.pixel_array)


def _brightness(rgba: NDArray[Any]) -> Plane:
    return np.asarray(rgba[..., :3].astype(np.float32) @ _LUMA + np.float32(16))


def _spot(stage: Stage, leaf: Mobject) -> Spot | None:
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
    camera = stage.camera
    (left, bottom, _), (right, top, _) = leaf.points.min(axis=0), leaf.points.max(axis=0)
    wide, high = camera.pixel_width / camera.frame_width, camera.pixel_height / camera.frame_height
    box = (
        (left + camera.frame_width / 2) * wide,
        (camera.frame_height / 2 - top) * high,
        (right - left) * wide,
        (top - bottom) * high,
    )
    ink = _brightness(np.round(255 * leaf.get_fill_color().to_rgb()))
    return Spot(ref, leaf.ink.run.text, box, float(ink))
