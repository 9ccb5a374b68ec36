"""The R44 pictures: how each element of a state looks in its place. One function draws one kind of element.

All places are in scene units (the frame is 14.2 wide and 8 high, the origin in its middle). What has another
place in pre-norm than in post-norm is in the ``Layout``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from manim import Mobject

from addnorm.scenes.films.r44.picture.chart import chart, circled, following, formula, row_bracket, spread, statistic
from addnorm.scenes.films.r44.picture.chrome import caption, conventions, heading, marker
from addnorm.scenes.films.r44.picture.details import detail_row, note, recompute
from addnorm.scenes.films.r44.picture.easel import Easel
from addnorm.scenes.films.r44.picture.position_rows import done_sum, named_row, pending_sum, position, sums
from addnorm.scenes.films.r44.picture.token_rows import feature_bracket, layer_norm, position_axis, rows_name, token_row
from addnorm.scenes.films.r44.picture.two_paths import (
    attention,
    input_node,
    junction,
    more_tokens,
    reading,
    result,
    skip,
    token,
)
from addnorm.scenes.storyboard import Element, State

Drawing = Callable[[Easel, Element, State], Mobject]

DRAW: Mapping[str, Drawing] = MappingProxyType(
    {
        "heading": heading,
        "marker": marker,
        "caption": caption,
        "conventions": conventions,
        "token": token,
        "reading": reading,
        "input": input_node,
        "skip": skip,
        "attention": attention,
        "junction": junction,
        "result": result,
        "token_row": token_row,
        "bracket": feature_bracket,
        "rows_name": rows_name,
        "layer_norm": layer_norm,
        "position_axis": position_axis,
        "named_row": named_row,
        "pending_sum": pending_sum,
        "done_sum": done_sum,
        "sums": sums,
        "circled": circled,
        "row_bracket": row_bracket,
        "chart": chart,
        "more_tokens": more_tokens,
        "detail_row": detail_row,
        "recompute": recompute,
        "note": note,
        "spread": spread,
        "position": position,
        "statistic": statistic,
        "formula": formula,
        "next": following,
    }
)
