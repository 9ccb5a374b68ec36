"""What a number of the trace is called: ``resid_mid[0,2]``, ``eps``, ``gamma[*]``.

Names follow the field's usage (TransformerLens). Indices count from zero, along the axes listed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal

from addnorm.mathcore.errors import LabelError, counted, nearest, quoted

Axis = Literal["token", "feature", "head", "key"]
Index = int | Literal["*"]

AXES: dict[str, tuple[Axis, ...]] = {
    "resid_pre": ("token", "feature"),
    "attn.q": ("head", "token", "feature"),
    "attn.k": ("head", "token", "feature"),
    "attn.v": ("head", "token", "feature"),
    "attn.pattern": ("head", "token", "key"),
    "attn_out": ("token", "feature"),
    "resid_mid": ("token", "feature"),
    "ln.mean": ("token",),
    "ln.centered": ("token", "feature"),
    "ln.var": ("token",),
    "ln.std": ("token",),
    "ln.rstd": ("token",),
    "ln.normalized": ("token", "feature"),
    "ln.normalized_std": ("token",),
    "ln.out": ("token", "feature"),
    "gamma": ("feature",),
    "beta": ("feature",),
    "eps": (),
}

_INDEX = r"(?:\*|0|[1-9][0-9]{0,8})"
_WRITTEN = re.compile(rf"([a-z]+(?:[._][a-z]+)*)(?:\[({_INDEX}(?:,{_INDEX})*)\])?")


@dataclass(frozen=True)
class Reference:
    """A number of the trace, or with ``*`` all those along an axis. ``str()`` writes what ``parse`` reads."""

    name: str
    index: tuple[Index, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Reference:
        """Read ``name`` or ``name[i,j]``, without blanks. Raises LabelError for anything else."""
        match = _WRITTEN.fullmatch(text)
        if not match:
            raise LabelError(f"{quoted(text)} is no reference; write it like resid_mid[0,2] or eps")
        indices = match[2].split(",") if match[2] else []
        return cls(match[1], tuple("*" if i == "*" else int(i) for i in indices))

    def __str__(self) -> str:
        return f"{self.name}[{','.join(map(str, self.index))}]" if self.index else self.name

    def check(self, shape: tuple[int, ...]) -> None:
        """Raise LabelError unless every index lies within ``shape``, that of the activation it names."""
        if self.name not in AXES:
            raise LabelError(f"{self}: unknown name; {nearest(self.name, AXES)}")
        axes = AXES[self.name]
        if len(self.index) != len(axes):
            written = f"{self.name}[{','.join(axes)}]" if axes else self.name
            raise LabelError(f"{self}: {counted(len(self.index), 'index', 'indices')}; write {written}")
        for position, axis, size in zip(self.index, axes, shape, strict=True):
            if position != "*" and position >= size:
                raise LabelError(f"{self}: no {axis} {position}; they count from 0 to {size - 1}")

    def each(self, shape: tuple[int, ...]) -> Iterator[Reference]:
        """The references to single numbers that ``*`` stands for, in reading order."""
        self.check(shape)
        choices = (range(n) if i == "*" else (i,) for i, n in zip(self.index, shape, strict=True))
        return (Reference(self.name, index) for index in product(*choices))


def caption_parts(text: str) -> tuple[str | Reference, ...]:
    """A caption cut at its references: ``"μ is {ln.mean[0]}."`` gives ``("μ is ", Reference, ".")``.

    Raises LabelError for a brace without its partner, and for what is no reference between two of them.
    """
    parts: list[str | Reference] = []
    for piece in re.split(r"(\{[^{}]*\})", text):
        if piece.startswith("{") and piece.endswith("}"):
            parts.append(Reference.parse(piece[1:-1]))
        elif "{" in piece or "}" in piece:
            raise LabelError(
                f"{quoted(piece)} has a brace without its partner; write values like {{ln.mean[0]}}"
            )
        elif piece:
            parts.append(piece)
    return tuple(parts)
