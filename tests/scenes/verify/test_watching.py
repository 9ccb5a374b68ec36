"""Watching a video, on two made-up states: a bar and a number that move into place, and rest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.verify.blocks import BLOCK, Blocks, blocks_covering, box_around, halved
from addnorm.scenes.verify.judging import FAINTEST, Gallery, Staging, Verdict, Wrong
from addnorm.scenes.verify.passage import Picture, Plane
from addnorm.scenes.verify.raster import Pose, Sheet, ink
from addnorm.scenes.verify.reading import Spot
from addnorm.scenes.verify.reel import Reel
from addnorm.scenes.verify.watching import Stretch, Watched, state_at_end, watch
from addnorm.scenes.video import Frame, Size, encode_clip

WIDTH, HEIGHT = 320, 180
GROUND, INK = 31.0, 219.0
AT = Pose(24, 24, 200, 90)


def blank(bars: int) -> Plane:
    """A picture with so many bars beside one another."""
    plane = np.full((HEIGHT, WIDTH), GROUND, dtype=np.float32)
    for n in range(bars):
        plane[40:150, 20 + 24 * n : 30 + 24 * n] = INK
    return plane


def with_number(plane: Plane, text: str, at: Pose = AT) -> Plane:
    return plane + Sheet(0, 0, WIDTH, HEIGHT).coverage(text, at) * (np.float32(INK) - plane)


def level(plane: Plane) -> Picture:
    return np.round(plane).astype(np.uint8)


def grey(brightness: Picture) -> Frame:
    return Frame(brightness, np.full((2, HEIGHT // 2, WIDTH // 2), 128, dtype=np.uint8))


def staging(state: str, bars: int, text: str) -> Staging:
    """The bars appear one after the other, two frames each; on the last two of them the number is there, too."""
    (left, bottom), (right, top) = ink(text)
    box = (AT.x + left * AT.em_x, AT.y - top * AT.em_y, (right - left) * AT.em_x, (top - bottom) * AT.em_y)
    still = with_number(blank(bars), text)
    pictures = (*(level(blank(n)) for n in range(1, bars)), level(still))
    motion = Reel(frame for frame in [halved(grey(picture)) for picture in pictures] for _ in range(2))
    end = halved(grey(level(still)))
    return Staging(state, len(motion) + 8, 10, motion, end, still, blank(bars), (Spot("r[0]", text, box, INK),))


FIRST, SECOND = staging("one", 4, "0.592455"), staging("two", 6, "−1.435")
BOTH = (FIRST, SECOND)
GALLERY = Gallery(lambda: {state.state: state.still for state in BOTH})
HOLD = len(FIRST.motion)  # the first frame of the first hold
END = FIRST.frames


def frames(*stagings: Staging) -> list[Picture]:
    """The pictures of states, frame by frame."""
    shown: list[Picture] = []
    for state in stagings:
        bars = len(state.motion) // 2
        shown += [level(blank(n)) for n in range(1, bars) for _ in range(2)]
        shown += [level(state.still)] * (state.frames - 2 * (bars - 1))
    return shown


@pytest.fixture
def video(tmp_path: Path) -> Callable[[list[Picture]], Path]:
    """A call that encodes brightness as a clip."""

    def encode(pictures: list[Picture]) -> Path:
        path = tmp_path / "video.mp4"
        with encode_clip(path, Size(WIDTH, HEIGHT, 10), comment="") as clip:
            for picture in pictures:
                level = np.clip((picture.astype(np.float32) - 16) * 255 / 219, 0, 255).round().astype(np.uint8)
                clip.write(np.dstack([level, level, level, np.full_like(level, 255)]))
        return path

    return encode


Video = Callable[[list[Picture]], Path]


def test_a_video_that_shows_what_was_staged(video: Video) -> None:
    watched = watch(video(frames(*BOTH)), BOTH, GALLERY)
    assert watched.stretches == []
    assert watched.frames == sum(state.frames for state in BOTH)
    assert watched.readings == 2 * 10  # on the last two frames of each motion, and on eight at rest


def test_a_wrong_digit_on_some_frames_of_a_hold(video: Video) -> None:
    shown = frames(*BOTH)
    shown[HOLD + 2 : HOLD + 5] = [level(with_number(blank(4), "0.592454"))] * 3
    [stretch] = watch(video(shown), BOTH, GALLERY).stretches
    assert (stretch.first, stretch.last) == (HOLD + 2, HOLD + 4)
    assert (stretch.wrong.state, stretch.wrong.ref) == ("one", "r[0]")
    assert (stretch.wrong.expected, stretch.wrong.found) == ("0.592455", "0.592454")


def test_a_number_is_read_in_motion_where_it_stands_already(video: Video) -> None:
    shown = frames(*BOTH)
    shown[HOLD - 1] = level(with_number(blank(4), "0.592454"))
    [stretch] = watch(video(shown), BOTH, GALLERY).stretches
    assert (stretch.first, stretch.last, stretch.wrong.found) == (HOLD - 1, HOLD - 1, "0.592454")


def test_the_same_wrong_twice_is_told_twice(video: Video) -> None:
    shown = frames(*BOTH)
    for n in (HOLD, HOLD + 3):
        shown[n] = level(with_number(blank(4), "0.592454"))
    assert [(s.first, s.last) for s in watch(video(shown), BOTH, GALLERY).stretches] == [
        (HOLD, HOLD),
        (HOLD + 3, HOLD + 3),
    ]


def test_something_where_nothing_should_be(video: Video) -> None:
    shown = frames(*BOTH)
    shown[HOLD + 1] = shown[HOLD + 1].copy()
    shown[HOLD + 1][100:104, 250:290] = 200
    [stretch] = watch(video(shown), BOTH, GALLERY).stretches
    assert (stretch.first, stretch.wrong.ref, stretch.wrong.found) == (HOLD + 1, "", "")
    left, top, width, height = stretch.wrong.box
    assert (left <= 250, left + width >= 290, top <= 100, top + height >= 104) == (True,) * 4


def test_states_that_have_changed_places(video: Video) -> None:
    shown = frames(*BOTH)
    swapped = [*shown[END:], *shown[:END]]
    stretches = watch(video(swapped), BOTH, GALLERY).stretches
    assert ("one", "two") in {(stretch.wrong.state, stretch.wrong.found) for stretch in stretches}
    assert ("two", "one") in {(stretch.wrong.state, stretch.wrong.found) for stretch in stretches}


@pytest.mark.parametrize("number", range(HOLD - 2))
def test_no_frame_of_a_motion_goes_unseen(video: Video, number: int) -> None:
    shown = frames(*BOTH)
    shown[number] = shown[number].copy()
    shown[number][100:112, 250:262] = INK
    [stretch] = watch(video(shown), BOTH, GALLERY).stretches
    assert (stretch.wrong.state, stretch.first, stretch.last) == ("one", number, number)


def test_another_picture_altogether_is_not_read(video: Video) -> None:
    shown = frames(*BOTH)
    noise = np.random.default_rng(1).integers(16, 235, (HEIGHT // 12, WIDTH // 10), dtype=np.uint8)
    shown[HOLD + 1] = np.kron(noise, np.ones((12, 10), dtype=np.uint8))
    watched = watch(video(shown), BOTH, GALLERY)
    assert [(stretch.wrong.ref, stretch.wrong.found) for stretch in watched.stretches] == [("", "")]
    assert watched.readings == 2 * 10 - 1


def test_a_video_that_ends_early_is_no_pass(video: Video) -> None:
    for length in (len(frames(*BOTH)) - 1, END + 1, END, 1):
        with pytest.raises(AddnormError, match="cannot be decoded to its end"):
            watch(video(frames(*BOTH)[:length]), BOTH, GALLERY)


def test_the_state_at_the_end(video: Video) -> None:
    shown = frames(*BOTH)
    assert state_at_end(video(shown), WIDTH, HEIGHT, GALLERY) == "two"
    assert state_at_end(video(shown[:END]), WIDTH, HEIGHT, GALLERY) == "one"
    assert state_at_end(video(shown[:1]), WIDTH, HEIGHT, GALLERY) is None


# --- the log


def test_what_goes_on_is_one_stretch_and_what_comes_back_another() -> None:
    one, two = (Wrong("s", found, (0, 0, 0, 0)) for found in ("1", "2"))
    watched = Watched()
    for wrong in ((), (one,), (one,), (one, two), (two,), (), (two,)):
        watched.note(Verdict(wrong, 5))
    assert watched.stretches == [Stretch(one, 1, 3), Stretch(two, 3, 4), Stretch(two, 6, 6)]
    assert (watched.frames, watched.readings) == (7, 35)


# --- packed pictures


def test_a_reel_gives_its_pictures_back() -> None:
    random = np.random.default_rng(3)
    first, second = (
        Frame(*(random.integers(0, 255, shape, dtype=np.uint8) for shape in ((45, 81), (2, 22, 40)))) for _ in range(2)
    )
    reel = Reel([first, first, second])
    given = list(reel)
    assert len(reel) == len(given) == 3
    assert given[0] is given[1]
    for picture, kept in zip((first, first, second), given, strict=True):
        assert all(map(np.array_equal, picture, kept))


# --- blocks


@pytest.mark.parametrize("shape", [(120, 120), (121, 131), (180, 320)])
def test_blocks_of_a_picture_that_is_the_same(shape: tuple[int, int]) -> None:
    plane = np.random.default_rng(2).uniform(16, 235, shape).astype(np.float32)
    assert not (Blocks(plane, BLOCK, FAINTEST).differences(level(plane)) > 0.01).any()


def test_a_block_differs_by_the_share_of_what_it_shows() -> None:
    expected = np.full((60, 60), 100, dtype=np.float32)
    expected[12:24, 24:36:2] = 180  # a contrast of 40 levels
    seen = level(expected)
    seen[12:24, 24:36] = 140  # gone
    differing = Blocks(expected, BLOCK, FAINTEST).differences(seen) > 0.5
    assert [tuple(block) for block in np.argwhere(differing)] == [(1, 2)]
    assert box_around(differing) == (24, 12, 12, 12)
    share = 40**2 / (40**2 + FAINTEST**2)
    assert Blocks(expected, BLOCK, FAINTEST).differences(seen).max() == pytest.approx(share, rel=1e-4)


def test_a_faint_difference_is_none_and_a_clear_one_in_an_empty_block_is() -> None:
    expected = np.full((60, 60), 100, dtype=np.float32)
    for added, differs in ((FAINTEST / 2, False), (FAINTEST, True)):
        differences = Blocks(expected, BLOCK, FAINTEST).differences(level(expected + np.float32(added)))
        assert (differences > 0.5).all() == differs


def test_the_edge_belongs_to_the_last_blocks() -> None:
    expected = np.full((65, 71), 100, dtype=np.float32)
    seen = level(expected)
    seen[60:, 60:] = 200
    differing = Blocks(expected, BLOCK, FAINTEST).differences(seen) > 0.5
    assert differing.shape == (65 // BLOCK, 71 // BLOCK)
    assert differing[-1, -1]
    assert differing.sum() == 1


def test_busy_blocks_are_those_that_show_something() -> None:
    assert Blocks(blank(0), BLOCK, FAINTEST).busy == 0
    one, four = (Blocks(blank(bars), BLOCK, FAINTEST).busy for bars in (1, 4))
    assert 0 < one < four < 0.5 * (HEIGHT // BLOCK) * (WIDTH // BLOCK)


def test_colours_are_compared_together() -> None:
    expected = np.full((2, 30, 30), 128, dtype=np.float32)
    expected[:, 6:9, 6:9] = [[[160]], [[100]]]
    swapped = expected[::-1]
    assert np.argwhere(Blocks(expected, 3, 8.0).differences(swapped) > 2).tolist() == [[2, 2]]
    assert Blocks(expected, 3, 8.0).differences(expected).max() == 0


def test_half_a_picture_is_its_average() -> None:
    frame = Frame(np.arange(24, dtype=np.uint8).reshape(4, 6), np.full((2, 2, 3), 7, dtype=np.uint8))
    half = halved(frame)
    assert half.brightness.tolist() == [[4, 6, 8], [16, 18, 20]]  # of 3.5, 5.5 …
    assert half.colour.tolist() == [[[7]]] * 2


def test_a_part_of_a_picture_lies_in_blocks() -> None:
    assert blocks_covering((slice(11, 13), slice(24, 36))) == (slice(0, 2), slice(2, 3))
