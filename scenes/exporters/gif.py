"""Clips as GIF, for places that play no video: small, in time, and flat where the film is flat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    pictures = [_packed(rgb) for rgb in decode_frames(clip.video, every, shrink)]
    colors, entries = _palette(pictures, theme)
    starts = [round(Fraction(100 * every * n, clip.size.frame_rate)) for n in range(len(pictures))]
    end = round(Fraction(100 * clip.frames, clip.size.frame_rate))
    with _new_gif(target, end - starts[-1], loop) as container:
        _encode(container, pictures, colors, entries, starts)


# A picture is looked at in 7 bits a channel: that is finer than the video's noise, and a table of all such colours
# is small enough to count and to look up in.

_BITS = 7
_PACKED = 1 << 3 * _BITS
_SHIFTS = np.array([2 * _BITS, _BITS, 0], dtype=np.uint32)
_SAMPLED = 4  # every so many pictures the colours are counted


def _packed(rgb: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Each pixel's colour as one number."""
    channels = (rgb >> 8 - _BITS).astype(np.uint32) << _SHIFTS
    packed: NDArray[np.uint32] = np.bitwise_or.reduce(channels, axis=-1)
    return packed


def _palette(pictures: Sequence[NDArray[np.uint32]], theme: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The colours, n × RGB, and for every packed colour that occurs the entry that is nearest to it.

    First those of the theme, exactly; then always the most frequent one that none stands near to. So what is
    flat in the film, its translucent areas included, has one colour, and the rest serves the edges of letters.
    """
    occurs = np.zeros(_PACKED, dtype=np.bool_)
    for picture in pictures:
        occurs[picture] = True
    counts = np.zeros(_PACKED, dtype=np.int64)
    for picture in pictures[::_SAMPLED]:
        counts += np.bincount(picture.ravel(), minlength=_PACKED)
    occurring = np.flatnonzero(occurs)
    weights = counts[occurring]
    rgb = ((occurring[:, None] >> _SHIFTS) % (1 << _BITS) << 8 - _BITS).astype(np.int32)
    own = [[int(color[n : n + 2], 16) for n in (1, 3, 5)] for color in load_theme(theme).colors.values()]
    colors = [np.array(color, dtype=np.int32) for color in own]
    for color in colors:
        weights[np.abs(rgb - color).max(axis=1) < _ALIKE] = 0
    while len(colors) < _COLORS and weights.any():
        colors.append(rgb[weights.argmax()])
        weights[np.abs(rgb - colors[-1]).max(axis=1) < _ALIKE] = 0
    entries = np.zeros(_PACKED, dtype=np.uint8)
    for part in range(0, len(rgb), 4096):
        apart = rgb[part : part + 4096, None] - np.array(colors)
        entries[occurring[part : part + 4096]] = (apart**2).sum(axis=2).argmin(axis=1)
    return np.array(colors, dtype=np.uint8), entries


def _encode(
    container: OutputContainer,
    pictures: Sequence[NDArray[np.uint32]],
    colors: NDArray[np.uint8],
    entries: NDArray[np.uint8],
    starts: Sequence[int],
) -> None:
    """Encode pictures that begin at so many hundredths of a second; of each only what has changed is stored."""
    import av

    palette = np.zeros((256, 4), dtype=np.uint8)  # ARGB
    palette[: len(colors), 0] = 255
    palette[: len(colors), 1:] = colors
    stream: Any = container.add_stream("gif")
    stream.height, stream.width = pictures[0].shape
    stream.pix_fmt = "pal8"
    stream.codec_context.time_base = Fraction(1, 100)
    for picture, start in zip(pictures, starts, strict=True):
        indexed: Any = (entries[picture], palette)
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
