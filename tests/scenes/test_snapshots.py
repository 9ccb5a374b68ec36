"""How frames are kept and compared: every kind of difference is found, and told in words that can be acted on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from addnorm.mathcore import Example, GivenOutput, load_example, run
from addnorm.scenes.frames import frame_still, frame_values
from addnorm.scenes.manifest import Shown
from addnorm.scenes.paths import find_example
from addnorm.scenes.snapshots import TOLERANCE, FrameValues, Still, block_differences

VARIANCE = Shown("ln.var[0]", "0.592455", 0.5924551, 6, "shown", (1479.2, 585.0, 179.4, 33.1), 1.0)
MEAN = Shown("ln.mean[0]", "1.098888", 1.0988879, 6, "fading", (1458, 507, 177, 33), 0.25)
CARD = Shown("attn_out[0,2]", "−0.198", -0.198, 3, "moving", (938, 248, 131, 33), 1.0)


def frame(*labels: Shown, title: str = "r44 zh 1080p60, frame 3 of b2") -> FrameValues:
    return FrameValues(labels, "b2", 3, title)


def test_a_frame_is_kept_as_a_table() -> None:
    assert frame(CARD, MEAN, VARIANCE).content().decode() == (
        "r44 zh 1080p60, frame 3 of b2\n"
        "attn_out[0,2]  −0.198    moving        938,248 131×33\n"
        "ln.mean[0]     1.098888  fading 0.250  1458,507 177×33\n"
        "ln.var[0]      0.592455  shown         1479,585 179×33\n"
    )


def test_a_frame_is_plain_data() -> None:
    values = frame(CARD, VARIANCE)
    assert list(values) == [CARD, VARIANCE]
    assert values[1]._asdict()["value"] == 0.5924551
    assert values.texts == {"attn_out[0,2]": "−0.198", "ln.var[0]": "0.592455"}
    assert (values.state, values.frame) == ("b2", 3)


@pytest.mark.parametrize("labels", [(), (VARIANCE,), (CARD, MEAN, VARIANCE), (CARD, CARD)])
def test_a_frame_does_not_differ_from_itself(labels: tuple[Shown, ...]) -> None:
    kept = frame(*labels).content()
    assert frame(*labels).differences(kept) == []
    assert frame(*reversed(labels)).differences(kept.replace(b"\n", b"\r\n")) == []


def test_what_cannot_be_read_on_screen_makes_no_difference() -> None:
    assert frame(VARIANCE._replace(value=0.59245512)).differences(frame(VARIANCE).content()) == []


@pytest.mark.parametrize(
    ("now", "difference"),
    [
        ((CARD, VARIANCE._replace(text="0.592454")), "b2: ln.var[0] read 0.592455, now 0.592454"),
        ((CARD._replace(text="0.198"), VARIANCE), "b2: attn_out[0,2] read −0.198, now 0.198"),
        ((CARD, MEAN, VARIANCE), "b2: ln.mean[0] appeared, reading 1.098888"),
        ((CARD,), "b2: ln.var[0] is gone, it read 0.592455"),
        ((CARD, VARIANCE, VARIANCE), "b2: ln.var[0] appeared, reading 0.592455"),
        ((CARD, VARIANCE._replace(phase="fading", opacity=0.5)), "b2: ln.var[0] was shown, now fading 0.500"),
        (
            (CARD, VARIANCE._replace(box=(1479.2, 595.0, 179.4, 33.1))),
            "b2: ln.var[0] stood at 1479,585 179×33, now at 1479,595 179×33",
        ),
    ],
)
def test_a_difference_is_told_in_one_line(now: tuple[Shown, ...], difference: str) -> None:
    assert frame(*now).differences(frame(CARD, VARIANCE).content()) == [difference]


def test_a_changed_text_is_told_before_its_changed_place() -> None:
    now = VARIANCE._replace(text="0.6", box=(1500, 585, 60, 33))
    assert frame(now).differences(frame(VARIANCE).content()) == ["b2: ln.var[0] read 0.592455, now 0.6"]


def test_one_of_two_copies_is_told_apart() -> None:
    other = CARD._replace(box=(100, 100, 131, 33))
    kept = frame(CARD, other).content()
    assert frame(CARD, other._replace(text="−0.199")).differences(kept) == ["b2: attn_out[0,2] read −0.198, now −0.199"]


def test_differences_are_told_in_the_order_of_the_frame() -> None:
    gone = [VARIANCE._replace(ref=f"gamma[{n}]") for n in range(9)]
    now = [VARIANCE._replace(ref=f"beta[{n}]") for n in range(9)]
    told = frame(*now, CARD).differences(frame(CARD, *gone).content())
    assert [line.split()[1] for line in told] == [label.ref for label in (*now, *gone)]


def test_another_frame_is_told() -> None:
    title = "r44 zh 1080p60, frame 4 of b2"
    assert frame(title=title).differences(frame().content()) == [
        f"b2: the frame was 'r44 zh 1080p60, frame 3 of b2', now {title!r}"
    ]


@pytest.mark.parametrize("kept", [b"", b"\n", b"rubbish", b"a\nb  c\nd\n", b"\xff\n\xff"])
def test_a_damaged_snapshot_differs(kept: bytes) -> None:
    assert "b2: ln.var[0] appeared, reading 0.592455" in frame(VARIANCE).differences(kept)


Picture = NDArray[np.uint8]


def png(pixels: Picture) -> bytes:
    file = BytesIO()
    Image.fromarray(pixels).save(file, format="PNG")
    return file.getvalue()


@pytest.fixture
def picture() -> Picture:
    """Noise, of a size that blocks do not fill."""
    return np.random.default_rng(44).integers(0, 200, (45, 83, 3), dtype=np.uint8)


def test_a_picture_does_not_differ_from_itself(picture: Picture) -> None:
    assert Still("b2", png(picture), tolerance=0).differences(png(picture)) == []


def moved(picture: Picture) -> Picture:
    """A block of 8 × 8 pixels stands a pixel further right."""
    picture[8:16, 17:25] = picture[8:16, 16:24].copy()
    return picture


def tinted(picture: Picture) -> Picture:
    """One block at the lower right, most of which is outside, is redder."""
    picture[40:, 80:, 0] += 255 - 199
    return picture


@pytest.mark.parametrize(
    ("change", "told"), [(moved, "the one at 16,8 by "), (tinted, "1 blocks of the picture differ by more than 1, ")]
)
def test_a_changed_block_is_found(picture: Picture, change: Callable[[Picture], Picture], told: str) -> None:
    kept = png(picture)
    [difference] = Still("b2", png(change(picture)), tolerance=1).differences(kept)
    assert difference.startswith("b2: ")
    assert told in difference


def test_a_block_differs_by_its_mean() -> None:
    left = np.zeros((16, 16, 3), dtype=np.int16)
    right = left.copy()
    right[8:, :8, 1] = 9  # a third of the colours of one block
    right[0, 0] = 64  # a 64th of the pixels of another
    assert block_differences(left, right).tolist() == [[1, 0], [3, 0]]


def test_the_tolerance_is_the_still_s_own(picture: Picture) -> None:
    brighter = picture + np.uint8(5)
    assert Still("b2", png(brighter), tolerance=5).differences(png(picture)) == []
    assert Still("b2", png(brighter), tolerance=4.9).differences(png(picture)) != []


def test_a_size_is_looked_at_before_the_picture(picture: Picture) -> None:
    smaller = Still("b2", png(picture[:-1]))
    assert smaller.differences(png(picture)) == ["b2: the picture is 83 × 44 pixels, its snapshot 83 × 45"]
    assert smaller.pictures(png(picture)).keys() == {"now"}


def test_a_damaged_picture_differs(picture: Picture) -> None:
    still = Still("b2", png(picture))
    for kept in (b"", b"version of a file kept elsewhere", png(picture)[:-99]):
        assert still.differences(kept) == ["b2: the picture is 83 × 45 pixels, its snapshot 0 × 0"]
        assert still.pictures(kept).keys() == {"now"}


def test_pictures_show_where_it_differs(picture: Picture) -> None:
    kept = png(picture)
    now = Still("b2", png(moved(picture.copy())))
    pictures = now.pictures(kept)
    assert pictures["now"] == now.png
    difference = np.array(Image.open(BytesIO(pictures["difference"])))
    assert difference.shape == picture.shape
    assert difference[8:16, 17:25].any()
    difference[8:16, 17:25] = 0
    assert not difference.any()


@pytest.fixture(scope="module")
def examples() -> tuple[Example, Example]:
    """R44 with its attention's output as given, and with so little more of it that σ² reads 0.592454."""
    r44 = load_example(find_example("r44"))
    output = run(r44)["attn_out"].value.copy()
    more = output.copy()
    more[0, 2] += 1e-6
    return replace(r44, attention=GivenOutput(output)), replace(r44, attention=GivenOutput(more))


def test_one_digit_in_the_last_place_is_told(examples: tuple[Example, Example]) -> None:
    kept, now = (frame_values(example, state="b2", size="480p15") for example in examples)
    assert now.differences(kept.content()) == ["b2: ln.var[0] read 0.592455, now 0.592454"]


def test_one_digit_in_the_last_place_is_seen_in_the_smallest_picture(examples: tuple[Example, Example]) -> None:
    kept, now = (frame_still(example, state="b2", size="480p15") for example in examples)
    [difference] = now.differences(kept.png)
    assert float(difference.split()[-1]) > 3 * TOLERANCE
