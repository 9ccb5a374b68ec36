"""The films, by name. Each is a folder: its states as data, and its scene, which is loaded only to draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from addnorm.mathcore.trace import Trace
from addnorm.scenes.films.r44 import states as r44
from addnorm.scenes.storyboard import Storyboard

if TYPE_CHECKING:
    from addnorm.scenes.stage import Stage


@dataclass(frozen=True)
class Film:
    """A film: its states for a trace, the names its words may use, and its scene class for a trace."""

    name: str
    storyboard: Callable[[Trace], Storyboard]
    names: Mapping[str, str]
    stage: Callable[[Trace], type[Stage]]

    @property
    def bundled(self) -> bool:
        """Whether it is one of the package's own, of which all that draws it is known."""
        return FILMS.get(self.name) is self


def scene_of(scene: str, pre_norm: str | None = None) -> Callable[[Trace], type[Stage]]:
    """A call that imports a scene class, ``module:Class``, or in pre-norm another one; with it comes manim."""

    def load(trace: Trace) -> type[Stage]:
        module, _, name = (pre_norm if pre_norm and trace.example.norm == "pre" else scene).partition(":")
        stage: type[Stage] = getattr(import_module(module), name)
        return stage

    return load


DEFAULT_FILM = "r44"

FILMS: Mapping[str, Film] = MappingProxyType(
    {
        "r44": Film(
            "r44",
            r44.storyboard,
            r44.NAMES,
            scene_of("addnorm.scenes.films.r44.scene:R44", "addnorm.scenes.films.r44.pre_norm.scene:R44PreNorm"),
        ),
    }
)
