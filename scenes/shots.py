"""A shot: one state of a film, moving or still, as it is filmed, kept, and found again.

A shot's address says what it was made from: who made it, how it is filmed, what its storyboard has, and the
answers to all that its drawing asked of the example. The questions are only known once it was filmed, so they are
kept too: whoever wants a shot asks its own example the same questions, and looks under the address that comes out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from addnorm.mathcore.document import example_from
from addnorm.mathcore.trace import Trace, run
from addnorm.scenes.cache import Cache
from addnorm.scenes.films import FILMS, Film
from addnorm.scenes.makers import makers
from addnorm.scenes.manifest import Json, Screen, clip_record
from addnorm.scenes.storyboard import Storyboard
from addnorm.scenes.text import Wording
from addnorm.scenes.video import Size
from addnorm.scenes.witness import Question, Witness, answers_digest, digest


class Take(NamedTuple):
    """A shot that was filmed: its video and what that shows (both empty of a still), the video on a transparent
    ground (empty unless wanted), its last picture as PNG and as SVG, what was asked for it, and its address.
    """

    record: Json
    video: bytes
    overlay: bytes
    still: bytes
    vector: bytes
    questions: tuple[Question, ...]
    address: str


@dataclass(frozen=True, eq=False)
class Shot:
    """One state or panel to film. Sent to another machine it is plain data, and the numbers are computed there."""

    film: Film
    trace: Trace = field(repr=False)
    language: str
    theme: str
    size: Size
    pace: float
    captions: bool
    name: str
    moving: bool
    transparent: bool

    @cached_property
    def board(self) -> Storyboard:
        """The storyboard as far as this shot shows it: without the contents of other states."""
        board = self.film.storyboard(self.trace)
        before = board.before(self.name) if self.moving else None
        return board.only(self.name, *([before.name] if before else []))

    @cached_property
    def wording(self) -> Wording:
        """The words for the example."""
        names = {state.name: state.name for state in self.board.states}
        return Wording(self.language, self.trace, {**names, **self.film.names})

    @cached_property
    def key(self) -> str:
        """A digest of all that does not depend on the example."""
        how = (self.language, self.theme, self.size, self.pace, self.captions, self.name, self.moving, self.transparent)
        return digest((dict(makers()), self.film.name, how))

    def address(self, questions: Sequence[Question]) -> str:
        """Where the shot is kept, if these are the questions that were asked for it."""
        return digest((self.key, self.board, answers_digest(self.wording, questions)))

    def film_in(self, work: Path | None) -> Take:
        """Film it, with its files in a folder of their own inside ``work``, or among the system's temporary ones."""
        from addnorm.scenes.filming import film_clip, take_still
        from addnorm.scenes.stage import Production

        witness = Witness(self.wording)
        stage = self.film.stage(witness.trace)
        production = Production(
            witness.trace, self.language, self.theme, self.pace, self.captions, self.board, witness.wording
        )
        with TemporaryDirectory(dir=work) as folder:
            video, overlay, still, vector = (Path(folder, name) for name in ("video", "overlay", "still", "vector"))
            record: Json = {}
            overlay.touch()
            if self.moving:
                also = overlay if self.transparent else None
                plays = film_clip(stage, production, self.name, self.size, video, still, vector, also)
                record = clip_record(self.name, plays, Screen(self.size.width, self.size.height, self.size.frame_rate))
            else:
                take_still(stage, production, self.name, self.size, still, vector)
                video.touch()
            questions = tuple(witness.questions)
            files = (video.read_bytes(), overlay.read_bytes(), still.read_bytes(), vector.read_bytes())
            return Take(record, *files, questions, self.address(questions))

    def recall(self, cache: Cache) -> Take | None:
        """The shot as it was filmed before, if it was."""
        for name in cache.names(f"questions/{self.key}") if self.film.bundled else ():
            questions = _as_tuples(json.loads(cache.read(name) or b"[]"))
            address = self.address(questions)
            if content := cache.read(f"takes/{address}"):
                return _unpacked(content, questions, address)
        return None

    def keep(self, take: Take, cache: Cache, work: Path) -> None:
        """Keep the shot for the next time."""
        if self.film.bundled:
            questions = json.dumps(take.questions, separators=(",", ":")).encode()
            cache.write(f"takes/{take.address}", _packed(take), work)
            cache.write(f"questions/{self.key}/{digest(take.questions)}", questions, work)

    def __reduce__(self) -> Any:
        how = (self.language, self.theme, self.size, self.pace, self.captions, self.name, self.moving, self.transparent)
        example = self.trace.example
        return _shot, (self.film.name, example.canonical(), example.source, how)


def _shot(film: str, example: Json, source: str | None, how: tuple[Any, ...]) -> Shot:
    return Shot(FILMS[film], run(example_from(example, source)), *how)


def _packed(take: Take) -> bytes:
    parts = (json.dumps(take.record, allow_nan=False).encode(), take.video, take.overlay, take.still, take.vector)
    return b"".join((json.dumps([len(part) for part in parts]).encode(), b"\n", *parts))


def _unpacked(content: bytes, questions: tuple[Question, ...], address: str) -> Take:
    sizes, _, rest = content.partition(b"\n")
    parts = []
    for size in json.loads(sizes):
        parts.append(rest[:size])
        rest = rest[size:]
    record, video, overlay, still, vector = parts
    return Take(json.loads(record), video, overlay, still, vector, questions, address)


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value
