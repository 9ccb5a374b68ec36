"""Slides for PowerPoint, Keynote and Impress: a title, then a slide for each state, which its clip fills.

A clip starts by itself, from a poster that is its first picture; when it has ended, the still appears over it.
The next slide begins with that picture, so nothing jumps, and on paper and in the slide sorter, where nothing
moves, each slide is the still. What a state says is in the picture; besides, each slide has a title for outlines
and screen readers, above its upper edge, where PowerPoint puts hidden titles too; alternative texts; and notes
with the caption and the figures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.exporters.decks import Deck, decks, legend, notes, one_line
from addnorm.scenes.exporters.gif import write_gif
from addnorm.scenes.exporters.outputs import Clip, Output, Rendered
from addnorm.scenes.paths import asset
from addnorm.scenes.text import plain, text_width
from addnorm.scenes.theme import MEANINGS, load_theme

try:
    from pptx import Presentation
    from pptx.enum.dml import MSO_THEME_COLOR
    from pptx.enum.text import MSO_ANCHOR
    from pptx.opc.constants import RELATIONSHIP_TYPE
    from pptx.oxml import parse_xml
    from pptx.oxml.ns import nsdecls, qn
    from pptx.util import Emu, Pt
except ModuleNotFoundError as error:
    raise AddnormError("pptx: needs a library that is not there; type: pip install python-pptx") from error

_WIDTH, _HEIGHT = Emu(12192000), Emu(6858000)  # 16:9, what PowerPoint calls Widescreen
_MARGIN = _WIDTH // 20
_LAYOUTS = ("Title Slide", "Title Only")
_CULTURES = {"zh": "zh-CN", "en": "en-US"}
_GIF_LINES = 1080
_TITLE_SIZE = 44
_TITLE_ROOM = 110.0
"""How wide a title may be, in widths of a digit, to stay on three or four lines of the master's size."""

_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"


def export(examples: Sequence[Rendered], target: Path, *, per_state_gif: bool = False) -> None:
    """Write a deck for each language and theme into the folder ``target``."""
    target.mkdir()
    for deck in decks(examples):
        presentation = _presentation(deck)
        for output in deck.outputs:
            _add_title(presentation, output)
            for clip in output.clips:
                _add_state(presentation, output, clip, per_state_gif)
        presentation.save(str(target / f"{deck.name}.pptx"))


def _add_title(presentation: Any, output: Output) -> None:
    slide = presentation.slides.add_slide(presentation.slide_layouts.get_by_name(_LAYOUTS[0]))
    title = one_line(output.title)
    _entitle(slide, title, output.language)
    if (width := text_width(title)) > _TITLE_ROOM:
        slide.shapes.title.text_frame.paragraphs[0].font.size = Pt(_TITLE_SIZE * math.sqrt(_TITLE_ROOM / width))
    symbols = slide.placeholders[1].text_frame.paragraphs[0]
    for named in legend(output):
        run = symbols.add_run()
        run.text = f"{named.text}\N{EM SPACE}"
        run.font.name, run.font.italic = "Cambria", True
        run.font.color.theme_color = _slot(MEANINGS[named.quantity])


def _add_state(presentation: Any, output: Output, clip: Clip, as_gif: bool) -> None:
    slide = presentation.slides.add_slide(presentation.slide_layouts.get_by_name(_LAYOUTS[1]))
    heading, name = one_line(plain(clip.heading)), f"{output.trace.example.id} {clip.name}"
    _entitle(slide, heading, output.language)
    everything = (0, 0, _WIDTH, _HEIGHT)
    if as_gif:
        picture = slide.shapes.add_picture(BytesIO(_gif(output, clip)), *everything)
    else:
        video, poster = str(clip.video), BytesIO(clip.poster)
        movie = slide.shapes.add_movie(video, *everything, poster_frame_image=poster, mime_type="video/mp4")
        _describe(movie, f"{name} clip", heading)
        picture = slide.shapes.add_picture(str(clip.still), *everything)
        _start_by_itself(slide, movie, picture, round(clip.seconds * 1000))
    _describe(picture, name, one_line(output.description(clip)))
    frame = slide.notes_slide.notes_text_frame
    frame.text = "\n".join(notes(output, clip))
    _speak(frame, output.language)


def _describe(shape: Any, name: str, text: str) -> None:
    """Name a shape for the selection pane, and give it its alternative text."""
    shape.name = name
    shape._element.nvPicPr.cNvPr.set("descr", text)


def _gif(output: Output, clip: Clip) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "clip.gif"
        write_gif(clip, path, output.theme, shrink=max(1, clip.size.height // _GIF_LINES))
        return path.read_bytes()


def _entitle(slide: Any, text: str, language: str) -> None:
    frame = slide.shapes.title.text_frame
    frame.text = text
    _speak(frame, language)


def _speak(frame: Any, language: str) -> None:
    """Say in which language a text is, for spell checkers and screen readers."""
    for paragraph in frame.paragraphs:
        for run in paragraph.runs:
            run._r.get_or_add_rPr().set("lang", _CULTURES.get(language, language))


def _start_by_itself(slide: Any, movie: Any, still: Any, milliseconds: int) -> None:
    """Play the movie when its slide comes, as PowerPoint writes "Start: Automatically"; then let the still appear."""
    template = asset("exporters", "pptx", "timing.xml").read_text(encoding="utf-8")
    timing = parse_xml(template.format(movie=movie.shape_id, still=still.shape_id, milliseconds=milliseconds))
    slide.element.replace(slide.element.find(timing.tag), timing)


# The deck before there is anything in it: python-pptx's own, made wide and in the film's colours.


def _presentation(deck: Deck) -> Any:
    presentation = Presentation()
    presentation.slide_width, presentation.slide_height = _WIDTH, _HEIGHT
    _amend(presentation)
    for layout in [*presentation.slide_layouts]:
        if layout.name not in _LAYOUTS:
            presentation.slide_layouts.remove(layout)
    master = presentation.slide_master
    for page in (master, *presentation.slide_layouts):
        _lay_out(page, hidden=page.name == _LAYOUTS[1])
    theme = master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
    theme._blob = _in_colors(theme.blob.decode(), deck.theme).encode()
    properties = presentation.core_properties
    properties.title, properties.language = deck.title, _CULTURES.get(deck.language, deck.language)
    properties.author, properties.last_modified_by, properties.comments = "", "", ""
    properties.created = properties.modified = datetime.now(UTC)
    return presentation


def _amend(presentation: Any) -> None:
    """Take from python-pptx's deck its thumbnail, its 4:3 and a printer's settings; list the notes' master."""
    presentation.element.find(qn("p:sldSz")).attrib.pop("type")
    wrong = (
        RELATIONSHIP_TYPE.THUMBNAIL,
        RELATIONSHIP_TYPE.EXTENDED_PROPERTIES,
        RELATIONSHIP_TYPE.PRINTER_SETTINGS,
    )
    for relations in (presentation.part.package._rels, presentation.part._rels):
        for name in [name for name, relation in relations.items() if relation.reltype in wrong]:
            relations.pop(name)
    name = presentation.part.relate_to(presentation.part.notes_master_part, RELATIONSHIP_TYPE.NOTES_MASTER)
    listed = f'<p:notesMasterIdLst {nsdecls("p", "r")}><p:notesMasterId r:id="{name}"/></p:notesMasterIdLst>'
    presentation.element.find(qn("p:sldMasterIdLst")).addnext(parse_xml(listed))


def _lay_out(page: Any, *, hidden: bool) -> None:
    """Put the placeholders of a master or layout in their places on a wide slide, their text to the left."""
    for placeholder in [*page.placeholders]:
        kind = placeholder.placeholder_format.type.name
        if kind in ("DATE", "FOOTER", "SLIDE_NUMBER"):
            placeholder._element.getparent().remove(placeholder._element)
            continue
        top, height = {
            "TITLE": (-_HEIGHT // 8, _HEIGHT // 10) if hidden else (_HEIGHT // 20, _HEIGHT // 8),
            "CENTER_TITLE": (_HEIGHT // 4, _HEIGHT // 4),
            "SUBTITLE": (_HEIGHT * 11 // 20, _HEIGHT // 8),
        }.get(kind, (_HEIGHT // 5, _HEIGHT * 7 // 10))
        placeholder.left, placeholder.width = _MARGIN, _WIDTH - 2 * _MARGIN
        placeholder.top, placeholder.height = top, height
        placeholder.text_frame.margin_left = placeholder.text_frame.margin_right = 0
        if kind == "CENTER_TITLE":
            placeholder.text_frame.vertical_anchor = MSO_ANCHOR.BOTTOM
    for level in page.element.iter(f"{{{_DRAWING}}}lvl1pPr"):
        level.set("algn", "l")


_SCHEME = {
    "dk1": "text",
    "lt1": "ground",
    "dk2": "secondary",
    "lt2": "surface",
    "accent1": "x",
    "accent2": "update",
    "accent3": "sum",
    "accent4": "statistics",
    "accent5": "out",
    "accent6": "line",
    "hlink": "x",
    "folHlink": "secondary",
}
"""Which role of the film's palette each colour of the slides has; what a lecturer adds is then in the same ones."""


def _slot(role: str) -> Any:
    """The slides' own name of a role's colour; a deck that gets other colours changes there too."""
    slot = next(slot for slot, own in _SCHEME.items() if own == role)
    return MSO_THEME_COLOR.from_xml(slot)


def _in_colors(theme: str, name: str) -> str:
    """The slides' theme with the film's colours, and a sans for Chinese too."""
    palette = load_theme(name)
    colors = "".join(
        f'<a:{slot}><a:srgbClr val="{palette.color(role)[1:]}"/></a:{slot}>' for slot, role in _SCHEME.items()
    )
    theme = re.sub(r"(<a:clrScheme[^>]*>).*(</a:clrScheme>)", rf"\g<1>{colors}\g<2>", theme, flags=re.DOTALL)
    return theme.replace('<a:ea typeface=""/>', '<a:ea typeface="Microsoft YaHei"/>').replace("宋体", "微软雅黑")
