"""Whether a picture keeps what its state promises: which numbers, in which order, under which name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from addnorm.mathcore.labels import Label
from addnorm.mathcore.symbols import Symbol
from addnorm.mathcore.trace import Trace
from addnorm.scenes.elements.lettering import Glyphs
from addnorm.scenes.elements.value_chart import ValueShape
from addnorm.scenes.manifest import LengthSighting, Seen, Sighting
from addnorm.scenes.storyboard import Element, State
from addnorm.scenes.text import Constant, Elided, FormulaAtom, Line, Sum, User, plain
from addnorm.scenes.truth import names


def broken_promise(state: State, element: Element, mobject: Any, trace: Trace) -> str | None:
    """In what an element's picture differs from what a state promises of it, or None if in nothing."""
    family = mobject.get_family()
    texts = [member for member in family if isinstance(member, Glyphs)]
    shapes = [member for member in family if isinstance(member, ValueShape)]
    return (
        _of_lines(texts)
        or _of_labels(state, element, texts)
        or _of_names(texts, trace)
        or _of_lengths(element, shapes, trace)
        or _of_signs(element, texts, trace)
    )


class Promised:
    """The numbers and lengths that some states have, those that only pass included."""

    def __init__(self, states: Iterable[State]) -> None:
        elements = [element for state in states for element in (*state.elements, *state.passing)]
        self._labels = {label.ref for element in elements for label in element.labels}
        self._lengths = {None, *(ref for element in elements for ref in element.lengths)}

    def exceeded(self, seen: Seen) -> str | None:
        """The first thing seen on a frame that none of the states has, or None."""
        for sighting in seen:
            if isinstance(sighting, LengthSighting):
                for ref in (sighting.shows.start, sighting.shows.end):
                    if ref not in self._lengths:
                        return f"a length of {ref}"
            elif (ref := _number(sighting)) not in self._labels:
                return f"the number {ref}"
        return None


def unseen(state: State, seen: Seen) -> str | None:
    """The first number or length of a state that cannot be seen on its finished picture, or None."""
    full = [sighting for sighting in seen if sighting.opacity > 0.99]
    labels = {_number(sighting) for sighting in full if isinstance(sighting, Sighting)}
    lengths = {sighting.shows.end for sighting in full if isinstance(sighting, LengthSighting)}
    missing = [label.ref for label in state.labels if label.ref not in labels]
    missing += [f"a length of {ref}" for ref in state.lengths if ref not in lengths]
    return next(iter(missing), None)


def _number(sighting: Sighting) -> str:
    shows = sighting.shows
    return shows.ref if isinstance(shows, Label) else shows.total.ref


def _of_lines(texts: list[Glyphs]) -> str | None:
    """The runs of a line stand together, none is missing and none has been moved; of a formula, what is shown."""
    lines: dict[int, list[Glyphs]] = {}
    for glyphs in texts:
        lines.setdefault(id(glyphs.ink.line), []).append(glyphs)
    for runs in lines.values():
        inked = {n for n, outline in enumerate(runs[0].ink.set_again()) if len(outline)}
        places = [_place(glyphs) for glyphs in runs]
        for place in places:
            here = {glyphs.ink.n for glyphs, other in zip(runs, places, strict=True) if np.allclose(place, other)}
            if here != inked and not isinstance(runs[0].ink.run.source, FormulaAtom):
                return f"{plain(runs[0].ink.line)!r} is not drawn whole"
        if not np.allclose(places, places[0]) and isinstance(runs[0].ink.run.source, FormulaAtom):
            return f"the parts of {runs[0].ink.run.text!r} are drawn apart"
    return None


def _place(glyphs: Glyphs) -> tuple[float, float, float]:
    """The font size at which glyphs are drawn, and where the line that they belong to begins."""
    em, _ = glyphs.ink.fit(glyphs.points)
    x, y, _ = glyphs.points[0] - em * glyphs.ink.outline[0]
    return em, float(x), float(y)


def _of_labels(state: State, element: Element, texts: list[Glyphs]) -> str | None:
    """Every promised number once, in reading order; in its sentences also others that the state has."""
    promised = [(label.ref, label.text) for label in element.labels]
    order = {label: n for n, label in enumerate(promised)}
    elsewhere = {label.ref for other in state.elements for label in other.labels}
    shown = Counter[tuple[str, str]]()
    for row in _rows([glyphs for glyphs in texts if isinstance(glyphs.ink.run.source, Label)]):
        said = [(glyphs, (glyphs.ink.run.source.ref, glyphs.ink.run.text)) for glyphs in row]
        own = [label for glyphs, label in said if label in order or not _is_sentence(glyphs.ink.line)]
        for glyphs, label in said:
            if label not in own and label[0] not in elsewhere:
                return f"{glyphs.ink.run.text!r} is said to be {label[0]}, which the state does not have"
        shown.update(own)
        places = [order[label] for label in own if label in order]
        if places != sorted(places):
            return f"{[text for _, text in own]} stand in another order than was promised"
    if shown != Counter(promised):
        return _differing("numbers", shown, Counter(promised))
    return None


def _of_names(texts: list[Glyphs], trace: Trace) -> str | None:
    """Numbers that stand by themselves belong to a quantity that the element names."""
    lines: dict[int, Line] = {id(glyphs.ink.line): glyphs.ink.line for glyphs in texts}
    alone = [line[0].source for line in lines.values() if len(line) == 1 and isinstance(line[0].source, Label)]
    naming = [line for line in lines.values() if not any(isinstance(run.source, Label) for run in line)]
    subjects = [
        next(run.source for run in line if isinstance(run.source, Symbol))
        for line in naming
        if any(isinstance(run.source, Symbol) for run in line)
    ]
    for number in alone if subjects else ():
        if not any(names(subject, number, trace.example.norm) for subject in subjects):
            return f"{number.text!r} is {number.ref}, but stands under the name {subjects[0].text}"
    return None


def _of_lengths(element: Element, shapes: list[ValueShape], trace: Trace) -> str | None:
    drawn = [length for shape in shapes if len(shape.points) for length in shape.lengths(trace)]
    shown, promised = Counter(str(length.end) for length in drawn), Counter(element.lengths)
    if shown != promised:
        return _differing("lengths", shown, promised)
    labelled = {label.ref for label in element.labels}
    for length in drawn:
        if length.cut and length.end not in labelled:
            return f"the length of {length.end} is cut and does not carry its value"
    return None


def _of_signs(element: Element, texts: list[Glyphs], trace: Trace) -> str | None:
    sources = [glyphs.ink.run.source for glyphs in texts]
    sums = Counter((source.terms, source.total) for source in sources if isinstance(source, Sum))
    if sums != Counter((relation.terms, relation.total) for relation in element.relations):
        return "its arithmetic is not the promised one"
    parts = {source.formula.atoms[source.n].part for source in sources if isinstance(source, FormulaAtom)}
    if parts != set(element.parts):
        return f"of the formula {sorted(parts)} are shown, promised are {sorted(element.parts)}"
    hidden = trace.example.n_features - len(element.labels)
    for source in sources:
        if isinstance(source, Elided) and source.count != hidden:
            return f"{hidden} numbers are left out, but it says {source.count}"
    return None


def _differing(what: str, shown: Counter[Any], promised: Counter[Any]) -> str:
    return f"{what} drawn but not promised: {[*(shown - promised)]}; promised but not drawn: {[*(promised - shown)]}"


def _is_sentence(line: Line) -> bool:
    return any(isinstance(run.source, Constant | User) for run in line)


def _rows(texts: list[Glyphs]) -> list[list[Any]]:
    """Texts by the line they stand on, from top to bottom, each from left to right."""
    rows: list[tuple[float, list[Any]]] = []
    for glyphs in sorted(texts, key=lambda glyphs: -float(glyphs.points[:, 1].min())):
        foot, height = float(glyphs.points[:, 1].min()), float(np.ptp(glyphs.points[:, 1]))
        if not rows or rows[-1][0] - foot > height / 2:
            rows.append((foot, []))
        rows[-1][1].append(glyphs)
    return [sorted(row, key=lambda glyphs: float(glyphs.points[:, 0].min())) for _, row in rows]
