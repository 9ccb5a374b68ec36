"""A manifest against the core and the stage: is what it says of every number so?"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import file_digest
from pathlib import Path
from typing import Any

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.labels import Label, relation, stage_label, value
from addnorm.scenes.manifest import SCHEMA, Json
from addnorm.scenes.verify.judging import Staging
from addnorm.scenes.verify.origin import Origin
from addnorm.scenes.verify.report import Finding

LARGEST = 64 * 2**20
"""Bytes. A manifest that is larger is not read; that of a wide layer at 60 frames a second has a few million."""

NEAR = 1.0
"""Pixels. The manifest and the stage mean the same box if no side is further off."""

_FROM = ("film", "example", "language", "theme", "captions")


def manifest_of(video: Path, digest: str) -> Path | None:
    """The manifest that a video belongs to, or else one that stands in its place; None if there is none."""
    above = video.parent.parent if video.parent.name == "clips" else video.parent
    there = [path for path in (above / "values.json", video.with_suffix(".json")) if path.is_file()]
    return next((path for path in there if _digest(path) == digest), there[-1] if there else None)


def manifest_findings(path: Path, origin: Origin, stagings: Sequence[Staging], frames: int) -> Iterator[Finding]:
    """What is wrong with the manifest of a video that has so many frames and shows these states."""
    if _digest(path) != origin.says["values_sha256"]:
        yield Finding(f"{path.name}: changed; it is not the one that the video was published with")
    if path.stat().st_size > LARGEST:
        yield Finding(f"{path.name}: cannot be read as a manifest: it has more than {LARGEST:,} bytes")
        return
    try:
        manifest = json.loads(path.read_bytes(), parse_constant=_refuse)
        for finding in _differences(manifest, origin, stagings, frames):
            yield replace(finding, reason=f"{path.name}: {finding.reason}")
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, AddnormError) as error:
        yield Finding(f"{path.name}: cannot be read as a manifest: {type(error).__name__} {error}")


def _digest(path: Path) -> str:
    if path.stat().st_size > LARGEST:
        return ""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


def _differences(manifest: Json, origin: Origin, stagings: Sequence[Staging], frames: int) -> Iterator[Finding]:
    if manifest["schema"] != SCHEMA:
        raise ValueError(f"schema {manifest['schema']}; this reads {SCHEMA}")
    foreign = [key for key in _FROM if manifest[key] != origin.says[key]]
    if foreign:
        yield Finding(f"{', '.join(foreign)}: not that of the video, so neither is the rest")
        return
    clips = {clip["state"]: clip for clip in manifest["clips"]}
    start = 0
    for staging in stagings:
        clip = clips[staging.state]
        if len(stagings) > 1 and clip["first_frame"] != start:
            yield Finding(f"first_frame {clip['first_frame']}; right is {start}", staging.state)
        due = staging.frames * manifest["frame_rate"] / staging.frame_rate
        if clip["frames"] != due:
            yield Finding(f"{clip['frames']} frames; right is {due:g}", staging.state)
        yield from _Clip(clip, start, staging, origin).differences(manifest["size"][0])
        start += clip["frames"]
    if start != frames:
        yield Finding(f"{start} frames; the video has {frames}")


@dataclass(frozen=True)
class _Clip:
    """What the manifest says of a clip that begins at frame ``start`` of the video, and what should be said."""

    record: Json
    start: int
    staging: Staging
    origin: Origin
    labels: dict[str, Label] = field(default_factory=dict)

    def differences(self, width: int) -> Iterator[Finding]:
        """All that is not so. The boxes are in pixels of a picture of this width."""
        following, told = 0, set()
        for span in self.record["spans"]:
            if span["first"] != following or span["last"] < span["first"]:
                yield self._finding(span, f"a span that does not begin at frame {following} of the clip and go on")
            following = span["last"] + 1
            for ref, said, so in self._claims(span):
                if not _same(said, so) and (ref, said) not in told:
                    told.add((ref, said))
                    reason = f"{ref}: {_words(said)}; right is {_words(so)}"
                    yield self._finding(span, reason, ref=ref, expected=str(so[0]), found=str(said[0]))
        if following != self.record["frames"]:
            yield Finding(f"{following} frames are described of {self.record['frames']}", self.staging.state)
        yield from self._misplaced(self.record["spans"][-1], width)

    def _claims(self, span: Json) -> Iterator[tuple[str, tuple[Any, ...], tuple[Any, ...]]]:
        """What a span says of each number, and what is so."""
        for entry in span["labels"]:
            now = self._label(entry["ref"])
            said = entry["text"], entry["value"], entry["decimals"]
            yield entry["ref"], said, (now.text, now.value, now.decimals)
        for entry in span["relations"]:
            terms, total = [self._label(ref) for ref in entry["terms"]], self._label(entry["total"])
            yield entry["total"], (entry["sign"],), (relation(terms, total),)
        for entry in span["lengths"]:
            if entry["ref"] is not None:
                yield entry["ref"], (entry["value"],), (value(self.origin.trace, entry["ref"]),)

    def _label(self, ref: str) -> Label:
        if ref not in self.labels:
            self.labels[ref] = stage_label(self.origin.trace, ref)
        return self.labels[ref]

    def _misplaced(self, span: Json, width: int) -> Iterator[Finding]:
        """Where the last span and the stage's hold do not show the same numbers in the same places."""
        scale = width / self.staging.still.shape[1]
        said = [(entry["ref"], entry["box"]) for entry in span["labels"]]
        staged = [(spot.ref, [side * scale for side in spot.box]) for spot in self.staging.spots if not spot.is_sign]
        on_stage, in_file = (Counter(ref for ref, _ in places) for places in (staged, said))
        for ref in on_stage - in_file:
            yield self._finding(span, f"{ref}: left out, and on the picture", ref=ref)
        for ref in in_file - on_stage:
            yield self._finding(span, f"{ref}: not on the picture", ref=ref)
        for ref, box in said:
            places = [place for name, place in staged if name == ref]
            if places and not any(_near(box, place, max(scale, 1)) for place in places):
                yield self._finding(span, f"{ref}: not in the place that it gives", ref=ref)

    def _finding(self, span: Json, reason: str, **more: Any) -> Finding:
        first, last = (self.start + span[end] for end in ("first", "last"))
        return Finding(reason, self.staging.state, first, last, **more)


def _same(said: tuple[Any, ...], so: tuple[Any, ...]) -> bool:
    """Whether a claim is true. The last bits of a float may be another machine's."""
    return all(
        math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) if isinstance(b, float) else a == b
        for a, b in zip(said, so, strict=True)
    )


def _words(claim: tuple[Any, ...]) -> str:
    return " ".join(str(part) for part in claim[:2])


def _near(box: Sequence[float], place: Sequence[float], scale: float) -> bool:
    return all(abs(a - b) <= NEAR * scale for a, b in zip(box, place, strict=True))
