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
    """The numbers of one row as shown; where there are others between, before or after them, how many."""
    of_token = len(Reference.parse(labels[0].ref).index) == 2
    place = -1
    for label in labels:
        *_, index = Reference.parse(label.ref).index or (0,)
        if isinstance(index, int):
            if (of_token or len(labels) > 1) and index > place + 1:
                yield plain(wording.elided(index - place - 1))
            place = index
        yield label.text
    if of_token and place + 1 < wording.trace.example.n_features:
        yield plain(wording.elided(wording.trace.example.n_features - place - 1))


def _said(line: Line) -> str:
    return _literal(plain(line))


def _literal(text: str) -> str:
    """The text on one line, with a backslash before whatever Markdown would take for its own."""
    text = re.sub(r"([\\`*_\[\]<>#|~$&])", r"\\\1", " ".join(text.split()))
    return re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", text)
