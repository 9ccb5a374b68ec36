"""Storyboards as data: windows, states, and the R44 film as text that can be reviewed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addnorm.mathcore.errors import AddnormError, ExampleError
from addnorm.mathcore.example import Example
from addnorm.mathcore.labels import stage_label
from addnorm.mathcore.trace import Trace, run
from addnorm.scenes.films.r44.states import storyboard
from addnorm.scenes.storyboard import Element, State, Storyboard, describe, elide_middle, window_around

Golden = Callable[[str, str], None]

sizes = st.integers(1, 600)


@given(total=sizes, limit=st.integers(1, 30), shown=st.integers(1, 30))
def test_a_wide_row_shows_its_ends_and_counts_the_rest(total: int, limit: int, shown: int) -> None:
    shown = min(shown, limit)
    window = elide_middle(total, limit, shown)
    assert len(window.shown) + window.hidden == total
    assert list(window.shown) == sorted(set(window.shown))
    if total <= limit:
        assert window.hidden == 0
        assert window.shown == tuple(range(total))
        return
    assert len(window.shown) == shown
    head, tail = window.shown[: window.gap], window.shown[window.gap :]
    assert head == tuple(range(len(head)))
    assert tail == tuple(range(total - len(tail), total))
    assert 0 <= len(head) - len(tail) <= 1


@given(total=sizes, slots=st.integers(1, 20), data=st.data())
def test_a_window_of_rows_holds_the_followed_one(total: int, slots: int, data: st.DataObject) -> None:
    center = data.draw(st.integers(0, total - 1))
    window = window_around(total, center, slots)
    assert center in window
    assert len(window) == min(total, slots)
    assert 0 <= window.start < window.stop <= total
    before, after = center - window.start, window.stop - 1 - center
    if window.start > 0 and window.stop < total:
        assert 0 <= before - after <= 1


@given(total=st.integers(2, 60), slots=st.integers(1, 10))
def test_neighbouring_windows_move_by_at_most_one(total: int, slots: int) -> None:
    starts = [window_around(total, center, slots).start for center in range(total)]
    assert all(0 <= b - a <= 1 for a, b in pairwise(starts))


def test_labels_of_a_state_are_listed_once_in_reading_order(trace: Trace) -> None:
    a, b = stage_label(trace, "ln.mean[0]"), stage_label(trace, "ln.var[0]")
    state = State("s", (Element("x", "one", labels=(b, a)), Element("x", "two", labels=(a,), lengths=("r",))))
    assert state.labels == (b, a)
    assert state.lengths == ("r",)
    assert state.element("two") is state.elements[1]
    assert state.element("three") is None
    assert state.without("x").elements == ()


def test_states_are_found_by_name_and_order() -> None:
    board = Storyboard("film", (State("a", ()), State("b", ())), (State("panel", ()),))
    assert board.before("a") is None
    assert board.before("b") == State("a", ())
    assert board.state("panel") == State("panel", ())
    with pytest.raises(AddnormError, match="states: 'c' is not a state of film; give some of a, b"):
        board.state("c")


def test_two_elements_of_one_name_are_refused() -> None:
    with pytest.raises(AddnormError, match=r"film\.a: two elements bear one name among"):
        Storyboard("film", (State("a", (Element("x", "n"), Element("y", "n"))),))


@pytest.mark.parametrize(
    ("state", "caption", "said"),
    [
        ("b9", "…", "captions.en.b9: no such state"),
        ("b1", "u is {ln.out[0,0]}", r"captions.en.b1: names ln\.out\[0,0\], which this state does not show; "),
        ("b2", "r is {resid_mid[1,0]}", r"names resid_mid\[1,0\], .*; did you mean \"resid_mid\[.,0\]\""),
        ("b4", "ε is {eps}", "names eps, which this state does not show; it shows no number"),
    ],
)
def test_a_caption_names_only_what_its_state_shows(state: str, caption: str, said: str, r44: Example) -> None:
    with pytest.raises(ExampleError, match=said):
        storyboard(run(replace(r44, captions={"en": {state: caption}})))
    storyboard(run(replace(r44, captions={"en": {"b2": "μ is {ln.mean[0]}, of {resid_mid[0,1]} and others"}})))


# Goldens: the storyboards as text, in tests/golden/.

GOLDENS: dict[str, Callable[[Example, Trace], str]] = {
    "r44-storyboard.txt": lambda r44, _: describe(storyboard(run(r44))),
    "r44-storyboard-gamma-beta.txt": lambda _, affine: describe(storyboard(affine)),
    "r44-storyboard-one-token.txt": lambda r44, _: describe(
        storyboard(run(replace(r44, x=r44.x[:1], tokens=("alone",))))
    ),
}


@pytest.mark.parametrize("name", GOLDENS)
def test_the_storyboard_is_as_it_was_reviewed(name: str, golden: Golden, r44: Example, affine: Trace) -> None:
    golden(name, GOLDENS[name](r44, affine))


def test_no_golden_is_orphaned(checkout: Path) -> None:
    assert {path.name for path in (checkout / "tests" / "golden").iterdir()} == set(GOLDENS)


def test_goldens_are_not_updated_in_ci(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    plugins = pytestconfig.pluginmanager.get_plugins()
    conftest: Any = next(plugin for plugin in plugins if hasattr(plugin, "GOLDEN_OPTION"))
    monkeypatch.setattr(pytestconfig.option, "update_goldens", True)
    monkeypatch.delenv("CI", raising=False)
    conftest.pytest_configure(pytestconfig)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.UsageError, match="--update-goldens: not in CI"):
        conftest.pytest_configure(pytestconfig)


def test_a_golden_that_differs_or_is_missing_fails(
    golden: Golden, trace: Trace, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytestconfig.option, "update_goldens", False)
    with pytest.raises(AssertionError, match="see the difference"):
        golden("r44-storyboard.txt", describe(storyboard(trace)).replace("0.592455", "0.592454"))
    with pytest.raises(AssertionError, match=r"no-such\.txt is missing"):
        golden("no-such.txt", "")
