"""The frame audit: scenes that lie, each in its own way, and motions that are honest."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import manim
import numpy as np
import pytest
from manim import (
    AnimationGroup,
    ApplyMethod,
    ChangeDecimalToValue,
    Circle,
    Create,
    DecimalNumber,
    FadeIn,
    FadeOut,
    FadeToColor,
    FadeTransform,
    Flash,
    GrowFromCenter,
    ImageMobject,
    Indicate,
    Integer,
    LaggedStart,
    Line,
    MarkupText,
    MoveAlongPath,
    Polygon,
    Rectangle,
    ReplacementTransform,
    Rotate,
    ShrinkToCenter,
    Square,
    Succession,
    SVGMobject,
    Text,
    Transform,
    TransformFromCopy,
    Typst,
    ValueTracker,
    VGroup,
    VMobject,
    Write,
    always_redraw,
    there_and_back,
)

from addnorm.mathcore.example import Example
from addnorm.mathcore.labels import Label, label, stage_label, stage_style
from addnorm.mathcore.symbols import Symbol, layer_norm_formula, symbol
from addnorm.mathcore.trace import Trace, run
from addnorm.scenes.audit import AuditError
from addnorm.scenes.contours import polygons
from addnorm.scenes.elements.lettering import Glyphs, Ink, Lettering
from addnorm.scenes.elements.shapes import Shape
from addnorm.scenes.elements.value_chart import Bars, Level, Quantity, Travel
from addnorm.scenes.stage import Picture, Production
from addnorm.scenes.storyboard import Element, State
from addnorm.scenes.text import (
    Constant,
    Counted,
    Elided,
    Name,
    Run,
    Sum,
    User,
    relation_line,
    symbol_line,
    value_line,
)
from addnorm.scenes.typeset import Span, typeset

Stage = Any
Act = Callable[[Stage, Picture], None]
Perform = Callable[..., Any]

GROUND = "#000000"
any_text: Any = Text  # manim's hints allow LaTeX only, which need not be installed


def numbers(picture: Picture) -> list[Glyphs]:
    """The glyphs of r₁'s four numbers: 2, 1.599, 0.802, −0.006."""
    return [lettering[0] for lettering in picture["row"].numbers]


def outline_of(text: str) -> Any:
    return typeset([Span(text)]).outlines[0]


def written(stage: Stage, *runs: Run) -> Lettering:
    lettering: Lettering = stage.pen.write(runs, 44).center_on(0, 0.5)
    return lettering


def svg_file(folder: Path) -> Path:
    """A drawing of the digit 7, as paths."""
    path = " ".join(
        "M " + " L ".join(f"{x:.3f} {-y:.3f}" for x, y in polygon) + " Z" for polygon in polygons(outline_of("7"))
    )
    file = folder / "seven.svg"
    file.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -1 1 1"><path d="{path}"/></svg>')
    return file


LIES: dict[str, tuple[Act, str]] = {}
"""Acts on the small stage, each with a part of the complaint it must meet with."""


def lie(complaint: str) -> Callable[[Act], Act]:
    def enter(act: Act) -> Act:
        LIES[act.__name__] = (act, complaint)
        return act

    return enter


# What does not come from the factory.


@lie("Text|nor is a plain shape")
def a_digit_typed_in_text(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(Text("0.592454")))


@lie("nor is a plain shape")
def a_digit_typed_in_typst(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(Typst("0.592454")))


@lie("nor is a plain shape")
def a_digit_typed_in_markup(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(MarkupText("<b>0.592454</b>")))


@lie("nor is a plain shape")
def a_decimal_number(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(DecimalNumber(0.592454, num_decimal_places=6, mob_class=any_text)))


@lie("nor is a plain shape")
def an_integer_that_counts(stage: Stage, _: Picture) -> None:
    number = Integer(1, mob_class=any_text)
    stage.add(number)
    stage.play(ChangeDecimalToValue(number, 9))


@lie("nor is a plain shape")
def an_svg_with_digits(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(SVGMobject(svg_file(stage.folder))))


@lie("ImageMobject is drawn")
def an_image(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(ImageMobject(np.full((4, 4, 3), 255, dtype=np.uint8))))


@lie("is coloured from a picture")
def a_shape_coloured_from_an_image(stage: Stage, _: Picture) -> None:
    square = Square(fill_opacity=1)
    square.color_using_background_image("digits.png")
    stage.play(FadeIn(square))


@lie("VMobject at .* nor is a plain shape")
def a_bare_outline(stage: Stage, _: Picture) -> None:
    shape = VMobject(fill_opacity=1)
    shape.points = outline_of("0.592454")
    stage.play(FadeIn(shape))


@lie("outline of the digit 5")
def a_shape_that_spells_digits(stage: Stage, _: Picture) -> None:
    class Ornament(Shape):
        pass

    shape = Ornament(fill_opacity=1, stroke_width=0)
    shape.points = outline_of("0.592454")
    stage.play(FadeIn(shape))


@lie("outline of the digit 7")
def a_polygon_in_the_form_of_a_digit(stage: Stage, _: Picture) -> None:
    corners = [(*corner, 0) for corner in polygons(outline_of("7"))[0][::8]]
    stage.play(Create(Polygon(*corners, fill_opacity=0, stroke_width=2)))
    stage.wait(0.2)


@lie("outline of the digit 3")
def a_stretched_digit_drawn_as_a_line(stage: Stage, _: Picture) -> None:
    corners = [(2 * x, y, 0) for x, y in polygons(outline_of("3"))[0]]
    stage.play(Create(Polygon(*corners)))
    stage.wait(0.2)


@lie("outline of the digit 4")
def a_shape_that_becomes_a_digit(stage: Stage, _: Picture) -> None:
    shape = Shape(fill_opacity=1, stroke_width=0)
    shape.points = outline_of("4")
    square = Square(fill_opacity=1)
    stage.play(Transform(square, shape))
    stage.wait(0.2)


@lie("nor is a plain shape")
def a_class_that_poses_as_a_shape_of_manim(stage: Stage, _: Picture) -> None:
    posing = type("Square", (VMobject,), {"__module__": "manim.mobject.geometry.polygram"})
    shape = posing(fill_opacity=1)
    shape.points = outline_of("0")
    stage.play(FadeIn(shape))


@lie("nor is a plain shape")
def a_class_that_poses_as_glyphs(stage: Stage, _: Picture) -> None:
    class Glyphs2(Glyphs):
        pass

    ink = stage.write("ln.mean[0]")[0].ink
    stage.play(FadeIn(Glyphs2(ink, "#FFFFFF", 0.4)))


@lie("nor is a plain shape")
def a_text_in_the_foreground(stage: Stage, _: Picture) -> None:
    stage.add_foreground_mobject(Text("7"))
    stage.wait(0.2)


@lie("nor is a plain shape")
def a_text_during_a_single_frame(stage: Stage, _: Picture) -> None:
    text, clock = Text("7", fill_opacity=0), ValueTracker(0)
    text.add_updater(lambda text: text.set_opacity(float(clock.get_value() == 2)))
    stage.add(text)
    stage.play(ApplyMethod(clock.set_value, 4, rate_func=lambda t: round(4 * t) / 4), run_time=1)


# Glyphs that were tampered with.


@lie("'1.599': the drawn glyphs are not those of this text")
def one_number_transformed_into_another(stage: Stage, picture: Picture) -> None:
    stage.play(Transform(numbers(picture)[1], numbers(picture)[2]))


@lie("the drawn glyphs are not those of this text")
def one_number_faded_into_another_by_morphing(stage: Stage, picture: Picture) -> None:
    stage.play(FadeTransform(picture["row"].numbers[1], picture["row"].numbers[2]))


@lie("'1.599': the drawn glyphs are not those of this text")
def the_points_of_two_numbers_exchanged(stage: Stage, picture: Picture) -> None:
    _, a, b, _ = numbers(picture)
    a.points, b.points = b.points, a.points
    stage.wait(0.2)


@lie("'0.802': the drawn glyphs are not those of this text")
def a_mirrored_number(stage: Stage, picture: Picture) -> None:
    numbers(picture)[2].stretch(-1, 0)
    stage.wait(0.2)


@lie("'1.599': the drawn glyphs are not those of this text")
def a_number_turned_upside_down(stage: Stage, picture: Picture) -> None:
    stage.play(Rotate(numbers(picture)[1], np.pi))


@lie("'1.599': the drawn glyphs are not those of this text")
def a_number_a_little_wider(stage: Stage, picture: Picture) -> None:
    numbers(picture)[1].stretch(1.001, 0)
    stage.wait(0.2)


@lie("'−0.006': the drawn glyphs are not those of this text")
def a_number_without_its_minus(stage: Stage, picture: Picture) -> None:
    number = numbers(picture)[3]
    minus = polygons(number.points)[0]
    number.points = number.points[len(minus) // 8 * 4 :]
    stage.wait(0.2)


@lie("'1.599': the drawn glyphs are not those of this text")
def a_number_written_stroke_by_stroke(stage: Stage, picture: Picture) -> None:
    stage.play(Write(numbers(picture)[1]))


@lie("'1.599': the drawn glyphs are not those of this text")
def a_number_with_points_that_are_no_numbers(stage: Stage, picture: Picture) -> None:
    numbers(picture)[1].points[3] = np.nan
    stage.wait(0.2)


@lie("its outline is not the one in which this text is set")
def an_outline_under_a_true_label(stage: Stage, _: Picture) -> None:
    true = stage.write("ln.mean[0]")[0].ink
    ink = Ink(true.line, 0, outline_of("1.098889"), true.language, None)
    stage.play(FadeIn(Glyphs(ink, "#FFFFFF", 0.4)))


@lie("its outline is not the one in which this text is set")
def an_ink_replaced_while_it_is_drawn(stage: Stage, picture: Picture) -> None:
    number = numbers(picture)[1]
    outline = outline_of("1.698")
    stage.wait(0.2)
    number.ink = Ink(number.ink.line, 0, outline, "en", None)
    number.points = outline * 0.4
    stage.wait(0.2)


@lie("not of one colour, or has a line round it")
def a_number_half_transparent(stage: Stage, picture: Picture) -> None:
    numbers(picture)[3].fill_rgbas = np.array([[1, 1, 1, 0], [1, 1, 1, 1.0]])
    stage.wait(0.2)


@lie("not of one colour, or has a line round it")
def a_number_blotted_out_by_its_own_line(stage: Stage, picture: Picture) -> None:
    stage.play(numbers(picture)[1].animate.set_stroke(GROUND, width=40, opacity=1))


# Texts whose source says something else.


@lie("is drawn as Label.*the trace has Label")
def a_number_of_another_example(stage: Stage, _: Picture) -> None:
    example = stage.trace.example
    other = run(replace(example, x=example.x + [[0, 0, 0.5, 0]] * 3))
    stage.play(FadeIn(stage.write("ln.mean[0]", other)))


@lie("is drawn as Label.*the trace has Label")
def the_right_text_for_the_wrong_reference(stage: Stage, _: Picture) -> None:
    true = stage_label(stage.trace, "resid_mid[0,2]")
    stage.play(FadeIn(written(stage, Run(true.text, replace(true, ref="resid_mid[0,1]")))))


@lie("is drawn where .* says '0.802'")
def another_text_under_a_true_label(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(written(stage, Run("0.803", stage_label(stage.trace, "resid_mid[0,2]")))))


@lie('"ln.skew" is not in the trace')
def a_reference_to_nothing(stage: Stage, _: Picture) -> None:
    true = stage_label(stage.trace, "ln.mean[0]")
    stage.play(FadeIn(written(stage, Run(true.text, replace(true, ref="ln.skew")))))


@lie("is drawn where|is drawn as Label")
def a_counter_between_two_values(stage: Stage, _: Picture) -> None:
    count, true = ValueTracker(0), stage_label(stage.trace, "ln.mean[0]")

    def now() -> Lettering:
        value = count.get_value()
        return written(stage, Run(f"{value:.6f}", replace(true, text=f"{value:.6f}", value=value)))

    stage.add(always_redraw(now))
    stage.play(count.animate.set_value(true.value))


@lie("is drawn where|is drawn as Label")
def a_counter_that_keeps_its_source(stage: Stage, _: Picture) -> None:
    count, true = ValueTracker(0), stage_label(stage.trace, "ln.mean[0]")
    stage.add(always_redraw(lambda: written(stage, Run(f"{count.get_value():.6f}", true))))
    stage.play(count.animate.set_value(true.value))


@lie("the number ln.var")
def a_number_that_the_state_does_not_have(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(stage.write("ln.var[0]")))


@lie("'0.592454' is drawn where .* says 'nothing'")
def a_name_made_of_digits(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(written(stage, Run("0.592454", Name("0.592454")))))


@lie("the name '2' is drawn by itself, which reads as a number")
def a_name_that_reads_as_a_number(stage: Stage, _: Picture) -> None:
    stage.wording = replace(stage.wording, names={**stage.wording.names, "lecture": "2"})
    stage._auditor._wording = stage.wording
    stage.play(FadeIn(written(stage, Run("2", Name("2")))))


@lie("is drawn where Constant")
def a_constant_made_of_digits(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(written(stage, Run("0.592454", Constant("r44.attention")))))


@lie("there is no such entry")
def a_constant_without_a_key(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(written(stage, Run("0.592454", Constant("r44.nothing")))))


@lie("is drawn where User.*says 'token 1'")
def the_users_words_from_another_field(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(written(stage, Run("token 2", User("tokens[0]")))))


@lie("is drawn where User.*says 'nothing'")
def words_that_no_user_wrote(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(written(stage, Run("0.592454", User("subtitle.en")))))


@lie("is drawn where Symbol.*says 'nothing'")
def a_symbol_with_a_number_for_its_math(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(written(stage, Run("μ", Symbol("ln.mean", "μ", '"0.5"')))))


@lie("is drawn where Symbol.*says 'nothing'")
def a_symbol_of_a_token_that_does_not_exist(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(written(stage, *symbol_line(symbol("ln.mean", 7)))))


@lie("'five features' is drawn where Counted")
def a_wrong_count(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(written(stage, Run("five features", Counted("features")))))


@lie("is drawn where Elided.*says 'nothing'")
def more_cells_left_out_than_there_are(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(written(stage, Run("… 377 more …", Elided(377)))))


@lie("formula .* is drawn where the example's is")
def a_formula_with_epsilon_outside_the_root(stage: Stage, _: Picture) -> None:
    true = layer_norm_formula("post")
    inside, outside = "sqrt(atom(#6, sigma^2) atom(#7, + epsilon))", "sqrt(atom(#6, sigma^2)) atom(#7, + epsilon)"
    assert inside in true.math
    false = replace(true, math=true.math.replace(inside, outside))
    stage.play(FadeIn(stage.pen.formula(false, 36).center_on(0, 0.5)))


@lie("resid_pre.0,0. . attn_out.0,1. is not resid_mid.0,0.")
def a_sum_of_other_terms(stage: Stage, _: Picture) -> None:
    x, update, total = (stage_label(stage.trace, ref) for ref in ("resid_pre[0,0]", "attn_out[0,1]", "resid_mid[0,0]"))
    stage.play(FadeIn(written(stage, *relation_line((x, update), total))))


@lie("nothing says between what")
def an_equals_sign_by_itself(stage: Stage, _: Picture) -> None:
    stage.play(FadeIn(written(stage, *stage.wording.sign("="))))


@lie("nothing says what is added")
def arithmetic_in_a_line_that_nobody_checked(stage: Stage, _: Picture) -> None:
    a, b = (value_line(stage_label(stage.trace, f"resid_mid[0,{n}]")) for n in (1, 2))
    stage.play(FadeIn(written(stage, *a, *stage.wording.sign(" = "), *b)))


@lie("ln.mean.0. is drawn under the name σ²")
def a_number_under_another_symbol(stage: Stage, _: Picture) -> None:
    number = value_line(stage_label(stage.trace, "ln.mean[0]"))
    stage.play(FadeIn(written(stage, *symbol_line(symbol("ln.var")), *stage.wording.sign(" = "), *number)))


@lie("ln.mean.0. is drawn under the name μ₂")
def a_number_under_the_name_of_another_token(stage: Stage, _: Picture) -> None:
    number = value_line(stage_label(stage.trace, "ln.mean[0]"))
    stage.play(FadeIn(written(stage, *symbol_line(symbol("ln.mean", 1)), *stage.wording.sign(" = "), *number)))


@lie("reads as one number")
def a_sign_put_before_a_number(stage: Stage, _: Picture) -> None:
    number = value_line(stage_label(stage.trace, "ln.mean[0]"))
    stage.play(FadeIn(written(stage, *stage.wording.sign("−"), *number)))


@lie("is drawn where the whole sentence is")
def two_sentences_mixed(stage: Stage, _: Picture) -> None:
    first, second = stage.wording.line("r44.layer_norm"), value_line(stage_label(stage.trace, "ln.mean[0]"))
    stage.play(FadeIn(written(stage, *first, *second)))


# Lengths.


@lie("Bars of resid_mid.0.: a drawn length is not the length of its value")
def a_bar_a_little_too_long(stage: Stage, picture: Picture) -> None:
    bars = picture["chart"][0]
    bars.points[bars.points[:, 1] == bars.points[:, 1].max(), 1] += 1e-3
    stage.wait(0.2)


@lie("a drawn length is not the length of its value")
def bars_of_another_trace(stage: Stage, picture: Picture) -> None:
    example = stage.trace.example
    other = run(replace(example, x=example.x + [[0, 0, 0.5, 0]] * 3))
    stage.play(Travel(picture["chart"][0], other))


@lie("a drawn length is not the length of its value")
def bars_that_grow_by_scaling(stage: Stage, picture: Picture) -> None:
    stage.play(GrowFromCenter(picture["chart"][0]))


@lie("gone different shares")
def lengths_on_their_way_at_different_speeds(stage: Stage, picture: Picture) -> None:
    bars, level = picture["chart"]
    stage.play(Travel(bars, stage.trace), Travel(level, stage.trace, rate_func=manim.linear))


@lie("stands beside Bars")
def a_number_beside_a_bar_on_its_way(stage: Stage, picture: Picture) -> None:
    stage.add(stage.write("resid_mid[0,0]").move_to([-3.2, 0.2, 0]))
    stage.play(Travel(picture["chart"][0], stage.trace))


@lie("rests between two values")
def a_bar_left_half_way(stage: Stage, picture: Picture) -> None:
    picture["chart"][0].travel_to(0.5, stage.trace)
    stage.wait(0.2)


@lie("has gone 1.2 of its way")
def a_bar_beyond_its_value(stage: Stage, picture: Picture) -> None:
    picture["chart"][0].travel_to(1.2, stage.trace)
    stage.wait(0.2)


@lie("are drawn on two scales")
def two_scales_in_one_chart(stage: Stage, picture: Picture) -> None:
    bars = picture["chart"][0]
    scale = replace(bars.ground.end, unit=0.25)
    bars.ground = replace(bars.ground, start=scale, end=scale)
    bars.travel_to(1, stage.trace)
    stage.wait(0.2)


@lie("do not stand on the same zero")
def one_part_of_a_chart_raised(stage: Stage, picture: Picture) -> None:
    picture["chart"][1].shift([0, 0.1, 0])
    stage.wait(0.2)


@lie("do not stand side by side")
def bars_under_the_wrong_features(stage: Stage, picture: Picture) -> None:
    bars = picture["chart"][0]
    bars.ground = replace(bars.ground, lefts=bars.ground.lefts[::-1], rights=bars.ground.rights[::-1])
    bars.travel_to(1, stage.trace)
    stage.wait(0.2)


@lie("a length of ln.std")
def a_length_that_the_state_does_not_have(stage: Stage, picture: Picture) -> None:
    ground = picture["chart"][1].ground
    stage.play(FadeIn(Level(None, Quantity("ln.std", 0), ground, stage.trace, "#FFFFFF")))


@lie("lengths? .*|nor is a plain shape")
def a_bar_that_computes_its_own_length(stage: Stage, picture: Picture) -> None:
    class Taller(Bars):
        def edges(self, trace: Trace, t: float) -> tuple[Any, Any]:
            low, high = super().edges(trace, t)
            return low, high * 1.5

    bars = picture["chart"][0]
    stage.play(FadeIn(Taller(None, Quantity("resid_mid", 0), bars.ground, stage.trace, "#FFFFFF")))


@lie("it is not of one colour, or has a line round it")
def bars_made_longer_by_a_line_round_them(stage: Stage, picture: Picture) -> None:
    picture["chart"][0].set_stroke("#88CC88", width=30, opacity=1)
    stage.wait(0.2)


@lie("does not grow upwards")
def a_chart_upside_down(stage: Stage, picture: Picture) -> None:
    for shape in picture["chart"]:
        scale = replace(shape.ground.end, unit=-0.5)
        shape.ground = replace(shape.ground, start=scale, end=scale)
        shape.travel_to(1, stage.trace)
    stage.wait(0.2)


# What is seen of it.


def patch(left: float, right: float, height: float = 1) -> Rectangle:
    """A piece of ground, from left to right at the height of r₁'s row."""
    width = right - left
    return Rectangle(width=width, height=height, fill_color=GROUND, fill_opacity=1, stroke_width=0).move_to(
        ((left + right) / 2, 1.5, 0)
    )


@lie("'−0.006' is partly hidden by Rectangle")
def a_minus_painted_over(stage: Stage, picture: Picture) -> None:
    number = numbers(picture)[3]
    stage.add(patch(number.get_left()[0] - 0.1, number.get_left()[0] + 0.17, 0.5))
    stage.wait(0.2)


@lie("'−0.006' is partly hidden by Rectangle")
def a_minus_that_is_painted_over(stage: Stage, picture: Picture) -> None:
    number = numbers(picture)[3]
    stage.play(FadeIn(patch(number.get_left()[0] - 0.1, number.get_left()[0] + 0.17, 0.5)))


@lie("'1.599' is partly hidden by Line")
def a_digit_struck_out_by_a_broad_line(stage: Stage, picture: Picture) -> None:
    number = numbers(picture)[1]
    end = number.get_right()
    line = Line(end + manim.DOWN, end + manim.UP, stroke_width=20, color=GROUND)
    stage.add(line.shift(0.1 * manim.LEFT))
    stage.wait(0.2)


@lie("'−0.006' is partly hidden by Rectangle")
def a_minus_put_under_by_the_z_index(stage: Stage, picture: Picture) -> None:
    number = numbers(picture)[3]
    cover = patch(number.get_left()[0] - 0.1, number.get_left()[0] + 0.17, 0.5).set_z_index(1)
    stage.remove(*picture.values())
    stage.add(cover, *picture.values())
    stage.wait(0.2)


@lie("partly hidden by the edge of the frame")
def a_number_half_out_of_the_frame(stage: Stage, picture: Picture) -> None:
    stage.play(picture["row"].numbers[1].animate.move_to([7.1, 0, 0]))
    stage.wait(0.2)


@lie("Bars of resid_mid.0. is partly hidden")
def a_bar_cut_short_by_a_patch(stage: Stage, _: Picture) -> None:
    stage.add(patch(-4, -2).shift(1.6 * manim.DOWN))
    stage.wait(0.2)


@lie("'0.802' runs into Glyphs '2'|'2' runs into Glyphs '0.802'")
def two_numbers_that_read_as_one(stage: Stage, picture: Picture) -> None:
    two, _, other, _ = numbers(picture)
    two.next_to(other, manim.LEFT, buff=0.02)
    stage.wait(0.2)


@pytest.mark.parametrize("name", LIES)
def test_a_lie_stops_the_film(name: str, perform: Perform, tmp_path: Path) -> None:
    act, complaint = LIES[name]
    with pytest.raises(AuditError, match=rf"^state s, frame \d+: .*({complaint})"):
        perform(act, folder=tmp_path)


def test_the_frame_of_a_lie_is_told(perform: Perform) -> None:
    def act(stage: Stage, _: Picture) -> None:
        stage.wait(0.4)
        stage.play(FadeIn(Text("7")), run_time=1)

    with pytest.raises(AuditError, match=r"^state s, frame 7: "):  # on frame 6 it is still invisible
        perform(act)


def test_a_label_that_the_example_no_longer_has_is_stale(perform: Perform, r44: Example, trace: Trace) -> None:
    """The film was made, then an entry of X changed: what was drawn before is no longer true."""
    x = r44.x.copy()
    x[0, 2] = 1.001
    changed = run(replace(r44, x=x))
    stale = stage_label(trace, "ln.mean[0]")
    assert stage_label(changed, "ln.mean[0]") != stale

    def act(stage: Stage, _: Picture) -> None:
        stage.play(FadeIn(stage.pen.write(value_line(stale), 44)))

    with pytest.raises(AuditError, match="the trace has Label"):
        perform(act, changed)


def test_a_label_is_stale_even_where_its_digits_are_still_right(perform: Perform, r44: Example, trace: Trace) -> None:
    x = r44.x.copy()
    x[0, 2] = 1 + 1e-9
    changed, stale = run(replace(r44, x=x)), stage_label(trace, "ln.mean[0]")
    assert stage_label(changed, "ln.mean[0]").text == stale.text

    def act(stage: Stage, _: Picture) -> None:
        stage.play(FadeIn(stage.pen.write(value_line(stale), 44)))

    with pytest.raises(AuditError, match="the trace has Label"):
        perform(act, changed)


def test_an_equals_sign_needs_digits_that_close(perform: Perform, r44: Example) -> None:
    rough = run(replace(r44, x=r44.x + 0.0004))
    rows = ([stage_label(rough, f"{name}[0,{n}]") for n in range(4)] for name in ("resid_pre", "attn_out", "resid_mid"))
    x, update, total = next(
        (x, update, total)
        for x, update, total in zip(*rows, strict=True)
        if relation_line((x, update), total)[0].text == "≈"
    )

    def act(sign: str) -> Act:
        return lambda stage, _: stage.play(FadeIn(written(stage, Run(sign, Sum((x, update), total)))))

    perform(act("≈"), rough)
    with pytest.raises(AuditError, match=r"'=' is drawn where Sum.* says '≈'"):
        perform(act("="), rough)


@pytest.mark.parametrize("ref", ["ln.normalized[0,0]", "ln.out[0,0]"])
def test_the_normalized_row_does_not_bear_the_name_of_u(perform: Perform, affine: Trace, ref: str) -> None:
    number = label(affine, ref, stage_style(affine.example, ref))

    def act(stage: Stage, _: Picture) -> None:
        stage._promised = None  # the small state has neither; here it is about the name
        line = (*symbol_line(symbol("ln.out", 0)), *stage.wording.sign(" = "), *value_line(number))
        stage.play(FadeIn(stage.pen.write(line, 44).center_on(0, 0.5)))

    if ref.startswith("ln.out"):
        perform(act, affine)
    else:
        with pytest.raises(AuditError, match=r"ln.normalized.0,0. is drawn under the name u₁"):
            perform(act, affine)


def test_the_normalized_text_under_the_reference_of_u_is_false(perform: Perform, affine: Trace) -> None:
    u, normalized = (stage_label(affine, f"{name}[0,0]") for name in ("ln.out", "ln.normalized"))
    assert u.text != normalized.text
    forged = replace(normalized, ref=u.ref)
    with pytest.raises(AuditError, match="is drawn as Label"):
        perform(lambda stage, _: stage.play(FadeIn(written(stage, Run(forged.text, forged)))), affine)


# Honest motion.

HONEST: dict[str, Act] = {}


def honest(act: Act) -> Act:
    HONEST[act.__name__] = act
    return act


@honest
def fade(stage: Stage, picture: Picture) -> None:
    stage.play(FadeOut(picture["row"]), FadeOut(picture["chart"]))
    stage.play(FadeIn(picture["row"], shift=manim.UP), FadeIn(picture["chart"]))


@honest
def shift_and_scale(stage: Stage, picture: Picture) -> None:
    stage.play(picture["mean"].animate.shift(2 * manim.DOWN))
    stage.play(picture["mean"].animate.scale(1.7))
    stage.play(FadeOut(picture["mean"], scale=0.2))


@honest
def copies(stage: Stage, picture: Picture) -> None:
    twin = picture["row"].copy()
    stage.add(twin)
    stage.play(twin.animate.shift(0.9 * manim.UP))
    stage.play(TransformFromCopy(picture["row"].numbers[1], picture["row"].numbers[1].copy().shift(manim.UP)))


@honest
def the_same_number_at_two_places(stage: Stage, picture: Picture) -> None:
    number = numbers(picture)[1]
    stage.play(Transform(number, number.copy().shift(manim.UP).scale(0.5)))
    stage.play(ReplacementTransform(number, stage.write("resid_mid[0,1]").scale(2)[0]))


@honest
def grow_and_shrink(stage: Stage, picture: Picture) -> None:
    stage.play(GrowFromCenter(picture["row"].numbers[1]), ShrinkToCenter(picture["mean"]))


@honest
def one_after_the_other(stage: Stage, picture: Picture) -> None:
    stage.move(LaggedStart(*map(FadeIn, picture["row"].numbers), lag_ratio=0.5), seconds=2)
    stage.play(Succession(*(Indicate(number) for number in picture["row"].numbers[:2])))
    stage.play(AnimationGroup(Create(Circle()), FadeToColor(picture["mean"], "#FF0000")))


@honest
def along_a_path(stage: Stage, picture: Picture) -> None:
    stage.play(MoveAlongPath(picture["row"].numbers[1], Circle(0.8)))


@honest
def cross_fade(stage: Stage, picture: Picture) -> None:
    number = picture["row"].numbers[1]
    other = stage.write("ln.mean[0]").move_to(number)
    stage.play(FadeOut(number), FadeIn(other))
    stage.play(FadeOut(other), FadeIn(number))


@honest
def lengths_travel_together(stage: Stage, picture: Picture) -> None:
    stage.play(*(Travel(shape, stage.trace) for shape in picture["chart"]))
    stage.play(Travel(picture["chart"][0], stage.trace, rate_func=there_and_back))


@honest
def shapes_of_all_kinds(stage: Stage, _: Picture) -> None:
    shapes = [
        manim.Arrow(), manim.Annulus(), manim.RegularPolygon(6), manim.Star(), manim.Ellipse(), manim.Cross(),
        manim.DoubleArrow(), manim.CurvedArrow(manim.LEFT, manim.RIGHT), manim.SurroundingRectangle(Square()),
        manim.RoundedRectangle(), manim.Sector(), manim.Triangle(), manim.Cutout(Square(), Circle(0.3)),
    ]  # fmt: skip
    group = VGroup(*shapes).arrange().scale(0.3).shift(0.5 * manim.UP)
    stage.play(LaggedStart(*map(Create, group), lag_ratio=0.05))
    stage.play(Transform(group[0], group[3]), Flash(manim.ORIGIN + 3 * manim.DOWN))


@honest
def something_passes_over_a_number(stage: Stage, _: Picture) -> None:
    card = patch(-7, -4.5)
    stage.play(card.animate.shift(9 * manim.RIGHT))


@honest
def a_number_comes_from_outside(stage: Stage, picture: Picture) -> None:
    number = picture["row"].numbers[1]
    number.shift(20 * manim.LEFT)
    stage.wait(0.2)
    stage.play(number.animate.shift(20 * manim.RIGHT))


@pytest.mark.parametrize("name", HONEST)
def test_honest_motion_passes(name: str, perform: Perform) -> None:
    assert perform(HONEST[name]).plays


# What is reported.


def test_what_hides_a_number_takes_it_from_the_report(perform: Perform) -> None:
    """A number is seen fully, in part while something passes over it, and not at all when it is covered."""
    stage = perform(something_passes_over_a_number)
    opacities = [
        {s.shows.ref: s.opacity for s in play.seen if isinstance(getattr(s, "shows", None), Label)}.get(
            "resid_mid[0,1]", 0.0
        )
        for play in stage.plays
    ]
    assert opacities[0] == 1.0
    assert 0.0 in opacities
    assert any(0 < opacity < 1 for opacity in opacities)
    assert opacities[-1] == 1.0


# By whatever way a picture leaves.


@pytest.mark.usefixtures("no_pixels")
def test_a_still_of_a_scene_without_plays_is_audited(small_stage: type[Any], trace: Trace) -> None:
    still = type("Still", (small_stage,), {"construct": lambda self: self.add(Text("7"))})
    with pytest.raises(AuditError, match="state none, frame 0: "):
        still(Production(trace, "en")).render()


@pytest.mark.usefixtures("no_pixels")
def test_a_picture_that_is_only_shown_is_audited(small_stage: type[Any], trace: Trace) -> None:
    def draw(self: Stage, element: Element, state: State) -> VGroup:
        return VGroup(small_stage.draw(self, element, state), Text("7"))

    stage = type("Shown", (small_stage,), {"draw": draw})(Production(trace, "en"))
    with pytest.raises(AuditError, match="state s, frame 0: "):
        stage.show(stage.board.state("s"))


def test_a_camera_that_shows_a_part_of_the_stage_is_refused(perform: Perform) -> None:
    def act(stage: Stage, _: Picture) -> None:
        stage.camera.frame_width, stage.camera.frame_height = 7.1, 4.0
        stage.wait(0.2)

    with pytest.raises(AuditError, match="the camera does not show the whole stage"):
        perform(act)


def test_a_number_in_the_colour_of_its_ground_is_not_seen(perform: Perform) -> None:
    def act(stage: Stage, picture: Picture) -> None:
        _, on_a_cell, number, plain = numbers(picture)
        on_a_cell.set_fill(picture["row"].cells[1].get_fill_color())
        plain.move_to((0, 3, 0)).set_fill(stage.camera.background_color)
        number.set_fill(stage.theme.color("text"))
        stage.wait(0.2)

    seen = [s.shows.ref for s in perform(act).plays[0].seen if isinstance(s.shows, Label)]
    assert seen == ["resid_mid[0,0]", "resid_mid[0,2]", "ln.mean[0]"]


def test_a_ground_that_is_a_picture_is_refused(perform: Perform) -> None:
    def act(stage: Stage, _: Picture) -> None:
        ground = np.zeros_like(stage.camera.background)
        ground[3, 5] = 255
        stage.camera.set_background(ground)
        stage.wait(0.2)

    with pytest.raises(AuditError, match="the ground is not of one colour"):
        perform(act)


def test_manim_render_goes_through_the_same_audit(tmp_path: Path) -> None:
    scene = tmp_path / "lying.py"
    scene.write_text(
        "from manim import FadeIn, Text\n"
        "from addnorm.scenes.films.r44.scene import R44\n\n\n"
        "class Lying(R44):\n"
        "    def enter_b4(self, before, after):\n"
        "        self.play(FadeIn(Text('0.592454')))\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "manim", "render", "-ql", "--progress_bar", "none", scene.name, "Lying"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "AuditError" in done.stdout + done.stderr
    assert "state b4, frame 1" in done.stdout + done.stderr
    assert not [*tmp_path.rglob("Lying*.mp4")]
