"""A finished video against its manifest and the core: does every frame show what the math has?

A video carries the example it was made from. From that alone its numbers are computed and its states staged
again, which tells how each frame ought to look; nothing else is trusted. Where the manifest is beside it, that
is held against the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.example import Example
from addnorm.scenes.theme import FRAME_HEIGHT, FRAME_WIDTH
from addnorm.scenes.verify.crosscheck import manifest_findings, manifest_of
from addnorm.scenes.verify.origin import Origin
from addnorm.scenes.verify.report import Finding, Report, Unread
from addnorm.scenes.verify.watching import BEATS_A_SECOND, Staging, Stretch, state_at_end, watch
from addnorm.scenes.video import frame_count, picture_size, read_metadata

__all__ = ["Finding", "Report", "Stagings", "Unread", "main", "verify"]

SHARP_DIGIT = 8.0
"""Pixels. A video is looked at in half its size, or less, if its lowest digits are still as high as this."""

LEAST_HEIGHT = 540
"""Pixels. And if its pictures are."""


def main(paths: Sequence[Path], *, as_json: bool, example: Example | None = None) -> int:
    """Verify videos, or folders of them, and print what was found. 0 if all is right, 1 if not.

    Raises AddnormError, before anything is printed, for a path where there is nothing to verify.
    """
    import click

    videos = [video for path in paths for video in videos_at(path)]
    reports, stagings = [], Stagings()
    for video in videos:
        reports.append(verify(video, example, stagings))
        if not as_json:
            click.echo("\n".join(reports[-1].lines()).encode())  # as bytes: it is UTF-8 whatever the locale
    passed = all(report.passed for report in reports)
    if as_json:
        content = {"passed": passed, "videos": [report.as_json() for report in reports]}
        click.echo(json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1).encode())
    return 0 if passed else 1


def videos_at(path: Path) -> tuple[Path, ...]:
    """A video, or the film and the clips in a folder. Raises AddnormError if there is none."""
    videos = (path,) if path.is_file() else (*sorted(path.glob("*.mp4")), *sorted(path.glob("clips/*.mp4")))
    if not videos:
        raise AddnormError(f"{path}: no video there; give an mp4 that addnorm rendered, or the folder it is in")
    return videos


def verify(path: Path, example: Example | None = None, stagings: Stagings | None = None) -> Report:
    """Check one video against the example it carries, and with its manifest where that is beside it.

    ``example`` is the one that it has to be made from. It is only needed for a video whose example was too
    large to be carried along and is not a bundled one. With ``stagings``, a film that is staged for one video
    is not staged again for the next.
    """
    findings: list[Finding] = []
    report = Report(path)
    try:
        for so_far in _checked(path, example, stagings or Stagings(), findings):
            report = so_far
    except AddnormError as error:
        findings.append(Finding(str(error).removeprefix(f"{path}: ")))
    return replace(report, findings=tuple(findings))


def _checked(path: Path, example: Example | None, stagings: Stagings, findings: list[Finding]) -> Iterator[Report]:
    """Check after check: the report as far as it has come. What is wrong goes to ``findings``."""
    frames, (width, height, rate) = frame_count(path), picture_size(path)
    report = Report(path, (width, height), frames)
    yield report
    if abs(width * FRAME_HEIGHT - height * FRAME_WIDTH) > 2 * FRAME_HEIGHT:
        findings.append(Finding(f"{width} × {height} pixels are not 16 : 9"))

    origin = Origin.read(read_metadata(path).get("comment", ""), example)
    every, states = (tuple(state.name for state in origin.board.states), origin.states)
    report = replace(report, states=states, made_by=origin.says["addnorm"])
    yield report
    if path.stem in every and states != (path.stem,):
        findings.append(Finding(f"this is {path.name}, and it says that it shows {', '.join(states)}"))

    staged = stagings.of(origin, height)
    shown = [staged[state] for state in states]
    unread = [(staging, spot) for staging in shown for spot in staging.spots if spot not in staging.readable]
    scale = height / shown[0].still.shape[0]
    report = replace(
        report,
        manifest=manifest_of(path, origin.says["values_sha256"]),
        numbers=sum(len(staging.spots) for staging in shown),
        unread=tuple(Unread(staging.state, spot.ref, spot.digit_height * scale) for staging, spot in unread),
    )
    yield report
    if report.manifest:
        findings += manifest_findings(report.manifest, origin, shown, frames)

    beats = sum(staging.beats for staging in shown)
    if rate % BEATS_A_SECOND or frames != beats * rate / BEATS_A_SECOND:
        due = (
            f"{frames} frames at {float(rate):g} a second; what it shows takes {float(beats * rate / BEATS_A_SECOND):g}"
        )
        end = state_at_end(path, frames, tuple(staged.values()))
        raise AddnormError(f"{due}; its last picture is that of {end}" if end else due)
    watched = watch(path, shown, tuple(staged.values()), int(rate) // BEATS_A_SECOND)
    findings += (_finding(stretch, scale) for stretch in watched.stretches)
    yield replace(report, compared=watched.frames, readings=watched.readings)
    if report.numbers and not watched.readings:
        findings.append(Finding("none of its numbers could be read"))


def _finding(stretch: Stretch, scale: float) -> Finding:
    """What was wrong for a while, in words; boxes are in pixels of the video, which is ``scale`` times as large."""
    wrong = stretch.wrong
    left, top, width, height = box = tuple(round(side * scale) for side in wrong.box)
    if wrong.ref and wrong.found == wrong.expected:
        reason = f"{wrong.ref} reads {wrong.expected} as it should, but not clearly: something else is there"
    elif wrong.ref:
        reason = f"{wrong.ref} should read {wrong.expected}; there is {wrong.found or 'nothing to be read'}"
    elif wrong.found:
        reason = f"not the picture that was staged, but the finished one of {wrong.found}"
    else:
        reason = f"not the picture that was staged, between {left}, {top} and {left + width}, {top + height}"
    return Finding(
        reason,
        wrong.state,
        stretch.first,
        stretch.last,
        wrong.ref or None,
        wrong.expected or None,
        wrong.found or None,
        box,
    )


class Stagings:
    """The states of the last film that was staged: one folder's videos show them again and again."""

    def __init__(self) -> None:
        self._key: object = None
        self._staged: dict[str, Staging] = {}

    def of(self, origin: Origin, height: int) -> dict[str, Staging]:
        """All states of a film, in pictures of that height, or of a part of it that is still sharp enough."""
        for part in (4, 3, 2):
            if height % (2 * part) == 0 and height // part >= LEAST_HEIGHT:
                staged = self._at(origin, height // part)
                if all(spot.digit_height >= SHARP_DIGIT for staging in staged.values() for spot in staging.spots):
                    return staged
        return self._at(origin, height)

    def _at(self, origin: Origin, height: int) -> dict[str, Staging]:
        key = (origin.production, height)
        if key != self._key:
            from addnorm.scenes.stage import Production
            from addnorm.scenes.verify.restage import restage

            says = origin.says
            settings = (says[key] for key in ("language", "theme", "pace", "captions"))
            production = Production(origin.trace, *settings)
            scene = origin.film.stage(origin.trace)
            names = (state.name for state in origin.board.states)
            width = 2 * round(height * FRAME_WIDTH / FRAME_HEIGHT / 2)  # even, as a video's
            self._staged = {name: restage(scene, production, name, width, height) for name in names}
            self._key = key
        return self._staged
