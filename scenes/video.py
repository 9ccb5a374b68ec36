"""Clips and films: H.264 in mp4, written from pictures, joined without encoding again, and read back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from heapq import merge
from itertools import accumulate, cycle, islice, pairwise
from mmap import mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.tiles import Part, Tiles, no_tiles, pixels

if TYPE_CHECKING:  # PyAV takes a tenth of a second to load
    from av import Packet, VideoFrame
    from av.container import InputContainer, OutputContainer
    from av.stream import Stream

_WIDTHS = {480: 854, 720: 1280, 1080: 1920, 1440: 2560, 2160: 3840}
_FRAME_RATES = (15, 20, 25, 30, 60)


@dataclass(frozen=True)
class Size:
    """The size of a picture in pixels, both even as the encoder needs them, and the pictures in a second."""

    width: int
    height: int
    frame_rate: int

    def __post_init__(self) -> None:
        """Refuse what the encoder would refuse, before anything is drawn."""
        if min(self.width, self.height, self.frame_rate) < 1 or self.width % 2 or self.height % 2:
            raise AddnormError(
                f"size: {self.width} × {self.height} at {self.frame_rate} frames a second; "
                "width and height must be even"
            )

    def __str__(self) -> str:
        return f"{self.height}p{self.frame_rate}"

    def frames(self, seconds: float | Fraction) -> int:
        """How many frames a duration lasts; it must be a whole number, as multiples of 0.2 s always are."""
        frames = Fraction(seconds).limit_denominator(1000) * self.frame_rate
        if frames.denominator != 1:
            raise AddnormError(
                f"duration: {float(seconds):g} s is not a whole number of frames at {self.frame_rate} "
                "frames a second; use a multiple of 0.2 s"
            )
        return int(frames)


_SIZES = {
    str(size): size
    for size in (Size(width, height, rate) for height, width in _WIDTHS.items() for rate in _FRAME_RATES)
}


def parse_size(text: str) -> Size:
    """The size of that name: ``1080p60`` is 1920 × 1080 pixels, 60 times a second."""
    if text not in _SIZES:
        heights, rates = (", ".join(map(str, numbers)) for numbers in (_WIDTHS, _FRAME_RATES))
        raise AddnormError(
            f"size: {text[:40]!r}; write HEIGHTpRATE such as 1080p60, the height one of {heights} "
            f"and the rate one of {rates}"
        )
    return _SIZES[text]


# ultrafast with a constant quantizer, chosen on 1080p pictures like ours: text and thin lines on a flat dark
# ground, bars and labels that move and fade. One thread; moving frames include 4.5 ms for their conversion.
#
#                  moving frame       frame of a hold    hold of 4 s    SSIM of the worst frame
#   this            8.5 ms, 3.2 kB         2.6 ms            71 kB            0.9998
#   CRF 20          8.9 ms, 4.1 kB         3.9 ms           250 kB            0.9999
#   veryfast 18    14.7 ms, 1.5 kB         7.0 ms            50 kB            0.9996
#
# A hold would pay for rate control, which sharpens what is already as sharp as was asked. Flat areas are off
# by at most one level, fades included. No frame's quality depends on the rate of others, and there are no
# B-frames, which keeps joining simple: packet n of a clip is frame n.
_ENCODER = {"preset": "ultrafast", "qp": "20", "g": "1000000", "x264-params": "force-cfr=1"}

KEY_INTERVAL = 250
"""Frames from one that can be decoded by itself to the next, at most."""

LONGEST_REPEAT = 32
"""Bytes. What the encoder says of a picture that stays as it is, is shorter."""


class Frame(NamedTuple):
    """A picture as a video has it, in BT.709 of limited range.

    ``brightness`` is height × width, from 16 (black) to 235 (white); ``colour`` is 2 × height/2 × width/2, blue and
    red against brightness, where 128 is grey.
    """

    brightness: NDArray[np.uint8]
    colour: NDArray[np.uint8]


class Converter:
    """Turns pictures of one size, height × width × RGBA, into what is encoded; alpha is ignored."""

    def __init__(self) -> None:
        from av.video.reformatter import VideoReformatter

        self._reformatter = VideoReformatter()

    def video_frame(self, rgba: NDArray[np.uint8], width: int, height: int) -> VideoFrame:
        """The picture for the encoder, at a size. Each of its rows lies in one piece, the next one after it."""
        import av
        from av.video.reformatter import ColorRange, Colorspace, Interpolation

        return self._reformatter.reformat(
            av.VideoFrame.from_numpy_buffer(rgba, format="rgba"),
            width,
            height,
            format="yuv420p",
            src_colorspace=Colorspace.ITU709,
            dst_colorspace=Colorspace.ITU709,
            src_color_range=ColorRange.JPEG,
            dst_color_range=ColorRange.MPEG,
            # Colour is averaged over the pixels that share it; the result is the same on every processor.
            interpolation=Interpolation.AREA
            | Interpolation.FULL_CHR_H_INP
            | Interpolation.ACCURATE_RND
            | Interpolation.BITEXACT,
            threads=1,
        )

    def frame(self, rgba: NDArray[np.uint8], width: int, height: int) -> Frame:
        """The picture at a size as a decoder would give it, had nothing been lost."""
        return _copied(self.video_frame(np.ascontiguousarray(rgba), width, height))


class ClipEncoder:
    """Takes the pictures of a clip in turn; made by `encode_clip`."""

    def __init__(self, container: OutputContainer, size: Size) -> None:
        from av import VideoFrame
        from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc

        self.frames = 0
        self._size = size
        self._container = container
        self._converters: defaultdict[tuple[int, ...], Converter] = defaultdict(Converter)
        self._frame = VideoFrame(size.width, size.height, "yuv420p")
        self._planes = _planes(self._frame)
        self._key = 0
        self._packets: list[bytes] = []
        self._stream = container.add_stream("libx264", rate=size.frame_rate, options=_ENCODER)
        context = self._stream.codec_context
        context.width, context.height, context.pix_fmt = size.width, size.height, "yuv420p"
        context.time_base = self._tick = Fraction(1, size.frame_rate)
        context.thread_count = 1  # the bytes depend on it
        context.color_range = ColorRange.MPEG
        context.color_primaries = ColorPrimaries.BT709
        context.color_trc = ColorTrc.BT709
        context.colorspace = Colorspace.ITU709

    def write(self, rgba: NDArray[np.uint8], repeat: int = 1, changed: Tiles | None = None) -> None:
        """Append a picture, ``repeat`` frames long: height × width × RGBA, top row first, alpha ignored.

        ``changed`` marks the tiles that may differ from the picture before; without it, all may.
        """
        if rgba.shape != (self._size.height, self._size.width, 4):
            raise ValueError(f"a picture of shape {rgba.shape} in a clip of {self._size}")
        if changed is None or not self.frames:
            changed = ~no_tiles(self._size.height, self._size.width)
        rgba = np.ascontiguousarray(rgba)
        for part in pixels(changed):
            self._convert(rgba[part], part)
            self._packets = []
        last = self.frames + repeat
        while self.frames < last:
            self._encode()
            self._hold(last)

    def _convert(self, rgba: NDArray[np.uint8], part: Part) -> None:
        """Put a tile of a picture where the encoder takes it from; there, colour has half the rows and columns."""
        height, width, _ = rgba.shape
        tile = self._converters[rgba.shape].video_frame(rgba, width, height)
        rows, columns = part
        for source, target, size in zip(_planes(tile), self._planes, (1, 2, 2), strict=True):
            top, left = rows.start // size, columns.start // size
            target[top : top + len(source), left : left + source.shape[1]] = source

    def _encode(self) -> None:
        """Encode the picture as it is now."""
        from av.video.frame import PictureType

        is_key = self.frames >= self._key
        if is_key:
            self._key = self.frames + KEY_INTERVAL
            self._packets = []
        self._frame.pts = self.frames
        self._frame.pict_type = PictureType.I if is_key else PictureType.NONE
        [packet] = self._stream.encode(self._frame)
        self._packets.append(bytes(packet))
        self._append(packet)

    def _hold(self, last: int) -> None:
        """Repeat packets for a picture that stays, as soon as the encoder does so itself.

        Once nothing is left to be refined, it says so in a few bytes a frame, which differ only in a counter of some
        bits. As it does not know of these frames, it has to begin anew after them, with a frame that can be
        decoded by itself; mostly, one is due then or the clip ends.
        """
        from av import Packet

        *before, newest = self._packets
        end = min(last, self._key)
        if len(newest) > LONGEST_REPEAT or newest not in before or self.frames == end:
            return
        counted = [*before[before.index(newest) + 1 :], newest]
        for content in islice(cycle(counted), end - self.frames):
            self._append(Packet(content))
        self._key = self.frames

    def _append(self, packet: Packet[Any]) -> None:
        self._container.mux(_at(packet, self._stream, self.frames, 1, self._tick))
        self.frames += 1

    def finish(self) -> None:
        """Write what the encoder still holds."""
        if not self.frames:
            raise ValueError("a clip without a picture")
        self._container.mux(self._stream.encode(None))


@contextmanager
def encode_clip(path: Path, size: Size, *, comment: str) -> Iterator[ClipEncoder]:
    """Encode a clip to ``path`` as pictures are written to it: BT.709, constant frame rate, fast start.

    The same pictures give the same bytes. ``path`` needs no suffix; no file is left if the block fails.
    """
    with _new_mp4(path, comment=comment) as container:
        encoder = ClipEncoder(container, size)
        yield encoder
        encoder.finish()


def join(
    clips: Sequence[Path],
    target: Path,
    *,
    chapters: Sequence[str],
    subtitles: Sequence[tuple[Fraction, Fraction, str]],
    language: str,
    title: str,
    comment: str,
) -> None:
    """Put clips of one size one after the other, without encoding again, each a chapter if they have titles.

    ``subtitles`` are (start, end, text) in seconds, on the film's frames; they become a track in ``language``
    (ISO 639-2: ``zho``, ``eng``) that a player shows when asked to.
    """
    counts = [frame_count(clip) for clip in clips]
    starts = list(accumulate(counts, initial=0))
    with _reading(clips[0]) as first, _new_mp4(target, title=title, comment=comment) as film:
        template = first.streams.video[0]
        tick = 1 / Fraction(template.average_rate or 0)
        packets = _picture_packets(clips, film.add_stream_from_template(template), tick)
        if subtitles:
            text = film.add_stream("mov_text")
            text.codec_context.subtitle_header = (
                b"[V4+ Styles]\n"  # styles are the player's, but it wants some
            )
            text.codec_context.time_base = tick
            text.metadata["language"] = language
            packets = merge(_text_packets(subtitles, text, tick), packets, key=lambda packet: packet.dts or 0)
        if chapters:
            film.set_chapters(
                [
                    {"id": n, "start": start, "end": end, "time_base": tick, "metadata": {"title": chapter}}
                    for n, (chapter, (start, end)) in enumerate(zip(chapters, pairwise(starts), strict=True))
                ]
            )
        for packet in packets:
            film.mux(packet)
    if subtitles:
        _hide_subtitles(target)


def _picture_packets(clips: Sequence[Path], stream: Stream, tick: Fraction) -> Iterator[Packet[Stream]]:
    number = 0
    parameters = stream.codec_context.extradata
    for clip in clips:
        with _reading(clip) as source:
            if source.streams.video[0].codec_context.extradata != parameters:
                raise AddnormError(f"{clip}: not encoded like {clips[0]}; encode both again")
            for packet in source.demux(video=0):
                if packet.size:
                    yield _at(packet, stream, number, 1, tick)
                    number += 1


def _text_packets(
    subtitles: Iterable[tuple[Fraction, Fraction, str]], stream: Stream, tick: Fraction
) -> Iterator[Packet[Stream]]:
    from av import Packet

    for start, end, text in subtitles:
        # 3GPP timed text: the length, then the words as they are. It has no markup that a text could contain.
        content = text.encode()
        packet = Packet(len(content).to_bytes(2, "big") + content)
        yield _at(packet, stream, int(start / tick), int((end - start) / tick), tick)


def _at(packet: Packet[Any], stream: Stream, start: int, duration: int, tick: Fraction) -> Packet[Stream]:
    packet.stream = stream
    packet.time_base = tick
    packet.pts = packet.dts = start
    packet.duration = duration
    return packet


def _hide_subtitles(film: Path) -> None:
    """Leave the subtitles off until a viewer turns them on: the picture has a caption line of its own.

    The muxer always enables the track; players would show its text over the picture's. The flag is bit 0 in
    the header (tkhd) of the track whose handler is sbtl. What precedes those in the file are numbers, none of
    which reads as letters below a gigabyte.
    """
    with film.open("r+b") as file, mmap(file.fileno(), 0) as data:
        data[data.rfind(b"tkhd", 0, data.find(b"sbtl")) + 7] &= 0xFE


def frame_count(path: Path) -> int:
    """How many frames a video has."""
    with _reading(path) as container:
        return sum(1 for packet in container.demux(video=0) if packet.size)


def read_metadata(path: Path) -> dict[str, str]:
    """What a video says of itself: ``title``, ``comment`` and the container's own entries."""
    with _reading(path) as container:
        return dict(container.metadata)


def decode_frames(path: Path, every: int = 1, shrink: int = 1) -> Iterator[NDArray[np.uint8]]:
    """The pictures of a video in turn, height × width × RGB, its colours read as they are tagged.

    Given ``every``, those whose number it divides; at ``shrink`` 2 half as wide and half as high. A file without
    tags is taken as BT.709 of limited range, which is what `encode_clip` writes.
    """
    from av.video.reformatter import ColorRange, Colorspace, Interpolation, VideoReformatter

    reformatter = VideoReformatter()
    with _reading(path) as container:
        for number, frame in enumerate(container.decode(video=0)):
            if number % every:
                continue
            bt601 = frame.colorspace in (Colorspace.ITU601, 6)  # BT.470 BG, SMPTE 170 M
            picture = reformatter.reformat(
                frame,
                frame.width // shrink,
                frame.height // shrink,
                format="rgb24",
                src_colorspace=Colorspace.ITU601 if bt601 else Colorspace.ITU709,
                dst_colorspace=Colorspace.ITU709,
                src_color_range=frame.color_range or ColorRange.MPEG,
                dst_color_range=ColorRange.JPEG,
                interpolation=(Interpolation.BILINEAR if shrink == 1 else Interpolation.AREA)
                | Interpolation.FULL_CHR_H_INT
                | Interpolation.ACCURATE_RND
                | Interpolation.BITEXACT,
            )
            yield picture.to_ndarray().astype(np.uint8, copy=False)


def decode_yuv(path: Path, width: int, height: int) -> Iterator[Frame]:
    """The pictures of a video in turn, at an even size. One that is the same as that before is given again."""
    scaler = _Scaler(width, height)
    last: tuple[NDArray[np.uint8], ...] = ()
    picture: Frame | None = None
    for frame in _decoded(path):
        planes = _planes(frame)
        if picture is None or not all(map(np.array_equal, planes, last)):
            last = tuple(plane.copy() for plane in planes)
            picture = scaler.frame(frame)
        yield picture


def pictures_at(path: Path, width: int, height: int, numbers: Collection[int]) -> list[Frame]:
    """The pictures of a video with these numbers, counted from zero, as far as there are any, at an even size."""
    scaler = _Scaler(width, height)
    return [scaler.frame(frame) for number, frame in enumerate(_decoded(path)) if number in numbers]


def _decoded(path: Path) -> Iterator[VideoFrame]:
    with _reading(path) as container:
        container.streams.video[0].thread_type = "AUTO"
        yield from container.decode(video=0)


class _Scaler:
    """Brings decoded pictures to a size, in BT.709 of limited range."""

    def __init__(self, width: int, height: int) -> None:
        from av.video.reformatter import VideoReformatter

        self._width, self._height = width, height
        self._reformatter = VideoReformatter()

    def frame(self, decoded: VideoFrame) -> Frame:
        """A picture, scaled."""
        from av.video.reformatter import ColorRange, Colorspace, Interpolation

        # Area is exact where several pixels become one; nearly at the same size it would move them about.
        much_smaller = decoded.height >= 1.5 * self._height
        bt601 = decoded.colorspace in (Colorspace.ITU601, 6)
        scaled = self._reformatter.reformat(
            decoded,
            self._width,
            self._height,
            format="yuv420p",
            src_colorspace=Colorspace.ITU601 if bt601 else Colorspace.ITU709,
            dst_colorspace=Colorspace.ITU709,
            dst_color_range=ColorRange.MPEG,
            interpolation=Interpolation.AREA if much_smaller else Interpolation.BICUBIC,
        )
        return _copied(scaled)


@dataclass(frozen=True)
class Screening:
    """What a player is told about a video: its pictures' size in pixels, how many a second, and how to show them.

    ``streams`` is how many videos there are in the file, ``pixel_aspect`` the width of a pixel for its height 1, and
    ``upright`` whether pictures are shown as they are, neither turned nor mirrored.
    """

    width: int
    height: int
    frame_rate: Fraction
    streams: int
    pixel_aspect: Fraction
    upright: bool


def screening(path: Path) -> Screening:
    """How a video is to be shown."""
    with _reading(path) as container:
        stream = container.streams.video[0]
        first = next(container.decode(video=0), None)
        matrix: Any = None if first is None else first.side_data.get("DISPLAYMATRIX")
        return Screening(
            stream.width,
            stream.height,
            Fraction(stream.average_rate or 0),
            len(container.streams.video),
            Fraction(stream.sample_aspect_ratio or 1),
            matrix is None or _is_upright(bytes(matrix)),
        )


def _is_upright(matrix: bytes) -> bool:
    """Whether a display matrix, nine numbers of 16.16 bits, leaves pictures as they are."""
    return tuple(np.frombuffer(matrix, dtype="=i4")[[0, 1, 3, 4]]) == (1 << 16, 0, 0, 1 << 16)


def _planes(frame: VideoFrame) -> tuple[NDArray[np.uint8], ...]:
    """The planes of a YUV picture; what lies behind them in memory must not be freed while they are in use."""
    return tuple(
        np.frombuffer(memoryview(plane), dtype=np.uint8).reshape(plane.height, plane.line_size)[:, : plane.width]
        for plane in frame.planes
    )


def _copied(frame: VideoFrame) -> Frame:
    brightness, *colour = _planes(frame)
    return Frame(brightness.copy(), np.stack(colour))


@contextmanager
def new_video(path: Path, form: str, **options: str) -> Iterator[OutputContainer]:
    """A new video file of a format, with nothing of the moment or the machine in it. None is left if the block fails.

    ``options`` are those of the format's muxer. What cannot be written is an AddnormError.
    """
    import av

    options = {"fflags": "+bitexact", **options}
    try:
        with av.open(str(path.absolute()), "w", format=form, container_options=options) as container:
            yield container
    except BaseException as error:
        with suppress(OSError):
            path.unlink()
        if isinstance(error, av.FFmpegError):
            raise AddnormError(
                f"{path}: cannot be written: {error.strerror}; "
                "it takes a folder that may be written to and has room"
            ) from error
        raise


@contextmanager
def _new_mp4(path: Path, **metadata: str) -> Iterator[OutputContainer]:
    """A new mp4, its index in front (fast start)."""
    with new_video(path, "mp4", movflags="faststart") as container:
        container.metadata.update(metadata)
        yield container


@contextmanager
def _reading(path: Path) -> Iterator[InputContainer]:
    """An mp4 to read, and nothing else: what looks like a playlist could fetch other files."""
    import av

    try:
        with av.open(str(path.absolute()), format="mp4", metadata_errors="replace") as container:
            if not container.streams.video:
                raise AddnormError(f"{path}: no video in it; give an mp4 that addnorm rendered")
            yield container
    except av.FFmpegError as error:
        raise AddnormError(
            f"{path}: cannot be read as mp4: {error.strerror}; give an mp4 that addnorm rendered"
        ) from error
