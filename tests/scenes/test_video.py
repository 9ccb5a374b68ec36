from __future__ import annotations

import hashlib
import os
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes import video
from addnorm.scenes.captions import Cue
from addnorm.scenes.paths import asset
from addnorm.scenes.tiles import no_tiles, pixels
from addnorm.scenes.video import (
    ClipEncoder,
    Size,
    decode_frames,
    encode_clip,
    frame_count,
    join,
    parse_size,
    read_metadata,
)

Picture = NDArray[np.uint8]

SMALL = Size(160, 90, 15)
RATES = [15, 20, 25, 30, 60]
# The ground, the palette's kind of colours, and the corners of the cube, where a wrong matrix shows most.
COLOURS = [
    (14, 17, 22), (88, 166, 255), (255, 166, 87), (126, 231, 135), (255, 123, 195), (242, 204, 96),
    (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0), (128, 128, 128),
]  # fmt: skip


def flat(colour: Sequence[int], size: Size = SMALL) -> Picture:
    return np.full((size.height, size.width, 4), (*colour, 255), dtype=np.uint8)


def patches() -> Picture:
    """The colours in four columns and three rows of 40 × 30 pixels."""
    picture = flat((0, 0, 0))
    for n, colour in enumerate(COLOURS):
        row, column = divmod(n, 4)
        picture[30 * row : 30 * row + 30, 40 * column : 40 * column + 40, :3] = colour
    return picture


def middle(picture: NDArray[Any], n: int) -> NDArray[Any]:
    row, column = divmod(n, 4)
    return picture[30 * row + 8 : 30 * row + 22, 40 * column + 8 : 40 * column + 32]


def encode(
    path: Path, pictures: Sequence[tuple[Picture, int]], size: Size = SMALL, comment: str = ""
) -> Path:
    with encode_clip(path, size, comment=comment) as clip:
        for picture, repeat in pictures:
            clip.write(picture, repeat)
    return path


def planes(path: Path) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Y, U and V of the first frame as they are in the file, the colour planes at full size."""
    with av.open(str(path), format="mp4") as container:
        frame = next(container.decode(video=0))
    y, u, v = (
        np.frombuffer(bytes(plane), np.uint8)
        .reshape(plane.height, plane.line_size)[:, : plane.width]
        .astype(float)
        for plane in frame.planes
    )
    return y, u.repeat(2, 0).repeat(2, 1), v.repeat(2, 0).repeat(2, 1)


def rgb_from(path: Path, red: float, blue: float) -> NDArray[np.float64]:
    """The first frame by the definition of the standard whose luma weights of red and blue these are."""
    y, u, v = planes(path)
    luma, from_blue, from_red = (
        (y - 16) / 219,
        2 * (1 - blue) * (u - 128) / 224,
        2 * (1 - red) * (v - 128) / 224,
    )
    r, b = luma + from_red, luma + from_blue
    return 255 * np.stack([r, (luma - red * r - blue * b) / (1 - red - blue), b], axis=-1)


def boxes(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Kind and content of the boxes of an mp4."""
    at = 0
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        assert size >= 8
        yield kind.decode("latin-1"), data[at + 8 : at + size]
        at += size


def packets(path: Path) -> list[tuple[int, int, int, bool, bytes]]:
    with av.open(str(path), format="mp4") as container:
        tick = 1 / Fraction(container.streams.video[0].average_rate or 0)
        unit = container.streams.video[0].time_base
        assert unit is not None
        return [
            (
                int(p.pts * unit / tick),
                int(p.dts * unit / tick),
                int(p.duration * unit / tick),
                p.is_keyframe,
                bytes(p),
            )
            for p in container.demux(video=0)
            if p.size and p.pts is not None and p.dts is not None and p.duration is not None
        ]


# --- sizes


def test_a_size_is_named_by_height_and_rate() -> None:
    widths = {480: 854, 720: 1280, 1080: 1920, 1440: 2560, 2160: 3840}
    for height, width in widths.items():
        for rate in RATES:
            name = f"{height}p{rate}"
            assert parse_size(name) == Size(width, height, rate)
            assert str(parse_size(name)) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1080p",
        "1080",
        "p60",
        "1080p24",
        "1081p60",
        "1080P60",
        "1080p60 ",
        "１０８０p60",
        "1080p060",
        "a\nb",
    ],
)
def test_any_other_size_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(AddnormError) as refused:
        parse_size(text)
    assert len(str(refused.value).splitlines()) == 1
    assert "480, 720, 1080, 1440, 2160" in str(refused.value)
    assert "15, 20, 25, 30, 60" in str(refused.value)


@pytest.mark.parametrize("numbers", [(161, 90, 15), (160, 91, 15), (0, 90, 15), (160, 90, 0), (-160, 90, 15)])
def test_a_size_the_encoder_cannot_take_is_refused(numbers: tuple[int, int, int]) -> None:
    with pytest.raises(AddnormError, match="must be even"):
        Size(*numbers)


@pytest.mark.parametrize("rate", RATES)
def test_fifths_of_a_second_are_whole_frames(rate: int) -> None:
    size = Size(160, 90, rate)
    assert [size.frames(n / 5) for n in range(500)] == [n * rate // 5 for n in range(500)]
    assert size.frames(Fraction(1, rate)) == 1


def test_part_of_a_frame_is_refused() -> None:
    assert Size(160, 90, 60).frames(0.1) == 6
    with pytest.raises(
        AddnormError, match=r"0\.1 s is not a whole number of frames at 15 .* multiple of 0\.2 s"
    ):
        SMALL.frames(0.1)


# --- clips


@pytest.mark.parametrize("rate", RATES)
def test_frames_and_times_are_those_written(tmp_path: Path, rate: int) -> None:
    size = Size(160, 90, rate)
    with encode_clip(tmp_path / "clip", size, comment="") as clip:
        clip.write(flat(COLOURS[1]), size.frames(0.4))
        clip.write(flat(COLOURS[2]))
        clip.write(flat(COLOURS[3]), size.frames(1.2) - 1)
    assert clip.frames == frame_count(tmp_path / "clip") == size.frames(1.6)
    read = packets(tmp_path / "clip")
    assert [packet[:3] for packet in read] == [(n, n, 1) for n in range(size.frames(1.6))]
    assert read[0][3]
    colours = [frame[45, 80] for frame in decode_frames(tmp_path / "clip")]
    expected = [COLOURS[1]] * size.frames(0.4) + [COLOURS[2]] + [COLOURS[3]] * (size.frames(1.2) - 1)
    assert len(colours) == len(expected)
    assert np.abs(np.array(colours, int) - expected).max() <= 2


def test_a_clip_of_one_frame(tmp_path: Path) -> None:
    encode(tmp_path / "clip", [(flat(COLOURS[1]), 1)])
    assert [packet[:4] for packet in packets(tmp_path / "clip")] == [(0, 0, 1, True)]


def test_colours_come_back(tmp_path: Path) -> None:
    [frame] = decode_frames(encode(tmp_path / "clip", [(patches(), 1)]))
    assert frame.shape == (90, 160, 3)
    for n, colour in enumerate(COLOURS):
        assert np.abs(middle(frame, n).astype(int) - colour).max() <= 2, colour


def test_colours_are_bt709_in_the_file_and_not_bt601(tmp_path: Path) -> None:
    encode(tmp_path / "clip", [(patches(), 1)])
    bt709, bt601 = (rgb_from(tmp_path / "clip", *weights) for weights in ((0.2126, 0.0722), (0.299, 0.114)))
    for n, colour in enumerate(COLOURS):
        assert np.abs(middle(bt709, n) - colour).max() <= 2, colour
        if max(colour) - min(colour) > 60:
            assert np.abs(middle(bt601, n) - colour).max() > 4, colour


def test_colours_are_tagged(tmp_path: Path) -> None:
    encode(tmp_path / "clip", [(patches(), 1)])
    with av.open(str(tmp_path / "clip"), format="mp4") as container:
        context = container.streams.video[0].codec_context
        tags = context.color_range, context.color_primaries, context.color_trc, context.colorspace
        assert tags == (1, 1, 1, 1)  # limited range; BT.709 three times
        assert context.pix_fmt == "yuv420p"
    assert b"colrnclx\x00\x01\x00\x01\x00\x01\x00" in (tmp_path / "clip").read_bytes()  # in the container too


def test_the_first_row_is_the_top_and_alpha_does_not_matter(tmp_path: Path) -> None:
    picture = flat((0, 0, 0))
    picture[:20, :40] = (255, 0, 0, 0)
    [frame] = decode_frames(encode(tmp_path / "clip", [(picture, 1)]))
    assert np.abs(frame[5, 5].astype(int) - (255, 0, 0)).max() <= 2
    assert frame[-5:, :].max() <= 2


def test_a_view_that_is_not_contiguous_is_taken_as_it_looks(tmp_path: Path) -> None:
    [frame] = decode_frames(encode(tmp_path / "clip", [(patches()[::-1], 1)]))
    assert np.abs(middle(frame[::-1], 1).astype(int) - COLOURS[1]).max() <= 2


def test_the_index_is_in_front_and_nothing_of_the_moment_is_inside(tmp_path: Path) -> None:
    data = encode(tmp_path / "clip", [(flat(COLOURS[0]), 3)]).read_bytes()
    assert [kind for kind, _ in boxes(data) if kind != "free"] == ["ftyp", "moov", "mdat"]
    moov = dict(boxes(dict(boxes(data))["moov"]))
    assert moov["mvhd"][4:12] == bytes(8)  # neither creation nor modification time
    assert b"Lavf" not in data


@pytest.mark.parametrize("comment", ["", '例 {"id": "r44"} — ×', "x" * 40_000])
def test_the_comment_survives(tmp_path: Path, comment: str) -> None:
    encode(tmp_path / "clip", [(flat(COLOURS[0]), 1)], comment=comment)
    assert read_metadata(tmp_path / "clip").get("comment", "") == comment


CHILD = """
import hashlib, sys
from pathlib import Path
import numpy as np
from addnorm.scenes.video import Size, encode_clip
assert "av" not in sys.modules and "manim" not in sys.modules
with encode_clip(Path(sys.argv[1]), Size(160, 90, 15), comment="例") as clip:
    for n in range(12):
        picture = np.zeros((90, 160, 4), np.uint8)
        picture[30:60, 5 * n : 5 * n + 30] = (242, 204, 96, 255)
        clip.write(picture, 1 + n // 11 * 30)
print(hashlib.sha256(Path(sys.argv[1]).read_bytes()).hexdigest())
"""


def test_the_bytes_depend_on_nothing_but_the_pictures(tmp_path: Path) -> None:
    digests = set()
    for n, surroundings in enumerate(
        [
            {"LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "1"},
            {"LC_ALL": "zh_CN.UTF-8", "TZ": "Asia/Shanghai", "PYTHONHASHSEED": "2", "SOURCE_DATE_EPOCH": "1"},
        ]
    ):
        output = subprocess.run(
            [sys.executable, "-c", CHILD, tmp_path / f"clip {n}"],
            env=os.environ | surroundings,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        digests.add(output)
    assert len(digests) == 1
    assert len(digests.pop().strip()) == 64


def ssim(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Mean structural similarity of two planes over 8 × 8 windows, four pixels apart (Wang et al. 2004)."""
    a, b = (np.lib.stride_tricks.sliding_window_view(plane, (8, 8))[::4, ::4] for plane in (a, b))
    mean_a, mean_b = a.mean((2, 3)), b.mean((2, 3))
    var_a, var_b = a.var((2, 3)), b.var((2, 3))
    covariance = (a * b).mean((2, 3)) - mean_a * mean_b
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    return float(
        np.mean(
            ((2 * mean_a * mean_b + c1) * (2 * covariance + c2))
            / ((mean_a**2 + mean_b**2 + c1) * (var_a + var_b + c2))
        )
    )


def film_like(n: int) -> Picture:
    """A dark ground with text and a line that stay, a label that moves and fades in, and a bar that grows."""
    image = Image.new("RGBA", (640, 360), (14, 17, 22, 255))
    draw = ImageDraw.Draw(image, "RGBA")
    font = ImageFont.truetype(str(asset("fonts", "NotoSansSC-Regular.ttf")), 20)
    draw.text((30, 20), "均值和方差只在这一行的特征上计算", font=font, fill=(230, 237, 243, 255))
    draw.text((30, 60), "r₁  2  1.599  0.802  −0.006", font=font, fill=(126, 231, 135, 255))
    draw.line((60, 250, 600, 250), fill=(139, 148, 158, 255), width=1)
    overlay = Image.new("RGBA", image.size)
    ImageDraw.Draw(overlay).text((90 + 7 * n, 160 - 3 * n), "−0.385", font=font, fill=(242, 204, 96, 25 * n))
    image.alpha_composite(overlay)
    draw.rectangle((300, 250 - 9 * n, 360, 250), fill=(242, 204, 96, 255))
    return np.asarray(image)


def worst_ssim(path: Path) -> float:
    """The least similarity in luma between what was decoded and an exact conversion of what was drawn."""
    weights = np.array([0.2126, 0.7152, 0.0722])
    exact = [film_like(min(n, 10))[..., :3] @ weights for n in range(20)]
    decoded = [frame @ weights for frame in decode_frames(path)]
    return min(ssim(a, b) for a, b in zip(exact, decoded, strict=True))


def test_pictures_like_ours_lose_next_to_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = Size(640, 360, 15)
    pictures = [(film_like(n), 10 if n == 10 else 1) for n in range(11)]
    assert worst_ssim(encode(tmp_path / "clip", pictures, size)) >= 0.999
    monkeypatch.setitem(video._ENCODER, "qp", "35")
    assert worst_ssim(encode(tmp_path / "worse", pictures, size)) < 0.999


# --- what goes wrong


@pytest.mark.parametrize("name", ["it's here", "br{ace}", "-dash", "中文", "🙂", "a:b", "http:x", "%03d"])
def test_a_path_of_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert frame_count(encode(Path(name), [(flat(COLOURS[0]), 2)])) == 2
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_interrupted_clip_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    def render() -> None:
        with encode_clip(tmp_path / "clip", SMALL, comment="") as clip:
            clip.write(flat(COLOURS[0]), 20)
            assert (tmp_path / "clip").exists()
            raise error

    with pytest.raises(error):
        render()
    assert list(tmp_path.iterdir()) == []


def test_a_clip_without_a_picture_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="without a picture"):
        encode(tmp_path / "clip", [])
    assert list(tmp_path.iterdir()) == []


def test_a_picture_of_another_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\(90, 160, 3\)"):
        encode(tmp_path / "clip", [(flat(COLOURS[0])[..., :3], 1)])
    with pytest.raises(ValueError, match=r"\(92, 160, 4\)"):
        encode(tmp_path / "clip", [(flat(COLOURS[0], Size(160, 92, 15)), 1)])


FULL = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.video import Size, encode_clip
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
noise = np.random.default_rng(1).integers(0, 255, (90, 160, 4), dtype=np.uint8)
try:
    with encode_clip(Path(sys.argv[1]), Size(160, 90, 15), comment="") as clip:
        clip.write(noise, 15)
except AddnormError as error:
    print(error)
"""


@pytest.mark.parametrize("limit", [100, 10_000])
def test_no_room_is_one_line_and_leaves_nothing(tmp_path: Path, limit: int) -> None:
    run = [sys.executable, "-c", FULL, str(tmp_path / "clip"), str(limit)]
    said = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    assert said.startswith(f"{tmp_path / 'clip'}: cannot be written: File too large; ")
    assert len(said.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AddnormError, match=r"clip: cannot be written: No such file or directory; "):
        encode(tmp_path / "none" / "clip", [(flat(COLOURS[0]), 1)])


def test_what_is_no_whole_mp4_is_refused_in_one_line(tmp_path: Path) -> None:
    whole = encode(tmp_path / "whole", [(film_like(n), 1) for n in range(9)], Size(640, 360, 15)).read_bytes()
    damaged = {
        "missing": None,
        "empty": b"",
        "text": b"film\n",
        "playlist": b"#EXTM3U\n#EXTINF:1,\nwhole\n#EXT-X-ENDLIST\n",
        "head": whole[:200],
        "half an index": whole[: whole.index(b"stsz")],
    }
    for name, content in damaged.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
        for read in (frame_count, read_metadata, lambda path: list(decode_frames(path))):
            with pytest.raises(AddnormError) as refused:
                read(tmp_path / name)
            assert str(refused.value).startswith(f"{tmp_path / name}: ")
            assert len(str(refused.value).splitlines()) == 1
    (tmp_path / "cut").write_bytes(whole[: len(whole) * 2 // 3])
    assert frame_count(tmp_path / "cut") < 9


# --- films


def three_clips(folder: Path, rate: int = 15) -> list[Path]:
    size = Size(160, 90, rate)
    return [
        encode(folder / "b4", [(flat(COLOURS[1]), 2), (patches(), 7)], size),
        encode(folder / "b5", [(flat(COLOURS[2]), 1)], size),
        encode(folder / "b0", [(patches()[::-1], 6), (flat(COLOURS[3]), 300)], size),
    ]


CUES = [
    Cue(Fraction(1, 15), Fraction(9, 15), "同一个 token：保留 x，学习修正 Δ"),
    Cue(Fraction(9, 15), Fraction(10, 15), "x<y & <pad> {\\an8}\nzweite Zeile"),
    Cue(Fraction(20, 15), Fraction(300, 15), "最后一句"),
]
CHAPTERS = ["b4 同一个 token", "b5", "b0 <x> & y"]


@pytest.fixture
def film(tmp_path: Path) -> Path:
    (tmp_path / "clips").mkdir()
    return joined(tmp_path / "film", three_clips(tmp_path / "clips"))


def joined(target: Path, clips: Sequence[Path], cues: Sequence[Cue] = CUES) -> Path:
    join(clips, target, chapters=CHAPTERS, subtitles=cues, language="zho", title="残差与归一化", comment="例")
    return target


def test_a_film_is_its_clips_packet_for_packet(film: Path) -> None:
    clips = [packets(film.parent / "clips" / name) for name in ("b4", "b5", "b0")]
    assert [packet[4] for packet in packets(film)] == [packet[4] for clip in clips for packet in clip]
    assert [packet[:3] for packet in packets(film)] == [(n, n, 1) for n in range(316)]
    assert [n for n, packet in enumerate(packets(film)) if packet[3]] == [0, 9, 10, 260]


@pytest.mark.parametrize("rate", [25, 60])
def test_a_film_decodes_to_the_frames_of_its_clips(tmp_path: Path, rate: int) -> None:
    clips = three_clips(tmp_path, rate)
    frames = [frame for clip in clips for frame in decode_frames(clip)]
    read = list(decode_frames(joined(tmp_path / "film", clips, [])))
    assert len(read) == len(frames) == frame_count(tmp_path / "film") == 316
    assert all(np.array_equal(a, b) for a, b in zip(read, frames, strict=True))
    assert not np.array_equal(read[8], read[9])


def test_a_film_has_a_chapter_for_each_clip(film: Path) -> None:
    with av.open(str(film), format="mp4") as container:
        read = [
            (c["metadata"]["title"], *(c[edge] * Fraction(c["time_base"] or 0) for edge in ("start", "end")))
            for c in container.chapters()
        ]
    # Chapters are kept in thousandths; those of a real film begin at multiples of 0.2 s.
    edges = [Fraction(round(Fraction(n, 15) * 1000), 1000) for n in (0, 9, 10, 316)]
    assert read == list(zip(CHAPTERS, edges[:-1], edges[1:], strict=True))


def test_a_film_has_subtitles_that_are_off_until_asked_for(film: Path) -> None:
    with av.open(str(film), format="mp4") as container:
        [track] = container.streams.subtitles
        assert track.language == "zho"
        assert not track.disposition & av.stream.Disposition.default
        assert container.streams.video[0].disposition & av.stream.Disposition.default
        assert track.time_base is not None
        read = [
            (p.pts * track.time_base, (p.pts + p.duration) * track.time_base, bytes(p)[2:].decode())
            for p in container.demux(track)
            if p.size > 2 and p.pts is not None and p.duration is not None
        ]
    assert read == [tuple(cue) for cue in CUES]


def test_a_film_keeps_title_comment_tags_and_index_in_front(film: Path) -> None:
    assert read_metadata(film).items() >= {"title": "残差与归一化", "comment": "例"}.items()
    with av.open(str(film), format="mp4") as container:
        context = container.streams.video[0].codec_context
        assert (context.color_primaries, context.color_trc, context.colorspace) == (1, 1, 1)
    data = film.read_bytes()
    assert [kind for kind, _ in boxes(data) if kind != "free"] == ["ftyp", "moov", "mdat"]
    assert b"Lavf" not in data


def test_joining_twice_gives_the_same_bytes(film: Path) -> None:
    again = joined(film.with_name("again"), [film.parent / "clips" / name for name in ("b4", "b5", "b0")])
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(film.read_bytes()).digest()


@pytest.mark.parametrize("size", [Size(160, 90, 30), Size(160, 92, 15)])
def test_clips_of_different_sizes_or_rates_are_refused(tmp_path: Path, size: Size) -> None:
    clips = [*three_clips(tmp_path)[:2], encode(tmp_path / "other", [(flat(COLOURS[0], size), 1)], size)]
    with pytest.raises(AddnormError, match="other: not encoded like"):
        joined(tmp_path / "film", clips)
    assert not (tmp_path / "film").exists()


def test_a_clip_that_is_missing_or_damaged_is_named_and_leaves_no_film(tmp_path: Path) -> None:
    clips = three_clips(tmp_path)
    clips[1].write_bytes(clips[1].read_bytes()[:100])
    with pytest.raises(AddnormError, match="b5: "):
        joined(tmp_path / "film", clips)
    assert not (tmp_path / "film").exists()


# --- what is not done twice


def noise(size: Size, seed: int) -> Picture:
    return np.random.default_rng(seed).integers(0, 256, (size.height, size.width, 4), dtype=np.uint8)


@pytest.mark.parametrize("size", [Size(854, 480, 15), Size(1290, 94, 15)], ids=str)
def test_only_what_has_changed_is_converted_and_the_film_is_the_same(tmp_path: Path, size: Size) -> None:
    first, other = noise(size, 0), noise(size, 1)
    pictures, changes = [first], [~no_tiles(size.height, size.width)]
    for row, column in np.ndindex(changes[0].shape):
        changes.append(no_tiles(size.height, size.width))
        changes[-1][row, column] = True
        pictures.append(pictures[-1].copy())
        [part] = pixels(changes[-1])
        pictures[-1][part] = other[part]
    assert np.array_equal(pictures[-1], other)
    whole = encode(tmp_path / "whole", [(picture, 1) for picture in pictures], size)
    with encode_clip(tmp_path / "parts", size, comment="") as clip:
        for picture, changed in zip(pictures, changes, strict=True):
            clip.write(picture, 1, changed)
    assert (tmp_path / "parts").read_bytes() == whole.read_bytes()


def test_a_hold_is_what_the_encoder_itself_makes_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = [(noise(SMALL, 0), 1), (patches(), 190)]
    repeated = encode(tmp_path / "repeated", pictures)
    encoded = 0

    def count(self: ClipEncoder) -> None:
        nonlocal encoded
        encoded += 1
        encode_once(self)

    encode_once = ClipEncoder._encode
    monkeypatch.setattr(ClipEncoder, "_encode", count)
    assert encode(tmp_path / "counted", pictures).read_bytes() == repeated.read_bytes()
    assert encoded < 30
    monkeypatch.setattr(video, "LONGEST_REPEAT", 0)
    assert encode(tmp_path / "encoded", pictures).read_bytes() == repeated.read_bytes()
    assert encoded > 190


def test_after_a_hold_the_film_goes_on(tmp_path: Path) -> None:
    pictures = [(patches(), 100), (flat(COLOURS[1]), 3), (patches()[::-1], 1), (flat(COLOURS[2]), 600)]
    clip = encode(tmp_path / "clip", pictures)
    shown = [picture for picture, repeat in pictures for _ in range(repeat)]
    for number, frame in enumerate(decode_frames(clip)):
        # Colour has half the rows and columns, so the patches' seams are left out.
        assert np.abs(frame.astype(int) - shown[number][..., :3])[8:22, 8:32].max() <= 6, number
    assert number == len(shown) - 1
    keys = [n for n, packet in enumerate(packets(clip)) if packet[3]]
    assert keys[:2] == [0, 100]
    assert max(np.diff([*keys, len(shown)])) <= video.KEY_INTERVAL
