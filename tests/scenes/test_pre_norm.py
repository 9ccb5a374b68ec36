"""Pre-norm: arrows, formula, captions and numbers all have LayerNorm first, attention on LN(x), then the sum."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from manim import Circle, VGroup, tempconfig

from addnorm.mathcore import AddnormError, Example, GivenOutput, Label, Reference, Trace, Weights, load_example, run
from addnorm.mathcore.symbols import Symbol
from addnorm.scenes.audit import AuditError
from addnorm.scenes.elements.nodes import Block
from addnorm.scenes.elements.shapes import Shape
from addnorm.scenes.films import FILMS
from addnorm.scenes.films.r44.pre_norm.scene import R44PreNorm
from addnorm.scenes.films.r44.scene import R44
from addnorm.scenes.paths import find_example
from addnorm.scenes.stage import Picture, Production, Stage
from addnorm.scenes.storyboard import Storyboard
from addnorm.scenes.text import Constant, Line, Wording, languages, plain

FILM = FILMS["r44"]
STATES = ("b4", "b5", "b0", "b1", "b2", "b3")
FOLLOWING = STATES[2:]


@pytest.fixture(scope="module")
def pre() -> Trace:
    return run(load_example(find_example("r44-pre")))


@pytest.fixture(scope="module")
def post() -> Trace:
    return run(load_example(find_example("r44")))


@pytest.fixture(scope="module")
def board(pre: Trace) -> Storyboard:
    return FILM.storyboard(pre)


# --- numbers


def row(quantity: str, token: int = 0) -> list[str]:
    return [f"{quantity}[{token},{feature}]" for feature in range(4)]


CONVENTIONS = ["eps", "gamma[*]", "beta[*]"]
STATISTICS = ["ln.mean[0]", "ln.var[0]"]
LABELS = {
    "b4": [],
    "b5": [*row("resid_pre", 0), *row("resid_pre", 1), *row("resid_pre", 2)],
    "b0": [*CONVENTIONS, *row("resid_pre")],
    "b1": [*CONVENTIONS, *row("resid_pre"), *STATISTICS],
    "b2": [*CONVENTIONS, *row("resid_pre"), *STATISTICS, *row("ln.out")],
    "b3": [*CONVENTIONS, *row("ln.out"), *STATISTICS, *row("attn_out"), *row("resid_pre"), *row("resid_mid")],
}


def by_hand(norm: str) -> dict[str, float]:
    """Every number of the example in either order of the norm, one at a time, sharing nothing with the core."""
    x = [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [1.0, 1.0, 1.0, 0.0]]
    w_o = [[0.0, 0.0, 0.0, -1.0], [0.0, 1.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0], [1.0, 1.0, -1.0, 1.0]]
    found: dict[str, float] = {"eps": 1e-5, "gamma[*]": 1.0, "beta[*]": 0.0}

    def note(quantity: str, rows: list[list[float]]) -> list[list[float]]:
        found.update({f"{quantity}[{t},{f}]": value for t, line in enumerate(rows) for f, value in enumerate(line)})
        return rows

    def normalized(rows: list[list[float]]) -> list[list[float]]:
        out = []
        for token, line in enumerate(rows):
            mean = sum(line) / 4
            variance = sum((value - mean) ** 2 for value in line) / 4
            found[f"ln.mean[{token}]"], found[f"ln.var[{token}]"] = mean, variance
            out.append([(value - mean) / math.sqrt(variance + 1e-5) for value in line])
        return note("ln.out", out)

    def attended(rows: list[list[float]]) -> list[list[float]]:
        joined: list[list[float]] = [[], [], []]
        for first in (0, 2):
            heads = [line[first : first + 2] for line in rows]
            for token, query in enumerate(heads):
                scores = [math.exp((query[0] * key[0] + query[1] * key[1]) / math.sqrt(2)) for key in heads]
                joined[token] += [
                    sum(score * value[n] for score, value in zip(scores, heads, strict=True)) / sum(scores)
                    for n in (0, 1)
                ]
        return [[sum(line[n] * w_o[n][f] for n in range(4)) for f in range(4)] for line in joined]

    def added(rows: list[list[float]]) -> list[list[float]]:
        return [[a + b for a, b in zip(*lines, strict=True)] for lines in zip(x, rows, strict=True)]

    note("resid_pre", x)
    if norm == "pre":
        note("resid_mid", added(note("attn_out", attended(normalized(x)))))
    else:
        normalized(note("resid_mid", added(note("attn_out", attended(x)))))
    return found


def test_each_state_has_its_labels(board: Storyboard) -> None:
    assert {state.name: [label.ref for label in state.labels] for state in board.states} == LABELS


def test_the_details_have_every_row_in_the_order_of_the_computation(board: Storyboard) -> None:
    rows = [label.ref for label in board.state("details").labels if label.ref.endswith("]") and "," in label.ref]
    assert rows == [*row("resid_pre"), *row("ln.out"), *row("attn_out"), *row("resid_mid")]


def test_the_labels_are_those_of_pre_norm(board: Storyboard) -> None:
    truth = by_hand("pre")
    labels = [label for state in (*board.states, *board.panels) for label in state.labels]
    assert len(labels) > 60
    assert {label.ref: label.value for label in labels} == pytest.approx({ref.ref: truth[ref.ref] for ref in labels})
    shown = {label.ref: label.text for label in board.state("b3").labels}
    assert [shown[ref] for ref in row("resid_pre")] == ["1", "0", "1", "0"]
    for ref in (*row("attn_out"), *row("resid_mid"), *row("ln.out")):
        assert shown[ref] == f"{truth[ref]:.3f}".replace("-", "\N{MINUS SIGN}")
    assert [shown[ref] for ref in STATISTICS] == ["0.500000", "0.250000"]


def test_the_numbers_of_post_norm_are_others() -> None:
    pre, post = by_hand("pre"), by_hand("post")
    differing = {ref.partition("[")[0] for ref in pre if abs(pre[ref] - post[ref]) > 1e-3}
    assert differing == {"ln.mean", "ln.var", "ln.out", "attn_out", "resid_mid"}


def sources(trace: Trace, name: str) -> set[str]:
    """Everything that an activation is computed from."""
    inputs = trace[name].inputs
    return {*inputs, *(source for given in inputs for source in sources(trace, given))}


def test_nothing_of_layer_norm_is_computed_from_the_sum(board: Storyboard, pre: Trace, post: Trace) -> None:
    refs = {ref for state in board.states for ref in (*state.lengths, *(label.ref for label in state.labels))}
    names = {Reference.parse(ref).name for ref in refs}
    normalizing = {name for name in names if name.startswith("ln.")}
    assert normalizing == {"ln.mean", "ln.var", "ln.std", "ln.out", "ln.normalized_std"}
    assert not any(sources(pre, name) & {"resid_mid", "attn_out"} for name in normalizing)
    assert all("ln.out" in sources(pre, name) for name in ("attn_out", "resid_mid"))
    assert all("resid_mid" in sources(post, name) for name in normalizing)


def test_the_sum_is_drawn_as_arithmetic_of_x_itself(board: Storyboard) -> None:
    relations = [relation for state in board.states for element in state.elements for relation in element.relations]
    assert [(*(term.ref for term in r.terms), r.total.ref) for r in relations] == [
        (f"resid_pre[0,{n}]", f"attn_out[0,{n}]", f"resid_mid[0,{n}]") for n in range(4)
    ]
    assert [relation.sign for relation in relations] == ["="] * 4


def test_a_sum_whose_digits_do_not_close_is_about_equal(pre: Trace) -> None:
    x = np.array([[0.0004, 1, 2, 3], [1, 0, 0, 0]])
    output = np.array([[0.0004, 1, 1, 1], [0, 0, 0, 1]])
    example = replace(pre.example, x=x, attention=GivenOutput(output), tokens=("a", "b"))
    sums = FILM.storyboard(run(example)).state("b3").element("sums")
    assert sums is not None
    assert [relation.sign for relation in sums.relations] == ["≈", "=", "=", "="]


# --- pictures


@pytest.fixture
def stage_of(request: pytest.FixtureRequest) -> Any:
    """A call that gives the stage of a trace, on which nothing is painted."""
    request.getfixturevalue("no_pixels")
    return lambda trace: FILM.stage(trace)(Production(trace))


def arrows(mobject: VGroup) -> Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Where each arrow of a picture begins and where its tip points."""
    for group in mobject.get_family():
        if len(group) == 2 and all(isinstance(part, Shape) for part in group) and group[1].get_fill_opacity():
            yield group[0].points[0], group[1].points[0]


def flow(picture: Picture) -> set[tuple[str, str]]:
    """What leads to what in b4's picture, found from where its arrows begin and end."""
    boxes = {
        name: (part.frame if isinstance(part, Block) else part).points
        for name in ("input", "norm", "attention", "junction", "result")
        for part in (picture[name].get_family() if name in picture else ())
        if isinstance(part, Block | Circle)
    }

    def nearest(point: np.ndarray[Any, Any]) -> str:
        gaps = {
            name: float(np.linalg.norm(np.maximum(0, np.maximum(box.min(axis=0) - point, point - box.max(axis=0)))))
            for name, box in boxes.items()
        }
        name = min(gaps, key=gaps.__getitem__)
        return name if gaps[name] < 0.1 else "tokens"

    ways = [way for name in (*boxes, "skip", "reading") for way in arrows(picture[name])]
    return {(nearest(start), nearest(end)) for start, end in ways}


PRE_FLOW = {
    ("tokens", "input"),
    ("tokens", "norm"),
    ("input", "norm"),
    ("norm", "attention"),
    ("attention", "junction"),
    ("input", "junction"),
    ("junction", "result"),
}
POST_FLOW = {
    ("tokens", "input"),
    ("tokens", "attention"),
    ("input", "attention"),
    ("attention", "junction"),
    ("input", "junction"),
    ("junction", "result"),
}


def test_x_goes_through_layer_norm_and_then_attention_and_past_both(stage_of: Any, pre: Trace) -> None:
    stage = stage_of(pre)
    picture = stage.picture(stage.board.state("b4"))
    assert flow(picture) == PRE_FLOW
    lefts = [float(picture[name].get_left()[0]) for name in ("norm", "attention", "junction")]
    assert lefts == sorted(lefts)


def test_the_flow_of_a_post_norm_picture_is_another(stage_of: Any, post: Trace) -> None:
    stage = stage_of(post)
    assert flow(stage.picture(stage.board.state("b4"))) == POST_FLOW


def heights(picture: Picture, *names: str) -> list[float]:
    return [float(picture[name].get_center()[1]) for name in names]


def test_the_branch_rises_over_x_and_comes_down_to_it(stage_of: Any, pre: Trace) -> None:
    stage = stage_of(pre)
    pictures = {name: stage.picture(stage.board.state(name)) for name in FOLLOWING}
    rising = [
        heights(pictures["b0"], "row.resid_pre", "junction"),
        heights(pictures["b1"], "row.resid_pre", "bracket", "chart"),
        heights(pictures["b2"], "row.resid_pre", "chart", "row.ln.out"),
        heights(pictures["b3"], "row.resid_mid", "row.resid_pre", "row.attn_out", "attention", "row.ln.out"),
    ]
    assert rising == [sorted(ys) for ys in rising]


def test_an_example_in_the_other_order_is_refused(pre: Trace, post: Trace) -> None:
    assert FILM.stage(pre) is R44PreNorm
    assert FILM.stage(post) is R44
    with pytest.raises(AddnormError, match="R44 plays post-norm, but r44-pre is pre-norm"):
        R44(Production(pre))
    with pytest.raises(AddnormError, match="R44PreNorm plays pre-norm, but r44 is post-norm"):
        R44PreNorm(Production(post))


@pytest.mark.parametrize(
    ("state", "name"),
    [("b5", "row.0"), ("b1", "row.resid_pre"), ("b2", "formula"), ("b2", "row.ln.out"), ("b3", "mean"), ("b3", "sums")],
)
def test_what_post_norm_draws_fails_in_pre_norm(
    monkeypatch: pytest.MonkeyPatch, stage_of: Any, pre: Trace, post: Trace, state: str, name: str
) -> None:
    mine, other = stage_of(pre), stage_of(post)
    there = next(there for there in (*other.board.states, *other.board.panels) if there.element(name))
    wrong = other.draw(there.element(name), there)
    mine.show(mine.board.state(state))
    draw = mine.draw
    monkeypatch.setattr(mine, "draw", lambda element, at: wrong if element.name == name else draw(element, at))
    with pytest.raises(AuditError):
        mine.show(mine.board.state(state))


# --- words


@pytest.fixture(params=languages())
def wording(request: pytest.FixtureRequest, pre: Trace) -> Wording:
    return words_for(pre, request.param)


def words_for(trace: Trace, language: str) -> Wording:
    states = {state.name: state.name for state in FILM.storyboard(trace).states}
    return Wording(language, trace, {**states, **FILM.names})


def symbols(line: Line) -> set[str]:
    """The quantities that a line names."""
    return {run.source.quantity for run in line if isinstance(run.source, Symbol)}


ROWS = {"resid_pre", "attn_out", "resid_mid", "ln.out"}


def named(wording: Wording) -> dict[str, set[str]]:
    """The rows that the captions name."""
    return {name: symbols(wording.caption("r44", name)) & ROWS for name in FOLLOWING}


def absent(board: Storyboard, wording: Wording) -> dict[str, set[str]]:
    """The rows that a caption names and that are not on its picture."""
    rows = {name: {Reference.parse(label.ref).name for label in board.state(name).labels} for name in FOLLOWING}
    return {name: there - rows[name] for name, there in named(wording).items() if there - rows[name]}


def test_captions_name_what_is_shown(board: Storyboard, wording: Wording) -> None:
    assert named(wording) == {
        "b0": {"resid_pre"},
        "b1": {"resid_pre"},
        "b2": {"ln.out", "resid_pre"},
        "b3": {"attn_out", "resid_pre", "resid_mid"},
    }
    assert absent(board, wording) == {}
    assert {"ln.mean", "ln.var"} <= symbols(wording.caption("r44", "b1"))


def test_they_would_name_what_post_norm_does_not_show(wording: Wording, post: Trace) -> None:
    assert absent(FILM.storyboard(post), wording) == {"b2": {"ln.out"}}


def said(trace: Trace, language: str) -> str:
    """Everything that the states of a film say."""
    wording = words_for(trace, language)
    keys = {key for state in FILM.storyboard(trace).states for element in state.elements for key in element.words}
    return "\n".join(plain(wording.line(key)) for key in sorted(keys))


@pytest.mark.parametrize("language", languages())
def test_no_words_are_of_the_other_order(pre: Trace, post: Trace, language: str) -> None:
    ours, theirs = said(pre, language).lower(), said(post, language).lower()
    assert "pre-norm" in ours
    assert "post-norm" not in ours
    assert "post-norm" in theirs
    assert "pre-norm" not in theirs
    network = {"en": "feed-forward", "zh": "前馈"}[language]
    assert network in theirs
    assert network not in ours


@pytest.mark.parametrize("language", languages())
def test_no_state_claims_anything_about_training(pre: Trace, language: str) -> None:
    claims = {"en": ("stab", "train", "gradient", "converg"), "zh": ("稳定", "训练", "梯度", "收敛")}[language]
    text = said(pre, language).lower()
    assert [claim for claim in claims if claim in text] == []
    wording = words_for(pre, language)
    cautions = "".join(plain(wording.line(key)) for key in FILM.storyboard(pre).cautions).lower()
    assert [claim for claim in claims if claim in cautions] == [*claims[:3]]


def test_the_formula_reads_x(stage_of: Any, pre: Trace) -> None:
    stage = stage_of(pre)
    formula = stage.picture(stage.board.state("b1"))["formula"]
    assert {glyphs.ink.run.text for glyphs in formula} == {"LN(x) = γ ⊙ (x − μ) / √(σ² + ε) + β"}


def test_every_word_has_a_source_in_the_catalogue(pre: Trace, wording: Wording) -> None:
    for state in FILM.storyboard(pre).states:
        for key in (key for element in state.elements for key in element.words):
            assert any(isinstance(run.source, Constant) or symbols((run,)) for run in wording.line(key)), key


# --- motion


def random_example(tokens: int, features: int, heads: int, **changes: Any) -> Example:
    rng = np.random.default_rng(features)

    def matrix() -> np.ndarray[Any, Any]:
        return rng.normal(size=(features, features)) / math.sqrt(features)

    return Example(
        id=f"d{features}",
        x=rng.normal(size=(tokens, features)),
        attention=Weights(heads, matrix(), matrix(), matrix(), matrix()),
        norm="pre",
        **{"gamma": np.ones(features), "beta": np.zeros(features), **changes},
    )


EXAMPLES = {
    "wide": random_example(7, 48, 4, followed=4, mask="causal"),
    "one feature": random_example(3, 1, 1, followed=1),
    "one token": random_example(1, 4, 2),
    "learned": random_example(3, 5, 1, gamma=np.array([2.0, 0.5, -1, 1, 1]), beta=np.array([1.0, 0, 0, 0.5, -2])),
    "learned and wide": random_example(2, 40, 8, gamma=np.linspace(0.5, 2, 40), beta=np.linspace(-1, 1, 40)),
}


def play(trace: Trace, language: str) -> Stage:
    """Play the film, one frame a beat: every frame is audited, and every motion has to end on its picture."""
    with tempconfig({"frame_rate": 5}):
        stage = FILM.stage(trace)(Production(trace, language))
        stage.render()
    return stage


@pytest.mark.usefixtures("no_pixels")
@pytest.mark.parametrize("language", languages())
def test_it_plays(pre: Trace, language: str) -> None:
    stage = play(pre, language)
    assert [*dict.fromkeys(shown.state for shown in stage.plays)] == [*STATES]
    seen = {number.shows.ref for number in stage.plays[-1].seen if isinstance(number.shows, Label)}
    assert seen == set(LABELS["b3"])


@pytest.mark.usefixtures("no_pixels")
@pytest.mark.parametrize(("name", "language"), [*zip(EXAMPLES, ("zh", "en", "zh", "en", "zh"), strict=True)])
def test_it_plays_for_any_example(name: str, language: str) -> None:
    stage = play(run(EXAMPLES[name]), language)
    assert {shown.state for shown in stage.plays} == {*STATES}


@pytest.mark.usefixtures("no_pixels")
def test_where_gain_and_shift_do_anything_the_normalized_row_passes_in_b2() -> None:
    trace = run(EXAMPLES["learned"])
    board = FILM.storyboard(trace)
    assert {state.name: len(state.passing) for state in board.states if state.passing} == {"b2": 2}
    with tempconfig({"frame_rate": 5}):
        stage = FILM.stage(trace)(Production(trace), ("b2",))
        stage.render()
    refs = [{getattr(number.shows, "ref", "") for number in shown.seen} for shown in stage.plays]
    assert any("ln.normalized[0,0]" in seen for seen in refs)
    assert "ln.normalized[0,0]" not in refs[-1]
