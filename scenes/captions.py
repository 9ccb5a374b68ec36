"""The captions of a film: how long one takes to read, and the SubRip and WebVTT files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import timedelta
from fractions import Fraction
from html import escape
from typing import NamedTuple
from unicodedata import category, east_asian_width

import srt

# Subtitles of films allow at most 9 Chinese characters a second (Netflix, Timed Text Style Guide) and 160 to
# 180 English words a minute (BBC, Subtitle Guidelines). Here a viewer also follows a formula and numbers, so:
# half of that in Chinese; in Latin script 150 words a minute, of 5.8 characters each with the blank; and a
# second to find the caption and to look up again.
_SECONDS_A_WIDE_CHARACTER = Fraction(2, 9)
_SECONDS_A_CHARACTER = Fraction(2, 29)
_SECONDS_TO_FIND = 1
_LEAST_SECONDS = 2

SLOWEST, FASTEST = 0.25, 4.0
"""The paces that a film may have; 1 is the normal one, at 4 everything goes four times as fast."""


class Cue(NamedTuple):
    """One caption, from ``start`` up to ``end``: seconds since the film's first frame, exact.

    Made from frames, ``Fraction(frame, frame_rate)``, so that it comes and goes with a frame of the film.
    """

    start: Fraction
    end: Fraction
    text: str


def reading_seconds(text: str, pace: float = 1.0) -> float:
    """How long a caption is held to be read in comfort: a multiple of 0.2 s, and at least 2 s.

    Each character counts by its script, so a Chinese sentence with English terms in it is timed right and no
    language has to be named. At ``pace`` 2 everything goes twice as fast.
    """
    wide = sum(east_asian_width(character) in "WF" for character in text)
    seconds = _SECONDS_TO_FIND + wide * _SECONDS_A_WIDE_CHARACTER + (len(text) - wide) * _SECONDS_A_CHARACTER
    return max(math.ceil(seconds / Fraction(pace) * 5), _LEAST_SECONDS * 5) / 5


def as_srt(cues: Sequence[Cue]) -> bytes:
    """The cues as a SubRip file: UTF-8, ``\\n`` at line ends.

    It has no way to write what players take for tags, such as ``<b>``; an arrow is split by a word joiner, which is not
    seen, for some take any line with one for the times of a cue.
    """
    subtitles = (srt.Subtitle(0, start, end, text.replace("-->", "--\u2060>")) for start, end, text in _legal(cues))
    return str(srt.compose(subtitles)).encode()


def as_vtt(cues: Sequence[Cue]) -> bytes:
    """The cues as a WebVTT file: UTF-8, ``\\n`` at line ends, escaped so that no text acts as markup."""
    blocks = (
        f"\n{_vtt_time(start)} --> {_vtt_time(end)}\n{escape(text, quote=False)}\n"
        for start, end, text in _legal(cues)
    )
    return f"WEBVTT\n{''.join(blocks)}".encode()


def _legal(cues: Sequence[Cue]) -> Iterator[tuple[timedelta, timedelta, str]]:
    """The cues in milliseconds, without the blank lines that would end a cue early, and without those of no words.

    Rounding keeps the order, so cues that do not overlap in the film do not in the file. Control characters, which
    players choke on, stand as their code points.
    """
    shown_until = Fraction(0)
    for cue in cues:
        if not shown_until <= cue.start < cue.end:
            raise ValueError(f"cues must follow one another and last: {cue} after {shown_until} s")
        shown_until = cue.end
        text = "\n".join(_visible(line) for line in cue.text.splitlines() if line.strip())
        if text:
            yield _milliseconds(cue.start), _milliseconds(cue.end), text


def _visible(line: str) -> str:
    return "".join(f"U+{ord(c):04X}" if category(c) == "Cc" and c != "\t" else c for c in line)


def _milliseconds(seconds: Fraction) -> timedelta:
    return timedelta(milliseconds=round(seconds * 1000))


def _vtt_time(time: timedelta) -> str:
    return str(srt.timedelta_to_srt_timestamp(time)).replace(",", ".")
