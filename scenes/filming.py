"""One state in front of manim's camera: its frames go straight to an encoder, its last one to pictures."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from manim import tempconfig
from manim.scene.scene_file_writer import SceneFileWriter

from addnorm.scenes.camera import StageCamera
from addnorm.scenes.manifest import Play
from addnorm.scenes.publish import write
from addnorm.scenes.stage import Production, Stage
from addnorm.scenes.theme import FRAME_HEIGHT, FRAME_WIDTH, load_theme
from addnorm.scenes.transcript import chapter_of
from addnorm.scenes.vector import as_svg
from addnorm.scenes.video import ClipEncoder, Size, encode_clip
from addnorm.scenes.webm import TransparentEncoder, encode_transparent

# All that a manim.cfg of the user's could change in our pictures; and no output of manim's own.
_SETTINGS = {
    "renderer": "cairo",
    "frame_height": FRAME_HEIGHT,
    "frame_width": FRAME_WIDTH,
    "background_opacity": 0.0,  # colours come out as over an opaque ground; alpha tells how much of it is covered
    "from_animation_number": 0,
    "upto_animation_number": -1,
    "dry_run": True,
    "preview": False,
    "live_preview": False,
    "enable_gui": False,
    "show_in_file_browser": False,
    "log_to_file": False,
    "progress_bar": "none",
    "verbosity": "ERROR",
}


class _ClipWriter(SceneFileWriter):
    """Hands every frame to the encoders; as manim's own output is off, it writes nothing else."""

    camera: StageCamera

    def __init__(self, settings: Any, encoder: ClipEncoder, overlay: TransparentEncoder | None) -> None:
        super().__init__(settings)
        self._encoder, self._overlay = encoder, overlay

    def write_frame(self, pixels: Any, *, repeat: int = 1) -> None:
        self._encoder.write(pixels, repeat, self.camera.take_changed())
        if self._overlay:
            self._overlay.write(pixels, repeat)


def film_clip(
    stage_class: type[Stage],
    production: Production,
    state: str,
    size: Size,
    clip: Path,
    still: Path,
    vector: Path | None = None,
    overlay: Path | None = None,
) -> tuple[Play, ...]:
    """Film a state's motion and hold into ``clip`` and its final picture into ``still``; say what was seen.

    ``still`` is a PNG, ``vector`` the same picture as SVG, ``overlay`` the clip on a transparent ground. Raises
    AuditError if a frame shows what the math does not have; then there is no clip.
    """
    ground = load_theme(production.theme).color("ground")
    with (
        studio(size),
        encode_clip(clip, size, comment="") as encoder,
        encode_transparent(overlay, size, ground) if overlay else nullcontext() as transparent,
    ):
        stage = stage_class(production, (state,), partial(_ClipWriter, encoder=encoder, overlay=transparent))
        stage.renderer.file_writer.camera = stage.camera
        stage.render()
        _develop(stage, state, still, vector)
    return tuple(stage.plays)


def take_still(
    stage_class: type[Stage], production: Production, state: str, size: Size, still: Path, vector: Path | None = None
) -> None:
    """Draw a state's final picture into ``still`` (PNG) and ``vector`` (SVG), audited like a frame."""
    with studio(size):
        stage = stage_class(production)
        stage.show(stage.board.state(state))
        _develop(stage, state, still, vector)


@contextmanager
def studio(size: Size) -> Iterator[None]:
    """manim set up for pictures of a size, whatever the user has set, and to write nothing."""
    gc.collect()  # a stage refers to itself, and the one before holds pictures and an encoder
    frame = {"pixel_width": size.width, "pixel_height": size.height, "frame_rate": size.frame_rate}
    with tempconfig(_SETTINGS | frame):
        yield


def _develop(stage: Stage, state: str, still: Path, vector: Path | None) -> None:
    """Write what the camera shows now as PNG, and what it is drawn from as SVG."""
    png, camera = BytesIO(), stage.camera
    camera.get_image().convert("RGB").save(png, format="PNG")
    write(still, png.getvalue())
    if vector is not None:
        title = chapter_of(stage.board, stage.board.state(state), stage.wording)
        drawn = camera.get_mobjects_to_display(stage.mobjects)
        write(vector, as_svg(drawn, stage.theme.color("ground"), title))
