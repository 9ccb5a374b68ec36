"""values.json: what is shown on every frame of every clip, and how to ask it.

A clip is a row of spans. In a span the same numbers are drawn from its first frame to its last, each in one
of three phases: "shown", at rest in one place; "moving", fully visible on its way; "fading", coming or going.
Boxes and heights are pixels from the top left corner. ``assets/values.schema.json`` describes the whole file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any, NamedTuple

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.example import Example
from addnorm.mathcore.labels import Label, relation
from addnorm.scenes.text import Sum
from addnorm.scenes.theme import FRAME_HEIGHT, FRAME_WIDTH

SCHEMA = 1
"""The version of the file's form. A reader of one version reads all files of that version."""

EXAMPLE_LIMIT = 32 * 1024
"""Bytes. An example that takes more as JSON is given by its id and its digest."""

REST = Fraction(1, 5)
"""Seconds. Where nothing changes for this long, a span of its own says so in one line."""

Json = dict[str, Any]


# What the stage saw.


class Sighting(NamedTuple):
    """One number, or the sign of a drawn sum, on one frame.

    ``mark`` tells apart things that say the same; ``box`` is left, top, right, bottom in scene units.
    """

    mark: int
    shows: Label | Sum
    box: tuple[float, float, float, float]
    opacity: float


class Length(NamedTuple):
    """One value drawn as a length, from ``base`` to ``tip`` (heights in scene units).

    On its way, at a share ``progress`` below 1, it is between the values of ``start`` and ``end``, where None
    is zero. ``value`` is that of ``end``. Where it is ``cut``, it ends at the chart's edge.
    """

    start: str | None
    end: str | None
    value: float
    base: float
    tip: float
    progress: float
    cut: bool


class LengthSighting(NamedTuple):
    """One value drawn as a length, on one frame."""

    mark: int
    shows: Length
    opacity: float


Seen = tuple[Sighting | LengthSighting, ...]


@dataclass(frozen=True)
class Play:
    """What was seen in a state on some consecutive frames that are all the same."""

    state: str
    frames: int
    seen: Seen


# From sightings to the file.


class Screen(NamedTuple):
    """The picture in pixels, and the frames in a second."""

    width: int
    height: int
    frame_rate: int

    def box(self, left: float, top: float, right: float, bottom: float) -> list[float]:
        """A box in scene units as left, top, width and height in pixels."""
        wide, high = self.width / FRAME_WIDTH, self.height / FRAME_HEIGHT
        x = _rounded((left + FRAME_WIDTH / 2) * wide)
        return [x, self.y(top), _rounded((right - left) * wide), _rounded((top - bottom) * high)]

    def y(self, height: float) -> float:
        """A height in scene units as pixels from the top."""
        return _rounded((0.5 - height / FRAME_HEIGHT) * self.height)


def clip_record(state: str, plays: Sequence[Play], screen: Screen) -> Json:
    """The record of one clip by itself."""
    spans: list[Json] = []
    frames = 0
    for stretch in _stretches(plays, screen):
        first, frames = frames, frames + sum(count for _, count in stretch)
        spans.append({"first": first, "last": frames - 1, **_contents(stretch)})
    return {"state": state, "file": f"clips/{state}.mp4", "first_frame": 0, "frames": frames, "spans": spans}


def compose(head: Mapping[str, Any], screen: Screen, clips: Sequence[Json]) -> Json:
    """The manifest of clips that follow one another; ``head`` says what they were made from."""
    first, placed = 0, []
    for clip in clips:
        placed.append(clip | {"first_frame": first})
        first += clip["frames"]
    size = [screen.width, screen.height]
    return {"schema": SCHEMA, **head, "size": size, "frame_rate": screen.frame_rate, "clips": placed}


def example_record(example: Example) -> Json:
    """The example in full, or, where that takes too much room, its id and digest."""
    content = example.canonical()
    if len(json.dumps(content, ensure_ascii=False).encode()) <= EXAMPLE_LIMIT:
        return content
    return {"id": example.id, "digest": example.digest}


def as_bytes(value: Any) -> bytes:
    """Strict JSON in UTF-8: the same bytes for the same value, and a line for each thing that may differ."""
    return "".join((*_layout(value, 0), "\n")).encode()


def _layout(value: Any, depth: int) -> Iterator[str]:
    """Open containers down to a span's labels. Those, and what holds nothing but scalars, take one line."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if depth == 6 or not any(isinstance(item, dict | list) for item in items):
        yield _on_one_line(value)
        return
    keys = [f"{_on_one_line(key)}:" for key in value] if isinstance(value, dict) else [""] * len(value)
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    for n, (key, item) in enumerate(zip(keys, items, strict=True)):
        yield f"{',' if n else opening}\n{key}"
        yield from _layout(item, depth + 1)
    yield closing


def _on_one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class _Drawn(NamedTuple):
    """A sighting in the words of the file: in which list, what it says, and its place at the moment."""

    group: str
    says: Json
    place: Json


_Picture = dict[Any, _Drawn]
"""What one frame shows, by what tells it apart."""


def _picture(seen: Seen, screen: Screen) -> _Picture:
    picture: _Picture = {}
    for sighting in seen:
        if isinstance(sighting, Sighting):
            place = {"box": screen.box(*sighting.box), "opacity": round(sighting.opacity, 3)}
            drawn = _Drawn(*_says(sighting.shows), place)
            picture[sighting.mark, sighting.shows] = drawn
        else:
            length = sighting.shows
            drawn = _length(length, screen, round(sighting.opacity, 3))
            picture[sighting.mark, length.start, length.end, length.cut] = drawn
    return picture


def _says(shows: Label | Sum) -> tuple[str, Json]:
    if isinstance(shows, Label):
        says = {"ref": shows.ref, "text": shows.text, "value": shows.value, "decimals": shows.decimals}
        return "labels", says
    terms, total = shows.terms, shows.total
    says = {"terms": [term.ref for term in terms], "sign": relation(terms, total), "total": total.ref}
    return "relations", says


def _length(length: Length, screen: Screen, opacity: float) -> _Drawn:
    says: Json = {"ref": length.end, "value": length.value}
    place: Json = {"from": screen.y(length.base), "to": screen.y(length.tip), "opacity": opacity}
    if length.start != length.end:
        says["start"] = length.start
        place["progress"] = round(length.progress, 6)
    if length.cut:
        says["cut"] = True
    return _Drawn("lengths", says, place)


def _stretches(plays: Sequence[Play], screen: Screen) -> Iterator[list[tuple[_Picture, int]]]:
    """Pictures, and how often each is shown, by spans: cut where other things are drawn and round rests."""
    shortest_rest = REST * screen.frame_rate
    stretch: list[tuple[_Picture, int]] = []
    for picture, alike in groupby(plays, lambda play: _picture(play.seen, screen)):
        count = sum(play.frames for play in alike)
        if stretch:
            before, shown = stretch[-1]
            if max(count, shown) >= shortest_rest or picture.keys() != before.keys():
                yield stretch
                stretch = []
        stretch.append((picture, count))
    yield stretch


def _contents(stretch: Sequence[tuple[_Picture, int]]) -> Json:
    contents: Json = {"labels": [], "lengths": [], "relations": []}
    for key, (group, says, place) in stretch[0][0].items():
        course = {
            field: [value for picture, count in stretch for value in [picture[key].place[field]] * count]
            for field in place
        }
        phase = _phase(course)
        contents[group].append(says | {"phase": phase} | (place if phase == "shown" else course))
    return contents


def _phase(course: Mapping[str, Sequence[Any]]) -> str:
    if any(opacity != 1 for opacity in course["opacity"]):
        return "fading"
    changes = any(value != values[0] for values in course.values() for value in values)
    return "moving" if changes or "progress" in course else "shown"


def _rounded(pixels: float) -> float:
    return round(float(pixels), 2) + 0.0


# From the file to what a frame shows.


class Shown(NamedTuple):
    """One label on one frame: ``box`` is left, top, width and height in pixels."""

    ref: str
    text: str
    value: float
    decimals: int | None
    phase: str
    box: tuple[float, float, float, float]
    opacity: float


def labels_at(manifest: Mapping[str, Any], state: str, frame: int) -> tuple[Shown, ...]:
    """The labels that are visible on a frame of a state's clip, counted from zero."""
    clip = next((clip for clip in manifest["clips"] if clip["state"] == state), None)
    if clip is None:
        known = ", ".join(clip["state"] for clip in manifest["clips"])
        raise AddnormError(f"state: {state!r} is not among the clips; give one of {known}")
    span = next((span for span in clip["spans"] if span["first"] <= frame <= span["last"]), None)
    if span is None:
        raise AddnormError(f"frame: {frame} of {state}; its frames count from 0 to {clip['frames'] - 1}")
    return tuple(_shown(label, frame - span["first"]) for label in span["labels"])


def labels_at_time(manifest: Mapping[str, Any], seconds: float) -> tuple[Shown, ...]:
    """The labels that are visible at a time of the film."""
    frame = math.floor(Fraction(seconds).limit_denominator(10**6) * manifest["frame_rate"])
    for clip in manifest["clips"]:
        if 0 <= frame - clip["first_frame"] < clip["frames"]:
            return labels_at(manifest, clip["state"], frame - clip["first_frame"])
    last = manifest["clips"][-1]
    end = (last["first_frame"] + last["frames"]) / manifest["frame_rate"]
    raise AddnormError(f"time: {seconds:g} s; the film lasts from 0 to {end:g} s")


def _shown(label: Mapping[str, Any], n: int) -> Shown:
    at_rest = label["phase"] == "shown"
    box, opacity = (label[field] if at_rest else label[field][n] for field in ("box", "opacity"))
    return Shown(
        label["ref"], label["text"], label["value"], label["decimals"], label["phase"], tuple(box), opacity
    )
