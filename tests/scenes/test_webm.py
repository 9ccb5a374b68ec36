"""Clips on a transparent ground, laid over other colours again."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.video import Size
from addnorm.scenes.webm import encode_transparent, uncovered

SIZE = Size(160, 90, 30)
GROUND = "#0D141C"
Picture = NDArray[Any]


def disc(x: float, color: tuple[int, int, int] = (86, 180, 233), opacity: float = 1.0) -> Picture:
    """A disc with a soft edge as it is drawn: its colour over the ground's, and how much it covers."""
    rows, columns = np.mgrid[: SIZE.height, : SIZE.width]
    cover = opacity * np.clip(30.5 - np.hypot(rows - 45, columns - x), 0, 1)[..., None]
    drawn = np.concatenate([over(color, cover, ground()), 255 * cover], axis=-1)
    return np.asarray(np.rint(drawn), dtype=np.uint8)


def ground() -> Picture:
    return np.array([*bytes.fromhex(GROUND[1:])], dtype=np.float64)


def over(color: Any, cover: Picture, under: Picture) -> Picture:
    return np.asarray(under + cover * (np.asarray(color, dtype=float) - under))


def encode(path: Path, pictures: list[tuple[Picture, int]]) -> Path:
    with encode_transparent(path, SIZE, GROUND) as clip:
        for picture, repeat in pictures:
            clip.write(picture, repeat)
    return path


def decoded(path: Path) -> Iterator[tuple[Fraction, Picture]]:
    """The pictures of a clip with alpha, each with the second it begins at."""
    decoder: Any = av.CodecContext.create("libvpx-vp9", "r")  # the usual decoder of VP9 passes over the alpha
    with av.open(str(path), format="webm") as container:
        [stream] = container.streams
        for packet in container.demux(stream):
            for frame in decoder.decode(packet) if packet.size else ():
                assert packet.pts is not None
                assert packet.time_base is not None
                yield packet.pts * packet.time_base, frame.to_ndarray(format="rgba")


def test_alpha_comes_through_and_the_colour_without_its_ground(tmp_path: Path) -> None:
    picture = disc(70, opacity=0.6)
    [(_, seen)] = decoded(encode(tmp_path / "clip", [(picture, 1)]))
    cover = seen[..., 3:] / 255
    assert np.abs(seen[..., 3].astype(int) - picture[..., 3]).max() <= 12
    assert np.abs(seen[..., 3].astype(int) - picture[..., 3]).mean() < 0.5
    assert np.abs(over(seen[..., :3], cover, ground()) - picture[..., :3]).mean() < 1.5
    white = over(seen[..., :3], cover, np.full(3, 255.0))
    assert np.abs(white[45, 70] - over((86, 180, 233), np.array([0.6]), np.full(3, 255.0))).max() < 5
    assert np.abs(white[5, 5] - 255).max() < 3  # where nothing was drawn, the slide's own colour shows


def test_colours_are_taken_off_their_ground() -> None:
    picture = disc(70, color=(200, 100, 50), opacity=0.5)
    straight = uncovered(picture, ground().astype(np.float32))
    assert np.abs(straight[45, 70] - np.array([200, 100, 50, 128])).max() <= 2  # levels were rounded at half opacity
    assert straight[0, 0].tolist() == [*bytes.fromhex(GROUND[1:]), 0]


def test_a_hold_is_one_picture_that_stays(tmp_path: Path) -> None:
    pictures = [(disc(40), 1), (disc(60), 1), (disc(80), 28), (disc(100), 60)]
    clip = encode(tmp_path / "clip", pictures)
    starts = [round(start * SIZE.frame_rate) for start, _ in decoded(clip)]
    assert starts == [0, 1, 2, 30, 89]
    with av.open(str(clip), format="webm") as container:
        assert container.duration is not None
        assert abs(Fraction(container.duration, 10**6) - Fraction(90, 30)) < Fraction(1, 500)


def test_the_same_pictures_give_the_same_bytes(tmp_path: Path) -> None:
    one, other = (encode(tmp_path / name, [(disc(40), 2), (disc(60), 3)]) for name in ("one", "other"))
    assert one.read_bytes() == other.read_bytes()


def test_it_says_what_it_is(tmp_path: Path) -> None:
    clip = encode(tmp_path / "clip", [(disc(40), 3)])
    with av.open(str(clip), format="webm") as container:
        [stream] = container.streams.video
        assert stream.metadata["alpha_mode"] == "1"
        assert stream.codec_context.name == "vp9"
        assert (stream.width, stream.height) == (SIZE.width, SIZE.height)


def test_what_cannot_be_written_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(AddnormError, match="cannot be written"):
        encode(tmp_path / "nowhere" / "clip", [(disc(40), 1)])
    with pytest.raises(ValueError, match="shape"):
        encode(tmp_path / "clip", [(disc(40)[1:], 1)])
    with pytest.raises(ValueError, match="without a picture"):
        encode(tmp_path / "clip", [])
    assert not [*tmp_path.iterdir()]
