"""References and captions, read and written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addnorm.mathcore import LabelError, Reference, caption_parts
from addnorm.mathcore.reference import AXES, Index

indices: st.SearchStrategy[Index] = st.one_of(st.just("*"), st.integers(0, 10**9 - 1))
references = st.builds(Reference, st.sampled_from(sorted(AXES)), st.lists(indices, max_size=4).map(tuple))


@given(references)
def test_what_is_written_is_read_back(reference: Reference) -> None:
    assert Reference.parse(str(reference)) == reference


@given(st.text(max_size=20) | st.from_regex(r"[a-z._]*\[[0-9,*]*\]", fullmatch=True))
def test_whatever_is_read_is_written_the_same(text: str) -> None:
    try:
        reference = Reference.parse(text)
    except LabelError:
        return
    assert str(reference) == text


@pytest.mark.parametrize(
    ("text", "name", "index"),
    [
        ("resid_mid[0,2]", "resid_mid", (0, 2)),
        ("eps", "eps", ()),
        ("gamma[*]", "gamma", ("*",)),
        ("attn.pattern[1,0,*]", "attn.pattern", (1, 0, "*")),
    ],
)
def test_parse(text: str, name: str, index: tuple[Index, ...]) -> None:
    assert Reference.parse(text) == Reference(name, index)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "r[",
        "r[]",
        "r[0,]",
        "r[-1]",
        "r[01]",
        "r[0, 1]",
        "r[0]x",
        " r",
        "R[0]",
        "r..s",
        "r[1e3]",
        "r[٣]",
        "r\n",
    ],
)
def test_no_reference(text: str) -> None:
    with pytest.raises(LabelError, match="is no reference"):
        Reference.parse(text)


def test_each_in_reading_order() -> None:
    assert [str(ref) for ref in Reference.parse("resid_mid[*,*]").each((2, 2))] == [
        "resid_mid[0,0]",
        "resid_mid[0,1]",
        "resid_mid[1,0]",
        "resid_mid[1,1]",
    ]
    assert [str(ref) for ref in Reference.parse("resid_mid[1,*]").each((2, 2))] == [
        "resid_mid[1,0]",
        "resid_mid[1,1]",
    ]
    assert [str(ref) for ref in Reference.parse("eps").each(())] == ["eps"]


def test_each_refuses_what_is_not_there() -> None:
    with pytest.raises(LabelError, match="no token 2"):
        Reference.parse("resid_mid[2,*]").each((2, 2))
    with pytest.raises(LabelError, match='unknown name; did you mean "resid_mid"'):
        Reference.parse("resid_mud[0,0]").each((2, 2))


def test_caption_parts() -> None:
    mean = Reference("ln.mean", (0,))
    assert caption_parts("μ is {ln.mean[0]}.") == ("μ is ", mean, ".")
    assert caption_parts("{ln.mean[0]}{eps}") == (mean, Reference("eps"))
    assert caption_parts("no value") == ("no value",)
    assert caption_parts("") == ()


@pytest.mark.parametrize("text", ["{", "}", "a { b", "{ln.mean[0]", "{{eps}}", "{}", "{eps }", "{Eps}"])
def test_captions_with_stray_braces(text: str) -> None:
    with pytest.raises(LabelError):
        caption_parts(text)


@given(st.lists(references.map(lambda ref: f"{{{ref}}}") | st.text("abc μ,.", min_size=1)))
def test_nothing_of_a_caption_is_lost(pieces: list[str]) -> None:
    parts = caption_parts("".join(pieces))
    written = "".join(f"{{{part}}}" if isinstance(part, Reference) else part for part in parts)
    assert written == "".join(pieces)
