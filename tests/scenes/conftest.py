"""A small stage for tests: one picture with a row of numbers, a statistic and a chart, and any motion into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import manim
import numpy as np
import pytest
from manim import VGroup, tempconfig

from addnorm.mathcore.example import Example
from addnorm.mathcore.example_files import load_example
from addnorm.mathcore.labels import stage_label
from addnorm.mathcore.symbols import symbol
from addnorm.mathcore.trace import Trace, run
from addnorm.scenes.elements.lettering import Lettering, Pen
from addnorm.scenes.elements.value_chart import Bars, Ground, Level, Quantity, Scale
from addnorm.scenes.elements.vector_row import Columns, vector_row
from addnorm.scenes.paths import find_example
from addnorm.scenes.stage import Picture, Production, Stage
from addnorm.scenes.storyboard import Element, State, Storyboard, Window
from addnorm.scenes.text import symbol_line, value_line

Act = Callable[["SmallStage", Picture], None]
Perform = Callable[..., "SmallStage"]


class SmallStage(Stage):
    """r₁ as numbers and as bars with the level of μ, and "μ₁ = …" beside them. ``act`` moves into the picture."""

    names: ClassVar[dict[str, str]] = {"film": "R44"}
    act: ClassVar[Any]
    folder: Path

    @staticmethod
    def storyboard(trace: Trace) -> Storyboard:
        refs = tuple(f"resid_mid[0,{n}]" for n in range(4))
        state = State(
            "s",
            (
                Element("row", "row", labels=tuple(stage_label(trace, ref) for ref in refs)),
                Element("statistic", "mean", labels=(stage_label(trace, "ln.mean[0]"),)),
                Element("chart", "chart", lengths=(*refs, "ln.mean[0]")),
            ),
        )
        return Storyboard("small", (state,))

    @property
    def pen(self) -> Pen:
        return Pen(self.theme, self.production.language)

    def draw(self, element: Element, _state: State) -> Any:
        columns = Columns(-4, 2, Window((0, 1, 2, 3), 4, 0))
        match element.kind:
            case "row":
                return vector_row(self.pen, element.labels, columns, 1.5, 0.6, 44, "sum")
            case "statistic":
                line = (
                    *symbol_line(symbol("ln.mean", 0)),
                    *self.wording.sign(" = "),
                    *value_line(element.labels[0]),
                )
                return self.pen.write(line, 44).place(3, 1.5)
        scale = Scale(-1, 0.5, -3, 3)
        sides = (tuple(x - 0.3 for x in columns.middles), tuple(x + 0.3 for x in columns.middles))
        bars = Bars(None, Quantity("resid_mid", 0), Ground(scale, scale, *sides), self.trace, "#88CC88")
        level = Level(None, Quantity("ln.mean", 0), Ground(scale, scale, (-4,), (2,)), self.trace, "#FF88CC")
        return VGroup(bars, level)

    def enter_s(self, _before: Picture, after: Picture) -> None:
        picture = {name: mobject.copy() for name, mobject in after.items()}
        self.add(*picture.values())
        self.act(picture)
        self.clear()
        self.add(*after.values())

    def write(self, ref: str, trace: Trace | None = None) -> Lettering:
        """A number of the trace (or of another one), in the middle of the picture."""
        return self.pen.write(value_line(stage_label(trace or self.trace, ref)), 44).center_on(0, 0.5)


@pytest.fixture(scope="session")
def r44() -> Example:
    return load_example(find_example("r44"))


@pytest.fixture(scope="session")
def trace(r44: Example) -> Trace:
    return run(r44)


@pytest.fixture(scope="session")
def affine(r44: Example) -> Trace:
    """The same example with a γ and β that do something."""
    return run(replace(r44, gamma=np.array([2.0, 0.5, 1, 1]), beta=np.array([1.0, 0, 0, 0.5])))


@pytest.fixture
def studio() -> Iterator[None]:
    """manim as it films, in few pixels and writing nothing."""
    settings = {
        "pixel_width": 64,
        "pixel_height": 36,
        "frame_rate": 15,
        "dry_run": True,
        "progress_bar": "none",
        "verbosity": "ERROR",
    }
    with tempconfig(settings):
        yield


@pytest.fixture
def no_pixels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """manim without its rasterizer: everything is staged and audited, nothing is painted."""
    request.getfixturevalue("studio")
    monkeypatch.setattr(manim.Camera, "capture_mobjects", lambda *_args, **_kwargs: None)


@pytest.fixture(scope="session")
def small_stage() -> type[SmallStage]:
    return SmallStage


@pytest.fixture
def perform(request: pytest.FixtureRequest, trace: Trace) -> Perform:
    """A call that plays an act on the small stage and gives the stage."""
    request.getfixturevalue("no_pixels")

    def play(act: Act, of: Trace = trace, folder: Path = Path()) -> SmallStage:
        scene: SmallStage = type("Played", (SmallStage,), {"act": act})(Production(of, "en"))
        scene.folder = folder
        scene.render()
        return scene

    return play
