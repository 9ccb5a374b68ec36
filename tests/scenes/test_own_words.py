"""Words of an example's own: those that can be drawn are, the others are refused by their field beforehand."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from manim import tempconfig

from addnorm.mathcore.errors import ExampleError
from addnorm.mathcore.example import Example
from addnorm.mathcore.trace import Trace, run
from addnorm.scenes.cli import main
from addnorm.scenes.films import FILMS
from addnorm.scenes.legibility import examine
from addnorm.scenes.promise import broken_promise
from addnorm.scenes.stage import Production
from addnorm.scenes.text import token_line
from addnorm.scenes.theme import load_theme
from addnorm.scenes.truth import complaint
from addnorm.scenes.typeset import Span, typeset

FILM = FILMS["r44"]
MEAN = "{ln.mean[0]}"


def worded(example: Example, field: str, text: str) -> Trace:
    """The example with one text of its own."""
    name, language, *state = field.split(".")
    words: dict[str, Any] = {"note": {}, name: {language: {state[0]: text} if state else text}}
    return run(replace(example, **words))


def refusal(example: Example, field: str, text: str) -> str:
    with pytest.raises(ExampleError) as caught:
        FILM.storyboard(worded(example, field, text))
    assert str(caught.value).isprintable()
    return str(caught.value).removeprefix(f"{example.source}: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fine 🙂", 'the character "🙂" (U+1F642), which the film\'s font does not have; write it in other words'),
        ("שלום", 'the character "ש" (U+05E9), which '),
        ("\ue000", 'the character "\\ue000" (U+E000), which '),
        ("W" * 500, f'the word "{"W" * 39}…" is wider than the picture; break it into words'),
        (f"and {'x' * 84} there", f'the word "{"x" * 39}…" is wider than the picture; '),
        ("so many words that no hall could read them " * 9, '"so many words that no hall could read t…" takes '),
    ],
)
@pytest.mark.parametrize("field", ["captions.en.b2", "note.zh"])
def test_what_cannot_be_drawn_is_refused(field: str, text: str, said: str, r44: Example) -> None:
    assert refusal(r44, field, text).startswith(f"{field}: {said}")


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        (MEAN, f'"{MEAN}" has no words; say what the number is, or leave the field out'),
        (f"{MEAN} / {{ln.var[0]}}!", f'"{MEAN} / {{ln.var[0]}}!" has no words; '),
        (f"μ is {MEAN}%", "'1.098888%' is drawn, which reads as one number; put a word between"),
        (f"μ is −{MEAN}", "'μ is −1.098888' is drawn, which reads as one number; "),
        (f"μ is R44{MEAN}", "'μ is R441.098888' is drawn, which reads as one number; "),
        (f"μ is {MEAN}{{ln.var[0]}}", "'1.0988880.592455' is drawn, which reads as one number; "),
        (f"so {MEAN} = {{ln.var[0]}}", "'so 1.098888 = 0.592455' is drawn, and nothing says what is added; "),
        ("r is {resid_mid[1,0]}", "names resid_mid[1,0], which this state does not show; did you mean "),
    ],
)
def test_what_a_caption_makes_of_a_number_is_refused(caption: str, said: str, r44: Example) -> None:
    assert refusal(r44, "captions.en.b2", caption).startswith(f"captions.en.b2: {said}")


@pytest.mark.parametrize("field", ["captions.fr.b2", "title.fr", "note.fr"])
def test_a_language_that_no_film_has_is_refused(field: str, r44: Example) -> None:
    language = field.removesuffix(".b2")
    assert refusal(r44, field, "Mots") == f"{language}: no language of the film; known here: en, zh"


DRAWN = [
    f"μ = {MEAN}, σ² = {{ln.var[0]}}, r₁ and R44",
    f"{MEAN} is the mean",
    "  spaces  and a narrow one  ",
    f"and {'x' * 70} there",
    "同一行的均值：" + MEAN,
    "x<y & #let $ _ * \\ ` \" ' @ ~ [x] <!-- -->",
    "é, é, fi",
]


@pytest.mark.parametrize("text", DRAWN)
def test_what_is_not_refused_is_drawn_as_promised(text: str, r44: Example) -> None:
    trace = worded(r44, "captions.en.b2", text)
    with tempconfig({"dry_run": True}):
        stage = FILM.stage(trace)(Production(trace, "en"))
    state = stage.board.state("b2")
    picture = stage.picture(state)
    element = state.element("caption")
    assert element
    assert broken_promise(state, element, picture["caption"], trace) is None
    assert complaint(stage.wording.caption("r44", "b2"), stage.wording) is None
    assert examine(picture, load_theme("dark")) == ()


@pytest.mark.parametrize("line", ['[captions.en]\nb2 = "🙂"', '[note]\nen = "🙂"', '[title]\nfr = "x"'])
def test_every_command_refuses_it_before_anything_is_made(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example = tmp_path / "own.toml"
    example.write_text(f'id = "own"\ninput.x = [[1, 2]]\nattention.output = [[0, 1]]\n{line}\n', encoding="utf-8")
    field = line.split("]", maxsplit=1)[0].lstrip("[")
    for command in (["values", str(example)], ["render", str(example), "-o", str(tmp_path / "out")]):
        assert main(command) == 2
        [said] = capsys.readouterr().err.splitlines()
        assert said.startswith(f"addnorm: {example}: {field}.")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("token", "drawn"),
    [
        ("\n", "␣"),
        ("a\tb", "aU+0009b"),
        ("🙂", "U+1F642"),
        ("\u202ea", "U+202Ea"),
        ("a\u00adb", "aU+00ADb"),
        ("\u200f", "U+200F"),
        ("ש", "U+05E9"),
        ("W" * 200, "WWWWWWWW…"),
        ("<pad>", "<pad>"),
    ],
)
def test_tokens_are_drawn_whatever_they_are(token: str, drawn: str, r44: Example) -> None:
    [run_] = token_line(run(replace(r44, tokens=(token, "a", "b"))), 0)
    assert run_.text == drawn
    assert len(typeset([Span(run_.text)]).outlines[0])


texts = st.one_of(
    st.text(max_size=30),
    st.lists(
        st.sampled_from(
            [MEAN, "{eps}", "{ln.var[0]}", "{", "}", "{}", "{x}", "a", " ", "=", "−", "%", "1", "均值", "🙂"]
        ),
        max_size=6,
    ).map("".join),
)
fields = st.sampled_from(["captions.en.b2", "captions.zh.b4", "note.en", "title.zh", "captions.en.bx", "title.x"])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(fields, texts, st.lists(st.text(max_size=5), min_size=3, max_size=3))
def test_words_made_of_anything_are_drawn_or_refused(r44: Example, field: str, text: str, tokens: list[str]) -> None:
    with suppress(ExampleError):
        trace = worded(replace(r44, tokens=tuple(tokens)), field, text)
        FILM.storyboard(trace)
        _check_drawn(trace)


def _check_drawn(trace: Trace) -> None:
    """What was not refused can be set, and says what its sources say."""
    for n in range(trace.example.n_tokens):
        typeset([Span(run.text) for run in token_line(trace, n)])
    caption = trace.example.captions.get("en", {}).get("b2")
    if caption is not None:
        with tempconfig({"dry_run": True}):
            stage = FILM.stage(trace)(Production(trace, "en"))
        line = stage.wording.caption("r44", "b2")
        assert complaint(line, stage.wording) is None
        assert np.concatenate(typeset([Span(run.text) for run in line]).outlines).size
