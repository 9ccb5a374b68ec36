"""The stage: states keep their promises, last whole frames, end on their pictures and start where they should."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import manim
import numpy as np
import pytest
from manim import Circle, FadeIn, FadeOut, VGroup, tempconfig

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.example import Example, Weights
from addnorm.mathcore.labels import Label, NumberStyle, label, stage_label
from addnorm.mathcore.symbols import layer_norm_formula, symbol
from addnorm.mathcore.trace import Trace, run
from addnorm.scenes.audit import AuditError
from addnorm.scenes.films.r44.scene import R44
from addnorm.scenes.films.r44.states import STATES, storyboard
from addnorm.scenes.manifest import Seen, Sighting
from addnorm.scenes.stage import BEAT, Picture, Production
from addnorm.scenes.storyboard import Element, State, Storyboard
from addnorm.scenes.text import relation_line, symbol_line

Stage = Any
Perform = Callable[..., Any]
SmallStage = type[Any]

FRAME_RATES = (15, 20, 25, 30, 60)

# Every label of every state as the course prints it; the others are counted from b0 on.
CONVENTIONS = {"eps": "10⁻⁵", "gamma[*]": "1", "beta[*]": "0"}
ROWS = {
    "resid_pre": {0: ("1", "0", "1", "0")},
    "attn_out": {0: ("1", "1.599", "−0.198", "−0.006")},
    "resid_mid": {
        0: ("2", "1.599", "0.802", "−0.006"),
        1: ("1", "2.802", "−0.503", "1.707"),
        2: ("2", "2.752", "0.802", "0.198"),
    },
    "ln.out": {0: ("1.171", "0.650", "−0.385", "−1.435")},
}


def row(quantity: str, *tokens: int) -> dict[str, str]:
    return {
        f"{quantity}[{token},{n}]": text for token in tokens or (0,) for n, text in enumerate(ROWS[quantity][token])
    }


B0 = {**CONVENTIONS, **row("attn_out"), **row("resid_pre")}
B1 = {**B0, **row("resid_mid")}
B2 = {**B1, "ln.mean[0]": "1.098888", "ln.var[0]": "0.592455"}
TABLE: dict[str, dict[str, str]] = {
    "b4": {},
    "b5": row("resid_mid", 0, 1, 2),
    "b0": B0,
    "b1": B1,
    "b2": B2,
    "b3": {**B2, **row("ln.out")},
}
DETAILS = {
    **row("resid_pre"),
    **{
        f"{quantity}[0,{n}]": text
        for quantity, texts in {
            "attn_out": ("1.000000", "1.598888", "−0.197776", "−0.005560"),
            "resid_mid": ("2.000000", "1.598888", "0.802224", "−0.005560"),
            "ln.out": ("1.170705", "0.649589", "−0.385419", "−1.434875"),
        }.items()
        for n, text in enumerate(texts)
    },
    "ln.mean[0]": "1.098888",
    "ln.var[0]": "0.592455",
    **CONVENTIONS,
}


def labels(seen: Seen) -> dict[str, str]:
    """The numbers on a picture by reference; each has one text wherever it stands."""
    found: dict[str, str] = {}
    for sighting in seen:
        if isinstance(sighting, Sighting) and isinstance(sighting.shows, Label):
            assert sighting.opacity == 1
            assert found.setdefault(sighting.shows.ref, sighting.shows.text) == sighting.shows.text
    return found


def shown(stage: Stage, state: str) -> Seen:
    """What is seen on a state's finished picture."""
    stage.show(stage.board.state(state))
    seen: Seen = stage._seen
    return seen


# What is on the pictures.


@pytest.mark.usefixtures("no_pixels")
@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_number_of_every_picture_is_the_courses(language: str, trace: Trace) -> None:
    stage = R44(Production(trace, language))
    assert {state: labels(shown(stage, state)) for state in STATES} == TABLE
    assert labels(shown(stage, "details")) == DETAILS


def dense(norm: str = "post", mask: str = "none") -> Example:
    """An example in which every number depends on all that it may depend on."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3, 4))
    weights = (rng.normal(size=(4, 4)) for _ in range(4))
    gamma, beta = rng.normal(size=4), rng.normal(size=4)
    return Example("dense", x, Weights(2, *weights), gamma, beta, norm=norm, mask=mask)  # type: ignore[arg-type]


def dependents(trace: Trace, name: str) -> set[str]:
    """The activations that are computed from one, by what each says of its inputs."""
    found = {name}
    for activation in trace.values():
        if found & set(activation.inputs):
            found.add(activation.name)
    return found


def numbers_of(board: Storyboard) -> dict[tuple[str, str, str], float]:
    return {
        (state.name, element.name, number.ref): number.value
        for state in (*board.states, *board.panels)
        for element in (*state.elements, *state.passing)
        for number in element.labels
    }


@pytest.mark.parametrize("mask", ["none", "causal"])
@pytest.mark.parametrize("entry", [(0, 1), (2, 3)])
def test_one_entry_of_x_changes_exactly_what_depends_on_it(mask: str, entry: tuple[int, int]) -> None:
    example = dense(mask=mask)
    x = example.x.copy()
    x[entry] += 0.01
    before, after = run(example), run(replace(example, x=x))
    old, new = numbers_of(storyboard(before)), numbers_of(storyboard(after))
    assert old.keys() == new.keys()
    assert len(old) > 40
    affected = dependents(before, "resid_pre") - {"resid_pre"}
    for key, value in old.items():
        name, _, index = key[2].rstrip("]").partition("[")
        token = int(index.split(",")[0]) if index and name not in ("gamma", "beta") else None
        reached = mask == "none" or (token is not None and token >= entry[0])
        depends = (name in affected and reached) or key[2] == f"resid_pre[{entry[0]},{entry[1]}]"
        assert (new[key] != value) == depends, key


# Promises.


def broken(small_stage: SmallStage, trace: Trace, change: Callable[[Element], Any], kind: str = "row") -> str:
    """What is said when the small stage draws something else than an element promises."""

    def draw(self: Stage, element: Element, state: State) -> Any:
        drawn = element if element.kind != kind else change(element)
        return drawn if not isinstance(drawn, Element) else small_stage.draw(self, drawn, state)

    stage = type("Broken", (small_stage,), {"draw": draw})(Production(trace, "en"))
    with pytest.raises(AuditError) as caught:
        stage.picture(stage.board.state("s"))
    return str(caught.value)


@pytest.mark.usefixtures("no_pixels")
class TestPromises:
    def test_a_number_less(self, small_stage: SmallStage, trace: Trace) -> None:
        def change(element: Element) -> Any:
            return VGroup(*small_stage(Production(trace, "en")).draw(element, None).numbers[:3])

        said = broken(small_stage, trace, change)
        assert said.startswith("state s: element row: ")
        assert "promised but not drawn: [('resid_mid[0,3]', '−0.006')]" in said

    def test_another_number(self, small_stage: SmallStage, trace: Trace) -> None:
        other = stage_label(trace, "resid_mid[1,0]")
        said = broken(small_stage, trace, lambda element: replace(element, labels=(other, *element.labels[1:])))
        assert "drawn but not promised: [('resid_mid[1,0]', '1')]" in said

    def test_the_same_number_in_another_style(self, small_stage: SmallStage, trace: Trace) -> None:
        other = label(trace, "resid_mid[0,1]", NumberStyle.cell(2))
        said = broken(small_stage, trace, lambda e: replace(e, labels=(e.labels[0], other, *e.labels[2:])))
        assert "('resid_mid[0,1]', '1.60')" in said

    def test_another_order(self, small_stage: SmallStage, trace: Trace) -> None:
        said = broken(small_stage, trace, lambda element: replace(element, labels=element.labels[::-1]))
        assert "['−0.006', '0.802', '1.599', '2'] stand in another order than was promised" in said

    def test_another_name(self, small_stage: SmallStage, trace: Trace) -> None:
        def change(element: Element) -> Any:
            stage = small_stage(Production(trace, "en"))
            return VGroup(stage.draw(element, None), stage.pen.write(symbol_line(symbol("ln.out", 0)), 44))

        assert "'2' is resid_mid[0,0], but stands under the name u₁" in broken(small_stage, trace, change)

    def test_the_normalized_row_under_the_name_of_u(self, small_stage: SmallStage, affine: Trace) -> None:
        """Even where the storyboard itself promises it."""
        normalized = tuple(stage_label(affine, f"ln.normalized[0,{n}]") for n in range(4))

        def board(_trace: Trace) -> Storyboard:
            return Storyboard("lying", (State("s", (Element("row", "row", labels=normalized),)),))

        def draw(self: Stage, element: Element, state: State) -> Any:
            name = self.pen.write(symbol_line(symbol("ln.out", 0)), 44).place(-6, 1.5)
            return VGroup(name, small_stage.draw(self, element, state))

        lying = {"storyboard": staticmethod(board), "draw": draw}
        stage = type("Lying", (small_stage,), lying)(Production(affine, "en"))
        with pytest.raises(AuditError, match=r"'1\.171' is ln\.normalized.0,0., but stands under the name u₁"):
            stage.picture(stage.board.state("s"))

    def test_a_symbol_moved_to_another_number(self, small_stage: SmallStage, trace: Trace) -> None:
        def change(element: Element) -> Any:
            line = small_stage(Production(trace, "en")).draw(element, None)
            line[0].shift(0.5 * manim.LEFT)
            return line

        assert "'μ₁ = 1.098888' is not drawn whole" in broken(small_stage, trace, change, "statistic")

    def test_a_line_without_its_symbol(self, small_stage: SmallStage, trace: Trace) -> None:
        def change(element: Element) -> Any:
            line = small_stage(Production(trace, "en")).draw(element, None)
            return line.remove(line[0])

        assert "'μ₁ = 1.098888' is not drawn whole" in broken(small_stage, trace, change, "statistic")

    def test_other_lengths(self, small_stage: SmallStage, trace: Trace) -> None:
        def change(element: Element) -> Any:
            return small_stage(Production(trace, "en")).draw(element, None)[:1]

        said = broken(small_stage, trace, change, "chart")
        assert "lengths drawn but not promised: []; promised but not drawn: ['ln.mean[0]']" in said

    def test_a_cut_length_without_its_value(self, small_stage: SmallStage, trace: Trace) -> None:
        def change(element: Element) -> Any:
            bars, level = small_stage(Production(trace, "en")).draw(element, None)
            for shape in (bars, level):
                scale = replace(shape.ground.end, high=1.8)
                shape.ground = replace(shape.ground, start=scale, end=scale)
                shape.travel_to(1, trace)
            return VGroup(bars, level)

        said = broken(small_stage, trace, change, "chart")
        assert "the length of resid_mid[0,0] is cut and does not carry its value" in said

    def test_arithmetic_that_was_not_promised(self, small_stage: SmallStage, trace: Trace) -> None:
        terms = tuple(stage_label(trace, f"{name}[0,0]") for name in ("resid_pre", "attn_out", "resid_mid"))

        def change(element: Element) -> Any:
            stage = small_stage(Production(trace, "en"))
            return VGroup(stage.draw(element, None), stage.pen.write(relation_line(terms[:2], terms[2]), 44))

        assert "its arithmetic is not the promised one" in broken(small_stage, trace, change)

    def test_a_formula_that_was_not_promised(self, small_stage: SmallStage, trace: Trace) -> None:
        def change(element: Element) -> Any:
            stage = small_stage(Production(trace, "en"))
            return VGroup(stage.draw(element, None), stage.pen.formula(layer_norm_formula("post"), 36))

        assert "promised are []" in broken(small_stage, trace, change)

    def test_a_wrong_count_of_what_is_left_out(self, small_stage: SmallStage, trace: Trace) -> None:
        def change(element: Element) -> Any:
            stage = small_stage(Production(trace, "en"))
            return VGroup(stage.draw(element, None), stage.pen.write(stage.wording.elided(2), 44))

        assert "0 numbers are left out, but it says 2" in broken(small_stage, trace, change)

    def test_a_caption_that_names_a_number_the_state_does_not_have(self, small_stage: SmallStage, r44: Example) -> None:
        own = run(replace(r44, captions={"en": {"s": "The variance is {ln.var[0]}."}}))

        def change(element: Element) -> Any:
            stage = small_stage(Production(own, "en"))
            return VGroup(stage.draw(element, None), stage.pen.write(stage.wording.caption("small", "s"), 44))

        assert "'0.592455' is said to be ln.var[0], which the state does not have" in broken(small_stage, own, change)

    def test_a_caption_may_name_a_number_that_it_has(self, small_stage: SmallStage, r44: Example) -> None:
        own = run(replace(r44, captions={"en": {"s": "The mean is {ln.mean[0]}."}}))

        def draw(self: Stage, element: Element, state: State) -> Any:
            drawn = small_stage.draw(self, element, state)
            if element.kind != "row":
                return drawn
            return VGroup(drawn, self.pen.write(self.wording.caption("small", "s"), 44).place(-3, -3))

        stage = type("Captioned", (small_stage,), {"draw": draw})(Production(own, "en"))
        stage.show(stage.board.state("s"))
        assert labels(stage._seen)["ln.mean[0]"] == "1.098888"

    def test_a_number_that_is_drawn_but_not_seen(self, small_stage: SmallStage, trace: Trace) -> None:
        def draw(self: Stage, element: Element, state: State) -> Any:
            drawn = small_stage.draw(self, element, state)
            if element.kind == "row":
                drawn.numbers[2].set_opacity(0)
            return drawn

        stage = type("Faint", (small_stage,), {"draw": draw})(Production(trace, "en"))
        with pytest.raises(AuditError, match=r"state s: resid_mid.0,2. is promised, but cannot be seen"):
            stage.show(stage.board.state("s"))


# Motion.


def moving(small_stage: SmallStage, trace: Trace, act: Callable[[Stage, Picture], None]) -> Stage:
    """The small stage with a motion of which nothing is cleared away."""

    def enter(self: Stage, _before: Picture, after: Picture) -> None:
        act(self, after)

    stage = type("Moving", (small_stage,), {"enter_s": enter})(Production(trace, "en"))
    stage.render()
    return stage


@pytest.mark.usefixtures("no_pixels")
class TestArrival:
    def test_a_motion_that_ends_on_its_picture(self, small_stage: SmallStage, trace: Trace) -> None:
        stage = moving(small_stage, trace, lambda stage, after: stage.play(*map(FadeIn, after.values())))
        assert labels(stage.plays[-1].seen) == labels(shown(stage, "s"))

    def test_something_left_over(self, small_stage: SmallStage, trace: Trace) -> None:
        def act(stage: Stage, after: Picture) -> None:
            stage.play(*map(FadeIn, after.values()), FadeIn(Circle()))

        with pytest.raises(AuditError, match="state s: its motion does not end on its picture; left over: Circle"):
            moving(small_stage, trace, act)

    def test_something_missing(self, small_stage: SmallStage, trace: Trace) -> None:
        with pytest.raises(AuditError, match=r"missing: .*Bars"):
            moving(small_stage, trace, lambda stage, after: stage.play(FadeIn(after["row"]), FadeIn(after["mean"])))

    def test_something_a_hundredth_of_a_unit_off(self, small_stage: SmallStage, trace: Trace) -> None:
        def act(stage: Stage, after: Picture) -> None:
            stage.play(*map(FadeIn, after.values()))
            for name, mobject in after.items():
                after[name] = mobject.copy()
            stage.mobjects[0].shift([0.01, 0, 0])

        with pytest.raises(AuditError, match="does not end on its picture"):
            moving(small_stage, trace, act)

    def test_something_paler(self, small_stage: SmallStage, trace: Trace) -> None:
        def act(stage: Stage, after: Picture) -> None:
            stage.play(*map(FadeIn, after.values()))
            for name, mobject in after.items():
                after[name] = mobject.copy()
            stage.mobjects[0].set_opacity(0.9)

        with pytest.raises(AuditError, match="does not end on its picture"):
            moving(small_stage, trace, act)


# Time.


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Any]:
    """A call that sets manim up to film without pixels, at a frame rate."""
    monkeypatch.setattr(manim.Camera, "capture_mobjects", lambda *_args, **_kwargs: None)

    def settings(rate: int) -> Any:
        few = {"pixel_width": 16, "pixel_height": 9, "dry_run": True, "progress_bar": "none", "verbosity": "ERROR"}
        return tempconfig({**few, "frame_rate": rate})

    return settings


def frames(stage: Stage) -> int:
    return sum(play.frames for play in stage.plays)


@pytest.mark.parametrize("rate", FRAME_RATES)
def test_every_duration_is_whole_frames_at_every_rate(
    rate: int, at: Any, small_stage: SmallStage, trace: Trace
) -> None:
    """manim makes 10.667 s of twenty plays of half a second; here each takes what it is given, to the frame."""

    def act(stage: Stage, picture: Picture) -> None:
        for n in (1, 2, 3, 5, 7, 11):
            before = frames(stage)
            stage.play(FadeIn(picture["mean"]), run_time=n * BEAT)
            assert frames(stage) - before == round(n * BEAT * rate)
            before = frames(stage)
            stage.wait(n * BEAT)
            assert frames(stage) - before == round(n * BEAT * rate)

    with at(rate):
        stage = type("Timed", (small_stage,), {"act": act})(Production(trace, "en"))
        stage.render()
    assert frames(stage) % (rate // 5) == 0


@pytest.mark.parametrize("state", ["b4", "b2"])
def test_a_state_lasts_as_long_at_every_rate(state: str, at: Any, trace: Trace) -> None:
    seconds = set()
    for rate in (15, 20):
        with at(rate):
            stage = R44(Production(trace, "en"), (state,))
            stage.render()
        assert frames(stage) * 5 % rate == 0
        seconds.add(frames(stage) / rate)
    assert len(seconds) == 1


def test_a_duration_that_is_no_whole_number_of_frames_is_refused(perform: Perform) -> None:
    with pytest.raises(AddnormError, match=r"s: 0\.5 s is not a whole number of frames"):
        perform(lambda stage, picture: stage.play(FadeOut(picture["mean"]), run_time=0.5))


def test_the_pace_stretches_every_motion_and_keeps_to_the_beat(at: Any, small_stage: SmallStage, trace: Trace) -> None:
    def act(stage: Stage, picture: Picture) -> None:
        stage.move(FadeIn(picture["mean"]), seconds=1.0)

    counts = []
    for pace in (0.5, 1.0, 2.0, 1.3):
        with at(15):
            stage = type("Paced", (small_stage,), {"act": act})(Production(trace, "en", pace=pace))
            stage.render()
        counts.append(len(stage.plays[:-1]))
    assert counts == [30, 15, 6, 12]  # 2, 1, 0.4 and 0.8 s: whole beats, the nearest to 1 s / pace


# Pictures.


@pytest.fixture
def paintings(request: pytest.FixtureRequest) -> Callable[..., list[Any]]:
    """A call that plays states of R44 in small pictures, and gives every frame."""
    request.getfixturevalue("studio")

    def paint(trace: Trace, *states: str) -> list[Any]:
        taken: list[Any] = []

        class Filmed(R44):
            def note(self, count: int) -> None:
                taken.append(self.camera.pixel_array.copy())
                super().note(count)

        with tempconfig({"pixel_width": 320, "pixel_height": 180, "frame_rate": 5}):
            Filmed(Production(trace, "en"), states).render()
        return taken

    return paint


def difference(a: Any, b: Any) -> int:
    return int(np.abs(a.astype(int) - b.astype(int)).max())


def test_every_clip_ends_on_its_picture_and_starts_on_the_one_before(
    paintings: Callable[..., list[Any]], trace: Trace
) -> None:
    together, alone = paintings(trace, "b1", "b2"), paintings(trace, "b2")
    starts = len(together) - len(alone)
    assert all(difference(a, b) == 0 for a, b in zip(together[starts:], alone, strict=True))
    with tempconfig({"pixel_width": 320, "pixel_height": 180}):
        pictures = {}
        for state in ("b1", "b2"):
            still = R44(Production(trace, "en"))
            still.show(still.board.state(state))
            pictures[state] = still.camera.pixel_array.copy()
    assert difference(alone[-1], pictures["b2"]) == 0
    assert difference(together[starts - 1], pictures["b1"]) == 0
    assert difference(alone[0], pictures["b1"]) <= 2  # at time zero nothing has moved yet
    assert difference(pictures["b1"], pictures["b2"]) > 100


@pytest.mark.usefixtures("no_pixels")
def test_a_picture_is_drawn_in_the_order_of_its_elements(trace: Trace) -> None:
    stage = R44(Production(trace, "en"), ("b2",))
    stage.render()
    state = stage.board.state("b2")
    stage.show(state)
    elements = [element.name for element in state.elements]
    owners = {
        id(leaf): name
        for name, mobject in zip(elements, stage.mobjects, strict=True)
        for leaf in mobject.family_members_with_points()
    }
    drawn = [owners[id(leaf)] for leaf in stage.camera.drawn]
    assert drawn == sorted(drawn, key=elements.index)


def test_what_was_seen_last_is_what_the_picture_shows(at: Any, trace: Trace) -> None:
    with at(5):
        stage = R44(Production(trace, "zh"), ("b3",))
        stage.render()
        last = stage.plays[-1]
        assert last.frames > 5
        again = R44(Production(trace, "zh"))
        kept = {(s.shows, getattr(s, "box", None)) for s in last.seen}
        assert kept == {(s.shows, getattr(s, "box", None)) for s in shown(again, "b3")}
