"""What is told of a frame without drawing it is what its values.json says and what is seen on it in the video."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import manim
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from addnorm.mathcore import AddnormError, load_example, run
from addnorm.mathcore.trace import Trace
from addnorm.scenes import frames
from addnorm.scenes.audit import AuditError
from addnorm.scenes.films import FILMS
from addnorm.scenes.films.r44.scene import R44
from addnorm.scenes.frames import frame_still, frame_values
from addnorm.scenes.manifest import Json, labels_at, labels_at_time
from addnorm.scenes.paths import asset
from addnorm.scenes.render import Order, render
from addnorm.scenes.snapshots import FrameValues
from addnorm.scenes.stage import Picture
from addnorm.scenes.subject import Subject
from addnorm.scenes.video import decode_frames, parse_size

SIZE = "480p15"


@pytest.fixture(scope="module")
def trace() -> Trace:
    return run(load_example(asset("examples", "r44.toml")))


@pytest.fixture(scope="module")
def film(trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """R44 at four times its pace, as it is published."""
    out = tmp_path_factory.mktemp("out")
    order = Order(FILMS["r44"], trace, size=parse_size(SIZE), pace=4)
    assert [*render([order], out, jobs=1)]
    return out / order.folder


@pytest.fixture(scope="module")
def manifest(film: Path) -> Json:
    values: Json = json.loads((film / "values.json").read_bytes())
    return values


def values_of(example: Subject, **where: Any) -> FrameValues:
    return frame_values(example, size=SIZE, pace=4, **where)


def test_every_frame_is_told_as_in_values_json(manifest: Json, trace: Trace) -> None:
    told = 0
    for clip in manifest["clips"]:
        for frame in range(clip["frames"]):
            values = values_of(trace, state=clip["state"], frame=frame)
            assert values == labels_at(manifest, clip["state"], frame)
            told += len(values)
    assert told > 1000
    assert {label["phase"] for clip in manifest["clips"] for span in clip["spans"] for label in span["labels"]} == {
        "shown",
        "moving",
        "fading",
    }


def test_every_time_is_told_as_in_values_json(manifest: Json, trace: Trace) -> None:
    last = manifest["clips"][-1]
    total = last["first_frame"] + last["frames"]
    for n in range(total):
        for time in (Fraction(n, 15), Fraction(2 * n + 1, 30)):
            assert values_of(trace, time=float(time)) == labels_at_time(manifest, float(time))
    with pytest.raises(AddnormError, match=f"the film lasts from 0 to {total / 15:g} s"):
        values_of(trace, time=total / 15)


def test_a_time_is_on_a_frame_of_a_state(manifest: Json, trace: Trace) -> None:
    for clip in manifest["clips"]:
        values = values_of(trace, time=clip["first_frame"] / 15, state=clip["state"])
        assert (values.state, values.frame) == (clip["state"], 0)


def test_a_state_alone_is_its_last_frame(manifest: Json, trace: Trace) -> None:
    values = values_of(trace, state="b2")
    [clip] = [clip for clip in manifest["clips"] if clip["state"] == "b2"]
    assert values.frame == clip["frames"] - 1
    assert values == labels_at(manifest, "b2", values.frame)
    assert values.texts["ln.var[0]"] == "0.592455"


@pytest.mark.parametrize("ref", ["ln.mean[0]", "ln.var[0]"])
def test_what_is_told_is_what_is_seen_in_the_video(film: Path, trace: Trace, ref: str) -> None:
    """Where the picture before has left, there is ink in a label's box on exactly the frames it is told of."""
    [box] = [label.box for label in values_of(trace, state="b2") if label.ref == ref]
    x, y, width, height = map(round, box)
    pictures = [picture[y : y + height, x : x + width] for picture in decode_frames(film / "clips/b2.mp4")]
    seen = [int(np.ptp(picture.astype(np.int16))) > 30 for picture in pictures]
    told = [ref in values_of(trace, state="b2", frame=n).texts for n in range(len(seen))]
    empty = seen.index(False)
    assert seen[empty:] == told[empty:]
    assert told.index(True) - empty > 5
    assert not any(told[:empty])


def test_another_language_and_no_captions_are_told_apart(trace: Trace) -> None:
    zh, en, bare = (values_of(trace, state="b1", **how) for how in ({}, {"lang": "en"}, {"captions": False}))
    assert zh.texts == en.texts == bare.texts
    assert (zh.title, en.title) == (f"r44 zh {SIZE}, last frame of b1", f"r44 en {SIZE}, last frame of b1")


def test_an_example_has_many_forms(trace: Trace, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(asset("examples", "r44.toml").read_bytes())
    forms: tuple[Subject, ...] = ("r44", str(file), file, trace.example, trace)
    assert len({values_of(form, state="b0") for form in forms}) == 1


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = asset("examples", "r44.toml").read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    before = values_of(file, state="b0")
    file.write_text(text.replace("[1, 0, 1, 0]", "[1, 0, 1, 3]", 1), encoding="utf-8")
    differences = values_of(file, state="b0").differences(before.content())
    assert "b0: resid_pre[0,3] read 0, now 3" in differences


def other(trace: Trace) -> Trace:
    x = trace.example.x.copy()
    x[0, 3] = 0.5
    return run(replace(trace.example, x=x))


def test_another_trace_is_told_apart_even_where_memory_is_short(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MOST_FILMS", 1)
    monkeypatch.setattr(frames, "_reels", {})
    for subject, text in ((trace, "0"), (other(trace), "0.500"), (trace, "0")):
        assert values_of(subject, state="b0").texts["resid_pre[0,3]"] == text


@pytest.fixture
def plays(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Which states have been played, from now on."""
    played: list[tuple[str, ...]] = []
    render = R44.render

    def note(stage: R44, *arguments: Any) -> bool:
        played.append(stage.playing)
        return render(stage, *arguments)

    monkeypatch.setattr(R44, "render", note)
    monkeypatch.setattr(frames, "_reels", {})
    return played


def test_a_film_is_played_as_far_as_needed_and_once(plays: list[tuple[str, ...]], trace: Trace) -> None:
    for _ in range(2):
        values_of(trace, state="b5", frame=3)
        values_of(trace, time=0.5)
    assert plays == [("b5",), ("b4",)]


def test_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch, trace: Trace) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("drawn")

    monkeypatch.setattr(manim.Camera, "get_cairo_context", refuse)
    monkeypatch.setattr(frames, "_reels", {})
    assert values_of(trace, state="b1").texts["resid_mid[0,1]"] == "1.599"
    with pytest.raises(AssertionError, match="drawn"):
        frame_still(trace, state="b1", size=SIZE)


def test_a_wrong_number_is_not_told_but_raised(trace: Trace) -> None:
    class Wrong(R44):
        def enter_b0(self, before: Picture, after: Picture) -> None:
            self.add(manim.Text("0.592454"))
            super().enter_b0(before, after)

    with pytest.raises(AuditError, match=r"state b0, frame 0: .* neither comes from the text factory"):
        values_of(trace, state="b0", scene=Wrong)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({}, "state: none is given"),
        ({"state": "b9"}, "state: 'b9' is not in the film; give one of b4, b5, b0, b1, b2, b3"),
        ({"state": "details"}, "state: 'details' is not in the film"),
        ({"state": "b4", "frame": -1}, "frame: -1 of b4; its frames count from 0 to "),
        ({"state": "b4", "frame": 10000}, "frame: 10000 of b4; its frames count from 0 to "),
        ({"state": "b4", "frame": 1, "time": 1}, "frame: 1 beside a time; give one of the two"),
        ({"time": -0.1}, "time: -0.1 s; the film lasts from 0 to "),
        ({"time": 0.1, "state": "b5"}, "time: 0.1 s of the film is in b4, not in b5"),
        ({"state": "b4", "lang": "fr"}, "language: 'fr' has no catalogue"),
    ],
)
def test_a_frame_that_is_not_there_is_refused(trace: Trace, where: dict[str, Any], message: str) -> None:
    with pytest.raises(AddnormError) as refusal:
        values_of(trace, **where)
    assert message in str(refusal.value)


def test_an_unknown_example_or_size_is_refused(trace: Trace) -> None:
    with pytest.raises(AddnormError, match="no example of this name"):
        frame_values("r45", state="b4")
    with pytest.raises(AddnormError, match="write HEIGHTpRATE"):
        frame_values(trace, state="b4", size="1080p")


def pixels(png: bytes) -> NDArray[np.uint8]:
    return np.asarray(Image.open(BytesIO(png)))


def test_a_still_is_the_one_that_is_published(film: Path, trace: Trace) -> None:
    for state in ("b2", "details"):
        still = frame_still(trace, state=state, size=SIZE)
        assert np.array_equal(pixels(still.png), pixels((film / f"stills/{state}.png").read_bytes()))


def test_a_still_has_its_theme(trace: Trace) -> None:
    dark, light = (pixels(frame_still(trace, state="b4", size=SIZE, theme=theme).png) for theme in ("dark", "light"))
    assert dark.mean() < 64
    assert light.mean() > 192
