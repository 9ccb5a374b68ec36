"""Reading numbers off pixels: each right one is told from every wrong one near it, however it came there."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from addnorm.scenes.typeset import CAP_HEIGHT
from addnorm.scenes.verify.passage import Passage, Picture, Plane
from addnorm.scenes.verify.raster import BLANKS, Pose, Sheet, advance, ink
from addnorm.scenes.verify.reading import Reader, Spot, alternatives, wrong_texts
from addnorm.scenes.video import decode_yuv

SHAPE = (120, 480)
COLORS = {"dark": (31, 219), "dimmed": (41, 159), "light": (235, 42)}
"""Ground and ink of numbers, in levels."""

FIVE = ("0.592455", "1.098888", "−0.385", "1.171", "−1.435")

Row = list[tuple[str, Pose]]


def row(*texts: str, height: float, at: tuple[float, float] = (20.3, 40.6)) -> Row:
    """Numbers side by side, with digits of a height in pixels."""
    em = height / CAP_HEIGHT
    pitch = (max(advance(text) for text in texts) + 2) * em
    return [(text, Pose(em, em, at[0] + n * pitch, at[1])) for n, text in enumerate(texts)]


def page(height: float, *texts: str) -> Row:
    """Row upon row of numbers, so many that they tell how a picture came through."""
    rows = range(round(1.6 * height), SHAPE[0] - round(height), round(2.2 * height))
    return [number for y in rows for number in row(*texts or FIVE, height=height, at=(20.3, y + 0.6))]


def draw(numbers: Row, color: str = "dark", shape: tuple[int, int] = SHAPE, scale: float = 1) -> Plane:
    ground, level = COLORS[color]
    sheet = Sheet(0, 0, shape[1], shape[0])
    plane = np.full(shape, ground, dtype=np.float32)
    for text, at in numbers:
        where = Pose(at.em_x * scale, at.em_y * scale, at.x * scale, at.y * scale)
        plane += sheet.coverage(text, where) * np.float32(level - ground)
    return plane


def seen(plane: Plane) -> Picture:
    return np.round(plane).astype(np.uint8)


def spot(text: str, at: Pose, color: str = "dark") -> Spot:
    (left, bottom), (right, top) = ink(text)
    box = (at.x + left * at.em_x, at.y - top * at.em_y, (right - left) * at.em_x, (top - bottom) * at.em_y)
    return Spot("ref", text, box, COLORS[color][1])


def reader(text: str, at: Pose, color: str = "dark", passage: Passage | None = None) -> Reader:
    blank = np.full(SHAPE, COLORS[color][0], dtype=np.float32)
    return Reader(spot(text, at, color), blank, passage or Passage.untouched())


# --- wrong texts


def test_the_wrong_texts_nearest_to_a_number() -> None:
    wrong = wrong_texts("−1.50")
    assert {"−2.50", "−1.60", "−1.51"} <= {*wrong}  # a digit changed
    assert {"1.50"} <= {*wrong}  # the sign flipped
    assert {"−15.0", "−150."} & {*wrong} == {"−15.0"}  # the point moved
    assert {"−1.5", "−.50", "−1.0"} <= {*wrong}  # a digit dropped
    assert {"−1.501", "−1.500", "9−1.50"} <= {*wrong}  # a digit added
    assert {"−1\u200850", "−1.5\u2007"} <= {*wrong}  # wiped out
    assert "−1.50" not in wrong
    assert len(set(wrong)) == len(wrong)


def test_every_digit_is_changed_to_every_other() -> None:
    changed = [text for text in wrong_texts("0.592455") if len(text) == 8 and set(text) <= {*"0123456789."}]
    same_place = [text for text in changed if text[1] == "."]
    assert len(same_place) == 7 * 9


def test_a_number_without_a_sign_is_given_one_and_powers_are_changed_too() -> None:
    assert "−0.5" in wrong_texts("0.5")
    assert {"1.2×10⁻⁸", "1.3×10⁻⁷"} <= {*wrong_texts("1.2×10⁻⁷")}


def test_a_sign_is_told_from_the_other() -> None:
    assert wrong_texts("=") == ("≈",)
    assert wrong_texts("≈") == ("=",)


def test_a_text_of_another_width_may_share_either_end_or_the_middle() -> None:
    places = [shift for text, shift in alternatives("1.5") if text == "1.52"]
    assert places == pytest.approx([0.0, -advance("2") / 2, -advance("2")])


# --- judging


@pytest.mark.parametrize("color", COLORS)
@pytest.mark.parametrize("height", [5, 8, 25.6])
@pytest.mark.parametrize("text", ["0.592455", "−0.006", "1", "1.2×10⁻⁷", "="])
def test_right_numbers_are_right_and_every_wrong_one_is_wrong(text: str, height: float, color: str) -> None:
    [(_, at)] = row(text, height=height, at=(60.4, 50.7))
    judge = reader(text, at, color).judge
    right = judge(seen(draw([(text, at)], color)))
    assert right.right
    assert right.toward < 0.1
    assert right.left_over < 0.01
    for wrong, shift in alternatives(text):
        judgement = judge(seen(draw([(wrong, at.moved(shift))], color)))
        assert not judgement.right, wrong
        assert judgement.toward > 0.9


def test_what_else_may_stand_there_is_wrong() -> None:
    text = "0.592455"
    [(_, at)] = row(text, height=12)
    judge = reader(text, at).judge
    assert not judge(seen(draw([]))).right
    assert not judge(seen(draw([("1.098888", at)]))).right
    assert not judge(seen(draw([(text, at.moved(0.3))]))).right
    assert not judge(np.full(SHAPE, 219, dtype=np.uint8)).right
    assert judge(seen(draw([(text, at)]))).right


@pytest.mark.parametrize("height", [6, 14])
def test_what_is_there_is_read(height: float) -> None:
    text = "0.592455"
    [(_, at)] = row(text, height=height, at=(80.4, 50.7))
    read = reader(text, at).read
    for wrong in ("0.592454", "−0.592455", "5.92455", "0.59245", "1.098888", "212.5", "0.59\u20072455", text):
        shift = (advance(text) - advance(wrong)) / 2
        assert read(seen(draw([(wrong, at.moved(shift))]))) == wrong
    assert read(seen(draw([]))) == ""


def test_a_much_wider_number_and_a_power_are_read() -> None:
    at = Pose(20, 20, 100.2, 60.1)
    assert reader("0", at).read(seen(draw([("−1.435", at.moved(-1.25))]))) == "−1.435"
    assert reader("10⁻⁵", at).read(seen(draw([("10⁻¹²", at)]))) == "10⁻¹²"
    assert reader("=", at).read(seen(draw([("≈", at)]))) == "≈"


def test_every_single_wrong_text_is_read_as_itself() -> None:
    text = "−0.198"
    [(_, at)] = row(text, height=11, at=(80.4, 50.7))
    read = reader(text, at).read
    for wrong in wrong_texts(text):
        found = read(seen(draw([(wrong, at)])))
        assert found == wrong.strip("".join(BLANKS)), wrong


# --- what happens on the way


def encoded(picture: Picture, path: Path, crf: int) -> Picture:
    """The last picture of a hold encoded by x264."""
    frame = av.VideoFrame.from_ndarray(
        np.vstack([picture, np.full((SHAPE[0] // 2, SHAPE[1]), 128, np.uint8)]), "yuv420p"
    )
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=30, options={"crf": str(crf)})
        stream.width, stream.height, stream.pix_fmt = SHAPE[1], SHAPE[0], "yuv420p"
        for n in range(10):
            frame.pts, frame.time_base = n, Fraction(1, 30)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    *_, last = decode_yuv(path, SHAPE[1], SHAPE[0])
    return last.brightness


@pytest.mark.parametrize("color", COLORS)
def test_the_last_digit_is_told_at_five_pixels_and_crf_28(color: str, tmp_path: Path) -> None:
    numbers = page(5, *["0.592455"] * 6)
    shown = [(text if n % 2 else "0.592454", at) for n, (text, at) in enumerate(numbers)]
    picture = encoded(seen(draw(shown, color)), tmp_path / "video", crf=28)
    passage = Passage.between(draw(numbers, color), picture) or Passage.untouched()
    judgements = [reader(text, at, color, passage).judge(picture) for text, at in numbers]
    assert len(judgements) > 50
    assert {judgement.right for judgement in judgements[1::2]} == {True}
    assert {(judgement.right, judgement.wrong) for judgement in judgements[::2]} == {(False, "0.592454")}


@pytest.mark.parametrize("shift", [(0.75, 0), (-0.75, 0.75), (0, -0.75)])
def test_a_shift_by_less_than_a_pixel_is_no_difference(shift: tuple[float, float]) -> None:
    numbers = page(6)
    shifted = [(text, Pose(at.em_x, at.em_y, at.x + shift[0], at.y + shift[1])) for text, at in numbers]
    picture = seen(draw(shifted))
    passage = Passage.between(draw(numbers), picture)
    assert passage is not None
    assert all(reader(text, at, passage=passage).judge(picture).right for text, at in numbers)
    assert not all(reader(text, at).judge(picture).right for text, at in numbers)
    changed = seen(draw([(text[:-1] + "0", at) for text, at in shifted]))
    assert not any(reader(text, at, passage=passage).judge(changed).right for text, at in numbers)


@pytest.mark.parametrize("interpolation", ["BILINEAR", "BICUBIC", "LANCZOS", "AREA"])
def test_scaling_to_half_the_size_is_no_difference(interpolation: str) -> None:
    numbers = page(6)
    wrong = [(f"{text[:-1]}0", at) for text, at in numbers]
    for shown, right in ((numbers, True), (wrong, False)):
        large = seen(draw(shown, shape=(2 * SHAPE[0], 2 * SHAPE[1]), scale=2))
        frame = av.VideoFrame.from_ndarray(large, "gray")
        picture = frame.reformat(SHAPE[1], SHAPE[0], interpolation=interpolation).to_ndarray().astype(np.uint8)
        passage = Passage.between(draw(numbers), picture)
        assert passage is not None
        assert {reader(text, at, passage=passage).judge(picture).right for text, at in numbers} == {right}


def test_less_contrast_is_no_difference() -> None:
    numbers = page(8)
    picture = seen(40 + 0.6 * draw(numbers))
    passage = Passage.between(draw(numbers), picture)
    assert passage is not None
    assert passage.weights.sum() == pytest.approx(0.6, abs=0.02)
    assert all(reader(text, at, passage=passage).judge(picture).right for text, at in numbers)


def test_no_passage_leads_to_another_picture_or_tells_it_from_too_little() -> None:
    expected = draw(page(8))
    assert Passage.between(expected, seen(expected)) is not None
    assert Passage.between(expected, seen(draw(page(9, *FIVE[::-1])))) is None
    assert Passage.between(expected, np.full(SHAPE, 31, dtype=np.uint8)) is None
    assert Passage.between(draw(row("1", height=8)), seen(draw(row("1", height=8)))) is None


def test_an_untouched_picture_arrives_as_it_was() -> None:
    expected = draw(page(8))
    assert np.array_equal(Passage.untouched().arrived(expected), expected)
    passage = Passage.between(expected, seen(expected))
    assert passage is not None
    assert np.abs(passage.arrived(expected) - expected).max() < 2


def test_a_raised_digit_is_the_smallest() -> None:
    at = Pose(10, 10, 20, 60)
    assert (
        spot("10⁻⁵", at).digit_height
        == pytest.approx(0.68 * spot("1.5", at).digit_height)
        == pytest.approx(4.98, abs=0.01)
    )
