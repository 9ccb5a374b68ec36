"""values.json: what was seen on the frames becomes spans, and every frame can be asked for again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from addnorm.mathcore import AddnormError, Label, load_example, run, stage_label
from addnorm.mathcore.trace import Trace
from addnorm.scenes.manifest import (
    EXAMPLE_LIMIT,
    Json,
    Length,
    LengthSighting,
    Play,
    Screen,
    Seen,
    Shown,
    Sighting,
    as_bytes,
    clip_record,
    compose,
    example_record,
    labels_at,
    labels_at_time,
)
from addnorm.scenes.paths import asset
from addnorm.scenes.text import Sum

HD = Screen(1920, 1080, 15)
LEFT, RIGHT = (0.0, 1.0, 1.0, 0.5), (2.0, 1.0, 3.0, 0.5)  # boxes: left, top, right, bottom in scene units
LEFT_BOX, RIGHT_BOX = [960.0, 405.0, 135.0, 67.5], [1230.0, 405.0, 135.0, 67.5]


@pytest.fixture(scope="module")
def trace() -> Trace:
    return run(load_example(asset("examples", "r44.toml")))


@pytest.fixture(scope="module")
def labels(trace: Trace) -> list[Label]:
    return [stage_label(trace, ref) for ref in ("resid_mid[0,2]", "ln.mean[0]")]


def plays(*frames: Any) -> list[Play]:
    """What is seen on one frame each, or (count, seen) for several."""
    counted = (frame if frame and isinstance(frame[0], int) else (1, frame) for frame in frames)
    return [Play("b1", count, what) for count, what in counted]


def spans(*frames: Any, screen: Screen = HD) -> list[Json]:
    """The spans of a clip; they leave no frame out."""
    record = clip_record("b1", plays(*frames), screen)
    found: list[Json] = record["spans"]
    assert [span["first"] for span in found] == [0, *(span["last"] + 1 for span in found[:-1])]
    assert found[-1]["last"] + 1 == record["frames"]
    return found


def seen(label: Label | Sum, box: tuple[float, float, float, float] = LEFT, opacity: float = 1, mark: int = 1) -> Seen:
    return (Sighting(mark, label, box, opacity),)


# --- spans


def test_a_label_at_rest_has_one_box_in_pixels(labels: list[Label]) -> None:
    [span] = spans((40, seen(labels[0])))
    assert span == {
        "first": 0,
        "last": 39,
        "labels": [
            {
                "ref": "resid_mid[0,2]",
                "text": "0.802",
                "value": labels[0].value,
                "decimals": 3,
                "phase": "shown",
                "box": LEFT_BOX,
                "opacity": 1,
            }
        ],
        "lengths": [],
        "relations": [],
    }


def test_boxes_scale_with_the_picture(labels: list[Label]) -> None:
    [span] = spans((9, seen(labels[0])), screen=Screen(854, 480, 15))
    assert span["labels"][0]["box"] == [427.0, 180.0, 60.05, 30.0]


def test_a_moving_label_has_a_box_for_each_frame(labels: list[Label]) -> None:
    [span] = spans(seen(labels[0], LEFT), (2, seen(labels[0], RIGHT)))
    [label] = span["labels"]
    assert (label["phase"], label["box"], label["opacity"]) == (
        "moving",
        [LEFT_BOX, RIGHT_BOX, RIGHT_BOX],
        [1, 1, 1],
    )


def test_a_fading_label_has_an_opacity_for_each_frame(labels: list[Label]) -> None:
    [span] = spans(*(seen(labels[0], opacity=opacity) for opacity in (0.25, 0.5, 1)))
    [label] = span["labels"]
    assert (label["phase"], label["box"], label["opacity"]) == ("fading", [LEFT_BOX] * 3, [0.25, 0.5, 1])


def test_a_label_that_is_never_wholly_there_is_fading(labels: list[Label]) -> None:
    [span] = spans((50, seen(labels[0], opacity=0.5)))
    assert (span["labels"][0]["phase"], span["labels"][0]["opacity"]) == ("fading", [0.5] * 50)


def test_beside_a_moving_label_one_at_rest_stays_short(labels: list[Label]) -> None:
    still = seen(labels[1], RIGHT, mark=2)
    [span] = spans(still + seen(labels[0], LEFT), still + seen(labels[0], RIGHT))
    assert [label["phase"] for label in span["labels"]] == ["shown", "moving"]
    assert span["labels"][0]["box"] == RIGHT_BOX


def test_a_span_ends_where_other_labels_are_drawn(labels: list[Label]) -> None:
    one, both = seen(labels[0]), seen(labels[0]) + seen(labels[1], RIGHT, mark=2)
    found = spans(one, one, both, (), one)
    assert [(span["first"], span["last"], len(span["labels"])) for span in found] == [
        (0, 1, 1),
        (2, 2, 2),
        (3, 3, 0),
        (4, 4, 1),
    ]


def test_a_rest_of_a_beat_has_a_span_of_its_own(labels: list[Label]) -> None:
    moving = [seen(labels[0], (x, 1, x + 1, 0.5)) for x in (0.0, 0.1, 0.2)]
    phases = [(span["first"], span["last"], span["labels"][0]["phase"]) for span in spans(*moving, (3, moving[-1]))]
    assert phases == [(0, 1, "moving"), (2, 5, "shown")]
    assert len(spans(*moving, moving[-1])) == 1  # two frames alike are no rest at 15 frames a second


def test_one_label_drawn_twice_is_told_apart(labels: list[Label]) -> None:
    [span] = spans(seen(labels[0], LEFT, mark=1) + seen(labels[0], RIGHT, mark=2))
    assert [label["box"] for label in span["labels"]] == [LEFT_BOX, RIGHT_BOX]


def test_marks_leave_no_trace(labels: list[Label]) -> None:
    first, second = (spans(seen(labels[0], mark=mark)) for mark in (1, 140_000_000_000_000))
    assert first == second


def test_a_clip_without_numbers_is_one_empty_span() -> None:
    assert spans((1, ()), (200, ())) == [{"first": 0, "last": 200, "labels": [], "lengths": [], "relations": []}]


# --- lengths and relations


def length(**changes: Any) -> Seen:
    whole = Length("ln.mean[0]", "ln.mean[0]", 1.5, base=-1.0, tip=0.5, progress=1.0, cut=False)
    return (LengthSighting(7, whole._replace(**changes), 1.0),)


def test_a_length_at_rest_says_from_where_to_where() -> None:
    [span] = spans((30, length()))
    assert span["lengths"] == [
        {"ref": "ln.mean[0]", "value": 1.5, "phase": "shown", "from": 675.0, "to": 472.5, "opacity": 1}
    ]


def test_a_length_on_its_way_says_from_what_to_what_and_how_far() -> None:
    [span] = spans(*(length(start=None, tip=tip, progress=share) for tip, share in ((-0.25, 0.5), (0.5, 0.75))))
    assert span["lengths"] == [
        {
            "ref": "ln.mean[0]",
            "value": 1.5,
            "start": None,
            "phase": "moving",
            "from": [675.0, 675.0],
            "to": [573.75, 472.5],
            "opacity": [1, 1],
            "progress": [0.5, 0.75],
        }
    ]


def test_a_length_that_is_cut_says_so() -> None:
    [span] = spans((30, length(cut=True)))
    assert span["lengths"][0]["cut"] is True


def test_a_relation_names_its_numbers(trace: Trace) -> None:
    x, update, total = (stage_label(trace, f"{name}[0,2]") for name in ("resid_pre", "attn_out", "resid_mid"))
    [span] = spans((30, seen(Sum((x, update), total))))
    assert span["relations"] == [
        {
            "terms": ["resid_pre[0,2]", "attn_out[0,2]"],
            "sign": "=",
            "total": "resid_mid[0,2]",
            "phase": "shown",
            "box": LEFT_BOX,
            "opacity": 1,
        }
    ]


# --- the file


@pytest.fixture
def manifest(trace: Trace, labels: list[Label]) -> Json:
    """Two clips: a label that moves and rests, then lengths and a sign."""
    moves = [seen(labels[0], (x, 1, x + 1, 0.5)) for x in (0.0, 0.1, 0.2, 0.3)]
    terms = tuple(stage_label(trace, f"{name}[0,2]") for name in ("resid_pre", "attn_out"))
    total = seen(Sum(terms, labels[0]), RIGHT, mark=2)
    clips = [
        clip_record("b1", plays(*moves, (26, moves[-1])), HD),
        clip_record("b2", plays(length(start=None, progress=0.5), (14, length() + total)), HD),
    ]
    origin = {
        "film": "r44",
        "example": example_record(trace.example),
        "language": "zh",
        "theme": "dark",
        "captions": True,
    }
    return compose(origin, HD, clips)


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    content = json.loads(asset("values.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(content)
    return Draft202012Validator(content)


def test_clips_follow_one_another(manifest: Json) -> None:
    assert [(clip["first_frame"], clip["frames"]) for clip in manifest["clips"]] == [(0, 30), (30, 15)]
    assert [clip["file"] for clip in manifest["clips"]] == ["clips/b1.mp4", "clips/b2.mp4"]
    assert (manifest["schema"], manifest["size"], manifest["frame_rate"]) == (1, [1920, 1080], 15)


def test_the_file_reads_back_as_what_was_written(manifest: Json) -> None:
    content = as_bytes(manifest)
    assert json.loads(content) == manifest
    assert content == as_bytes(json.loads(content))
    assert "−" not in content.decode()
    lines = content.decode().splitlines()
    assert sum(line.startswith('{"ref"') for line in lines) == 4  # labels and lengths have lines of their own
    assert '"size":[1920,1080],' in lines


def test_what_is_no_strict_json_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        as_bytes({"value": float("nan")})


def test_a_manifest_fits_the_schema(manifest: Json, schema: Draft202012Validator) -> None:
    assert list(schema.iter_errors(manifest)) == []


def mutations(manifest: Json) -> Iterator[tuple[str, Json]]:
    """The manifest with one thing wrong in each."""

    def changed(*path: Any, value: Any = None) -> Json:
        copy = deepcopy(manifest)
        node = copy
        for key in path[:-1]:
            node = node[key]
        if value is None:
            del node[path[-1]]
        else:
            node[path[-1]] = value
        return copy

    label = ("clips", 0, "spans", 1, "labels", 0)
    for path, value in [
        (("schema",), 2),
        (("captions",), None),
        (("more",), 1),
        (("example",), {"id": "r44"}),
        (("example",), {"id": "r44", "digest": "ab"}),
        (("size",), [1920]),
        (("clips",), []),
        (("clips", 0, "file"), "../b1.mp4"),
        (("clips", 0, "frames"), 0),
        (("clips", 0, "spans", 0, "last"), -1),
        ((*label, "ref"), "resid_mid[0,2"),
        ((*label, "text"), None),
        ((*label, "value"), "0.802"),
        ((*label, "phase"), "gone"),
        ((*label, "phase"), "moving"),
        ((*label, "opacity"), 0.5),
        ((*label, "box"), [1, 2, 3]),
        ((*label, "box"), [1, 2, 3, -4]),
        ((*label, "colour"), "red"),
        (("clips", 1, "spans", 0, "lengths", 0, "progress"), None),
        (("clips", 1, "spans", 1, "relations", 0, "sign"), "≠"),
    ]:
        yield f"{path} = {value}", changed(*path, value=value)


def test_the_schema_refuses_what_is_wrong(manifest: Json, schema: Draft202012Validator) -> None:
    cases = list(mutations(manifest))
    assert len(cases) > 20
    assert [name for name, case in cases if not list(schema.iter_errors(case))] == []


def test_a_large_example_is_named_by_its_digest(trace: Trace, schema: Draft202012Validator, manifest: Json) -> None:
    small = trace.example
    assert example_record(small) == small.canonical()
    large = replace(small, title={f"language {n}": "n" * 1000 for n in range(EXAMPLE_LIMIT // 1000)})
    assert example_record(large) == {"id": "r44", "digest": large.digest}
    assert list(schema.iter_errors(manifest | {"example": example_record(large)})) == []


# --- asking


def test_labels_at_a_frame(manifest: Json, labels: list[Label]) -> None:
    value = labels[0].value
    moving = Shown("resid_mid[0,2]", "0.802", value, 3, "moving", (973.5, 405.0, 135.0, 67.5), 1)
    assert labels_at(manifest, "b1", 1) == (moving,)
    at_rest = Shown("resid_mid[0,2]", "0.802", value, 3, "shown", (1000.5, 405.0, 135.0, 67.5), 1)
    assert labels_at(manifest, "b1", 3) == labels_at(manifest, "b1", 29) == (at_rest,)
    assert labels_at(manifest, "b2", 0) == ()


def test_labels_at_a_time_of_the_film(manifest: Json) -> None:
    assert labels_at_time(manifest, 0) == labels_at(manifest, "b1", 0)
    assert labels_at_time(manifest, 0.2) == labels_at(manifest, "b1", 3)  # 0.2 × 15 is a little less than 3
    assert labels_at_time(manifest, 1.999) == labels_at(manifest, "b1", 29)
    assert labels_at_time(manifest, 2.0) == labels_at(manifest, "b2", 0)


@pytest.mark.parametrize(
    ("state", "frame", "message"),
    [
        ("b9", 0, "state: 'b9' is not among the clips; give one of b1, b2"),
        ("b1", 30, "frame: 30 of b1; its frames count from 0 to 29"),
        ("b1", -1, "frame: -1 of b1; its frames count from 0 to 29"),
    ],
)
def test_a_frame_that_is_not_there(manifest: Json, state: str, frame: int, message: str) -> None:
    with pytest.raises(AddnormError) as refused:
        labels_at(manifest, state, frame)
    assert str(refused.value) == message


@pytest.mark.parametrize("seconds", [-0.1, 3.0])
def test_a_time_that_is_not_there(manifest: Json, seconds: float) -> None:
    with pytest.raises(AddnormError, match="the film lasts from 0 to 3 s"):
        labels_at_time(manifest, seconds)
