"""What the tests of every part share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

Golden = Callable[[str, str], None]
GOLDEN_OPTION = "--update-goldens"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(GOLDEN_OPTION, action="store_true", help="write tests/golden/ anew from what the code gives")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption(GOLDEN_OPTION) and os.environ.get("CI"):
        raise pytest.UsageError(f"{GOLDEN_OPTION}: not in CI; update on your own machine and review the change")


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder that holds ``pyproject.toml``."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture
def golden(request: pytest.FixtureRequest, checkout: Path) -> Golden:
    """A call that compares a text with a file of tests/golden/, or writes it there with --update-goldens."""

    def compare(name: str, text: str) -> None:
        path = checkout / "tests" / "golden" / name
        if request.config.getoption(GOLDEN_OPTION):
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"tests/golden/{name} is missing; pytest {GOLDEN_OPTION} writes it"
        assert text == path.read_text(encoding="utf-8"), f"tests/golden/{name}: see the difference, or {GOLDEN_OPTION}"

    return compare
