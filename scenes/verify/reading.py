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
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from addnorm.scenes.typeset import CAP_HEIGHT, SCRIPT_SCALE
from addnorm.scenes.verify.raster import BLANKS, Pose, Sheet, advance, pose

Plane = NDArray[np.float32]
"""The brightness of a picture or a part of it, height × width, in levels from 16 (black) to 235 (white)."""

Picture = NDArray[np.uint8]
"""The same as a video gives it."""

FARTHEST = 0.45
"""How far on the way to a wrong text a picture may be: there the wrong one is half as far off again, as energy."""

MOST_LEFT_OVER = 0.4
"""How much may be left over, as a share of its own energy, where a number has ink. If it is missing, all of it is."""

REACH = 2  # pixels: how far a picture may have spread on its way, by resampling or by half a pixel's shift
_RIDGE = 1e-3
_EDGE = 8.0  # levels between neighbours: only where something is drawn, there is something to tell
_LEAST_TOLD, _MOST_TOLD = 1000, 50_000  # pixels
_UNLIKE = 0.25
_FAINT = 0.01  # of the most energy that a pixel of a number has
_PHASES = 4  # places in a pixel at which a character may start
_DOUBT = 1.2  # a character must explain more than this is of its ink, halved; so noise is not read as a point

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
class Passage:
    """What became of a picture on its way: every pixel a weighted sum of those around it, and a constant.

    This holds for scaling, blur, sharpening, a shift of up to a pixel and a change of contrast. It is fitted,
    so nobody has to say what was done to a video.
    """

    weights: NDArray[np.float32]
    level: float

    @classmethod
    def untouched(cls) -> Passage:
        """Nothing was done."""
        weights = np.zeros((2 * REACH + 1, 2 * REACH + 1), dtype=np.float32)
        weights[REACH, REACH] = 1
        return cls(weights, 0.0)

    @classmethod
    def between(cls, expected: Plane, observed: Picture) -> Passage | None:
        """The passage that best explains a whole picture; None where none does, for it is another picture."""
        size = 2 * REACH + 1
        inside = expected[REACH:-REACH, REACH:-REACH]
        edges = np.abs(inside[1:, 1:] - inside[:-1, :-1]) > _EDGE
        rows, columns = np.nonzero(edges)
        chosen = slice(None, None, 1 + len(rows) // _MOST_TOLD)  # a part of a large picture tells as much
        rows, columns = rows[chosen], columns[chosen]
        if len(rows) < _LEAST_TOLD:
            return None
        windows = sliding_window_view(expected, (size, size))
        x = windows[rows, columns].reshape(-1, size * size).astype(np.float64)
        y = observed[REACH:, REACH:][rows, columns].astype(np.float64)
        means, level = x.mean(axis=0), y.mean()
        x -= means
        y -= level
        gram = x.T @ x
        start = cls.untouched().weights.ravel().astype(np.float64)
        ridge = _RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram))  # what is not told stays untouched
        weights = start + np.linalg.solve(gram + ridge, x.T @ (y - x @ start))
        if ((y - x @ weights) ** 2).sum() > _UNLIKE * (y**2).sum():
            return None
        return cls(weights.reshape(size, size).astype(np.float32), float(level - means @ weights))

    def arrived(self, picture: Plane) -> Plane:
        """A whole picture as it comes out."""
        return self.spread(np.pad(picture, REACH, mode="edge")) + np.float32(self.level)

    def spread(self, planes: Plane) -> Plane:
        """Pictures, or differences of pictures, as they come out; REACH narrower on each side."""
        height, width = (side - 2 * REACH for side in planes.shape[-2:])
        out = np.zeros((*planes.shape[:-2], height, width), dtype=np.float32)
        for (dy, dx), weight in np.ndenumerate(self.weights):
            out += weight * planes[..., dy : dy + height, dx : dx + width]
        return out


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


class _Line(NamedTuple):
    """A row of characters, how much of the ink it explains, and where it ends, in parts of a pixel."""

    gain: float
    end: float
    text: str


class Reader:
    """Compares one label's place on pictures with the label and with the wrong texts nearest to it."""

    def __init__(self, spot: Spot, blank: Plane, passage: Passage) -> None:
        """``blank`` is the whole picture without numbers, as it was staged; pictures to judge come by ``passage``."""
        self.spot = spot
        self._passage = passage
        em = spot.pose
        aside = REACH + 2 + math.ceil(advance("0") * em.em_x)
        above = REACH + 2 + math.ceil(0.1 * em.em_y)
        # Raised digits stand 0.93 em over the baseline; nothing in a number goes below it by more than 0.02.
        top, bottom = math.floor(em.y - 0.93 * em.em_y) - above, math.ceil(em.y) + above
        left, right = math.floor(em.x) - aside, math.ceil(em.x + advance(spot.text) * em.em_x) + aside
        height, width = blank.shape
        top, left = max(top, 0), max(left, 0)
        bottom, right = min(bottom, height), min(right, width)
        self.inside = (slice(top + REACH, bottom - REACH), slice(left + REACH, right - REACH))
        self._part = (slice(top, bottom), slice(left, right))
        self._sheet = Sheet(left, top, right - left, bottom - top)
        self._contrast = np.float32(spot.ink) - blank[self._part]
        self._blank = blank[self._part]
        right_text = self._draw(spot.text, 0.0)
        self._arrived = passage.spread(self._blank + right_text) + np.float32(passage.level)
        ink = (passage.spread(right_text) ** 2).ravel()
        self._ink, self._energy = ink > _FAINT * ink.max(), float(ink.sum())
        self._texts = [text for text, _ in alternatives(spot.text)]
        wrong_texts = np.stack([self._draw(text, shift) for text, shift in alternatives(spot.text)])
        self._ways = passage.spread(wrong_texts - right_text).reshape(len(self._texts), -1)
        self._lengths = np.einsum("np,np->n", self._ways, self._ways)

    def _draw(self, text: str, shift: float) -> Plane:
        """What a text changes of the blank picture."""
        return self._sheet.coverage(text, self.spot.pose.moved(shift)) * self._contrast

    def is_on(self, picture: Picture, still: Plane) -> bool:
        """Whether a staged picture already looks here as the hold does."""
        return bool(np.abs(picture[self._part] - still[self._part]).max() <= 1)

    def judge(self, observed: Picture) -> Judgement:
        """Judge the label on a whole picture."""
        rest = (observed[self.inside] - self._arrived).ravel()
        toward = self._ways @ rest / self._lengths
        worst = int(np.argmax(toward))
        left_over = float((rest[self._ink] ** 2).sum()) / self._energy
        return Judgement(self._texts[worst], float(toward[worst]), left_over)

    def read(self, observed: Picture) -> str:
        """The text that is there: the row of characters that explains most of the ink; empty if there is none."""
        seen = observed[self.inside] - self._passage.spread(self._blank) - np.float32(self._passage.level)
        contrast = float(self._contrast.mean())
        lines = [_Line(0.0, 0.0, "") for _ in range(_PHASES * seen.shape[1] + 1)]
        pitch = self.spot.pose.em_x * _PHASES
        gains = {character: self._gains(character, seen, contrast) for character in _alphabet(self.spot.text)}
        for n in range(len(lines)):
            line = lines[n] if lines[n].gain > 0 else _Line(0.0, float(n), "")
            for character, gain in gains.items():
                end = line.end + advance(character) * pitch
                further = _Line(line.gain + gain[n], end, line.text + character)
                if round(end) < len(lines) and further.gain > lines[round(end)].gain:
                    lines[round(end)] = further
        return max(lines, key=lambda line: line.gain).text.strip("".join(BLANKS))

    def _gains(self, character: str, seen: Plane, contrast: float) -> NDArray[np.float64]:
        """How much of the ink a character explains, by where it starts: an entry for each part of a pixel."""
        pose = self.spot.pose
        top, left, room = self._part[0].start, 2 * REACH, math.ceil(advance(character) * pose.em_x) + 4 * REACH + 1
        sheet = Sheet(0, top, room, self._part[0].stop - top)
        drawn = [
            sheet.coverage(character, Pose(pose.em_x, pose.em_y, left + phase / _PHASES, pose.y)) * contrast
            for phase in range(_PHASES)
        ]
        shapes = self._passage.spread(np.stack(drawn).astype(np.float32))
        beside = REACH  # a shape's own start lies so far right of its left edge
        windows = sliding_window_view(np.pad(seen, ((0, 0), (beside, shapes.shape[2]))), shapes.shape[1:])[0]
        alike = np.einsum("xhw,phw->xp", windows[: seen.shape[1]], shapes)
        own = np.einsum("phw,phw->p", shapes, shapes)
        return np.append((2 * alike - _DOUBT * own).ravel(), -np.inf)
