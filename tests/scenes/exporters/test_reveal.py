"""The deck in a real browser: a slide a state, films that follow one another, notes, links, and no network."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from addnorm.mathcore.example import Example
from addnorm.scenes.exporters import FORMATS, export
from addnorm.scenes.exporters.markup import rich
from addnorm.scenes.exporters.outputs import Rendered, read_outputs
from tests.scenes.exporters.conftest import GROUNDS, STATES, Fake, Window, block_of, pixels

Open = Callable[..., Window]
CHOSEN = "section.present .face.chosen"
STILL = {"reduced_motion": "reduce"}
NAUGHTY = "<script>alert('1')</script> & \"引号\" 'x' {{ 7*7 }} </title>中文"


@pytest.fixture(scope="module")
def deck_file(rendered: Rendered, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(FORMATS["reveal"], [rendered], tmp_path_factory.mktemp("deck") / "the deck.html")


def ready(page: Page) -> Page:
    expect(page.locator(".reveal.ready")).to_be_attached()
    return page


def arrive(page: Page, slide: str) -> None:
    """See that a slide is there, and that the address soon says so."""
    expect(page.locator("section.present")).to_have_id(slide)
    expect(page).to_have_url(re.compile(f"#/{quote(slide)}$"))


def rest(page: Page, state: str) -> None:
    """Wait until a state's film has stopped, and see that it stopped on its picture."""
    arrive(page, state)
    film = page.locator(f"{CHOSEN} video")
    expect(film).to_have_count(1)
    film.evaluate("film => film.ended || new Promise(done => film.addEventListener('ended', done))")
    assert shown(page) == STATES.index(state)


def shown(page: Page) -> int | None:
    """Which state's picture is in the window, which is a little higher than that."""
    return block_of(pixels(page, "body")[40:760])


def test_a_title_then_a_slide_for_each_state(deck_file: Path, window: Open) -> None:
    page = ready(window().open(deck_file))
    assert page.locator(f"{CHOSEN} h1").text_content() == page.title() == "R44 · 残差写回与 LayerNorm"
    assert page.locator(".slides > section").evaluate_all("all => all.map(one => one.id)") == ["title", *STATES]
    for state in STATES:
        page.keyboard.press("ArrowRight")
        rest(page, state)
    page.keyboard.press(" ")
    arrive(page, "b3")


def test_a_click_goes_on_and_an_arrow_back_to_the_picture(deck_file: Path, window: Open) -> None:
    page = ready(window().open(deck_file, "#/b0"))
    rest(page, "b0")
    page.mouse.click(600, 400)
    rest(page, "b1")
    page.keyboard.press("ArrowLeft")
    assert page.locator(f"{CHOSEN} video").count() == 0
    assert shown(page) == STATES.index("b0")


@pytest.mark.parametrize("link", ["#/b2", "#b2"])
def test_deep_links(deck_file: Path, window: Open, link: str) -> None:
    rest(ready(window().open(deck_file, link)), "b2")


def test_a_slide_begins_with_its_films_own_first_frame(deck_file: Path, window: Open, rendered: Rendered) -> None:
    page = ready(window().open(deck_file, "#/b5"))
    rest(page, "b5")
    posters = page.locator(".face[lang=zh][data-theme-of=dark] .poster").evaluate_all("all => all.map(one => one.src)")
    assert len({*posters}) == len(STATES)
    page.locator("section.present .chosen").evaluate("face => face.classList.add('waiting')")
    assert shown(page) == STATES.index("b4")  # where the slide before ended
    assert [clip.name for clip in rendered.outputs[0].clips] == [*STATES]


def test_nothing_flashes_between_two_slides(deck_file: Path, window: Open) -> None:
    page = ready(window().open(deck_file, "?theme=dark#/b4"))
    rest(page, "b4")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        for _ in range(4):
            seen = pixels(page, "body")
            assert np.abs(np.median(seen.reshape(-1, 3), axis=0) - GROUNDS["dark"]).max() < 12
            assert shown(page) is not None
    rest(page, "b1")


def test_a_picture_is_as_wide_as_the_window(deck_file: Path, window: Open) -> None:
    page = ready(window(viewport={"width": 1280, "height": 800}).open(deck_file, "?theme=dark#/b4"))
    rest(page, "b4")
    seen = np.abs(pixels(page, "body").astype(int) - GROUNDS["dark"]).max(axis=2) < 12
    assert seen[40:760, [0, -1]].all()
    assert not seen[:39].any()
    assert not seen[761:].any()


def test_a_phone_shows_slides_too(deck_file: Path, window: Open) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = ready(window(**phone, **STILL).open(deck_file, "?theme=dark#/b2"))
    arrive(page, "b2")
    seen = pixels(page, "body")
    height = round(390 * 9 / 16)
    top = (844 - height) // 2
    assert block_of(seen[top : top + height]) == STATES.index("b2")


def test_the_whole_window_is_ground_or_picture(deck_file: Path, window: Open) -> None:
    for theme, ground in (("dark", [0x0E, 0x14, 0x1B]), ("light", [0xFF, 0xFF, 0xFF])):
        page = ready(
            window(color_scheme=theme, viewport={"width": 1000, "height": 800}, **STILL).open(deck_file, "#/b4")
        )
        seen = pixels(page, "body")
        assert seen[5, 5].tolist() == seen[-5, 300].tolist() == ground


def notes(page: Page) -> str:
    return " ".join(str(page.locator("section.present .notes").text_content()).split())


def test_the_notes_hold_caption_and_figures(deck_file: Path, window: Open, rendered: Rendered) -> None:
    page = ready(window(locale="en-US", **STILL).open(deck_file, "#/b2"))
    captions = {each: rich(rendered.output(each, "dark").clip("b2").caption).striptags() for each in ("zh", "en")}
    assert captions["en"] in notes(page)
    assert notes(page).endswith("𝑟1 = (2, 1.599, 0.802, −0.006) 𝜇 = 1.098888 𝜎2 = 0.592455")
    page.keyboard.press("l")
    assert captions["zh"] in notes(page)


def test_the_speakers_view_opens_without_a_network(deck_file: Path, window: Open) -> None:
    opened = window(locale="en-US", **STILL)
    page = ready(opened.open(deck_file, "#/b2"))
    with page.expect_popup() as popup:
        page.keyboard.press("s")
    speaker = popup.value
    expect(speaker.locator(".speaker-controls-notes .value")).to_contain_text("1.098888")
    expect(speaker.frame_locator("#current-slide iframe").locator(f"{CHOSEN} .still")).to_be_visible()
    expect(speaker.frame_locator("#upcoming-slide iframe").locator("section.present#b3")).to_be_attached()


def test_language_and_theme_can_be_switched(deck_file: Path, window: Open) -> None:
    page = ready(window(color_scheme="light").open(deck_file, "#/b2"))
    rest(page, "b2")

    def ground() -> Any:
        return pixels(page, "body")[60, 20].astype(int)

    assert np.abs(ground() - GROUNDS["light"]).max() < 12
    page.mouse.move(300, 300)
    page.get_by_role("button", name="深色").click()
    assert np.abs(ground() - GROUNDS["dark"]).max() < 12
    page.mouse.move(200, 200)
    page.get_by_role("button", name="English").click()
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.title() == "R44 · Residual write-back and LayerNorm"
    assert shown(page) == STATES.index("b2")
    page.keyboard.press("t")
    assert np.abs(ground() - GROUNDS["light"]).max() < 12
    page.reload()
    assert page.title() == "R44 · Residual write-back and LayerNorm"
    assert page.locator("html").get_attribute("data-theme") == "light"


def test_reduced_motion_shows_stills(deck_file: Path, window: Open) -> None:
    page = ready(window(**STILL).open(deck_file, "#/b4"))
    for state in STATES:
        arrive(page, state)
        assert page.locator("video").count() == 0
        assert shown(page) == STATES.index(state)
        page.keyboard.press("ArrowRight")


def test_every_picture_is_described(deck_file: Path, window: Open, violations: Callable[[Page], list[str]]) -> None:
    page = ready(window(locale="en-US", **STILL).open(deck_file, "#/b3"))
    assert "u₁ = (1.171, 0.650, −0.385, −1.435)" in str(page.locator(f"{CHOSEN} .still").get_attribute("alt"))
    assert violations(page) == []


def test_it_prints_a_page_for_each_slide(deck_file: Path, window: Open, tmp_path: Path) -> None:
    page = ready(window(**STILL).open(deck_file, "?view=print"))
    expect(page.locator(".pdf-page")).to_have_count(1 + len(STATES))
    page.pdf(path=tmp_path / "deck.pdf", prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "deck.pdf").read_bytes())) == 1 + len(STATES)


def test_a_users_title_is_shown_as_it_is(fake: Fake, r44: Example, window: Open) -> None:
    naughty = replace(r44, title={"zh": NAUGHTY}, tokens=("<pad>", "</script>", "&amp;"))
    page = ready(window().open(export(FORMATS["reveal"], read_outputs([fake.folder(naughty)]))))
    assert page.title() == page.locator(f"{CHOSEN} h1").text_content() == NAUGHTY
    assert NAUGHTY in str(page.locator("section.present .notes").text_content())
    page.keyboard.press("ArrowRight")
    rest(page, "b4")


def test_two_examples_whose_first_clips_are_alike_make_one_deck(fake: Fake, r44: Example, window: Open) -> None:
    other = replace(r44, id="另一个", title={"zh": "另一个"}, eps=0.5)
    rendered = read_outputs([fake.folder(other).parent, fake.folder(r44).parent])
    page = ready(window().open(export(FORMATS["reveal"], rendered), "#/另一个-b4"))
    ids = page.locator(".slides > section").evaluate_all("all => all.map(one => one.id)")
    assert ids == ["另一个", *(f"另一个-{state}" for state in STATES), "r44", *(f"r44-{state}" for state in STATES)]
    keys = page.locator(".film").evaluate_all("all => all.map(one => one.dataset.clip)")
    assert len(set(keys)) == 12
    arrive(page, "另一个-b4")
    assert page.locator(f"{CHOSEN} video").count() == 1


def test_an_example_without_a_language_is_shown_in_the_one_it_has(fake: Fake, r44: Example, window: Open) -> None:
    fake.folder(r44, "en")
    folders = [fake.folder(r44).parent, fake.folder(replace(r44, id="other"), "en").parent]
    page = ready(window(**STILL).open(export(FORMATS["reveal"], read_outputs(folders)), "#/other-b4"))
    assert page.locator(CHOSEN).get_attribute("lang") == "en"
    assert shown(page) == 0


def test_it_allows_itself_no_network(deck_file: Path) -> None:
    text = deck_file.read_text(encoding="utf-8")
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy.startswith("default-src 'none'; ")
    assert not re.search("https?:", policy)


def test_the_same_films_make_the_same_deck(deck_file: Path, rendered: Rendered, tmp_path: Path) -> None:
    assert export(FORMATS["reveal"], [rendered], tmp_path / "again.html").read_bytes() == deck_file.read_bytes()
