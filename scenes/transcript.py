"""transcript.md: everything a film says and shows, as text to read, to search and to read aloud."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from addnorm.mathcore.labels import Label
from addnorm.mathcore.reference import Reference
from addnorm.mathcore.symbols import symbol
from addnorm.scenes.storyboard import State, Storyboard
from addnorm.scenes.text import Line, Wording, plain


def title_of(board: Storyboard, wording: Wording) -> str:
    """The example's own title in this language, or the film's."""
    return wording.trace.example.title.get(wording.language) or plain(wording.line(f"{board.film}.title"))


def chapter_of(board: Storyboard, state: State, wording: Wording) -> str:
    """A state's name and heading."""
    return f"{state.name} · {plain(wording.line(f'{board.film}.{state.name}.heading'))}"


def transcript(board: Storyboard, wording: Wording) -> str:
    """The transcript as CommonMark, in which no text of an example can act as markup."""
    return "\n\n".join(_blocks(board, wording)) + "\n"


def _blocks(board: Storyboard, wording: Wording) -> Iterator[str]:
    film = board.film
    yield f"# {_literal(title_of(board, wording))}"
    for state in board.states:
        yield f"## {_literal(chapter_of(board, state, wording))}"
        yield _said(wording.caption(film, state.name))
        yield from _figures(state, film, wording)
    for panel in board.panels:
        yield f"## {_said(wording.line(f'{film}.{panel.name}.heading'))}"
        yield from _figures(panel, film, wording)
        remarks = [element for element in panel.elements if element.kind != "heading" and not element.labels]
        yield from (_said(wording.line(key)) for remark in remarks for key in remark.words)
    if note := wording.note():
        yield f"> {_said(note)}"
    for part, keys in (("cautions", board.cautions), ("pointers", board.pointers)):
        if keys:
            yield f"## {_said(wording.line(f'{film}.transcript.{part}'))}"
            yield "\n".join(f"- {_said(wording.line(key))}" for key in keys)


def _figures(state: State, film: str, wording: Wording) -> Iterator[str]:
    """The state's numbers as a table, a row of them for each row that is drawn."""
    if not state.labels:
        return
    head = [_said(wording.line(f"{film}.transcript.{column}")) for column in ("quantity", "shown")]
    rows = [
        [_literal(name), " · ".join(_numbers(list(labels), wording))]
        for name, labels in groupby(state.labels, lambda label: _name(label, wording))
    ]
    yield "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---", "---"], *rows))


def _name(label: Label, wording: Wording) -> str:
    """The symbol of the row or statistic that a number belongs to."""
    ref = Reference.parse(label.ref)
    match ref.index:
        case (int(token), _):
            return symbol(ref.name, token, wording.trace.example.norm).text
        case _:
            return symbol(ref.name, norm=wording.trace.example.norm).text


def _numbers(labels: list[Label], wording: Wording) -> Iterator[str]:
    """The numbers of one row as shown; between those that are not neighbours, how many are left out."""
    place = -1
    for label in labels:
        index = feature_of(label)
        if index is not None:
            if hidden := index - place - 1:
                yield plain(wording.elided(hidden))
            place = index
        yield label.text


def feature_of(label: Label) -> int | None:
    """Which feature of a row a number belongs to; None for what is no number of a row."""
    ref = Reference.parse(label.ref)
    *_, index = ref.index or ("",)
    statistic = len(ref.index) == 1 and ref.name.startswith("ln.")
    return index if isinstance(index, int) and not statistic else None


def _said(line: Line) -> str:
    return _literal(plain(line))


def _literal(text: str) -> str:
    """The text on one line, with a backslash before whatever Markdown would take for its own."""
    text = re.sub(r"([\\`*_\[\]<>#|~$&])", r"\\\1", " ".join(text.split()))
    return re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", text)
