"""Finished videos, intact and tampered with: what passes, what is caught, and in which words."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.example import Example
from addnorm.scenes.cli import main as addnorm
from addnorm.scenes.render import Order, render
from addnorm.scenes.verify import Report, Stagings, main, verify
from addnorm.scenes.verify.report import Finding
from addnorm.scenes.verify.viewing import require_comparable
from addnorm.scenes.video import Screening, Size, frame_count, read_metadata

Encode = Any
Check = Callable[[Path], Report]
STATES = ("b4", "b5", "b0", "b1", "b2", "b3")


def said(report: Report) -> list[str]:
    return [str(finding) for finding in report.findings]


# --- what passes


def test_an_intact_film(film: Path, check: Check, values: Any) -> None:
    report = check(film / "film.mp4")
    assert report.passed, said(report)
    assert report.manifest == film / "values.json"
    assert (report.size, report.frames) == ((960, 540), sum(clip["frames"] for clip in values["clips"]))
    assert report.states == STATES
    assert report.unread == ()
    shown = sum(len(clip["spans"][-1]["labels"]) + len(clip["spans"][-1]["relations"]) for clip in values["clips"])
    assert report.numbers == shown > 70
    assert report.readings > 5 * shown


@pytest.mark.parametrize("state", STATES)
def test_an_intact_clip(film: Path, check: Check, state: str) -> None:
    report = check(film / "clips" / f"{state}.mp4")
    assert report.passed, said(report)
    assert (report.states, report.manifest) == ((state,), film / "values.json")
    assert (report.readings > 0) == (state != "b4")  # which has symbols only


def test_a_video_by_itself(film: Path, check: Check, tmp_path: Path) -> None:
    alone = tmp_path / "sent by mail.mp4"
    alone.write_bytes((film / "clips" / "b1.mp4").read_bytes())
    report = check(alone)
    assert report.passed, said(report)
    assert report.manifest is None


def test_a_film_that_was_encoded_again(film: Path, check: Check, encode: Encode, tmp_path: Path) -> None:
    report = check(encode(film / "film.mp4", tmp_path / "again.mp4", crf=28))
    assert report.passed, said(report)
    assert report.readings == check(film / "film.mp4").readings


def test_a_clip_of_half_its_size(film: Path, check: Check, encode: Encode, tmp_path: Path) -> None:
    report = check(encode(film / "clips" / "b3.mp4", tmp_path / "half.mp4", crf=28, size=(480, 270)))
    assert report.passed, said(report)
    assert [(unread.ref, round(unread.digit_height, 1)) for unread in report.unread] == [("eps", 4.4)]
    assert report.readings > 0
    assert any("eps" in line and "not read" in line for line in report.lines())


# --- what is caught


def test_one_digit_painted_over(
    film: Path, check: Check, encode: Encode, last_digit: Any, holds: Any, tmp_path: Path
) -> None:
    hold = holds["b2"]
    frames = range(hold.first, hold.last + 1)
    report = check(encode(film / "clips" / "b2.mp4", tmp_path / "b2.mp4", paint=last_digit(frames)))
    [finding] = report.findings
    assert (finding.state, finding.first, finding.last) == ("b2", hold.first, hold.last)
    assert (finding.ref, finding.expected, finding.found) == ("ln.var[0]", "0.592455", "0.592454")
    assert str(finding) == (
        f"b2, {hold.first / 5:.2f} to {(hold.last + 1) / 5:.2f} s (frames {hold.first} to {hold.last}): "
        "ln.var[0] should read 0.592455; there is 0.592454"
    )
    assert not report.passed


def test_one_digit_on_one_frame_of_a_film_encoded_badly_and_halved(
    film: Path, check: Check, encode: Encode, last_digit: Any, holds: Any, tmp_path: Path
) -> None:
    hold = holds["b2"]
    frame = hold.start + hold.last - 2
    painted = encode(film / "film.mp4", tmp_path / "painted.mp4", paint=last_digit(range(frame, frame + 1)))
    report = check(encode(painted, tmp_path / "small.mp4", crf=28, size=(480, 270)))
    assert [(finding.ref, finding.found, finding.first, finding.last) for finding in report.findings] == [
        ("ln.var[0]", "0.592454", frame, frame)
    ]


def test_a_number_wiped_out(film: Path, check: Check, encode: Encode, holds: Any, tmp_path: Path) -> None:
    left, top, width, height = (round(side) for side in holds["b3"].boxes["ln.out[0,3]"])

    def wipe(_number: int, brightness: NDArray[np.uint8]) -> None:
        part = brightness[top - 1 : top + height + 1, left - 1 : left + width + 1]
        part[:] = part[0, 0]

    report = check(encode(film / "clips" / "b3.mp4", tmp_path / "b3.mp4", paint=wipe))
    [finding] = [finding for finding in report.findings if finding.last == holds["b3"].last]
    assert (finding.ref, finding.expected, finding.found) == ("ln.out[0,3]", "−1.435", None)
    assert "there is nothing to be read" in finding.reason


def test_a_stroke_beside_the_numbers(film: Path, check: Check, encode: Encode, holds: Any, tmp_path: Path) -> None:
    def strike(number: int, brightness: NDArray[np.uint8]) -> None:
        if number == holds["b4"].last:
            brightness[480:484, 300:400] = 200

    report = check(encode(film / "clips" / "b4.mp4", tmp_path / "b4.mp4", paint=strike))
    [finding] = report.findings
    assert (finding.state, finding.first, finding.last, finding.ref) == ("b4", *[holds["b4"].last] * 2, None)
    assert finding.box is not None
    left, top, width, height = finding.box
    assert (left <= 300, left + width >= 400) == (True, True)
    assert (top <= 480, top + height >= 484) == (True, True)


def test_two_clips_swapped_in_the_film(film: Path, check: Check, splice: Any, holds: Any, tmp_path: Path) -> None:
    clips = [film / "clips" / f"{state}.mp4" for state in ("b4", "b5", "b1", "b0", "b2", "b3")]
    report = check(splice(clips, tmp_path / "film.mp4", like=film / "film.mp4"))
    assert {finding.state for finding in report.findings} == {"b0", "b1"}
    last = holds["b2"].start - 1
    end = [finding for finding in report.findings if finding.last == last]
    assert [finding.found for finding in end] == ["b0"]
    assert end[0].reason == "not the picture that should be there, but the finished one of b0"


def test_two_clips_that_have_changed_places(copy: Path, check: Check) -> None:
    b1, b2 = (copy / "clips" / f"{state}.mp4" for state in ("b1", "b2"))
    other = b1.rename(copy / "clips" / "other")
    b2.rename(b1)
    other.rename(b2)
    assert said(check(b1)) == ["this is b1.mp4, and it says that it shows b2"]
    assert said(check(b2)) == ["this is b2.mp4, and it says that it shows b1"]


def test_a_clip_that_passes_for_another(copy: Path, film: Path, check: Check, splice: Any) -> None:
    report = check(splice([film / "clips" / "b2.mp4"], copy / "clips" / "b1.mp4", like=film / "clips" / "b1.mp4"))
    assert not report.passed
    assert "its last picture is that of b2" in said(report)[-1]


def test_frames_of_another_example(
    film: Path, foreign: Any, check: Check, encode: Encode, holds: Any, tmp_path: Path
) -> None:
    hold = holds["b2"]
    frames = range(hold.first + 2, hold.first + 5)

    def insert(number: int, brightness: NDArray[np.uint8]) -> None:
        if number in frames:
            brightness[:] = foreign[-1]

    report = check(encode(film / "clips" / "b2.mp4", tmp_path / "b2.mp4", paint=insert))
    assert {(finding.state, finding.first, finding.last) for finding in report.findings} == {
        ("b2", frames[0], frames[-1])
    }
    found = {finding.ref: (finding.expected, finding.found) for finding in report.findings}
    assert found["resid_pre[0,1]"] == ("0", "0.010")
    assert found["ln.mean[0]"][0] == "1.098888"
    assert found["ln.mean[0]"][1] not in (None, "1.098888")


def test_motion_of_another_example(film: Path, foreign: Any, check: Check, encode: Encode, tmp_path: Path) -> None:
    def insert(number: int, brightness: NDArray[np.uint8]) -> None:
        if number < 3:
            brightness[:] = foreign[number]

    report = check(encode(film / "clips" / "b2.mp4", tmp_path / "b2.mp4", paint=insert))
    assert not report.passed
    assert {finding.state for finding in report.findings} == {"b2"}
    assert max(finding.last or 0 for finding in report.findings) < 3


def test_a_manifest_that_was_edited(copy: Path, check: Check) -> None:
    manifest = copy / "values.json"
    manifest.write_text(manifest.read_text().replace('"text":"0.592455"', '"text":"0.592454"'))
    report = check(copy / "film.mp4")
    changed, in_b2, *more = report.findings
    assert str(changed) == "values.json: changed; it is not the one that the video was published with"
    assert (in_b2.state, in_b2.ref, in_b2.expected, in_b2.found) == ("b2", "ln.var[0]", "0.592455", "0.592454")
    assert [finding.state for finding in more] == ["b3"]
    assert check(copy / "clips" / "b4.mp4").findings == (changed,)


def test_an_example_that_was_edited_in_the_video(film: Path, copy: Path, splice: Any) -> None:
    example = json.loads(read_metadata(film / "film.mp4")["comment"])["example"]
    example["input"]["x"][0][1] = 0.01
    target = copy / "clips" / "b2.mp4"
    report = verify(splice([film / "clips" / "b2.mp4"], target, like=film / "clips" / "b2.mp4", example=example))
    assert "values.json: example: not that of the video, so neither is the rest" in said(report)
    wrong = {finding.ref: (finding.expected, finding.found) for finding in report.findings if finding.ref}
    assert wrong["resid_pre[0,1]"] == ("0.010", "0")
    assert wrong["ln.var[0]"][1] == "0.592455"


def test_an_example_that_was_edited_in_its_file(film: Path, r44: Example, stagings: Stagings) -> None:
    assert verify(film / "clips" / "b4.mp4", r44, stagings).passed
    edited = replace(r44, eps=1e-6)
    report = verify(film / "clips" / "b4.mp4", edited, stagings)
    assert said(report) == ["made from another example than the one given: layer_norm.eps"]
    assert not report.passed


# --- what cannot be checked


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"film": "r45"}, "film: 'r45' is not known"),
        ({"state": "b9"}, "state: 'b9' is not one of b4, b5, b0, b1, b2, b3"),
        ({"theme": "pink"}, "theme: 'pink'"),
        ({"language": "xx"}, "language: 'xx'"),
        ({"pace": None}, "its metadata are damaged: there is no pace"),
        ({"pace": 0.2}, "its metadata are damaged: pace 0.2; films have one from 0.25 to 4"),
        ({"pace": 0}, "pace 0;"),
        ({"pace": float("nan")}, "pace nan;"),
        ({"pace": float("inf")}, "pace inf;"),
        ({"pace": 10**400}, "pace 1000000"),
        ({"pace": True}, "there is no pace"),
        ({"addnorm": "x" * 70_000}, "its metadata are damaged: 7"),
        ({"values_sha256": 3}, "its metadata are damaged: there is no values_sha256"),
        ({"example": {"id": "r44"}}, "input.x: missing"),
        ({"example": {"id": "mine", "digest": "0" * 64}}, "its example, mine, is too large to be carried along"),
    ],
)
def test_metadata_that_say_nothing_usable(
    film: Path, splice: Any, tmp_path: Path, changes: dict[str, Any], complaint: str
) -> None:
    clip = film / "clips" / "b4.mp4"
    report = verify(splice([clip], tmp_path / "clip.mp4", like=clip, **changes))
    assert not report.passed
    assert complaint in said(report)[-1]


def test_no_metadata_at_all(film: Path, tmp_path: Path) -> None:
    with av.open(str(film / "clips" / "b4.mp4")) as source, av.open(str(tmp_path / "bare.mp4"), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.size:
                packet.stream = stream
                target.mux(packet)
    report = verify(tmp_path / "bare.mp4")
    assert said(report) == ["its metadata do not say what it was made from, as addnorm's do"]


def test_a_large_example_that_is_given(
    film: Path, splice: Any, r44: Example, stagings: Stagings, tmp_path: Path
) -> None:
    clip = film / "clips" / "b4.mp4"
    record = {"id": "mine", "digest": r44.digest}
    video = splice([clip], tmp_path / "clip.mp4", like=clip, example=record)
    assert verify(video, r44, stagings).passed
    assert said(verify(video, replace(r44, eps=1e-6), stagings)) == ["made from another example than the one given"]


def test_a_large_example_that_is_bundled(film: Path, check: Check, splice: Any, r44: Example, tmp_path: Path) -> None:
    clip = film / "clips" / "b4.mp4"
    assert check(splice([clip], tmp_path / "clip.mp4", like=clip, example={"id": "r44", "digest": r44.digest})).passed


def test_a_frame_too_few(film: Path, check: Check, tmp_path: Path) -> None:
    frames = frame_count(film / "clips" / "b4.mp4")
    with av.open(str(film / "clips" / "b4.mp4")) as source, av.open(str(tmp_path / "short.mp4"), "w") as target:
        target.metadata.update(source.metadata)
        stream = target.add_stream_from_template(source.streams.video[0])
        for number, packet in enumerate(source.demux(video=0)):
            if packet.size and number < frames - 1:
                packet.stream = stream
                target.mux(packet)
    report = check(tmp_path / "short.mp4")
    assert said(report) == [
        f"{frames - 1} frames; what it shows takes {frames}; its last picture is that of b4"
    ]


def stream_copy(source: Path, target: Path, prepare: Callable[[Any, Any], None]) -> Path:
    """The same pictures in a file that tells players something else about them."""
    with av.open(str(source)) as reading, av.open(str(target), "w", format="mp4") as writing:
        writing.metadata.update(reading.metadata)
        stream = writing.add_stream_from_template(reading.streams.video[0])
        prepare(writing, stream)
        for packet in reading.demux(video=0):
            if packet.size:
                packet.stream = stream
                writing.mux(packet)
    return target


@pytest.mark.parametrize("turn", [{"degrees": 180}, {"degrees": 0, "hflip": True}, {"degrees": 90}])
def test_pictures_that_players_turn(film: Path, check: Check, tmp_path: Path, turn: dict[str, Any]) -> None:
    clip = film / "clips" / "b4.mp4"
    turned = stream_copy(clip, tmp_path / "b4.mp4", lambda _, stream: stream.set_display_rotation(**turn))
    assert said(check(turned)) == ["players are told to turn or mirror its pictures"]


def test_pictures_that_players_stretch(film: Path, check: Check, tmp_path: Path) -> None:
    def stretch(_file: Any, stream: Any) -> None:
        stream.sample_aspect_ratio = Fraction(3, 4)

    stretched = stream_copy(film / "clips" / "b4.mp4", tmp_path / "b4.mp4", stretch)
    assert said(check(stretched)) == ["players are told to stretch its pictures to 720 × 540"]


def test_a_second_video_in_the_file(film: Path, check: Check, tmp_path: Path) -> None:
    def add(file: Any, _stream: Any) -> None:
        second = file.add_stream("libx264", rate=5)
        second.width, second.height, second.pix_fmt = 64, 36, "yuv420p"
        file.mux(second.encode(av.VideoFrame(64, 36, "yuv420p")))
        file.mux(second.encode(None))

    [finding] = said(check(stream_copy(film / "clips" / "b4.mp4", tmp_path / "b4.mp4", add)))
    assert finding == "2 videos are in the file, and a player may show the other; only the first is compared"


@pytest.mark.parametrize(("rate", "said_of_it"), [(24, "24 frames a second"), (120, "120 frames a second")])
def test_a_frame_rate_at_which_no_film_is_made(rate: int, said_of_it: str) -> None:
    with pytest.raises(AddnormError, match=said_of_it):
        require_comparable(Screening(1280, 720, Fraction(rate), 1, Fraction(1), upright=True))


@pytest.mark.parametrize(
    ("state", "size"), [("b2", (848, 480)), ("b3", (720, 406)), ("b1", (428, 240)), ("b0", (856, 480))]
)
def test_sizes_that_are_not_quite_16_to_9(
    film: Path,
    check: Check,
    encode: Encode,
    tmp_path: Path,
    state: str,
    size: tuple[int, int],
) -> None:
    report = check(encode(film / "clips" / f"{state}.mp4", tmp_path / "small.mp4", crf=28, size=size))
    assert report.passed, said(report)
    assert report.readings > 0


def test_one_digit_in_a_size_that_is_not_quite_16_to_9(
    film: Path, check: Check, encode: Encode, last_digit: Any, holds: Any, tmp_path: Path
) -> None:
    frame = holds["b2"].last
    painted = encode(film / "clips" / "b2.mp4", tmp_path / "painted.mp4", paint=last_digit(range(frame, frame + 1)))
    report = check(encode(painted, tmp_path / "small.mp4", crf=28, size=(848, 480)))
    assert [(finding.ref, finding.found, finding.first) for finding in report.findings] == [
        ("ln.var[0]", "0.592454", frame)
    ]


def test_colours_that_have_changed_places(film: Path, check: Check, encode: Encode, holds: Any, tmp_path: Path) -> None:
    last = holds["b1"].last

    def swap(number: int, planes: NDArray[np.uint8]) -> None:
        if number == last:
            blue, red = planes[540:675].copy(), planes[675:].copy()
            planes[540:675], planes[675:] = red, blue

    report = check(encode(film / "clips" / "b1.mp4", tmp_path / "b1.mp4", recolour=swap))
    [finding] = report.findings
    assert (finding.state, finding.first, finding.last) == ("b1", last, last)
    assert "not the colours that should be there, between" in finding.reason


def test_a_frame_of_a_motion_between_two_beats(order: Order, encode: Encode, tmp_path: Path) -> None:
    tuple(render([replace(order, size=Size(640, 360, 15), states=("b3",))], tmp_path, 1))
    [clip] = tmp_path.glob("**/b3.mp4")

    def strike(number: int, brightness: NDArray[np.uint8]) -> None:
        if number == 7:
            brightness[320:328, 100:200] = 200

    report = verify(encode(clip, tmp_path / "struck.mp4", paint=strike))
    assert report.compared == report.frames
    assert [(finding.state, finding.first, finding.last) for finding in report.findings] == [("b3", 7, 7)]
    assert verify(clip).passed


def test_another_shape(film: Path, encode: Encode, tmp_path: Path) -> None:
    report = verify(encode(film / "clips" / "b4.mp4", tmp_path / "square.mp4", size=(540, 540)))
    assert said(report) == ["540 × 540 pixels are not 16 : 9"]


def test_numbers_too_small_to_be_read(film: Path, encode: Encode, tmp_path: Path) -> None:
    report = verify(encode(film / "clips" / "b0.mp4", tmp_path / "tiny.mp4", size=(240, 136)))
    assert not report.passed
    assert len(report.unread) == report.numbers == 11
    assert "none of its numbers could be read" in said(report)


def test_pictures_too_small_to_be_compared(film: Path, encode: Encode, tmp_path: Path) -> None:
    report = verify(encode(film / "clips" / "b4.mp4", tmp_path / "tiny.mp4", size=(32, 18)))
    assert said(report) == ["32 × 18 pixels are too few to be compared"]
    assert not report.passed


@pytest.mark.parametrize("content", [b"", b"not a video", b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom"])
def test_what_is_no_video(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "no.mp4").write_bytes(content)
    report = verify(tmp_path / "no.mp4")
    assert not report.passed
    assert "cannot be read as mp4" in said(report)[0]


# --- how it is reported


def test_nothing_looked_at_is_no_pass() -> None:
    assert not Report(Path("film.mp4")).passed
    assert Report(Path("film.mp4"), compared=1).passed
    assert not Report(Path("film.mp4"), compared=1, findings=(Finding("something"),)).passed


def test_long_reports_are_cut_and_json_is_whole() -> None:
    findings = tuple(Finding("wrong", "b2", n, n) for n in range(30))
    report = Report(Path("film.mp4"), made_by="0.0.1", findings=findings)
    lines = report.lines()
    assert lines[0] == "film.mp4: WRONG"
    assert lines[1:21] == tuple(f"  b2, frame {n}: wrong" for n in range(20))
    assert lines[21] == "  and 10 more, which --json lists"
    assert lines[22].startswith("  made by addnorm 0.0.1; this is ")
    assert len(report.as_json()["findings"]) == 30


def test_what_others_wrote_is_printed_escaped() -> None:
    report = Report(Path("a\x1b[2J\nfilm.mp4: right"), findings=(Finding("state: '\x07\u202eb2'\r\n"),))
    lines = report.lines()
    assert lines[0] == r"a\x1b[2J\nfilm.mp4: right: WRONG"
    assert lines[1] == r"  state: '\x07\u202eb2'\r\n"
    assert "x" * 400 not in "".join(Report(Path("a.mp4"), findings=(Finding("x" * 10**6),)).lines())


def test_names_that_are_no_text_are_reported(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    odd = tmp_path / "\udcff\n.mp4"
    odd.write_bytes(b"")
    assert addnorm(("verify", str(odd))) == 1
    assert rb"\udcff\n.mp4: WRONG" in capsysbinary.readouterr().out
    assert addnorm(("verify", str(odd), "--json")) == 1
    assert json.loads(capsysbinary.readouterr().out)["videos"][0]["path"] == str(odd)


def test_a_clip_without_numbers_says_so(film: Path, check: Check) -> None:
    report = check(film / "clips" / "b4.mp4")
    assert report.passed
    assert report.lines()[-1].endswith("every frame compared; there are no numbers in b4")


def test_the_command(film: Path, copy: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert addnorm(("verify", str(film / "clips" / "b4.mp4"))) == 0
    assert capsysbinary.readouterr().out.decode().splitlines()[0] == f"{film / 'clips' / 'b4.mp4'}: right"
    (copy / "values.json").write_bytes(b"{}")
    clips = [str(folder / "clips" / "b4.mp4") for folder in (film, copy)]
    assert addnorm(("verify", *clips, "--json", "--example", "r44")) == 1
    printed = json.loads(capsysbinary.readouterr().out, parse_constant=pytest.fail)
    assert (printed["passed"], [video["passed"] for video in printed["videos"]]) == (False, [True, False])
    assert printed["videos"][0]["frames"] == frame_count(film / "clips" / "b4.mp4")
    assert addnorm(("verify", str(film / "clips" / "b7.mp4"))) == 2
    assert b"b7.mp4: no video there" in capsysbinary.readouterr().err


def test_a_folder_stands_for_all_videos_in_it(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for state in ("b5", "b0", "b1", "b2", "b3"):
        (copy / "clips" / f"{state}.mp4").unlink()
    (copy / "film.mp4").write_bytes((copy / "clips" / "b4.mp4").read_bytes())  # which takes less time
    assert main([copy], as_json=False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.endswith(": right")] == [
        f"{copy / name}: right" for name in ("film.mp4", "clips/b4.mp4")
    ]
    with pytest.raises(AddnormError, match="no video there"):
        main([copy / "stills"], as_json=False)
