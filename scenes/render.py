"""From an example to published files: states filmed one by one, joined to a film, and all that goes with it.

Nothing here draws; manim is loaded when the first state is filmed. States are independent of one another, so
they are filmed in as many processes as wanted, and the files do not depend on how many that is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from hashlib import file_digest, sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.trace import Trace
from addnorm.scenes.cache import DEFAULT_LIMIT, Cache
from addnorm.scenes.captions import Cue, as_srt, as_vtt
from addnorm.scenes.crew import in_processes
from addnorm.scenes.films import Film
from addnorm.scenes.makers import makers
from addnorm.scenes.manifest import Json, Screen, as_bytes, compose, example_record
from addnorm.scenes.publish import making, publish, remove_abandoned, working_folder, write
from addnorm.scenes.shots import Shot, Take
from addnorm.scenes.storyboard import Storyboard
from addnorm.scenes.text import Wording, load_catalogue, plain
from addnorm.scenes.theme import load_theme
from addnorm.scenes.transcript import chapter_of, title_of, transcript
from addnorm.scenes.typeset import missing_characters
from addnorm.scenes.video import Size, join, parse_size
from addnorm.scenes.witness import digest

DEFAULT_SIZE = "1080p60"
DEFAULT_THEME = "dark"
VALUES = "values.json"
FILM = "film.mp4"


@dataclass(frozen=True)
class Order:
    """What is wanted: a film of one example in one language, or some of its states, moving or as pictures.

    No ``states`` means all of them; ``transparent`` asks for the clips on a transparent ground too. What cannot be
    had is an AddnormError.
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
    transparent: bool = False

    def __post_init__(self) -> None:
        """Look everything up that an order names."""
        if self.transparent and not self.moving:
            raise AddnormError("format: webm is for clips, and only stills are asked for; ask for one of the two")
        load_catalogue(self.language)
        load_theme(self.theme)
        known = [state.name for state in self.board.states] if self.states else []
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
    def fingerprint(self) -> str:
        """A digest of all that its files are made from and by, in hexadecimal."""
        looks = (self.language, self.theme, self.size, self.pace, self.captions)
        kinds = (self.moving, self.transparent)
        return digest((dict(makers()), self.film.name, self.trace.example.digest, looks, self.states, kinds))

    def shot(self, name: str) -> Shot:
        """What is to be filmed of one of its states or panels."""
        moving = name in self.clips
        looks = (self.language, self.theme, self.size, self.pace, self.captions)
        return Shot(self.film, self.trace, *looks, name, moving, moving and self.transparent)

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
    """A clip is filmed, or a picture (of no seconds) is taken; or it is ``kept`` from before."""

    order: Order
    name: str
    seconds: Fraction | None
    kept: bool


class Published(NamedTuple):
    """All that was ordered is in its place; ``paths`` are the film, else the clips, else the pictures; and overlays."""

    order: Order
    paths: tuple[Path, ...]


class Failed(NamedTuple):
    """An order cannot be filled; what was published before is as it was."""

    order: Order
    error: AddnormError


Step = Taken | Published | Failed


def render(
    orders: Sequence[Order], out: Path, jobs: int, *, scheduler: str = "", cache_limit: int = DEFAULT_LIMIT
) -> Generator[Step]:
    """Fill orders below ``out`` in up to ``jobs`` processes, or by the Dask ``scheduler``, and say what is done.

    An order is published as soon as all of it is there, and one that fails leaves the others alone. What was made
    before and would be the same is not made again.
    """
    cache = Cache(out, cache_limit)
    changed = []
    for order in orders:
        if steps := _still_there(order, out, cache):
            yield from steps
        else:
            changed.append(order)
            _ = order.board  # or an ExampleError, before anything is drawn
    if not changed:
        remove_abandoned(out)
        return
    with working_folder(out) as folder:
        works = [_Work(order, out / order.folder, folder / str(number)) for number, order in enumerate(changed)]
        for work in works:
            yield from work.recall(cache)
        missing = [(work, shot) for work in works for shot in work.missing]
        # An order that has failed meanwhile needs no more.
        place = None if scheduler else folder
        tasks = (((work, shot), partial(shot.film_in, place)) for work, shot in missing if not work.failed)
        for (work, shot), result in _crew(scheduler, jobs, missing)(tasks):
            yield from work.receive(shot, result, cache)
        cache.trim()


def require_possible(order: Order, out: Path) -> None:
    """Raise ExampleError for what the film cannot show of the example. What was filled before need not be looked at."""
    if not _still_there(order, out, Cache(out)):
        _ = order.board


def _still_there(order: Order, out: Path, cache: Cache) -> list[Step]:
    """What was done for the same order before, if all that it published is there, unchanged."""
    content = cache.read(f"published/{order.fingerprint}") if order.film.bundled else None
    if content is None:
        return []
    record, target = json.loads(content), out / order.folder
    try:
        if any(_file_digest(target / name) != published for name, published in record["files"].items()):
            return []
    except OSError:
        return []
    taken = [Taken(order, name, _seconds(order, frames), kept=True) for name, frames in record["frames"].items()]
    return [*taken, Published(order, tuple(target / name for name in record["shown"]))]


def _crew(scheduler: str, jobs: int, missing: Sequence[tuple[_Work, Shot]]) -> Callable[..., Any]:
    """Who films what is missing."""
    if scheduler and missing:
        from addnorm.scenes.cluster import on_cluster

        return lambda tasks: _computed_alike(on_cluster(tasks, scheduler))
    if missing:
        missing_characters("μ")  # the font and manim are read once, before the processes part
    for work, _ in missing:
        work.order.film.stage(work.order.trace)
    return partial(in_processes, jobs=min(jobs, len(missing)))


def _computed_alike(results: Iterable[tuple[Any, Take | AddnormError]]) -> Iterator[tuple[Any, Take | AddnormError]]:
    """Refuse what was filmed of other numbers: float64 may differ in its last bits between processors."""
    for (work, shot), take in results:
        alike = isinstance(take, AddnormError) or take.address == shot.address(take.questions)
        yield (work, shot), take if alike else AddnormError(f"{shot.name}: a worker computes other numbers than here")


@dataclass(eq=False)
class _Work:
    """An order in the making: its files in a working folder, and the records of what has been filmed."""

    order: Order
    target: Path
    folder: Path
    records: dict[str, Json] = field(default_factory=dict)
    failed: bool = False

    @property
    def missing(self) -> list[Shot]:
        """What is still to be filmed."""
        return [self.order.shot(name) for name in self.order.stills if name not in self.records]

    def recall(self, cache: Cache) -> Iterator[Step]:
        """Use again what was filmed before."""
        for shot in self.missing:
            if take := shot.recall(cache):
                yield from self._accept(shot, take, cache, kept=True)

    def receive(self, shot: Shot, result: Take | AddnormError, cache: Cache) -> Iterator[Step]:
        """Take in what was filmed, or why it could not be."""
        if self.failed:
            return
        if isinstance(result, AddnormError):
            self.failed = True
            yield Failed(self.order, result)
            return
        shot.keep(result, cache, self.folder.parent)
        yield from self._accept(shot, result, cache, kept=False)

    def _accept(self, shot: Shot, take: Take, cache: Cache, *, kept: bool) -> Iterator[Step]:
        """Lay a shot's files beside the others; when all are there, publish the order."""
        order, name = self.order, shot.name
        try:
            files = {"take": take.video, "overlay": take.overlay, "still": take.still, "vector": take.vector}
            for kind, content in files.items():
                write(self.file(f"{kind} {name}"), content)
            self.records[name] = take.record
            yield Taken(order, name, _seconds(order, take.record.get("frames")), kept)
            if len(self.records) == len(order.stills):
                with making(self.target):
                    published = self.publish(cache)
                yield Published(order, published)
        except AddnormError as error:
            self.failed = True
            yield Failed(order, error)

    def file(self, name: str) -> Path:
        """A working file. It has no suffix, so that nobody takes it for a picture or a video."""
        return self.folder / name.replace(".", " ")

    def publish(self, cache: Cache) -> tuple[Path, ...]:
        """Put together what was filmed and move it to its place, and remember what was published."""
        order, target = self.order, self.target
        stills = {f"stills/{name}.png": self.file(f"still {name}") for name in order.stills}
        vectors = {f"stills/{name}.svg": self.file(f"vector {name}") for name in order.stills}
        records = [record for name in order.clips if (record := self.records[name])]
        described = _describe(order, records, target)
        clips = {f"clips/{name}.mp4": self._clip(name, values) for name, (_, values) in described.items()}
        overlays = {f"clips/{name}.webm": self.file(f"overlay {name}") for name in order.clips if order.transparent}
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
        staged = clips | overlays | stills | vectors | written | film
        digests = {file or VALUES: sha256(values).hexdigest() for file, values in described.values()}
        digests |= {name: _file_digest(path) for name, path in staged.items()}
        stale = list(_overlays_of_other_clips(order, target, digests))
        publish(staged, target)
        if order.whole:
            _forget(target / "clips" / f"{name}.json" for name in order.clips)  # the film's describes them now
        _forget(stale)
        shown = [*(film or clips or stills), *overlays]
        frames = {name: self.records[name].get("frames") for name in order.stills}
        published = json.dumps({"files": digests, "shown": shown, "frames": frames}).encode()
        cache.write(f"published/{order.fingerprint}", published, self.folder)
        return tuple(target / name for name in shown)

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


def _seconds(order: Order, frames: int | None) -> Fraction | None:
    return None if frames is None else Fraction(frames, order.size.frame_rate)


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


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


def _overlays_of_other_clips(order: Order, target: Path, digests: Mapping[str, str]) -> Iterator[Path]:
    """The overlays that stay, of clips that are replaced by others: they would show what is no longer filmed."""
    for name in order.clips if not order.transparent else ():
        clip, overlay = (target / "clips" / f"{name}{suffix}" for suffix in (".mp4", ".webm"))
        with suppress(OSError):
            if _file_digest(clip) != digests[f"clips/{name}.mp4"]:
                yield overlay


def _forget(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()
