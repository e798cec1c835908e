"""The page in Vietnamese and Chinese, and texts written from right to left."""

import re

import pytest
from playwright.async_api import expect

from browser.backend import QUESTION, PageBackend, oxygen_script
from browser.conftest import NewProfile
from browser.page import Chat
from upstream import reply, say, stop

ENGLISH = re.compile(
    r"\b(send|stop|sources?|files?|settings?|search|new|conversations?|close|copy|retry|try|edit|download|upload|"
    r"results?|supported|answers?|questions?|more|menu|attach|model|show|thought|thinking|footnote \d)\b",
    re.IGNORECASE,
)
NAMES = """() => [...document.querySelectorAll(
    "button, [role=button], input, textarea, summary, [aria-label], [title], [placeholder], h1, h2, h3, label")]
  .filter((one) => !one.closest("[data-theirs], [dir=auto], [translate=no]"))
  .flatMap((one) => [one.getAttribute("aria-label"), one.getAttribute("title"), one.getAttribute("placeholder"),
    one.matches("button, summary, h1, h2, h3, label") ? one.textContent : null])
  .filter(Boolean)"""


@pytest.mark.parametrize(("locale", "tag", "search"), [("vi-VN", "vi", "Tìm"), ("zh-CN", "zh-Hans", "搜索")])
async def test_the_page_speaks_the_language_of_the_browser(
    backend: PageBackend, new_profile: NewProfile, locale: str, tag: str, search: str
) -> None:
    backend.script(*oxygen_script())
    profile = await new_profile(locale=locale)
    chat = Chat(await profile.open_tab())
    await expect(chat.page.locator("html")).to_have_attribute("lang", tag)
    field = chat.page.locator("[data-reach=composer]")
    await expect(field).to_be_visible()
    assert _english(await chat.page.evaluate(NAMES)) == []
    await field.fill(QUESTION)
    await field.press("Enter")
    await expect(chat.log).to_contain_text("by Antoine Lavoisier")
    await expect(chat.log).to_contain_text("oxygen.md")
    await expect(chat.log).to_contain_text(search)
    assert _english(await chat.page.evaluate(NAMES)) == []
    for shortcut in ("Control+Shift+E", "Control+Shift+F", "Control+,"):
        await chat.press(shortcut)
        await chat.page.wait_for_timeout(300)
        assert _english(await chat.page.evaluate(NAMES)) == [], shortcut


async def test_arabic_and_hebrew_run_from_right_to_left_and_english_does_not(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(reply(say("العاصمة هي هانوي.\n\nThe capital is Hanoi.\n\n- ראשון\n- first"), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("ما هي عاصمة فيتنام؟")
    assert await _direction(chat, "ما هي عاصمة فيتنام؟") == "rtl"
    assert await _direction(chat, "العاصمة هي هانوي.") == "rtl"
    assert await _direction(chat, "The capital is Hanoi.") == "ltr"


async def test_vietnamese_and_chinese_text_is_set_in_fonts_that_have_it(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(reply(say("Thủ đô là Hà Nội. **首都（河内）**后"), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("Thủ đô của Việt Nam ở đâu? 越南的首都在哪里？")
    await expect(chat.log.locator("strong")).to_have_text("首都（河内）")


def _english(names: list[str]) -> list[str]:
    return sorted({name for name in names if ENGLISH.search(name)})


async def _direction(chat: Chat, text: str) -> str:
    return await chat.log.get_by_text(text).last.evaluate("(one) => getComputedStyle(one).direction")
