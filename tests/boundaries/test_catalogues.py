"""The words in ``assets/text``: no number in them, since every number has to come from the core.

Digits are out everywhere. Number words are out where they count, or point at one of, what an example has more
or fewer of: tokens (positions), heads, features. The 一 of 归一化 or 同一行 and the "one" of "one more path"
count nothing.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

PLACEHOLDER = re.compile(r"\{[^{}]*\}")

ENGLISH = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand"
    "|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|both|pair of|single|double|dual|triple"
)
COUNTED_ENGLISH = re.compile(
    rf"\b(?:{ENGLISH})[ -](?:\w+[ -]){{0,2}}?(?:token|head|feature|position|dimension)"
    rf"|\bother (?:{ENGLISH})\b",
    re.IGNORECASE,
)
COUNTED_CHINESE = re.compile(
    # 一 after one of these is "the same", "each", "this", or part of "normalize": it counts nothing
    r"(?:(?<![同每任某这那哪换统唯归])一|[二三四五六七八九十百千两双单])"
    r"[个位组条]?\s*[^，。；：、{}]{0,4}?(?:token|头|特征|位置|维)|(?:另外|其余|其他)[一二三四五六七八九十两]",
)
TERMS_IN_CHINESE = {"token", "LayerNorm", "dropout", "post-norm", "pre-norm", "Transformer", "softmax"}


def entries(node: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a catalogue with its dotted key."""
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from entries(value, f"{place}{key}.")
        else:
            yield f"{place}{key}", value


def faults(language: str, text: str) -> list[str]:
    """What in a text of a catalogue is a number."""
    found = [character for character in text if unicodedata.category(character).startswith("N")]
    prose = PLACEHOLDER.sub("{}", text)
    found += COUNTED_ENGLISH.findall(prose) if language != "zh" else COUNTED_CHINESE.findall(prose)
    return found


@pytest.fixture(scope="module")
def catalogues(checkout: Path) -> dict[str, dict[str, str]]:
    files = (checkout / "assets" / "text").glob("*.toml")
    return {file.stem: dict(entries(tomllib.loads(file.read_text(encoding="utf-8")))) for file in files}


def test_no_catalogue_holds_a_number(catalogues: dict[str, dict[str, str]]) -> None:
    assert {"en", "zh"} <= catalogues.keys()
    for language, texts in catalogues.items():
        assert texts
        assert {key: found for key, text in texts.items() if (found := faults(language, text))} == {}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The mean is 1.099"),
        ("en", "the sum of x₁ and O₁"),
        ("en", "σ²"),
        ("en", "the mean {ln.mean[0]}"),
        ("en", "The four features of this row"),
        ("en", "Following the first token"),
        ("en", "the two-head output"),
        ("en", "Single-head attention"),
        ("en", "both attention heads"),
        ("en", "the other two take no part"),
        ("en", "three of its positions"),
        ("zh", "均值是 1.099"),
        ("zh", "第４个"),
        ("zh", "双头输出 {O_i}"),
        ("zh", "单头注意力"),
        ("zh", "这一行的四个特征"),
        ("zh", "追踪第一个 token"),
        ("zh", "另外两个 token 不参与"),
        ("zh", "两个注意力头"),
        ("zh", "十二头"),
        ("zh", "只有一个特征"),
    ],
)
def test_each_kind_of_number_is_found(language: str, text: str) -> None:
    assert faults(language, text)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "one more path for information; nothing is read a second time"),
        ("en", "Both rows belong to the same position; none is averaged into one"),
        ("en", "following the {ordinal} token of {tokens}, {head_kind} output"),
        ("zh", "归一化之后的这一行；统一写回同一个位置，一起、一次完成"),
        ("zh", "两行属于同一个位置；每一个 token 各自归一化；多头"),
        ("zh", "换一个位置做归一化，是另一个问题；{features}，追踪{ordinal} token"),
    ],
)
def test_words_that_count_nothing_are_free(language: str, text: str) -> None:
    assert not faults(language, text)


def test_every_language_has_every_text(catalogues: dict[str, dict[str, str]]) -> None:
    keys = {language: frozenset(texts) for language, texts in catalogues.items()}
    assert len(set(keys.values())) == 1, keys


def test_no_language_strays_into_the_other(catalogues: dict[str, dict[str, str]]) -> None:
    assert not re.search(r"[\u3000-\u9fff\uff00-\uffef]", " ".join(catalogues["en"].values()))
    chinese = " ".join(text for key, text in catalogues["zh"].items() if not key.startswith("language."))
    assert {*re.findall(r"[A-Za-z][A-Za-z-]*", PLACEHOLDER.sub("", chinese))} <= TERMS_IN_CHINESE
