"""For notebooks and scripts: render and export from Python, with results that show themselves in Jupyter.

    from addnorm.scenes.notebook import export, render

    film = render("r44", lang="en", size="720p30")     # plays below the cell
    render("mine.toml", states=["b2"], stills=True)    # one picture
    export("page", film)                               # a link to the page

Both do what ``addnorm render`` and ``addnorm export`` do, write the same files, and raise AddnormError with the
line that these would print.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path
from urllib.parse import quote

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes import exporters
from addnorm.scenes.crew import available_processors
from addnorm.scenes.exporters.outputs import read_outputs
from addnorm.scenes.films import DEFAULT_FILM, FILMS
from addnorm.scenes.render import DEFAULT_SIZE, DEFAULT_THEME, Failed, Order, Published
from addnorm.scenes.render import render as steps_of
from addnorm.scenes.subject import Subject, trace_of
from addnorm.scenes.video import parse_size


@dataclass(frozen=True)
class Files:
    """What was made: ``paths``, all of them below ``folder``. In Jupyter pictures show and videos play."""

    folder: Path
    paths: tuple[Path, ...]

    def _repr_html_(self) -> str:
        return "\n".join(_shown(path) for path in self.paths)


def render(
    example: Subject = "r44",
    *,
    out: str | PathLike[str] = "out",
    lang: str = "zh",
    states: Sequence[str] = (),
    stills: bool = False,
    transparent: bool = False,
    theme: str = DEFAULT_THEME,
    size: str = DEFAULT_SIZE,
    captions: bool = True,
    pace: float = 1.0,
    jobs: int | None = None,
) -> Files:
    """Render an example in one language, and return the film, or the clips of some states, or pictures alone.

    With ``transparent`` each clip comes on a transparent ground too, as WebM beside it. The other arguments are
    those of ``addnorm render``. Raises ExampleError for what is wrong with the example, and AddnormError for anything
    else, a frame that shows what the math does not have included.
    """
    order = Order(
        FILMS[DEFAULT_FILM],
        trace_of(example),
        language=lang,
        theme=theme,
        size=parse_size(size),
        pace=pace,
        captions=captions,
        states=tuple(states),
        moving=not stills,
        transparent=transparent,
    )
    for step in steps_of([order], Path(out), jobs or available_processors()):
        if isinstance(step, Failed):
            raise step.error
        if isinstance(step, Published):
            paths = step.paths
    return Files(Path(out) / order.folder, paths)


def export(
    form: str, *rendered: Files | str | PathLike[str], out: str | PathLike[str] | None = None, **flags: bool
) -> Files:
    """Put what was rendered into a format, as ``addnorm export`` does, and return the file or folder.

    ``rendered`` are results of `render`, or folders such as ``out/r44``, one after the other; ``flags`` are the
    format's own, such as ``per_state_gif=True``.
    """
    if form not in exporters.FORMATS:
        raise AddnormError(f"format: {form!r}; give one of {', '.join(exporters.FORMATS)}")
    known = {flag.name for flag in exporters.FORMATS[form].flags}
    if unknown := sorted(flags.keys() - known):
        raise AddnormError(f"{form}: has no {unknown[0]}; it takes {', '.join(sorted(known)) or 'nothing more'}")
    folders = [made.folder if isinstance(made, Files) else Path(made) for made in rendered]
    made = exporters.export(exporters.FORMATS[form], read_outputs(folders), None if out is None else Path(out), flags)
    return Files(made.parent, (made,))


def _shown(path: Path) -> str:
    """A file as HTML: pictures and videos hold all of it, so they show wherever the notebook is opened."""
    name = escape(str(path))
    match path.suffix:
        case ".mp4":
            return f'<video controls title="{name}" style="max-width: 100%" src="{_inside(path, "video/mp4")}"></video>'
        case ".png" | ".gif":
            return f'<img alt="{name}" style="max-width: 100%" src="{_inside(path, f"image/{path.suffix[1:]}")}">'
    return f'<a href="{quote(path.as_posix())}" target="_blank">{name}</a>'


def _inside(path: Path, kind: str) -> str:
    return f"data:{kind};base64,{b64encode(path.read_bytes()).decode()}"
