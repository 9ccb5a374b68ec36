"""Slides for a browser: one HTML file with reveal.js inside, a title and a slide for each state.

It needs no network. A slide shows its clip's own first frame until the clip plays, and the clip stops on its
picture, so nothing jumps from one slide to the next. The speaker's notes hold the caption and the figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from markupsafe import Markup

from addnorm.scenes.exporters.decks import legend
from addnorm.scenes.exporters.editions import Row, editions_of, key_of, row, stores, themes_of, unnamed
from addnorm.scenes.exporters.markup import bundled, data_uri, document, mathml, palettes, rich
from addnorm.scenes.exporters.outputs import Clip, Output, Rendered
from addnorm.scenes.publish import write


def export(examples: Sequence[Rendered], target: Path) -> None:
    """Write the deck of some examples, one after the other."""
    page = document(
        "reveal/deck.html",
        editions=editions_of(examples),
        themes=themes_of(examples),
        slides=[slide for example in examples for slide in _slides(example, alone=len(examples) == 1)],
        clips=stores(examples),
        version=version("addnorm"),
        palettes=palettes(themes_of(examples)),
        reveal_style=bundled("reveal", "reveal.css"),
        reveal_script=bundled("reveal", "reveal.js"),
        notes_script=bundled("reveal", "notes.js"),
        style=bundled("reveal", "deck.css"),
        films_script=bundled("films.js"),
        script=bundled("reveal", "deck.js"),
    )
    write(target, page)


@dataclass(frozen=True)
class Title:
    """What the title slide shows in one language."""

    output: Output
    theme: str = ""

    @property
    def language(self) -> str:
        """Its language."""
        return self.output.language

    @property
    def title(self) -> str:
        """The title, which may be the user's own."""
        return self.output.title

    @property
    def legend(self) -> tuple[Markup, ...]:
        """The symbols of the film in their colours."""
        return tuple(mathml(named.math) for named in legend(self.output))


@dataclass(frozen=True)
class Face:
    """What a state's slide shows in one language and theme."""

    output: Output
    clip: Clip

    @property
    def language(self) -> str:
        """Its language."""
        return self.output.language

    @property
    def theme(self) -> str:
        """Its theme."""
        return self.output.theme

    @property
    def key(self) -> str:
        """The key of its clip."""
        return key_of(self.output, self.clip.name)

    @property
    def still(self) -> str:
        """Its picture."""
        return data_uri("image/png", self.clip.still.read_bytes())

    @property
    def poster(self) -> str:
        """The clip's first frame."""
        return data_uri("image/png", self.clip.poster)

    @property
    def description(self) -> str:
        """What its picture shows."""
        return self.output.description(self.clip)

    @property
    def heading(self) -> Markup:
        """Its heading."""
        return rich(unnamed(self.clip.heading))

    @property
    def caption(self) -> Markup:
        """Its caption."""
        return rich(self.clip.caption)

    @property
    def shown(self) -> tuple[Row, ...]:
        """The numbers on its picture."""
        return tuple(row(own) for own in self.output.figures(self.clip.labels))


@dataclass(frozen=True)
class Slide:
    """A slide with its faces, one for each language and theme. ``id`` is what stands in a link to it."""

    id: str
    kind: str
    name: str
    faces: tuple[Title | Face, ...]


def _slides(example: Rendered, *, alone: bool) -> Iterator[Slide]:
    titles = {output.language: Title(output) for output in reversed(example.outputs)}
    yield Slide(
        "title" if alone else example.id, "title", "", tuple(titles[language] for language in example.languages)
    )
    for state in example.states:
        faces = tuple(Face(output, output.clip(state)) for output in example.outputs)
        yield Slide(state if alone else f"{example.id}-{state}", "state", state, faces)
