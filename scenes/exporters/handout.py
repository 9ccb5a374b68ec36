"""A handout to print: each state with its picture, its caption and its figures, and a sheet to recompute them.

Typst sets it from the bundled fonts; pictures are the render's vector stills, those of the light theme where it
was rendered. The answers to the sheet are on the last page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from addnorm.mathcore.symbols import Symbol, definitions
from addnorm.scenes.exporters.decks import one_line
from addnorm.scenes.exporters.outputs import Clip, Figures, Output, Rendered
from addnorm.scenes.exporters.vectors import compiled, read_svg
from addnorm.scenes.exporters.worksheet import Row, Worksheet, worksheet
from addnorm.scenes.paths import asset
from addnorm.scenes.text import Line, Wording, value_line
from addnorm.scenes.theme import MEANINGS, load_theme
from addnorm.scenes.typeset import drawable, scripted, scripts_meet

_THEME = "light"
Json = dict[str, Any]


def export(examples: Sequence[Rendered], target: Path) -> None:
    """Write a PDF for each language into the folder ``target``."""
    target.mkdir()
    template = asset("exporters", "handout", "handout.typ").read_bytes()
    for language in dict.fromkeys(language for example in examples for language in example.languages):
        outputs = [example.output(language, _THEME) for example in examples if language in example.languages]
        ids = "-".join(output.trace.example.id for output in outputs)
        pdf = compiled(template, data=json.dumps(_document(outputs), ensure_ascii=False))
        (target / f"{ids}-{language}.pdf").write_bytes(pdf)


def _document(outputs: Sequence[Output]) -> Json:
    wording = outputs[0].wording
    words = {key: _line(wording.line(f"handout.{key}")) for key in ("sheet", "given", "fill", "answers")}
    return {
        "title": " / ".join(dict.fromkeys(one_line(output.title) for output in outputs)),
        "language": outputs[0].language,
        "words": words | {"feature": _line(wording.line("page.feature"))},
        "parts": [_part(output) for output in outputs],
    }


def _part(output: Output) -> Json:
    return {
        "title": _text(output.title),
        "states": [_state(output, clip) for clip in output.clips],
        "remarks": [*_remarks(output)],
        "sheet": _sheet(output),
    }


def _state(output: Output, clip: Clip) -> Json:
    return {
        "heading": _line(clip.heading),
        "svg": read_svg(clip.still),
        "description": one_line(output.description(clip)),
        "caption": _line(clip.caption),
        "figures": [_figures(row) for row in output.figures(clip.labels)],
    }


def _remarks(output: Output) -> Iterator[Json]:
    """The cautions, with the example's own note, and the pointers."""
    board, wording = output.board, output.wording
    note = [_line(wording.note())] if wording.note() else []
    for part, keys, more in (("cautions", board.cautions, note), ("pointers", board.pointers, [])):
        if keys:
            lines = [*(_line(wording.line(key)) for key in keys), *more]
            yield {"heading": _line(wording.line(f"{board.film}.transcript.{part}")), "lines": lines}


def _sheet(output: Output) -> Json:
    sheet, example = worksheet(output.trace), output.trace.example
    places = str(example.display.statistics_decimals)
    wording = Wording(output.language, output.trace, {**output.film.names, "places": places})
    remarks = ("exact" if sheet.exact else "rounded", *(("selected",) if sheet.window.hidden else ()))
    formulas = definitions(example.norm, example.followed, example.n_features)
    given = [_row(row, sheet, given=True) for row in sheet.given]
    steps = groupby(sheet.steps, lambda row: row.vector)
    return {
        "remarks": [_line(wording.line(f"handout.{key}")) for key in remarks],
        "formulas": [[("math", f"display({formula.math})", None)] for formula in formulas],
        "columns": [_text(column) for column in _across(sheet, [str(n + 1) for n in sheet.window.shown])],
        "vectors": [row for row in given if row["vector"]],
        "scalars": [row for row in given if not row["vector"]],
        "steps": [[_row(row, sheet, given=False) for row in group] for _, group in steps],
    }


def _row(row: Row, sheet: Worksheet, *, given: bool) -> Json:
    texts = [label.text for label in row.labels]
    cells = _across(sheet, texts) if row.vector else texts
    named = [_math(row.symbol)]
    return {"symbol": named, "cells": [_text(cell) for cell in cells], "given": given, "vector": row.vector}


def _across(sheet: Worksheet, texts: Sequence[str]) -> list[str]:
    """The texts of a row's columns, with one for those that are left out."""
    columns = [*texts]
    if sheet.window.hidden:
        columns.insert(sheet.window.gap, "…")
    return columns


def _figures(row: Figures) -> Json:
    cells = (value_line(cell) if not isinstance(cell, tuple) else cell for cell in row.cells)
    return {"symbol": [_math(row.symbol)], "cells": [_line(cell, color=False) for cell in cells]}


# Lines as the template takes them: (kind, text, colour) for each piece.

_Piece = tuple[str, str, str | None]


def _math(named: Symbol, *, color: bool = True) -> _Piece:
    shade = load_theme(_THEME).color(named.quantity) if color and named.quantity in MEANINGS else None
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
