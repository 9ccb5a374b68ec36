"""What the tests of the numeric core share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from addnorm.mathcore import Example, Trace, load_example, run

# The same examples on every run and every machine, and no verdict by the clock.
settings.register_profile("addnorm", derandomize=True, deadline=None)
settings.load_profile("addnorm")


@pytest.fixture(scope="session")
def r44(checkout: Path) -> Example:
    return load_example(checkout / "assets" / "examples" / "r44.toml")


@pytest.fixture(scope="session")
def trace(r44: Example) -> Trace:
    return run(r44)
