"""What an HTML export says and shows of its examples, language by language, ready to be put into a template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from markupsafe import Markup

from addnorm.mathcore.labels import Label
from addnorm.mathcore.reference import Reference
from addnorm.mathcore.symbols import Symbol, definitions
from addnorm.scenes.exporters.markup import base64, data_uri, mathml, raised, rich
from addnorm.scenes.exporters.outputs import FIRST_THEME, Clip, Figures, Output, Rendered
from addnorm.scenes.storyboard import Element, State
from addnorm.scenes.text import Line, Name, Wording, load_catalogue, plain


@dataclass(frozen=True)
class Edition:
    """The page in one language. An example that was not rendered in it is shown in the language it has."""

    language: str
    examples: Sequence[Rendered]

    @property
    def name(self) -> str:
        """What the language calls itself."""
        name: str = load_catalogue(self.language)["language"]["name"]
        return name

    @property
    def words(self) -> Mapping[str, str]:
        """The words on buttons and headings."""
        words: Mapping[str, str] = load_catalogue(self.language)["page"]
        return words

    @property
    def quantity(self) -> str:
        """The head of the tables' first column."""
        return self._line("quantity")

    @property
    def cautions(self) -> str:
        """The heading of the cautions."""
        return self._line("cautions")

    @property
    def pointers(self) -> str:
        """The heading of the pointers."""
        return self._line("pointers")

    def _line(self, key: str) -> str:
        film = self.exhibits[0]
        return plain(film.wording.line(f"{film.example.board.film}.transcript.{key}"))

    @cached_property
    def exhibits(self) -> tuple[Exhibit, ...]:
        """The examples, one after the other."""
        alone = len(self.examples) == 1
        return tuple(Exhibit(self, example, "" if alone else f"{example.id}/") for example in self.examples)


class Picture(NamedTuple):
    """A still; ``theme`` is empty where there is one for all themes."""

    address: str
    theme: str
    width: int
    height: int


class Row(NamedTuple):
    """Numbers of one quantity, ready to be put in."""

    symbol: Markup
    name: Markup
    cells: tuple[Markup, ...]
    text: Markup


class Panel(NamedTuple):
    """The details: rows of numbers under their columns, single ones, and what has to be said of them."""

    heading: Markup
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    singles: tuple[Row, ...]
    remarks: tuple[Markup, ...]


@dataclass(frozen=True)
class Exhibit:
    """One example on the page of one language; ``place`` goes before its states' names in an address."""

    edition: Edition
    example: Rendered
    place: str

    @property
    def id(self) -> str:
        """Tells it apart from the others."""
        return self.example.id

    @cached_property
    def output(self) -> Output:
        """The output whose words it has."""
        return self.example.output(self.edition.language, FIRST_THEME)

    @property
    def wording(self) -> Wording:
        """Its words."""
        return self.output.wording

    @property
    def title(self) -> str:
        """Its title, which may be the user's own."""
        return self.output.title

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Its states."""
        return tuple(Step(self, clip) for clip in self.output.clips)

    @property
    def formulas(self) -> tuple[Markup, ...]:
        """What each of its numbers is, in the order of the computation."""
        example = self.example.trace.example
        formulas = definitions(example.norm, example.followed, example.n_features)
        return tuple(mathml(formula.math, display=True) for formula in formulas)

    @property
    def panels(self) -> tuple[Panel, ...]:
        """Its details."""
        return tuple(self._panel(panel) for panel in self.example.board.panels)

    @property
    def cautions(self) -> tuple[Markup, ...]:
        """How far it holds."""
        return tuple(rich(self.wording.line(key)) for key in self.example.board.cautions)

    @property
    def pointers(self) -> tuple[Markup, ...]:
        """Where to go on."""
        return tuple(rich(self.wording.line(key)) for key in self.example.board.pointers)

    def _panel(self, panel: State) -> Panel:
        heading = self.wording.line(f"{self.example.board.film}.{panel.name}.heading")
        tables = [element for element in panel.elements if element.kind == "detail_row"]
        rows = [row(own, self._name(element, own)) for element in tables for own in self.output.figures(element.labels)]
        others = [label for element in panel.elements if element.kind != "detail_row" for label in element.labels]
        return Panel(
            rich(unnamed(heading)),
            self._columns(self.output.figures(tables[0].labels)[0]) if tables else (),
            tuple(rows),
            tuple(row(own, self._single(own)) for own in self.output.figures(others)),
            tuple(self._remarks(panel)),
        )

    def _name(self, element: Element, figures: Figures) -> Line:
        """What a row is called; a symbol alone says nothing to who listens."""
        line = self.wording.line(element.words[0])
        return self._single(figures) if all(isinstance(run.source, Symbol) for run in line) else line

    def _single(self, figures: Figures) -> Line:
        """A statistic or a parameter in words, with its symbol."""
        return self.wording.line(f"page.quantity.{figures.symbol.quantity.removeprefix('ln.')}")

    def _columns(self, figures: Figures) -> tuple[str, ...]:
        """What stands above the numbers of a row: which feature, counted from one."""
        feature = self.edition.words["feature"]
        return tuple(
            f"{feature} {int(Reference.parse(cell.ref).index[-1]) + 1}" if isinstance(cell, Label) else ""
            for cell in figures.cells
        )

    def _remarks(self, panel: State) -> Iterator[Markup]:
        for element in panel.elements:
            if element.kind == "conventions" or (element.kind != "heading" and not element.labels):
                yield from (rich(self.wording.line(key)) for key in element.words)
        if note := self.wording.note():
            yield rich(note)


@dataclass(frozen=True)
class Step:
    """A state on the page."""

    exhibit: Exhibit
    clip: Clip

    @property
    def name(self) -> str:
        """The state's name."""
        return self.clip.name

    @property
    def address(self) -> str:
        """What stands after the # in a link to it."""
        return f"{self.exhibit.place}{self.name}"

    @property
    def heading(self) -> Markup:
        """Its heading."""
        return rich(unnamed(self.clip.heading))

    @property
    def caption(self) -> Markup:
        """Its caption."""
        return rich(self.clip.caption)

    @property
    def said(self) -> str:
        """Both as plain text."""
        return f"{plain(unnamed(self.clip.heading))}. {plain(self.clip.caption)}"

    @property
    def description(self) -> str:
        """What its picture shows."""
        return self.exhibit.output.description(self.clip)

    @property
    def shown(self) -> tuple[Row, ...]:
        """The numbers on its picture."""
        return tuple(row(own) for own in self.exhibit.output.figures(self.clip.labels))

    @property
    def pictures(self) -> Iterator[Picture]:
        """Its stills, one for each theme."""
        for theme, output in self._outputs():
            clip = output.clip(self.name)
            still = data_uri("image/png", clip.still.read_bytes())
            yield Picture(still, theme, clip.size.width, clip.size.height)

    @property
    def clips(self) -> dict[str, str]:
        """The keys of its clips, by theme."""
        return {theme: key_of(output, self.name) for theme, output in self._outputs()}

    def _outputs(self) -> list[tuple[str, Output]]:
        own = [each for each in self.exhibit.example.outputs if each.language == self.exhibit.output.language]
        return [(output.theme if len(own) > 1 else "", output) for output in own]


def unnamed(heading: Line) -> Line:
    """A heading without the film's name before it: on the page that stands in the title."""
    if len(heading) > 1 and isinstance(heading[0].source, Name) and heading[1].text.startswith(" · "):
        first = heading[1]
        return (replace(first, text=first.text.removeprefix(" · ")), *heading[2:])
    return heading


def row(figures: Figures, name: Line = ()) -> Row:
    """Numbers of one quantity as they are put in."""
    cells = tuple(raised(cell.text) if isinstance(cell, Label) else rich(cell) for cell in figures.cells)
    return Row(mathml(figures.symbol.math), rich(name), cells, raised(figures.text))


class Store(NamedTuple):
    """A clip's bytes under its key. Clips that are alike stay apart."""

    key: str
    content: str


def stores(examples: Sequence[Rendered]) -> Iterator[Store]:
    """Every clip of some examples, in playing order."""
    for example in examples:
        for output in example.outputs:
            for clip in output.clips:
                yield Store(key_of(output, clip.name), base64(clip.video.read_bytes()))


def key_of(output: Output, state: str) -> str:
    """The key of a clip: no two are the same."""
    return f"{output.trace.example.id}/{output.language}/{output.theme}/{state}"


def editions_of(examples: Sequence[Rendered]) -> tuple[Edition, ...]:
    """The languages of some examples."""
    languages = dict.fromkeys(language for example in examples for language in example.languages)
    return tuple(Edition(language, examples) for language in languages)


def themes_of(examples: Sequence[Rendered]) -> tuple[str, ...]:
    """The themes of some examples."""
    return tuple(dict.fromkeys(theme for example in examples for theme in example.themes))
