"""Colours by meaning, and the type scale. One colour says one thing throughout a film."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.paths import asset

FRAME_HEIGHT = 8.0
"""Height of the picture in scene units; manim's own default, so that ``manim render`` agrees."""

FRAME_WIDTH = FRAME_HEIGHT * 16 / 9

PIXEL = FRAME_HEIGHT / 1080
"""One pixel of a 1080p picture, in scene units. Sizes below are given in such pixels."""

SAFE_MARGIN = 0.05
"""The share of the width and of the height that stays free of text on each side."""

AREA, BAND, OUTLINE = TINTS = (0.12, 0.2, 0.7)
"""The shares in which tints have their colour: of areas, of the band μ ± σ, of the outline around rows."""

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "resid_pre": "x",
        "attn_out": "update",
        "update": "update",
        "resid_mid": "sum",
        "ln.mean": "statistics",
        "ln.var": "statistics",
        "ln.std": "statistics",
        "ln.normalized": "out",
        "ln.normalized_std": "statistics",
        "ln.out": "out",
    }
)
"""Which role of the palette a quantity has. What is not named here is drawn as plain text."""


@dataclass(frozen=True)
class TypeScale:
    """Font sizes in pixels of a 1080p picture. At the smallest, a digit is 25 px high."""

    heading: float = 50
    caption: float = 42
    number: float = 44
    statistic: float = 44
    symbol: float = 46
    formula: float = 36
    note: float = 35


TYPE = TypeScale()


@dataclass(frozen=True)
class Theme:
    """A palette: ``#RRGGBB`` by role. Roles: ground, surface, text, secondary, line, and the meanings."""

    name: str
    colors: Mapping[str, str]

    def color(self, role: str) -> str:
        """The colour of a role or of a quantity (``"ln.var"`` gives the colour of the statistics)."""
        return self.colors.get(MEANINGS.get(role, role), self.colors["text"])

    def blend(self, role: str, share: float) -> str:
        """An opaque tint: ``share`` of a role's colour, the rest the ground."""
        mixed = (
            round(share * int(over, 16) + (1 - share) * int(under, 16))
            for over, under in zip(_channels(self.color(role)), _channels(self.colors["ground"]), strict=True)
        )
        return "#" + "".join(f"{value:02X}" for value in mixed)

    def counterparts(self, other: Theme) -> Mapping[str, str]:
        """What each colour of this theme, tints included, is in another one."""
        roles = [role for role in self.colors if role != "ground"]
        tints = {self.blend(role, share): other.blend(role, share) for role in roles for share in TINTS}
        return tints | {self.color(role): other.color(role) for role in self.colors}


def _channels(color: str) -> tuple[str, str, str]:
    return color[1:3], color[3:5], color[5:7]


def themes() -> tuple[str, ...]:
    """The names of the bundled themes."""
    return tuple(sorted(path.stem for path in asset("themes").glob("*.toml")))


@lru_cache
def load_theme(name: str) -> Theme:
    """The bundled theme of this name."""
    if name not in themes():
        raise AddnormError(f"theme: {name!r} is not known; give one of {', '.join(themes())}")
    return Theme(name, MappingProxyType(tomllib.loads(asset("themes", f"{name}.toml").read_text(encoding="utf-8"))))
