"""Numbers as text: the one place where a value is rounded, and whether shown arithmetic closes.

Digits are float64 values correctly rounded (ties to even, as Python's ``format`` does). The minus is U+2212, and
powers of ten are written out: ``1.2×10⁻⁷``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from addnorm.mathcore.errors import LabelError
from addnorm.mathcore.example import Example
from addnorm.mathcore.reference import Reference
from addnorm.mathcore.trace import Activation, Trace

MINUS = "\u2212"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_POWER = re.compile(r"(-?)(?:([0-9.]+)×)?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")


@dataclass(frozen=True)
class NumberStyle:
    """How a number is written; made by one of the four constructors.

    ``small`` marks a number whose whole row would read as zeros: it is written in scientific notation.
    """

    kind: Literal["cell", "statistic", "parameter", "detail"]
    decimals: int = 0
    small: bool = False

    @classmethod
    def cell(cls, decimals: int) -> NumberStyle:
        """An entry of a row: fixed places, but whole numbers without them."""
        return cls("cell", decimals)

    @classmethod
    def statistic(cls, decimals: int) -> NumberStyle:
        """A mean or a variance: fixed places, but at least two significant digits."""
        return cls("statistic", decimals)

    @classmethod
    def parameter(cls) -> NumberStyle:
        """A number somebody chose: its shortest exact form."""
        return cls("parameter")

    @classmethod
    def detail(cls, decimals: int) -> NumberStyle:
        """A computed number to recompute by hand: fixed places, whole or not."""
        return cls("detail", decimals)

    @property
    def room(self) -> int:
        """How many characters a number in fixed places may take, its sign apart."""
        return 5 + max(self.decimals, 3) if self.kind == "cell" else 9 + self.decimals

    @property
    def significant(self) -> int:
        """How many digits a number in scientific notation shows."""
        return self.decimals + 1 if self.kind == "detail" else 3


@dataclass(frozen=True)
class Label:
    """A number as it is shown, and the style it was asked in. ``decimals`` counts places; None in scientific notation."""

    ref: str
    text: str
    value: float
    decimals: int | None
    style: NumberStyle = field(repr=False)

    @property
    def ascii(self) -> str:
        """The shown number as data: ASCII minus, ``1.2e-7``."""
        return to_ascii(self.text)


def cell_style(example: Example) -> NumberStyle:
    """The style of row entries on stage."""
    return NumberStyle.cell(example.display.decimals)


def statistic_style(example: Example) -> NumberStyle:
    """The style of means and variances."""
    return NumberStyle.statistic(example.display.statistics_decimals)


def detail_style(example: Example) -> NumberStyle:
    """The style of rows in the details and the handout."""
    return NumberStyle.detail(example.display.statistics_decimals)


def stage_style(example: Example, reference: Reference | str) -> NumberStyle:
    """The style a number has on stage: statistic, cell, or parameter for ε and for γ, β shown as one number."""
    ref = _reference(reference)
    if ref.name == "eps" or ref.index == ("*",):
        return NumberStyle.parameter()
    if ref.name in ("ln.mean", "ln.var", "ln.std", "ln.rstd", "ln.normalized_std"):
        return statistic_style(example)
    return cell_style(example)


def value(trace: Trace, reference: Reference | str) -> float:
    """The one number that is named; with ``*``, the number all its entries equal. LabelError if there is none."""
    ref = _reference(reference)
    entries = _entries(trace, ref)
    first = float(entries.flat[0])
    if not np.all(entries == first):
        low, high = format_number(entries.min(), NumberStyle.parameter()), format_number(entries.max(), NumberStyle.parameter())
        raise LabelError(f"{ref}: its entries differ, from {low} to {high}; show them one by one")
    return first


def label(trace: Trace, reference: Reference | str, style: NumberStyle) -> Label:
    """The label of a number. In details, the example's own numbers are written as given."""
    ref = _reference(reference)
    number = value(trace, ref)
    activation = trace[ref.name]
    fitted = style
    if style.kind == "detail" and not activation.inputs:
        fitted = NumberStyle.parameter()
    if fitted.kind in ("cell", "detail"):
        fitted = replace(fitted, small=_reads_as_zeros(_row(activation, ref), fitted))
    text = format_number(number, fitted, noise=trace.noise.of(ref), stored=activation.dtype)
    return Label(str(ref), text, number, decimals_of(text), style)


def stage_label(trace: Trace, reference: Reference | str) -> Label:
    """The label of a number in the style it has on stage."""
    return label(trace, reference, stage_style(trace.example, reference))


def detail_label(trace: Trace, reference: Reference | str) -> Label:
    """The label of a number in the details."""
    return label(trace, reference, detail_style(trace.example))


def format_number(value: float, style: NumberStyle, *, noise: float = 0.0, stored: str = "float64") -> str:
    """The number as it appears on screen.

    ``noise`` bounds its rounding error: a value that is whole up to it, and whose decimals would all be zero, is
    whole. ``stored`` is the type in which a parameter's digits are shortest.
    """
    value = float(value)
    if style.kind == "parameter":
        return _signed(_shortest(abs(value), stored), value)
    fixed = f"{abs(value):.{style.decimals}f}"
    integer, _, fraction = fixed.partition(".")
    whole = not fraction.strip("0") and abs(value - round(value)) <= noise
    if whole and style.kind == "cell" or whole and integer == "0" and style.kind == "statistic":
        fixed = integer
    sparse = style.kind == "statistic" and _significant(fixed) < 2 and not whole
    if len(fixed) > style.room or (sparse or style.small) and not whole:
        return _signed(_scientific(abs(value), style.significant), value)
    return _signed(fixed, value)


def to_ascii(text: str) -> str:
    """A number as shown, turned into data that ``float`` and ``Decimal`` read: "−1.2×10⁻⁷" gives "-1.2e-7"."""
    text = text.replace(MINUS, "-")
    power = _POWER.fullmatch(text)
    return f"{power[1]}{power[2] or 1}e{power[3].translate(_DIGITS)}" if power else text


def decimals_of(text: str) -> int | None:
    """How many places a number as shown has; None in scientific notation."""
    return None if "10" in text and text[-1] in "⁰¹²³⁴⁵⁶⁷⁸⁹" else len(text.partition(".")[2])


def closes(terms: Sequence[Label], total: Label, divisor: int = 1) -> bool:
    """Whether the displayed digits satisfy Σ terms / divisor = total, exactly."""
    from fractions import Fraction

    return sum(Fraction(term.ascii) for term in terms) == divisor * Fraction(total.ascii)


def relation(terms: Sequence[Label], total: Label, divisor: int = 1) -> Literal["=", "≈"]:
    """The sign to draw between Σ terms / divisor and total."""
    return "=" if closes(terms, total, divisor) else "≈"


def _reference(reference: Reference | str) -> Reference:
    return Reference.parse(reference) if isinstance(reference, str) else reference


def _entries(trace: Trace, ref: Reference) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    ref.check(trace.example.shape_of(ref.name))
    index = tuple(slice(None) if i == "*" else i for i in ref.index)
    return np.asarray(trace[ref.name].value[index])


def _row(activation: Activation, ref: Reference) -> float:
    """The largest magnitude in the row that a number stands in."""
    index = tuple(slice(None) if i == "*" else i for i in ref.index[:-1])
    return float(np.abs(activation.value[index]).max())


def _reads_as_zeros(largest: float, style: NumberStyle) -> bool:
    shown = f"{largest:.{style.decimals}f}"
    return largest > 0 and _significant(shown) < (2 if style.kind == "detail" else 1)


def _significant(fixed: str) -> int:
    return len(fixed.replace(".", "").lstrip("0"))


def _signed(magnitude: str, value: float) -> str:
    """The magnitude with its sign; what reads as zero has none."""
    return MINUS + magnitude if value < 0 and magnitude.strip("0.") else magnitude


def _parts(magnitude: float, stored: str) -> tuple[str, int]:
    """The fewest digits that tell the value from its neighbours in its type, and the exponent of the first."""
    scalar = np.dtype(stored).type(magnitude) if stored in ("float16", "float32") else np.float64(magnitude)
    mantissa, exponent = np.format_float_scientific(scalar, unique=True, trim="-").split("e")
    return mantissa.replace(".", ""), int(exponent)


def _power(mantissa: str, exponent: int) -> str:
    power = f"10{str(exponent).translate(_SUPERSCRIPTS)}"
    return power if mantissa == "1" else f"{mantissa}×{power}"


def _shortest(magnitude: float, stored: str) -> str:
    """All digits, plain or scientific: plain up to six characters, beyond that whichever is shorter."""
    digits, exponent = _parts(magnitude, stored)
    mantissa = f"{digits[0]}.{digits[1:]}".rstrip(".")
    if exponent < 0:
        plain = f"0.{'0' * (-exponent - 1)}{digits}"
    else:
        plain = f"{digits[: exponent + 1]:0<{exponent + 1}}.{digits[exponent + 1 :]}".rstrip(".")
    scientific = _power(mantissa, exponent)
    return plain if len(plain) <= max(6, len(scientific)) else scientific


def _scientific(magnitude: float, significant: int) -> str:
    """Rounded to so many digits; a value that has no more than these keeps its own."""
    digits, exponent = _parts(magnitude, "float64")
    if len(digits) <= significant:
        return _power(f"{digits[0]}.{digits[1:]}".rstrip("."), exponent)
    mantissa, _, power = f"{magnitude:.{significant - 1}e}".partition("e")
    return _power(mantissa, int(power)) if mantissa != "1" else f"1×10{power}"
