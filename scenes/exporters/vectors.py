"""The vector pictures that a render leaves beside its stills, and PDFs made of them."""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import Any

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.paths import asset
from addnorm.scenes.theme import Theme

_PAGE = b"""#set page(width: 960pt, height: 540pt, margin: 0pt)
#set document(date: none)
#image(bytes(sys.inputs.svg), format: "svg", width: 100%)
"""


def read_svg(still: Path) -> str:
    """The SVG of the picture of which ``still`` is the PNG. Raises AddnormError if there is none."""
    path = still.with_suffix(".svg")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise AddnormError(f"{path}: cannot be read: {error}; render the film again") from error


def picture(still: Path, theme: Theme, other: Theme) -> str:
    """The picture as SVG in another theme's colours; where the render left no SVG, its PNG as it is."""
    if still.with_suffix(".svg").is_file():
        return repainted(read_svg(still), theme, other)
    png = b64encode(still.read_bytes()).decode()
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1920 1080">'
        f'<image width="1920" height="1080" href="data:image/png;base64,{png}"/></svg>'
    )


def repainted(svg: str, theme: Theme, other: Theme) -> str:
    """A picture drawn in one theme as it is drawn in another: colour by colour, for nothing else differs.

    A picture with a colour that is not the theme's stays as it is, so that no two palettes meet in it.
    """
    colors = theme.counterparts(other)
    if not {*_COLOR.findall(svg)} <= colors.keys():
        return svg
    return _COLOR.sub(lambda found: colors[found[0]], svg)


_COLOR = re.compile(r"(?<=\")#[0-9A-F]{6}(?=\")")


def as_pdf(svg: str) -> bytes:
    """A picture as a PDF of one page, drawn with lines and areas as the SVG is."""
    return compiled(_PAGE, svg=svg)


def compiled(source: bytes, **inputs: str) -> bytes:
    """A document by Typst as PDF, with the bundled fonts and no others. ``inputs`` are data, never markup.

    Raises AddnormError for what cannot be set, such as a picture that is damaged.
    """
    import typst

    try:
        pdf: bytes = _compiler().compile(source, format="pdf", sys_inputs=inputs)
    except typst.TypstError as error:
        raise AddnormError(f"no PDF can be made of these pictures: {error}; render the film again") from error
    return pdf


@cache
def _compiler() -> Any:
    import typst

    return typst.Compiler(font_paths=typst.Fonts(include_system_fonts=False, font_paths=[str(asset("fonts"))]))
