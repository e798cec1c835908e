"""A reload at any moment of a turn shows the same as before, and the turn continues."""

import asyncio
import re

import pytest
from playwright.async_api import expect

from browser.backend import QUESTION, PageBackend, oxygen_script
from browser.breakpoints import Breakpoints
from browser.conftest import NewProfile
from browser.page import Chat
from upstream import say
from web.providers import Hit, results_reply

HALF = "The name oxygen was coined"


@pytest.mark.parametrize(
    ("place", "sign"),
    [
        ("thinking", "Working|Waiting"),
        ("search", "I should look it up."),
        ("report", "2 results"),
        ("text", "done"),
    ],
)
async def test_a_reload_in_the_middle_shows_the_same(
    backend: PageBackend, new_profile: NewProfile, place: str, sign: str
) -> None:
    """`sign`: a pattern of the text that changes last before the model waits."""
    breakpoints = Breakpoints(place)
    backend.script(*oxygen_script(before=breakpoints.before))
    chat = await Chat.open(await new_profile())
    await chat.ask(QUESTION)
    await backend.upstream.wait_received({"thinking": 1, "search": 1, "report": 3, "text": 4}[place])
    await expect(chat.log).to_contain_text(re.compile(sign))
    before = await chat.conversation_text()
    await chat.page.reload()
    await chat.expect_conversation(before)
    breakpoints.release()
    await chat.wait_for_answer()
    whole = await chat.conversation_text()
    await chat.page.reload()
    await chat.expect_conversation(whole)
    assert (await chat.log_text()).count(HALF) == 1


async def test_a_reload_within_the_text_doubles_and_loses_no_word(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    breakpoints = Breakpoints("middle")
    (gate,) = breakpoints.before("middle")
    backend.script(
        *oxygen_script(say("The name oxygen ", "was coined "), gate, say("in 1777 by Antoine Lavoisier [1]."))
    )
    chat = await Chat.open(await new_profile())
    await chat.ask(QUESTION)
    await expect(chat.log).to_contain_text(HALF)
    before = await chat.conversation_text()
    await chat.page.reload()
    await expect(chat.log).to_contain_text(HALF)
    await chat.expect_conversation(before)
    breakpoints.release()
    await chat.wait_for_answer()
    assert (await chat.log_text()).count("was coined in 1777 by Antoine Lavoisier") == 1


async def test_a_reload_during_the_search_shows_its_progress(backend: PageBackend, new_profile: NewProfile) -> None:
    answer = asyncio.Event()
    hits = [Hit("Oxygen", backend.web.url("/en/Oxygen"), "About oxygen.")]
    backend.search.script(results_reply("duckduckgo", hits, answer))
    backend.script(*oxygen_script())
    chat = await Chat.open(await new_profile())
    await chat.ask(QUESTION)
    await backend.search.wait_received(1)
    await expect(chat.log).to_contain_text("searching")
    before = await chat.conversation_text()
    await chat.page.reload()
    await expect(chat.log).to_contain_text("searching")
    await chat.expect_conversation(before)
    answer.set()
    await chat.wait_for_answer()
    await expect(chat.log).to_contain_text("1 result")
