"""Whether a viewer sees a video's pictures as they are in the file, and whether they can be compared at all."""

from __future__ import annotations

from collections.abc import Iterator

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.theme import FRAME_HEIGHT, FRAME_WIDTH
from addnorm.scenes.video import Screening

SMALLEST_HEIGHT, LARGEST_HEIGHT = 90, 4320
"""Pixels. Pictures that are smaller show nothing to compare; larger ones nobody makes."""

ROUNDED = 0.03
"""By which share a side may be off: programs round sides to multiples of 16, and 426 × 240 becomes 416 × 240."""

BEATS_A_SECOND, FASTEST_RATE = 5, 60
"""A film's durations are whole beats, so it can be staged at frame rates that a beat has whole frames of."""


def misleading(screening: Screening) -> Iterator[str]:
    """What makes a viewer see something else than the pictures that are compared."""
    if screening.streams > 1:
        yield f"{screening.streams} videos are in the file, and a player may show the other; only the first is compared"
    if not screening.upright:
        yield "players are told to turn or mirror its pictures"
    # Programs that scale to rounded sides make up for it here, by a percent or so.
    stretched = screening.width * screening.pixel_aspect
    if not _is_wide_screen(float(stretched), screening.height):
        yield f"players are told to stretch its pictures to {float(stretched):.0f} × {screening.height}"


def require_comparable(screening: Screening) -> None:
    """Raise AddnormError for pictures or a frame rate at which no film can be staged."""
    width, height, rate = screening.width, screening.height, screening.frame_rate
    if not _is_wide_screen(width, height):
        raise AddnormError(f"{width} × {height} pixels are not 16 : 9")
    if not SMALLEST_HEIGHT <= height <= LARGEST_HEIGHT:
        few = "few" if height < SMALLEST_HEIGHT else "many"
        raise AddnormError(f"{width} × {height} pixels are too {few} to be compared")
    if rate % BEATS_A_SECOND or not 0 < rate <= FASTEST_RATE:
        raise AddnormError(
            f"{float(rate):g} frames a second; what can be compared has a multiple of {BEATS_A_SECOND}, "
            f"up to {FASTEST_RATE}"
        )


def _is_wide_screen(width: float, height: float) -> bool:
    """Whether a picture is 16 : 9, but for sides that were rounded."""
    return abs(width * FRAME_HEIGHT - height * FRAME_WIDTH) <= ROUNDED * height * FRAME_WIDTH
