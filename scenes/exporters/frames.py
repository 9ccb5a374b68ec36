"""Clips as sequences of PNG, one file a frame, for video editors and for looking closely."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from addnorm.scenes.exporters.outputs import Clip, Rendered
from addnorm.scenes.video import decode_frames


def export(examples: Sequence[Rendered], target: Path) -> None:
    """Write a folder for each clip below ``target``; its frames are numbered from zero, as in values.json."""
    for example in examples:
        for output in example.outputs:
            for clip in output.clips:
                folder = target / example.id / output.folder.name / clip.name
                folder.mkdir(parents=True)
                _write_frames(clip, folder)


def file_name(state: str, number: int, frames: int) -> str:
    """The name of a clip's n-th frame of so many: ``b2-000.png`` is the first of several hundred."""
    return f"{state}-{number:0{len(str(frames - 1))}}.png"


def _write_frames(clip: Clip, folder: Path) -> None:
    last, png = np.empty(0, dtype=np.uint8), b""
    for number, frame in enumerate(decode_frames(clip.video)):
        if not np.array_equal(frame, last):  # a hold is the same picture many times
            last, png = frame, _as_png(frame)
        (folder / file_name(clip.name, number, clip.frames)).write_bytes(png)


def _as_png(frame: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> bytes:
    png = BytesIO()
    Image.fromarray(frame).save(png, format="PNG", compress_level=3)
    return png.getvalue()
