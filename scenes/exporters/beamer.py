"""Slides for LaTeX: a beamer document with clips by ``multimedia`` and stills that stay crisp, as vector PDF.

A state has two pages: its clip, which starts by itself from its first picture, and the still it stops on. Viewers
that keep to the pages' durations go from one to the other by themselves; those that play no video show the still
too; and the handout has the stills alone.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from addnorm.mathcore.symbols import Symbol
from addnorm.scenes.exporters.decks import Deck, decks, legend, one_line
from addnorm.scenes.exporters.outputs import FIRST_THEME, Clip, Output, Rendered
from addnorm.scenes.exporters.vectors import as_pdf, read_svg
from addnorm.scenes.paths import asset
from addnorm.scenes.text import Line, plain
from addnorm.scenes.theme import MEANINGS, load_theme
from addnorm.scenes.typeset import FONT_FILE, drawable, scripted, scripts_meet


def export(examples: Sequence[Rendered], target: Path) -> None:
    """Write a document for each language and theme into the folder ``target``, with all it needs beside it."""
    (target / "fonts").mkdir(parents=True)
    for font in (FONT_FILE, "OFL.txt"):
        shutil.copyfile(asset("fonts", font), target / "fonts" / font)
    for deck in decks(examples):
        for output in deck.outputs:
            _copy_pictures(output, target / _folder(output))
        (target / f"{deck.name}.tex").write_text(_document(deck), encoding="utf-8")


def _folder(output: Output) -> str:
    """Where an output's pictures are, in ASCII: viewers disagree about other letters in a clip's name."""
    theme = "" if output.theme == FIRST_THEME else f"-{output.theme}"
    example = "".join(c if c.isascii() else f"U+{ord(c):04X}" for c in output.trace.example.id)
    return f"{example}-{output.language}{theme}"


def _copy_pictures(output: Output, folder: Path) -> None:
    folder.mkdir()
    for clip in output.clips:
        shutil.copyfile(clip.video, folder / f"{clip.name}.mp4")
        (folder / f"{clip.name}-first.png").write_bytes(clip.poster)
        (folder / f"{clip.name}.pdf").write_bytes(as_pdf(read_svg(clip.still)))


def _document(deck: Deck) -> str:
    templates = Environment(
        loader=FileSystemLoader(asset("exporters", "beamer")),
        autoescape=False,  # what is put in is TeX already, made by `tex`
        undefined=StrictUndefined,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="(=",
        variable_end_string="=)",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return templates.get_template("deck.tex").render(
        name=deck.name,
        title=tex_string(deck.title),
        chinese=deck.language == "zh",
        colors={role: color[1:] for role, color in load_theme(deck.theme).colors.items()},
        parts=[_part(output) for output in deck.outputs],
    )


def _part(output: Output) -> Mapping[str, Any]:
    symbols = (rf"\textcolor{{{MEANINGS[named.quantity]}}}{{${tex_math(named)}$}}" for named in legend(output))
    return {
        "title": tex(output.title),
        "section": _heading(tex(output.title), output.title),
        "legend": r"\quad ".join(symbols),
        "folder": _folder(output),
        "states": [_state(output, clip) for clip in output.clips],
    }


def _state(output: Output, clip: Clip) -> Mapping[str, str]:
    figures = [f"${tex_math(row.symbol)}$ = {tex(row.text)}" for row in output.figures(clip.labels)]
    return {
        "name": clip.name,
        "seconds": f"{clip.seconds:g}",
        "heading": _heading(tex_line(clip.heading), plain(clip.heading)),
        "description": tex_string(output.description(clip)),
        "notes": r"\par\medskip ".join(filter(None, (tex_line(clip.caption), r"\par ".join(figures)))),
    }


def _heading(line: str, text: str) -> str:
    """A heading; in the PDF's bookmarks, where nothing is set, it stands as plain text."""
    return rf"\texorpdfstring{{{line}}}{{{tex_string(text)}}}"


# Text and symbols in TeX's notation.

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "-": "-{}",  # two of them would be joined
    **{c: f"\\{c}" for c in "{}$&#%_"},
}


def tex(text: str) -> str:
    """A text that TeX shows as it is, on one line; what the bundled font lacks stands as its code point."""
    forms = {"text": "{}", "super": r"\textsuperscript{{{}}}", "sub": r"\textsubscript{{{}}}"}
    return "".join(forms[kind].format(_escaped(part)) for kind, part in scripted(drawable(one_line(text))))


def tex_string(text: str) -> str:
    """The same where nothing is set, as in a PDF's bookmarks: raised and lowered digits are characters there."""
    return _escaped(one_line(text))


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(c, c) for c in text)


def tex_line(line: Line) -> str:
    """A line of the film, its symbols as formulas."""
    parts = [f"${tex_math(run.source)}$" if isinstance(run.source, Symbol) else tex_run(run.text) for run in line]
    for n, (left, right) in enumerate(pairwise(line), start=1):
        if scripts_meet(left.text, right.text):
            parts[n] = f" {parts[n]}"
    return "".join(parts)


def tex_run(text: str) -> str:
    """A piece of a line, with the blanks at its ends."""
    ends = [" " if text[n:][:1].isspace() else "" for n in (0, -1)]
    return f"{ends[0]}{tex(text)}{ends[1]}"


def tex_math(symbol: Symbol) -> str:
    r"""A symbol in TeX's notation: ``hat(r)_1`` is ``\hat{r}_{1}``."""
    math = re.sub(r"hat\((\w+)\)", r"\\hat{\1}", symbol.math)
    math = re.sub(r'_"?(\d+)"?', r"_{\1}", math)
    math = re.sub(r"(?<![\\\w])([A-Za-z]{2,})", r"\\\1", math)
    return math.replace(r"\epsilon", r"\varepsilon")  # the film's, which is ε and not ϵ
