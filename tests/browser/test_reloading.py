"""A reload at any moment of a turn shows what stood there before it, and the turn goes on."""

import asyncio

import pytest
from playwright.async_api import expect

from browser.conftest import Visit
from browser.moments import Moments
from browser.page import Chat
from browser.stage import QUESTION, Stage, oxygen_script
from upstream import say
from web.providers import Hit, results_reply

HALF = "The name oxygen was coined"


@pytest.mark.parametrize(
    ("place", "sign"),
    [
        ("thinking", "Working"),
        ("search", "I should look it up."),
        ("report", "2 results"),
        ("text", "done"),
    ],
)
async def test_a_reload_in_the_middle_shows_the_same(stage: Stage, visit: Visit, place: str, sign: str) -> None:
    """`sign`: the last that changes before the model waits."""
    moments = Moments(place)
    stage.script(*oxygen_script(before=moments.before))
    chat = await Chat.open(await visit())
    await chat.ask(QUESTION)
    await stage.upstream.wait_received({"thinking": 1, "search": 1, "report": 3, "text": 4}[place])
    await expect(chat.log).to_contain_text(sign)
    before = await chat.conversation_text()
    await chat.page.reload()
    await chat.expect_conversation(before)
    moments.release()
    await chat.wait_for_answer()
    whole = await chat.conversation_text()
    await chat.page.reload()
    await chat.expect_conversation(whole)
    assert (await chat.log_text()).count(HALF) == 1


async def test_a_reload_within_the_text_doubles_and_loses_no_word(stage: Stage, visit: Visit) -> None:
    moments = Moments("middle")
    (gate,) = moments.before("middle")
    stage.script(*oxygen_script(say("The name oxygen ", "was coined "), gate, say("in 1777 by Antoine Lavoisier [1].")))
    chat = await Chat.open(await visit())
    await chat.ask(QUESTION)
    await expect(chat.log).to_contain_text(HALF)
    before = await chat.conversation_text()
    await chat.page.reload()
    await expect(chat.log).to_contain_text(HALF)
    await chat.expect_conversation(before)
    moments.release()
    await chat.wait_for_answer()
    assert (await chat.log_text()).count("was coined in 1777 by Antoine Lavoisier") == 1


async def test_a_reload_during_the_search_shows_its_progress(stage: Stage, visit: Visit) -> None:
    answer = asyncio.Event()
    hits = [Hit("Oxygen", stage.web.url("/en/Oxygen"), "About oxygen.")]
    stage.search.script(results_reply("duckduckgo", hits, answer))
    stage.script(*oxygen_script())
    chat = await Chat.open(await visit())
    await chat.ask(QUESTION)
    await stage.search.wait_received(1)
    await expect(chat.log).to_contain_text("searching")
    before = await chat.conversation_text()
    await chat.page.reload()
    await expect(chat.log).to_contain_text("searching")
    await chat.expect_conversation(before)
    answer.set()
    await chat.wait_for_answer()
    await expect(chat.log).to_contain_text("1 result")
