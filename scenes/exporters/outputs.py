"""What a render left behind, read back for export: its clips, stills and numbers, by language and theme.

Every number an export prints was shown by the film: the manifest says which, the core computes it anew from
the example that the manifest holds, and where the two differ nothing is exported. Nothing here draws.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import file_digest, sha256
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any

from addnorm.mathcore.document import example_from
from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.example import Example
from addnorm.mathcore.example_files import load_example
from addnorm.mathcore.labels import Label
from addnorm.mathcore.reference import Reference
from addnorm.mathcore.symbols import Symbol, symbol
from addnorm.mathcore.trace import Trace, run
from addnorm.scenes.films import FILMS, Film
from addnorm.scenes.manifest import SCHEMA, labels_at
from addnorm.scenes.paths import bundled_examples, find_example
from addnorm.scenes.storyboard import State, Storyboard
from addnorm.scenes.text import Line, Wording, languages, plain
from addnorm.scenes.theme import themes
from addnorm.scenes.transcript import title_of, transcript
from addnorm.scenes.video import Size, decode_frames, frame_count, read_metadata

VALUES = "values.json"
LARGEST = 10_000
"""Pixels, or frames a second, of a clip."""

FIRST_LANGUAGE, FIRST_THEME = "zh", "dark"
"""What stands first in an export, as it is what a render makes when nothing else is asked for."""


@dataclass(frozen=True)
class Clip:
    """A state as it was rendered: a video that moves into its picture, and that picture.

    ``labels`` are the numbers on the picture, in reading order; ``heading`` and ``caption`` its words.
    """

    state: State
    video: Path
    still: Path
    size: Size
    frames: int
    labels: tuple[Label, ...]
    heading: Line
    caption: Line

    @property
    def name(self) -> str:
        """The state's name, such as ``b4``."""
        return self.state.name

    @property
    def seconds(self) -> float:
        """How long the video lasts."""
        return self.frames / self.size.frame_rate

    @cached_property
    def poster(self) -> bytes:
        """The video's own first frame as PNG, so that nothing jumps when it starts."""
        from PIL import Image

        png = BytesIO()
        Image.fromarray(next(decode_frames(self.video))).save(png, format="PNG")
        return png.getvalue()


@dataclass(frozen=True)
class Figures:
    """The numbers shown of one quantity: a row of the followed token or another, a statistic, a parameter.

    ``cells`` are the numbers in order; where some of a long row are not shown, a line says how many.
    """

    symbol: Symbol
    labels: tuple[Label, ...]
    cells: tuple[Label | Line, ...]

    @property
    def text(self) -> str:
        """The row as text: ``(1, 1.599, −0.198, −0.006)``, or just the number where there is one."""
        texts = [cell.text if isinstance(cell, Label) else plain(cell) for cell in self.cells]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


@dataclass(frozen=True)
class Output:
    """A rendered folder: one example in one language, theme and size. ``clips`` are in playing order."""

    folder: Path
    film: Film
    trace: Trace = field(repr=False)
    board: Storyboard = field(repr=False)
    language: str
    theme: str
    size: Size
    captions: bool
    clips: tuple[Clip, ...] = field(repr=False)
    digests: Mapping[str, str] = field(repr=False)

    def require_unchanged(self) -> None:
        """Raise AddnormError if its files are others than when it was read: a render may publish meanwhile."""
        if _digests(self.folder) != self.digests:
            raise AddnormError(f"{self.folder}: was rendered anew meanwhile; export it again")

    @cached_property
    def wording(self) -> Wording:
        """The film's words for the example."""
        return Wording(self.language, self.trace, self.film.names)

    @property
    def title(self) -> str:
        """The example's own title, or the film's. Whatever it says, it is text and no markup."""
        return title_of(self.board, self.wording)

    @property
    def transcript(self) -> str:
        """The transcript as CommonMark."""
        return transcript(self.board, self.wording)

    def clip(self, state: str) -> Clip:
        """The clip of a state."""
        return next(clip for clip in self.clips if clip.name == state)

    def figures(self, labels: Sequence[Label]) -> tuple[Figures, ...]:
        """Numbers by the quantity that they belong to, in their order."""
        return tuple(
            Figures(named, tuple(own), tuple(self._cells(tuple(own))))
            for named, own in ((named, [*own]) for named, own in groupby(labels, self._symbol))
        )

    def _symbol(self, label: Label) -> Symbol:
        ref = Reference.parse(label.ref)
        token = ref.index[0] if len(ref.index) == 2 else None
        return symbol(ref.name, token if isinstance(token, int) else None, self.trace.example.norm)

    def _cells(self, labels: Sequence[Label]) -> Iterator[Label | Line]:
        of_token = len(Reference.parse(labels[0].ref).index) == 2
        place = -1
        for label in labels:
            *_, index = Reference.parse(label.ref).index or (0,)
            if isinstance(index, int):
                if (of_token or len(labels) > 1) and index > place + 1:
                    yield self.wording.elided(index - place - 1)
                place = index
            yield label
        if of_token and place + 1 < self.trace.example.n_features:
            yield self.wording.elided(self.trace.example.n_features - place - 1)

    def description(self, clip: Clip) -> str:
        """What a state's picture shows, for who does not see it: its heading and its numbers."""
        shown = (f"{row.symbol.text} = {row.text}" for row in self.figures(clip.labels))
        return "; ".join((plain(clip.heading), *shown))

    def panel(self, name: str) -> Path | None:
        """The picture of a panel such as ``details``, if it was rendered."""
        path = self.folder / "stills" / f"{name}.png"
        return path if path.is_file() else None


@dataclass(frozen=True)
class Rendered:
    """All that was rendered of one example: an output for each language and theme, all with the same states."""

    film: Film
    trace: Trace = field(repr=False)
    board: Storyboard = field(repr=False)
    outputs: tuple[Output, ...]

    @property
    def id(self) -> str:
        """The example's id; no two examples of an export have the same."""
        return self.trace.example.id

    @property
    def states(self) -> tuple[str, ...]:
        """The states that were rendered, in playing order."""
        return tuple(clip.name for clip in self.outputs[0].clips)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages it was rendered in."""
        return tuple(dict.fromkeys(output.language for output in self.outputs))

    @property
    def themes(self) -> tuple[str, ...]:
        """The themes it was rendered in."""
        return tuple(dict.fromkeys(output.theme for output in self.outputs))

    def output(self, language: str, theme: str) -> Output:
        """The output in a language and theme; where there is none, in that language, else the first there is."""
        own = [output for output in self.outputs if output.language == language] or [*self.outputs]
        return next((output for output in own if output.theme == theme), own[0])


def read_outputs(paths: Sequence[Path], given: Sequence[Example] = ()) -> tuple[Rendered, ...]:
    """The examples behind some folders, ``OUT/EXAMPLE`` or one of its outputs, in the order given.

    Where an example was rendered in one language and theme at several sizes, the largest is taken; outputs with
    some of the states are left out where there is one with all. ``given`` are examples that are too large for
    their manifests. Raises AddnormError for what cannot be exported.
    """
    outputs = [output for path in paths for output in _outputs(path, given)]
    by_id: dict[str, list[Output]] = {}
    for output in outputs:
        by_id.setdefault(output.trace.example.id, []).append(output)
    return tuple(_rendered(group) for group in by_id.values())


def read_output(folder: Path, given: Sequence[Example] = ()) -> Output:
    """A rendered folder, ``OUT/EXAMPLE/LANG``. Raises AddnormError if its files do not belong together."""
    try:
        return _read_output(folder, given)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        reason = f"{type(error).__name__} {error}"
        raise AddnormError(f"{folder / VALUES}: cannot be read as a manifest: {reason}; render again") from error


def _read_output(folder: Path, given: Sequence[Example]) -> Output:
    digests = _digests(folder)
    content, manifest = _read_manifest(folder / VALUES)
    trace = run(_example(manifest["example"], given, folder / VALUES))
    film = FILMS[manifest["film"]]
    board = film.storyboard(trace)
    wording = Wording(manifest["language"], trace, film.names)
    clips = []
    for state in board.states:
        own = folder / "clips" / f"{state.name}.json"
        source, described = (content, manifest) if not own.is_file() else _read_manifest(own)
        if any(described[key] != manifest[key] for key in ("film", "example", "language", "theme")):
            raise AddnormError(f"{own}: made from something else than {folder / VALUES}; render all of it again")
        record = next((clip for clip in described["clips"] if clip["state"] == state.name), None)
        if record is None:
            continue
        video, still = folder / "clips" / f"{state.name}.mp4", folder / "stills" / f"{state.name}.png"
        _require_origin(video, source)
        if not still.is_file():
            raise AddnormError(f"{still}: not there; render {state.name} again")
        caption = wording.caption(board.film, state.name)
        if record["frames"] != frame_count(video):
            raise AddnormError(f"{video}: not as many frames as its manifest has; render it again")
        _require_core(described, record, state, caption if described["captions"] else (), folder)
        clips.append(
            Clip(
                state,
                video,
                still,
                _size(described),
                record["frames"],
                state.labels,
                wording.line(f"{board.film}.{state.name}.heading"),
                caption,
            )
        )
    if not clips:
        raise AddnormError(f"{folder / VALUES}: no clip of {board.film} in it; render the film")
    return Output(
        folder,
        film,
        trace,
        board,
        manifest["language"],
        manifest["theme"],
        _size(manifest),
        manifest["captions"],
        tuple(clips),
        digests,
    )


def _digests(folder: Path) -> Mapping[str, str]:
    """What is in each of the files that exports are made from."""
    digests = {}
    for path in (folder / VALUES, *folder.glob("clips/*"), *folder.glob("stills/*")):
        if path.is_file():
            with path.open("rb") as file:
                digests[str(path)] = file_digest(file, "sha256").hexdigest()
    return digests


def _outputs(path: Path, given: Sequence[Example]) -> list[Output]:
    """The output at a path, or those in the folder there: the whole films, if there are any."""
    if (path / VALUES).is_file():
        return [read_output(path, given)]
    found = [read_output(values.parent, given) for values in sorted(path.glob(f"*/{VALUES}"))]
    if not found:
        raise AddnormError(f"{path}: {_without_film(path)}")
    return [output for output in found if len(output.clips) == len(output.board.states)] or found


def _without_film(path: Path) -> str:
    """What is at a path at which no film is, and what would be right."""
    if not path.is_dir():
        return f"{'a file' if path.exists() else 'not there'}; give a folder that addnorm rendered to, such as out/r44"
    if examples := sorted({str(values.parent.parent) for values in path.glob(f"*/*/{VALUES}")}):
        return f"the folder of several examples; give some of them: {' '.join(examples)}"
    if any(path.glob("**/stills/*.png")):
        return "only pictures in it; render the clips too, without --stills"
    return (
        "no film in it; give a folder that addnorm rendered to, such as out/r44, which holds "
        f"a {VALUES} for each language"
    )


def _rendered(outputs: Sequence[Output]) -> Rendered:
    first = outputs[0]
    for other in outputs[1:]:
        if (other.film.name, other.trace.example) != (first.film.name, first.trace.example):
            raise AddnormError(
                f"{other.folder}: another example than that of {first.folder}, with the same id "
                f"{first.trace.example.id!r}; render both from one example, or give each an id of its own"
            )
    ordered = sorted(outputs, key=_place)
    largest = tuple(next(iter(alike)) for _, alike in groupby(ordered, lambda output: _place(output)[:2]))
    for other in largest[1:]:
        if lacking := {clip.name for clip in largest[0].clips} ^ {clip.name for clip in other.clips}:
            raise AddnormError(
                f"{other.folder}: not the same states as {largest[0].folder}: {', '.join(sorted(lacking))} "
                "in only one of them; render it too"
            )
    return Rendered(first.film, first.trace, first.board, largest)


def _place(output: Output) -> tuple[tuple[bool, str], tuple[bool, str], int, int]:
    """Where an output stands: by language, by theme, the largest and smoothest first."""
    language, theme, size = output.language, output.theme, output.size
    return (
        (language != FIRST_LANGUAGE, language),
        (theme != FIRST_THEME, theme),
        -size.height,
        -size.frame_rate,
    )


def _read_manifest(path: Path) -> tuple[bytes, Mapping[str, Any]]:
    try:
        content = path.read_bytes()
        manifest = json.loads(content)
        if manifest["schema"] != SCHEMA:
            raise AddnormError(f"{path}: schema {manifest['schema']!r}; this addnorm reads {SCHEMA}; render again")
        known = {"film": FILMS, "language": languages(), "theme": themes()}
        wrong = [key for key, names in known.items() if manifest[key] not in names]
        if wrong or not {"example", "size", "frame_rate", "captions", "clips"} <= manifest.keys():
            raise AddnormError(f"{path}: {wrong[0] if wrong else 'a field'} is missing or not known; render again")
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise AddnormError(f"{path}: cannot be read as a manifest: {error}; render again") from error
    return content, manifest


def _example(record: Mapping[str, Any], given: Iterable[Example], source: Path) -> Example:
    """The example in a manifest, or, if that holds only its digest, the one given or bundled that has it."""
    if set(record) != {"id", "digest"}:
        return example_from(record, str(source))
    bundled = (load_example(find_example(name)) for name in bundled_examples() if name == record["id"])
    for candidate in (*given, *bundled):
        if candidate.digest == record["digest"]:
            return candidate
    raise AddnormError(
        f"{source}: its example, {record['id']}, is too large to be kept there; give its file with --example"
    )


def _require_origin(video: Path, manifest: bytes) -> None:
    """The video must be the one that the manifest describes: it carries the manifest's digest."""
    try:
        digest = json.loads(read_metadata(video).get("comment", ""))["values_sha256"]
    except (ValueError, TypeError, KeyError):
        digest = None
    if digest != sha256(manifest).hexdigest():
        raise AddnormError(f"{video}: not the clip that its manifest describes; render it again")


def _require_core(
    manifest: Mapping[str, Any], record: Mapping[str, Any], state: State, caption: Line, folder: Path
) -> None:
    """What the clip ends on must be what the core has for that state, and nothing else of it."""
    ending = labels_at(manifest, state.name, record["frames"] - 1)
    shown = {(label.ref, label.text, label.value) for label in ending}
    due = {(label.ref, label.text, label.value) for label in (*state.labels, *_said(caption))}
    if shown != due:
        refs = ", ".join(sorted({ref for ref, _, _ in shown ^ due}))
        raise AddnormError(
            f"{folder}: {state.name} ends on other numbers than the core has, in {refs}; render it again"
        )


def _said(caption: Line) -> Iterator[Label]:
    """The numbers that a caption of the user's asks for."""
    yield from (run.source for run in caption if isinstance(run.source, Label))


def _size(manifest: Mapping[str, Any]) -> Size:
    """The size of its clips, which are no larger and no faster than any that are rendered."""
    numbers = (*manifest["size"], manifest["frame_rate"])
    if not all(type(number) is int and number <= LARGEST for number in numbers):
        raise ValueError(f"{numbers}: not a width, a height and a frame rate")
    return Size(*numbers)


def alternatives(rendered: Sequence[Rendered]) -> Iterator[tuple[str, str]]:
    """Every language and theme that some example of an export has, the first ones first."""
    outputs = sorted((output for each in rendered for output in each.outputs), key=_place)
    yield from dict.fromkeys((output.language, output.theme) for output in outputs)
