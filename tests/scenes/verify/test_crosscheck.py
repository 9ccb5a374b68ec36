"""A manifest against the core: each thing in it that is not so is named."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from addnorm.scenes.verify import Stagings
from addnorm.scenes.verify.crosscheck import LARGEST, manifest_findings, manifest_of
from addnorm.scenes.verify.judging import Staging
from addnorm.scenes.verify.origin import Origin
from addnorm.scenes.verify.report import Finding
from addnorm.scenes.video import frame_count, read_metadata, screening

Judge = Callable[[Any], list[Finding]]


@pytest.fixture(scope="module")
def origin(film: Path) -> Origin:
    return Origin.read(read_metadata(film / "film.mp4")["comment"])


@pytest.fixture(scope="module")
def shown(film: Path, origin: Origin, stagings: Stagings) -> Sequence[Staging]:
    rehearsal = stagings.of(origin, screening(film / "film.mp4"))
    return tuple(rehearsal.staging(state) for state in origin.states)


@pytest.fixture
def judge(film: Path, origin: Origin, shown: Sequence[Staging], tmp_path: Path) -> Judge:
    """A call that gives what is wrong with a manifest, as if the video had been published with it."""

    def findings(manifest: Any) -> list[Finding]:
        path = tmp_path / "values.json"
        path.write_bytes(manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode())
        belongs = Origin(origin.says | {"values_sha256": sha256(path.read_bytes()).hexdigest()})
        return list(manifest_findings(path, belongs, shown, frame_count(film / "film.mp4")))

    return findings


def clip(manifest: Any, state: str) -> Any:
    return next(clip for clip in manifest["clips"] if clip["state"] == state)


def entry(manifest: Any, state: str, ref: str) -> Any:
    """What the hold of a state says of a number."""
    return next(label for label in clip(manifest, state)["spans"][-1]["labels"] if label["ref"] == ref)


def test_the_manifest_of_the_film_is_right(judge: Judge, values: Any) -> None:
    assert judge(values) == []


Edit = Callable[[Any], object]

EDITS: dict[str, tuple[Edit, str, str | None]] = {
    "text": (
        lambda m: entry(m, "b2", "ln.var[0]").update(text="0.592454"),
        "ln.var[0]: 0.592454 0.592454642771363",
        "b2",
    ),
    "value": (lambda m: entry(m, "b3", "ln.out[0,1]").update(value=0.6495892), "ln.out[0,1]: 0.650 0.6495892;", "b3"),
    "decimals": (lambda m: entry(m, "b3", "ln.out[0,1]").update(decimals=2), "ln.out[0,1]: 0.650", "b3"),
    "reference": (lambda m: entry(m, "b2", "ln.var[0]").update(ref="ln.var[1]"), "ln.var[1]: 0.592455", "b2"),
    "unknown": (lambda m: entry(m, "b2", "ln.var[0]").update(ref="ln.var[7]"), "cannot be read as a manifest", None),
    "sign": (
        lambda m: clip(m, "b1")["spans"][-1]["relations"][2].update(sign="≈"),
        "resid_mid[0,2]: ≈; right is =",
        "b1",
    ),
    "length": (
        lambda m: clip(m, "b2")["spans"][-1]["lengths"][0].update(value=2.5),
        "ln.std[0]: 2.5; right is 0.7697",
        "b2",
    ),
    "left out": (
        lambda m: clip(m, "b3")["spans"][-1]["labels"].pop(),
        ": left out, and on the picture",
        "b3",
    ),
    "added": (
        lambda m: clip(m, "b0")["spans"][-1]["labels"].append(entry(m, "b2", "ln.var[0]")),
        "ln.var[0]: not on the picture",
        "b0",
    ),
    "moved": (
        lambda m: entry(m, "b2", "ln.var[0]")["box"].__setitem__(0, entry(m, "b2", "ln.var[0]")["box"][0] + 3),
        "ln.var[0]: not in the place that it gives",
        "b2",
    ),
    "gap": (
        lambda m: clip(m, "b2")["spans"][1].update(first=clip(m, "b2")["spans"][1]["first"] + 1),
        "a span that does not begin at frame",
        "b2",
    ),
    "overlap": (lambda m: clip(m, "b2")["spans"].pop(0), "a span that does not begin at frame 0", "b2"),
    "undescribed": (lambda m: clip(m, "b5")["spans"][-1].update(last=20), "frames are described of", "b5"),
    "too many frames": (
        lambda m: clip(m, "b3").update(frames=clip(m, "b3")["frames"] + 1),
        "frames; right is",
        "b3",
    ),
    "another place in the film": (lambda m: clip(m, "b0").update(first_frame=3), "first_frame 3; right is", "b0"),
    "language": (lambda m: m.update(language="en"), "language: not that of the video", None),
    "example": (lambda m: m["example"]["layer_norm"].update(eps=1e-6), "example: not that of the video", None),
    "schema": (lambda m: m.update(schema=2), "schema 2; this reads 1", None),
    "no clips": (lambda m: m.update(clips=[]), "cannot be read as a manifest", None),
    "no spans": (lambda m: clip(m, "b2").update(spans=[]), "0 frames are described of", "b2"),
    "other things": (lambda m: clip(m, "b2")["spans"][0].update(labels={"a": 1}), "cannot be read", None),
}


@pytest.mark.parametrize("edit", EDITS)
def test_what_is_not_so_is_named(judge: Judge, values: Any, edit: str) -> None:
    change, reason, state = EDITS[edit]
    manifest = json.loads(json.dumps(values))
    change(manifest)
    found = judge(manifest)
    assert any(reason in finding.reason and finding.state == state for finding in found), found


def test_what_comes_and_goes_is_compared_too(judge: Judge, values: Any) -> None:
    manifest = json.loads(json.dumps(values))
    state, span, label = next(
        (state["state"], span, label)
        for state in manifest["clips"]
        for span in state["spans"]
        for label in span["labels"]
        if label["phase"] == "fading"
    )
    label["text"] = "7.777"
    found = [finding for finding in judge(manifest) if finding.found == "7.777"]
    start = clip(manifest, state)["first_frame"]
    assert [(f.state, f.first, f.last, f.ref) for f in found] == [
        (state, start + span["first"], start + span["last"], label["ref"])
    ]


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"\xff\xfe", b'{"schema": NaN}', b'{"schema": 1}', b"3", b"[" * 100_000]
)
def test_what_is_no_manifest(judge: Judge, content: bytes) -> None:
    [finding] = judge(content)
    assert finding.reason.startswith("values.json: cannot be read as a manifest")


def test_a_manifest_of_a_size_that_none_has(film: Path, origin: Origin, shown: Any, tmp_path: Path) -> None:
    path = tmp_path / "values.json"
    with path.open("wb") as file:
        file.truncate(200 * 2**20)
    *_, finding = manifest_findings(path, origin, shown, frame_count(film / "film.mp4"))
    assert finding.reason == f"values.json: cannot be read as a manifest: it has more than {LARGEST:,} bytes"


def test_the_last_bits_of_a_value_may_be_another_machines(judge: Judge, values: Any) -> None:
    manifest = json.loads(json.dumps(values))
    label = entry(manifest, "b3", "ln.out[0,1]")
    label["value"] *= 1 + 1e-14
    assert judge(manifest) == []


def test_a_changed_manifest_is_told_by_its_digest(film: Path, origin: Origin, shown: Any, tmp_path: Path) -> None:
    path = tmp_path / "values.json"
    path.write_bytes((film / "values.json").read_bytes() + b"\n")
    [finding] = manifest_findings(path, origin, shown, frame_count(film / "film.mp4"))
    assert "changed; it is not the one" in finding.reason


def test_the_manifest_of_a_video_is_beside_it(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    film, clip, values, own = (tmp_path / name for name in ("film.mp4", "clips/b2.mp4", "values.json", "clips/b2.json"))
    digest = sha256(b"mine").hexdigest()
    assert manifest_of(film, digest) is None
    values.write_bytes(b"mine")
    assert manifest_of(film, digest) == manifest_of(clip, digest) == values
    own.write_bytes(b"other")
    assert manifest_of(clip, digest) == values
    assert manifest_of(clip, sha256(b"other").hexdigest()) == own
    assert manifest_of(clip, "neither") == own
    assert manifest_of(film, "neither") == values
