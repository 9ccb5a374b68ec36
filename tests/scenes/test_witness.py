"""Whatever is looked up through a witness is noted, and another example answers it the same or not."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from addnorm.mathcore import Example, label, run
from addnorm.mathcore.example import GivenOutput
from addnorm.mathcore.labels import cell_style, stage_label
from addnorm.mathcore.trace import Trace
from addnorm.scenes.films.r44.parts import feature_window
from addnorm.scenes.text import Wording, token_line
from addnorm.scenes.witness import Witness, answers_digest, digest

Read = Callable[[Wording], Any]


def noted(example: Example, read: Read) -> list[Any]:
    """What is noted when something is read, after a way through JSON."""
    watched = Witness(Wording("en", run(example), {"film": "R44"}))
    read(watched.wording)

    def tuples(value: Any) -> Any:
        return tuple(map(tuples, value)) if isinstance(value, list) else value

    questions: list[Any] = list(tuples(json.loads(json.dumps(watched.questions))))
    assert questions == watched.questions
    return questions


def tells_apart(one: Example, other: Example, read: Read) -> bool:
    """Whether what is read of one example is noted as something that another one answers otherwise."""
    questions = noted(one, read)
    answers = [answers_digest(Wording("en", run(example), {"film": "R44"}), questions) for example in (one, one, other)]
    assert answers[0] == answers[1]
    return answers[0] != answers[2]


READS: dict[str, Read] = {
    "an entry": lambda w: w.trace["resid_pre"].value[0, 1],
    "a row": lambda w: w.trace["resid_pre"].value[0],
    "a row, sliced": lambda w: w.trace["resid_pre"].value[0, :],
    "a range": lambda w: w.trace["resid_pre"].value[0:1],
    "a mask": lambda w: w.trace["resid_pre"].value[np.array([True, False, False])],
    "all of it": lambda w: np.asarray(w.trace["resid_pre"].value),
    "as a list": lambda w: w.trace["resid_pre"].value.tolist(),
    "in a sum": lambda w: w.trace["resid_pre"].value + 1,
    "in a sum from the right": lambda w: 1 + w.trace["resid_pre"].value,
    "in a comparison": lambda w: (w.trace["resid_pre"].value > 0).any(),
    "by a function": lambda w: np.abs(w.trace["resid_pre"].value),
    "by another function": lambda w: np.concatenate([w.trace["resid_pre"].value]),
    "row by row": lambda w: list(w.trace["resid_pre"].value),
    "its greatest": lambda w: float(w.trace["resid_pre"].value.max()),
    "by items": lambda w: [activation.value.tolist() for _, activation in w.trace.items()],
    "by values": lambda w: [activation.value[0, 1] for activation in w.trace.values() if activation.value.ndim == 2],
    "by get": lambda w: w.trace.get("resid_pre").value[0],  # type: ignore[union-attr]
    "of the example": lambda w: w.trace.example.x[0, 1],
    "as canonical data": lambda w: w.trace.example.canonical()["input"]["x"],
    "as a digest": lambda w: w.trace.example.digest,
    "as a label": lambda w: stage_label(w.trace, "resid_pre[0,1]"),
    "in a style": lambda w: label(w.trace, "resid_mid[0,1]", cell_style(w.trace.example)),
    "in a line": lambda w: w.own_line("{resid_pre[0,1]}", "captions.en.b0"),
    "by an error": lambda w: w.trace.noise.of("resid_mid", (0, 1)),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_number_that_is_read_is_noted(r44: Example, read: Read) -> None:
    x = r44.x.copy()
    x[0, 1] = 0.125
    assert tells_apart(r44, replace(r44, x=x), read)


def test_a_number_that_is_not_read_is_not_noted(r44: Example) -> None:
    x = r44.x.copy()
    x[0, 1] = 0.125
    for read in (
        lambda w: w.trace["resid_pre"].value[1],
        lambda w: w.trace["resid_pre"].value.shape,
        lambda w: len(w.trace),
        lambda w: w.trace.example.n_features,
        lambda w: token_line(w.trace, 0),
        lambda w: feature_window(w.trace),
    ):
        assert not tells_apart(r44, replace(r44, x=x), read)


WORDS: dict[str, tuple[dict[str, Any], Read]] = {
    "a label": ({"tokens": ("it", "is", "so")}, lambda w: token_line(w.trace, 1)),
    "all labels": ({"tokens": ("it", "is", "so")}, lambda w: w.trace.example.tokens),
    "a caption": ({"captions": {"en": {"b2": "It is so."}}}, lambda w: w.caption("r44", "b2")),
    "whether there is one": ({"captions": {"en": {"b2": "It is so."}}}, lambda w: "en" in w.trace.example.captions),
    "a caption of its own": (
        {"captions": {"en": {"b2": "It is so."}}},
        lambda w: w.trace.example.captions.get("en", {}).get("b2"),
    ),
    "all captions": ({"captions": {"en": {"b2": "It is so."}}}, lambda w: dict(w.trace.example.captions)),
    "how many": ({"captions": {"en": {"b2": "It is so."}}}, lambda w: bool(w.trace.example.captions)),
    "the note": ({"note": {"en": "It is so."}}, lambda w: w.note()),
    "a count": ({"followed": 1}, lambda w: w.counted["ordinal"]),
    "a variant": ({"eps": 0.0}, lambda w: w.line("r44.conventions")),
    "places": ({"display": {}}, lambda w: w.trace.example.display.decimals),
}


@pytest.mark.parametrize(("change", "read"), WORDS.values(), ids=WORDS)
def test_words_that_are_read_are_noted(r44: Example, change: dict[str, Any], read: Read) -> None:
    if "display" in change:
        change = {"display": replace(r44.display, decimals=2)}
    assert tells_apart(r44, replace(r44, **change), read)


def test_where_an_example_was_read_from_is_not_noted(r44: Example) -> None:
    assert noted(r44, lambda w: w.trace.example.source) == []


def test_what_fails_is_noted_too(r44: Example) -> None:
    def read(w: Wording) -> None:
        with pytest.raises(KeyError):
            w.trace["attn.q"]

    given = replace(r44, attention=GivenOutput(run(r44)["attn_out"].value))
    assert tells_apart(given, r44, read)


FORBIDDEN: dict[str, Read] = {
    "the private": lambda w: w.trace._activations,
    "its own dictionary": lambda w: w.trace.__dict__,
    "a copy": lambda w: copy.copy(w.trace),
    "sending it": lambda w: pickle.dumps(w.trace),
    "comparing it": lambda w: w.trace.example == w.trace.example,
    "hashing it": lambda w: {w.trace},
    "writing": lambda w: w.trace["resid_pre"].value.__setitem__((0, 0), 1.0),
    "the memory": lambda w: memoryview(w.trace["resid_pre"].value),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("read", FORBIDDEN.values(), ids=FORBIDDEN)
def test_there_is_no_way_round(r44: Example, read: Read) -> None:
    with pytest.raises((AttributeError, TypeError, ValueError)):
        noted(r44, read)


def test_a_stand_in_passes_for_what_it_stands_for(r44: Example) -> None:
    trace = Witness(Wording("en", run(r44), {})).trace
    assert isinstance(trace, Trace)
    assert isinstance(trace.example, Example)
    assert copy.deepcopy(trace) is trace  # so that copies of mobjects are watched too
    assert trace
    assert [*trace] == [*run(r44)]


@pytest.mark.parametrize(
    "question",
    [
        (("get", "__class__"),),
        (("get", "trace"), ("get", "_activations")),
        (("call", "__init__", (), ()),),
        (("get", "trace"), ("ask", "os:system", ("true",))),
        (("get", "trace"), ("item", "resid_pre"), ("get", "value"), ("call", "tofile", ("harm",), ())),
        (("eval", "1"),),
        "nonsense",
    ],
)
def test_a_question_from_a_file_can_do_nothing_but_ask(
    r44: Example, question: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wording = Wording("en", run(r44), {})
    assert answers_digest(wording, [question]) == answers_digest(Wording("en", run(r44), {}), [question])
    assert list(tmp_path.iterdir()) == []


def test_a_digest_tells_data_apart_and_refuses_what_it_cannot_tell() -> None:
    values = [None, True, 1, 1.0, -0.0, 0.0, "1", (1,), [1], {"1": 1}, np.zeros(2), np.zeros((2, 1)), np.zeros(2, "f4")]
    assert len({digest(value) for value in values}) == len(values)
    assert digest(np.float64(1)) == digest(1.0)
    with pytest.raises(TypeError):
        digest(object())
