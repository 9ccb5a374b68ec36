"""The stage's camera: its pictures are stock manim's, and it tells truly what has changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from manim import Camera, Circle, Line, Mobject, Square, tempconfig
from numpy.typing import NDArray

from addnorm.mathcore.trace import Trace
from addnorm.scenes import stage as staging
from addnorm.scenes import tiles
from addnorm.scenes.camera import StageCamera
from addnorm.scenes.filming import studio
from addnorm.scenes.films.r44.scene import R44
from addnorm.scenes.stage import Production
from addnorm.scenes.tiles import no_tiles, pixels
from addnorm.scenes.video import Size

Pixels = NDArray[Any]

SIZE = Size(640, 360, 15)


class StockCamera(Camera):
    """manim's own, with the draw list that the stage asks for."""

    drawn: tuple[Mobject, ...] = ()

    def capture_mobjects(self, mobjects: Iterable[Mobject], **kwargs: Any) -> None:
        self.drawn = tuple(self.get_mobjects_to_display(mobjects, **kwargs))
        super().capture_mobjects(self.drawn, include_submobjects=False)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "HEIGHT", 20)
    monkeypatch.setattr(tiles, "WIDTH", 80)


def frames(production: Production, state: str) -> list[Pixels]:
    """The pictures of a state; of the stage's camera, what has not changed is what it says has not."""
    taken: list[Pixels] = []

    class Filmed(R44):
        def note(self, _frames: int) -> None:
            picture = self.camera.pixel_array.copy()
            if isinstance(self.camera, StageCamera):
                marked = self.camera.take_changed()
                assert taken or marked.all()
                for part in pixels(~marked):
                    assert np.array_equal(picture[part], taken[-1][part])
            taken.append(picture)

    with studio(SIZE):
        Filmed(production, (state,)).render()
    return taken


@pytest.mark.parametrize("state", ["b1", "b2", "b3"])
def test_its_pictures_are_those_of_manims_camera(state: str, trace: Trace) -> None:
    production = Production(trace, "en", pace=2)
    ours = frames(production, state)
    with patch.object(staging, "StageCamera", StockCamera):
        stock = frames(production, state)
    assert len(ours) == len(stock) > 20
    assert all(map(np.array_equal, ours, stock))


@pytest.fixture
def camera() -> Iterable[StageCamera]:
    with tempconfig({"pixel_width": SIZE.width, "pixel_height": SIZE.height}):
        yield StageCamera()


def take(camera: StageCamera, *mobjects: Mobject) -> tuple[Pixels, tiles.Tiles]:
    camera.reset()
    camera.capture_mobjects(mobjects)
    return camera.pixel_array.copy(), camera.take_changed()


def test_what_stays_as_it_was_has_not_changed(camera: StageCamera) -> None:
    circle, square = Circle().shift((-4, 2, 0)), Square().shift((4, -2, 0))
    _, marked = take(camera, circle, square)
    assert marked.all()
    _, marked = take(camera, circle, square)
    assert not marked.any()
    before, _ = take(camera, circle, square)
    now, marked = take(camera, circle.shift((0.5, 0, 0)), square)
    differs = no_tiles(SIZE.height, SIZE.width)
    for row, column in np.ndindex(differs.shape):
        part = slice(20 * row, 20 * row + 20), slice(80 * column, 80 * column + 80)
        differs[row, column] = not np.array_equal(before[part], now[part])
    assert differs.any()
    assert marked[differs].all()
    assert not marked[9:].any()  # where the square is


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda line: line.set_stroke(width=9), id="width"),
        pytest.param(lambda line: line.set_stroke(opacity=0), id="opacity"),
        pytest.param(lambda line: line.set_color("#ff0000"), id="colour"),
        pytest.param(lambda line: line.set_color(["#ff0000", "#00ff00"]), id="gradient"),
        pytest.param(lambda line: line.set_stroke("#00ff00", width=9, background=True), id="behind"),
        pytest.param(lambda line: line.put_start_and_end_on((-1, -1, 0), (1, 1, 0)), id="ends"),
        pytest.param(lambda line: line.shift((0.01, 0, 0)), id="place"),
    ],
)
def test_every_change_is_noticed(camera: StageCamera, change: Any) -> None:
    line = Line((-1, 1, 0), (1, -1, 0))
    before, _ = take(camera, line)
    change(line)
    now, marked = take(camera, line)
    assert not np.array_equal(before, now)
    for part in pixels(~marked):
        assert np.array_equal(before[part], now[part])


def test_a_new_order_is_a_change(camera: StageCamera) -> None:
    under, over = Circle(fill_opacity=1), Square(fill_opacity=1, color="#00ff00")
    before, _ = take(camera, under, over)
    now, marked = take(camera, over, under)
    assert not np.array_equal(before, now)
    assert marked[7:11].any()


def test_what_is_gone_is_a_change(camera: StageCamera) -> None:
    circle = Circle()
    take(camera, circle)
    now, marked = take(camera)
    assert marked.any()
    assert (now == camera.background).all()


def test_what_is_drawn_twice_is_a_change(camera: StageCamera) -> None:
    circle = Circle(fill_opacity=0.5)
    once, _ = take(camera, circle)
    camera.capture_mobjects([circle])
    twice, marked = camera.pixel_array.copy(), camera.take_changed()
    assert not np.array_equal(once, twice)
    for part in pixels(~marked):
        assert np.array_equal(once[part], twice[part])
    again, _ = take(camera, circle)
    assert np.array_equal(once, again)


def test_a_point_at_no_place_draws_nothing(camera: StageCamera) -> None:
    circle = Circle()
    circle.points[3] = np.nan
    picture, _ = take(camera, circle)
    assert (picture == camera.background).all()
