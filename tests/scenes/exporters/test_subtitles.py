"""Subtitles as programs of others read them: a browser's WebVTT, FFmpeg's SubRip; and WebVTT by its grammar."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import pytest
import srt
from hypothesis import given, settings
from hypothesis import strategies as st

from addnorm.scenes.captions import Cue, as_srt, as_vtt
from tests.scenes.exporters.conftest import Window

HOSTILE = (
    "x<y & <pad> --> <b>z</b>",
    "-->",
    "00:00:00.000 --> 00:00:09.000\n00:00:00,000 --> 00:00:09,000",
    "one\r\n\r\n2\ntwo\x85\u2028three",
    "NOTE what follows\nSTYLE ::cue {}\nWEBVTT",
    "&amp; &lt;c.red&gt; &#60;",
    "同一个 token：保留 x，学习修正 Δ",
    "{\\an8}\ttab and\x00zero\x1b[0m",
)
SHOWN = {
    HOSTILE[3]: "one\n2\ntwo\nthree",
    HOSTILE[7]: "{\\an8}\ttab andU+0000zeroU+001B[0m",
}


def cues(texts: tuple[str, ...] | list[str]) -> list[Cue]:
    """A cue a third of a second long for each text, one after the other."""
    return [Cue(Fraction(n, 3), Fraction(n + 1, 3), text) for n, text in enumerate(texts)]


READ = """source => new Promise((done, failed) => {
    const video = document.createElement("video"), track = document.createElement("track");
    track.src = URL.createObjectURL(new Blob([source], {type: "text/vtt"}));
    track.onerror = failed;
    track.onload = () => done([...track.track.cues].map(cue => ({
        start: cue.startTime, end: cue.endTime, text: cue.getCueAsHTML().textContent,
        elements: cue.getCueAsHTML().querySelectorAll("*").length,
    })));
    video.append(track);
    document.body.append(video);
    track.track.mode = "hidden";
})"""


def test_a_browser_reads_every_cue_as_it_was_said(window: Callable[..., Window], tmp_path: Path) -> None:
    (tmp_path / "empty.html").write_text("<!doctype html><title>subtitles</title>")
    page = window().open(tmp_path / "empty.html")
    read = page.evaluate(READ, as_vtt(cues(HOSTILE)).decode())
    assert [cue["text"] for cue in read] == [SHOWN.get(text, text) for text in HOSTILE]
    assert {cue["elements"] for cue in read} == {0}
    for number, cue in enumerate(read):
        assert (cue["start"], cue["end"]) == pytest.approx((number / 3, (number + 1) / 3), abs=0.0006)


def test_ffmpeg_finds_no_other_cues_in_subrip() -> None:
    with av.open(io.BytesIO(as_srt(cues(HOSTILE))), "r", format="srt") as container:
        read = [(packet.pts, bytes(packet).decode()) for packet in container.demux() if packet.size]
    assert [start for start, _ in read] == [round(1000 * n / 3) for n in range(len(HOSTILE))]
    assert [text.replace("\u2060", "") for _, text in read] == [SHOWN.get(text, text) for text in HOSTILE]


# https://www.w3.org/TR/webvtt1/#file-structure, as far as it is used here: no header, settings, regions or tags.
TIME = r"(?:\d{2,}:)?[0-5]\d:[0-5]\d\.\d{3}"
TEXT_LINE = r"(?:[^\n\r&<\x00]|&amp;|&lt;|&gt;)+"
FILE = re.compile(rf"WEBVTT\n(?:\n{TIME} --> {TIME}\n{TEXT_LINE}(?:\n{TEXT_LINE})*\n)*")


def breaches(vtt: str) -> list[str]:
    """How a WebVTT file breaks its grammar: its form, an arrow in a text, times out of order."""
    found = [] if FILE.fullmatch(vtt) else ["form"]
    times = re.findall(rf"^({TIME}) --> ({TIME})$", vtt, re.MULTILINE)
    if vtt.count("-->") != len(times):
        found.append("arrow")
    flat = [time.rjust(16, "0") for pair in times for time in pair]
    if flat != sorted(flat) or any(start >= end for start, end in times):
        found.append("order")
    return found


@settings(max_examples=150, derandomize=True, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("-->\n\r <&;0:."))))
def test_whatever_is_said_webvtt_keeps_its_grammar_and_subrip_its_cues(texts: list[str]) -> None:
    assert breaches(as_vtt(cues(texts)).decode()) == []
    read = [cue.content for cue in srt.parse(as_srt(cues(texts)).decode())]
    said = ["\n".join(line for line in text.splitlines() if line.strip()) for text in texts]
    assert len(read) == sum(bool(text) for text in said)
    assert not any("-->" in text or "\n\n" in text for text in read)


@pytest.mark.parametrize(
    ("broken", "how"),
    [
        ("WEBVTT\n\n00:00.000 --> 00:01.000\na\n\nb\n", "form"),
        ("WEBVTT\n\n00:00.000 --> 00:01.000\na < b\n", "form"),
        ("WEBVTT\n\n00:00.000 --> 00:01.000\nR&D\n", "form"),
        ("WEBVTT\n\n00:00.000 --> 00:01.000\na --> b\n", "arrow"),
        ("WEBVTT\n\n00:01.000 --> 00:01.000\na\n", "order"),
        ("WEBVTT\n\n00:01.000 --> 00:02.000\na\n\n00:00.000 --> 00:03.000\nb\n", "order"),
        ("\n00:01.000 --> 00:02.000\na\n", "form"),
    ],
)
def test_what_breaks_the_grammar_is_found(broken: str, how: str) -> None:
    assert how in breaches(broken)
