from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from fractions import Fraction

import av
import pytest

from addnorm.scenes.captions import Cue, as_srt, as_vtt, reading_seconds

Writer = Callable[[Sequence[Cue]], bytes]


def cue(first: int, end: int, text: str, rate: int = 60) -> Cue:
    return Cue(Fraction(first, rate), Fraction(end, rate), text)


CUES = [
    cue(0, 100, "同一个 token：保留 x，学习修正 Δ"),
    cue(100, 373, "LayerNorm 只看这一行\n别的 token 不参加"),
    cue(400, 3_600_001, "最后一句"),
]


def test_subrip_is_written_to_the_byte() -> None:
    assert as_srt(CUES).decode() == (
        "1\n00:00:00,000 --> 00:00:01,667\n同一个 token：保留 x，学习修正 Δ\n\n"
        "2\n00:00:01,667 --> 00:00:06,217\nLayerNorm 只看这一行\n别的 token 不参加\n\n"
        "3\n00:00:06,667 --> 16:40:00,017\n最后一句\n\n"
    )


def test_webvtt_is_written_to_the_byte() -> None:
    assert as_vtt(CUES).decode() == (
        "WEBVTT\n\n"
        "00:00:00.000 --> 00:00:01.667\n同一个 token：保留 x，学习修正 Δ\n\n"
        "00:00:01.667 --> 00:00:06.217\nLayerNorm 只看这一行\n别的 token 不参加\n\n"
        "00:00:06.667 --> 16:40:00.017\n最后一句\n"
    )


@pytest.mark.parametrize(("write", "kind"), [(as_srt, "srt"), (as_vtt, "webvtt")])
def test_another_program_reads_the_same_cues(write: Writer, kind: str) -> None:
    with av.open(io.BytesIO(write(CUES)), "r", format=kind) as container:
        read = [(p.pts, p.duration, bytes(p).decode()) for p in container.demux() if p.size]
    times = [(round(c.start * 1000), round(c.end * 1000)) for c in CUES]
    assert read == [(a, b - a, c.text) for (a, b), c in zip(times, CUES, strict=True)]


def test_text_in_webvtt_is_no_markup_and_no_timing_line() -> None:
    written = as_vtt([cue(0, 60, "x<y & <pad> --> <b>z</b>")]).decode()
    assert "\nx&lt;y &amp; &lt;pad&gt; --&gt; &lt;b&gt;z&lt;/b&gt;\n" in written
    assert written.count("-->") == 1


@pytest.mark.parametrize("write", [as_srt, as_vtt])
def test_a_blank_line_does_not_end_a_cue(write: Writer) -> None:
    written = write([cue(0, 60, "one\r\n\n \n2\ntwo"), cue(60, 120, "three")]).decode()
    assert "one\n2\ntwo\n" in written
    assert "\r" not in written


@pytest.mark.parametrize("rate", [15, 20, 25, 30, 60])
def test_adjacent_cues_meet_without_a_gap_or_an_overlap(rate: int) -> None:
    cues = [cue(n, n + 1, f"cue {n}", rate) for n in range(3 * rate)]
    lines = [line.split(" --> ") for line in as_vtt(cues).decode().splitlines() if "-->" in line]
    starts, ends = zip(*lines, strict=True)
    assert len(lines) == 3 * rate
    assert starts[1:] == ends[:-1]
    assert all(start < end for start, end in lines)


@pytest.mark.parametrize(
    "cues",
    [
        [cue(0, 60, "one"), cue(59, 120, "overlapping")],
        [cue(60, 120, "two"), cue(0, 60, "one")],
        [cue(60, 60, "no time")],
        [cue(-1, 60, "before the film")],
    ],
)
def test_cues_out_of_order_are_refused(cues: list[Cue]) -> None:
    for write in (as_srt, as_vtt):
        with pytest.raises(ValueError, match="follow one another"):
            write(cues)


def test_reading_time_follows_the_script_of_each_character() -> None:
    assert reading_seconds("残" * 9) == 3.0  # 1 s and 9 characters at 4.5 a second
    assert reading_seconds("x" * 29) == 3.0  # 1 s and 29 at 14.5 a second
    assert reading_seconds("残" * 9 + "x" * 29) == 5.0
    assert reading_seconds("残" * 18) > reading_seconds("x" * 18)


def test_reading_time_is_rounded_up_to_fifths_of_a_second_and_never_short() -> None:
    assert reading_seconds("") == 2.0
    assert reading_seconds("残" * 10) == 3.4  # 3.222… s
    assert all((reading_seconds("残" * n) * 5).is_integer() for n in range(200))


def test_pace_shortens_the_hold_down_to_the_least() -> None:
    text = "残" * 27  # 7 s
    assert [reading_seconds(text, pace) for pace in (0.5, 1.0, 2.0, 100.0)] == [14.0, 7.0, 3.6, 2.0]
