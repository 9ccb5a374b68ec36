"""Words: what a catalogue's braces are answered with, and what is found wrong with a line."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.example import Example, GivenOutput
from addnorm.mathcore.labels import Label, stage_label
from addnorm.mathcore.symbols import Symbol, symbol
from addnorm.mathcore.trace import Trace, run
from addnorm.scenes import text as module
from addnorm.scenes.text import (
    Constant,
    Counted,
    Elided,
    Name,
    Run,
    User,
    Wording,
    languages,
    load_catalogue,
    name_line,
    pieces,
    plain,
    relation_line,
    symbol_line,
    token_line,
    value_line,
)
from addnorm.scenes.truth import SIGNS, complaint, names

NAMES = {"film": "R44", "b2": "b2"}


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A catalogue of the test's own, in place of every language's."""
    entries: dict[str, Any] = {}
    monkeypatch.setattr(module, "load_catalogue", lambda _language: entries)
    return entries


@pytest.fixture
def wording(trace: Trace) -> Wording:
    return Wording("en", trace, NAMES)


# What stands in braces.


@pytest.mark.parametrize(
    ("braces", "says", "source"),
    [
        ("{r}", "r", Symbol),
        ("{r_i}", "r₁", Symbol),
        ("{mean}", "μ", Symbol),
        ("{hat_i}", "r̂₁", Symbol),
        ("{delta}", "Δ", Symbol),
        ("{features}", "four features", Counted),
        ("{ordinal}", "first", Counted),
        ("{head_kind}", "two-head", Counted),
        ("{film}", "R44", Name),
        ("{ln.mean[0]}", "1.098888", Label),
        ("{gamma[*]}", "1", Label),
        ("{eps}", "10⁻⁵", Label),
        ("plain", "plain", Constant),
        ("{{}}", "{}", Constant),
    ],
)
def test_braces_are_answered_by_the_core(
    braces: str, says: str, source: type, catalogue: dict[str, Any], wording: Wording
) -> None:
    catalogue["key"] = braces
    line = wording.line("key")
    assert plain(line) == says
    assert {type(run.source) for run in line} == {source}
    assert complaint(line, wording) is None


def test_a_sentence_is_cut_at_its_braces(catalogue: dict[str, Any], wording: Wording) -> None:
    catalogue["a"] = {"b": "μ is {ln.mean[0]} for {features}."}
    line = wording.line("a.b")
    assert plain(line) == "μ is 1.098888 for four features."
    assert [run.source for run in line][::2] == [Constant("a.b")] * 3
    assert [run.role for run in wording.line("a.b", "secondary")] == ["secondary", "ln.mean", *["secondary"] * 3]


@pytest.mark.parametrize("braces", ["{resid_mid[0,9]}", "{nothing}", "{gamma[0]", "}", "{r_7}", "{}", "{features_i}"])
def test_braces_that_nothing_answers_are_an_error(braces: str, catalogue: dict[str, Any], wording: Wording) -> None:
    catalogue["key"] = braces
    with pytest.raises(AddnormError, match="key: "):
        wording.line("key")


def test_a_missing_entry_or_language_is_an_error(wording: Wording) -> None:
    with pytest.raises(AddnormError, match=r"assets/text/en\.toml: r44\.b9\.caption: there is no such entry"):
        wording.line("r44.b9.caption")
    with pytest.raises(AddnormError, match=r"'xx' has no catalogue; give one of .*en.*zh"):
        load_catalogue("xx")
    assert {"en", "zh"} <= set(languages())


def variants_of(example: Example) -> list[Example]:
    x, features = example.x, example.n_features
    weights: Any = example.attention
    return [
        replace(example, x=x[:1], tokens=("a",)),
        replace(example, attention=GivenOutput(np.ones_like(x))),
        replace(example, gamma=np.linspace(1, 2, features)),
        replace(example, gamma=np.full(features, 2.0)),
        replace(example, mask="causal"),
        replace(example, norm="pre"),
        replace(example, attention=replace(weights, heads=1)),
    ]


def test_the_first_variant_that_fits_is_taken(catalogue: dict[str, Any], r44: Example) -> None:
    conditions = ["one_token", "given", "gamma_varies", "affine", "causal", "pre", "default"]
    catalogue["key"] = {condition: f"it is {condition}" for condition in conditions}
    said = [plain(Wording("en", run(example), {}).line("key")) for example in variants_of(r44)]
    assert said == [f"it is {condition}" for condition in conditions]


def test_variants_nest(catalogue: dict[str, Any], r44: Example) -> None:
    catalogue["key"] = {"pre": {"causal": "both", "default": "pre alone"}, "default": "neither"}
    said = {
        (norm, mask): plain(Wording("en", run(replace(r44, norm=norm, mask=mask)), {}).line("key"))
        for norm in ("pre", "post")
        for mask in ("causal", "none")
    }
    assert said == {
        ("pre", "causal"): "both",
        ("pre", "none"): "pre alone",
        ("post", "causal"): "neither",
        ("post", "none"): "neither",
    }


def test_no_variant_that_fits_is_an_error(catalogue: dict[str, Any], wording: Wording) -> None:
    catalogue["key"] = {"causal": "masked"}
    with pytest.raises(AddnormError, match="key: no variant fits this example"):
        wording.line("key")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_sentence_of_every_catalogue_is_true_of_every_kind_of_example(language: str, r44: Example) -> None:
    def keys(node: Any, path: str = "") -> Any:
        for name, value in node.items():
            if isinstance(value, dict) and not {"default", "one_token"} & value.keys():
                yield from keys(value, f"{path}{name}.")
            else:
                yield f"{path}{name}"

    film = {name: name for name in ("film", "previous", "residual_lecture", "causal_page", "placement_page")}
    seen = 0
    for example in (r44, *variants_of(r44)):
        wording = Wording(language, run(example), {**film, "lab": "LAB 03", "source_page": "M27"})
        for key in keys({"r44": load_catalogue(language)["r44"]}):
            try:
                line = wording.line(key)
            except AddnormError:  # a variant that this example does not need
                continue
            seen += 1
            assert complaint(line, wording) is None
    assert seen > 100


# The user's words.


def test_a_users_caption_takes_the_place_of_the_catalogues(r44: Example) -> None:
    own = replace(r44, captions={"en": {"b2": "The mean is {ln.mean[0]}."}})
    wording = Wording("en", run(own), NAMES)
    line = wording.caption("r44", "b2")
    assert plain(line) == "The mean is 1.098888."
    assert line[0].source == User("captions.en.b2")
    assert complaint(line, wording) is None
    assert wording.caption("r44", "b3") == wording.line("r44.b3.caption")
    zh = Wording("zh", run(own), NAMES)
    assert zh.caption("r44", "b2") == zh.line("r44.b2.caption")


def test_tokens_are_literal(r44: Example) -> None:
    tokens = ("<pad>#$_\\", "a & b {x}", "🙂")
    wording = Wording("en", run(replace(r44, tokens=tokens)), NAMES)
    said = [plain(token_line(wording.trace, n)) for n in range(3)]
    assert said == ["<pad>#$_\\", "a & b {x}", "U+1F642"]
    assert all(complaint(token_line(wording.trace, n), wording) is None for n in range(3))


def test_what_is_left_out_is_counted(wording: Wording) -> None:
    assert plain(wording.elided(2)) == "… 2 more …"
    assert wording.elided(0) == ()
    assert complaint(wording.elided(2), wording) is None


# What is found wrong with a line.


def test_lines_of_the_factory_are_true(wording: Wording) -> None:
    x, update, total = (stage_label(wording.trace, f"{name}[0,1]") for name in ("resid_pre", "attn_out", "resid_mid"))
    mean = value_line(stage_label(wording.trace, "ln.mean[0]"))
    for line in (
        value_line(total),
        relation_line((x, update), total),
        symbol_line(symbol("resid_mid", 2)),
        name_line("R44"),
        name_line("b2"),
        (*symbol_line(symbol("ln.mean", 0)), *wording.sign(" = "), *mean),
        (*symbol_line(symbol("ln.mean")), *wording.sign("≈"), *mean),
        (*symbol_line(symbol("resid_mid")), *wording.sign(" = "), *symbol_line(symbol("resid_pre"))),
    ):
        assert complaint(line, wording) is None, plain(line)


@pytest.mark.parametrize("sign", sorted(SIGNS - {"=", "≈"}))
def test_signs_may_stand_alone(sign: str, wording: Wording) -> None:
    assert complaint(wording.sign(sign), wording) is None


@pytest.mark.parametrize("text", ["=", " ≈ "])
def test_but_no_sign_that_claims_something(text: str, wording: Wording) -> None:
    assert complaint(wording.sign(text), wording)


@pytest.mark.parametrize("name", ["1", "R45", "b9", "", "1.098888", "x + 1"])
def test_a_name_is_one_of_the_films(name: str, wording: Wording) -> None:
    assert complaint(name_line(name), wording)


@pytest.mark.parametrize(
    ("caption", "reads"),
    [
        ("−{ln.var[0]}", "reads as one number"),
        ("1{ln.var[0]}", "reads as one number"),
        ("0.{ln.var[0]}", "reads as one number"),
        ("{ln.var[0]}⁵", "reads as one number"),
        ("{ln.var[0]}%", "reads as one number"),
        ("{ln.var[0]}.5", "reads as one number"),
        ("{ln.var[0]}{ln.mean[0]}", "reads as one number"),
        ("{mean} = {ln.var[0]}", "ln.var.0. is drawn under the name μ"),
        ("{r_i} ≈ {resid_mid[1,0]}", "resid_mid.1,0. is drawn under the name r₁"),
        ("{ln.var[0]} = {ln.mean[0]}", "nothing says what is added"),
        ("{ln.var[0]}.", None),
        ("It is {ln.var[0]}, and {mean} = {ln.mean[0]}", None),
        ("±{ln.std[0]}", None),
        ("({resid_mid[1,0]}) = {r}", None),
    ],
)
def test_a_users_caption_does_not_bend_a_number(caption: str, reads: str | None, r44: Example) -> None:
    own = replace(r44, captions={"en": {"b2": "placeholder"}})
    object.__setattr__(own, "captions", {"en": {"b2": caption}})  # the example file refuses digits by itself
    wording = Wording("en", run(own), NAMES)
    found = complaint(wording.caption("r44", "b2"), wording)
    if reads is None:
        assert found is None
    else:
        assert found is not None
        assert re.search(reads, found)


@pytest.mark.parametrize(
    "order", [slice(None, -1), slice(None, None, -1), slice(1, None)], ids=["cut", "reversed", "begun late"]
)
def test_a_sentence_is_whole_and_in_order(order: slice, wording: Wording) -> None:
    line = wording.line("r44.b2.heading")
    assert len(line) > 2
    assert complaint(line, wording) is None
    assert "the whole sentence is" in str(complaint(line[order], wording))


@pytest.mark.parametrize(
    "source", [Elided(0), Elided(4), Elided(-1), Counted("nothing"), Constant("r44.none"), User("x")]
)
def test_a_source_that_says_nothing_is_found_out(source: Any, wording: Wording) -> None:
    assert complaint((Run("… 4 more …", source),), wording)


def test_a_symbol_names_its_own_quantity_and_token(trace: Trace) -> None:
    number = stage_label(trace, "resid_mid[1,0]")
    assert names(symbol("resid_mid"), number, "post")
    assert names(symbol("resid_mid", 1), number, "post")
    assert not names(symbol("resid_mid", 0), number, "post")
    assert not names(symbol("resid_pre", 1), number, "post")
    assert names(symbol("update"), stage_label(trace, "attn_out[0,0]"), "post")
    assert names(symbol("eps"), stage_label(trace, "eps"), "post")


def test_pieces_of_a_template() -> None:
    assert [*pieces("a {b} c", "here")] == [("a ", "b"), (" c", None)]
    with pytest.raises(AddnormError, match=r"^here: "):
        [*pieces("a {b", "here")]


answers = st.sampled_from(["r_i", "features", "ln.var[0]", "eps", "gamma[*]", "nothing", "ln.var[9]", "", "!r:x"])


@settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.lists(st.one_of(answers.map("{{{}}}".format), st.text(max_size=4), st.sampled_from("{}"))).map("".join))
def test_an_entry_made_of_anything_is_said_or_an_error(text: str, catalogue: dict[str, Any], wording: Wording) -> None:
    catalogue["key"] = text
    with suppress(AddnormError):
        assert all(run.text for run in wording.line("key"))
