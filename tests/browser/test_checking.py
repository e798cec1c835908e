"""A text that somebody else wrote is checked from the page."""

import re

import pytest
from playwright.async_api import expect

from browser import axe
from browser.backend import PageBackend
from browser.conftest import NewProfile
from browser.page import Chat
from browser.proof import COBALT, LITHIUM
from cli.small_web import article


def _text(backend: PageBackend) -> str:
    backend.web.put("/rules", article("Regulation on batteries", LITHIUM, COBALT))
    return (
        "# Batteries\n\n"
        f"[New electric vehicle batteries]({backend.web.url('/rules')}) shall contain at least 16 percent recovered "
        "cobalt from 18 August 2031.\n\n"
        f"Batteries were invented in Hanoi by a choir of nine monks ({backend.web.url('/rules')}).\n"
    )


async def test_a_pasted_text_becomes_a_session_with_its_verdicts(backend: PageBackend, new_profile: NewProfile) -> None:
    chat = await Chat.open(await new_profile())
    await chat.page.get_by_role("button", name=re.compile("^Check a text that somebody else wrote")).click()
    await expect(chat.viewer.get_by_role("heading", name="Check a text")).to_be_visible()
    await expect(chat.viewer.get_by_role("button", name="Check", exact=True)).to_be_disabled()
    assert await axe.accessibility_violations(chat.page) == []
    field = chat.viewer.get_by_role("textbox")
    await expect(field).to_be_focused()
    await field.fill(_text(backend))
    # What was pasted is not lost with the dialog.
    await chat.page.keyboard.press("Escape")
    await expect(chat.viewer).to_have_count(0)
    await chat.show_sidebar()
    await chat.sidebar.get_by_role("button", name="Check a text").click()
    await expect(field).to_have_value(_text(backend))
    await field.press("Control+Enter")
    await expect(chat.viewer).to_have_count(0)
    await chat.wait_for_answer()
    # The report has counts of its own, and is no answer of a model.
    await expect(chat.log.locator(".proof-line")).to_have_count(0)
    await chat.log.locator(".chat-file-open").filter(has_text="checked.md").click()
    await expect(chat.viewer.locator(".proof-line")).to_contain_text("2 statements: 1 supported")
    await chat.viewer.locator(".chat-footnote[data-verdict=supported]").first.click()
    passage = chat.viewer.get_by_role("complementary", name="Passage")
    await expect(passage.locator("mark")).to_contain_text("16 percent recovered cobalt")


async def test_an_address_is_read_and_what_cannot_be_checked_is_told(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    chat = await Chat.open(await new_profile(phone=True, color_scheme="dark"), "/?panel=check")
    field = chat.viewer.get_by_role("textbox")
    await field.fill("http://127.0.0.1:1/nowhere and more" * 12_000)
    await chat.viewer.get_by_role("button", name="Check", exact=True).click()
    await expect(chat.viewer.get_by_role("alert")).to_be_visible()
    assert await axe.accessibility_violations(chat.page) == []
    await field.fill(backend.web.url("/en/Oxygen"))
    await expect(chat.viewer.get_by_text("This page will be read and checked.")).to_be_visible()
    await chat.viewer.get_by_role("button", name="Check", exact=True).click()
    await expect(chat.page).to_have_url(re.compile("/s/"))
    await chat.wait_for_answer()


@pytest.mark.parametrize(("locale", "title"), [("vi", "Kiểm tra một văn bản"), ("zh-CN", "核对文本")])
async def test_the_dialog_speaks_the_language_of_the_reader(
    backend: PageBackend, new_profile: NewProfile, locale: str, title: str
) -> None:
    chat = await Chat.open(await new_profile(locale=locale), "/?panel=check")
    await expect(chat.viewer.get_by_role("heading", name=title)).to_be_visible()
