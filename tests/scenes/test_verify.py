"""A finished video is checked against the math: what is right passes, and each way to tamper is caught.

The film here is R44 in English, at four times its pace, 480 pixels high, rendered once.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from addnorm.mathcore import load_example, run
from addnorm.mathcore.trace import Trace
from addnorm.scenes.films import FILMS
from addnorm.scenes.manifest import Json, labels_at
from addnorm.scenes.paths import asset
from addnorm.scenes.render import Order, render
from addnorm.scenes.verify import main, verify
from addnorm.scenes.video import decode_frames, encode_clip, parse_size, read_metadata

SIZE = parse_size("480p15")
Frames = Iterator[NDArray[np.uint8]]


def rendered(trace: Trace, out: Path) -> Path:
    order = Order(FILMS["r44"], trace, language="en", size=SIZE, pace=4)
    for _ in render([order], out, jobs=2):
        pass
    [film] = out.glob("*/*/film.mp4")
    return film.parent


@pytest.fixture(scope="module")
def trace() -> Trace:
    return run(load_example(asset("examples", "r44.toml")))


@pytest.fixture(scope="module")
def film(trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an intact film. Copied before anything is done to it."""
    return rendered(trace, tmp_path_factory.mktemp("film"))


@pytest.fixture(scope="module")
def other(trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same film of other numbers."""
    x = trace.example.x.copy()
    x[0, 3] = 0.5
    return rendered(run(replace(trace.example, x=x)), tmp_path_factory.mktemp("other"))


@pytest.fixture
def copy(film: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(film, tmp_path / "copy"))


def remade(source: Path, target: Path, change: Callable[[Frames], Frames]) -> Path:
    """A video with its frames changed, and what it says of itself kept."""
    with encode_clip(target, SIZE, comment=read_metadata(source)["comment"]) as clip:
        for frame in change(decode_frames(source)):
            clip.write(np.dstack([frame, np.full(frame.shape[:2], 255, np.uint8)]))
    return target


def box_of(folder: Path, state: str, ref: str) -> tuple[int, int, int, int]:
    """Where a number stands on the last picture of a state: left, top, width, height."""
    manifest: Json = json.loads((folder / "values.json").read_text(encoding="utf-8"))
    frames = next(clip["frames"] for clip in manifest["clips"] if clip["state"] == state)
    shown = next(label for label in labels_at(manifest, state, frames - 1) if label.ref == ref)
    x, y, width, height = (round(side) for side in shown.box)
    return x, y, width, height


def copying_last_digit(box: tuple[int, int, int, int]) -> Callable[[Frames], Frames]:
    """The last of a number's eight characters painted over with the one before: 0.592455 becomes …4 by its 4."""
    x, y, width, height = box
    digit = width / 7.5

    def change(frames: Frames) -> Frames:
        for frame in frames:
            painted = frame.copy()
            source, target = round(x + 4.5 * digit), round(x + 6.5 * digit)
            painted[y - 2 : y + height + 2, target : target + round(digit)] = frame[
                y - 2 : y + height + 2, source : source + round(digit)
            ]
            yield painted

    return change


def test_an_intact_film_and_its_clips_pass(film: Path) -> None:
    for video in (film / "film.mp4", film / "clips" / "b2.mp4", film / "clips" / "b3.mp4"):
        report = verify(video)
        assert report.passed, "\n".join(report.lines())
        assert report.readings > 100
        assert report.compared > 20
    assert main([film], as_json=False) == 0


def test_the_film_alone_is_enough(film: Path, tmp_path: Path) -> None:
    alone = Path(shutil.copy(film / "film.mp4", tmp_path / "alone.mp4"))
    report = verify(alone)
    assert report.passed
    assert report.manifest is None
    assert report.readings > 500


def test_the_report_for_machines_is_strict_json(film: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main([film / "clips" / "b2.mp4"], as_json=True) == 0
    assert json.loads(capsysbinary.readouterr().out)["passed"] is True


def test_a_film_encoded_again_passes(film: Path, tmp_path: Path) -> None:
    source, again = film / "clips" / "b2.mp4", tmp_path / "b2.mp4"
    with av.open(str(source)) as container, av.open(str(again), "w") as target:
        target.metadata["comment"] = read_metadata(source)["comment"]
        stream = target.add_stream("libx264", rate=SIZE.frame_rate, options={"crf": "28"})
        stream.width, stream.height, stream.pix_fmt = SIZE.width, SIZE.height, "yuv420p"
        stream.color_range, stream.colorspace = 1, 1  # as the source is tagged: limited range, BT.709
        for frame in container.decode(video=0):
            plain = frame.reformat(format="yuv420p")
            plain.pict_type = 0
            target.mux(stream.encode(plain))
        target.mux(stream.encode())
    report = verify(again)
    assert report.passed, "\n".join(report.lines())


def test_one_digit_painted_over_is_named(film: Path, copy: Path) -> None:
    box = box_of(film, "b2", "ln.var[0]")
    clip = copy / "clips" / "b2.mp4"
    remade(film / "clips" / "b2.mp4", clip, copying_last_digit(box))
    report = verify(clip)
    assert not report.passed
    said = "\n".join(report.lines())
    assert "ln.var[0]" in said
    assert "0.592455" in said


def test_the_same_frames_made_again_pass(film: Path, copy: Path) -> None:
    """What catches the painted digit is the digit, not that the clip was made again."""
    clip = copy / "clips" / "b2.mp4"
    remade(film / "clips" / "b2.mp4", clip, lambda frames: frames)
    assert verify(clip).passed


def test_swapped_clips_are_caught(copy: Path) -> None:
    first, second = copy / "clips" / "b1.mp4", copy / "clips" / "b2.mp4"
    kept = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(kept)
    assert not verify(first).passed
    assert not verify(second).passed


def test_another_examples_frames_are_caught(film: Path, other: Path, copy: Path) -> None:
    clip = copy / "clips" / "b1.mp4"
    foreign = list(decode_frames(other / "clips" / "b1.mp4"))

    def change(frames: Frames) -> Frames:
        own = list(frames)
        assert len(own) == len(foreign)
        yield from own[:-12]
        yield from foreign[-12:-4]
        yield from own[-4:]

    remade(film / "clips" / "b1.mp4", clip, change)
    report = verify(clip)
    assert not report.passed
    assert "b1" in "\n".join(report.lines())


def test_an_edited_manifest_is_caught(copy: Path) -> None:
    path = copy / "values.json"
    text = path.read_text(encoding="utf-8")
    assert "0.592455" in text
    path.write_text(text.replace("0.592455", "0.592454"), encoding="utf-8")
    assert not verify(copy / "film.mp4").passed


def test_an_edited_example_is_caught(film: Path, tmp_path: Path) -> None:
    origin = read_metadata(film / "clips" / "b1.mp4")["comment"]
    claim = json.loads(origin)
    claim["example"]["input"]["x"][0][3] = 0.5
    target = tmp_path / "b1.mp4"
    with encode_clip(target, SIZE, comment=json.dumps(claim, ensure_ascii=False)) as clip:
        for frame in decode_frames(film / "clips" / "b1.mp4"):
            clip.write(np.dstack([frame, np.full(frame.shape[:2], 255, np.uint8)]))
    report = verify(target)
    assert not report.passed
    assert "resid_pre[0,3]" in "\n".join(report.lines())


def test_missing_frames_are_caught(film: Path, copy: Path) -> None:
    clip = copy / "clips" / "b3.mp4"
    remade(film / "clips" / "b3.mp4", clip, lambda frames: iter(list(frames)[:-3]))
    assert not verify(clip).passed


def test_what_says_nothing_of_itself_fails(tmp_path: Path) -> None:
    with encode_clip(tmp_path / "b2.mp4", SIZE, comment="") as clip:
        clip.write(np.zeros((SIZE.height, SIZE.width, 4), np.uint8), repeat=30)
    assert not verify(tmp_path / "b2.mp4").passed
    (tmp_path / "noise.mp4").write_bytes(b"\0" * 5000)
    assert not verify(tmp_path / "noise.mp4").passed
