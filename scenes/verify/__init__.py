"""A finished video against its manifest and the core: does every frame show what the math has?

A video carries the example it was made from. From that alone its numbers are computed and its states staged
again, which tells how each frame ought to look; nothing else is trusted. Where the manifest is beside it, that
is held against the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.example import Example
from addnorm.scenes.verify.crosscheck import manifest_findings, manifest_of
from addnorm.scenes.verify.origin import Origin
from addnorm.scenes.verify.rehearsal import Stagings
from addnorm.scenes.verify.report import Finding, Report, Unread
from addnorm.scenes.verify.viewing import misleading, require_comparable
from addnorm.scenes.verify.watching import Stretch, state_at_end, watch
from addnorm.scenes.video import frame_count, read_metadata, screening

__all__ = ["Finding", "Report", "Stagings", "Unread", "main", "verify"]

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
        click.echo(json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1).encode(errors="backslashreplace"))
    return 0 if passed else 1


def videos_at(path: Path) -> tuple[Path, ...]:
    """A video, or the film and the clips in a folder. Raises AddnormError if there is none."""
    if path.suffix == ".webm" and path.is_file():
        raise AddnormError(f"{path}: WebM is not verified, as it has no ground of its own; give the mp4 beside it")
    found = (path,) if path.is_file() else (*sorted(path.glob("*.mp4")), *sorted(path.glob("clips/*.mp4")))
    videos = tuple(video for video in found if video.is_file())  # a pipe would be waited for
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
    except OSError as error:
        findings.append(Finding(f"{error.filename}: cannot be read: {error.strerror}"))
    return replace(report, findings=tuple(findings))


def _checked(path: Path, example: Example | None, stagings: Stagings, findings: list[Finding]) -> Iterator[Report]:
    """Check after check: the report as far as it has come. What is wrong goes to ``findings``."""
    frames, screened = frame_count(path), screening(path)
    report = Report(path, (screened.width, screened.height), frames)
    yield report
    require_comparable(screened)
    findings += map(Finding, misleading(screened))

    origin = Origin.read(read_metadata(path).get("comment", ""), example)
    every, states = (tuple(state.name for state in origin.board.states), origin.states)
    report = replace(report, states=states, made_by=origin.says["addnorm"])
    yield report
    if path.stem in every and states != (path.stem,):
        findings.append(Finding(f"this is {path.name}, and it says that it shows {', '.join(states)}"))

    rehearsal = stagings.of(origin, screened)
    shown = [rehearsal.staging(state) for state in states]
    scale = screened.width / rehearsal.size.width, screened.height / rehearsal.size.height
    unread = [(staging, spot) for staging in shown for spot in staging.spots if spot not in staging.readable]
    report = replace(
        report,
        manifest=manifest_of(path, origin.says["values_sha256"]),
        numbers=sum(len(staging.spots) for staging in shown),
        unread=tuple(Unread(staging.state, spot.ref, spot.digit_height * scale[1]) for staging, spot in unread),
    )
    yield report
    if report.manifest:
        findings += manifest_findings(report.manifest, origin, shown, frames)

    due = sum(staging.frames for staging in shown)
    if frames != due:
        end = state_at_end(path, rehearsal.size.width, rehearsal.size.height, rehearsal.gallery)
        last = f"; its last picture is that of {end}" if end else ""
        raise AddnormError(f"{frames} frames; what it shows takes {due}{last}")
    watched = watch(path, shown, rehearsal.gallery)
    findings += (_finding(stretch, scale, screened.frame_rate) for stretch in watched.stretches)
    yield replace(report, compared=watched.frames, readings=watched.readings)
    if report.numbers and not watched.readings:
        findings.append(Finding("none of its numbers could be read"))


def _finding(stretch: Stretch, scale: tuple[float, float], frame_rate: Fraction) -> Finding:
    """What was wrong for a while, in words. Boxes are in pixels of the video, ``scale`` times as wide and high."""
    wrong, first, last = stretch
    left, top, width, height = box = tuple(round(side * scale[n % 2]) for n, side in enumerate(wrong.box))
    if wrong.ref and wrong.found == wrong.expected:
        reason = f"{wrong.ref} reads {wrong.expected} as it should, but not clearly: something else is there"
    elif wrong.ref:
        reason = f"{wrong.ref} should read {wrong.expected}; there is {wrong.found or 'nothing to be read'}"
    elif wrong.found:
        reason = f"not the picture that should be there, but the finished one of {wrong.found}"
    else:
        where = f"between {left}, {top} and {left + width}, {top + height}"
        reason = f"not the {wrong.aspect} that should be there, {where}"
    return Finding(
        reason,
        wrong.state,
        first,
        last,
        wrong.ref or None,
        wrong.expected or None,
        wrong.found or None,
        box,
        (float(first / frame_rate), float((last + 1) / frame_rate)),
    )
