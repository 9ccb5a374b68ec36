"""The page: one HTML file that opens from disk, with the clips as steps and all figures as text.

It holds every language and theme that was rendered, needs no network and says so to the browser. Without
scripts, and on paper, it is the pictures in their order, each with its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from markupsafe import Markup

from addnorm.scenes.exporters.editions import editions_of, stores, themes_of
from addnorm.scenes.exporters.markup import bundled, document, palettes
from addnorm.scenes.exporters.outputs import Rendered
from addnorm.scenes.publish import write


def export(examples: Sequence[Rendered], target: Path) -> None:
    """Write the page of some examples; with several, their states follow one another."""
    page = document(
        "page/page.html",
        editions=editions_of(examples),
        themes=themes_of(examples),
        clips=stores(examples),
        version=version("addnorm"),
        palettes=palettes(("dark", "light")) + PAPER,
        style=bundled("page", "page.css"),
        films_script=bundled("films.js"),
        script=bundled("page", "page.js"),
    )
    write(target, page)


PAPER = Markup("\n@media print{{{}}}").format(
    Markup(palettes(("light",)).replace('[data-theme="light"]', ":root[data-theme]"))
)
"""On paper the colours are the light theme's."""
