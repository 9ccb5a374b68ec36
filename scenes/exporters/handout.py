"""A handout to print: each state with its picture, its caption and its figures, and a sheet to recompute them.

Typst sets it from the bundled fonts. Pictures are the render's vector stills in the light theme's colours, so they
print well on white. The answers to the sheet are on the last page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from addnorm.mathcore.labels import Label
from addnorm.mathcore.symbols import Symbol, definitions
from addnorm.scenes.exporters.decks import Deck, one_line
from addnorm.scenes.exporters.outputs import FIRST_THEME, Clip, Figures, Output, Rendered
from addnorm.scenes.exporters.vectors import compiled, picture
from addnorm.scenes.exporters.worksheet import Entry, Worksheet, worksheet
from addnorm.scenes.paths import asset
from addnorm.scenes.text import Line, Wording, text_width, value_line
from addnorm.scenes.theme import MEANINGS, load_theme
from addnorm.scenes.typeset import drawable, scripted, scripts_meet

_THEME = load_theme("light")
_RUNNING_TITLE = 90.0  # widths of a digit
Json = dict[str, Any]


def export(examples: Sequence[Rendered], target: Path) -> None:
    """Write a PDF for each language into the folder ``target``."""
    target.mkdir()
    template = asset("exporters", "handout", "handout.typ").read_bytes()
    for language in dict.fromkeys(language for example in examples for language in example.languages):
        outputs = (example.output(language, _THEME.name) for example in examples if language in example.languages)
        deck = Deck(language, FIRST_THEME, tuple(outputs))
        pdf = compiled(template, data=json.dumps(_document(deck), ensure_ascii=False))
        (target / f"{deck.name}.pdf").write_bytes(pdf)


def _document(deck: Deck) -> Json:
    wording = deck.outputs[0].wording
    words = {key: _line(wording.line(f"handout.{key}")) for key in ("sheet", "answers")}
    return {
        "title": deck.title,
        "running": _shortened(drawable(deck.title)),
        "language": deck.language,
        "words": words | {"feature": _line(wording.line("page.feature"))},
        "parts": [_part(output) for output in deck.outputs],
    }


def _shortened(text: str) -> str:
    """As much of a text as fits a line in small letters."""
    kept = next(n for n in range(len(text), -1, -1) if text_width(text[:n]) <= _RUNNING_TITLE)
    return text if kept == len(text) else f"{text[:kept]}…"


def _part(output: Output) -> Json:
    return {
        "title": _text(output.title),
        "states": [_state(output, clip) for clip in output.clips],
        "remarks": [*_remarks(output)],
        "sheet": _sheet(output, worksheet(output.trace)),
    }


def _state(output: Output, clip: Clip) -> Json:
    figures = output.figures(clip.labels)
    return {
        "heading": _line(clip.heading),
        "picture": picture(clip.still, load_theme(output.theme), _THEME),
        "description": one_line(output.description(clip)),
        "caption": _line(clip.caption),
        "numbers": [_figures(row) for row in figures if len(row.labels) == 1],
        "rows": [_figures(row) for row in figures if len(row.labels) > 1],
    }


def _figures(row: Figures) -> Json:
    cells = (value_line(cell) if isinstance(cell, Label) else cell for cell in row.cells)
    return {"symbol": [_math(row.symbol)], "cells": [_line(cell, color=False) for cell in cells]}


def _remarks(output: Output) -> Iterator[Json]:
    """The cautions, with the example's own note, and the pointers."""
    board, wording = output.board, output.wording
    note = [_line(wording.note())] if wording.note() else []
    for part, keys, more in (("cautions", board.cautions, note), ("pointers", board.pointers, [])):
        if keys:
            lines = [*(_line(wording.line(key)) for key in keys), *more]
            yield {"heading": _line(wording.line(f"{board.film}.transcript.{part}")), "lines": lines}


def _sheet(output: Output, sheet: Worksheet) -> Json:
    example, window = output.trace.example, sheet.window
    formulas = definitions(example.norm, example.followed, example.n_features)
    return {
        "instructions": [*_instructions(output, sheet)],
        "formulas": [[("math", f"display({formula.math})", None)] for formula in formulas],
        "parameters": [_entry(entry) for entry in sheet.parameters],
        "features": [_text(str(n + 1)) for n in window.shown],
        "gap": window.gap,
        "hidden": _line(output.wording.elided(window.hidden)),
        "columns": [_entry(entry) for entry in sheet.rows],
        "source": [entry.symbol for entry in sheet.rows].index(sheet.source),
        "statistics": [_entry(entry) for entry in sheet.statistics],
    }


def _instructions(output: Output, sheet: Worksheet) -> Iterator[list[_Piece]]:
    """What to do with the sheet, and what it cannot give."""
    names = {
        "places": str(output.trace.example.display.statistics_decimals),
        "sum_places": str(sheet.places.total if sheet.places else ""),
        "count": str(len(sheet.window.shown)),
    }
    wording = Wording(output.language, output.trace, {**output.film.names, **names})
    asked = (label for entry in (*sheet.rows, *sheet.statistics) if not entry.given for label in entry.labels)
    alike = sheet.places is not None and sheet.places.total == output.trace.example.display.statistics_decimals
    yield _line(wording.line("handout." + ("exact_alike" if alike else "exact" if sheet.places else "rounded")))
    if sheet.places and any(label.decimals is None for label in asked):
        yield _line(wording.line("handout.powers"))
    if sheet.window.hidden:
        yield _line(wording.line("handout.selected"))


def _entry(entry: Entry) -> Json:
    cells = [_text(label.text) for label in entry.labels]
    return {"symbol": [_math(entry.symbol)], "cells": cells, "given": entry.given}


# Lines as the template takes them: (kind, text, colour) for each piece.

_Piece = tuple[str, str, str | None]


def _math(named: Symbol, *, color: bool = True) -> _Piece:
    shade = _THEME.color(named.quantity) if color and named.quantity in MEANINGS else None
    return ("math", named.math, shade)


def _text(text: str) -> list[_Piece]:
    return [(kind, part, None) for kind, part in scripted(drawable(one_line(text)))]


def _line(line: Line, *, color: bool = True) -> list[_Piece]:
    pieces: list[_Piece] = []
    for n, run in enumerate(line):
        if n and scripts_meet(line[n - 1].text, run.text):
            pieces.append(("space", "", None))
        if isinstance(run.source, Symbol):
            pieces.append(_math(run.source, color=color))
        else:
            pieces += [(kind, part, None) for kind, part in scripted(drawable(run.text))]
    return pieces
