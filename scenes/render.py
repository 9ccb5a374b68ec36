"""From an example to published files: states filmed one by one, joined to a film, and all that goes with it.

Nothing here draws; manim is loaded when the first state is filmed. States are independent of one another, so
they are filmed in as many processes as wanted, and the files do not depend on how many that is.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.trace import Trace
from addnorm.scenes.captions import Cue, as_srt, as_vtt
from addnorm.scenes.crew import in_processes
from addnorm.scenes.films import Film
from addnorm.scenes.manifest import Json, Screen, as_bytes, clip_record, compose, example_record
from addnorm.scenes.publish import publish, working_folder, write
from addnorm.scenes.storyboard import Storyboard
from addnorm.scenes.text import Wording, load_catalogue, plain
from addnorm.scenes.theme import load_theme
from addnorm.scenes.transcript import chapter_of, title_of, transcript
from addnorm.scenes.typeset import missing_characters
from addnorm.scenes.video import Size, join, parse_size

DEFAULT_SIZE = "1080p60"
DEFAULT_THEME = "dark"
VALUES = "values.json"
FILM = "film.mp4"


@dataclass(frozen=True)
class Order:
    """What is wanted: a film of one example in one language, or some of its states, moving or as pictures.

    No ``states`` means all of them. What cannot be had is an AddnormError.
    """

    film: Film
    trace: Trace
    language: str = "zh"
    theme: str = DEFAULT_THEME
    size: Size = field(default_factory=partial(parse_size, DEFAULT_SIZE))
    pace: float = 1.0
    captions: bool = True
    states: tuple[str, ...] = ()
    moving: bool = True

    def __post_init__(self) -> None:
        """Look everything up that an order names."""
        load_catalogue(self.language)
        load_theme(self.theme)
        known = [state.name for state in self.board.states]
        for name in self.states:
            if name not in known:
                raise AddnormError(
                    f"states: {name!r} is not one of {self.film.name}; give some of {', '.join(known)}"
                )

    @cached_property
    def board(self) -> Storyboard:
        """The film's states for the example."""
        return self.film.storyboard(self.trace)

    @cached_property
    def wording(self) -> Wording:
        """The film's words for the example."""
        return Wording(self.language, self.trace, self.film.names)

    @property
    def whole(self) -> bool:
        """Whether it is the film that is wanted."""
        return self.moving and not self.states

    @property
    def clips(self) -> tuple[str, ...]:
        """The states to film, in the order of the film."""
        return self._wanted if self.moving else ()

    @property
    def stills(self) -> tuple[str, ...]:
        """The states and panels of which there will be pictures."""
        return (*self._wanted, *(panel.name for panel in self.board.panels if not self.states))

    @property
    def _wanted(self) -> tuple[str, ...]:
        names = (state.name for state in self.board.states)
        return tuple(name for name in names if name in self.states or not self.states)

    @property
    def folder(self) -> Path:
        """Where its files go, below the output folder."""
        theme = "" if self.theme == DEFAULT_THEME else f"-{self.theme}"
        size = "" if str(self.size) == DEFAULT_SIZE else f"-{self.size}"
        return Path(self.trace.example.id, f"{self.language}{theme}{size}")

    @property
    def screen(self) -> Screen:
        """Its pictures in pixels."""
        return Screen(self.size.width, self.size.height, self.size.frame_rate)

    @property
    def origin(self) -> Json:
        """What its clips are made from."""
        return {
            "film": self.film.name,
            "example": example_record(self.trace.example),
            "language": self.language,
            "theme": self.theme,
            "captions": self.captions,
        }


class Taken(NamedTuple):
    """A clip is filmed, or a picture (of no seconds) is taken."""

    order: Order
    name: str
    seconds: Fraction | None


class Published(NamedTuple):
    """All that was ordered is in its place; ``paths`` are the film, else the clips, else the pictures."""

    order: Order
    paths: tuple[Path, ...]


def render(orders: Sequence[Order], out: Path, jobs: int) -> Generator[Taken | Published]:
    """Fill orders below ``out`` in up to ``jobs`` processes, and say what is done.

    An order is published as soon as all of it is there. An error ends whatever is not published yet.
    """
    with working_folder(out) as folder:
        missing_characters("μ")  # the font and manim are read once, before the processes part
        for order in orders:
            order.film.stage(order.trace)
        works = [_Work(order, folder, number) for number, order in enumerate(orders)]
        shots = [(work, name) for work in works for name in work.order.stills]
        for number, record in in_processes([partial(work.shoot, name) for work, name in shots], jobs):
            work, name = shots[number]
            order = work.order
            work.records[name] = record
            yield Taken(order, name, Fraction(record["frames"], order.size.frame_rate) if record else None)
            if len(work.records) == len(order.stills):
                yield Published(order, work.publish(out / order.folder))


@dataclass(eq=False)
class _Work:
    """An order in the making: its files in the working folder, and the records of what has been filmed."""

    order: Order
    folder: Path
    number: int
    records: dict[str, Json | None] = field(default_factory=dict)

    def file(self, name: str) -> Path:
        """A working file. It has no suffix, so that nobody takes it for a picture or a video."""
        return self.folder / f"{self.number} {name}".replace(".", " ")

    def shoot(self, name: str) -> Json | None:
        """Film a state and return the clip's record, or take a picture of what is not to move."""
        from addnorm.scenes.filming import film_clip, take_still
        from addnorm.scenes.stage import Production

        order = self.order
        stage = order.film.stage(order.trace)
        still, vector = self.file(f"still {name}"), self.file(f"vector {name}")
        production = Production(order.trace, order.language, order.theme, order.pace, order.captions)
        if name not in order.clips:
            take_still(stage, production, name, order.size, still, vector)
            return None
        plays = film_clip(stage, production, name, order.size, self.file(f"take {name}"), still, vector)
        return clip_record(name, plays, order.screen)

    def publish(self, target: Path) -> tuple[Path, ...]:
        """Put together what was filmed and move it to its place."""
        order = self.order
        stills = {f"stills/{name}.png": self.file(f"still {name}") for name in order.stills}
        vectors = {f"stills/{name}.svg": self.file(f"vector {name}") for name in order.stills}
        records = [record for name in order.clips if (record := self.records[name])]
        described = _describe(order, records, target)
        clips = {f"clips/{name}.mp4": self._clip(name, values) for name, (_, values) in described.items()}
        texts = {file: values for file, values in described.values() if file}
        film = {}
        if order.whole:
            cues = list(_cues(order, records))
            texts |= {
                "captions.srt": as_srt(cues),
                "captions.vtt": as_vtt(cues),
                "transcript.md": transcript(order.board, order.wording).encode(),
            }
            film = {FILM: self._film(cues, texts[VALUES])}
        for file, content in texts.items():
            write(self.file(file.replace("/", " ")), content)
        written = {file: self.file(file.replace("/", " ")) for file in texts}
        publish(clips | stills | vectors | written | film, target)
        if order.whole:
            _forget_single_manifests(order, target)
        return tuple(target / name for name in film or clips or stills)

    def _clip(self, name: str, values: bytes) -> Path:
        """The clip of a state, with its title, and a word on where it comes from."""
        order, clip = self.order, self.file(f"clip {name}")
        join(
            [self.file(f"take {name}")],
            clip,
            chapters=(),
            subtitles=(),
            language=_language_code(order),
            title=chapter_of(order.board, order.board.state(name), order.wording),
            comment=_provenance(order, values, state=name),
        )
        return clip

    def _film(self, cues: Sequence[Cue], values: bytes) -> Path:
        order, film = self.order, self.file("film")
        join(
            [self.file(f"take {name}") for name in order.clips],
            film,
            chapters=[chapter_of(order.board, state, order.wording) for state in order.board.states],
            subtitles=cues,
            language=_language_code(order),
            title=title_of(order.board, order.wording),
            comment=_provenance(order, values),
        )
        return film


def _language_code(order: Order) -> str:
    code: str = load_catalogue(order.language)["language"]["code"]
    return code


def _cues(order: Order, records: Sequence[Json]) -> Iterator[Cue]:
    """Each state's caption, for as long as its clip lasts."""
    rate, first = order.size.frame_rate, 0
    for record in records:
        last = first + record["frames"]
        words = plain(order.wording.caption(order.film.name, record["state"]))
        yield Cue(Fraction(first, rate), Fraction(last, rate), words)
        first = last


def _provenance(order: Order, values: bytes, **more: str) -> str:
    """What a video says of itself: what it was made from and by, and which manifest it belongs to."""
    says = {
        "addnorm": version("addnorm"),
        **order.origin,
        "pace": float(order.pace),
        **more,
        "values_sha256": sha256(values).hexdigest(),
    }
    return json.dumps(says, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _describe(order: Order, records: Sequence[Json], target: Path) -> dict[str, tuple[str, bytes]]:
    """For each clip the name and content of the manifest it belongs to; no name if that is published already.

    values.json describes the film and its clips. States filmed by themselves leave it as it is: if it says of
    them what is true now, they belong to it; else each brings a manifest of its own, ``clips/<state>.json``.
    Where there is no film, and no other clip depends on values.json, it is theirs.
    """
    values = as_bytes(compose(order.origin, order.screen, records))
    published, described = _published(target)
    mine = [record["state"] for record in records]
    if order.whole or (not (target / FILM).exists() and described.keys() <= {*mine}):
        return dict.fromkeys(mine, (VALUES, values))
    alone = {record["state"]: as_bytes(compose(order.origin, order.screen, [record])) for record in records}
    if all(described.get(name) == content for name, content in alone.items()):
        return dict.fromkeys(mine, ("", published))
    return {name: (f"clips/{name}.json", content) for name, content in alone.items()}


def _published(target: Path) -> tuple[bytes, dict[str, bytes]]:
    """The values.json that is there, and each of its clips described alone; nothing if it cannot be read."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        content = (target / VALUES).read_bytes()
        manifest = json.loads(content)
        width, height = manifest.pop("size")
        screen = Screen(width, height, manifest.pop("frame_rate"))
        clips, _ = manifest.pop("clips"), manifest.pop("schema")
        return content, {clip["state"]: as_bytes(compose(manifest, screen, [clip])) for clip in clips}
    return b"", {}


def _forget_single_manifests(order: Order, target: Path) -> None:
    """Remove the manifests of clips that were filmed by themselves: those clips have been replaced."""
    for name in order.clips:
        with suppress(OSError):
            (target / "clips" / f"{name}.json").unlink()
