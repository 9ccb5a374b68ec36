"""The document for LaTeX, compiled as its users compile it: clips that viewers find and start, crisp stills, notes."""

from __future__ import annotations

import json
import re
import subprocess
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pypdf import PdfReader

from addnorm.mathcore.example import Example
from addnorm.mathcore.symbols import symbol
from addnorm.scenes.exporters import FORMATS, export
from addnorm.scenes.exporters.beamer import tex, tex_line, tex_math
from addnorm.scenes.exporters.outputs import Output, Rendered, read_outputs
from addnorm.scenes.manifest import labels_at
from addnorm.scenes.text import Constant, Run, User, plain, symbol_line
from tests.scenes.exporters.conftest import STATES, Fake, block_of, pdf_pictures, pdf_text, viewer

ASCII = "<script>alert('1')</script> & \"x\" \\ # 100% $ _ ^ ~ `` -- {{ 7*7 }} (= 7 =) \\end{document}"
NAUGHTY = f"{ASCII} “引号”，σ² − 中文"


@dataclass(frozen=True)
class Compiled:
    """A document that a program has made, with the notes as pages of their own."""

    output: Output
    document: Path

    @property
    def pdf(self) -> Path:
        return self.document.with_suffix(".pdf")

    @property
    def pages(self) -> list[Any]:
        return [*PdfReader(self.pdf).pages]

    @property
    def log(self) -> str:
        return self.document.with_suffix(".log").read_text(encoding="utf-8", errors="replace")


@pytest.fixture(scope="module", params=["xelatex", "lualatex", "pdflatex"])
def compiled(request: pytest.FixtureRequest, r44: Example, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """R44 with a title that is hard on TeX: in Chinese, and by pdflatex in ASCII."""
    language, title = ("en", ASCII) if request.param == "pdflatex" else ("zh", NAUGHTY)
    fake = Fake(tmp_path_factory.mktemp(request.param) / "it's {out} 中文")
    [example] = read_outputs([fake.folder(replace(r44, title={language: title}), language)])
    document = export(FORMATS["beamer"], [example]) / f"r44-{language}.tex"
    start = rf"\PassOptionsToClass{{notes=show}}{{beamer}}\input{{{document.name}}}"
    command = [viewer(request.param), "-interaction=nonstopmode", "-halt-on-error", f"-jobname={document.stem}", start]
    for _ in range(2):  # bookmarks come with the second
        made = subprocess.run(command, cwd=document.parent, capture_output=True, check=False)
        assert made.returncode == 0, made.stdout.decode(errors="replace")[-3000:]
    return Compiled(example.outputs[0], document)


def marks(page: Any) -> list[Any]:
    return [mark.get_object() for mark in page.get("/Annots", [])]


def movies(page: Any) -> list[Any]:
    return [mark for mark in marks(page) if mark["/Subtype"] == "/Movie"]


def test_a_clip_is_found_and_started(compiled: Compiled) -> None:
    clips = []
    for page in compiled.pages:
        if not movies(page):
            continue
        [movie] = movies(page)
        [start] = [mark["/AA"]["/PO"].get_object() for mark in marks(page) if mark["/Subtype"] == "/Widget"]
        assert (start["/S"], start["/Operation"], start["/T"]) == ("/Movie", "/Play", movie["/T"])
        assert movie["/A"]["/Mode"] == "/Once"
        assert [float(edge) for edge in movie["/Rect"]] == pytest.approx([0, 0, *page.mediabox[2:]], abs=1.5)
        file = compiled.document.parent / movie["/Movie"]["/F"]
        clip = compiled.output.clip(file.stem)
        assert file.read_bytes() == clip.video.read_bytes()
        assert float(page["/Dur"]) == pytest.approx(clip.seconds)
        clips.append(file.stem)
    assert clips == [*STATES]


def test_a_page_begins_where_the_one_before_ended(compiled: Compiled) -> None:
    title, *states = pdf_pictures(compiled.pdf)
    assert block_of(title) is None
    slides = [page for page in states if page[2, 2].min() < 250]  # notes are on white
    assert [block_of(page) for page in slides] == [None, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5]


def test_stills_are_drawn_and_not_rastered(compiled: Compiled) -> None:
    listed = subprocess.check_output([viewer("pdfimages"), "-list", compiled.pdf], text=True).splitlines()[2:]
    rastered = {int(line.split()[0]) for line in listed}
    clips = [number for number, page in enumerate(compiled.pages, start=1) if movies(page)]
    assert sorted(rastered) == clips  # these have the clip's own first frame


def test_a_users_title_stands_as_it_is(compiled: Compiled) -> None:
    reader: Any = PdfReader(compiled.pdf)
    title = compiled.output.title
    assert reader.metadata.title == title
    assert printed(compiled)[0].startswith(flat(title))
    [top, below] = reader.outline
    assert top["/Title"] == title
    assert [item["/Title"] for item in below] == [plain(clip.heading) for clip in compiled.output.clips]


def test_notes_hold_caption_and_figures(compiled: Compiled) -> None:
    manifest = json.loads((compiled.output.folder / "values.json").read_text(encoding="utf-8"))
    pages = [page for page in printed(compiled)[1:] if page]
    for number, clip in enumerate(compiled.output.clips):
        found = pages[2 * number]
        assert pages[2 * number + 1] == found  # beside the clip and beside the still
        due = sorted(label.text for label in labels_at(manifest, clip.name, clip.frames - 1))
        assert sorted(figures(found)) == [flat(text) for text in due]
        assert flat(plain(clip.caption)) in found


def printed(compiled: Compiled) -> list[str]:
    """The text of the pages, raised and lowered digits as plain ones."""
    return [flat(page) for page in pdf_text(compiled.pdf)]


def flat(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).replace("∆", "Δ").split())


def figures(note: str) -> list[str]:
    """The numbers of a note: all that is said after its equals signs."""
    rows = re.findall(r"=(\([^)]*\)|10−5|−?\d(?:\.\d+)?)", note)
    return [number for row in rows for number in row.strip("()").split(",")]


def test_no_character_is_lost(compiled: Compiled) -> None:
    assert "Missing character" not in compiled.log
    fonts = subprocess.check_output([viewer("pdffonts"), compiled.pdf], text=True).splitlines()[2:]
    assert not [font for font in fonts if "Type 3" in font]  # no bitmaps
    assert any("NotoSansSC" in font for font in fonts) or compiled.output.language == "en"


def test_languages_themes_and_examples_stay_apart(rendered: Rendered, fake: Fake, r44: Example, tmp_path: Path) -> None:
    other = replace(r44, id="另一个", title={"zh": "另一个"}, eps=0.5)
    [second] = read_outputs([fake.folder(other).parent])
    made = export(FORMATS["beamer"], [rendered, second], tmp_path / "beamer")
    documents = {path.stem: path.read_text(encoding="utf-8") for path in made.glob("*.tex")}
    assert sorted(documents) == ["r44-en", "r44-en-light", "r44-zh-light", "r44-另一个-zh"]
    states = re.findall(r"^\\state\{(.*?)\}\{(.*?)\}", documents["r44-另一个-zh"], re.MULTILINE)
    folders = {"r44-zh": rendered.outputs[0], "U+53E6U+4E00U+4E2A-zh": second.outputs[0]}
    assert states == [(folder, state) for folder in folders for state in STATES]
    for folder, output in folders.items():
        for clip in output.clips:
            assert (made / folder / f"{clip.name}.mp4").read_bytes() == clip.video.read_bytes()
            assert (made / folder / f"{clip.name}-first.png").read_bytes() == clip.poster
    assert r"$\varepsilon$ = 0.5" in documents["r44-另一个-zh"]
    assert r"\definecolor{ground}{HTML}{FFFFFF}" in documents["r44-en-light"]


def test_figures_change_with_the_example(fake: Fake, r44: Example) -> None:
    changed = replace(r44, x=r44.x + np.array([0.25, 0, 0, 0]), eps=0.1)
    [example] = read_outputs([fake.folder(changed, "en")])
    document = (export(FORMATS["beamer"], [example]) / "r44-en.tex").read_text(encoding="utf-8")
    mean = {label.ref: label.text for label in example.outputs[0].clip("b2").labels}["ln.mean[0]"]
    assert mean != "1.098888"
    assert rf"$\mu$ = {mean}" in document
    assert "1.098888" not in document


def test_there_is_all_it_needs(rendered: Rendered, tmp_path: Path) -> None:
    made = export(FORMATS["beamer"], [rendered], tmp_path / "beamer")
    assert {path.name for path in (made / "fonts").iterdir()} == {"NotoSansSC-Regular.ttf", "OFL.txt"}
    document = (made / "r44-zh.tex").read_text(encoding="utf-8")
    assert "://" not in document
    for folder, state in re.findall(r"^\\state\{(.*?)\}\{(.*?)\}", document, re.MULTILINE):
        assert all((made / folder / name).is_file() for name in (f"{state}.mp4", f"{state}.pdf", f"{state}-first.png"))


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("50% of $x_1$ & \\y", r"50\% of \$x\_1\$ \& \textbackslash{}y"),
        ("10⁻⁵ and r₁", r"10\textsuperscript{−5} and r\textsubscript{1}"),
        ("two\nlines -- \U0001f642", "two lines -{}-{} U+1F642"),
    ],
)
def test_text_in_tex(text: str, due: str) -> None:
    assert tex(text) == due


@pytest.mark.parametrize(
    ("quantity", "token", "due"),
    [
        ("resid_mid", 0, "r_{1}"),
        ("resid_mid", 11, "r_{12}"),
        ("ln.normalized", 0, r"\hat{r}_{1}"),
        ("ln.var", None, r"\sigma^2"),
        ("update", None, r"\Delta"),
        ("eps", None, r"\varepsilon"),
    ],
)
def test_symbols_in_tex(quantity: str, token: int | None, due: str) -> None:
    assert tex_math(symbol(quantity, token)) == due


def test_a_line_in_tex() -> None:
    line = (Run("只看 100% 的", User("caption")), *symbol_line(symbol("ln.mean")), Run("a ", Constant("k")))
    assert tex_line(line) == r"只看 100\% 的$\mu$a "
