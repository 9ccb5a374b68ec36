"""What is loaded when: with the math nothing but numpy, with the commands that need no picture no manim."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

LOADED = "import json, sys; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"


def loaded_after(statements: str) -> set[str]:
    """The top-level names of all modules that a fresh interpreter has loaded after some statements."""
    output = subprocess.check_output([sys.executable, "-c", f"{statements}\n{LOADED}"])
    return set(json.loads(output))


def module_names(checkout: Path, package: str) -> list[str]:
    """The dotted names of all modules of one of the packages."""
    files = sorted((checkout / package).rglob("*.py"))
    assert files
    return [".".join(("addnorm", *file.relative_to(checkout).with_suffix("").parts)) for file in files]


def import_of(names: list[str]) -> str:
    """A statement that imports modules."""
    return "import " + ", ".join(name.removesuffix(".__init__") for name in names)


def test_the_math_loads_numpy_and_nothing_else(checkout: Path) -> None:
    expected = loaded_after("import numpy") | sys.stdlib_module_names | {"addnorm"}
    assert loaded_after(import_of(module_names(checkout, "mathcore"))) - expected == set()


def test_what_draws_nothing_loads_no_manim(checkout: Path) -> None:
    config = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    [contract] = [rule for rule in config["tool"]["importlinter"]["contracts"] if rule["type"] == "protected"]
    drawing = [pattern for name in contract["allowed_importers"] for pattern in (name, f"{name}.*")]
    names = module_names(checkout, "scenes")
    plain = [name for name in names if not any(fnmatchcase(name, pattern) for pattern in drawing)]
    assert 0 < len(plain) < len(names)
    assert "manim" not in loaded_after(import_of(plain))


def test_a_module_that_draws_is_noticed() -> None:
    assert "manim" in loaded_after("import addnorm.scenes.stage")
