"""From an order to files: what is published, that it agrees with itself, and that nothing wrong is published.

The films here are R44 at four times its pace, in small pictures.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from jsonschema import Draft202012Validator
from numpy.typing import NDArray
from PIL import Image

from addnorm.mathcore import AddnormError, load_example, run
from addnorm.mathcore.trace import Trace
from addnorm.scenes.films import FILMS
from addnorm.scenes.manifest import Json, labels_at
from addnorm.scenes.paths import asset
from addnorm.scenes.render import Failed, Order, Published, Taken, render
from addnorm.scenes.video import Size, decode_frames, read_metadata

STATES = ("b4", "b5", "b0", "b1", "b2", "b3")
SMALL = Size(320, 180, 15)
WHOLE = {
    "film.mp4",
    "values.json",
    "captions.srt",
    "captions.vtt",
    "transcript.md",
    *(f"clips/{state}.mp4" for state in STATES),
    *(f"stills/{state}.{kind}" for state in (*STATES, "details") for kind in ("png", "svg")),
}


@pytest.fixture(scope="module")
def trace() -> Trace:
    return run(load_example(asset("examples", "r44.toml")))


@pytest.fixture(scope="module")
def order(trace: Trace) -> Order:
    return Order(FILMS["r44"], trace, size=SMALL, pace=4)


def other(order: Order, **changes: Any) -> Order:
    """The order with another number in x."""
    x = order.trace.example.x.copy()
    x[0, 3] = 0.5
    return replace(order, trace=run(replace(order.trace.example, x=x)), **changes)


def filled(orders: Sequence[Order], out: Path, jobs: int = 1) -> list[Published]:
    """Fill orders and say what was published; raise the error of the first that failed, once all are done."""
    steps = list(render(orders, out, jobs))
    for step in steps:
        if isinstance(step, Failed):
            raise step.error
    return [step for step in steps if isinstance(step, Published)]


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder, work in progress included, but not what is kept for later."""
    kept = folder / ".addnorm" / "cache"
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_relative_to(kept))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def out(order: Order, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output folder with the whole film."""
    folder = tmp_path_factory.mktemp("it's {here} 中文")
    filled([order], folder)
    return folder


@pytest.fixture(scope="module")
def film(out: Path) -> Path:
    return out / "r44" / "zh-180p15"


@pytest.fixture(scope="module")
def values(film: Path) -> Json:
    manifest: Json = json.loads((film / "values.json").read_bytes())
    return manifest


@pytest.fixture
def copy(film: Path, tmp_path: Path) -> Path:
    """The published film in an output folder to change."""
    for name, content in contents(film).items():
        path = tmp_path / "r44" / "zh-180p15" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "r44" / "zh-180p15"


# --- what is published


def test_the_tree_is_complete_and_nothing_else(out: Path) -> None:
    assert contents(out).keys() == {f"r44/zh-180p15/{name}" for name in WHOLE}
    assert list((out / ".addnorm" / "work").iterdir()) == []


def test_the_bytes_do_not_depend_on_how_many_work(
    out: Path, order: Order, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    steps = list(render([order], Path("-o"), jobs=2))
    assert contents(Path("-o")) == contents(out)
    assert [path.name for path in tmp_path.iterdir()] == ["-o"]  # no folder of manim's
    assert {step.name for step in steps if isinstance(step, Taken)} == {*STATES, "details"}
    assert all(not step.kept for step in steps if isinstance(step, Taken))
    assert steps[-1] == Published(order, (Path("-o/r44/zh-180p15/film.mp4"),))


def test_frames_are_as_many_as_values_json_says(film: Path, values: Json) -> None:
    frames = {clip["state"]: clip["frames"] for clip in values["clips"]}
    assert tuple(frames) == STATES
    for state, count in frames.items():
        assert sum(1 for _ in decode_frames(film / "clips" / f"{state}.mp4")) == count
    assert sum(1 for _ in decode_frames(film / "film.mp4")) == sum(frames.values())
    assert all(count % 3 == 0 for count in frames.values())  # whole beats of 0.2 s


def distance(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> float:
    """Mean difference of two pictures in levels of brightness, which is encoded for every pixel."""
    return float(np.abs((a.astype(float) - b) @ (0.2126, 0.7152, 0.0722)).mean())


def test_every_clip_ends_on_its_still(film: Path) -> None:
    stills = {state: np.asarray(Image.open(film / "stills" / f"{state}.png")) for state in STATES}
    for state, still in stills.items():
        *_, last = decode_frames(film / "clips" / f"{state}.mp4")
        assert still.shape == last.shape == (180, 320, 3)
        distances = {name: distance(picture, last) for name, picture in stills.items()}
        assert distances.pop(state) < 2
        assert min(distances.values()) > 8


def test_the_film_is_its_clips_with_chapters_and_subtitles(film: Path, values: Json) -> None:
    starts = [Fraction(clip["first_frame"], 15) for clip in values["clips"]]
    with av.open(str(film / "film.mp4")) as container:
        chapters = container.chapters()
        assert [chapter["metadata"]["title"][:5] for chapter in chapters] == [f"{state} · " for state in STATES]
        assert [chapter["start"] * Fraction(chapter["time_base"] or 0) for chapter in chapters] == starts
        assert [track.language for track in container.streams.subtitles] == ["zho"]
    srt = (film / "captions.srt").read_text(encoding="utf-8")
    assert srt.count(" --> ") == len(STATES)
    assert "残差直觉" in srt
    assert "残差直觉" in (film / "transcript.md").read_text(encoding="utf-8")
    assert read_metadata(film / "film.mp4")["title"] == "R44 · 残差写回与 LayerNorm"


def provenance(video: Path) -> Json:
    said: Json = json.loads(read_metadata(video)["comment"])
    return said


def test_every_video_says_where_it_comes_from(film: Path, trace: Trace) -> None:
    digest = sha256((film / "values.json").read_bytes()).hexdigest()
    said = provenance(film / "film.mp4")
    assert said.pop("addnorm")
    assert said == {
        "film": "r44",
        "example": trace.example.canonical(),
        "language": "zh",
        "theme": "dark",
        "captions": True,
        "pace": 4,
        "values_sha256": digest,
    }
    for state in STATES:
        clip = provenance(film / "clips" / f"{state}.mp4")
        assert (clip["state"], clip["values_sha256"]) == (state, digest)


# --- values.json


def test_values_json_fits_its_schema(values: Json) -> None:
    schema = json.loads(asset("values.schema.json").read_text(encoding="utf-8"))
    assert list(Draft202012Validator(schema).iter_errors(values)) == []


def test_at_the_end_of_a_clip_exactly_its_states_labels_are_shown(order: Order, values: Json) -> None:
    for clip in values["clips"]:
        labels = labels_at(values, clip["state"], clip["frames"] - 1)
        promised = order.board.state(clip["state"]).labels
        assert sorted((label.ref, label.text, label.value) for label in labels) == sorted(
            (label.ref, label.text, label.value) for label in promised
        )
        assert {label.phase for label in labels} <= {"shown"}
        for label in labels:
            x, y, width, height = label.box
            assert 16 <= x < x + width <= 304  # the safe margin of 5 %
            assert 9 <= y < y + height <= 171


def test_a_label_is_where_the_still_has_ink(film: Path, values: Json) -> None:
    still = np.asarray(Image.open(film / "stills" / "b3.png")).astype(int)
    frames = next(clip["frames"] for clip in values["clips"] if clip["state"] == "b3")
    labels = labels_at(values, "b3", frames - 1)
    assert len(labels) > 15
    for label in labels:
        x, y, width, height = (round(number) for number in label.box)
        ink = still[y : y + height + 1, x : x + width + 1]
        assert ink.max() - ink.min() > 100, label


def test_lengths_at_rest_are_as_long_as_their_values(values: Json, trace: Trace) -> None:
    [span] = [clip["spans"][-1] for clip in values["clips"] if clip["state"] == "b3"]
    drawn = {length["ref"]: length for length in span["lengths"]}
    assert {f"ln.out[0,{n}]" for n in range(4)} <= drawn.keys()
    unit = (drawn["ln.out[0,0]"]["from"] - drawn["ln.out[0,0]"]["to"]) / trace["ln.out"].value[0, 0]
    assert unit > 5
    for n, value in enumerate(trace["ln.out"].value[0]):
        length = drawn[f"ln.out[0,{n}]"]
        assert length["value"] == value
        assert abs(length["from"] - length["to"] - unit * value) < 0.03  # both ends are rounded to 0.01


def test_while_bars_travel_all_have_gone_the_same_share(values: Json) -> None:
    [clip] = [clip for clip in values["clips"] if clip["state"] == "b3"]
    spans = [span for span in clip["spans"] if any("progress" in length for length in span["lengths"])]
    assert spans
    for span in spans:
        bars = [length for length in span["lengths"] if length["ref"] and length["ref"].startswith("ln.out")]
        assert [bar["start"] for bar in bars] == [f"resid_mid[0,{n}]" for n in range(4)]
        assert len({tuple(bar["progress"]) for bar in bars}) == 1
        assert bars[0]["progress"] == sorted(bars[0]["progress"])


def test_drawn_sums_name_their_numbers(values: Json) -> None:
    [span] = [clip["spans"][-1] for clip in values["clips"] if clip["state"] == "b1"]
    assert [relation["total"] for relation in span["relations"]] == [f"resid_mid[0,{n}]" for n in range(4)]
    assert [relation["sign"] for relation in span["relations"]] == ["="] * 4


# --- parts of a film


def test_states_alone_leave_the_film_and_are_the_same_clips(copy: Path, order: Order) -> None:
    before = contents(copy)
    for name in ("clips/b2.mp4", "stills/b2.png", "stills/b0.png"):
        (copy / name).unlink()
    [published] = filled([replace(order, states=("b2",))], copy.parents[1])
    assert published.paths == (copy / "clips" / "b2.mp4",)
    after = contents(copy)
    assert after == {name: content for name, content in before.items() if name != "stills/b0.png"}


def test_states_that_differ_from_the_film_bring_their_own_manifest(copy: Path, order: Order) -> None:
    before = contents(copy)
    filled([other(order, states=("b1",))], copy.parents[1])
    after = contents(copy)
    assert {name for name in after if after[name] != before.get(name)} == {
        "clips/b1.mp4",
        "clips/b1.json",
        "stills/b1.png",
        "stills/b1.svg",
    }
    own = json.loads(after["clips/b1.json"])
    assert [(clip["state"], clip["first_frame"]) for clip in own["clips"]] == [("b1", 0)]
    assert own["example"]["input"]["x"][0] == [1, 0, 1, 0.5]
    assert provenance(copy / "clips" / "b1.mp4")["values_sha256"] == sha256(after["clips/b1.json"]).hexdigest()
    filled([order], copy.parents[1])
    assert contents(copy) == before  # a film replaces all of it


def test_without_a_film_values_json_belongs_to_the_clips(order: Order, tmp_path: Path) -> None:
    folder = tmp_path / "r44" / "zh-180p15"

    def render_states(order: Order, *states: str) -> list[str]:
        filled([replace(order, states=states)], tmp_path)
        return [clip["state"] for clip in json.loads((folder / "values.json").read_bytes())["clips"]]

    assert render_states(order, "b4") == ["b4"]
    assert render_states(order, "b0", "b4") == ["b4", "b0"]
    assert render_states(other(order), "b0", "b4") == ["b4", "b0"]
    kinds = ("clips/{}.mp4", "stills/{}.png", "stills/{}.svg")
    assert contents(folder).keys() == {"values.json", *(kind.format(state) for kind in kinds for state in ("b4", "b0"))}
    assert render_states(order, "b4") == ["b4", "b0"]  # which b0 still needs
    assert (folder / "clips" / "b4.json").exists()


@pytest.mark.parametrize(
    "rubbish", [b"", b"[]", b'{"clips": 3}', b"\xff", b'{"size": [1], "frame_rate": 1, "clips": []}']
)
def test_a_damaged_values_json_describes_nothing(copy: Path, order: Order, rubbish: bytes) -> None:
    (copy / "values.json").write_bytes(rubbish)
    filled([replace(order, states=("b4",))], copy.parents[1])
    assert (copy / "values.json").read_bytes() == rubbish
    own = sha256((copy / "clips" / "b4.json").read_bytes()).hexdigest()
    assert provenance(copy / "clips" / "b4.mp4")["values_sha256"] == own


def test_stills_alone_are_the_pictures_of_the_film(out: Path, order: Order, tmp_path: Path) -> None:
    [published] = filled([replace(order, moving=False)], tmp_path)
    everything = contents(out)
    assert contents(tmp_path) == {name: everything[name] for name in everything if "/stills/" in name}
    assert [path.stem for path in published.paths] == [*STATES, "details"]


def test_without_captions_the_picture_has_none_and_lasts_as_long(
    film: Path, values: Json, order: Order, tmp_path: Path
) -> None:
    filled([replace(order, captions=False, states=("b4",))], tmp_path)
    folder = tmp_path / "r44" / "zh-180p15"
    own = json.loads((folder / "values.json").read_bytes())
    assert own["captions"] is False
    assert [clip["frames"] for clip in own["clips"]] == [values["clips"][0]["frames"]]
    captioned, bare = (np.asarray(Image.open(path / "stills" / "b4.png")).astype(int) for path in (film, folder))
    assert np.array_equal(captioned[:145], bare[:145])
    assert np.ptp(captioned[150:], axis=(0, 1)).max() > 100
    assert np.ptp(bare[150:], axis=(0, 1)).max() == 0


# --- clips on a transparent ground


def overlaid(path: Path, ground: NDArray[np.float64]) -> NDArray[np.float64]:
    """The last picture of a clip with alpha, laid over a colour: height × width × RGB."""
    decoder: Any = av.CodecContext.create("libvpx-vp9", "r")  # the usual decoder of VP9 passes over the alpha
    with av.open(str(path), format="webm") as container:
        *_, last = (frame for packet in container.demux() if packet.size for frame in decoder.decode(packet))
    rgba = last.to_ndarray(format="rgba").astype(float)
    colors, cover = rgba[..., :3], rgba[..., 3:] / 255
    return np.asarray(ground + cover * (colors - ground))


@pytest.fixture(scope="module")
def transparent(order: Order, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output folder with one clip, on its ground and without."""
    folder = tmp_path_factory.mktemp("transparent")
    filled([replace(order, states=("b1",), transparent=True)], folder)
    return folder


def test_a_clip_without_its_ground_is_the_same_picture_over_any(transparent: Path, film: Path) -> None:
    clips = transparent / "r44" / "zh-180p15" / "clips"
    *_, shown = decode_frames(film / "clips" / "b1.mp4")
    ground = shown[0, 0].astype(float)
    assert np.abs(overlaid(clips / "b1.webm", ground) - shown).mean() < 1.5
    over_white = overlaid(clips / "b1.webm", np.full(3, 255.0))
    assert np.abs(over_white[:8, :8] - 255).max() < 3
    assert np.abs(over_white - shown).mean() > 100
    lettered = np.abs(shown.astype(float) - ground).max(axis=-1) > 200  # white letters, which hide what lies beneath
    assert np.abs(over_white - shown)[lettered].mean() < 12


def test_the_other_files_do_not_depend_on_the_overlay(transparent: Path, order: Order, tmp_path: Path) -> None:
    filled([replace(order, states=("b1",))], tmp_path)
    with_overlay, without = contents(transparent / "r44"), contents(tmp_path / "r44")
    assert with_overlay.keys() - without.keys() == {"zh-180p15/clips/b1.webm"}
    assert without.items() < with_overlay.items()


def test_an_overlay_goes_when_its_clip_is_replaced_by_another(order: Order, tmp_path: Path) -> None:
    overlay = tmp_path / "r44" / "zh-180p15" / "clips" / "b1.webm"
    one = replace(order, states=("b1",))
    filled([replace(one, transparent=True)], tmp_path)
    filled([one], tmp_path)
    assert overlay.exists()
    filled([other(one)], tmp_path)
    assert not overlay.exists()


def test_many_orders_are_filled_at_once(order: Order, tmp_path: Path) -> None:
    orders = [replace(order, moving=False, states=("b4",), language=language) for language in ("zh", "en")]
    assert {published.order.language for published in filled(orders, tmp_path, jobs=2)} == {"zh", "en"}
    assert contents(tmp_path).keys() == {
        f"r44/{language}-180p15/stills/b4.{kind}" for language in ("zh", "en") for kind in ("png", "svg")
    }


# --- what is not published


def filmed_by(order: Order, stage: Callable[[Trace], Any]) -> Order:
    return replace(order, film=replace(order.film, stage=stage))


def with_a_typed_number(_: Trace) -> Any:
    from manim import FadeIn, Text

    from addnorm.scenes.films.r44.scene import R44

    class TypedNumber(R44):
        def enter_b5(self, *_: Any) -> None:
            self.move(FadeIn(Text("7")), seconds=0.4)

    return TypedNumber


def interrupted(_: Trace) -> Any:
    from addnorm.scenes.films.r44.scene import R44

    class Interrupted(R44):
        def enter_b5(self, *_: Any) -> None:
            raise KeyboardInterrupt

    return Interrupted


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_frame_with_a_wrong_number_publishes_nothing(order: Order, copy: Path, jobs: int) -> None:
    before = contents(copy.parents[1])
    with pytest.raises(AddnormError, match=r"^state b5, frame \d+: VMobjectFromSVGPath ") as failed:
        filled([filmed_by(order, with_a_typed_number)], copy.parents[1], jobs)
    assert len(str(failed.value).splitlines()) == 1
    assert contents(copy.parents[1]) == before


def test_an_interrupted_render_publishes_nothing(order: Order, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        filled([filmed_by(order, interrupted)], tmp_path)
    assert contents(tmp_path) == {}


def vanishing(_: Trace) -> Any:
    from addnorm.scenes.films.r44.scene import R44

    class Vanishing(R44):
        def enter_b5(self, *_: Any) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

    return Vanishing


@pytest.mark.parametrize(
    ("stage", "jobs", "why"),
    [(with_a_typed_number, 1, "state b5, "), (with_a_typed_number, 2, "state b5, "), (vanishing, 2, "a process of ")],
)
def test_an_order_that_fails_leaves_the_others_alone(
    order: Order, tmp_path: Path, stage: Callable[[Trace], Any], jobs: int, why: str
) -> None:
    good = replace(order, moving=False, states=("b5",))
    bad = filmed_by(replace(order, language="en", states=("b5", "b0")), stage)
    steps = list(render([bad, good], tmp_path, jobs))
    [failed] = [step for step in steps if isinstance(step, Failed)]
    assert failed.order is bad
    assert str(failed.error).startswith(why)
    assert [step.order for step in steps if isinstance(step, Published)] == [good]
    assert contents(tmp_path).keys() == {"r44/zh-180p15/stills/b5.png", "r44/zh-180p15/stills/b5.svg"}
    assert list((tmp_path / ".addnorm" / "work").iterdir()) == []


def test_a_file_where_a_folder_should_be_is_named(order: Order, tmp_path: Path) -> None:
    (tmp_path / "r44").write_text("mine")
    with pytest.raises(AddnormError, match=r"b4\.png: cannot be written: Not a directory; "):
        filled([replace(order, moving=False, states=("b4",))], tmp_path)
    assert contents(tmp_path) == {"r44": b"mine"}


# --- orders


@pytest.mark.parametrize(
    ("changes", "folder"),
    [
        ({}, "r44/zh"),
        ({"language": "en"}, "r44/en"),
        ({"theme": "light"}, "r44/zh-light"),
        ({"size": Size(1280, 720, 30)}, "r44/zh-720p30"),
        ({"size": Size(854, 480, 15), "theme": "light", "language": "en"}, "r44/en-light-480p15"),
    ],
)
def test_another_theme_or_size_has_a_folder_of_its_own(trace: Trace, changes: Any, folder: str) -> None:
    assert Order(FILMS["r44"], trace, **changes).folder == Path(folder)


def test_states_come_in_the_order_of_the_film_and_once(order: Order) -> None:
    some = replace(order, states=("b1", "b4", "b1"))
    assert (some.clips, some.stills, some.whole) == (("b4", "b1"), ("b4", "b1"), False)
    assert (order.clips, order.stills, order.whole) == (STATES, (*STATES, "details"), True)
    assert replace(order, moving=False).clips == ()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"moving": False, "transparent": True}, "format: webm is for clips"),
        ({"states": ("b4", "b9")}, "states: 'b9' is not one of r44; give some of b4, b5, b0, b1, b2, b3"),
        ({"states": ("details",)}, "states: 'details' is not"),
        ({"language": "fr"}, "language: 'fr' has no catalogue; give one of en, zh"),
        ({"theme": "../dark"}, "theme: '../dark' is not known; give one of dark, light"),
    ],
)
def test_what_is_not_there_cannot_be_ordered(order: Order, changes: Any, message: str) -> None:
    with pytest.raises(AddnormError) as refused:
        replace(order, **changes)
    assert str(refused.value).startswith(message)
