"""What a drawing looks up of its example, noted as questions that another example can be asked.

A picture depends on its example only through what it looks up. A drawing is given stand-ins for its wording and
its trace; whatever is read through them is noted as a question, and an example that gives the same answers gives
the same picture. Nothing is looked up unnoticed: a stand-in hands out plain values, with which a question ends,
or other stand-ins, and leads to what it stands for in no other way. What it cannot hand out like that is an error.

A function that looks at much and says little, such as which columns fit, is marked ``asked``: then the question
is what it says, not what it looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial, wraps
from hashlib import sha256
from json import dumps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.example import Display, Example, GivenOutput, Weights
from addnorm.mathcore.noise import Noise
from addnorm.mathcore.trace import Activation, Trace

P = ParamSpec("P")
R = TypeVar("R")


class _Worded(Protocol):
    """What all questions start from: the words for a trace, `text.Wording`."""

    @property
    def trace(self) -> Trace: ...


W = TypeVar("W", bound=_Worded)

Step = tuple[Any, ...]
Question = tuple[Step, ...]
"""The way from a wording to a value: attributes ("get"), calls, keys and indices ("item"), functions ("ask")."""

_OBJECTS = (Trace, Noise, Activation, Example, Weights, GivenOutput, Display, Mapping)
_UNNOTED = "source"  # where an example was read from is told in errors alone, and what fails is not kept
_ASKED: dict[str, Callable[..., Any]] = {}


class Witness(Generic[W]):
    """Stand-ins for a wording and its trace, and the questions that were asked through them so far."""

    def __init__(self, wording: W) -> None:
        self._questions: dict[Question, None] = {}
        self.wording = cast("W", _Object(wording, (), self._questions))

    @property
    def trace(self) -> Trace:
        """The wording's trace, watched too."""
        return self.wording.trace

    @property
    def questions(self) -> list[Question]:
        """All questions, in an order that depends on nothing but them."""
        return sorted(self._questions, key=repr)


def asked(function: Callable[Concatenate[Trace, P], R]) -> Callable[Concatenate[Trace, P], R]:
    """Have a function of a trace, and of plain arguments by position, noted as one question, and worked out once.

    It has to be one that nothing is drawn for, since it is also asked where nothing is drawn.
    """
    name = f"{function.__module__}:{function.__qualname__}"
    answers: WeakKeyDictionary[Trace, dict[Any, R]] = WeakKeyDictionary()

    @wraps(function)
    def ask(trace: Any, *args: Any) -> R:
        if type(trace) is _Object:
            answer: R = _tell(trace, ("ask", name, args))
            return answer
        known = answers.setdefault(trace, {})
        if args not in known:
            known[args] = function(trace, *args)  # type: ignore[call-arg]
        return known[args]

    _ASKED[name] = ask
    return cast("Callable[Concatenate[Trace, P], R]", ask)


def answers_digest(wording: _Worded, questions: Sequence[Question]) -> str:
    """A digest of what a wording and its trace answer. A question that cannot be answered has an answer too."""
    return digest([_answer(wording, question) for question in questions])


def digest(value: Any) -> str:
    """SHA-256, in hexadecimal, of plain data, of arrays and of dataclasses made of them. TypeError for others."""
    return sha256(dumps(_plain(value), separators=(",", ":")).encode()).hexdigest()


# Stand-ins.


class _Object(Mapping[Any, Any]):
    """Stands for an object or a mapping."""

    __slots__ = ("_notes", "_path", "_subject")

    def __init__(self, subject: Any, path: Question, notes: dict[Question, None]) -> None:
        self._subject, self._path, self._notes = subject, path, notes

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # what isinstance asks
        return type(self._subject)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{name}: a drawing may not look at what is private to {type(self._subject).__name__}")
        if callable(getattr(self._subject, name)):
            return partial(self._call, name)
        return getattr(self._subject, name) if name == _UNNOTED else _tell(self, ("get", name))

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return _tell(self, ("call", name, args, tuple(sorted(kwargs.items()))))

    def __getitem__(self, key: Any) -> Any:
        if key not in self:
            raise KeyError(key)
        return _tell(self, ("item", key))

    def __contains__(self, key: object) -> bool:
        return bool(_tell(self, ("has", key)))

    def __iter__(self) -> Iterator[Any]:
        return iter(_tell(self, ("keys",)))

    def __len__(self) -> int:
        return len(_tell(self, ("keys",)))

    def __bool__(self) -> bool:
        return not isinstance(self._subject, Mapping) or len(self) > 0

    def __eq__(self, other: object) -> bool:
        raise TypeError("a drawing compares values, not what holds them")

    __hash__ = None  # type: ignore[assignment]

    def __deepcopy__(self, _memo: dict[int, Any]) -> _Object:  # manim copies mobjects with all that they hold
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a stand-in cannot be sent anywhere")


class _Array(NDArrayOperatorsMixin):
    """Stands for an array. An entry or a row is noted by itself, any other use as one of the whole."""

    __slots__ = ("_notes", "_path", "_subject")

    def __init__(self, subject: Any, path: Question, notes: dict[Question, None]) -> None:
        self._subject, self._path, self._notes = subject, path, notes

    def __getitem__(self, index: Any) -> Any:
        index = _noted_index(index)
        return self._whole()[index] if index is None else _tell(self, ("item", index))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return np.asarray(self._whole(), *args, **kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = (x._whole() if isinstance(x, _Array) else x for x in inputs)
        return getattr(ufunc, method)(*plain, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "size"):
            return _tell(self, ("get", name))
        return getattr(self._whole(), name)

    def __len__(self) -> int:
        return len(self._whole())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._whole())

    def __float__(self) -> float:
        return float(self._whole())

    def __deepcopy__(self, _memo: dict[int, Any]) -> _Array:
        return self

    def _whole(self) -> Any:
        self._notes[self._path] = None
        return self._subject


def _noted_index(index: Any) -> Any:
    """An index of whole numbers and full slices, as it can be noted; None for any other."""
    each = index if isinstance(index, tuple) else (index,)
    if not all(isinstance(part, (int, np.integer)) or _is_full(part) for part in each):
        return None
    return tuple(":" if _is_full(part) else int(part) for part in each)


def _is_full(part: Any) -> bool:
    return isinstance(part, slice) and part == slice(None)


def _tell(stand_in: Any, step: Step) -> Any:
    """The answer to one more step: a stand-in for what can be asked further, or a plain value, which is noted."""
    path, notes = (*stand_in._path, step), stand_in._notes
    try:
        answer = _follow(stand_in._subject, step)
    except Exception:
        notes[path] = None  # that it fails is an answer
        raise
    if isinstance(answer, np.ndarray) and step[0] != "item":
        return _Array(answer, path, notes)
    if isinstance(answer, _OBJECTS):
        return _Object(answer, path, notes)
    notes[path] = None
    return answer


# Asking again.


def _answer(wording: _Worded, question: Question) -> Any:
    subject: Any = wording
    try:
        for step in question:
            subject = _follow(subject, step)
    except (AddnormError, LookupError, AttributeError, TypeError, ValueError) as error:
        return ["failed", type(error).__name__, str(error)]
    return _plain(subject)


def _follow(subject: Any, step: Step) -> Any:
    match step:
        case ("get", str(name)) if not name.startswith("_"):
            return getattr(subject, name)
        case ("call", str(name), tuple(args), tuple(kwargs)) if not name.startswith("_"):
            if not isinstance(subject, np.ndarray):  # whose methods may write files
                return getattr(subject, name)(*args, **dict(kwargs))
        case ("ask", str(name), tuple(args)):
            return _ASKED[name](subject, *args)
        case ("item", tuple(index)) if isinstance(subject, np.ndarray):
            return subject[tuple(slice(None) if part == ":" else part for part in index)]
        case ("item", key):
            return subject[key]
        case ("has", key):
            return key in subject
        case ("keys",):
            return tuple(subject)
    raise TypeError(f"{step}: no question")


def _plain(value: Any) -> Any:
    """Any answer as JSON data that tells it from all others."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return ["float", value.hex()]
        case tuple() | list():
            return [type(value).__name__, *map(_plain, value)]
        case set() | frozenset():
            return ["set", *sorted(map(_plain, value), key=repr)]
        case dict():
            return ["dict", *([_plain(key), _plain(each)] for key, each in value.items())]
        case np.ndarray():
            return ["array", value.dtype.str, list(value.shape), sha256(value.tobytes()).hexdigest()]
        case np.generic():
            return _plain(value.item())
    if is_dataclass(value):
        return [type(value).__name__, *(_plain(getattr(value, field.name)) for field in fields(value))]
    raise TypeError(f"{type(value).__name__}: an answer that cannot be told from others")
