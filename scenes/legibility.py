"""Legibility: whether a finished picture can be read from the last row, measured on what is drawn.

``examine`` takes a picture apart into what is painted, from back to front, and runs every check over it. Text
is taken from the points of its glyphs, lines from samples along their path with their width; what an opaque
area painted later hides does not count. Geometry is in pixels of a 1080p picture, from its top left corner.

Every mark (bar, line, frame, arrow) is asked for the 3:1 of WCAG 1.4.11, the dimmed and the decorative too: a
tint may be faint if its outline is not. Marks may cross each other, as the bars and the lines of a chart do.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, groupby

import numpy as np
from manim import Mobject, RoundedRectangle, VMobject

from addnorm.mathcore.labels import Label
from addnorm.mathcore.symbols import Symbol
from addnorm.scenes.contours import Array, Mask, inside, polygons
from addnorm.scenes.elements.lettering import Glyphs, Lettering
from addnorm.scenes.text import Elided, FormulaAtom, Run
from addnorm.scenes.theme import FRAME_HEIGHT, FRAME_WIDTH, MEANINGS, PIXEL, SAFE_MARGIN, Theme
from addnorm.scenes.typeset import CAP_HEIGHT, SCRIPT_SCALE, missing_characters

CLEARANCE = 8.0
"""Pixels between a text and any other text, line or edge: a third of the smallest capital."""

TEXT_HEIGHT, SCRIPT_HEIGHT = 24.0, 15.0
"""Pixels of a capital or a digit, in a line and as sub- or superscript."""

TEXT_CONTRAST, MARK_CONTRAST = 4.5, 3.0
"""Success criteria 1.4.3 and 1.4.11 of WCAG 2."""

STROKE = 0.01 / PIXEL
"""Pixels for a unit of manim's stroke width, of which its camera makes a hundredth of a scene unit."""

SIZE = np.array([FRAME_WIDTH, FRAME_HEIGHT]) / PIXEL
CONTRAST_SAMPLES = 100


@dataclass(frozen=True)
class Finding:
    """Something that cannot be read well: which rule, of what, where, what was measured and what was wanted.

    Distances and heights are in pixels, negative where things overlap; contrasts are ratios; of a covered
    text the hidden share is given; characters, texts and names are counted.
    """

    rule: str
    what: str
    where: str
    measured: float
    wanted: float

    def __str__(self) -> str:
        return f"{self.rule}: {self.what!r} in {self.where}: {self.measured:.2f}, wanted {self.wanted:g}"


def examine(picture: Mapping[str, Mobject], theme: Theme) -> tuple[Finding, ...]:
    """All that is hard to read in a picture: its elements by name, from back to front."""
    sheet = Sheet.of(picture, theme)
    return tuple(finding for check in CHECKS for finding in check(sheet))


def visible_runs(picture: Mapping[str, Mobject]) -> tuple[Run, ...]:
    """Every run of text that can be seen in a picture."""
    return tuple(leaf.ink.run for _, leaf in _leaves(picture) if isinstance(leaf, Glyphs))


# A picture taken apart.


@dataclass(frozen=True, eq=False)
class Layer:
    """One leaf as it is painted; those of higher rank are painted later."""

    element: str
    rank: int
    leaf: VMobject

    @cached_property
    def fill(self) -> Array:
        """Colour and opacity of the area, shape (4,)."""
        return np.asarray(self.leaf.get_fill_rgbas()[0], dtype=np.float64)

    @cached_property
    def stroke(self) -> Array:
        """Colour and opacity of the line, shape (4,)."""
        return np.asarray(self.leaf.get_stroke_rgbas()[0] * (self.leaf.get_stroke_width() > 0), dtype=np.float64)

    @property
    def radius(self) -> float:
        """Half the width of the line, 0 where there is none."""
        return self.leaf.get_stroke_width() * STROKE / 2 if self.stroke[3] > 0 else 0.0

    @property
    def is_opaque(self) -> bool:
        """Whether nothing shows through the area."""
        return bool(self.fill[3] >= 1 - 1e-6)

    @property
    def run(self) -> Run:
        """The text, if this is one."""
        assert isinstance(self.leaf, Glyphs)
        return self.leaf.ink.run

    @cached_property
    def outline(self) -> list[Array]:
        """Its contours as polygons, each of shape (n, 2)."""
        middle = np.array([FRAME_WIDTH, FRAME_HEIGHT]) / 2
        return polygons((self.leaf.points[:, :2] * (1, -1) + middle) / PIXEL)

    @cached_property
    def boxes(self) -> Array:
        """The box of each contour, shape (n, 4): left, top, right, bottom."""
        return np.array([_box(polygon) for polygon in self.outline])

    @cached_property
    def samples(self) -> Array:
        """Points along the outline, no more than a pixel apart, shape (n, 2)."""
        start = np.concatenate([polygon[:-1] for polygon in self.outline])
        way = np.concatenate([np.diff(polygon, axis=0) for polygon in self.outline])
        steps = np.ceil(np.linalg.norm(way, axis=1)).astype(int)
        edge = np.repeat(np.arange(len(steps)), steps)
        share = (np.arange(len(edge)) - (np.cumsum(steps) - steps)[edge]) / steps[edge]
        ends = [polygon[-1:] for polygon in self.outline]
        return np.concatenate([start[edge] + share[:, None] * way[edge], *ends])

    @cached_property
    def _corners(self) -> list[Array]:
        """The polygons without the points on their straight sides, of which many bars have a great many."""
        return [_corners(polygon) for polygon in self.outline]

    def contains(self, points: Array) -> Mask:
        """Which points lie in its area."""
        left, top, right, bottom = _box(self.boxes)
        found = np.asarray((points >= (left, top)).all(axis=1) & (points <= (right, bottom)).all(axis=1))
        if found.any():
            found[found] = inside(self._corners, points[found])
        return found


@dataclass(frozen=True, eq=False)
class Block:
    """A typeset line or paragraph: one layer for each of its runs that can be seen."""

    layers: tuple[Layer, ...]

    @property
    def text(self) -> str:
        """What it says. Each atom of a formula gives the whole formula, which is told once."""
        return "".join(text for text, _ in groupby(layer.run.text for layer in self.layers)).strip()

    @property
    def where(self) -> str:
        """Its element, and the middle of its box."""
        return _where(self.layers[0].element, self.lines)

    @cached_property
    def lines(self) -> Array:
        """The box of each line, shape (n, 4); a line ends where a free strip runs across the whole block."""
        boxes = np.concatenate([layer.boxes for layer in self.layers])
        boxes = boxes[np.argsort(boxes[:, 1])]
        breaks = boxes[1:, 1] > np.maximum.accumulate(boxes[:-1, 3])
        return np.array([_box(line) for line in np.split(boxes, np.flatnonzero(breaks) + 1)])


@dataclass(frozen=True, eq=False)
class Sheet:
    """A picture taken apart: blocks of text, and marks from back to front, on the ground of a theme."""

    blocks: tuple[Block, ...]
    marks: tuple[Layer, ...]
    theme: Theme

    @classmethod
    def of(cls, picture: Mapping[str, Mobject], theme: Theme) -> Sheet:
        """Take a picture apart."""
        layers = {id(leaf): Layer(name, rank, leaf) for rank, (name, leaf) in enumerate(_leaves(picture))}
        groups = (group for mobject in picture.values() for group in _blocks(mobject))
        blocks = (Block(tuple(layers[id(leaf)] for leaf in group if id(leaf) in layers)) for group in groups)
        marks = (layer for layer in layers.values() if not isinstance(layer.leaf, Glyphs))
        return cls(tuple(block for block in blocks if block.layers), tuple(marks), theme)

    @cached_property
    def outlines(self) -> tuple[Array, ...]:
        """Of each mark those samples of its outline that can be seen."""
        return tuple(self._seen(mark) for mark in self.marks)

    def _seen(self, mark: Layer) -> Array:
        samples = mark.samples
        for later in self.marks:
            if later.rank > mark.rank and later.is_opaque:
                samples = samples[~later.contains(samples)]
        return samples

    @cached_property
    def cells(self) -> tuple[Layer | None, ...]:
        """Of each block the topmost opaque area that it stands in."""
        return tuple(self._cell(block) for block in self.blocks)

    def _cell(self, block: Block) -> Layer | None:
        middle = _box(block.lines).reshape(2, 2).mean(axis=0, keepdims=True)
        under = (mark for mark in reversed(self.marks) if mark.rank < block.layers[0].rank and mark.is_opaque)
        return next((mark for mark in under if mark.contains(middle).all()), None)

    def behind(self, points: Array, rank: int) -> Array:
        """The colours of the areas behind what has a rank, at some points, shape (n, 3)."""
        colors = np.tile(_rgb(self.theme.color("ground")), (len(points), 1))
        for mark in self.marks:
            if mark.rank < rank and mark.fill[3] > 0:
                inside = mark.contains(points)
                colors[inside] = _over(mark.fill, colors[inside])
        return colors


# The checks.


def margins(sheet: Sheet) -> Iterator[Finding]:
    """Text keeps clear of the sides of the picture."""
    wanted = np.tile(SIZE * SAFE_MARGIN, 2)
    for block in sheet.blocks:
        box = _box(block.lines)
        room = np.concatenate([box[:2], SIZE - box[2:]])
        for side in np.flatnonzero(room < wanted - 1e-6):
            yield Finding("margin", block.text, block.where, float(room[side]), float(wanted[side]))


def text_over_text(sheet: Sheet) -> Iterator[Finding]:
    """No two texts touch: neither two blocks, nor two runs of one block that left their places in it."""
    for block, other in combinations(sheet.blocks, 2):
        gap = float(_gaps(block.lines, other.lines).min())
        if gap < CLEARANCE:
            yield Finding("text over text", f"{block.text} | {other.text}", block.where, gap, CLEARANCE)
    for block in sheet.blocks:
        for layer, other_layer in combinations(block.layers, 2):
            gap = float(_gaps(layer.boxes, other_layer.boxes).min())
            if gap < 0:
                what = f"{layer.run.text} | {other_layer.run.text}"
                yield Finding("text over text", what, block.where, gap, 0)


def text_over_line(sheet: Sheet) -> Iterator[Finding]:
    """No text touches a line or an edge, the border of its own cell or chip included."""
    for block, cell in zip(sheet.blocks, sheet.cells, strict=True):
        for mark, outline in zip(sheet.marks, sheet.outlines, strict=True):
            near = outline[_gaps(_box(block.lines)[None], np.tile(outline, 2))[0] < CLEARANCE + mark.radius]
            gap = float(_gaps(block.lines, np.tile(near, 2)).min(initial=np.inf)) - mark.radius
            if gap < CLEARANCE:
                rule = "text leaves its cell" if mark is cell else "text over line"
                yield Finding(rule, block.text, f"{block.where}, {mark.element}", gap, CLEARANCE)


def empty_cells(sheet: Sheet) -> Iterator[Finding]:
    """No cell, chip or block has lost its text."""
    for mark, outline in zip(sheet.marks, sheet.outlines, strict=True):
        is_cell = isinstance(mark.leaf, RoundedRectangle) and mark.is_opaque and len(outline) > 0
        if is_cell and mark not in sheet.cells:
            yield Finding("empty cell", type(mark.leaf).__name__, _where(mark.element, mark.boxes), 0, 1)


def covered_text(sheet: Sheet) -> Iterator[Finding]:
    """Nothing is painted over a text, however thinly."""
    for block in sheet.blocks:
        for layer in block.layers:
            probes = _probes(layer)
            over = [mark for mark in sheet.marks if mark.rank > layer.rank and mark.fill[3] > 0]
            hidden = np.array([mark.contains(probes) for mark in over]).reshape(-1, len(probes)).any(axis=0)
            if hidden.any():
                yield Finding("covered text", layer.run.text, block.where, float(hidden.mean()), 0)


def text_heights(sheet: Sheet) -> Iterator[Finding]:
    """Capitals and digits are tall enough, by the scale at which the glyphs are drawn; so are scripts."""
    for block in sheet.blocks:
        for glyphs in (layer.leaf for layer in block.layers):
            assert isinstance(glyphs, Glyphs)
            scale, _ = glyphs.ink.fit(glyphs.points)
            text, height = glyphs.ink.run.text, scale / PIXEL * CAP_HEIGHT
            if height < TEXT_HEIGHT:
                yield Finding("text height", text, block.where, height, TEXT_HEIGHT)
            if any(map(_is_script, text)) and height * SCRIPT_SCALE < SCRIPT_HEIGHT:
                yield Finding("script height", text, block.where, height * SCRIPT_SCALE, SCRIPT_HEIGHT)


def text_contrast(sheet: Sheet) -> Iterator[Finding]:
    """Every run stands out from what is behind each of its pieces."""
    for block in sheet.blocks:
        for layer in block.layers:
            behind = sheet.behind(_probes(layer), layer.rank)
            ratio = float(contrast(_over(layer.fill, behind), behind).min())
            if ratio < TEXT_CONTRAST:
                yield Finding("text contrast", layer.run.text, block.where, ratio, TEXT_CONTRAST)


def mark_contrast(sheet: Sheet) -> Iterator[Finding]:
    """Every mark stands out, by its line or by its area, along most of what can be seen of its outline."""
    for mark, outline in zip(sheet.marks, sheet.outlines, strict=True):
        if not len(outline):
            continue
        behind = sheet.behind(outline[:: 1 + len(outline) // CONTRAST_SAMPLES], mark.rank)
        ratios = (np.median(contrast(_over(paint, behind), behind)) for paint in (mark.fill, mark.stroke))
        ratio = float(max(ratios))
        if ratio < MARK_CONTRAST:
            where = _where(mark.element, mark.boxes)
            yield Finding("mark contrast", type(mark.leaf).__name__, where, ratio, MARK_CONTRAST)


def missing_glyphs(sheet: Sheet) -> Iterator[Finding]:
    """Every character is in the bundled font; symbols, which the core lists, come from the math font."""
    for block in sheet.blocks:
        for run in (layer.run for layer in block.layers):
            lacking = () if isinstance(run.source, Symbol | FormulaAtom) else missing_characters(run.text)
            if lacking:
                yield Finding("missing glyph", "".join(lacking), block.where, len(lacking), 0)


def unnamed_colors(sheet: Sheet) -> Iterator[Finding]:
    """No meaning is told by colour alone: words in its colour, or in the same element, name it."""
    words = [
        layer for block in sheet.blocks for layer in block.layers if not isinstance(layer.run.source, Label | Elided)
    ]
    named, worded = {_hex(word.fill) for word in words}, {word.element for word in words}
    meanings = {sheet.theme.color(role): role for role in MEANINGS.values()}
    paints = ((mark.element, _hex(paint)) for mark in sheet.marks for paint in (mark.fill, mark.stroke))
    for element, color in dict.fromkeys(paints):
        if color in meanings and color not in named and element not in worded:
            yield Finding("unnamed colour", meanings[color], element, 0, 1)


CHECKS: Sequence[Callable[[Sheet], Iterator[Finding]]] = (
    margins,
    text_over_text,
    text_over_line,
    empty_cells,
    covered_text,
    text_heights,
    text_contrast,
    mark_contrast,
    missing_glyphs,
    unnamed_colors,
)


# Colours: sRGB channels from 0 to 1.


def contrast(first: Array, second: Array) -> Array:
    """The contrast ratio of WCAG 2 between colours, each of shape (n, 3)."""
    lights = np.stack([_luminance(first), _luminance(second)]) + 0.05
    return np.asarray(lights.max(axis=0) / lights.min(axis=0))


def _luminance(colors: Array) -> Array:
    linear = np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ np.array([0.2126, 0.7152, 0.0722]))


def _over(paint: Array, behind: Array) -> Array:
    return np.asarray(paint[3] * paint[:3] + (1 - paint[3]) * behind)


def _rgb(color: str) -> Array:
    return np.array([int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)])


def _hex(paint: Array) -> str:
    return "#" + "".join(f"{round(255 * channel):02X}" for channel in paint[:3]) if paint[3] > 0 else ""


# Geometry.


def _leaves(picture: Mapping[str, Mobject]) -> list[tuple[str, VMobject]]:
    """What can be seen, in the order in which it is painted; the frame audit lets in vector shapes only."""
    families = ((name, leaf) for name, mobject in picture.items() for leaf in mobject.family_members_with_points())
    leaves = ((name, leaf) for name, leaf in families if isinstance(leaf, VMobject) and _is_visible(leaf))
    return sorted(leaves, key=lambda named: named[1].z_index)


def _is_visible(leaf: VMobject) -> bool:
    return bool(leaf.get_fill_opacity() or (leaf.get_stroke_width() and leaf.get_stroke_opacity()))


def _blocks(mobject: Mobject) -> Iterator[Sequence[Mobject]]:
    if isinstance(mobject, Lettering):
        yield mobject.submobjects
    elif isinstance(mobject, Glyphs):
        yield [mobject]
    else:
        for child in mobject.submobjects:
            yield from _blocks(child)


def _is_script(character: str) -> bool:
    return unicodedata.decomposition(character).startswith(("<super>", "<sub>"))


def _box(points: Array) -> Array:
    """The box round points or boxes: left, top, right, bottom."""
    points = points.reshape(-1, 2)
    return np.concatenate([points.min(axis=0), points.max(axis=0)])


def _where(element: str, boxes: Array) -> str:
    x, y = _box(boxes).reshape(2, 2).mean(axis=0)
    return f"{element} at ({x:.0f}, {y:.0f})"


def _probes(layer: Layer) -> Array:
    """Where a run is tested for what lies over and under it: the corners and the middle of each piece."""
    left, top, right, bottom = layer.boxes.T
    xs = np.concatenate([left, right, left, right, (left + right) / 2])
    ys = np.concatenate([top, top, bottom, bottom, (top + bottom) / 2])
    return np.stack([xs, ys], axis=1)


def _gaps(boxes: Array, others: Array) -> Array:
    """The distance of each box from each other one, negative (how deep) where they overlap, shape (n, m)."""
    apart = np.maximum(boxes[:, None, :2] - others[None, :, 2:], others[None, :, :2] - boxes[:, None, 2:])
    outside = np.linalg.norm(np.maximum(apart, 0), axis=2)
    return np.asarray(np.where((apart < 0).all(axis=2), apart.max(axis=2), outside))


def _corners(polygon: Array) -> Array:
    distinct = polygon[np.abs(polygon - np.roll(polygon, 1, axis=0)).max(axis=1) > 1e-9]
    before, after = distinct - np.roll(distinct, 1, axis=0), np.roll(distinct, -1, axis=0) - distinct
    turn = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return np.asarray(distinct[np.abs(turn) > 1e-9])
