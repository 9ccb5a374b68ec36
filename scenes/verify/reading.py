"""Reading numbers off a picture: do its pixels show this text, and not one that is nearly the same?

What a pixel is off by says little: a blurred right digit is off by more than a sharp wrong one. So for each
wrong text the observed picture is placed on the way from the right picture (0) to the wrong one (1); noise
hardly moves it along that way, a wrong digit moves it all the way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from addnorm.scenes.typeset import CAP_HEIGHT, SCRIPT_SCALE
from addnorm.scenes.verify.decipher import decipher
from addnorm.scenes.verify.passage import REACH, Passage, Picture, Plane
from addnorm.scenes.verify.raster import BLANKS, Pose, Sheet, advance, pose

FARTHEST = 0.45
"""How far on the way to a wrong text a picture may be: there the wrong one is half as far off again, as energy."""

MOST_LEFT_OVER = 0.4
"""How much may be left over, as a share of its own energy, where a number has ink. If it is missing, all of it is."""

_DIGITS_ASIDE_TO_READ = 2.5  # a wrong number may be wider than the right one
_FAINT = 0.01  # of the most energy that a pixel of a number has

DIGITS = "0123456789"
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SIGNS = ("=", "≈")


def wrong_texts(text: str) -> tuple[str, ...]:
    """The texts nearest to a number's: a digit changed, taken away or added, the sign flipped, the point moved.

    >>> wrong_texts("=")
    ('≈',)
    """
    if text in _SIGNS:
        return tuple(sign for sign in _SIGNS if sign != text)
    return tuple(dict.fromkeys(wrong for wrong in _edits(text) if wrong != text))


def _edits(text: str) -> Iterator[str]:
    blank_of = {drawn: blank for blank, drawn in BLANKS.items()}
    for n, character in enumerate(text):
        before, after = text[:n], text[n + 1 :]
        for alphabet in (DIGITS, _RAISED):
            if character in alphabet:
                yield from (f"{before}{digit}{after}" for digit in alphabet)
                yield f"{before}{after}"
        if character in DIGITS or character in blank_of:
            yield f"{before}{blank_of.get(character, blank_of['0'])}{after}"
        if character == ".":
            bare = before + after
            yield from (f"{bare[:m]}.{bare[m:]}" for m in range(1, len(bare)) if bare[m - 1] in DIGITS)
    for digit in DIGITS:
        yield from (f"{digit}{text}", f"{text}{digit}")
    minus = "\N{MINUS SIGN}"
    yield text.removeprefix(minus) if text.startswith(minus) else f"{minus}{text}"


@lru_cache(maxsize=256)
def alternatives(text: str) -> tuple[tuple[str, float], ...]:
    """The wrong texts nearest to a text, and how far right of it, in em, each starts.

    A text of another width may share its left end, its middle or its right end.
    """
    placed = []
    for wrong in wrong_texts(text):
        wider = advance(wrong) - advance(text)
        placed += [(wrong, shift) for shift in dict.fromkeys((0.0, -wider / 2, -wider))]
    return tuple(placed)


def _alphabet(text: str) -> str:
    """The characters that may stand where a text is expected."""
    if text in _SIGNS:
        return "".join(_SIGNS)
    raised = f"×⁻{_RAISED}" if any(character in _RAISED for character in text) else ""
    return f"{DIGITS}.\N{MINUS SIGN}{raised}{''.join(BLANKS)}"


@dataclass(frozen=True)
class Spot:
    """A number on a picture: its reference and text, the brightness of its ink, and the box that this fills.

    The box is left, top, width and height in pixels.
    """

    ref: str
    text: str
    box: tuple[float, float, float, float]
    ink: float

    @cached_property
    def pose(self) -> Pose:
        """How it stands."""
        return pose(self.text, *self.box)

    @property
    def is_sign(self) -> bool:
        """Whether it is no number but the sign between numbers and their sum."""
        return self.text in _SIGNS

    @property
    def digit_height(self) -> float:
        """The height of its smallest digits, in pixels."""
        raised = any(character in _RAISED for character in self.text)
        return self.pose.em_y * CAP_HEIGHT * (SCRIPT_SCALE if raised else 1)


@dataclass(frozen=True)
class Judgement:
    """How a label's pixels compare: ``toward`` is the largest share of the way to a wrong text, ``wrong``."""

    wrong: str
    toward: float
    left_over: float

    @property
    def right(self) -> bool:
        """Whether the text is there."""
        return self.toward <= FARTHEST and self.left_over <= MOST_LEFT_OVER


class Reader:
    """Compares one label's place on pictures with the label and with the wrong texts nearest to it."""

    def __init__(self, spot: Spot, blank: Plane, passage: Passage) -> None:
        """``blank`` is the whole picture without numbers, as it was staged; pictures to judge come by ``passage``."""
        self.spot = spot
        self._passage = passage
        self._picture = blank
        self._part = _around(spot.pose, spot.text, blank.shape, 1)
        (top, bottom), (left, right) = ((side.start, side.stop) for side in self._part)
        self.inside = (slice(top + REACH, bottom - REACH), slice(left + REACH, right - REACH))
        self._sheet = Sheet(left, top, right - left, bottom - top)
        self._contrast = np.float32(spot.ink) - blank[self._part]
        right_text = self._draw(spot.text, 0.0)
        self._arrived = passage.spread(blank[self._part] + right_text) + np.float32(passage.level)
        ink = (passage.spread(right_text) ** 2).ravel()
        self._ink, self._energy = ink > _FAINT * ink.max(), float(ink.sum())
        self._texts = [text for text, _ in alternatives(spot.text)]
        wrong_texts = np.stack([self._draw(text, shift) for text, shift in alternatives(spot.text)])
        self._ways = passage.spread(wrong_texts - right_text).reshape(len(self._texts), -1)
        self._lengths = np.maximum(np.einsum("np,np->n", self._ways, self._ways), 1)

    def _draw(self, text: str, shift: float) -> Plane:
        """What a text changes of the blank picture."""
        return self._sheet.coverage(text, self.spot.pose.moved(shift)) * self._contrast

    def is_on(self, picture: Picture, still: Picture) -> bool:
        """Whether a staged picture already looks here as the hold does; both in half the size."""
        part = tuple(slice(side.start // 2, (side.stop + 1) // 2) for side in self._part)
        return bool(np.abs(picture[part] - still[part].astype(np.int16)).max() <= 1)

    def judge(self, observed: Picture) -> Judgement:
        """Judge the label on a whole picture."""
        rest = (observed[self.inside] - self._arrived).ravel()
        toward = self._ways @ rest / self._lengths
        worst = int(np.argmax(toward))
        left_over = float((rest[self._ink] ** 2).sum()) / self._energy
        return Judgement(self._texts[worst], float(toward[worst]), left_over)

    def read(self, observed: Picture) -> str:
        """The text that is there; empty if there is none."""
        where, blank = self.spot.pose, self._picture
        part = _around(where, self.spot.text, blank.shape, _DIGITS_ASIDE_TO_READ)
        (top, bottom), (left, right) = ((side.start, side.stop) for side in part)
        inside = (slice(top + REACH, bottom - REACH), slice(left + REACH, right - REACH))
        ink = observed[inside] - self._passage.spread(blank[part]) - np.float32(self._passage.level)
        contrast = self.spot.ink - float(blank[part].mean())
        placed = Pose(where.em_x, where.em_y, where.x - left - REACH, where.y - top - REACH)
        return decipher(ink / np.float32(contrast), placed, _alphabet(self.spot.text), self._passage)


def _around(where: Pose, text: str, shape: tuple[int, ...], digits: float) -> tuple[slice, slice]:
    """The part of a picture that a text stands in, with room for so many digits more on either side."""
    aside = REACH + 2 + math.ceil(digits * advance("0") * where.em_x)
    above = REACH + 2 + math.ceil(0.1 * where.em_y)
    # Raised digits stand 0.93 em over the baseline; nothing in a number goes below it by more than 0.02.
    top, bottom = math.floor(where.y - 0.93 * where.em_y) - above, math.ceil(where.y) + above
    left, right = math.floor(where.x) - aside, math.ceil(where.x + advance(text) * where.em_x) + aside
    height, width = shape
    return slice(max(top, 0), min(bottom, height)), slice(max(left, 0), min(right, width))
