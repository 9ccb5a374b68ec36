"""Words that count: "two heads", "the first token". They depend on the example, so the core says them."""

from __future__ import annotations

from collections.abc import Mapping

from addnorm.mathcore.example import Example

_ZH = ("零", "一", "二", "三", "四", "五", "六", "七", "八", "九", "十")
_EN = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_EN_ORDINALS = (
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth",
)  # fmt: skip


def words(example: Example, language: str) -> Mapping[str, str]:
    """The counting words a text may ask for, in a language.

    ``features`` and ``tokens`` count them; ``others`` are the tokens not followed (left out where there are
    none); ``head_kind`` goes before "attention output"; ``ordinal`` is the followed token's. A language
    unknown here gets digits.
    """
    speak = {"zh": _chinese, "en": _english}.get(language, _digits)
    spoken = speak(example.n_features, example.n_tokens, example.n_heads, example.followed + 1)
    return {key: phrase for key, phrase in spoken.items() if key != "others" or example.n_tokens > 1}


def elided(count: int, language: str) -> str:
    """How many cells of a row are not drawn."""
    return {"zh": f"还有 {count} 个", "en": f"{count} more"}.get(language, str(count))


def _chinese(features: int, tokens: int, heads: int | None, followed: int) -> dict[str, str]:
    def counted(n: int, unit: str, before: str = "") -> str:
        """A number and its measure word: 两 for two, digits above ten, blanks only around digits."""
        if n > 10:
            return f"{before}{n} {unit}"
        return f"{'两' if n == 2 else _ZH[n]}{unit}"

    kinds = {None: "注意力", 1: "单头", 2: "双头"}
    return {
        "features": counted(features, "个特征"),
        "tokens": counted(tokens, "个 token"),
        "others": "另一个 token" if tokens == 2 else f"另外{counted(tokens - 1, '个 token', before=' ')}",
        "head_kind": kinds[heads] if heads in kinds else counted(heads or 0, "头"),
        "ordinal": f"第{_ZH[followed]}个" if followed <= 10 else f"第 {followed} 个",
    }


def _english(features: int, tokens: int, heads: int | None, followed: int) -> dict[str, str]:
    def word(n: int, largest: int = 12) -> str:
        return _EN[n] if n <= largest else str(n)

    def counted(n: int, noun: str) -> str:
        return f"{word(n)} {noun}{'' if n == 1 else 's'}"

    kinds = {None: "attention", 1: "single-head"}
    return {
        "features": counted(features, "feature"),
        "tokens": counted(tokens, "token"),
        "others": "the other token" if tokens == 2 else f"the {word(tokens - 1)} other tokens",
        "head_kind": kinds[heads] if heads in kinds else f"{word(heads or 0, largest=10)}-head",
        "ordinal": _EN_ORDINALS[followed] if followed <= 12 else _ordinal(followed),
    }


def _ordinal(n: int) -> str:
    teens = 10 < n % 100 < 20
    return f"{n}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"


def _digits(features: int, tokens: int, heads: int | None, followed: int) -> dict[str, str]:
    return {
        "features": str(features),
        "tokens": str(tokens),
        "others": str(tokens - 1),
        "head_kind": "attention" if heads is None else str(heads),
        "ordinal": str(followed),
    }
