"""Verdicts by a second look replace those by text, while somebody reads them."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser, expect

from browser.backend import QUESTION, SEARCH, PageBackend, open_backend
from browser.breakpoints import Breakpoints
from browser.browser_profile import open_profile
from browser.page import Chat
from upstream import Upstream, call, reply, say, stop

NAMED = "The name oxygen was coined in 1777 by Antoine Lavoisier, whose experiments with oxygen helped to discredit"
ANSWER = "Antoine Lavoisier là người đặt tên cho ôxy vào năm 1777 [1]. In 1999 he moved to Hanoi [1]."
ENTRIES = [{"id": number, "verdict": "supports", "quotation": NAMED} for number in (1, 2)]


@pytest_asyncio.fixture(loop_scope="session")
async def reviewing(tmp_path: Path, upstream: Upstream) -> AsyncIterator[PageBackend]:
    async with open_backend(tmp_path, upstream, FOOTNOTE_CITATIONS_MODEL="session") as backend:
        yield backend


async def test_they_replace_the_first_ones_without_taking_the_keyboard_or_the_card(
    reviewing: PageBackend, browser: Browser
) -> None:
    breakpoints = Breakpoints("review")
    reviewing.script(
        reply(call("web_search", SEARCH, id="call_search"), stop("toolUse")),
        reply(say("Lavoisier named it [1]."), stop()),
        reply(say(ANSWER), stop()),
        reply(*breakpoints.before("review"), say(json.dumps(ENTRIES)), stop()),
    )
    async with open_profile(browser, reviewing.origin, cookie=reviewing.cookie) as profile:
        chat = await Chat.open(profile)
        await chat.ask(QUESTION)
        await expect(chat.log.get_by_text("Checking statements…")).to_be_visible()
        await expect(chat.log.locator(".proof-line")).to_have_text("2 statements: 1 partly supported, 1 not supported")
        await expect(chat.page).to_have_url(re.compile("/s/"))
        other = await Chat.open(profile, chat.page.url.removeprefix(reviewing.origin))
        await other.footnote(1, "not supported").click()
        await expect(other.drawer.locator(".sources-verdict")).to_contain_text("Not supported")
        await other.composer.focus()
        first = chat.log.locator(".chat-footnote").first
        await first.evaluate("(chip) => { chip.dataset.kept = 'yes'; }")
        await chat.page.bring_to_front()
        await chat.log.get_by_role("listbox").focus()
        await chat.page.keyboard.press("Shift+Tab")
        await chat.page.keyboard.press("Shift+Tab")
        card = chat.page.get_by_role("tooltip")
        await expect(card).to_contain_text("Partly supported")
        breakpoints.release()
        await expect(card).to_contain_text("Supported: the page says this")
        await expect(card).to_contain_text("Found by the model")
        await expect(first).to_be_focused()
        await expect(first).to_have_attribute("data-kept", "yes")
        await expect(chat.log.locator(".proof-line")).to_have_text("2 statements: 1 supported, 1 partly supported")
        await chat.wait_for_answer()
        # A passage that was open follows, and leaves the keyboard where it is.
        await expect(other.drawer.locator(".sources-verdict")).to_contain_text("It lacks: 1999")
        await expect(other.drawer.locator("mark")).to_contain_text("The name oxygen was coined in 1777")
        await expect(other.composer).to_be_focused()
