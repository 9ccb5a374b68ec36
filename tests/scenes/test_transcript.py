"""The transcript: captions and figures of every state, the cautions and pointers, in plain Markdown."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from markdown_it import MarkdownIt

from addnorm.mathcore import Example, GivenOutput, load_example, run
from addnorm.scenes.films import FILMS
from addnorm.scenes.paths import asset
from addnorm.scenes.text import Wording, plain
from addnorm.scenes.transcript import title_of, transcript

FILM = FILMS["r44"]
SPECIAL = re.compile(r"(?<!\\)(?:\\\\)*[`*_\[\]<>#|~$&]")
"""A character that Markdown would take for its own, with no backslash before it."""


@pytest.fixture(scope="module")
def r44() -> Example:
    return load_example(asset("examples", "r44.toml"))


def written(example: Example, language: str) -> str:
    trace = run(example)
    return transcript(FILM.storyboard(trace), Wording(language, trace, FILM.names))


def section(text: str, heading: str) -> str:
    """The part of a transcript under the heading that contains some words."""
    [found] = [part for part in text.split("\n## ") if heading in part.splitlines()[0]]
    return found


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_state_is_there_with_heading_caption_and_figures(r44: Example, language: str) -> None:
    trace = run(r44)
    wording = Wording(language, trace, FILM.names)
    board = FILM.storyboard(trace)
    text = transcript(board, wording)
    assert text.startswith(f"# {title_of(board, wording)}\n\n## b4 · ")
    parts = [section(text, f"{state.name} · ") for state in board.states]
    assert len(parts) == 6
    for state, part in zip(board.states, parts, strict=True):
        assert plain(wording.line(f"r44.{state.name}.heading")) in part.splitlines()[0]
        assert plain(wording.caption("r44", state.name)) in part
        cells = [cell for row in part.splitlines() if row.startswith("| ") for cell in row[2:-2].split(" | ")[1:]]
        assert [number for cell in cells[2:] for number in cell.split(" · ")] == [label.text for label in state.labels]


def test_the_figures_stand_under_their_symbols(r44: Example) -> None:
    assert section(written(r44, "en"), "b3 · ").splitlines()[4:] == [
        "| Quantity | Shown on screen |",
        "| --- | --- |",
        "| ε | 10⁻⁵ |",
        "| γ | 1 |",
        "| β | 0 |",
        "| O₁ | 1 · 1.599 · −0.198 · −0.006 |",
        "| x₁ | 1 · 0 · 1 · 0 |",
        "| r₁ | 2 · 1.599 · 0.802 · −0.006 |",
        "| μ | 1.098888 |",
        "| σ² | 0.592455 |",
        "| u₁ | 1.171 · 0.650 · −0.385 · −1.435 |",
    ]
    details = section(written(r44, "zh"), "数值细节")
    assert "| u₁ | 1.170705 · 0.649589 · −0.385419 · −1.434875 |" in details
    assert "1.599" not in details


def test_a_state_of_symbols_has_no_table(r44: Example) -> None:
    assert "|" not in section(written(r44, "zh"), "b4 · ")


@pytest.mark.parametrize(
    ("language", "cautions", "pointers"),
    [("zh", "需要留意", "延伸阅读"), ("en", "Keep in mind", "Where to go")],
)
def test_cautions_and_pointers_close_it(r44: Example, language: str, cautions: str, pointers: str) -> None:
    text = written(r44, language)
    assert section(text, cautions).count("\n- ") == 4
    assert section(text, cautions).count("γ") == 1
    listed = section(text, pointers)
    assert listed.count("\n- ") == 5
    for page in ("R43", "B01", "R49", "LAB 03", "M27"):
        assert page in listed
    assert " F" in listed


def test_the_note_is_the_examples_own(r44: Example) -> None:
    assert f"\n> {r44.note['en']}\n" in written(r44, "en")
    assert r44.note["zh"] in written(r44, "zh")
    assert "\n>" not in written(replace(r44, note={}), "zh")


def test_a_wide_row_counts_what_it_leaves_out() -> None:
    x = np.arange(48.0).reshape(2, 24) % 7
    example = Example("wide", x, GivenOutput(x / 4), np.ones(24), np.zeros(24))
    row = re.search(r"^\| x₁ \| (.*) \|$", section(written(example, "en"), "b0 · "), re.MULTILINE)
    assert row
    head, rest = row[1].split(" · … ")
    hidden, tail = rest.split(" … · ")
    shown = len(head.split(" · ")) + len(tail.split(" · "))
    assert hidden == f"{24 - shown} more"
    assert head.startswith("0 · 1")
    assert tail.endswith("2")


HOSTILE = "a <b>bold</b> & [link](http://x) | `code` *x* _y_ # $z$ ~~s~~ \\ ![i](j)"


def test_no_text_of_an_example_acts_as_markup(r44: Example) -> None:
    caption = HOSTILE.replace("{", "")
    example = replace(
        r44,
        title={"en": f"# {HOSTILE}"},
        note={"en": f"- {HOSTILE}"},
        captions={"en": {"b4": f"-  {caption}"}},
    )
    lines = written(example, "en").splitlines()
    own = [line for line in lines if "bold" in line]
    assert len(own) == 3
    for line in own:
        assert not SPECIAL.search(re.sub(r"^(# |> )", "", line)), line
    assert lines[0].startswith("# \\# a ")
    assert any(line.startswith("\\- a ") for line in lines)
    assert SPECIAL.search(HOSTILE)


STRANGE = f"{HOSTILE} <https://a.b> &lt; &#x; $$y$$ [x]: /y == | --- | # more ``` ***"


def test_a_commonmark_parser_finds_words_and_nothing_else(r44: Example) -> None:
    """Whatever a title, a note or a caption says is read back as it was written, its blanks apart."""
    caption = STRANGE.replace("{", "")
    own = {"title": {"en": STRANGE}, "note": {"en": STRANGE}, "captions": {"en": {"b4": caption, "b3": "## x"}}}
    parsed = MarkdownIt("commonmark").enable("table").parse(written(replace(r44, **own), "en"))  # type: ignore[arg-type]
    said = [token for token in parsed if token.type == "inline"]
    pieces = [piece for token in said for piece in token.children or ()]
    assert {piece.type for piece in pieces} <= {"text", "text_special"}
    texts = ["".join(piece.content for piece in token.children or ()) for token in said]
    assert texts.count(" ".join(STRANGE.split())) == 3
    assert "## x" in texts
    kinds = {token.type for token in parsed}
    assert not kinds & {"code_block", "fence", "html_block", "hr", "ordered_list_open"}
    assert [token.tag for token in parsed if token.type == "heading_open"].count("h1") == 1


def test_an_own_title_takes_the_place_of_the_films(r44: Example) -> None:
    assert written(replace(r44, title={"en": "My lecture"}), "en").startswith("# My lecture\n")
    assert written(replace(r44, title={"en": "My lecture"}), "zh").startswith("# R44 · ")


@pytest.mark.parametrize("start", ["+ x", "= x", "- x"])
def test_no_text_begins_a_list_or_a_heading(r44: Example, start: str) -> None:
    text = written(replace(r44, note={"zh": start}), "zh")
    [line] = [line for line in text.splitlines() if line.startswith("> ")]
    assert line.startswith("> \\")
