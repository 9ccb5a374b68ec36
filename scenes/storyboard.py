"""What a film shows, as plain data: states made of elements, each with the numbers and words it promises.

A storyboard is derived from a trace and says nothing of places, colours or motion. It can be printed and
reviewed as text, queried without drawing, and it is what the stage compares every finished state with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.labels import Label


@dataclass(frozen=True)
class Relation:
    """Numbers drawn as arithmetic: terms, the sign between sum and total ("=" or "≈"), and the total."""

    terms: tuple[Label, ...]
    sign: str
    total: Label


@dataclass(frozen=True)
class Element:
    """One thing on stage.

    ``kind`` says which element draws it, ``name`` is unique in its state and lasts through the film: what bears
    the same name in two states is the same thing. ``labels`` are the numbers it shows, in reading order;
    ``lengths`` the references whose values it draws as lengths; ``words`` the catalogue keys it shows; ``parts``
    the parts of a formula that are visible; ``look`` is "plain", "followed" or "dimmed".
    """

    kind: str
    name: str
    labels: tuple[Label, ...] = ()
    lengths: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    words: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    look: str = "plain"


@dataclass(frozen=True)
class State:
    """One picture with its motion into it. Its heading and caption stand in the catalogue under its name.

    ``passing`` are elements that the motion shows on its way and takes away again.
    """

    name: str
    elements: tuple[Element, ...]
    passing: tuple[Element, ...] = ()

    @property
    def labels(self) -> tuple[Label, ...]:
        """Every number on the picture, in reading order, each reference once."""
        seen: dict[str, Label] = {}
        for element in self.elements:
            for label in element.labels:
                seen.setdefault(label.ref, label)
        return tuple(seen.values())

    @property
    def lengths(self) -> tuple[str, ...]:
        """The references whose values are drawn as lengths."""
        return tuple(ref for element in self.elements for ref in element.lengths)

    def element(self, name: str) -> Element | None:
        """The element of this name, if the state has it."""
        return next((element for element in self.elements if element.name == name), None)

    def without(self, kind: str) -> State:
        """The state without its elements of one kind."""
        return replace(self, elements=tuple(element for element in self.elements if element.kind != kind))


@dataclass(frozen=True)
class Storyboard:
    """A film's states in playing order, and the panels: still pictures beside the film.

    ``cautions`` and ``pointers`` are catalogue keys of what has to be said beside it: how far it holds, and where
    to go on.
    """

    film: str
    states: tuple[State, ...]
    panels: tuple[State, ...] = ()
    cautions: tuple[str, ...] = ()
    pointers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for state in (*self.states, *self.panels):
            names = [element.name for element in state.elements]
            if len(set(names)) != len(names):
                raise AddnormError(f"{self.film}.{state.name}: two elements bear one name among {sorted(names)}")

    def state(self, name: str) -> State:
        """The state or panel of this name."""
        for state in (*self.states, *self.panels):
            if state.name == name:
                return state
        known = ", ".join(state.name for state in self.states)
        raise AddnormError(f"states: {name!r} is not a state of {self.film}; give some of {known}")

    def only(self, *names: str) -> Storyboard:
        """The storyboard with the contents of these states alone; of the others it has the names."""

        def kept(states: tuple[State, ...]) -> tuple[State, ...]:
            return tuple(state if state.name in names else State(state.name, ()) for state in states)

        return replace(self, states=kept(self.states), panels=kept(self.panels))

    def before(self, name: str) -> State | None:
        """The state played just before this one, if there is one."""
        for before, state in pairwise(self.states):
            if state.name == name:
                return before
        return None


def describe(storyboard: Storyboard) -> str:
    """A storyboard as readable text, for review and for golden files."""
    return "\n".join(_describe(storyboard)) + "\n"


def _describe(storyboard: Storyboard) -> Iterator[str]:
    for state in (*storyboard.states, *storyboard.panels):
        yield f"{storyboard.film}.{state.name}"
        for element in state.elements:
            yield from _describe_element(element)
        if state.passing:
            yield "  only passing:"
            for element in state.passing:
                yield from _describe_element(element)


def _describe_element(element: Element) -> Iterator[str]:
    look = "" if element.look == "plain" else f" ({element.look})"
    yield f"  {element.name}: {element.kind}{look}"
    for label in element.labels:
        yield f"    {label.ref} = {label.text}"
    for ref in element.lengths:
        yield f"    length of {ref}"
    for relation in element.relations:
        terms = " + ".join(term.text for term in relation.terms)
        yield f"    {terms} {relation.sign} {relation.total.text}"
    for key in element.words:
        yield f"    words {key}"
    if element.parts:
        yield f"    parts {', '.join(element.parts)}"


@dataclass(frozen=True)
class Window:
    """Which of many columns or rows are shown one by one; ``hidden`` counts those left out after ``gap`` of them."""

    shown: tuple[int, ...]
    gap: int
    hidden: int


def elide_middle(total: int, limit: int, shown: int) -> Window:
    """All of ``total`` columns if they are at most ``limit``, otherwise the first and last ones, ``shown`` in all.

    >>> elide_middle(384, 5, 3)
    Window(shown=(0, 1, 383), gap=2, hidden=381)
    """
    if total <= limit:
        return Window(tuple(range(total)), total, 0)
    head = (shown + 1) // 2
    tail = shown - head
    return Window((*range(head), *range(total - tail, total)), head, total - shown)


def window_around(total: int, center: int, slots: int) -> range:
    """At most ``slots`` neighbouring rows of ``total`` that contain ``center``, centred on it where possible.

    >>> window_around(8, 7, 5)
    range(3, 8)
    """
    start = min(max(center - slots // 2, 0), max(total - slots, 0))
    return range(start, min(start + slots, total))
