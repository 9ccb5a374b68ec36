"""The names the math gives its quantities: symbols such as r₁ and σ², and the LayerNorm formula.

A symbol is written twice: as plain Unicode for captions and transcripts, and in the math notation of Typst
for everything typeset. Both come from here, so a picture and a page cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@dataclass(frozen=True)
class Symbol:
    """One name of the math; ``quantity`` is the activation or parameter it stands for."""

    quantity: str
    text: str
    math: str


_LETTERS = {
    "resid_pre": ("x", "x"),
    "attn_out": ("O", "O"),
    "update": ("Δ", "Delta"),
    "resid_mid": ("r", "r"),
    "ln.mean": ("μ", "mu"),
    "ln.var": ("σ²", "sigma^2"),
    "ln.std": ("σ", "sigma"),
    "ln.normalized.post": ("r̂", "hat(r)"),
    "ln.normalized.pre": ("x̂", "hat(x)"),
    "ln.out": ("u", "u"),
    "eps": ("ε", "epsilon"),
    "gamma": ("γ", "gamma"),
    "beta": ("β", "beta"),
}


def symbol(quantity: str, token: int | None = None, norm: str = "post") -> Symbol:
    """The symbol of a quantity, with the token it belongs to as its subscript (token counts from zero).

    The normalized row is named after the row that is normalized: r̂ in post-norm, x̂ in pre-norm.

    >>> symbol("resid_mid", 0).text
    'r₁'
    """
    key = f"{quantity}.{norm}" if quantity == "ln.normalized" else quantity
    text, math = _LETTERS[key]
    if token is not None:
        text += str(token + 1).translate(_SUBSCRIPTS)
        math += f"_{token + 1}" if token < 9 else f'_"{token + 1}"'
    return Symbol(quantity, text, math)


@dataclass(frozen=True)
class Atom:
    """The smallest piece of a formula that appears, or is coloured, by itself."""

    part: str
    quantity: str | None


@dataclass(frozen=True)
class Formula:
    """A formula of named parts. In ``math``, ``atom(#n, …)`` marks what belongs to ``atoms[n]``."""

    text: str
    math: str
    atoms: tuple[Atom, ...]

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts, in the order in which the computation uses them."""
        return tuple(dict.fromkeys(atom.part for atom in self.atoms))


def layer_norm_formula(norm: str) -> Formula:
    """LN(r) = γ ⊙ (r − μ) / √(σ² + ε) + β, in parts: center, scale, gain, shift.

    Source: Ba, Kiros, Hinton, "Layer Normalization" (2016), equation 4, with ε inside the root as in
    every implementation. In pre-norm the same formula reads x.
    """
    row, _ = _LETTERS["resid_pre" if norm == "pre" else "resid_mid"]
    source = "resid_pre" if norm == "pre" else "resid_mid"
    return Formula(
        text=f"LN({row}) = γ ⊙ ({row} − μ) / √(σ² + ε) + β",
        math=(
            f'display(atom(#0, upright("LN")(atom(#1, {row}))) = atom(#8, gamma dot.o)'
            f" atom(#5, frac(atom(#2, {row}) atom(#3, -) atom(#4, mu), sqrt(atom(#6, sigma^2) atom(#7, + epsilon))))"
            f" atom(#9, + beta))"
        ),
        atoms=(
            Atom("name", None),
            Atom("name", source),
            Atom("center", source),
            Atom("center", None),
            Atom("center", "ln.mean"),
            Atom("scale", None),
            Atom("scale", "ln.var"),
            Atom("scale", None),
            Atom("gain", None),
            Atom("shift", None),
        ),
    )


def definitions(norm: str, token: int, features: int) -> tuple[Formula, ...]:
    """What every number of a followed token's row is, in the order of the computation.

    The sum, the mean and the (biased) variance over the features, LayerNorm, and its output; in pre-norm the
    sum comes last. ``token`` counts from zero.
    """
    source = symbol("resid_pre" if norm == "pre" else "resid_mid", token)
    letter, here, out, added = source.math[0], token + 1, symbol("ln.out", token), symbol("resid_mid", token)
    entry = f"{letter}_({here}, f)" if token < 9 else f'{letter}_("{here}", f)'
    x, update, mean, var = symbol("resid_pre", token), symbol("attn_out", token), symbol("ln.mean"), symbol("ln.var")
    total = (
        f"frac(1, {features}) sum_(f = 1)^{features}"
        if features < 10
        else (f'frac(1, "{features}") sum_(f = 1)^"{features}"')
    )
    statistics = (
        Formula(f"{mean.text} = Σ {source.text} / {features}", f"{mean.math} = {total} {entry}", ()),
        Formula(
            f"{var.text} = Σ ({source.text} − {mean.text})² / {features}",
            f"{var.math} = {total} ({entry} - {mean.math})^2",
            (),
        ),
        layer_norm_formula(norm),
        Formula(f"{out.text} = LN({source.text})", f'{out.math} = upright("LN")({source.math})', ()),
    )
    sum_ = Formula(f"{added.text} = {x.text} + {update.text}", f"{added.math} = {x.math} + {update.math}", ())
    return (*statistics, sum_) if norm == "pre" else (sum_, *statistics)
