"""Clips on a transparent ground: VP9 with alpha in WebM, to lay over slides and other videos."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from addnorm.scenes.video import Size, new_video

if TYPE_CHECKING:
    from av.container import OutputContainer

# A constant quality, without frames that are held back or never shown: each packet is one picture. One thread, as the
# bytes depend on it.
_ENCODER = {
    "crf": "18",
    "b": "0",
    "deadline": "realtime",
    "cpu-used": "8",
    "auto-alt-ref": "0",
    "lag-in-frames": "0",
}


class TransparentEncoder:
    """Takes the pictures of a clip in turn; made by `encode_transparent`."""

    def __init__(self, container: OutputContainer, size: Size, ground: tuple[int, int, int]) -> None:
        from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc

        self.frames = 0
        self._size = size
        self._ground = np.array(ground, dtype=np.float32)
        self._container = container
        self._stream = container.add_stream("libvpx-vp9", rate=size.frame_rate, options=_ENCODER)
        context = self._stream.codec_context
        context.width, context.height, context.pix_fmt = size.width, size.height, "yuva420p"
        context.time_base = Fraction(1, size.frame_rate)
        context.thread_count = 1
        context.color_range = ColorRange.MPEG
        context.color_primaries = ColorPrimaries.BT709
        context.color_trc = ColorTrc.BT709
        context.colorspace = Colorspace.ITU709
        self._held: NDArray[np.uint8] | None = None

    def write(self, rgba: NDArray[np.uint8], repeat: int = 1) -> None:
        """Append a picture, ``repeat`` frames long: height × width × RGBA as `uncovered` takes it.

        A hold is one picture that stays until the next.
        """
        if rgba.shape != (self._size.height, self._size.width, 4):
            raise ValueError(f"a picture of shape {rgba.shape} in a clip of {self._size}")
        straight = uncovered(rgba, self._ground)
        self._encode(straight, self.frames)
        self.frames += repeat
        self._held = straight if repeat > 1 else None

    def finish(self) -> None:
        """Write what the encoder still holds, and the end of a hold."""
        if not self.frames:
            raise ValueError("a clip without a picture")
        if self._held is not None:
            self._encode(self._held, self.frames - 1)
        self._container.mux(self._stream.encode(None))

    def _encode(self, straight: NDArray[np.uint8], number: int) -> None:
        import av
        from av.video.reformatter import ColorRange, Colorspace

        frame = av.VideoFrame.from_ndarray(straight, format="rgba").reformat(
            format="yuva420p",
            src_colorspace=Colorspace.ITU709,
            dst_colorspace=Colorspace.ITU709,
            src_color_range=ColorRange.JPEG,
            dst_color_range=ColorRange.MPEG,
        )
        frame.pts, frame.time_base = number, Fraction(1, self._size.frame_rate)
        self._container.mux(self._stream.encode(frame))


def uncovered(rgba: NDArray[np.uint8], ground: NDArray[np.float32]) -> NDArray[np.uint8]:
    """A picture on its ground as colours with an opacity of their own.

    ``rgba``: what was drawn over the ground's colour, and how much of that it covers (alpha). The colour c that with
    opacity α over the ground g gives the picture p is g + (p - g) / α; where nothing covers the ground it is the
    ground's, so that colours do not break off at edges.
    """
    alpha = rgba[..., 3:].astype(np.float32) / 255
    colors = ground + (rgba[..., :3] - ground) / np.where(alpha > 0, alpha, 1)
    straight = rgba.copy()
    straight[..., :3] = np.clip(np.rint(colors), 0, 255)
    return straight


@contextmanager
def encode_transparent(path: Path, size: Size, ground: str) -> Iterator[TransparentEncoder]:
    """Encode a clip to ``path`` as pictures are written to it, without its ``ground`` (``#RRGGBB``).

    The same pictures give the same bytes. ``path`` needs no suffix; no file is left if the block fails.
    """
    red, green, blue = bytes.fromhex(ground.removeprefix("#"))
    with new_video(path, "webm") as container:
        encoder = TransparentEncoder(container, size, (red, green, blue))
        yield encoder
        encoder.finish()
