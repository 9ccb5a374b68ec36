"""Where a video says it comes from, and what can be computed from that."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from addnorm.mathcore.document import example_from
from addnorm.mathcore.errors import AddnormError, cut, nearest
from addnorm.mathcore.example import Example
from addnorm.mathcore.example_files import load_example
from addnorm.mathcore.trace import Trace, run
from addnorm.scenes.captions import FASTEST, SLOWEST
from addnorm.scenes.films import FILMS, Film
from addnorm.scenes.manifest import EXAMPLE_LIMIT, Json
from addnorm.scenes.paths import bundled_examples, find_example
from addnorm.scenes.storyboard import Storyboard

LONGEST_COMMENT = 2 * EXAMPLE_LIMIT
"""Characters. A video's comment has an example of at most EXAMPLE_LIMIT bytes, and a few words more."""

_KINDS = {
    "addnorm": (str,),
    "film": (str,),
    "example": (dict,),
    "language": (str,),
    "theme": (str,),
    "captions": (bool,),
    "pace": (float, int),  # and no bool, which is an int to Python
    "values_sha256": (str,),
}


@dataclass(frozen=True)
class Origin:
    """What a video was made from, as it says itself, and what follows from it.

    ``says`` is the content of its comment. Raises AddnormError, here or on first use, for what is no origin.
    """

    says: Json
    given: Example | None = None

    @classmethod
    def read(cls, comment: str, given: Example | None = None) -> Origin:
        """The origin in a video's comment. ``given`` is the example that it has to be made from, if that is known."""
        if len(comment) > LONGEST_COMMENT:
            raise AddnormError(f"its metadata are damaged: {len(comment)} characters, more than addnorm writes")
        try:
            says = json.loads(comment)
        except (ValueError, RecursionError):
            says = None
        if not isinstance(says, dict):
            raise AddnormError("its metadata do not say what it was made from, as addnorm's do")
        if wrong := [key for key, kinds in _KINDS.items() if type(says.get(key)) not in kinds]:
            raise AddnormError(f"its metadata are damaged: there is no {', no '.join(wrong)}")
        if not SLOWEST <= says["pace"] <= FASTEST:
            paces = f"films have one from {SLOWEST:g} to {FASTEST:g}"
            raise AddnormError(f"its metadata are damaged: pace {cut(str(says['pace']), 20)}; {paces}")
        return cls(says, given)

    @cached_property
    def film(self) -> Film:
        """The film."""
        name = self.says["film"]
        if name not in FILMS:
            raise AddnormError(f"film: {name!r} is not known; {nearest(name, FILMS)}")
        return FILMS[name]

    @cached_property
    def trace(self) -> Trace:
        """The numbers, computed anew."""
        return run(self.example)

    @cached_property
    def example(self) -> Example:
        """The example: the one in the video, or, if that has only its digest, the one given or bundled."""
        record = self.says["example"]
        if set(record) != {"id", "digest"}:
            own = example_from(record)
            if self.given is not None and self.given != own:
                raise AddnormError(f"made from another example than the one given: {_difference(own, self.given)}")
            return own
        candidates = [load_example(find_example(name)) for name in bundled_examples() if name == record["id"]]
        for candidate in candidates if self.given is None else [self.given]:
            if candidate.digest == record["digest"]:
                return candidate
        if self.given is not None:
            raise AddnormError("made from another example than the one given")
        raise AddnormError(f"its example, {record['id']}, is too large to be carried along; give it with --example")

    @cached_property
    def board(self) -> Storyboard:
        """The film's states."""
        return self.film.storyboard(self.trace)

    @property
    def states(self) -> tuple[str, ...]:
        """The states it shows, one after the other."""
        every = tuple(state.name for state in self.board.states)
        own = self.says.get("state")
        if own is None:
            return every
        if own not in every:
            raise AddnormError(f"state: {own!r} is not one of {', '.join(every)}")
        return (own,)

    @property
    def production(self) -> tuple[object, ...]:
        """What its pictures depend on."""
        own = (self.says[key] for key in ("film", "language", "theme", "pace", "captions"))
        return (self.example.digest, *own)


def _difference(found: Example, given: Example) -> str:
    """The fields in which two examples differ."""
    ours, theirs = _flat(found.canonical()), _flat(given.canonical())
    return ", ".join(sorted(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)))


def _flat(document: Json) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, entry in document.items():
        if isinstance(entry, dict):
            flat |= {f"{key}.{inner}": value for inner, value in _flat(entry).items()}
        else:
            flat[key] = entry
    return flat
