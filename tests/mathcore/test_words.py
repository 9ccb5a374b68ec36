"""Words that count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from addnorm.mathcore import Example, GivenOutput, Weights, elided, words


def example_of(tokens: int = 3, features: int = 4, heads: int | None = 2, followed: int = 0) -> Example:
    eye, x = np.eye(features), np.zeros((tokens, features))
    attention = Weights(heads, eye, eye, eye, eye) if heads else GivenOutput(x)
    ones, zeros = np.ones(features), np.zeros(features)
    return Example(id="words", x=x, attention=attention, gamma=ones, beta=zeros, followed=followed)


def test_the_course_example(r44: Example) -> None:
    assert words(r44, "en") == {
        "features": "four features",
        "tokens": "three tokens",
        "others": "the two other tokens",
        "head_kind": "two-head",
        "ordinal": "first",
    }
    assert words(r44, "zh") == {
        "features": "四个特征",
        "tokens": "三个 token",
        "others": "另外两个 token",
        "head_kind": "双头",
        "ordinal": "第一个",
    }


@pytest.mark.parametrize(
    ("count", "en", "zh"),
    [
        (1, "one feature", "一个特征"),
        (2, "two features", "两个特征"),
        (10, "ten features", "十个特征"),
        (12, "twelve features", "12 个特征"),
        (13, "13 features", "13 个特征"),
        (384, "384 features", "384 个特征"),
    ],
)
def test_features(count: int, en: str, zh: str) -> None:
    example = example_of(features=count, heads=1)
    assert (words(example, "en")["features"], words(example, "zh")["features"]) == (en, zh)


@pytest.mark.parametrize(
    ("count", "en", "zh", "others_en", "others_zh"),
    [
        (1, "one token", "一个 token", None, None),
        (2, "two tokens", "两个 token", "the other token", "另一个 token"),
        (4, "four tokens", "四个 token", "the three other tokens", "另外三个 token"),
        (13, "13 tokens", "13 个 token", "the twelve other tokens", "另外 12 个 token"),
        (20, "20 tokens", "20 个 token", "the 19 other tokens", "另外 19 个 token"),
    ],
)
def test_tokens(count: int, en: str, zh: str, others_en: str | None, others_zh: str | None) -> None:
    example = example_of(tokens=count)
    assert (words(example, "en")["tokens"], words(example, "zh")["tokens"]) == (en, zh)
    assert (words(example, "en").get("others"), words(example, "zh").get("others")) == (others_en, others_zh)


@pytest.mark.parametrize(
    ("heads", "en", "zh"),
    [
        (None, "attention", "注意力"),
        (1, "single-head", "单头"),
        (2, "two-head", "双头"),
        (3, "three-head", "三头"),
        (12, "12-head", "12 头"),
    ],
)
def test_heads(heads: int | None, en: str, zh: str) -> None:
    example = example_of(features=12, heads=heads)
    assert (words(example, "en")["head_kind"], words(example, "zh")["head_kind"]) == (en, zh)


@pytest.mark.parametrize(
    ("number", "en", "zh"),
    [
        (1, "first", "第一个"),
        (2, "second", "第二个"),
        (10, "tenth", "第十个"),
        (12, "twelfth", "第 12 个"),
        (13, "13th", "第 13 个"),
        (21, "21st", "第 21 个"),
        (22, "22nd", "第 22 个"),
        (103, "103rd", "第 103 个"),
        (111, "111th", "第 111 个"),
    ],
)
def test_ordinals(number: int, en: str, zh: str) -> None:
    example = example_of(tokens=120, followed=number - 1)
    assert (words(example, "en")["ordinal"], words(example, "zh")["ordinal"]) == (en, zh)


def test_another_language_gets_digits(r44: Example) -> None:
    assert words(r44, "de") == {
        "features": "4",
        "tokens": "3",
        "others": "2",
        "head_kind": "2",
        "ordinal": "1",
    }
    assert words(replace(r44, attention=GivenOutput(r44.x)), "de")["head_kind"] == "attention"


def test_elided() -> None:
    assert (elided(377, "zh"), elided(377, "en"), elided(377, "de")) == ("还有 377 个", "377 more", "377")
