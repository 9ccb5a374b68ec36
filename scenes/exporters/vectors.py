"""The vector pictures that a render leaves beside its stills, and PDFs made of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.paths import asset

_PAGE = b"""#set page(width: 960pt, height: 540pt, margin: 0pt)
#set document(date: none)
#image(bytes(sys.inputs.svg), format: "svg", width: 100%)
"""


def read_svg(still: Path) -> str:
    """The SVG of the picture of which ``still`` is the PNG. Raises AddnormError if there is none."""
    path = still.with_suffix(".svg")
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise AddnormError(f"{path}: cannot be read: {error.strerror}; render the film again") from error


def as_pdf(svg: str) -> bytes:
    """A picture as a PDF of one page, drawn with lines and areas as the SVG is."""
    return compiled(_PAGE, svg=svg)


def compiled(source: bytes, **inputs: str) -> bytes:
    """A document by Typst as PDF, with the bundled fonts and no others. ``inputs`` are data, never markup."""
    pdf: bytes = _compiler().compile(source, format="pdf", sys_inputs=inputs)
    return pdf


@cache
def _compiler() -> Any:
    import typst

    return typst.Compiler(font_paths=typst.Fonts(include_system_fonts=False, font_paths=[str(asset("fonts"))]))
