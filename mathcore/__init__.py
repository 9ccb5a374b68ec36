"""The numeric core of addnorm: example file → Example → Trace → Labels. Needs numpy and nothing else."""

from addnorm.mathcore.document import example_from
from addnorm.mathcore.errors import AddnormError, ExampleError, LabelError
from addnorm.mathcore.example import Display, Example, GivenOutput, Weights
from addnorm.mathcore.example_files import load_example
from addnorm.mathcore.labels import (
    Label,
    NumberStyle,
    cell_style,
    closes,
    detail_label,
    detail_style,
    format_number,
    label,
    relation,
    stage_label,
    stage_style,
    statistic_style,
    value,
)
from addnorm.mathcore.recompute import recompute_places
from addnorm.mathcore.reference import Reference, caption_parts
from addnorm.mathcore.trace import Activation, Trace, run, trace_json
from addnorm.mathcore.words import elided, words

__all__ = [
    "Activation",
    "AddnormError",
    "Display",
    "Example",
    "ExampleError",
    "GivenOutput",
    "Label",
    "LabelError",
    "NumberStyle",
    "Reference",
    "Trace",
    "Weights",
    "caption_parts",
    "cell_style",
    "closes",
    "detail_label",
    "detail_style",
    "elided",
    "example_from",
    "format_number",
    "label",
    "load_example",
    "recompute_places",
    "relation",
    "run",
    "stage_label",
    "stage_style",
    "statistic_style",
    "trace_json",
    "value",
    "words",
]
