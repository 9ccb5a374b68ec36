"""PNG sequences: one file a frame, numbered as values.json numbers them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from addnorm.mathcore.example import Example
from addnorm.scenes.exporters import FORMATS, export
from addnorm.scenes.exporters.frames import file_name
from addnorm.scenes.exporters.outputs import read_outputs
from addnorm.scenes.video import decode_frames
from tests.scenes.exporters.conftest import FRAMES, SIZE, STATES, Fake, block_of


@pytest.fixture
def folders(fake: Fake, r44: Example) -> tuple[Path, Path]:
    """A rendered folder and the sequences made of it."""
    rendered = fake.folder(r44)
    return rendered, export(FORMATS["frames"], read_outputs([rendered]), fake.out / "frames") / "r44" / rendered.name


def test_there_are_as_many_as_the_manifest_has_frames(folders: tuple[Path, Path]) -> None:
    rendered, made = folders
    manifest = json.loads((rendered / "values.json").read_text("utf-8"))
    assert {path.name for path in made.iterdir()} == {*STATES}
    for clip in manifest["clips"]:
        names = sorted(path.name for path in (made / clip["state"]).iterdir())
        assert names == [file_name(clip["state"], number, clip["frames"]) for number in range(clip["frames"])]
        assert max(span["last"] for span in clip["spans"]) == len(names) - 1


def test_each_is_the_frame_of_its_number(folders: tuple[Path, Path]) -> None:
    rendered, made = folders
    for number, frame in enumerate(decode_frames(rendered / "clips" / "b5.mp4")):
        with Image.open(made / "b5" / file_name("b5", number, FRAMES)) as png:
            assert png.size == (SIZE.width, SIZE.height)
            assert np.array_equal(np.asarray(png), frame)
            assert block_of(np.asarray(png)) == (0 if number == 0 else 1)


@pytest.mark.parametrize("frames", [1, 9, 10, 100, 1001])
def test_names_sort_as_the_frames_do(frames: int) -> None:
    names = [file_name("b2", number, frames) for number in range(frames)]
    assert sorted(names) == names
    assert len({*map(len, names)}) == 1


def test_two_examples_stay_apart(fake: Fake, r44: Example) -> None:
    folders = [fake.folder(r44, language, states=("b4",)) for language in ("zh", "en")]
    made = export(FORMATS["frames"], read_outputs([folders[0].parent]), fake.out / "frames")
    assert {str(path.relative_to(made)) for path in made.rglob("*-0.png")} == {
        "r44/zh-dark/b4/b4-0.png",
        "r44/en-dark/b4/b4-0.png",
    }
