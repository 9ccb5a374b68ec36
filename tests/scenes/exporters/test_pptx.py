"""The slides as PowerPoint, Impress and their kin read them: python-pptx takes them apart, LibreOffice shows them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pptx import Presentation
from pptx.oxml.ns import qn

from addnorm.mathcore.example import Example
from addnorm.scenes.exporters import FORMATS, export
from addnorm.scenes.exporters.outputs import Output, Rendered, read_outputs
from addnorm.scenes.manifest import labels_at
from addnorm.scenes.text import plain
from addnorm.scenes.theme import load_theme
from tests.scenes.exporters.conftest import STATES, Fake, block_of, pdf_pictures, pdf_text, viewer

NAUGHTY = "<script>alert('1')</script> & \"引号\" \\ # % $ _ {{ 7*7 }} </a:t> 中文"


@pytest.fixture(scope="module")
def folder(rendered: Rendered, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(FORMATS["pptx"], [rendered], tmp_path_factory.mktemp("slides") / "pptx")


def slides(deck: Path) -> list[Any]:
    return [*Presentation(str(deck)).slides]


def pictures(slide: Any) -> list[Any]:
    """The clip and the still over it."""
    return [shape for shape in slide.shapes if shape._element.tag == qn("p:pic")]


def media(slide: Any) -> bytes:
    """The video that a slide plays."""
    [file] = slide.element.iter(qn("a:videoFile"))
    return bytes(slide.part.related_part(file.get(qn("r:link"))).blob)


def shown(picture: Any) -> int | None:
    """Which state's block is on a picture."""
    [blip] = picture._element.iter(qn("a:blip"))
    file = BytesIO(picture.part.related_part(blip.get(qn("r:embed"))).blob)
    return block_of(np.asarray(Image.open(file).convert("RGB")))


def notes(slide: Any) -> list[str]:
    return str(slide.notes_slide.notes_text_frame.text).split("\n")


def due(output: Output, state: str) -> Iterator[str]:
    """The numbers that the manifest has on a state's last frame."""
    manifest = json.loads((output.folder / "values.json").read_text(encoding="utf-8"))
    [record] = [clip for clip in manifest["clips"] if clip["state"] == state]
    for label in labels_at(manifest, state, record["frames"] - 1):
        yield label.text


def test_each_language_and_theme_has_a_deck(folder: Path) -> None:
    names = ["r44-en-light.pptx", "r44-en.pptx", "r44-zh-light.pptx", "r44-zh.pptx"]
    assert sorted(path.name for path in folder.iterdir()) == names
    for theme, name in (("light", names[0]), ("dark", names[1])):
        colors = Presentation(str(folder / name)).slide_master.part.part_related_by(
            "http://schemas.openxmlformats.org/officeDocument/2006/relationships/theme"
        )
        palette = load_theme(theme)
        for slot, role in (("lt1", "ground"), ("dk1", "text"), ("accent1", "x")):
            assert f'<a:{slot}><a:srgbClr val="{palette.color(role)[1:]}"/>' in colors.blob.decode()


def test_a_title_then_a_slide_for_each_state(folder: Path, rendered: Rendered) -> None:
    deck: Any = Presentation(str(folder / "r44-en.pptx"))
    assert deck.slide_width * 9 == deck.slide_height * 16
    assert "type" not in deck.element.find(qn("p:sldSz")).attrib
    title, *states = [slide.shapes.title.text_frame.text for slide in deck.slides]
    assert title == deck.core_properties.title == "R44 · Residual write-back and LayerNorm"
    assert states == [plain(clip.heading) for clip in rendered.output("en", "dark").clips]
    assert deck.slides[0].placeholders[1].text_frame.text.split() == ["x₁", "O₁", "r₁", "μ", "σ²", "u₁"]


def test_a_slide_plays_its_clip_from_its_first_frame_to_its_still(folder: Path, rendered: Rendered) -> None:
    output = rendered.output("zh", "dark")
    _, *states = slides(folder / "r44-zh.pptx")
    for number, (slide, clip) in enumerate(zip(states, output.clips, strict=True)):
        movie, still = pictures(slide)
        assert media(slide) == clip.video.read_bytes()
        assert shown(still) == number
        assert shown(movie) == (number - 1 if number else None)  # where the slide before ended
        for picture in (movie, still):
            assert (picture.left, picture.top) == (0, 0)
            assert (picture.width, picture.height) == (12192000, 6858000)


def test_a_clip_starts_by_itself_and_its_still_comes_when_it_has_ended(folder: Path, rendered: Rendered) -> None:
    _, *states = slides(folder / "r44-zh.pptx")
    for slide, clip in zip(states, rendered.outputs[0].clips, strict=True):
        movie, still = (str(picture.shape_id) for picture in pictures(slide))
        milliseconds = str(round(clip.seconds * 1000))
        [play] = slide.element.iter(qn("p:cmd"))
        assert play.get("cmd") == "playFrom(0.0)"
        assert [target.get("spid") for target in play.iter(qn("p:spTgt"))] == [movie]
        assert starts(play) == [["0"], ["0"], ["indefinite", "onBegin of 2"]]  # as soon as the slide is there
        [appear] = slide.element.iter(qn("p:set"))
        assert [target.get("spid") for target in appear.iter(qn("p:spTgt"))] == [still]
        assert starts(appear) == [["0"], [milliseconds], ["indefinite", "onBegin of 2"]]
        nodes = [node.get("id") for node in slide.element.iter(qn("p:cTn"))]
        assert len(nodes) == len({*nodes})


def starts(effect: Any) -> list[list[str]]:
    """What an effect and the groups it is in wait for, from the inside."""
    found = []
    for node in effect.iterancestors(qn("p:cTn")):
        if node.get("nodeType") == "mainSeq":
            break
        conditions = node.find(qn("p:stCondLst"))
        found.append([_start(condition) for condition in conditions])
    return found


def _start(condition: Any) -> str:
    [*after] = condition.iter(qn("p:tn"))
    return f"{condition.get('evt')} of {after[0].get('val')}" if after else str(condition.get("delay"))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_notes_hold_caption_and_figures(folder: Path, rendered: Rendered, language: str) -> None:
    output = rendered.output(language, "dark")
    _, *states = slides(folder / f"r44-{language}.pptx")
    for slide, clip in zip(states, output.clips, strict=True):
        caption, *figures = notes(slide)
        assert caption == plain(clip.caption)
        found = [number for line in figures for number in line.split(" = ")[1].strip("()").split(", ")]
        assert sorted(found) == sorted(due(output, clip.name))
    assert notes(states[4])[-2:] == ["μ = 1.098888", "σ² = 0.592455"]


def test_the_notes_change_with_the_example(fake: Fake, r44: Example) -> None:
    changed = replace(r44, x=r44.x + np.array([0.25, 0, 0, 0]), eps=0.1)
    [example] = read_outputs([fake.folder(changed, "en")])
    made = export(FORMATS["pptx"], [example])
    figures = notes(slides(made / "r44-en.pptx")[5])
    assert "ε = 0.1" in figures
    assert figures[-2].split(" = ")[1] in {*due(example.outputs[0], "b2")} - {"1.098888"}


def test_every_picture_is_described(folder: Path) -> None:
    described = [
        str(picture._element.nvPicPr.cNvPr.get("descr"))
        for slide in slides(folder / "r44-en.pptx")
        for picture in pictures(slide)
    ]
    assert len(described) == 2 * len(STATES)
    assert all(described)
    assert described[-1].endswith("u₁ = (1.171, 0.650, −0.385, −1.435)")


def test_it_needs_nothing_from_elsewhere(folder: Path) -> None:
    package = Presentation(str(folder / "r44-zh.pptx")).part.package
    parts = [package, *package.iter_parts()]
    assert [relation.target_ref for part in parts for relation in part._rels.values() if relation.is_external] == []


def test_two_examples_whose_first_clips_are_alike_keep_their_own(fake: Fake, r44: Example) -> None:
    other = replace(r44, id="另一个", title={"zh": "另一个"}, eps=0.5)
    rendered = read_outputs([fake.folder(other).parent, fake.folder(r44).parent])
    first, second = (example.outputs[0].clip("b4") for example in rendered)
    assert first.still.read_bytes() == second.still.read_bytes()
    made = export(FORMATS["pptx"], rendered)
    deck = slides(made / "另一个-r44-zh.pptx")
    assert [deck[n].shapes.title.text_frame.text for n in (0, 7)] == ["另一个", "R44 · 残差写回与 LayerNorm"]
    clips = [clip for example in rendered for clip in example.outputs[0].clips]
    assert [media(slide) for slide in (*deck[1:7], *deck[8:])] == [clip.video.read_bytes() for clip in clips]
    assert "ε = 0.5" in notes(deck[5])
    assert "ε = 10⁻⁵" in notes(deck[12])


def test_gifs_instead_of_clips(fake: Fake, r44: Example) -> None:
    made = export(FORMATS["pptx"], read_outputs([fake.folder(r44)]), flags={"per_state_gif": True})
    _, *states = slides(made / "r44-zh.pptx")
    for number, slide in enumerate(states):
        [picture] = pictures(slide)
        gif: Any = Image.open(BytesIO(picture.image.blob))
        assert gif.format == "GIF"
        assert "loop" not in gif.info  # played once
        first = block_of(np.asarray(gif.convert("RGB")))
        gif.seek(gif.n_frames - 1)
        assert (first, block_of(np.asarray(gif.convert("RGB")))) == (number - 1 if number else None, number)
        assert [*slide.element.iter(qn("p:timing"))] == []


def test_a_long_title_is_set_smaller(fake: Fake, r44: Example) -> None:
    [example] = read_outputs([fake.folder(replace(r44, title={"zh": "很长的标题" * 40}))])
    made = export(FORMATS["pptx"], [example])
    [paragraph] = slides(made / "r44-zh.pptx")[0].shapes.title.text_frame.paragraphs
    assert 20 < paragraph.font.size.pt < 30
    assert len(paragraph.text) == 200


def test_impress_shows_each_still_and_a_users_title_as_it_is(fake: Fake, r44: Example, tmp_path: Path) -> None:
    [example] = read_outputs([fake.folder(replace(r44, title={"zh": NAUGHTY}))])
    deck = export(FORMATS["pptx"], [example], tmp_path / "pptx") / "r44-zh.pptx"
    assert Presentation(str(deck)).core_properties.title == NAUGHTY
    assert slides(deck)[0].shapes.title.text_frame.text == NAUGHTY
    home = (tmp_path / "home").as_uri()
    command = [viewer("soffice"), f"-env:UserInstallation={home}", "--headless", "--convert-to", "pdf", "--outdir"]
    subprocess.run([*command, tmp_path, deck], check=True, capture_output=True)
    title, *states = pdf_text(tmp_path / "r44-zh.pdf")
    assert title.startswith(re.sub(r"\s", "", NAUGHTY))
    assert "".join(states) == ""  # what else there is to read is out of sight
    assert [block_of(page) for page in pdf_pictures(tmp_path / "r44-zh.pdf")] == [None, *range(6)]
