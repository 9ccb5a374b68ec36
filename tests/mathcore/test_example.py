"""The rules an example keeps, and the document it is made from and turned into."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addnorm.mathcore import (
    Display,
    Example,
    ExampleError,
    GivenOutput,
    LabelError,
    Weights,
    example_from,
    run,
)
from addnorm.mathcore.example import MAX_FEATURES, MAX_TOKENS

SMALL: dict[str, Any] = {
    "id": "small",
    "input": {"x": [[1, 0, 1, 0], [0, 1, 0, 1]]},
    "attention": {"output": [[1, 2, 3, 4], [5, 6, 7, 8]]},
}
WEIGHTS: dict[str, Any] = {
    **SMALL,
    "attention": {"heads": 2, "w_q": "identity", "w_k": "identity", "w_v": "identity", "w_o": "identity"},
}


def changed(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of a document with one field set, or with ``...`` left out."""
    copy = deepcopy(document)
    *tables, key = path.split(".")
    table = copy
    for name in tables:
        table = table.setdefault(name, {})
    if value is ...:
        del table[key]
    else:
        table[key] = value
    return copy


def refusal(document: dict[str, Any]) -> str:
    with pytest.raises(ExampleError) as caught:
        example_from(document)
    message = str(caught.value)
    assert message.isprintable()
    return message


def test_what_is_left_out() -> None:
    example = example_from(SMALL)
    assert (example.norm, example.mask, example.followed, example.eps) == ("post", "none", 0, 1e-5)
    assert example.tokens == ("token 1", "token 2")
    assert (example.gamma.tolist(), example.beta.tolist()) == ([1.0] * 4, [0.0] * 4)
    assert example.display == Display(3, 6)
    assert (example.title, example.captions, example.dtypes, example.dtype) == ({}, {}, {}, "float64")
    assert (example.n_tokens, example.n_features, example.n_heads) == (2, 4, None)


def test_arrays_are_read_only_and_nobody_else_s() -> None:
    x = np.ones((2, 3))
    output = np.ones((2, 3))
    example = Example(id="a", x=x, attention=GivenOutput(output), gamma=np.ones(3), beta=np.zeros(3))
    x[0, 0] = output[0, 0] = 7
    assert example.x[0, 0] == 1
    assert run(example)["attn_out"].value[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        example.x[0, 0] = 7


HEADS = [[[1, 0], [0, 1], [0, 0], [0, 0]], [[0, 0], [0, 0], [1, 0], [0, 1]]]


def test_three_ways_to_write_a_weight() -> None:
    whole = [[float(i == j) for j in range(4)] for i in range(4)]
    for written in ("identity", whole, HEADS):
        weights = example_from(changed(WEIGHTS, "attention.w_k", written)).attention
        assert isinstance(weights, Weights)
        assert weights.w_k.tolist() == whole


def test_each_head_reads_its_own_matrix() -> None:
    """Per-head weights side by side are the whole matrix: head 2 alone reads features 3 and 4."""
    trace = run(example_from(changed(WEIGHTS, "attention.w_q", HEADS)))
    assert trace["attn.q"].value[1].tolist() == [[1, 0], [0, 1]]


def test_fields_arrive() -> None:
    document = {
        **WEIGHTS,
        "norm": "pre",
        "mask": "causal",
        "token": 2,
        "tokens": ["<pad>", "`#$_\\"],
        "title": {"zh": "标题 5", "en": "Title 5"},
        "captions": {"en": {"b2": "μ = {ln.mean[1]}"}},
        "layer_norm": {"eps": 0, "gamma": [1, 2, 3, 4], "beta": [0, 0, 0, 1]},
        "display": {"decimals": 2, "statistics_decimals": 4},
    }
    example = example_from(document)
    assert (example.norm, example.mask, example.followed, example.eps) == ("pre", "causal", 1, 0.0)
    assert example.tokens == ("<pad>", "`#$_\\")
    assert example.title["zh"] == "标题 5"
    assert example.captions["en"]["b2"] == "μ = {ln.mean[1]}"
    assert example.gamma.tolist() == [1, 2, 3, 4]
    assert example.display == Display(2, 4)
    assert example.n_heads == 2


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("id", ..., "id: missing; this field is needed"),
        ("input", ..., "input.x: missing; this field is needed"),
        ("input.x", ..., "input.x: missing; this field is needed"),
        (
            "attention",
            ...,
            "attention: missing; heads, w_q, w_k, w_v and w_o, or the output itself as output",
        ),
        ("id", 7, "id: the number 7; a text in quotes"),
        ("norm", "middle", 'norm: "middle"; "post" or "pre"'),
        ("mask", "Causal", 'mask: "Causal"; "none" or "causal"'),
        ("token", 9, "token: token 9 of 2; 1 to 2"),
        ("token", 0, "token: token 0 of 2; 1 to 2"),
        ("token", True, "token: the boolean true; a whole number"),
        ("token", 1.0, "token: the number 1.0; a whole number"),
        ("token", 10**400, "token: a whole number of 1329 bits; a whole number"),
        ("tokens", ["a"], "tokens: 1 label beside x of shape (2, 4); 2 labels, one for each token"),
        ("tokens", [], "tokens: an empty list; leave it out, or give a label for each token"),
        ("tokens", "ab", 'tokens: the text "ab"; a list of texts'),
        ("tokens", ["a", 1], "tokens: the number 1 in the list; texts in quotes"),
        ("tokens", ["a", "b" * 201], "tokens: the label of token 2 has 201 characters; at most 200"),
        ("tokens", ["a", "\ud800"], 'tokens: "\\ud800" holds half a character; text in Unicode'),
        ("input", [1], "input: a list of 1; a table"),
        ("input.x", [], "input.x: shape (0,); tokens × features, at least one of each"),
        ("input.x", [[], []], "input.x: shape (2, 0); tokens × features, at least one of each"),
        ("input.x", [1, 2], "input.x: the number 1 at token 1; a list with an entry for each feature"),
        ("input.x", "ones", 'input.x: the text "ones"; a list with an entry for each token'),
        ("input.x", [[1, 2], [3]], "input.x: 1 entry at token 2 but 2 at token 1; equally many"),
        ("input.x", [[1, True]], "input.x: the boolean true at token 1, feature 2; a number"),
        ("input.x", [[1, "2"]], 'input.x: the text "2" at token 1, feature 2; a number'),
        ("input.x", [[1, [2]]], "input.x: a list of 1 at token 1, feature 2; a number"),
        ("input.x", [[1, None]], "input.x: a NoneType at token 1, feature 2; a number"),
        (
            "input.x",
            [[1, math.nan, 0, 0], [0, 0, 0, 0]],
            "input.x: nan at token 1, feature 2; every entry must be a finite number",
        ),
        (
            "input.x",
            [[1, 2**53 + 1]],
            "input.x: a whole number of 54 bits at token 1, feature 2, beyond 2^53; a float such as 1e16",
        ),
        (
            "attention.output",
            [[1, 2, 3, 4]],
            "attention.output: shape (1, 4) beside x of shape (2, 4); both must be the same",
        ),
        ("attention.output", 1, "attention.output: the number 1; a list with an entry for each token"),
        (
            "attention.heads",
            2,
            "attention.output: attention.heads beside it; give the weights or the output, not both",
        ),
        ("layer_norm.gamma", 2, "layer_norm.gamma: the number 2; a list with an entry for each feature"),
        (
            "layer_norm.gamma",
            [1, 1],
            "layer_norm.gamma: shape (2,) beside x of shape (2, 4); shape (4,), a number for each feature",
        ),
        (
            "layer_norm.beta",
            [0, 0, 0, math.inf],
            "layer_norm.beta: inf at feature 4; every entry must be a finite number",
        ),
        ("layer_norm.eps", -1e-9, "layer_norm.eps: -1e-09; a finite number, 0 or above"),
        ("layer_norm.eps", math.nan, "layer_norm.eps: nan; a finite number, 0 or above"),
        ("layer_norm.eps", "1e-5", 'layer_norm.eps: the text "1e-5"; a number'),
        ("layer_norm.eps", False, "layer_norm.eps: the boolean false; a number"),
        ("display.decimals", 7, "display.decimals: 7; 0 to 6"),
        ("display.statistics_decimals", -1, "display.statistics_decimals: -1; 0 to 9"),
        ("nrom", "pre", 'nrom: unknown key; did you mean "norm"?'),
        ("layer_norm.epsilon", 1, 'layer_norm.epsilon: unknown key; did you mean "eps"?'),
        ("input.qqqq", 1, "input.qqqq: unknown key; known here: x"),
        ("arrays", "a.npz", "arrays: unknown key; known here: "),
        ("title", "R44", 'title: the text "R44"; a table'),
        ("title.en", 44, "title.en: the number 44; a text in quotes"),
        ("captions.en", "b2", 'captions.en: the text "b2"; a table'),
        ("captions.en.b2", 3, "captions.en.b2: the number 3; a text in quotes"),
        ("dtypes.ln", "float32", "dtypes.ln: not stored in this example; "),
        ("dtypes.eps", "float23", 'dtypes.eps: "float23"; did you mean "float32"?'),
        ("dtypes.eps", "float16", "dtypes.eps: numbers that are not float16; the type they were stored in"),
    ],
)
def test_refusals(path: str, value: Any, message: str) -> None:
    assert refusal(changed(SMALL, path, value)).startswith(message)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("attention.heads", ..., "attention.heads: missing; this field is needed"),
        ("attention.w_v", ..., "attention.w_v: missing; this field is needed"),
        ("attention.heads", 3, "attention.heads: 3 heads for 4 features; a divisor of 4"),
        ("attention.heads", 0, "attention.heads: 0 heads for 4 features; a divisor of 4"),
        ("attention.heads", -2, "attention.heads: -2 heads for 4 features; a divisor of 4"),
        ("attention.heads", 2.0, "attention.heads: the number 2.0; a whole number"),
        ("attention.w_o", "Identity", 'attention.w_o: the text "Identity"; 4 × 4 numbers, or "identity"'),
        (
            "attention.w_q",
            [[1, 2], [3, 4]],
            "attention.w_q: shape (2, 2) beside x of shape (2, 4); shape (4, 4)",
        ),
        ("attention.w_q", [], "attention.w_q: shape (0,) beside x of shape (2, 4); shape (4, 4)"),
        (
            "attention.w_q",
            HEADS[:1],
            "attention.w_q: shape (1, 4, 2); 2 matrices of 4 × (4 / 2), or one of 4 × 4",
        ),
        ("attention.w_o", HEADS, "attention.w_o: a list of 2 at row 1, column 1; a number"),
        (
            "attention.w_q",
            [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, math.inf, 0], [0, 0, 0, 1]],
            "attention.w_q: inf at row 3, column 3; every entry must be a finite number",
        ),
    ],
)
def test_refusals_of_weights(path: str, value: Any, message: str) -> None:
    assert refusal(changed(WEIGHTS, path, value)).startswith(message)


@pytest.mark.parametrize("name", ["r44", "层归一化", "a", "A.b-c_d", "x" * 64])
def test_safe_ids(name: str) -> None:
    assert example_from(changed(SMALL, "id", name)).id == name


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a\\b", "../a", ".addnorm", "a b", "a\n", "-x", "a.", "x" * 65, "\0"]
)
def test_ids_that_are_no_folder_names(name: str) -> None:
    assert refusal(changed(SMALL, "id", name)).startswith("id: ")


@pytest.mark.parametrize("digit", list("0379²₁①½٣４Ⅳ"))
def test_digits_typed_into_captions_are_refused(digit: str) -> None:
    message = refusal(changed(SMALL, "captions.en.b2", f"The mean is {digit} here"))
    assert message == (
        f'captions.en.b2: the typed digit "{digit}"; write a number as a reference, like {{ln.mean[0]}}; '
        "digits may only end a name such as R44 or float32"
    )


@pytest.mark.parametrize("text", ["x1.5", "第3个", "σ²=0.5", "r 2", "-4", "1st", "x/2", "e−5", "−½"])
@pytest.mark.parametrize("field", ["captions.en.b2", "note.en"])
def test_a_digit_that_is_in_no_name_is_refused(field: str, text: str) -> None:
    assert refusal(changed(SMALL, field, text)).startswith(f"{field}: the typed digit ")


@pytest.mark.parametrize("text", ["R44, LAB03", "float32", "O₁", "r̂₁", "σ²", "MiniLM-L6-v2", "三个，第一个", "seven"])
@pytest.mark.parametrize("field", ["captions.en.b2", "note.en", "title.en"])
def test_names_with_digits_and_number_words_are_free(field: str, text: str) -> None:
    example_from(changed(SMALL, field, text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "no words"),
        (" \u3000", "no words"),
        ("a\nb", "U+000A (a control character)"),
        ("a\tb", "U+0009 (a control character)"),
        ("a\x1b[0m", "U+001B (a control character)"),
        ("a\u202eb", "U+202E (right-to-left override)"),
        ("a\u200fb", "U+200F (right-to-left mark)"),
        ("a\u2066b", "U+2066 (left-to-right isolate)"),
        ("a\u00adb", "U+00AD (soft hyphen)"),
        ("a\u200db", "U+200D (zero width joiner)"),
        ("\ufeffa", "U+FEFF (zero width no-break space)"),
        ("a\u2028b", "U+2028 (line separator)"),
        ("W" * 1001, "1001 characters"),
    ],
)
@pytest.mark.parametrize("field", ["title.en", "captions.en.b2", "note.zh"])
def test_words_are_one_line_that_can_be_seen(field: str, text: str, found: str) -> None:
    assert refusal(changed(SMALL, field, text)).startswith(f"{field}: {found}; ")


@pytest.mark.parametrize(
    ("caption", "message"),
    [
        ("{ln.mean[2]}", "captions.zh.b2: ln.mean[2]: no token 2; they count from 0 to 1"),
        (
            "{ln.meen[0]}",
            'captions.zh.b2: "ln.meen" is not in the trace of this example; did you mean "ln.mean"?',
        ),
        ("{attn.q[0,0,0]}", 'captions.zh.b2: "attn.q" is not in the trace of this example; '),
        ("{ln.mean}", "captions.zh.b2: ln.mean: 0 indices; write ln.mean[token]"),
        ("{mean", 'captions.zh.b2: "{mean" has a brace without its partner; write values like {ln.mean[0]}'),
    ],
)
def test_references_in_captions_must_exist(caption: str, message: str) -> None:
    assert refusal(changed(SMALL, "captions.zh.b2", caption)).startswith(message)


def test_number_words_in_chinese_captions_are_words() -> None:
    caption = "同一行：第一个 {ln.mean[0]}"
    assert example_from(changed(SMALL, "captions.zh.b2", caption)).captions["zh"]["b2"] == caption


def test_limits() -> None:
    for shape in ((MAX_TOKENS + 1, 1), (1, MAX_FEATURES + 1)):
        document = changed(SMALL, "input.x", np.zeros(shape))
        assert refusal(document) == f"input.x: shape {shape}; at most 4096 tokens × 16384 features"
    largest = example_from(
        {**SMALL, "input": {"x": np.zeros((4096, 4))}, "attention": {"output": np.zeros((4096, 4))}}
    )
    assert largest.n_tokens == 4096
    assert refusal(changed(WEIGHTS, "input.x", np.zeros((1, 2049)))).startswith(
        "attention: weights for 2049 features"
    )
    message = refusal(changed({**WEIGHTS, "input": {"x": np.zeros((4096, 8))}}, "attention.heads", 8))
    assert message.startswith("attention: 8 heads × 4096 × 4096 tokens; at most 67108864 scores")


def test_the_source_is_named() -> None:
    with pytest.raises(ExampleError, match=r"^talk\.toml: token: token 9 of 2; 1 to 2$"):
        example_from(changed(SMALL, "token", 9), source="talk.toml")
    constant = changed(changed(SMALL, "attention.output", [[0, 1, 0, 1], [0, 0, 0, 0]]), "layer_norm.eps", 0)
    with pytest.raises(ExampleError, match=r"^talk\.toml: layer_norm\.eps: token 1 has zero variance"):
        run(example_from(constant, source="talk.toml"))


def test_long_and_unprintable_text_stays_on_one_line() -> None:
    assert len(refusal(changed(SMALL, "norm", "x\n\x1b" * 1000))) < 200
    assert len(refusal(changed(SMALL, "k" * 5000, 1))) < 300
    assert refusal(changed(SMALL, "norm", "\n\x1b\u2028")) == 'norm: "\\n\\x1b\\u2028"; "post" or "pre"'


def test_shapes_of_activations(r44: Example) -> None:
    trace = run(r44)
    for name in trace:
        assert r44.shape_of(name) == trace[name].value.shape
    assert len(trace) == 18
    with pytest.raises(LabelError):
        replace(r44, attention=GivenOutput(r44.x)).shape_of("attn.q")


# The document, there and back

floats = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Any valid document."""
    tokens, heads, width = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    features = heads * width

    def numbers(count: int) -> st.SearchStrategy[list[float]]:
        return st.lists(floats | st.integers(-5, 5), min_size=count, max_size=count)

    def matrix(rows: int, columns: int) -> st.SearchStrategy[Any]:
        return st.lists(numbers(columns), min_size=rows, max_size=rows)

    weight = st.just("identity") | matrix(features, features)
    stacked = st.lists(matrix(features, width), min_size=heads, max_size=heads)
    attention = st.one_of(
        st.fixed_dictionaries({"output": matrix(tokens, features)}),
        st.fixed_dictionaries(
            {
                "heads": st.just(heads),
                "w_q": weight | stacked,
                "w_k": weight | stacked,
                "w_v": weight,
                "w_o": weight,
            }
        ),
    )
    seen = st.characters(exclude_categories=["C", "N", "Z"], exclude_characters="{}")
    words = st.text(seen, min_size=1, max_size=9)
    required = {
        "id": st.from_regex(r"[A-Za-z][\w-]{0,9}[a-z]", fullmatch=True),
        "input": st.fixed_dictionaries({"x": matrix(tokens, features)}),
        "attention": attention,
    }
    optional = {
        "norm": st.sampled_from(["post", "pre"]),
        "mask": st.sampled_from(["none", "causal"]),
        "token": st.integers(1, tokens),
        "tokens": st.lists(words, min_size=tokens, max_size=tokens),
        "title": st.dictionaries(st.sampled_from(["zh", "en", "de"]), words),
        "captions": st.dictionaries(st.sampled_from(["zh", "en"]), st.dictionaries(words, words, max_size=2)),
        "layer_norm": st.fixed_dictionaries(
            {}, optional={"eps": st.floats(0, 1), "gamma": numbers(features), "beta": numbers(features)}
        ),
        "display": st.fixed_dictionaries({}, optional={"decimals": st.integers(0, 6)}),
    }
    return draw(st.fixed_dictionaries(required, optional=optional))


@given(documents())
def test_canonical_data_makes_an_equal_example(document: dict[str, Any]) -> None:
    example = example_from(document)
    text = json.dumps(example.canonical(), allow_nan=False)
    again = example_from(json.loads(text))
    assert again == example
    assert again.digest == example.digest
    assert hash(again) == hash(example)
    assert json.dumps(again.canonical(), allow_nan=False) == text
    assert again.x.tobytes() == example.x.tobytes()


def test_every_field_counts_in_equality_and_digest(r44: Example) -> None:
    x = r44.x.copy()
    x[2, 3] = np.nextafter(0, 1)
    others = [
        replace(r44, id="r45"),
        replace(r44, x=x),
        replace(r44, attention=GivenOutput(r44.x)),
        replace(r44, gamma=np.array([1, 1, 1, 1.5])),
        replace(r44, beta=np.array([0, 0, 0, 1e-300])),
        replace(r44, eps=1.0000000000000002e-5),
        replace(r44, norm="pre"),
        replace(r44, mask="causal"),
        replace(r44, followed=1),
        replace(r44, tokens=("a", "b", "c")),
        replace(r44, display=Display(3, 7)),
        replace(r44, title={"en": "T"}),
        replace(r44, captions={"en": {"b0": "C"}}),
        replace(r44, dtypes={"resid_pre": "int64"}),
    ]
    assert len({example.digest for example in (r44, *others)}) == len(others) + 1
    assert all(example != r44 for example in others)
    assert replace(r44, source="elsewhere.toml") == r44


def test_the_digest_is_the_same_in_every_process(r44: Example, checkout: Path) -> None:
    file = checkout / "assets" / "examples" / "r44.toml"
    script = f"""
from pathlib import Path
from addnorm.mathcore import load_example
print(load_example(Path({str(file)!r})).digest)
"""
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == r44.digest


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
PATHS = [
    "id", "norm", "mask", "token", "tokens", "title", "captions", "captions.en", "input", "input.x",
    "attention", "attention.heads", "attention.w_q", "attention.w_o", "attention.output",
    "layer_norm", "layer_norm.eps", "layer_norm.gamma", "layer_norm.beta",
    "display", "display.decimals", "dtypes", "dtypes.eps",
]  # fmt: skip


@given(st.sampled_from([SMALL, WEIGHTS]), st.sampled_from(PATHS), values)
def test_no_value_in_any_field_gets_past_the_rules(document: dict[str, Any], path: str, value: Any) -> None:
    """Either an example that runs, or one line that says what is wrong."""
    message = ""
    try:
        trace = run(example_from(changed(document, path, value)))
        assert np.isfinite(trace["ln.out"].value).all()
    except ExampleError as error:
        message = str(error)
    assert not message or message.isprintable()
