"""GIFs as Pillow reads them: in time, flat where the film is flat, of a sensible size."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from addnorm.mathcore.example import Example
from addnorm.scenes.exporters import FORMATS, export
from addnorm.scenes.exporters.gif import LINES, write_gif
from addnorm.scenes.exporters.outputs import Clip, Output, Rendered, read_outputs
from addnorm.scenes.theme import load_theme
from addnorm.scenes.video import Size, decode_frames, encode_clip
from tests.scenes.exporters.conftest import GROUNDS, SIZE, STATES, Fake, block_of

GIF = FORMATS["gif"]
Pixels = NDArray[np.uint8]


class Animation(NamedTuple):
    """What a GIF holds: its pictures, how many hundredths of a second each lasts, and how often it is played."""

    pictures: list[Pixels]
    delays: list[int]
    repeats: int | None


def read(path: Path) -> Animation:
    with Image.open(path) as image:
        pictures, delays = [], []
        for number in range(getattr(image, "n_frames", 1)):
            image.seek(number)
            pictures.append(np.asarray(image.convert("RGB")))
            delays.append(round(image.info["duration"] / 10))
        return Animation(pictures, delays, image.info.get("loop"))


def moving(folder: Path, rendered: Rendered, rate: int, frames: int) -> Clip:
    """A clip on whose n-th frame a bright block is n pixels from the left."""
    size = Size(160, 90, rate)
    video = folder / "moving.mp4"
    with encode_clip(video, size, comment="") as clip:
        for number in range(frames):
            pixels = np.full((90, 160, 4), 255, dtype=np.uint8)
            pixels[..., :3] = GROUNDS["dark"]
            pixels[40:60, number : number + 20] = 255
            clip.write(pixels)
    [of_state] = [clip for clip in rendered.outputs[0].clips if clip.name == "b4"]
    return replace(of_state, video=video, size=size, frames=frames)


@pytest.mark.parametrize(
    ("rate", "every", "lasting"),
    [(15, 1, {6, 7}), (20, 1, {5}), (25, 1, {4}), (30, 2, {6, 7}), (60, 3, {5})],
)
@pytest.mark.parametrize("frames", [46, 47])
def test_each_picture_comes_in_time(
    rendered: Rendered, tmp_path: Path, rate: int, every: int, lasting: set[int], frames: int
) -> None:
    clip = moving(tmp_path, rendered, rate, frames)
    write_gif(clip, tmp_path / "moving.gif", "dark")
    pictures, delays, _ = read(tmp_path / "moving.gif")
    assert {*delays[:-1]} <= lasting
    assert abs(sum(delays) - 100 * clip.seconds) <= 0.5
    start = 0
    for number, (picture, delay) in enumerate(zip(pictures, delays, strict=True)):
        left = int(np.flatnonzero(picture[50].min(axis=1) > 150)[0])
        assert abs(left - number * every) <= 1  # each shows the frame that it stands for …
        assert abs(start - 100 * number * every / rate) <= 0.5  # … when the clip does
        start += delay
    assert len(pictures) == -(-frames // every)


@pytest.fixture(scope="module")
def once(rendered: Rendered, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(GIF, [replace(rendered, outputs=rendered.outputs[:2])], tmp_path_factory.mktemp("gif") / "gifs")


def clips(folder: Path, output: Output) -> list[tuple[Clip, Path]]:
    return [(clip, folder / "r44" / output.folder.name / f"{clip.name}.gif") for clip in output.clips]


def test_every_clip_has_one(once: Path) -> None:
    due = {f"r44/zh-{theme}/{state}.gif" for theme in ("dark", "light") for state in STATES}
    assert {str(path.relative_to(once)) for path in once.rglob("*.gif")} == due


def test_it_plays_as_the_clip_does_and_stops_on_its_picture(once: Path, rendered: Rendered) -> None:
    for number, (clip, path) in enumerate(clips(once, rendered.outputs[0])):
        pictures, delays, repeats = read(path)
        assert (block_of(pictures[0]), block_of(pictures[-1])) == (number - 1 if number else None, number)
        assert sum(delays) == 100 * clip.frames // SIZE.frame_rate
        assert repeats is None
        assert b"NETSCAPE2.0" not in path.read_bytes()


def test_asked_to_it_loops_for_ever(rendered: Rendered, tmp_path: Path) -> None:
    clip = rendered.outputs[0].clips[0]
    write_gif(clip, tmp_path / "b4.gif", "dark", loop=True)
    assert read(tmp_path / "b4.gif").repeats == 0


def grounds(picture: Pixels) -> set[tuple[int, ...]]:
    """The colours in the lower third of a stand-in's picture, which is flat."""
    return {tuple(color) for color in picture[120:].reshape(-1, 3).tolist()}


@pytest.mark.parametrize("theme", [0, 1])
def test_what_is_flat_has_one_colour_and_keeps_it(once: Path, rendered: Rendered, theme: int) -> None:
    output = rendered.outputs[theme]
    for _, path in clips(once, output):
        found = set().union(*map(grounds, read(path).pictures))
        assert len(found) == 1
        assert np.abs(np.array(next(iter(found))) - GROUNDS[output.theme]).max() <= 4


def test_a_ground_in_bands_would_be_seen(rendered: Rendered) -> None:
    banded = next(decode_frames(rendered.outputs[0].clips[0].video)).copy()
    banded[150:] += 1
    assert len(grounds(banded)) > 1


def test_the_colours_of_the_theme_are_exact(rendered: Rendered, tmp_path: Path) -> None:
    theme = load_theme("dark")
    bars = [tuple(int(color[n : n + 2], 16) for n in (1, 3, 5)) for color in theme.colors.values()]
    pixels = np.full((90, 160, 4), 255, dtype=np.uint8)
    for number, color in enumerate(bars):
        pixels[:, number * 14 : (number + 1) * 14, :3] = color
    clip = moving(tmp_path, rendered, 15, 1)
    with encode_clip(clip.video, clip.size, comment="") as video:
        video.write(pixels, repeat=3)
    write_gif(replace(clip, frames=3), tmp_path / "bars.gif", "dark")
    [first, *_] = read(tmp_path / "bars.gif").pictures
    assert [tuple(first[45, number * 14 + 7].tolist()) for number in range(len(bars))] == bars


@pytest.mark.parametrize(("height", "lines"), [(1080, 540), (720, 720), (180, 180)])
def test_it_is_no_larger_than_a_page_or_a_slide_needs(fake: Fake, r44: Example, height: int, lines: int) -> None:
    folder = fake.folder(r44, size=Size(height * 16 // 9, height, 15), states=("b4",))
    made = export(GIF, read_outputs([folder]), fake.out / "gifs")
    [picture, *_] = read(made / "r44" / folder.name / "b4.gif").pictures
    assert picture.shape == (lines, lines * 16 // 9, 3)
    assert lines >= min(height, LINES)


def test_the_same_clip_gives_the_same_bytes(once: Path, rendered: Rendered, tmp_path: Path) -> None:
    for clip, path in clips(once, rendered.outputs[0])[:2]:
        write_gif(clip, tmp_path / path.name, "dark")
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()
