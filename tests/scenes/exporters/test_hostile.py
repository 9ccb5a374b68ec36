"""Rendered folders that somebody damaged or made up: each export comes out, or one line says what is wrong."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from addnorm.mathcore.errors import AddnormError
from addnorm.mathcore.example import Example
from addnorm.scenes.exporters import FORMATS, export
from addnorm.scenes.exporters.outputs import read_outputs
from tests.scenes.verify.test_hostile import places

ODD: tuple[Any, ...] = (
    None, True, 0, -1, 2**53 + 1, 10**400, 1e308, float("nan"), "", "b2", "../../x", "\x1b[2J", "x" * 5000, [], [[1]],
    {}, {"id": "r44", "digest": ""}, {"x": None},
)  # fmt: skip


def put_in(document: Any, way: Sequence[Any], dice: random.Random) -> None:
    """Put something odd in a place of a document, or take away what stands there."""
    for key in way[:-1]:
        document = document[key]
    if dice.random() < 0.2:
        del document[way[-1]]
    else:
        document[way[-1]] = dice.choice(ODD)


def exported(folder: Path, form: str, target: Path) -> bool:
    """Whether a folder can be exported. If not, that is an AddnormError, and nothing is left."""
    with suppress(AddnormError):
        export(FORMATS[form], read_outputs([folder]), target)
        return True
    assert not target.exists()
    return False


def test_manifests_of_any_kind(fake: Any, r44: Example, tmp_path: Path) -> None:
    dice, taken = random.Random(1), 0
    forms = [name for name in FORMATS if name != "handout"]  # which is set from the same reading, a second each
    for n in range(120):
        def change(manifest: dict[str, Any]) -> None:
            put_in(manifest, dice.choice(list(places(manifest))), dice)

        with suppress(OverflowError, ValueError):  # not everything odd can be written as JSON
            folder = fake.folder(r44, states=("b2",), change=change, name=f"zh-{n}")
            taken += exported(folder, dice.choice(forms), tmp_path / f"export {n}")
    assert taken < 60


@pytest.mark.parametrize("form", FORMATS)
def test_damaged_files(fake: Any, r44: Example, tmp_path: Path, form: str) -> None:
    dice = random.Random(form)
    folder = fake.folder(r44, states=("b2",))
    whole = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    assert exported(folder, form, tmp_path / "whole")
    for n in range(8):
        path = dice.choice(list(whole))
        damaged = bytearray(whole[path])
        if n % 2:
            damaged[dice.randrange(len(damaged))] ^= 1 << dice.randrange(8)
        else:
            del damaged[dice.randrange(len(damaged) - 1) :]
        path.write_bytes(damaged)
        exported(folder, form, tmp_path / f"damaged {n}")
        path.write_bytes(whole[path])


def test_something_odd_is_put_in_every_place() -> None:
    document, dice = {"a": [1, {"b": 2}]}, random.Random(2)
    assert set(places(document)) == {("a",), ("a", 0), ("a", 1), ("a", 1, "b")}
    put_in(document, ("a", 1, "b"), dice)
    assert json.dumps(document) != '{"a": [1, {"b": 2}]}'
