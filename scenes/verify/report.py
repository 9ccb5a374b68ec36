"""What a verification says: findings, what could not be looked at, and how much was looked at."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from addnorm.mathcore.errors import cut, printable
from addnorm.scenes.manifest import Json

MOST_LINES = 20
"""So many findings are printed; the JSON has them all."""

LONGEST_LINE = 400
"""Characters. So much of a finding is printed."""


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be.

    ``state``, ``ref`` and the video's frames from ``first`` to ``last``, counted from zero, say where, as far as
    it is in one place; ``expected`` and ``found`` are what should be there and what is, ``box`` is left, top,
    width and height in pixels, and ``seconds`` is from when to when in the video.
    """

    reason: str
    state: str | None = None
    first: int | None = None
    last: int | None = None
    ref: str | None = None
    expected: str | None = None
    found: str | None = None
    box: tuple[int, ...] | None = None
    seconds: tuple[float, float] | None = None

    def __str__(self) -> str:
        where = ", ".join(filter(None, (self.state, self._when)))
        return printable(cut(f"{where}: {self.reason}" if where else self.reason, LONGEST_LINE))

    @property
    def _when(self) -> str:
        if self.first is None:
            return ""
        frames = f"frame {self.first}" if self.first == self.last else f"frames {self.first} to {self.last}"
        if self.seconds is None:
            return frames
        start, end = self.seconds
        return f"{start:.2f} s ({frames})" if self.first == self.last else f"{start:.2f} to {end:.2f} s ({frames})"


@dataclass(frozen=True)
class Unread:
    """A number that is too small to be told from its neighbours: it is named, and not taken for right."""

    state: str
    ref: str
    digit_height: float


@dataclass(frozen=True)
class Report:
    """What was found in one video.

    ``frames`` is how many it has, and ``compared`` how many of them were held against what was staged;
    ``numbers`` is how many numbers stand in its holds, and ``readings`` how often one was read from the pixels
    of a frame. ``manifest`` is the file that was checked with it, ``made_by`` the version that made it.
    """

    path: Path
    size: tuple[int, int] = (0, 0)
    frames: int = 0
    states: tuple[str, ...] = ()
    made_by: str = ""
    manifest: Path | None = None
    numbers: int = 0
    unread: tuple[Unread, ...] = ()
    compared: int = 0
    readings: int = 0
    findings: tuple[Finding, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong, and something was looked at."""
        return not self.findings and self.compared > 0

    def lines(self) -> tuple[str, ...]:
        """The report for people."""
        found = [f"  {finding}" for finding in self.findings[:MOST_LINES]]
        if more := len(self.findings) - len(found):
            found.append(f"  and {more} more, which --json lists")
        if self.findings and self.made_by not in ("", version("addnorm")):
            made_by = printable(cut(self.made_by, 20))
            found.append(f"  made by addnorm {made_by}; this is {version('addnorm')}, which may draw otherwise")
        unread = [
            f"  not read: {number.state} {number.ref}, whose digits are {number.digit_height:.1f} pixels high"
            for number in self.unread
        ]
        verdict = f"{printable(str(self.path))}: {'right' if self.passed else 'WRONG'}"
        return (verdict, *found, *unread, *([f"  {self._summary}"] if self.frames else []))

    @property
    def _summary(self) -> str:
        width, height = self.size
        beside = "no manifest beside it" if self.manifest is None else f"with {printable(self.manifest.name)}"
        looked_at = f"{width} × {height}, {self.frames} frames, {beside}"
        if not self.compared:
            return f"{looked_at}: not compared"
        shown = ", ".join(self.states)
        read = f"{self.numbers - len(self.unread)} of {self.numbers} numbers in {shown} read {self.readings} times"
        return f"{looked_at}: every frame compared; {read if self.numbers else f'there are no numbers in {shown}'}"

    def as_json(self) -> Json:
        """The report for machines."""
        return {
            **asdict(self),
            "path": str(self.path),
            "size": list(self.size),
            "states": list(self.states),
            "manifest": None if self.manifest is None else str(self.manifest),
            "unread": [asdict(number) for number in self.unread],
            "findings": [asdict(finding) for finding in self.findings],
            "passed": self.passed,
        }
