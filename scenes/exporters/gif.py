"""Clips as GIF, for places that play no video: small, in time, and flat where the film is flat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.exporters.outputs import Clip, Rendered
from addnorm.scenes.theme import load_theme
from addnorm.scenes.video import decode_frames

if TYPE_CHECKING:
    from av.container import OutputContainer

LINES = 540
"""The least height of a GIF that stands by itself, in pixels; of a clip, a half or a quarter that is no lower."""

_MOST_PER_SECOND = 25
_SAMPLED = 4  # in one of so many pictures the colours are counted
_COLORS = 255  # the last one of a GIF's 256 stands for "as on the picture before"
_ALIKE = 9
"""Colours nearer than that in each channel share one entry of the palette: the video's own noise is two or three."""


def export(examples: Sequence[Rendered], target: Path, *, loop: bool = False) -> None:
    """Write every clip below ``target``: played once, its last picture stays; with ``loop``, for ever."""
    for example in examples:
        for output in example.outputs:
            folder = target / example.id / output.folder.name
            folder.mkdir(parents=True)
            for clip in output.clips:
                shrink = max(1, clip.size.height // LINES)
                write_gif(clip, folder / f"{clip.name}.gif", output.theme, shrink=shrink, loop=loop)


def write_gif(clip: Clip, target: Path, theme: str, *, shrink: int = 1, loop: bool = False) -> None:
    """Write a clip as GIF, in a size that is the clip's divided by ``shrink``.

    Delays are whole hundredths of a second. Of 60 frames a second every third one is shown, 5 hundredths long;
    20 and 25 fit as they are. What does not fit (15, or every other one of 30) begins at the nearest hundredth,
    so it never drifts, and the whole lasts as long as the clip.
    """
    every = -(-clip.size.frame_rate // _MOST_PER_SECOND)
    starts = [round(Fraction(100 * n, clip.size.frame_rate)) for n in range(0, clip.frames, every)]
    end = round(Fraction(100 * clip.frames, clip.size.frame_rate))

    sampled = decode_frames(clip.video, every * _SAMPLED, shrink)
    colors = _palette(map(_packed, sampled), theme)
    pictures = map(_packed, decode_frames(clip.video, every, shrink))  # again: all of a long clip's take much room
    with _new_gif(target, end - starts[-1], loop) as container:
        _encode(container, pictures, colors, starts)


# A picture is looked at in 7 bits a channel: that is finer than the video's noise, and a table of all such colours
# is small enough to count and to look up in.

Packed = NDArray[np.uint32]
"""A picture, each pixel's colour as one number."""

_BITS = 7
_PACKED = 1 << 3 * _BITS
_NONE = -1
_SHIFTS = np.array([2 * _BITS, _BITS, 0], dtype=np.uint32)


def _packed(rgb: NDArray[np.uint8]) -> Packed:
    red, green, blue = np.moveaxis(rgb >> 8 - _BITS, -1, 0).astype(np.uint32)
    packed: Packed = red << 2 * _BITS | green << _BITS | blue
    return packed


def _unpacked(packed: Packed) -> NDArray[np.int32]:
    """The colours, n × RGB."""
    return ((packed[:, None] >> _SHIFTS) % (1 << _BITS) << 8 - _BITS).astype(np.int32)


def _palette(pictures: Iterable[Packed], theme: str) -> NDArray[np.int32]:
    """The colours of a GIF, n × RGB.

    First those of the theme, exactly; then always the most frequent one that none stands near to. So what is
    flat in the film, its translucent areas included, has one colour, and the rest serves the edges of letters.
    """
    counts = np.zeros(_PACKED, dtype=np.int64)
    for picture in pictures:
        counts += np.bincount(picture.ravel(), minlength=_PACKED)
    occurring = np.flatnonzero(counts).astype(np.uint32)
    weights, rgb = counts[occurring], _unpacked(occurring)
    own = [[int(color[n : n + 2], 16) for n in (1, 3, 5)] for color in load_theme(theme).colors.values()]
    colors = [np.array(color, dtype=np.int32) for color in own]
    for color in colors:
        weights[np.abs(rgb - color).max(axis=1) < _ALIKE] = 0
    while len(colors) < _COLORS and weights.any():
        colors.append(rgb[weights.argmax()])
        weights[np.abs(rgb - colors[-1]).max(axis=1) < _ALIKE] = 0
    return np.array(colors)


def _nearest(packed: Packed, colors: NDArray[np.int32]) -> NDArray[np.int16]:
    """For each colour the palette's entry that is nearest to it."""
    entries = np.empty(len(packed), dtype=np.int16)
    for part in range(0, len(packed), 4096):
        apart = _unpacked(packed[part : part + 4096])[:, None] - colors
        entries[part : part + 4096] = (apart**2).sum(axis=2).argmin(axis=1)
    return entries


def _encode(
    container: OutputContainer, pictures: Iterable[Packed], colors: NDArray[np.int32], starts: Iterable[int]
) -> None:
    """Encode pictures that begin at so many hundredths of a second; of each only what has changed is stored."""
    import av

    entries = np.full(_PACKED, _NONE, dtype=np.int16)
    palette = np.zeros((256, 4), dtype=np.uint8)  # ARGB
    palette[: len(colors), 0] = 255
    palette[: len(colors), 1:] = colors
    stream: Any = None
    for picture, start in zip(pictures, starts, strict=True):
        if stream is None:
            stream = container.add_stream("gif")
            stream.height, stream.width = picture.shape
            stream.pix_fmt = "pal8"
            stream.codec_context.time_base = Fraction(1, 100)
        new = np.unique(picture[entries[picture] == _NONE])
        entries[new] = _nearest(new, colors)
        indexed: Any = (entries[picture].astype(np.uint8), palette)
        frame = av.VideoFrame.from_ndarray(indexed, format="pal8")
        frame.pts, frame.time_base = start, Fraction(1, 100)
        container.mux(stream.encode(frame))
    container.mux(stream.encode(None))


@contextmanager
def _new_gif(path: Path, last_delay: int, loop: bool) -> Iterator[OutputContainer]:
    import av

    options = {"loop": "0" if loop else "-1", "final_delay": str(last_delay)}
    try:
        with av.open(str(path.absolute()), "w", format="gif", container_options=options) as container:
            yield container
    except av.FFmpegError as error:
        raise AddnormError(
            f"{path}: cannot be written: {error.strerror}; it takes a folder that may be written to and has room"
        ) from error
