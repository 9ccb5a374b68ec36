"""Numbers as text: the one place where values are rounded, and whether shown arithmetic closes.

Digits are those of the float64 value, correctly rounded (ties to even, as Python's ``format`` does), and only
those that are certain: where rounding errors may reach half of a digit's place, it is not shown. On
screen the minus is U+2212 and a power of ten is written out, ``1.2×10⁻⁷``; as data they are ASCII,
``1.2e-7``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from addnorm.mathcore.errors import ExampleError, LabelError
from addnorm.mathcore.example import Example
from addnorm.mathcore.reference import AXES, Reference
from addnorm.mathcore.trace import Trace

MINUS = "\N{MINUS SIGN}"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
TINY = 1e-9
"""How large a rounding error, in parts of the number or of 1, can make no more of a whole number than that."""

NOTHING = 1e-150
"""The same of a variance and its root. They are zero for a constant row alone, and rounding hides small ones."""

FEWEST_DIGITS = 2
"""How many digits have to be certain of a number that cannot have the places asked for."""

_SPREADS = ("ln.var", "ln.std", "ln.normalized_std")
_POWER_OF_TEN = re.compile(r"(-?)(?:([0-9.]+)×)?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")


@dataclass(frozen=True)
class NumberStyle:
    """How a number is written; made by one of the five constructors.

    ``small`` says that in fixed places the whole row would read as zeros, so it is written in powers of ten.
    """

    kind: Literal["cell", "statistic", "parameter", "detail", "rounded"]
    decimals: int = 0
    small: bool = False

    @classmethod
    def cell(cls, decimals: int) -> NumberStyle:
        """For a row on stage: fixed places; a whole number has none."""
        return cls("cell", decimals)

    @classmethod
    def statistic(cls, decimals: int) -> NumberStyle:
        """For a mean or a variance on stage: fixed places, but never fewer than two significant digits."""
        return cls("statistic", decimals)

    @classmethod
    def detail(cls, decimals: int) -> NumberStyle:
        """For the details and the handout: computed numbers in fixed places, whole or not."""
        return cls("detail", decimals)

    @classmethod
    def rounded(cls, decimals: int) -> NumberStyle:
        """As ``detail``, for what the example gives too, where its own digits are too many to print."""
        return cls("rounded", decimals)

    @classmethod
    def parameter(cls) -> NumberStyle:
        """For a number that somebody chose: its shortest exact form."""
        return cls("parameter")

    @property
    def room(self) -> int:
        """How many characters fixed places may take, the sign apart: 1234.567 fits a cell of three places."""
        return 5 + max(self.decimals, 3) if self.kind == "cell" else 9 + self.decimals

    @property
    def significant(self) -> int:
        """How many digits a power of ten is given."""
        return self.decimals + 1 if self.kind in ("detail", "rounded") else 3


@dataclass(frozen=True)
class Label:
    """A number of the trace as it is shown, with the style that was asked for.

    ``decimals`` counts the places shown; it is None where the number is written in powers of ten.
    """

    ref: str
    text: str
    value: float
    decimals: int | None
    style: NumberStyle = field(repr=False)

    @property
    def ascii(self) -> str:
        """The text as data: ``-0.385``, ``1.2e-7``."""
        return to_ascii(self.text)


def cell_style(example: Example) -> NumberStyle:
    """The style of rows on stage."""
    return NumberStyle.cell(example.display.decimals)


def statistic_style(example: Example) -> NumberStyle:
    """The style of statistics on stage."""
    return NumberStyle.statistic(example.display.statistics_decimals)


def detail_style(example: Example) -> NumberStyle:
    """The style of everything in the details and the handout."""
    return NumberStyle.detail(example.display.statistics_decimals)


def stage_style(example: Example, reference: Reference | str) -> NumberStyle:
    """The style a number has on stage. ε is a parameter, and so are γ and β where each is one number."""
    ref = _parsed(reference)
    if ref.name == "eps" or ref.index == ("*",):
        return NumberStyle.parameter()
    return (
        statistic_style(example)
        if len(ref.index) == 1 and ref.name.startswith("ln.")
        else cell_style(example)
    )


def value(trace: Trace, reference: Reference | str) -> float:
    """The number a reference names; with ``*``, the one that all its entries equal.

    Raises LabelError if there is no such number.
    """
    ref = _parsed(reference)
    ref.check(trace.example.shape_of(ref.name))
    entries = trace[ref.name].value[tuple(slice(None) if i == "*" else i for i in ref.index)]
    low, high = float(entries.min()), float(entries.max())
    if low != high:
        shortest = NumberStyle.parameter()
        span = f"from {format_number(low, shortest)} to {format_number(high, shortest)}"
        raise LabelError(f"{ref}: its entries differ, {span}; show them one by one")
    return low


def label(trace: Trace, reference: Reference | str, style: NumberStyle) -> Label:
    """The label of the number that a reference names.

    Raises ExampleError where rounding leaves too little of it to show.
    """
    ref = _parsed(reference)
    number = value(trace, ref)
    place = tuple(0 if i == "*" else i for i in ref.index)
    noise = trace.noise.of(ref.name, place)
    text = format_number(
        number,
        shown_style(trace, ref, style),
        noise=noise,
        tiny=NOTHING if ref.name in _SPREADS else TINY,
        stored=trace[ref.name].dtype,
    )
    if not text:
        raise _uncertain(trace, ref, place, noise, style)
    decimals = None if text[-1] in "⁰¹²³⁴⁵⁶⁷⁸⁹" else len(text.partition(".")[2])
    return Label(str(ref), text, number, decimals, style)


def stage_label(trace: Trace, reference: Reference | str) -> Label:
    """The label of a number in the style it has on stage."""
    return label(trace, reference, stage_style(trace.example, reference))


def detail_label(trace: Trace, reference: Reference | str) -> Label:
    """The label of a number in the style it has in the details."""
    return label(trace, reference, detail_style(trace.example))


def shown_style(trace: Trace, reference: Reference | str, style: NumberStyle) -> NumberStyle:
    """The style a number is shown in when ``style`` is asked for.

    In the details, what the example gives is shown as given. A row of which nothing would be seen in fixed
    places (in the details and where it is rounded: fewer than two digits) is shown in powers of ten.
    """
    ref = _parsed(reference)
    activation = trace[ref.name]
    if style.kind == "detail" and not activation.inputs:
        return NumberStyle.parameter()
    if style.kind in ("cell", "detail", "rounded"):
        in_row = activation.axes[-1:] in (("feature",), ("key",))
        index = ref.index[:-1] if in_row else ref.index
        largest = float(np.abs(activation.value[tuple(slice(None) if i == "*" else i for i in index)]).max())
        seen = _significant(f"{largest:.{style.decimals}f}")
        return replace(style, small=largest > 0 and seen < (1 if style.kind == "cell" else 2))
    return style


def format_number(
    value: float, style: NumberStyle, *, noise: float = 0.0, tiny: float = TINY, stored: str = "float64"
) -> str:
    """A number as it is shown.

    ``noise`` bounds the value's rounding error. Where that is tiny, in parts of the value or of 1, a value that
    is whole up to it, and would show no decimals but zeros, is whole. Digits that it puts in doubt are left
    out; if fewer than two would remain, the text is empty. ``stored`` is the type in which a parameter's
    digits are the shortest.
    """
    magnitude = abs(float(value))
    if style.kind == "parameter":
        return _signed(value, _shortest(magnitude, stored))
    last = _last_certain_place(noise)
    places = min(style.decimals, -last)
    text = f"{magnitude:.{max(places, 0)}f}"
    integer, _, decimals = text.partition(".")
    off = abs(magnitude - int(integer))
    whole = last <= 0 and noise < tiny * max(1, magnitude) and off <= noise and not decimals.strip("0")
    if whole and (style.kind == "cell" or (style.kind == "statistic" and integer == "0")):
        text = integer
    unseen = style.small or (style.kind == "statistic" and _significant(text) < 2)
    if len(text) > style.room or (unseen and not whole) or places < 0:
        certain = min(style.significant, _exponent(magnitude) - last + 1) if magnitude else 0
        if certain >= min(FEWEST_DIGITS, style.significant):
            return _signed(value, _in_digits(magnitude, certain))
    if places < 0 or (places < style.decimals and _significant(text) < FEWEST_DIGITS):
        return ""
    return _signed(value, text)


def _last_certain_place(noise: float) -> int:
    """The exponent of the last decimal place of which ``noise`` is at most half."""
    if noise == 0:
        return -400
    return math.ceil(math.log10(2 * noise)) if noise < math.inf else 400


def to_ascii(text: str) -> str:
    """A number as it is shown, as data that ``float`` and ``Decimal`` read."""
    text = text.replace(MINUS, "-")
    power = _POWER_OF_TEN.fullmatch(text)
    return f"{power[1]}{power[2] or 1}e{power[3].translate(_LOWERED)}" if power else text


def closes(terms: Sequence[Label], total: Label, divisor: int = 1) -> bool:
    """Whether the digits shown satisfy Σ terms / divisor = total, exactly."""
    from fractions import Fraction

    return sum(Fraction(term.ascii) for term in terms) == divisor * Fraction(total.ascii)


def relation(terms: Sequence[Label], total: Label, divisor: int = 1) -> Literal["=", "≈"]:
    """The sign to draw between Σ terms / divisor and total."""
    return "=" if closes(terms, total, divisor) else "≈"


def _parsed(reference: Reference | str) -> Reference:
    return Reference.parse(reference) if isinstance(reference, str) else reference


def _significant(text: str) -> int:
    """How many significant digits a number in fixed places shows."""
    return len(text.replace(".", "").lstrip("0"))


def _uncertain(
    trace: Trace, ref: Reference, place: tuple[int, ...], noise: float, style: NumberStyle
) -> ExampleError:
    """The error of a number of which rounding leaves too little."""
    where = ", ".join(f"{axis} {i + 1}" for axis, i in zip(AXES[ref.name], place, strict=True))
    found = (
        f"{trace[ref.name].value[place]:.3g} at {where}, where float64 may be {noise:.1g} off: "
        f"fewer than {FEWEST_DIGITS} digits are certain"
    )
    remedies = ["give numbers that differ less in size"]
    if ref.name.startswith("ln."):
        remedies.append("a larger ε")
    if (places := -_last_certain_place(noise)) > 0:
        key = "decimals" if style.kind == "cell" else "statistics_decimals"
        remedies.append(f"{places} for display.{key}")
    return ExampleError(ref.name, found, ", or ".join(remedies), trace.example.source)


def _signed(value: float, magnitude: str) -> str:
    """The magnitude with the value's sign. What reads as zero has none."""
    return f"{MINUS}{magnitude}" if value < 0 and magnitude.strip("0.") else magnitude


def _exponent(magnitude: float) -> int:
    """The power of ten that a number's first digit counts."""
    return _digits(magnitude, "float64")[1]


def _digits(magnitude: float, stored: str) -> tuple[str, int]:
    """The fewest digits that tell a number from all others of its type, and the exponent of the first."""
    number = np.dtype(stored).type(magnitude) if stored.startswith("float") else np.float64(magnitude)
    mantissa, _, exponent = np.format_float_scientific(number, unique=True, trim="-").partition("e")
    return mantissa.replace(".", ""), int(exponent)


def _shortest(magnitude: float, stored: str) -> str:
    """All digits of a number; as a power of ten where places take over six characters and it takes fewer."""
    digits, exponent = _digits(magnitude, stored)
    if exponent < 0:
        places = f"0.{'0' * (-exponent - 1)}{digits}"
    else:
        places = f"{digits[: exponent + 1]:0<{exponent + 1}}.{digits[exponent + 1 :]}".rstrip(".")
    power = _power(f"{digits[0]}.{digits[1:]}".rstrip("."), exponent)
    return places if len(places) <= max(6, len(power)) else power


def _in_digits(magnitude: float, significant: int) -> str:
    """So many digits of a number, fewer where that is all it has; as a power of ten unless it is about 1."""
    digits, exponent = _digits(magnitude, "float64")
    if -2 <= exponent <= 0:
        return f"{magnitude:.{min(significant, len(digits)) - 1 - exponent}f}"
    if len(digits) <= significant:
        return _power(f"{digits[0]}.{digits[1:]}".rstrip("."), exponent)
    mantissa, _, power = f"{magnitude:.{significant - 1}e}".partition("e")
    return f"{mantissa}×10{str(int(power)).translate(_RAISED)}"


def _power(mantissa: str, exponent: int) -> str:
    power = f"10{str(exponent).translate(_RAISED)}"
    return power if mantissa == "1" else f"{mantissa}×{power}"
