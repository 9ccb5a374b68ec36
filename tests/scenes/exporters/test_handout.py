"""The handout as poppler reads it: its words and figures, page by page, and the colours of its pictures."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from unicodedata import normalize
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from addnorm.mathcore import run
from addnorm.mathcore.example import Example, GivenOutput
from addnorm.mathcore.labels import Label, detail_label
from addnorm.scenes.exporters import FORMATS, export
from addnorm.scenes.exporters.outputs import Clip, Rendered, read_outputs
from addnorm.scenes.exporters.worksheet import worksheet
from addnorm.scenes.films import FILMS
from addnorm.scenes.text import Wording, load_catalogue, plain
from tests.scenes.exporters.conftest import GROUNDS, Fake

HANDOUT = FORMATS["handout"]
SVG = "http://www.w3.org/2000/svg"
NAUGHTY = "<script>alert('x')</script> & \"引号\" #set $x$ *b* _i_ `c` \\n [l] @r ~ // /* {{"
"""Whatever HTML, Typst and TeX would take for their own."""


def output_of(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def pages(pdf: Path) -> list[str]:
    """The text of each page, in reading order, on one line."""
    return [" ".join(page.split()) for page in output_of("pdftotext", pdf, "-").split("\f")[:-1]]


def without_blanks(text: str) -> str:
    """The text without blanks, of which a line's end is one, and with digits and letters of any kind as plain ones."""
    return re.sub(r"\s", "", normalize("NFKC", text))


@dataclass(frozen=True)
class Word:
    """A word on a page, in points from the top left."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


def words(pdf: Path) -> Iterator[tuple[float, list[Word]]]:
    """For each page its width and its words."""
    tree = ElementTree.fromstring(output_of("pdftotext", "-bbox", pdf, "-"))
    space = "{http://www.w3.org/1999/xhtml}"
    for page in tree.iter(f"{space}page"):
        found = [
            Word(word.text or "", *(float(word.attrib[at]) for at in ("xMin", "yMin", "xMax", "yMax")))
            for word in page.iter(f"{space}word")
        ]
        yield float(page.attrib["width"]), found


def handout(fake: Fake, example: Example) -> Path:
    """An example's handout in English."""
    rendered = read_outputs([fake.folder(example, "en")])
    return export(HANDOUT, rendered, fake.out / f"handout of {example.id}") / f"{example.id}-en.pdf"


def batched(clips: tuple[Clip, ...]) -> list[tuple[Clip, ...]]:
    """What stands on a page: two states."""
    return [clips[n : n + 2] for n in range(0, len(clips), 2)]


def texts(labels: tuple[Label, ...]) -> list[str]:
    return [label.text for label in labels]


@pytest.fixture(scope="module")
def folder(rendered: Rendered, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(HANDOUT, [rendered], tmp_path_factory.mktemp("handout") / "for print")


@pytest.fixture(scope="module")
def wide(r44: Example) -> Example:
    """Forty features, with γ and β that differ and numbers that go on."""
    x, output = np.sin(np.arange(120.0)).reshape(3, 40), np.cos(np.arange(120.0)).reshape(3, 40) / 3
    gamma, beta = np.linspace(0.5, 1.5, 40) ** 3, np.linspace(-1, 1, 40) ** 3
    return replace(r44, id="wide", x=x, attention=GivenOutput(output), gamma=gamma, beta=beta, note={}, followed=1)


def test_there_is_one_for_each_language(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == ["r44-en.pdf", "r44-zh.pdf"]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_state_has_its_caption_and_its_figures(
    folder: Path, language: str, rendered: Rendered
) -> None:
    made = pages(folder / f"r44-{language}.pdf")
    output = rendered.output(language, "light")
    assert len(made) == 6
    assert made[0].startswith(output.title)
    for page, clips in zip(made, batched(output.clips), strict=False):
        for clip in clips:
            assert without_blanks(plain(clip.caption)) in without_blanks(page)
        due = Counter(label.text for clip in clips for label in clip.labels if "10⁻" not in label.text)
        assert due <= Counter(re.split(r"[\s=]+", page))
    for line in (*output.board.cautions, *output.board.pointers):
        assert without_blanks(plain(output.wording.line(line))) in without_blanks(made[3])


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_sheet_is_blank_and_the_answers_come_last(folder: Path, language: str, rendered: Rendered) -> None:
    *_, sheet, answers = pages(folder / f"r44-{language}.pdf")
    said = load_catalogue(language)["handout"]
    assert (said["sheet"] in sheet, said["answers"] in answers) == (True, True)
    printed = worksheet(rendered.trace)
    asked = [text for row in (*printed.rows[2:], *printed.statistics) for text in texts(row.labels)]
    given = [text for row in printed.rows[:2] for text in texts(row.labels)]
    assert [text for text in given if text not in sheet.split()] == []
    assert [text for text in asked if text in sheet.split() and text not in given] == []
    assert [text for text in (*given, *asked) if text not in answers.split()] == []
    assert re.search("保留 7 位小数，其余保留 6 位|to 7 decimal places and the rest to 6", sheet)


def test_figures_are_the_cores_and_change_with_the_example(fake: Fake, r44: Example) -> None:
    changed = replace(r44, id="changed", x=r44.x * 3, followed=2)
    trace = run(changed)
    due = [detail_label(trace, f"ln.out[2,{n}]").text for n in range(4)]
    *_, answers = pages(handout(fake, changed))
    assert [text for text in due if text not in answers.split()] == []
    *_, others = pages(handout(fake, r44))
    assert not {*due} & {*others.split()}


def test_whatever_a_title_or_a_caption_says_is_shown_literally(fake: Fake, r44: Example) -> None:
    caption = NAUGHTY.replace("{", "") + "{ln.mean[0]}"  # in a caption braces ask for a number
    example = replace(
        r44,
        title={"en": NAUGHTY},
        captions={"en": {"b2": caption}},
        note={"en": NAUGHTY},
        tokens=(NAUGHTY, "#", "$"),
    )
    made = [without_blanks(page) for page in pages(handout(fake, example))]
    literal = without_blanks(NAUGHTY)
    assert made[0].startswith(literal)
    assert all(page.startswith(literal) for page in made[1:])  # at the top of every page
    assert f"{literal.replace('{', '')}1.098888" in made[2]
    assert literal in made[3]


def test_the_outline_has_every_heading(folder: Path, rendered: Rendered) -> None:
    outline = output_of("pdftohtml", "-xml", "-i", "-stdout", folder / "r44-zh.pdf")
    listed = [without_blanks(item) for item in re.findall(r"<item page=\"\d\">(.*)</item>", outline)]
    output = rendered.output("zh", "light")
    assert listed[:7] == [without_blanks(text) for text in (output.title, *(plain(c.heading) for c in output.clips))]


def test_a_title_of_many_words_stays_on_its_line(fake: Fake, r44: Example) -> None:
    title = "A title that goes on and on " * 12
    example = replace(r44, title={"en": title})
    made = handout(fake, example)
    [_, (width, second), *_] = words(made)
    top = [word for word in second if word.top < 55]
    assert len({word.top for word in top}) == 1
    assert top[-1].text.endswith("…")
    assert top[-1].right < width - 70
    assert pages(made)[0].count("goes on and on") == 12


def test_the_same_input_gives_the_same_bytes(folder: Path, rendered: Rendered, tmp_path: Path) -> None:
    again = export(HANDOUT, [rendered], tmp_path / "again")
    assert all((again / path.name).read_bytes() == path.read_bytes() for path in folder.iterdir())


def test_of_a_wide_row_it_says_what_is_left_out(fake: Fake, wide: Example) -> None:
    *_, sheet, answers = pages(handout(fake, wide))
    assert "6 of them are printed here" in sheet
    assert "cannot be checked with this sheet" in sheet
    assert "… 34 more …" in sheet
    printed = worksheet(run(wide))
    for row in (*printed.rows, *printed.statistics):
        assert [text for text in texts(row.labels) if (text in sheet.split()) != row.given] == []
        assert [text for text in texts(row.labels) if text not in answers.split()] == []


def test_where_no_digits_suffice_it_says_approximately(fake: Fake, r44: Example) -> None:
    x = np.array([[1.0, 1.000001]])  # the mean ends in a half
    half = Example("half", x, GivenOutput(np.zeros((1, 2))), np.ones(2), np.zeros(2), eps=1.0)
    assert "≈" in pages(handout(fake, half))[-2]
    assert "≈" not in pages(handout(fake, r44))[-2]


def test_where_powers_of_ten_are_asked_for_it_says_how_to_round_them(fake: Fake, wide: Example, r44: Example) -> None:
    x, output = wide.x[:, :4] * 1e-9, wide.x[:, 4:8] * 1e-9
    tiny = Example("tiny", x, GivenOutput(output), np.ones(4), np.zeros(4))
    said = load_catalogue("en")["handout"]["powers"]
    assert said in pages(handout(fake, tiny))[-2]
    assert said not in pages(handout(fake, r44))[-2]


def test_words_stand_apart_and_within_the_margins(fake: Fake, wide: Example, folder: Path) -> None:
    """With the longest numbers, too: nine places asked for, and γ and β that differ."""
    long = replace(wide, id="long", display=replace(wide.display, statistics_decimals=9), x=wide.x * 1000)
    for pdf in (folder / "r44-zh.pdf", folder / "r44-en.pdf", handout(fake, wide), handout(fake, long)):
        for width, found in words(pdf):
            assert [word.text for word in found if word.left < 70 or word.right > width - 70] == []
            assert overlapping(found) == []


def overlapping(found: list[Word]) -> list[str]:
    """Words of one line that run into each other."""
    lines = sorted(found, key=lambda word: (word.top, word.left))
    return [
        f"{a.text} {b.text}"
        for a, b in pairwise(lines)
        if a.top == b.top and a.bottom == b.bottom and b.left < a.right - 0.5
    ]


def test_words_that_run_into_each_other_would_be_seen() -> None:
    assert overlapping([Word("1.599", 10, 0, 40, 9), Word("0.802", 38, 0, 60, 9)]) == ["1.599 0.802"]
    assert overlapping([Word("1.599", 10, 0, 40, 9), Word("0.802", 38, 9, 60, 18)]) == []


def test_fonts_are_the_bundled_ones_and_in_the_file(folder: Path) -> None:
    _, _, *fonts = output_of("pdffonts", folder / "r44-zh.pdf").splitlines()
    names = {line.split()[0].partition("+")[2] for line in fonts}
    assert {name.partition("-")[0] for name in names} <= {"NotoSansSC", "NewCMMath"}
    assert all(" yes yes yes " in line for line in fonts)  # embedded, a subset, with its characters


def ground(pdf: Path) -> tuple[int, ...]:
    """The colour of the first picture on the second page, near its upper left corner."""
    output_of("pdftoppm", "-f", "2", "-l", "2", "-r", "36", "-singlefile", pdf, pdf.with_suffix(""))
    picture = np.asarray(Image.open(pdf.with_suffix(".ppm")).convert("RGB"))
    return tuple(int(channel) for channel in picture[36, 45])


@pytest.mark.parametrize("themes", [("dark", "light"), ("dark",)])
def test_pictures_are_the_light_ones_where_there_are_any(fake: Fake, r44: Example, themes: tuple[str, ...]) -> None:
    folders = [fake.folder(r44, "en", theme) for theme in themes]
    made = export(HANDOUT, read_outputs([folders[0].parent]), fake.out / "made")
    assert ground(made / "r44-en.pdf") == pytest.approx(GROUNDS[themes[-1]], abs=4)


def test_a_dark_picture_is_printed_in_light_colours(fake: Fake, r44: Example) -> None:
    folder = fake.folder(r44, "en", "dark")
    ground_alone = '<path fill="#0E141B" d="M0 0H1920V1080H0Z"/>'
    for still in (folder / "stills").glob("*.png"):
        still.with_suffix(".svg").write_text(f'<svg xmlns="{SVG}" viewBox="0 0 1920 1080">{ground_alone}</svg>')
    made = export(HANDOUT, read_outputs([folder]), fake.out / "made")
    assert ground(made / "r44-en.pdf") == (255, 255, 255)


def test_several_examples_go_one_after_the_other_with_all_answers_at_the_end(fake: Fake, r44: Example) -> None:
    other = replace(r44, id="other", title={"en": "The other one"}, x=r44.x * 2)
    folders = [fake.folder(example, "en") for example in (other, r44)]
    target = export(HANDOUT, read_outputs(folders), fake.out / "made")
    made = pages(target / "other-r44-en.pdf")
    assert len(made) == 11
    for example in (other, r44):
        due = [detail_label(run(example), f"ln.out[0,{n}]").text for n in range(4)]
        assert [text for text in due if text not in made[-1].split()] == []
    film = FILMS["r44"]
    title = plain(Wording("en", run(r44), film.names).line("r44.title"))
    assert made[0].startswith("The other one ")
    assert made[5].startswith(f"The other one / {title} {title} ")
    assert all("Work it out by hand" in made[n] for n in (4, 9))
