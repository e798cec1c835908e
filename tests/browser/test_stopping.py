"""Stopping an answer: by its button, or by pressing Escape twice. Stopping to look things up."""

import asyncio
import re

from playwright.async_api import expect

from browser.backend import PageBackend
from browser.conftest import NewProfile
from browser.page import Chat
from upstream import call, reply, say, stall, stop
from web.providers import Hit, results_reply


async def _running(backend: PageBackend, new_profile: NewProfile) -> Chat:
    backend.script(reply(say("So far "), stall()), reply(say("And here is the rest."), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask("Why?")
    await expect(chat.log).to_contain_text("So far")
    return chat


async def test_escape_in_the_search_field_leaves_a_running_answer_alone(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    chat = await _running(backend, new_profile)
    hint = chat.page.get_by_text("Press Esc again to stop")
    await chat.page.keyboard.press("Control+k")
    await expect(chat.page.get_by_role("searchbox", name="Search conversations")).to_be_focused()
    for _ in range(3):
        await chat.page.keyboard.press("Escape")
    await expect(hint).to_have_count(0)
    await expect(chat.stop).to_have_text("Stop")
    await chat.stop.click()
    await chat.wait_for_answer()


async def test_escape_stops_at_the_second_press_and_the_first_says_so(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    chat = await _running(backend, new_profile)
    hint = chat.page.get_by_text("Press Esc again to stop")
    await chat.press("Escape")
    await expect(hint).to_be_visible()
    await expect(chat.stop).to_have_text("Stop")
    # Another key between the two cancels the stop.
    await chat.composer.press("a")
    await expect(hint).to_have_count(0)
    await chat.composer.press("Escape")
    await expect(hint).to_be_visible()
    await expect(chat.stop).to_have_text("Stop")
    await chat.composer.press("Escape")
    await chat.wait_for_answer()
    await expect(hint).to_have_count(0)
    await expect(chat.log).to_contain_text(re.compile("stopped", re.IGNORECASE))


async def test_an_answer_that_was_stopped_can_be_continued(backend: PageBackend, new_profile: NewProfile) -> None:
    chat = await _running(backend, new_profile)
    await chat.stop.click()
    await chat.wait_for_answer()
    await chat.log.get_by_role("button", name="Continue").click()
    await expect(chat.log).to_contain_text("And here is the rest.")
    await chat.wait_for_answer()
    await expect(chat.log.get_by_role("button", name="Continue")).to_have_count(0)
    assert "So far" in str(backend.upstream.requests[-1].body["messages"])


async def test_an_answer_is_given_now_with_what_was_found(backend: PageBackend, new_profile: NewProfile) -> None:
    never = asyncio.Event()
    hits = [Hit("Oxygen", backend.web.url("/en/Oxygen"), "About oxygen.")]
    backend.search.script(results_reply("duckduckgo", hits, never))
    backend.script(
        reply(call("web_search", {"query": "oxygen"}, id="call_1"), stop("toolUse")),
        reply(say("This is what I have."), stop()),
    )
    chat = await Chat.open(await new_profile())
    await chat.ask("Who named oxygen?")
    await expect(chat.log).to_contain_text("searching")
    await chat.button("Answer now").click()
    await chat.wait_for_answer()
    await expect(chat.log).to_contain_text("This is what I have.")
    await expect(chat.button("Answer now")).to_have_count(0)
    never.set()
