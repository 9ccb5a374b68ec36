"""Whether a line on screen says what its sources say now: the words' half of the frame audit.

Every source is asked again, and exactly: a label by its reference and style, a symbol of the core, a piece of
the catalogue under its key, a word of the user's under its field. Then the line as a whole: true pieces must
not be mixed into a sentence that nobody wrote, nor a number stand under another one's name.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.labels import Label, label, relation
from addnorm.mathcore.reference import AXES, Reference
from addnorm.mathcore.symbols import Symbol, layer_norm_formula, symbol
from addnorm.mathcore.words import elided
from addnorm.scenes.text import (
    Constant,
    Counted,
    Elided,
    FormulaAtom,
    Line,
    Name,
    Run,
    Source,
    Sum,
    User,
    Wording,
    pieces,
    plain,
    token_label,
)

SIGNS = frozenset("+−×·⊙/±=≈")
"""What may stand between symbols and numbers, with or without blanks around it."""

EQUATES = frozenset("=≈")

_JOINS_NEXT = re.compile(r"[-−–⁻.,·0-9⁰¹²³⁴-⁹₀-₉]$")
_JOINS_BEFORE = re.compile(r"[0-9⁰¹²³⁴-⁹₀-₉%‰×·]|[.,][0-9]")
_MEASURES = re.compile(r"[0-9][.,·][0-9]|[-−–][0-9]|×10")


def complaint(line: Line, wording: Wording) -> str | None:
    """Why a line does not say what its sources say now, or None if it does."""
    try:
        for run in line:
            if false := _false_run(run, wording):
                return false
        return _false_sentence(line, wording) or false_number(line, wording.trace.example.norm)
    except AddnormError as error:  # a source that does not exist
        return str(error)


def names(named: Symbol, number: Label, norm: str) -> bool:
    """Whether a symbol is the name of a number: of its quantity, and if it tells the token, of its token."""
    ref = Reference.parse(number.ref)
    quantity = "attn_out" if named.quantity == "update" else named.quantity
    token = ref.index[0] if AXES[ref.name][:1] == ("token",) else None
    own = {symbol(named.quantity, n, norm) for n in (None, token) if n != "*"}
    return quantity == ref.name and named in own


def _false_run(run: Run, wording: Wording) -> str | None:
    match run.source:
        case Label(ref=ref, style=style):
            if run.source != (now := label(wording.trace, ref, style)):
                return f"{run.text!r} is drawn as {run.source}; the trace has {now}"
            truth = now.text
        case Sum(terms=terms, total=total):
            if false := _false_sum(terms, total, wording):
                return f"{run.text!r} is drawn where {false}"
            truth = relation(terms, total)
        case FormulaAtom(formula=formula):
            truth = layer_norm_formula(wording.trace.example.norm).text
            if formula != layer_norm_formula(wording.trace.example.norm):
                return f"the formula {formula.math!r} is drawn where the example's is {truth!r}"
        case _:
            own = _own_texts(run.source, wording)
            truth = run.text if run.text in own else " or ".join(sorted(own)) or "nothing"
    return None if run.text == truth else f"{run.text!r} is drawn where {run.source} says {truth!r}"


def _false_sum(terms: tuple[Label, ...], total: Label, wording: Wording) -> str | None:
    for number in (*terms, total):
        if false := _false_run(Run(number.text, number), wording):
            return false
    rest = math.fsum((*(term.value for term in terms), -total.value))
    if abs(rest) > 1e-9 * math.fsum(abs(term.value) for term in terms):
        return f"{' + '.join(term.ref for term in terms)} is not {total.ref}"
    return None


def _own_texts(source: Source, wording: Wording) -> set[str]:
    """What a source of words may say."""
    example = wording.trace.example
    match source:
        case Symbol(quantity=quantity, text=text):
            tokens = (None, *range(example.n_tokens))
            return {text} if any(source == _symbol(quantity, token, example.norm) for token in tokens) else set()
        case Constant(key=key):
            return {text for text, _ in pieces(wording.entry(key), key) if not re.search("[0-9]", text)}
        case Counted(key=key):
            return {wording.counted[key]} if key in wording.counted else set()
        case Elided(count=count):
            hidden = 0 < count < example.n_features
            return {f"… {elided(count, wording.language)} …"} if hidden else set()
        case Name(name=name):
            known = name in wording.names.values() or name.strip() in SIGNS
            return {name} if known and not _MEASURES.search(name) else set()
        case User(field=place):
            return _users_words(place, wording)
    return set()


def _symbol(quantity: str, token: int | None, norm: str) -> Symbol | None:
    try:
        return symbol(quantity, token, norm)
    except KeyError:
        return None


def _users_words(place: str, wording: Wording) -> set[str]:
    """What may be drawn of a field of the example file."""
    example = wording.trace.example
    match place.split(".", 2):
        case ["title", language]:
            return {example.title.get(language, "")}
        case ["note", language]:
            return {example.note.get(language, "")}
        case ["captions", language, state]:
            caption = example.captions.get(language, {}).get(state, "")
            return {text for text, _ in pieces(caption, place)}
        case _:
            token = next((n for n in range(example.n_tokens) if place == f"tokens[{n}]"), None)
            return set() if token is None else {token_label(wording.trace, token)}


def _false_sentence(line: Line, wording: Wording) -> str | None:
    """A piece of a sentence is drawn with the whole of it, in its order."""
    for run in line:
        match run.source:
            case Constant(key=key):
                whole = wording.line(key)
            case User(field=place) if place.startswith("captions."):
                _, language, state = place.split(".", 2)
                whole = wording.own_line(wording.trace.example.captions[language][state], place)
            case _:
                continue
        if [(part.text, part.source) for part in whole] != [(part.text, part.source) for part in line]:
            return f"{plain(line)!r} is drawn where the whole sentence is {plain(whole)!r}"
    return None


def false_number(line: Line, norm: str) -> str | None:
    """What a line makes of a number: another name, another digit or sign, or an "=" of which nobody knows the terms."""
    if len(line) == 1 and isinstance(line[0].source, Name):
        if line[0].text.strip() in EQUATES:
            return f"{line[0].text!r} is drawn, and nothing says between what; use relation_line"
        if line[0].text.strip().isnumeric():
            return f"the name {line[0].text!r} is drawn by itself, which reads as a number"
    for before, sign, after in zip(line, line[1:], line[2:], strict=False):
        if isinstance(after.source, Label) and sign.text.strip() in EQUATES:
            if isinstance(before.source, Symbol) and not names(before.source, after.source, norm):
                return f"{after.source.ref} is drawn under the name {before.text}"
            if isinstance(before.source, Label) and not isinstance(sign.source, Sum):
                return f"{plain(line)!r} is drawn, and nothing says what is added; use relation_line"
    for before, after in pairwise(line):
        joined = (isinstance(after.source, Label) and _JOINS_NEXT.search(before.text)) or (
            isinstance(before.source, Label) and _JOINS_BEFORE.match(after.text)
        )
        if joined:
            return f"{before.text + after.text!r} is drawn, which reads as one number"
    return None
