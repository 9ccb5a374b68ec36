"""The page in a real browser: it steps, links, switches, tells all figures, prints, and asks for nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from addnorm.mathcore.example import Example
from addnorm.mathcore.labels import detail_label
from addnorm.scenes.exporters import FORMATS, export
from addnorm.scenes.exporters.markup import rich
from addnorm.scenes.exporters.outputs import Rendered, read_outputs
from addnorm.scenes.text import load_catalogue, plain
from tests.scenes.exporters.conftest import GROUNDS, STATES, Fake, Window, block_of, pixels

Open = Callable[..., Window]
CURRENT = ".edition:not([hidden])"
STILL = {"reduced_motion": "reduce"}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
NAUGHTY = "<script>alert('x')</script> & \"引号\" 'x' {{ x*x }} </title>中文"


@pytest.fixture(scope="module")
def page_file(rendered: Rendered, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(FORMATS["page"], [rendered], tmp_path_factory.mktemp("page") / "the page.html")


def address(page: Page) -> str:
    return page.url.partition("#")[2]


def told(page: Page) -> str:
    """Which state the words belong to."""
    [name] = page.locator(f"{CURRENT} .state.told").evaluate_all("all => all.map(one => one.dataset.name)")
    marked = page.locator(f"{CURRENT} .steps a[aria-current=step] .name").all_text_contents()
    assert marked == [name]
    return str(name)


def rest(page: Page, state: str) -> None:
    """Wait until a state's clip has stopped, and see that it stopped on its picture."""
    # Until the clip begins, the state before it is the current one, and that has stopped too.
    expect(page.locator(f'{CURRENT} .state.current[data-name="{state}"]')).to_be_attached()
    expect(page.locator(f"{CURRENT} .controls[data-now=ended]")).to_be_attached()
    assert told(page) == address(page) == state
    assert block_of(pixels(page, f"{CURRENT} .state.current .picture")) == STATES.index(state)


def test_it_opens_with_the_default_picture(page_file: Path, window: Open) -> None:
    page = window().open(page_file)
    rest(page, "b4")
    assert page.title() == "R44 · 残差写回与 LayerNorm"


def test_arrows_space_and_clicks_step(page_file: Path, window: Open) -> None:
    page = window().open(page_file)
    stage, press = page.locator(f"{CURRENT} .state.current .picture"), page.keyboard.press
    rest(page, "b4")
    steps: list[tuple[Callable[[], object], str]] = [
        (lambda: press("ArrowRight"), "b5"),
        (lambda: press(" "), "b0"),
        (stage.click, "b1"),
        (lambda: press("PageDown"), "b2"),
        (lambda: page.locator(f"{CURRENT} .next").click(), "b3"),
        (lambda: press("ArrowRight"), "b3"),
        (lambda: press("ArrowLeft"), "b2"),
        (lambda: press("Shift+ "), "b1"),
        (lambda: page.locator(f"{CURRENT} .previous").click(), "b0"),
        (lambda: press("Home"), "b4"),
        (lambda: press("ArrowLeft"), "b4"),
        (lambda: press("End"), "b3"),
        (lambda: page.locator(f"{CURRENT} .steps a", has_text="b0").click(), "b0"),
    ]
    for act, state in steps:
        act()
        rest(page, state)


def test_keys_that_are_anothers_are_left_alone(page_file: Path, window: Open) -> None:
    page = window().open(page_file)
    rest(page, "b4")
    page.keyboard.press("Control+ArrowRight")
    page.locator(f"{CURRENT} .details summary").focus()
    page.keyboard.press(" ")
    expect(page.locator(f"{CURRENT} .details")).to_have_attribute("open", "")
    page.locator(f"{CURRENT} .wide").focus()
    page.keyboard.press("ArrowRight")
    rest(page, "b4")


def test_a_clip_plays_into_its_picture_and_can_be_stopped_and_replayed(page_file: Path, window: Open) -> None:
    page = window().open(page_file)
    rest(page, "b4")
    page.keyboard.press("ArrowRight")
    expect(page.locator(f"{CURRENT} .controls[data-now=playing]")).to_be_attached()
    toggle = page.locator(f"{CURRENT} .toggle")
    toggle.click()
    expect(toggle).to_have_text("播放")
    assert page.locator(".screen video").evaluate("video => video.currentTime < video.duration")
    toggle.click()
    rest(page, "b5")
    expect(toggle).to_have_text("重播")
    toggle.click()
    expect(toggle).to_have_text("暂停")
    rest(page, "b5")


def test_nothing_flashes_between_two_states(page_file: Path, window: Open) -> None:
    page = window().open(page_file, "?theme=dark")
    rest(page, "b4")
    page.keyboard.press("ArrowRight")
    for _ in range(6):
        seen = pixels(page, f"{CURRENT} .player")[40:, 40:300]  # the stage alone
        assert np.abs(np.median(seen, axis=(0, 1)) - GROUNDS["dark"]).max() < 12
    rest(page, "b5")


def test_going_back_shows_the_picture_at_once(page_file: Path, window: Open) -> None:
    page = window().open(page_file, "#b1")
    rest(page, "b1")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(f"{CURRENT} .screen video")).to_have_count(0)
    assert block_of(pixels(page, f"{CURRENT} .state.current .picture")) == STATES.index("b0")


@pytest.mark.parametrize(("hash_", "state"), [("#b2", "b2"), ("#b3", "b3"), ("#b9", "b4"), ("#%", "b4"), ("", "b4")])
def test_deep_links(page_file: Path, window: Open, hash_: str, state: str) -> None:
    page = window().open(page_file, hash_)
    rest(page, state)


def test_a_link_followed_later_steps_too(page_file: Path, window: Open) -> None:
    page = window().open(page_file)
    rest(page, "b4")
    page.evaluate("location.hash = '#b1'")
    rest(page, "b1")


def test_a_swipe_steps_and_a_scroll_does_not(page_file: Path, window: Open) -> None:
    page = window(**PHONE, **STILL).open(page_file)
    assert told(page) == "b4"

    def swipe(x: int, y: int) -> None:
        page.locator(f"{CURRENT} .state.current .picture").evaluate(
            """(stage, [x, y]) => {
                const at = (x, y) => [new Touch({ identifier: 1, target: stage, clientX: x, clientY: y })];
                const fire = (type, on, touches) => stage.dispatchEvent(
                    new TouchEvent(type, { bubbles: true, touches: on ? touches : [], changedTouches: touches }));
                fire("touchstart", true, at(200, 200));
                fire("touchend", false, at(200 + x, 200 + y));
            }""",
            [x, y],
        )

    swipe(-80, 10)
    assert told(page) == "b5"
    swipe(60, 0)
    assert told(page) == "b4"
    swipe(-80, 200)
    swipe(-20, 0)
    assert told(page) == "b4"


def test_the_language_can_be_switched_and_stays(page_file: Path, window: Open, rendered: Rendered) -> None:
    page = window().open(page_file, "#b2")
    rest(page, "b2")
    captions = {each: rich(rendered.output(each, "dark").clip("b2").caption).striptags() for each in ("zh", "en")}
    caption = page.locator(f"{CURRENT} .told .caption")
    assert caption.text_content() == captions["zh"]
    page.get_by_role("button", name="English").click()
    rest(page, "b2")
    assert page.title() == "R44 · Residual write-back and LayerNorm"
    assert page.locator("html").get_attribute("lang") == "en"
    assert (
        "are computed from the four features of this row alone"
        in page.locator(f"{CURRENT} .told .caption").inner_text()
    )
    expect(page.get_by_role("button", name="English")).to_be_focused()
    page.reload()
    assert page.title() == "R44 · Residual write-back and LayerNorm"
    assert page.locator(CURRENT).count() == 1


def test_it_speaks_the_readers_language_or_its_first(page_file: Path, window: Open) -> None:
    titles = {locale: window(locale=locale, **STILL).open(page_file).title() for locale in ("en-GB", "zh-TW", "fr-FR")}
    assert titles["en-GB"] == "R44 · Residual write-back and LayerNorm"
    assert titles["zh-TW"] == titles["fr-FR"] == "R44 · 残差写回与 LayerNorm"


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_theme_follows_the_reader_and_can_be_switched(page_file: Path, window: Open, theme: str) -> None:
    page = window(color_scheme=theme).open(page_file)
    rest(page, "b4")
    other = "light" if theme == "dark" else "dark"

    def ground() -> Any:
        return pixels(page, f"{CURRENT} .state.current .picture")[20, 20]

    assert np.abs(ground().astype(int) - GROUNDS[theme]).max() < 12
    page.locator(f"{CURRENT} [data-choose={other}]").click()
    assert np.abs(ground().astype(int) - GROUNDS[other]).max() < 12
    page.keyboard.press("ArrowRight")
    rest(page, "b5")
    assert np.abs(ground().astype(int) - GROUNDS[other]).max() < 12


def table(page: Page) -> dict[str, list[str]]:
    """The rows of the details: letters of the name's last symbol, and the numbers."""
    rows = page.locator(f"{CURRENT} .details tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.children].map(cell => cell.textContent))"
    )
    return {name: cells for name, *cells in rows}


def test_the_table_has_the_cores_numbers_to_six_digits(page_file: Path, window: Open, rendered: Rendered) -> None:
    page = window(locale="en-US", **STILL).open(page_file)
    found = table(page)
    assert found == {
        "original input 𝑥1": ["1", "0", "1", "0"],
        "two-head output 𝑂1": ["1.000000", "1.598888", "−0.197776", "−0.005560"],
        "sum 𝑟1 = 𝑥1 + 𝑂1": ["2.000000", "1.598888", "0.802224", "−0.005560"],
        "normalized 𝑢1": ["1.170705", "0.649589", "−0.385419", "−1.434875"],
        "mean 𝜇": ["1.098888"],
        "variance 𝜎2": ["0.592455"],
        "constant 𝜀": ["10−5"],
        "scale 𝛾": ["1"],
        "shift 𝛽": ["0"],
    }
    assert found["normalized 𝑢1"] == [detail_label(rendered.trace, f"ln.out[0,{n}]").text for n in range(4)]


def test_the_numbers_change_with_the_example(
    fake: Fake, r44: Example, window: Open, violations: Callable[[Page], list[str]]
) -> None:
    changed = replace(r44, x=r44.x + np.array([0.25, 0, 0, 0]), eps=0.1, gamma=np.array([1.0, 2, 3, 4]))
    [example] = read_outputs([fake.folder(changed, "en")])
    page = window(locale="en-US", **STILL).open(export(FORMATS["page"], [example]))
    found = table(page)
    assert found["mean 𝜇"] == [detail_label(example.trace, "ln.mean[0]").text]
    assert found["mean 𝜇"] != ["1.098888"]
    assert found["constant 𝜀"] == ["0.1"]
    assert found["scale 𝛾"] == ["1", "2", "3", "4"]
    page.evaluate("document.querySelectorAll('details').forEach(one => (one.open = true))")
    assert violations(page) == []


def test_each_states_numbers_stand_beside_it(page_file: Path, window: Open, rendered: Rendered) -> None:
    page = window(**STILL).open(page_file)
    for state in STATES:
        cells = page.locator(f"{CURRENT} .state[data-name={state}] .shown dd span").evaluate_all(
            "all => all.map(one => one.textContent)"
        )
        due = [label.text.replace("10⁻⁵", "10−5") for label in rendered.outputs[0].clip(state).labels]
        assert cells == due


def test_a_screen_reader_is_told_what_is_shown(page_file: Path, window: Open, rendered: Rendered) -> None:
    page = window(locale="en-US", **STILL).open(page_file, "#b3")
    clip = rendered.output("en", "dark").clip("b3")
    heading = plain(clip.heading).removeprefix("R44 · ")
    expect(page.locator(f"{CURRENT} [role=status]")).to_have_text(f"b3. {heading}. {plain(clip.caption)}")
    picture = page.locator(f"{CURRENT} .state.current img:visible")
    assert "u₁ = (1.171, 0.650, −0.385, −1.435)" in str(picture.get_attribute("alt"))
    others = page.locator(f"{CURRENT} .state:not(.told) .caption")
    assert [one.is_visible() for one in others.all()] == [False] * 5


def test_all_is_said_in_words(page_file: Path, window: Open, rendered: Rendered) -> None:
    page = window(locale="en-US", **STILL).open(page_file)
    text = " ".join(page.locator(f"{CURRENT} .more").evaluate("more => more.textContent").split())
    output = rendered.output("en", "dark")
    board, wording = rendered.board, output.wording
    lines = [wording.line(key) for key in (*board.cautions, *board.pointers, "r44.details.recompute")]
    lines += [wording.note(), *(clip.caption for clip in output.clips)]
    for line in lines:
        assert rich(line).striptags() in text
    assert "𝜎2 = 0.592455" in text


def test_the_formulas_are_mathml(page_file: Path, window: Open) -> None:
    page = window(**STILL).open(page_file)
    page.locator(f"{CURRENT} .details summary").click()
    formulas = page.locator(f"{CURRENT} .formulas math")
    assert formulas.count() == 5
    sizes = formulas.evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert min(sizes) > 15
    root = page.locator(f"{CURRENT} .formulas msqrt")
    assert root.evaluate("one => one.namespaceURI") == "http://www.w3.org/1998/Math/MathML"
    assert page.evaluate("document.fonts.check('20px \"addnorm math\"', '√') && document.fonts.size") == 2


def test_reduced_motion_shows_stills_and_plays_when_asked(page_file: Path, window: Open) -> None:
    page = window(**STILL).open(page_file)
    for state in STATES:
        assert told(page) == state
        assert page.locator("video").count() == 0
        assert block_of(pixels(page, f"{CURRENT} .state.current .picture")) == STATES.index(state)
        page.keyboard.press("ArrowRight")
    page.locator(f"{CURRENT} .toggle").click()
    expect(page.locator("video")).to_have_count(1)
    rest(page, "b3")


@pytest.mark.parametrize("width", [320, 390, 768, 1024, 1280, 1920])
@pytest.mark.parametrize("locale", ["zh-CN", "en-US"])
def test_nothing_is_wider_than_the_window(page_file: Path, window: Open, width: int, locale: str) -> None:
    options = (
        {**PHONE, "viewport": {"width": width, "height": 800}}
        if width < 800
        else {"viewport": {"width": width, "height": 800}}
    )
    page = window(locale=locale, **options, **STILL).open(page_file, "#b1")
    page.evaluate("document.querySelectorAll('details').forEach(one => (one.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    stage = page.locator(f"{CURRENT} .state.current .picture").bounding_box()
    assert stage is not None
    assert stage["width"] / stage["height"] == pytest.approx(16 / 9, rel=0.01)
    assert stage["y"] + stage["height"] <= 800
    if width < 800:
        for button in page.locator(f"{CURRENT} .controls button:visible, {CURRENT} .steps a").all():
            box = button.bounding_box()
            assert box is not None
            assert box["height"] >= 44
            assert 0 <= box["x"] <= box["x"] + box["width"] <= width


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("locale", ["zh-CN", "en-US"])
@pytest.mark.parametrize("device", [{}, PHONE], ids=["desktop", "phone"])
def test_axe_finds_nothing(
    page_file: Path,
    window: Open,
    violations: Callable[[Page], list[str]],
    theme: str,
    locale: str,
    device: dict[str, Any],
) -> None:
    page = window(locale=locale, color_scheme=theme, **device, **STILL).open(page_file, "#b2")
    assert violations(page) == []
    page.evaluate("document.querySelectorAll('details').forEach(one => (one.open = true))")
    assert violations(page) == []


def test_axe_finds_what_is_wrong(page_file: Path, window: Open, violations: Callable[[Page], list[str]]) -> None:
    page = window(**STILL).open(page_file)
    page.evaluate("document.querySelectorAll('img').forEach(one => one.removeAttribute('alt'))")
    assert any("image-alt" in one for one in violations(page))


def test_without_scripts_it_is_pictures_and_words(page_file: Path, window: Open) -> None:
    page = window(java_script_enabled=False).open(page_file)
    captions = page.locator(f"{CURRENT} .caption")
    assert [one.is_visible() for one in captions.all()] == [True] * 6
    assert page.locator(f"{CURRENT} .state img:visible").count() == 6
    assert page.locator(f"{CURRENT} .controls").is_hidden()


HOW_TO_GET_PDFTOTEXT = (
    "This test reads a printed page with pdftotext, and there is none. 'make test' installs it on Debian and "
    "Ubuntu (apt-get install poppler-utils)."
)


@pytest.mark.parametrize("color_scheme", ["dark", "light"])
def test_it_prints_tidily(page_file: Path, window: Open, rendered: Rendered, tmp_path: Path, color_scheme: str) -> None:
    if not shutil.which("pdftotext"):
        pytest.fail(HOW_TO_GET_PDFTOTEXT)
    page = window(color_scheme=color_scheme, **STILL).open(page_file, "#b1")
    page.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True)
    pages = subprocess.check_output(["pdftotext", "-layout", tmp_path / "page.pdf", "-"], text=True).split("\f")[:-1]
    assert len(pages) == 4
    for number, clip in enumerate(rendered.outputs[0].clips):
        heading = plain(clip.heading).removeprefix("R44 · ")
        assert max(re.split("[ -~Α-ωΔ₀-₉²]+", heading), key=len) in pages[number // 2]  # its Chinese words
    assert pages[0].lstrip().startswith("R44 · 残差写回与 LayerNorm")
    for figure in ("1.598888", "−0.385419", "1.098888", "0.592455", "需要留意", "延伸阅读"):
        assert figure in pages[3]
    words = load_catalogue("zh")["page"]
    assert not any(words[button] in "".join(pages) for button in ("previous", "replay", "fullscreen", "transcript"))
    drawn = subprocess.check_output(["pdftoppm", "-r", "30", "-png", "-singlefile", tmp_path / "page.pdf"])
    assert block_ground(drawn) == "light"


def block_ground(png: bytes) -> str:
    """Which theme's ground is most of a printed page's colour, white apart."""
    seen = np.asarray(Image.open(BytesIO(png)).convert("RGB")).reshape(-1, 3).astype(int)
    near = {theme: (np.abs(seen - ground).max(axis=1) < 16).sum() for theme, ground in GROUNDS.items()}
    return max(near, key=lambda theme: int(near[theme]))


def test_a_users_words_are_shown_as_they_are(fake: Fake, r44: Example, window: Open) -> None:
    naughty = replace(
        r44,
        title={"en": NAUGHTY},
        note={"en": NAUGHTY},
        tokens=("<pad>", "</script>", "&amp;"),
        captions={"en": {"b2": "<script>alert('x')</script> & \"引号\" is {ln.mean[0]}"}},
    )
    [example] = read_outputs([fake.folder(naughty, "en")])
    page = window(locale="en-US").open(export(FORMATS["page"], [example]), "#b2")
    rest(page, "b2")
    assert page.title() == NAUGHTY
    assert page.locator(f"{CURRENT} h1").text_content() == NAUGHTY
    assert NAUGHTY in page.locator(f"{CURRENT} .remark").all_text_contents()
    caption = str(page.locator(f"{CURRENT} .told .caption").text_content())
    assert caption == "<script>alert('x')</script> & \"引号\" is 1.098888"
    assert caption in str(page.locator(f"{CURRENT} [role=status]").text_content())
    assert page.locator("script").count() < 10


def test_two_examples_whose_first_clips_are_alike_stay_apart(
    fake: Fake, r44: Example, window: Open, violations: Callable[[Page], list[str]]
) -> None:
    other = replace(r44, id="另一个.two", title={"zh": "另一个"}, eps=0.5)
    folders = [fake.folder(other).parent, fake.folder(r44).parent]
    rendered = read_outputs(folders)
    first, second = (example.outputs[0].clip("b4").still.read_bytes() for example in rendered)
    assert first == second
    page = window().open(export(FORMATS["page"], rendered), "#r44/b2")
    expect(page.locator(f"{CURRENT} .controls[data-now=ended]")).to_be_attached()
    names = page.locator(f"{CURRENT} .state").evaluate_all("all => all.map(one => one.dataset.address)")
    assert names == [f"{folder}/{state}" for folder in ("另一个.two", "r44") for state in STATES]
    keys = page.locator(f"{CURRENT} .state").evaluate_all("all => all.map(one => JSON.parse(one.dataset.clips)[''])")
    assert len(set(keys)) == 12
    assert page.title() == "R44 · 残差写回与 LayerNorm"
    assert page.locator(f"{CURRENT} h1:visible").text_content() == "R44 · 残差写回与 LayerNorm"
    page.keyboard.press("Home")
    assert page.title() == "另一个"
    assert page.locator(f"{CURRENT} .more:visible .single td").all_text_contents()[2] == "0.5"
    assert unquote(address(page)) == "另一个.two/b4"
    assert page.locator(f"{CURRENT} .steps li:visible").count() == 6
    assert violations(page) == []
    page.reload()
    assert page.title() == "另一个"


def test_an_example_without_a_language_is_shown_in_the_one_it_has(fake: Fake, r44: Example, window: Open) -> None:
    fake.folder(r44, "en")
    folders = [fake.folder(r44).parent, fake.folder(replace(r44, id="other"), "en").parent]
    page = window(**STILL).open(export(FORMATS["page"], read_outputs(folders)), "#other/b4")
    assert page.title() == "R44 · Residual write-back and LayerNorm"
    page.get_by_role("button", name="English").click()
    assert page.title() == "R44 · Residual write-back and LayerNorm"


def test_one_language_and_theme_need_no_choice(fake: Fake, r44: Example, window: Open) -> None:
    page = window(color_scheme="light").open(export(FORMATS["page"], read_outputs([fake.folder(r44)])))
    rest(page, "b4")
    assert page.locator("[data-language]").count() == 0
    assert page.locator("html").get_attribute("data-theme") == "dark"  # as the pictures are
    page.locator("[data-choose=light]").click()
    assert page.locator(f"{CURRENT} .state.current img").is_visible()


def test_it_allows_itself_no_network(page_file: Path) -> None:
    text = page_file.read_text(encoding="utf-8")
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy.startswith("default-src 'none'; ")
    assert not re.search("https?:|//", policy)
    assert not re.search(r'(?:src|href)="(?!data:|#)', text)
    assert not re.search(r"url\((?!data:)", text)


def test_the_same_films_make_the_same_page(page_file: Path, rendered: Rendered, tmp_path: Path) -> None:
    assert export(FORMATS["page"], [rendered], tmp_path / "again.html").read_bytes() == page_file.read_bytes()
