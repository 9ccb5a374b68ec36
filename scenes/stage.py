"""The stage: plays a storyboard, audits every frame and compares every finished state with its promise.

A film subclasses :class:`Stage` and gives it three things: a storyboard (plain data), ``draw`` (how one element
looks in its place), and for each state a method ``enter_<state>`` (how things move from the picture before to
the picture after, in ordinary manim). ``manim render FILE CLASS`` works on it as on any scene.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from manim import (
    Animation,
    AnimationGroup,
    CairoRenderer,
    Create,
    FadeIn,
    FadeOut,
    ManimColor,
    Mobject,
    Scene,
    Transform,
    VMobject,
    config,
    smooth,
)
from numpy.typing import NDArray

from addnorm.mathcore.errors import AddnormError, found_in
from addnorm.mathcore.example_files import load_example
from addnorm.mathcore.trace import Trace, run
from addnorm.scenes.audit import AuditError, Auditor
from addnorm.scenes.camera import StageCamera
from addnorm.scenes.captions import reading_seconds
from addnorm.scenes.elements.lettering import Glyphs
from addnorm.scenes.elements.shapes import Shape
from addnorm.scenes.manifest import Play, Seen
from addnorm.scenes.paths import find_example
from addnorm.scenes.promise import Promised, broken_promise, unseen
from addnorm.scenes.storyboard import Element, State, Storyboard
from addnorm.scenes.text import Wording, plain
from addnorm.scenes.theme import Theme, load_theme

BEAT = 0.2
"""Seconds. Every duration is a multiple of it: whole frames at 15, 20, 25, 30 and 60 frames a second."""

SAME_PLACE = 1e-3
"""Scene units within which two shapes stand in the same place: a seventh of a pixel at 1080p."""

SHORTEST_HOLD = 3.0
"""Seconds at the normal pace that every finished state stays at least."""

Picture = dict[str, Any]
"""The mobjects on stage by element name, from back to front. Elements may be groups with named parts."""


@dataclass(frozen=True)
class Production:
    """What is filmed: one example's trace, in one language and one theme, at one pace (1 is the normal one).

    Without ``captions`` the pictures have none; the time to read them stays.
    """

    trace: Trace
    language: str = "zh"
    theme: str = "dark"
    pace: float = 1.0
    captions: bool = True


class StageRenderer(CairoRenderer):
    """manim's renderer with whole-frame holds, and a word to the stage about each frame before it is written."""

    stage: Stage
    camera: StageCamera

    def save_static_frame_data(self, scene: Scene, static_mobjects: Iterable[Mobject]) -> Any:
        """Draw what stands still during a play, once."""
        image = super().save_static_frame_data(scene, static_mobjects)
        if image is not None:
            self.stage.keep_seen()
        return image

    def update_frame(  # type: ignore[override]  # the rest of manim's arguments pass through
        self, scene: Scene, mobjects: Iterable[Mobject] | None = None, **kwargs: Any
    ) -> None:
        """Draw a frame over what stands still, and let the stage see it."""
        # Without moving mobjects the static image is the frame; drawing everything over it again, as manim does,
        # would make translucent edges denser during holds.
        if self.static_image is not None and mobjects is not None and not list(mobjects):
            self.camera.set_frame_to_background(self.static_image)
            self.camera.drawn = ()
        else:
            super().update_frame(scene, mobjects, **kwargs)
        self.stage.see(self.camera.drawn, over_still=self.static_image is not None)

    def render(self, scene: Scene, _time: float, moving_mobjects: Iterable[Mobject] | None = None) -> None:
        """Draw a frame and hand it on."""
        self.update_frame(scene, moving_mobjects)
        self.add_frame(self._picture())

    def _picture(self) -> Any:
        """What the camera shows; a copy for manim's own encoder, which works behind."""
        return self.get_frame() if self.file_writer.output_spec.enabled else self.camera.pixel_array

    def add_frame(self, frame: Any, num_frames: int = 1) -> None:
        """Write a frame, and let the stage note what is on it."""
        if not self.skip_animations:
            self.stage.note(num_frames)
        super().add_frame(frame, num_frames)

    def freeze_current_frame(self, duration: float) -> None:
        """Hold a frame for a whole number of frames."""
        self.stage.keep_seen()
        self.add_frame(self._picture(), num_frames=round(duration * self.camera.frame_rate))


class Stage(Scene):
    """Plays a storyboard for one production. Subclasses set ``names`` and define the methods named above."""

    example: ClassVar[str] = "r44"
    language: ClassVar[str] = "zh"
    theme_name: ClassVar[str] = "dark"
    names: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        production: Production | None = None,
        states: tuple[str, ...] | None = None,
        file_writer_class: Any = None,
    ) -> None:
        if production is None:
            production = Production(run(load_example(find_example(self.example))), self.language, self.theme_name)
        config.disable_caching = True  # a cached clip is a clip that nobody audited
        renderer = StageRenderer(
            camera_class=StageCamera,
            **({} if file_writer_class is None else {"file_writer_class": file_writer_class}),
        )
        renderer.stage = self
        super().__init__(renderer=renderer)
        self.renderer: StageRenderer = renderer
        self.production = production
        self.trace = production.trace
        self.theme: Theme = load_theme(production.theme)
        self.board: Storyboard = self.storyboard(self.trace)
        state_names = {state.name: state.name for state in self.board.states}
        self.wording = Wording(production.language, self.trace, {**state_names, **self.names})
        self.playing = states or tuple(state.name for state in self.board.states)
        self.camera.background_color = ManimColor(self.theme.color("ground"))
        self.plays: list[Play] = []
        self._auditor = Auditor(self.trace, self.wording)
        self._state = ""
        self._promised: Promised | None = None
        self._seen: Seen = ()

    @property
    def camera(self) -> StageCamera:
        """The camera, which knows what it drew last."""
        return self.renderer.camera

    # What a film defines.

    @staticmethod
    def storyboard(trace: Trace) -> Storyboard:
        """The film's states for a trace."""
        raise NotImplementedError

    def draw(self, element: Element, state: State) -> Mobject:
        """An element as it stands in a state's finished picture."""
        raise NotImplementedError

    # Playing.

    def construct(self) -> None:
        """Play the states asked for."""
        for name in self.playing:
            self.perform(self.board.state(name))

    def picture(self, state: State) -> Picture:
        """A state's finished picture, checked against what the state promises."""
        self._state = state.name
        if not self.production.captions:
            state = state.without("caption")
        return {element.name: self.present(element, state) for element in state.elements}

    def present(self, element: Element, state: State) -> Any:
        """An element of a state as it is drawn, checked against what the state promises of it."""
        with found_in(self.trace.example.source):
            mobject = self.draw(element, state)
        if broken := broken_promise(state, element, mobject, self.trace):
            raise AuditError(f"state {state.name}: element {element.name}: {broken}")
        return mobject

    def perform(self, state: State) -> None:
        """Move from the picture before into this state's picture, and hold it."""
        previous = self.board.before(state.name)
        before = self.picture(previous) if previous else {}
        self._promised = Promised((previous, state) if previous else (state,))
        after = self.picture(state)
        for name in before.keys() & after.keys():
            if _same_picture([before[name]], [after[name]]):
                after[name] = before[name]
        self.clear()
        self.add(*before.values())
        getattr(self, f"enter_{state.name}")(before, after)
        self._require_arrived(state, after)
        self.clear()
        self.add(*after.values())
        self.wait(self.hold_seconds(state))
        self._require_shown(state)

    def hold_seconds(self, state: State) -> float:
        """How long a finished state stays: until its caption can be read; half of the motion's time counts too."""
        reading = 0.0
        if any(element.kind == "caption" for element in state.elements):
            words = plain(self.wording.caption(self.board.film, state.name))
            reading = reading_seconds(words, self.production.pace)
        moved = sum(play.frames for play in self.plays if play.state == state.name) / self.camera.frame_rate
        beats = round((reading - moved / 2) / BEAT)
        return max(beats * BEAT, self.paced(SHORTEST_HOLD))

    def show(self, state: State) -> None:
        """Put a finished picture on stage without motion, and have it audited."""
        picture = self.picture(state)
        self._promised = Promised((state,))
        self.clear()
        self.add(*picture.values())
        self.renderer.static_image = None
        self.renderer.update_frame(self, self.mobjects)
        self.keep_seen()  # a still is at rest: whatever the audit asks of a held frame, it asks of this one
        self._require_shown(state)

    def move(self, *animations: Animation, seconds: float) -> None:
        """Play animations side by side for a duration at the production's pace."""
        self.play(*animations, run_time=self.paced(seconds))

    def take_away(self, *mobjects: Mobject) -> None:
        """Remove mobjects with all their parts; manim's ``remove`` misses those it has taken out of their group."""
        self.remove(*(member for mobject in mobjects for member in mobject.get_family()))

    def paced(self, seconds: float) -> float:
        """A duration at the production's pace, in whole beats."""
        return max(1, round(seconds / self.production.pace / BEAT)) * BEAT

    def get_time_progression(self, run_time: float, *args: Any, **kwargs: Any) -> Any:
        """The times of a play's frames, exactly as many as its duration holds."""
        # manim counts frames by adding up rounded steps and may come out one short or one over.
        frames = round(run_time * self.camera.frame_rate)
        if abs(frames - run_time * self.camera.frame_rate) > 1e-6:
            raise AddnormError(
                f"{self._state}: {run_time} s is not a whole number of frames; use multiples of {BEAT} s"
            )
        progression = super().get_time_progression(run_time, *args, **kwargs)
        progression.iterable = np.arange(frames) / self.camera.frame_rate
        return progression

    # Watching.

    def see(self, drawn: Iterable[Mobject], over_still: bool) -> None:
        """Audit a picture that was just drawn, over what was kept if so it was."""
        with self._telling_where():
            self._auditor.inspect_camera(self.camera)
            self._seen = self._auditor.inspect(tuple(drawn), over_still=over_still)
            if self._promised is not None and (stray := self._promised.exceeded(self._seen)):
                raise AuditError(f"{stray} is drawn, which the state does not have")

    def keep_seen(self) -> None:
        """What was just seen stays as it is: beneath the play that begins, or frozen."""
        with self._telling_where():
            self._auditor.keep()

    @contextmanager
    def _telling_where(self) -> Iterator[None]:
        try:
            yield
        except AuditError as error:
            frame = sum(play.frames for play in self.plays)
            raise AuditError(f"state {self._state or 'none'}, frame {frame}: {error}") from None

    def note(self, frames: int) -> None:
        """Note that what was just seen is shown on so many frames."""
        self.plays.append(Play(self._state, frames, self._seen))

    # Promises.

    def _require_shown(self, state: State) -> None:
        if missing := unseen(state, self._seen):
            raise AuditError(f"state {state.name}: {missing} is promised, but cannot be seen on its picture")

    def _require_arrived(self, state: State, after: Picture) -> None:
        strays, missing = _compare(self.mobjects, after.values())
        if strays or missing:
            raise AuditError(
                f"state {state.name}: its motion does not end on its picture;"
                f" left over: {_describe(strays)}; missing: {_describe(missing)}"
            )


def _leaves(mobjects: Iterable[Mobject]) -> list[VMobject]:
    family = (member for mobject in mobjects for member in mobject.family_members_with_points())
    return [leaf for leaf in family if isinstance(leaf, VMobject) and _is_visible(leaf)]


def _is_visible(leaf: VMobject) -> bool:
    stroked = leaf.get_stroke_width() > 0 and leaf.get_stroke_opacity() > 0
    return bool(leaf.get_fill_opacity() > 0 or stroked)


def _trait(leaf: VMobject) -> tuple[str, str, str, str]:
    """What a leaf is, whatever its place: its kind, its text, and its colours."""
    text = leaf.ink.run.text if isinstance(leaf, Glyphs) else ""
    filled, drawn = leaf.get_fill_opacity() > 0, leaf.get_stroke_width() > 0 and leaf.get_stroke_opacity() > 0
    fill = f"{leaf.fill_color.to_hex()} {leaf.get_fill_opacity():.3f}" if filled else ""
    return type(leaf).__name__, text, fill, leaf.stroke_color.to_hex() if drawn else ""


def _corners(leaf: VMobject) -> NDArray[np.float64]:
    return np.concatenate([leaf.points.min(axis=0), leaf.points.max(axis=0)])


def _compare(left: Iterable[Mobject], right: Iterable[Mobject]) -> tuple[list[VMobject], list[VMobject]]:
    """The visible leaves of each picture that have no twin in the other."""
    missing, strays = _leaves(right), []
    for leaf in _leaves(left):
        twin = next((other for other in missing if _are_twins(leaf, other)), None)
        if twin is None:
            strays.append(leaf)
        else:
            missing = [other for other in missing if other is not twin]
    return strays, missing


def _are_twins(leaf: VMobject, other: VMobject) -> bool:
    return _trait(leaf) == _trait(other) and bool(np.abs(_corners(leaf) - _corners(other)).max() < SAME_PLACE)


def _same_picture(left: Iterable[Mobject], right: Iterable[Mobject]) -> bool:
    return _compare(left, right) == ([], [])


def _describe(leaves: list[VMobject]) -> str:
    """The first few leaves, for an error."""
    return "; ".join(" ".join(filter(None, _trait(leaf))) for leaf in leaves[:3]) or "nothing"


def glide(before: Mobject, after: Mobject) -> Animation:
    """Move an element to where its twin stands in the next picture; both are made of the same parts."""
    return Transform(before, after)


def draw_in(mobject: Mobject) -> Animation:
    """Let an element appear: lines are drawn along their length, text fades in, arrow tips come last."""
    return AnimationGroup(*(_appearance(leaf) for leaf in _leaves([mobject])))


def exchange(before: Picture, after: Picture, *names: str) -> list[Animation]:
    """Exchange elements that differ between two pictures: what leaves has faded before what comes appears."""
    animations: list[Animation] = []
    for name in names:
        old, new = before.get(name), after.get(name)
        if old is new:
            continue
        if old is not None:
            animations.append(FadeOut(old, rate_func=early if new is not None else smooth))
        if new is not None:
            animations.append(FadeIn(new, rate_func=late if old is not None else smooth))
    return animations


def early(t: float) -> float:
    """A rate that is done at half time."""
    return float(smooth(min(1.0, 2 * t)))


def late(t: float) -> float:
    """A rate that starts at half time."""
    return float(smooth(max(0.0, 2 * t - 1)))


def _appearance(leaf: VMobject) -> Animation:
    if leaf.get_stroke_width() > 0 and leaf.get_fill_opacity() == 0:
        return Create(leaf)
    return FadeIn(leaf, rate_func=late if isinstance(leaf, Shape) else smooth)
