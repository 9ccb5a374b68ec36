"""Typesetting: text and formulas in, glyph outlines out. No manim here, so a verifier can set text too.

Typst sets everything, from the bundled font and its own embedded math font, never from the system's: the
glyphs are the same on every machine. Text is passed as data, so nothing in it can act as markup. Each span is
set in a colour of its own that only serves to tell afterwards which glyph belongs to which span.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any
from unicodedata import category, east_asian_width
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.paths import asset

FONT_FAMILY = "Noto Sans SC"
FONT_FILE = "NotoSansSC-Regular.ttf"

CAP_HEIGHT = 0.733
"""Height of a capital or a digit of the bundled font, in em."""

SCRIPT_SCALE = 0.68
"""Size of sub- and superscripts in prose, relative to the text they stand in."""

LINE_PITCH = 1.353
"""Distance of the baselines of a paragraph, in em: the height of a line, which is a capital's, and the leading."""

_EM = 100.0  # points; outlines are divided by it, so the value only has to be large enough to be exact

_TEMPLATE = f"""
#let spans = json(bytes(sys.inputs.spans))
#let width = json(bytes(sys.inputs.width))
#set page(width: auto, height: auto, margin: 0pt, fill: none)
#set text(font: "{FONT_FAMILY}", size: {_EM}pt, lang: sys.inputs.language, ligatures: false, fallback: false)
#set text(features: (locl: 0))  // or digits beside Latin letters would have another shape
#set par(leading: {LINE_PITCH - CAP_HEIGHT}em)
#set super(typographic: false, size: {SCRIPT_SCALE}em, baseline: -0.42em)
#set sub(typographic: false, size: {SCRIPT_SCALE}em, baseline: 0.16em)
#show math.equation: set text(font: "New Computer Modern Math", weight: 450, size: 1.18em, fallback: false)
#let fill(n) = rgb(calc.quo(n, 65536), calc.rem(calc.quo(n, 256), 256), calc.rem(n, 256))
#let atom(n, body) = text(fill: fill(n), body)
#let set-piece(kind, body) = {{
  if kind == "math" {{ eval(body, mode: "math", scope: (atom: atom)) }}
  else if kind == "super" {{ super(body) }}
  else if kind == "sub" {{ sub(body) }}
  else if kind == "break" {{ linebreak() }}
  else if kind == "space" {{ h(0.25em, weak: true) }}
  else {{ body }}
}}
#let body = {{
  box(width: 0pt, height: 1pt, fill: fill(16777215))
  for (n, pieces) in spans.enumerate() {{
    text(fill: fill(n), pieces.map(((kind, body)) => set-piece(kind, body)).join())
  }}
}}
#if width == none {{ body }} else {{ block(width: width * 1em, align(center, body)) }}
"""

_SUPERSCRIPTS = {ord(c): d for c, d in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789−+", strict=True)}
_SUBSCRIPTS = {ord(c): d for c, d in zip("₀₁₂₃₄₅₆₇₈₉₋₊", "0123456789−+", strict=True)}
_SCRIPTS = re.compile("([⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+)|([₀₁₂₃₄₅₆₇₈₉₋₊]+)")


@dataclass(frozen=True)
class Span:
    """A piece of a line: literal ``text``, or ``math`` in Typst's notation as the core names it."""

    text: str = ""
    math: str = ""


@dataclass(frozen=True)
class Paragraph:
    """How a centred paragraph breaks: at a ``width`` in em, and where asked after the k-th character of span n."""

    width: float
    break_after: tuple[int, int] | None = None


@dataclass(frozen=True)
class Setting:
    """A typeset line or paragraph.

    ``outlines``: for each span an array of shape (4·n, 3), cubic Bézier segments in em; x grows to the right
    from the left edge, y upwards from the first baseline. ``width``: the advance in em. ``lines``: how many.
    """

    outlines: tuple[NDArray[np.float64], ...]
    width: float
    lines: int


def typeset(spans: Sequence[Span], language: str = "en", paragraph: Paragraph | None = None) -> Setting:
    """Set spans as one line, or as a centred paragraph that breaks into lines.

    Raises AddnormError for a character that the bundled font does not have.
    """
    for span in spans:
        if lacking := missing_characters(span.text):
            raise AddnormError(f"text {span.text!r}: the bundled font has no {lacking[0]!r} (U+{ord(lacking[0]):04X})")
    pieces = [_pieces(span) for span in spans]
    if paragraph and paragraph.break_after:
        n, k = paragraph.break_after
        before, after = Span(spans[n].text[:k]), Span(spans[n].text[k:].lstrip())
        pieces[n] = (*_pieces(before), ("break", ""), *_pieces(after))
    for n, (left, right) in enumerate(pairwise(spans), start=1):
        if scripts_meet(left.text, right.text):  # within a span Typst sets this space by itself
            pieces[n] = (("space", ""), *pieces[n])
    setting = _typeset(tuple(pieces), language, paragraph and paragraph.width, len(spans))
    for span, outline in zip(spans, setting.outlines, strict=True):
        _require_all_glyphs(span, outline)
    return setting


def typeset_formula(math: str, atoms: int) -> Setting:
    """Set a formula whose ``atom(#n, …)`` pieces become the outlines 0 … atoms − 1."""
    return _typeset(((("math", math),),), "en", None, atoms)


def advance(text: str, language: str = "en") -> float:
    """The advance of a text on one line, in em."""
    return typeset([Span(text=text)], language).width


def missing_characters(text: str) -> tuple[str, ...]:
    """The characters of a text that the bundled font has no glyph for, blanks and scripts aside."""
    plain = text.translate(_SUPERSCRIPTS).translate(_SUBSCRIPTS)
    # Printable ASCII is in the font; to look into that takes as long as to load numpy.
    return tuple(c for c in dict.fromkeys(plain) if not " " <= c <= "~" and ord(c) not in _cmap())


def drawable(text: str) -> str:
    """A user's text with every character that cannot be drawn or seen written as its code point, as U+1F642."""
    lacking = {*missing_characters(text), *(c for c in text if category(c) == "Cf")}
    return "".join(f"U+{ord(c):04X}" if c in lacking else c for c in text)


def _pieces(span: Span) -> tuple[tuple[str, str], ...]:
    return (("math", span.math),) if span.math else scripted(span.text)


def scripted(text: str) -> tuple[tuple[str, str], ...]:
    """A text in pieces, each ("text", "super" or "sub", its characters): ``10⁻⁵`` is 10 and a raised −5."""
    pieces = []
    for part in filter(None, _SCRIPTS.split(text)):
        if ord(part[0]) in _SUPERSCRIPTS:
            pieces.append(("super", part.translate(_SUPERSCRIPTS)))
        elif ord(part[0]) in _SUBSCRIPTS:
            pieces.append(("sub", part.translate(_SUBSCRIPTS)))
        else:
            pieces.append(("text", part))
    return tuple(pieces)


def scripts_meet(left: str, right: str) -> bool:
    """Whether a Chinese character and a Latin letter or digit meet where two texts join."""
    if not left or not right:
        return False
    meeting = left[-1], right[0]
    chinese = [east_asian_width(c) == "W" and c.isalpha() for c in meeting]
    latin = [c.isascii() and c.isalnum() for c in meeting]
    return any(chinese) and any(latin)


def _require_all_glyphs(span: Span, outline: NDArray[np.float64]) -> None:
    """Typst says nothing of a glyph it could not draw, so an inked span without ink is an error here."""
    if span.text.strip() and not len(outline):
        raise AddnormError(f"text {span.text!r}: nothing was drawn for it")


@cache
def _cmap() -> frozenset[int]:
    from fontTools.ttLib import TTFont

    with TTFont(asset("fonts", FONT_FILE), lazy=True) as font:
        font.setGlyphOrder([""] * font["maxp"].numGlyphs)  # or it makes up a name for each, which takes its time
        return frozenset(font.getBestCmap())


@cache
def _compiler() -> Any:
    import typst

    fonts = typst.Fonts(include_system_fonts=False, font_paths=[str(asset("fonts"))])
    return typst.Compiler(font_paths=fonts)


@lru_cache(maxsize=4096)
def _typeset(pieces: tuple[Any, ...], language: str, width: float | None, count: int) -> Setting:
    svg = _compiler().compile(
        _TEMPLATE.encode(),
        format="svg",
        sys_inputs={"spans": json.dumps(pieces), "width": json.dumps(width), "language": language},
    )
    return _read_svg(ElementTree.fromstring(svg), count)


_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_MARKER = 0xFFFFFF


def _read_svg(svg: ElementTree.Element, count: int) -> Setting:
    """Collect Typst's glyphs by the number that their colour encodes, and place them by the baseline marker."""
    glyphs = {
        f"#{symbol.get('id')}": _outline(path.get("d", ""))
        for symbol in svg.iter(f"{_SVG}symbol")
        for path in symbol.iter(f"{_SVG}path")
    }
    drawn: dict[int, list[NDArray[np.float64]]] = {n: [] for n in range(count)}
    baseline = 0.0
    for element, matrix in _placed(svg, np.eye(3)):
        paint = element.get("fill", "none")
        if paint == "none":
            paint = element.get("stroke", "#000000")
        number = int(paint[1:7], 16)
        if element.tag == f"{_SVG}use":
            offset = np.array([float(element.get("x", 0)), float(element.get("y", 0))])
            points = glyphs[element.get(_HREF, "")] + offset
        elif "stroke-width" in element.attrib:
            points = _rule(element.get("d", ""), float(element.get("stroke-width", 0)))
        else:
            points = _outline(element.get("d", ""))
        points = points @ matrix[:2, :2].T + matrix[:2, 2]
        if number == _MARKER:
            baseline = float(points[:, 1].max())
        elif len(points):
            drawn[number].append(points)
    outlines = tuple(_to_em(parts, baseline) for parts in drawn.values())
    width, height = (float(side) / _EM for side in svg.get("viewBox", "0 0 0 0").split()[2:])
    return Setting(outlines, width, 1 + round((height - CAP_HEIGHT) / LINE_PITCH))


def _placed(
    element: ElementTree.Element, matrix: NDArray[np.float64]
) -> Iterable[tuple[ElementTree.Element, NDArray[np.float64]]]:
    if element.tag == f"{_SVG}defs":
        return
    matrix = matrix @ _transform(element.get("transform", ""))
    if element.tag in (f"{_SVG}use", f"{_SVG}path"):
        yield element, matrix
    for child in element:
        yield from _placed(child, matrix)


def _transform(text: str) -> NDArray[np.float64]:
    numbers = [float(n) for n in re.findall(r"-?[\d.]+(?:e-?\d+)?", text)]
    match text.split("(", maxsplit=1)[0], numbers:
        case "", _:
            return np.eye(3)
        case "translate", [x, *rest]:
            return np.array([[1, 0, x], [0, 1, rest[0] if rest else 0], [0, 0, 1]], dtype=np.float64)
        case "matrix", [a, b, c, d, e, f]:
            return np.array([[a, c, e], [b, d, f], [0, 0, 1]], dtype=np.float64)
        case _:
            raise AddnormError(f"typeset: unknown transform {text!r}")


@lru_cache(maxsize=4096)
def _outline(path: str) -> NDArray[np.float64]:
    """An SVG path as cubic Bézier segments, shape (4·n, 2)."""
    from fontTools.pens.recordingPen import RecordingPen
    from fontTools.svgLib.path import parse_path

    pen = RecordingPen()
    parse_path(path, pen)
    segments: list[NDArray[np.float64]] = []
    start = here = np.zeros(2)
    for command, arguments in pen.value:
        points = [np.array(p, dtype=np.float64) for p in arguments]
        if command == "moveTo":
            start = here = points[0]
            continue
        if command == "lineTo":
            if not np.allclose(here, points[0]):  # rounding leaves steps of no length where a loop closes
                segments.append(_line(here, points[0]))
        elif command == "qCurveTo":
            control, end = points
            segments.append(np.array([here, here + 2 / 3 * (control - here), end + 2 / 3 * (control - end), end]))
        elif command == "curveTo":
            segments.append(np.array([here, *points]))
        elif not np.allclose(here, start):  # closePath, endPath: an outline is always a closed loop
            segments.append(_line(here, start))
        here = points[-1] if points else start
    return np.concatenate(segments) if segments else np.zeros((0, 2))


def _line(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([a, a + (b - a) / 3, a + (b - a) * 2 / 3, b])


def _rule(path: str, thickness: float) -> NDArray[np.float64]:
    """A horizontal stroke (fraction bar, roof of a root) as a filled rectangle."""
    line = _outline(path)
    x0, x1 = line[:, 0].min(), line[:, 0].max()
    y = line[0, 1]
    corners = [np.array([x, y + s * thickness / 2]) for x, s in ((x0, -1), (x1, -1), (x1, 1), (x0, 1))]
    return np.concatenate([_line(a, b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)])


def _to_em(parts: list[NDArray[np.float64]], baseline: float) -> NDArray[np.float64]:
    points = np.concatenate(parts) if parts else np.zeros((0, 2))
    outline = np.zeros((len(points), 3))
    outline[:, 0] = points[:, 0] / _EM
    outline[:, 1] = (baseline - points[:, 1]) / _EM
    outline.flags.writeable = False
    return outline
