"""Reading rendered folders: everything in its place and order, and nothing that does not belong together."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from addnorm.mathcore import AddnormError
from addnorm.mathcore.example import Example, GivenOutput
from addnorm.scenes.exporters import FORMATS, export
from addnorm.scenes.exporters.outputs import Rendered, read_outputs
from addnorm.scenes.text import plain
from addnorm.scenes.video import Size
from tests.scenes.exporters.conftest import FRAMES, SIZE, STATES, Fake, picture


def test_every_language_and_theme_is_found_the_first_ones_first(rendered: Rendered) -> None:
    found = [(output.language, output.theme) for output in rendered.outputs]
    assert found == [("zh", "dark"), ("zh", "light"), ("en", "dark"), ("en", "light")]
    assert rendered.languages == ("zh", "en")
    assert rendered.themes == ("dark", "light")
    assert rendered.states == STATES
    assert rendered.output("en", "light").title == "R44 · Residual write-back and LayerNorm"


def test_a_clip_knows_its_numbers_its_words_and_how_long_it_lasts(rendered: Rendered) -> None:
    clip = rendered.output("zh", "dark").clip("b2")
    assert [label.text for label in clip.labels][-2:] == ["1.098888", "0.592455"]
    assert plain(clip.heading) == "R44 · 只看这一行：μ、σ² 与公式"
    assert clip.seconds == pytest.approx(FRAMES / SIZE.frame_rate)


def test_a_poster_is_the_clips_own_first_frame(rendered: Rendered) -> None:
    for number, clip in enumerate(rendered.outputs[0].clips):
        poster = np.asarray(Image.open(BytesIO(clip.poster)), dtype=int)
        assert np.abs(poster - picture("dark", number - 1)[..., :3]).max() < 30
        assert np.abs(poster - picture("dark", number)[..., :3]).max() > 100


def test_figures_are_rows_by_quantity(rendered: Rendered) -> None:
    output = rendered.output("en", "dark")
    rows = {row.symbol.text: row.text for row in output.figures(output.clip("b3").labels)}
    assert rows["u₁"] == "(1.171, 0.650, −0.385, −1.435)"
    assert rows["ε"] == "10⁻⁵"
    assert output.description(output.clip("b2")).endswith("r₁ = (2, 1.599, 0.802, −0.006); μ = 1.098888; σ² = 0.592455")


def test_a_long_row_says_how_many_are_not_shown(fake: Fake, r44: Example) -> None:
    x = np.linspace(-1, 1, 3 * 12).reshape(3, 12)
    wide = replace(
        r44, id="wide", x=x, attention=GivenOutput(output=x / 2), gamma=np.ones(12), beta=np.zeros(12), note={}
    )
    [example] = read_outputs([fake.folder(wide, "en")])
    output = example.outputs[0]
    [row] = [row for row in output.figures(output.clip("b1").labels) if row.symbol.text == "r₁"]
    assert row.text == "(−1.500, −1.414, … 9 more …, −0.557)"
    [alone] = output.figures([label for label in row.labels if label.ref == "resid_mid[0,1]"])
    assert alone.text == "(… 1 more …, −1.414, … 10 more …)"


def test_of_several_sizes_the_largest_is_taken(fake: Fake, r44: Example) -> None:
    fake.folder(r44, name="zh-180p15")
    fake.folder(r44, size=Size(640, 360, 15), name="zh-360p15")
    folder = fake.folder(r44, size=Size(640, 360, 30), name="zh-360p30")
    [example] = read_outputs([folder.parent])
    assert [output.folder for output in example.outputs] == [folder]
    [small] = read_outputs([folder.parent / "zh-180p15"])
    assert small.outputs[0].size == SIZE


def test_several_examples_stay_in_the_order_given(fake: Fake, r44: Example) -> None:
    ids = ("second", "first", "r44")
    folders = [fake.folder(replace(r44, id=name)).parent for name in ids]
    assert tuple(example.id for example in read_outputs(folders)) == ids


def spoil_text(manifest: dict[str, Any]) -> None:
    manifest["clips"][-1]["spans"][-1]["labels"][-1]["text"] = "−1.436"


def spoil_value(manifest: dict[str, Any]) -> None:
    manifest["clips"][-1]["spans"][-1]["labels"][-1]["value"] += 1e-12


def drop_label(manifest: dict[str, Any]) -> None:
    manifest["clips"][-1]["spans"][-1]["labels"].pop()


def another_schema(manifest: dict[str, Any]) -> None:
    manifest["schema"] = 99


def another_language(manifest: dict[str, Any]) -> None:
    manifest["language"] = "tlh"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (spoil_text, r"b3 ends on other numbers than the core has, in ln.out\[0,3\]"),
        (spoil_value, r"b3 ends on other numbers than the core has, in ln.out\[0,3\]"),
        (drop_label, r"b3 ends on other numbers than the core has, in ln.out\[0,3\]"),
        (another_schema, "schema 99; this addnorm reads 1"),
        (another_language, "values.json: language is missing or not known"),
    ],
)
def test_a_manifest_that_is_not_the_cores_is_refused(
    fake: Fake, r44: Example, change: Callable[[dict[str, Any]], None], complaint: str
) -> None:
    folder = fake.folder(r44, change=change)
    with pytest.raises(AddnormError, match=complaint):
        read_outputs([folder])


def test_a_clip_of_another_manifest_is_refused(fake: Fake, r44: Example) -> None:
    folder = fake.folder(r44)
    other = fake.folder(replace(r44, id="other"))
    (other / "clips/b2.mp4").rename(folder / "clips/b2.mp4")
    with pytest.raises(AddnormError, match=r"b2.mp4: not the clip that its manifest describes"):
        read_outputs([folder])


def test_a_clip_made_by_itself_brings_its_own_manifest(fake: Fake, r44: Example) -> None:
    folder, alone = fake.folder(r44), fake.folder(r44, states=("b2",), name="alone")
    (alone / "clips/b2.mp4").rename(folder / "clips/b2.mp4")
    (alone / "values.json").rename(folder / "clips/b2.json")
    [example] = read_outputs([folder])
    assert example.states == STATES


def test_a_clip_made_by_itself_from_another_example_is_refused(fake: Fake, r44: Example) -> None:
    folder, alone = fake.folder(r44), fake.folder(replace(r44, eps=1e-6), states=("b2",), name="alone")
    (alone / "clips/b2.mp4").rename(folder / "clips/b2.mp4")
    (alone / "values.json").rename(folder / "clips/b2.json")
    with pytest.raises(AddnormError, match=r"b2.json: made from something else than .*values.json"):
        read_outputs([folder])


def test_two_examples_of_one_id_are_refused(fake: Fake, r44: Example) -> None:
    fake.folder(r44)
    folder = fake.folder(replace(r44, eps=1e-6), "en")
    with pytest.raises(AddnormError, match=r"another example than that of .* with the same id 'r44'"):
        read_outputs([folder.parent])


def test_outputs_with_different_states_are_refused(fake: Fake, r44: Example) -> None:
    folders = [fake.folder(r44), fake.folder(r44, "en", states=("b4", "b5"))]
    with pytest.raises(AddnormError, match=r"en-dark: not the same states as .*zh-dark: b0, b1, b2, b3"):
        read_outputs(folders)


def test_clips_beside_whole_films_are_left_out(fake: Fake, r44: Example) -> None:
    large = fake.folder(r44, size=Size(640, 360, 15), states=("b2",), name="zh-360p15")
    assert [example.states for example in read_outputs([large.parent])] == [("b2",)]
    whole = fake.folder(r44)
    [example] = read_outputs([large.parent])
    assert [output.folder for output in example.outputs] == [whole]


def test_a_missing_still_and_an_empty_folder_are_said(fake: Fake, r44: Example, tmp_path: Path) -> None:
    folder = fake.folder(r44)
    (folder / "stills/b0.png").unlink()
    with pytest.raises(AddnormError, match=r"b0.png: not there; render b0 again"):
        read_outputs([folder])
    (tmp_path / "empty").mkdir()
    with pytest.raises(AddnormError, match="empty: no film in it; give a folder that addnorm rendered to"):
        read_outputs([tmp_path / "empty"])


def test_what_is_no_rendered_folder_is_told_apart(fake: Fake, r44: Example, tmp_path: Path) -> None:
    folder = fake.folder(r44, states=("b0",))
    with pytest.raises(AddnormError, match="nowhere: not there; give a folder"):
        read_outputs([tmp_path / "nowhere"])
    with pytest.raises(AddnormError, match=r"values\.json: a file; give a folder"):
        read_outputs([folder / "values.json"])
    with pytest.raises(AddnormError, match=r"the folder of several examples; give some of them: .*/r44$"):
        read_outputs([fake.out])
    (folder / "values.json").unlink()
    with pytest.raises(AddnormError, match="only pictures in it; render the clips too, without --stills"):
        read_outputs([folder])


def test_an_example_too_large_for_the_manifest_has_to_be_given(fake: Fake, r44: Example) -> None:
    x = np.linspace(-1, 1, 3 * 800).reshape(3, 800)
    large = replace(
        r44, id="large", x=x, attention=GivenOutput(output=x / 2), gamma=np.ones(800), beta=np.zeros(800), note={}
    )
    folder = fake.folder(large)
    assert set(json.loads((folder / "values.json").read_text("utf-8"))["example"]) == {"id", "digest"}
    with pytest.raises(AddnormError, match="large, is too large to be kept there; give its file with --example"):
        read_outputs([folder])
    with pytest.raises(AddnormError, match="--example"):
        read_outputs([folder], [replace(large, eps=1e-6)])
    [example] = read_outputs([folder], [large])
    assert example.trace.example == large


def test_an_export_goes_beside_what_was_rendered(fake: Fake, r44: Example) -> None:
    folder = fake.folder(r44)
    other = fake.folder(replace(r44, id="other"))
    assert export(FORMATS["page"], read_outputs([folder])) == folder.parent / "page.html"
    assert export(FORMATS["page"], read_outputs([folder, other])) == fake.out / "page.html"
    assert {path.name for path in fake.out.iterdir()} == {".addnorm", "r44", "other", "page.html"}
    assert [*(fake.out / ".addnorm/work").iterdir()] == []


def test_an_export_elsewhere_leaves_nothing_else_there(fake: Fake, r44: Example, tmp_path: Path) -> None:
    target = tmp_path / "talks" / "lecture.html"
    assert export(FORMATS["page"], read_outputs([fake.folder(r44)]), target) == target
    assert [*target.parent.iterdir()] == [target]


def test_what_fails_leaves_the_old_file(fake: Fake, r44: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered = read_outputs([fake.folder(r44)])
    target = export(FORMATS["page"], rendered)
    before = target.read_bytes()

    def fail(*_: object) -> None:
        target.with_name("half").touch()
        raise AddnormError("no room")

    monkeypatch.setattr("addnorm.scenes.exporters.page.write", fail)
    with pytest.raises(AddnormError, match="no room"):
        export(FORMATS["page"], rendered)
    assert target.read_bytes() == before
