"""Watching a video, on two made-up states: a bar and a number that move into place, and rest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.verify.passage import Picture, Plane
from addnorm.scenes.verify.raster import Pose, Sheet, ink
from addnorm.scenes.verify.reading import Spot
from addnorm.scenes.verify.watching import (
    BLOCK,
    FAINTEST,
    Blocks,
    Staging,
    Stretch,
    Verdict,
    Watched,
    Wrong,
    state_at_end,
    watch,
)
from addnorm.scenes.video import Size, encode_clip

WIDTH, HEIGHT = 320, 180
GROUND, INK = 31.0, 219.0
PACE = 2  # frames a beat
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


def staging(state: str, bars: int, text: str) -> Staging:
    """The bars appear one after the other; on the last beat of that the number is there, too."""
    (left, bottom), (right, top) = ink(text)
    box = (AT.x + left * AT.em_x, AT.y - top * AT.em_y, (right - left) * AT.em_x, (top - bottom) * AT.em_y)
    still = with_number(blank(bars), text)
    motion = (*(level(blank(n)) for n in range(1, bars)), level(still))
    return Staging(state, len(motion) + 4, motion, still, blank(bars), (Spot("r[0]", text, box, INK),))


FIRST, SECOND = staging("one", 4, "0.592455"), staging("two", 6, "−1.435")


def frames(*stagings: Staging) -> list[Picture]:
    """The pictures of states, frame by frame; between two beats of a motion there is something in between."""
    shown: list[Picture] = []
    for state in stagings:
        for picture in state.motion:
            shown += [picture, *[np.full_like(picture, 120)] * (PACE - 1)]
        shown += [level(state.still)] * (state.beats - len(state.motion)) * PACE
    return shown


@pytest.fixture
def video(tmp_path: Path) -> Callable[[list[Picture]], Path]:
    """A call that encodes brightness as a clip."""

    def encode(pictures: list[Picture]) -> Path:
        path = tmp_path / "video.mp4"
        with encode_clip(path, Size(WIDTH, HEIGHT, 5 * PACE), comment="") as clip:
            for picture in pictures:
                grey = np.clip((picture.astype(np.float32) - 16) * 255 / 219, 0, 255).round().astype(np.uint8)
                clip.write(np.dstack([grey, grey, grey, np.full_like(grey, 255)]))
        return path

    return encode


Video = Callable[[list[Picture]], Path]
BOTH = (FIRST, SECOND)
HOLD = len(FIRST.motion) * PACE  # the first frame of the first hold
END = FIRST.beats * PACE


def test_a_video_that_shows_what_was_staged(video: Video) -> None:
    watched = watch(video(frames(*BOTH)), BOTH, BOTH, PACE)
    assert watched.stretches == []
    assert watched.frames == sum(len(state.motion) + 4 * PACE for state in BOTH)
    assert watched.readings == sum(1 + 4 * PACE for state in BOTH)  # on the last beat of the motion, and at rest


def test_a_wrong_digit_on_some_frames_of_a_hold(video: Video) -> None:
    shown = frames(*BOTH)
    shown[HOLD + 2 : HOLD + 5] = [level(with_number(blank(4), "0.592454"))] * 3
    [stretch] = watch(video(shown), BOTH, BOTH, PACE).stretches
    assert (stretch.first, stretch.last) == (HOLD + 2, HOLD + 4)
    assert (stretch.wrong.state, stretch.wrong.ref) == ("one", "r[0]")
    assert (stretch.wrong.expected, stretch.wrong.found) == ("0.592455", "0.592454")


def test_a_number_is_read_in_motion_where_it_stands_already(video: Video) -> None:
    shown = frames(*BOTH)
    shown[HOLD - PACE] = level(with_number(blank(4), "0.592454"))
    [stretch] = watch(video(shown), BOTH, BOTH, PACE).stretches
    assert (stretch.first, stretch.last, stretch.wrong.found) == (HOLD - PACE, HOLD - PACE, "0.592454")


def test_the_same_wrong_twice_is_told_twice(video: Video) -> None:
    shown = frames(*BOTH)
    for n in (HOLD, HOLD + 3):
        shown[n] = level(with_number(blank(4), "0.592454"))
    assert [(s.first, s.last) for s in watch(video(shown), BOTH, BOTH, PACE).stretches] == [
        (HOLD, HOLD),
        (HOLD + 3, HOLD + 3),
    ]


def test_something_where_nothing_should_be(video: Video) -> None:
    shown = frames(*BOTH)
    shown[HOLD + 1] = shown[HOLD + 1].copy()
    shown[HOLD + 1][100:104, 250:290] = 200
    [stretch] = watch(video(shown), BOTH, BOTH, PACE).stretches
    assert (stretch.first, stretch.wrong.ref, stretch.wrong.found) == (HOLD + 1, "", "")
    left, top, width, height = stretch.wrong.box
    assert (left <= 250, left + width >= 290, top <= 100, top + height >= 104) == (True,) * 4


def test_states_that_have_changed_places(video: Video) -> None:
    shown = frames(*BOTH)
    swapped = [*shown[END:], *shown[:END]]
    stretches = watch(video(swapped), BOTH, BOTH, PACE).stretches
    assert ("one", "two") in {(stretch.wrong.state, stretch.wrong.found) for stretch in stretches}
    assert ("two", "one") in {(stretch.wrong.state, stretch.wrong.found) for stretch in stretches}


def test_a_motion_that_was_not_staged(video: Video) -> None:
    shown = frames(*BOTH)
    shown[PACE] = level(blank(4))
    [stretch] = watch(video(shown), BOTH, BOTH, PACE).stretches
    assert (stretch.wrong.state, stretch.first, stretch.last) == ("one", PACE, PACE)


def test_another_picture_altogether_is_not_read(video: Video) -> None:
    shown = frames(*BOTH)
    noise = np.random.default_rng(1).integers(16, 235, (HEIGHT // 12, WIDTH // 10), dtype=np.uint8)
    shown[HOLD + 1] = np.kron(noise, np.ones((12, 10), dtype=np.uint8))
    watched = watch(video(shown), BOTH, BOTH, PACE)
    assert [(stretch.wrong.ref, stretch.wrong.found) for stretch in watched.stretches] == [("", "")]
    assert watched.readings == sum(1 + 4 * PACE for state in BOTH) - 1


def test_a_video_that_ends_early_is_no_pass(video: Video) -> None:
    for length in (len(frames(*BOTH)) - 1, END + 1, END, 1):
        with pytest.raises(AddnormError, match="cannot be decoded to its end"):
            watch(video(frames(*BOTH)[:length]), BOTH, BOTH, PACE)


def test_the_state_at_the_end(video: Video) -> None:
    shown = frames(*BOTH)
    assert state_at_end(video(shown), len(shown), BOTH) == "two"
    assert state_at_end(video(shown[:END]), END, BOTH) == "one"
    assert state_at_end(video(shown[:1]), 1, BOTH) is None


# --- the log


def test_what_goes_on_is_one_stretch_and_what_comes_back_another() -> None:
    one, two = (Wrong("s", found, (0, 0, 0, 0)) for found in ("1", "2"))
    watched = Watched()
    for number, wrong in ((0, ()), (3, (one,)), (6, (one, two)), (7, (two,)), (8, ()), (9, (two,))):
        watched.note(number, Verdict(wrong, 5))
    assert watched.stretches == [Stretch(one, 3, 6), Stretch(two, 6, 7), Stretch(two, 9, 9)]
    assert (watched.frames, watched.readings) == (6, 30)


# --- blocks


@pytest.mark.parametrize("shape", [(120, 120), (121, 131), (180, 320)])
def test_blocks_of_a_picture_that_is_the_same(shape: tuple[int, int]) -> None:
    plane = np.random.default_rng(2).uniform(16, 235, shape).astype(np.float32)
    assert not Blocks(plane).differing(level(plane), 0.01).any()


def test_a_block_differs_by_the_share_of_what_it_shows() -> None:
    expected = np.full((60, 60), 100, dtype=np.float32)
    expected[12:24, 24:36:2] = 180  # a contrast of 40 levels
    seen = level(expected)
    seen[12:24, 24:36] = 140  # gone
    differing = Blocks(expected).differing(seen, 0.5)
    assert [tuple(block) for block in np.argwhere(differing)] == [(1, 2)]
    assert Blocks.box(differing) == (24, 12, 12, 12)
    share = 40**2 / (40**2 + FAINTEST**2)
    assert not Blocks(expected).differing(seen, share * 1.01).any()
    assert Blocks(expected).differing(seen, share * 0.99).any()


def test_a_faint_difference_is_none_and_a_clear_one_in_an_empty_block_is() -> None:
    expected = np.full((60, 60), 100, dtype=np.float32)
    for added, differs in ((FAINTEST / 2, False), (FAINTEST, True)):
        assert Blocks(expected).differing(level(expected + np.float32(added)), 0.5).all() == differs


def test_the_edge_belongs_to_the_last_blocks() -> None:
    expected = np.full((65, 71), 100, dtype=np.float32)
    seen = level(expected)
    seen[60:, 60:] = 200
    differing = Blocks(expected).differing(seen, 0.5)
    assert differing.shape == (65 // BLOCK, 71 // BLOCK)
    assert differing[-1, -1]
    assert differing.sum() == 1


def test_busy_blocks_are_those_that_show_something() -> None:
    assert Blocks(blank(0)).busy == 0
    assert 0 < Blocks(blank(1)).busy < Blocks(blank(4)).busy < 0.5 * (HEIGHT // BLOCK) * (WIDTH // BLOCK)


def test_a_part_of_a_picture_lies_in_blocks() -> None:
    assert Blocks.covering((slice(11, 13), slice(24, 36))) == (slice(0, 2), slice(2, 3))
