"""From the film's words and numbers to HTML: text that can only be text, formulas as MathML, fonts inside.

Everything goes through templates that escape by themselves. What is marked as safe is made here, from parts
that were escaped here, from Typst's MathML of the core's own formulas, and from the bundled files.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from io import BytesIO
from logging import WARNING, getLogger
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.symbols import Symbol, symbol
from addnorm.scenes.paths import asset
from addnorm.scenes.text import Line
from addnorm.scenes.theme import MEANINGS, load_theme
from addnorm.scenes.typeset import FONT_FILE, scripts_meet

TEXT_FAMILY, MATH_FAMILY = "addnorm text", "addnorm math"


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(asset("exporters")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def document(template: str, **context: Any) -> bytes:
    """A template below ``assets/exporters`` with a context put in. Text in it is escaped, whatever it says.

    Where the template puts ``fonts`` come the bundled fonts, with the glyphs of all that was put in.
    """
    page = _environment().get_template(template).render(**context, fonts=_FONTS)
    return page.replace(_FONTS, fonts(page), 1).encode()


_FONTS = "/* the fonts */"


def bundled(*parts: str) -> Markup:
    """A script or style sheet below ``assets/exporters``, written so that it cannot end the element it is put into."""
    text = asset("exporters", *parts).read_text(encoding="utf-8")
    if parts[-1].endswith(".js"):  # what a parser could take for a tag stands in strings and patterns only
        text = _TAG.sub(r"\\x3C\1", text)
    if _TAG.search(text):
        raise AddnormError(f"{'/'.join(parts)}: a tag in a style sheet would end the element that it is put into")
    return Markup(text)


_TAG = re.compile("<(!--|/?script|/?style)", re.IGNORECASE)


def base64(content: bytes) -> str:
    """Bytes as text that is safe anywhere."""
    return b64encode(content).decode()


def data_uri(media_type: str, content: bytes) -> str:
    """Bytes as an address that needs no network."""
    return f"data:{media_type};base64,{base64(content)}"


# Words and numbers.


def rich(line: Line) -> Markup:
    """A line of the film: its symbols as MathML in the colours of their quantities, powers raised."""
    parts: list[Markup] = []
    left = ""
    for run in line:
        text = run.text
        if isinstance(run.source, Symbol):
            part = mathml(run.source.math)
        else:
            if parts and (mark := _CLOSING.match(text)):  # else a browser may begin a line with it after a symbol
                parts[-1] = Markup('<span class="whole">{}{}</span>').format(parts[-1], mark[0])
                text = text.removeprefix(mark[0])
            part = raised(text)
        parts += [Markup(" "), part] if scripts_meet(left, run.text) else [part]
        left = run.text
    return Markup().join(parts)


_CLOSING = re.compile("[,.;:!?)…，。、；：！？）]+")

_RAISED = {ord(c): d for c, d in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789−+", strict=True)}
_LOWERED = {ord(c): d for c, d in zip("₀₁₂₃₄₅₆₇₈₉₋₊", "0123456789−+", strict=True)}
_SCRIPTS = re.compile("([⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+)|([₀₁₂₃₄₅₆₇₈₉₋₊]+)")


def raised(text: str) -> Markup:
    """A text in which ``10⁻⁵`` is written with an element: the bundled font has no such characters."""
    parts = []
    for part in filter(None, _SCRIPTS.split(text)):
        if ord(part[0]) in _RAISED:
            parts.append(Markup("<sup>{}</sup>").format(part.translate(_RAISED)))
        elif ord(part[0]) in _LOWERED:
            parts.append(Markup("<sub>{}</sub>").format(part.translate(_LOWERED)))
        else:
            parts.append(escape(part))
    return Markup().join(parts)


# Formulas. Typst sets them on stage; here it writes the same notation as MathML.


@lru_cache(maxsize=1024)
def mathml(notation: str, *, display: bool = False) -> Markup:
    """A formula in Typst's notation as MathML, its letters in the colours of their quantities."""
    tree = _mathml(notation, display)
    _colour(tree)
    return Markup(ElementTree.tostring(tree, encoding="unicode"))


def _mathml(notation: str, display: bool) -> ElementTree.Element:
    blank = " " if display else ""
    page = _typst().compile(f"#let atom(n, body) = body\n${blank}{notation}{blank}$".encode(), format="html")
    [math] = re.findall(r"<math.*?</math>", page.decode(), re.DOTALL)
    tree = ElementTree.fromstring(math)
    for fence in tree.iter("mo"):
        if fence.text in ("(", ")"):  # around one line; those that could stretch get blanks beside them in Chromium
            fence.set("stretchy", "false")
    return tree


@cache
def _typst() -> Any:
    import typst

    return typst.Compiler(font_paths=typst.Fonts(include_system_fonts=False))


def _colour(tree: ElementTree.Element) -> None:
    """Give each letter of a quantity its class; an exponent, an index or a hat goes with it."""
    roles = _roles()
    for child in tree:
        base, hat = child, False
        while base.tag in ("msub", "msup", "mover") and len(base):
            hat |= base.tag == "mover"
            base = base[0]
        if base.tag == "mi" and (role := MEANINGS["ln.normalized"] if hat else roles.get(base.text or "")):
            child.set("class", role)
        else:
            _colour(child)


@cache
def _roles() -> Mapping[str, str]:
    """The class of each letter that stands for a quantity with a colour of its own."""
    named = ("resid_pre", "attn_out", "update", "resid_mid", "ln.mean", "ln.std", "ln.out")
    return {_mathml(symbol(quantity).math, False)[0].text or "": MEANINGS[quantity] for quantity in named}


# Colours and fonts.


def palettes(names: Iterable[str]) -> Markup:
    """Each theme's colours as custom properties, for ``data-theme`` on the root."""
    rules = []
    for name in names:
        colors = "".join(f"--{role}:{color};" for role, color in load_theme(name).colors.items())
        rules.append(f'[data-theme="{name}"]{{color-scheme:{name};{colors}}}')
    return Markup("\n".join(rules))


def fonts(page: str) -> str:
    """The bundled fonts as rules of a style sheet, with the glyphs that a page needs and no others."""
    math = "".join(("√", *re.findall(r"<math.*?</math>", page, re.DOTALL)))  # an msqrt does not name its sign
    math_font = asset("exporters", "fonts", "latinmodern-math.otf")
    faces = ((TEXT_FAMILY, asset("fonts", FONT_FILE), page), (MATH_FAMILY, math_font, math))
    return "\n".join(_face(family, path, "".join(sorted(set(text)))) for family, path, text in faces)


_FEATURES = ["kern", "mark", "ccmp", "ssty", "dtls"]  # the last two are for formulas: indices, letters under a hat


@lru_cache(maxsize=8)
def _face(family: str, path: Path, characters: str) -> str:
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    getLogger("fontTools").setLevel(WARNING)  # where manim is loaded, whatever is logged is printed
    with TTFont(path, recalcTimestamp=False) as font:
        subsetter = Subsetter(Options(layout_features=_FEATURES, hinting=False, notdef_outline=True, name_IDs=[]))
        subsetter.options.drop_tables += ["FFTM"]  # a font editor's own
        subsetter.populate(text=characters)
        subsetter.subset(font)
        font.flavor = "woff"
        content = BytesIO()
        font.save(content)
    source = data_uri("font/woff", content.getvalue())
    return f'@font-face{{font-family:"{family}";src:url({source}) format("woff")}}'
