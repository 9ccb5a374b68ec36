"""What the numbers of a row are defined as, in words of the math."""

from __future__ import annotations

from addnorm.mathcore.symbols import definitions


def test_post_norm_adds_first() -> None:
    assert [formula.text for formula in definitions("post", 0, 4)] == [
        "r₁ = x₁ + O₁",
        "μ = Σ r₁ / 4",
        "σ² = Σ (r₁ − μ)² / 4",
        "LN(r) = γ ⊙ (r − μ) / √(σ² + ε) + β",
        "u₁ = LN(r₁)",
    ]


def test_pre_norm_adds_last() -> None:
    assert [formula.text for formula in definitions("pre", 11, 384)] == [
        "μ = Σ x₁₂ / 384",
        "σ² = Σ (x₁₂ − μ)² / 384",
        "LN(x) = γ ⊙ (x − μ) / √(σ² + ε) + β",
        "u₁₂ = LN(x₁₂)",
        "r₁₂ = x₁₂ + O₁₂",
    ]
