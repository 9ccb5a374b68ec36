"""Videos and manifests that somebody damaged or made up: each gives a report, and none is right that shows else."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from addnorm.mathcore.errors import AddnormError
from addnorm.scenes.verify import Report, Stagings
from addnorm.scenes.verify.crosscheck import manifest_findings
from addnorm.scenes.verify.judging import Staging
from addnorm.scenes.verify.origin import Origin
from addnorm.scenes.video import read_metadata, screening

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**53 + 1, 10**400, 1e308, -1e-320, float("nan"), float("inf"), "", "b2", "r44",
    "../../x", "\x1b[2J", "\ud800", "x" * 5000, [], [[]], [1, [2]], {}, {"id": "r44", "digest": ""}, {"x": None},
)  # fmt: skip
SHOWN = {"ref", "text", "value", "decimals", "sign"}
"""What a manifest says of a number in a hold."""


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything in a document."""
    if here:
        yield here
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*here, key))


def mutated(document: Any, way: Sequence[Any], dice: random.Random) -> Any:
    """A copy in which something odd stands in a place, or nothing does any more."""
    copy = json.loads(json.dumps(document))
    holder = copy
    for key in way[:-1]:
        holder = holder[key]
    if dice.random() < 0.2:
        del holder[way[-1]]
    else:
        holder[way[-1]] = dice.choice(ODD)
    return copy


@pytest.fixture(scope="module")
def comment(film: Path) -> str:
    return read_metadata(film / "clips" / "b2.mp4")["comment"]


def test_metadata_of_any_kind(comment: str) -> None:
    dice, says = random.Random(1), json.loads(comment)
    ways = list(places(says))
    taken = 0
    for _ in range(400):
        with suppress(AddnormError):
            origin = Origin.read(json.dumps(mutated(says, dice.choice(ways), dice)))
            assert origin.states
            assert origin.production
            taken += 1
    assert 40 < taken < 200  # some odd things are as good as others, such as another number


@pytest.mark.parametrize(
    "content",
    ["[" * 60_000, '{"a":' * 10_000, "1" * 60_000, '"' + "\\u0000" * 5000 + '"', "[]", "null", "", "NaN", "{" * 10**6],
    ids=range(9),
)
def test_metadata_that_are_no_record(content: str) -> None:
    with pytest.raises(AddnormError, match="its metadata"):
        Origin.read(content)


def test_manifests_of_any_kind(film: Path, stagings: Stagings, comment: str, values: Any, tmp_path: Path) -> None:
    dice, says = random.Random(2), json.loads(comment)
    clip = film / "clips" / "b2.mp4"
    staging: Staging = stagings.of(Origin.read(comment), screening(clip)).staging("b2")
    manifest = values | {"clips": [entry for entry in values["clips"] if entry["state"] == "b2"]}
    path = tmp_path / "values.json"
    ways = list(places(manifest))
    shown = [way for way in ways if way[-1] in SHOWN and way[:2] == ("clips", 0) and "lengths" not in way]
    for n in range(300):
        way = dice.choice(shown if n % 2 else ways)
        content = json.dumps(changed := mutated(manifest, way, dice)).encode()
        path.write_bytes(content)
        belongs = Origin(says | {"values_sha256": sha256(content).hexdigest()})
        findings = list(manifest_findings(path, belongs, [staging], staging.frames))
        assert findings or n % 2 == 0 or changed == manifest, (way, changed)


def test_a_damaged_mp4_is_reported(
    film: Path, encode: Callable[..., Path], check: Callable[[Path], Report], tmp_path: Path
) -> None:
    dice = random.Random(3)
    whole = encode(film / "clips" / "b4.mp4", tmp_path / "small.mp4", size=(256, 144)).read_bytes()
    data, end = whole.index(b"mdat"), whole.index(b"moov")  # the index is behind the pictures
    video = tmp_path / "b4.mp4"
    for n in range(40):
        damaged = bytearray(whole)
        match n % 4:
            case 0:
                del damaged[dice.randrange(len(whole) - 1) :]
            case 1:
                damaged[(start := dice.randrange(end, len(whole))) : start + 8] = bytes(8)
            case 2:
                damaged[dice.randrange(end, len(whole))] ^= 1 << dice.randrange(8)
            case _:
                damaged[dice.randrange(data, end)] ^= 1 << dice.randrange(8)
        video.write_bytes(damaged)
        report = check(video)
        assert report.lines()
        assert n % 4 or not report.passed
