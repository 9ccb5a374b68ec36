"""Whatever is imported is declared: nothing is there only because another package happens to bring it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest


def canonical(name: str) -> str:
    """A distribution's name in the one spelling that can be compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def imported(sources: Iterable[str]) -> set[str]:
    """The names of the packages that are imported, the standard library's and our own left out."""
    names: set[str] = set()
    for node in (node for source in sources for node in ast.walk(ast.parse(source))):
        match node:
            case ast.Import(names=aliases):
                names |= {alias.name.partition(".")[0] for alias in aliases}
            case ast.ImportFrom(module=str(module), level=0):
                names.add(module.partition(".")[0])
    return names - sys.stdlib_module_names - {"addnorm", "tests"}


def undeclared(sources: Iterable[str], requirements: Iterable[str]) -> set[str]:
    """The imported packages that no requirement, such as ``fonttools>=4.55``, brings itself."""
    declared = {canonical(re.split(r"[^\w.-]", requirement)[0]) for requirement in requirements}
    brings = packages_distributions()
    return {name for name in imported(sources) if not declared & {*map(canonical, brings.get(name, []))}}


@pytest.fixture(scope="module")
def project(checkout: Path) -> dict[str, Any]:
    config = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    return dict(config["project"])


def sources(*folders: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.py")]


def test_the_packages_declare_what_they_import(checkout: Path, project: dict[str, Any]) -> None:
    texts = sources(checkout / "mathcore", checkout / "scenes")
    extras = [need for name, needs in project["optional-dependencies"].items() if name != "dev" for need in needs]
    # pytest loads its plugin by itself, so whoever runs that module has it
    assert undeclared(texts, [*project["dependencies"], *extras]) == set()
    assert {"numpy", "manim"} <= undeclared(texts, [])


def test_the_tests_declare_what_they_import(checkout: Path, project: dict[str, Any]) -> None:
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"], *extras["slides"], *extras["test"]]  # which asks for the slides' too
    assert undeclared(sources(checkout / "tests"), requirements) == set()


def test_an_undeclared_import_is_found() -> None:
    late = "def f():\n    from scipy.stats import norm\n    import numpy"
    assert undeclared([late, "import fontTools.ttLib as t, json"], ["numpy>=2", "FontTools"]) == {"scipy"}
