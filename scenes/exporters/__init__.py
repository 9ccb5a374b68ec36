"""The formats films are exported to. Each is a module; one line registers it.

A format's module has ``export(examples, target, **flags)``: it reads clips, stills and numbers through
`outputs`, never renders, and writes ``target``, a new file or folder that is nobody's yet. Only when all of it
is there is it moved to its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the command line lists the formats before it loads anything
    from addnorm.scenes.exporters.outputs import Rendered


@dataclass(frozen=True)
class Flag:
    """A choice that only one format has: ``per_state_gif`` is ``--per-state-gif`` on the command line."""

    name: str
    help: str


@dataclass(frozen=True)
class Format:
    """A format: its name, what it makes (a file of this name; a folder, if that has no suffix), and a line of help."""

    name: str
    makes: str
    help: str
    flags: tuple[Flag, ...] = ()

    @property
    def makes_folder(self) -> bool:
        """Whether it makes many files."""
        return not Path(self.makes).suffix


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        form.name: form
        for form in (
            Format("page", "page.html", "A page that explains itself: clips, figures, formulas, transcript."),
            Format("reveal", "reveal.html", "Slides for a browser, with reveal.js inside and speaker notes."),
            Format(
                "pptx",
                "pptx",
                "Slides for PowerPoint, Keynote and Impress: a slide for each state, clips that start by themselves.",
                (Flag("per_state_gif", "GIFs in place of clips, for programs that cannot play mp4."),),
            ),
            Format("beamer", "beamer", "Slides for LaTeX, with clips and with stills that stay crisp."),
            Format("handout", "handout", "A PDF to print, with a sheet to recompute the figures and its answers."),
            Format(
                "gif",
                "gif",
                "A GIF of each clip. It stops on its last picture.",
                (Flag("loop", "Play it again and again."),),
            ),
            Format("frames", "frames", "Every frame of each clip as PNG."),
        )
    }
)


def export(
    form: Format, examples: Sequence[Rendered], target: Path | None = None, flags: Mapping[str, bool] | None = None
) -> Path:
    """Put examples into a format, whole or not at all, and say where it is.

    Without a ``target`` it goes beside what was rendered: of one example into its folder, of several one above.
    """
    from addnorm.mathcore.errors import AddnormError
    from addnorm.scenes.publish import making, publish

    first = examples[0].outputs[0].folder.parent
    out = first.absolute().parent
    target = target or (first if len(examples) == 1 else out) / form.makes
    if form.makes_folder and target.is_file():
        raise AddnormError(f"{target}: a file; {form.name} makes a folder, give the name of one for -o")
    module = import_module(f"addnorm.scenes.exporters.{form.name}")
    with _beside(target, out) as folder:
        made = folder / target.name
        with making(target):
            module.export(examples, made, **flags or {})
        for output in (output for example in examples for output in example.outputs):
            output.require_unchanged()
        if form.makes_folder:
            files = sorted(path for path in made.rglob("*") if path.is_file())
            publish({str(path.relative_to(made)): path for path in files}, target)
        else:
            publish({target.name: made}, target.parent)
    return target


@contextmanager
def _beside(target: Path, out: Path) -> Iterator[Path]:
    """A working folder on the target's file system: below ``out`` if that is where the target goes."""
    from addnorm.scenes.publish import working_folder

    if target.absolute().is_relative_to(out.absolute()):
        with working_folder(out) as folder:
            yield folder
        return
    try:
        with working_folder(target.absolute().parent) as folder:
            yield folder
    finally:
        with suppress(OSError):  # where nothing is rendered, nothing is left behind
            (target.absolute().parent / ".addnorm" / "work").rmdir()
            (target.absolute().parent / ".addnorm").rmdir()
