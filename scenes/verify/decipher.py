"""Which row of characters stands on a part of a picture, whatever was expected there."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from addnorm.scenes.verify.passage import REACH, Passage, Plane
from addnorm.scenes.verify.raster import BLANKS, Pose, Sheet, advance

_PHASES = 4  # places in a pixel at which a character may start
_DOUBT = 1.2  # by so much a character's energy counts against what it explains: noise is not to be read as a point


class _Line(NamedTuple):
    """A row of characters, how much of the ink it explains, and where it ends, in parts of a pixel."""

    gain: float
    end: float
    text: str


def decipher(ink: Plane, pose: Pose, alphabet: str, passage: Passage) -> str:
    """The row of characters that explains most of the ink; empty if there is none.

    ``ink`` is the share of each pixel that is covered, as it came by a passage. Characters are as large and
    stand as high as ``pose`` says; where the row starts is found.
    """
    lines = [_Line(0.0, 0.0, "") for _ in range(_PHASES * ink.shape[1] + 1)]
    gains = {character: _gains(character, ink, pose, passage) for character in alphabet}
    widths = {character: advance(character) * pose.em_x * _PHASES for character in alphabet}
    for start in range(len(lines)):
        line = lines[start] if lines[start].gain > 0 else _Line(0.0, float(start), "")
        for character, gain in gains.items():
            end = line.end + widths[character]
            longer = _Line(line.gain + gain[start], end, line.text + character)
            if round(end) < len(lines) and longer.gain > lines[round(end)].gain:
                lines[round(end)] = longer
    return max(lines, key=lambda line: line.gain).text.strip("".join(BLANKS))


def _gains(character: str, ink: Plane, pose: Pose, passage: Passage) -> NDArray[np.float64]:
    """How much of the ink a character explains, as energy, for each place that it may start at."""
    height, width = ink.shape
    room = math.ceil(advance(character) * pose.em_x) + 4 * REACH + 1
    sheet = Sheet(0, -REACH, room, height + 2 * REACH)
    starts = (2 * REACH + phase / _PHASES for phase in range(_PHASES))
    drawn = [sheet.coverage(character, Pose(pose.em_x, pose.em_y, start, pose.y)) for start in starts]
    shapes = passage.spread(np.stack(drawn))  # each starts REACH right of its left edge
    windows = sliding_window_view(np.pad(ink, ((0, 0), (REACH, shapes.shape[2]))), shapes.shape[1:])[0]
    alike = np.einsum("xhw,phw->xp", windows[:width], shapes)
    own = np.einsum("phw,phw->p", shapes, shapes)
    return np.append((2 * alike - _DOUBT * own).ravel(), -np.inf)
