"""A reload at any moment of a turn shows what stood there before it, and the turn goes on."""

import asyncio

import pytest
from playwright.async_api import expect

from browser.conftest import Visit
from browser.moments import Moments
from browser.page import Chat
from browser.stage import QUESTION, Stage, oxygen
from upstream import say
from web.providers import Hit, found

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
    stage.answers(*oxygen(before=moments.before))
    chat = await Chat.open(await visit())
    await chat.ask(QUESTION)
    await stage.upstream.received({"thinking": 1, "search": 1, "report": 3, "text": 4}[place])
    await expect(chat.log).to_contain_text(sign)
    before = await chat.shown()
    await chat.page.reload()
    await chat.shows(before)
    moments.go()
    await chat.ended()
    whole = await chat.shown()
    await chat.page.reload()
    await chat.shows(whole)
    assert (await chat.words()).count(HALF) == 1


async def test_a_reload_within_the_text_doubles_and_loses_no_word(stage: Stage, visit: Visit) -> None:
    moments = Moments("middle")
    (gate,) = moments.before("middle")
    stage.answers(*oxygen(say("The name oxygen ", "was coined "), gate, say("in 1777 by Antoine Lavoisier [1].")))
    chat = await Chat.open(await visit())
    await chat.ask(QUESTION)
    await expect(chat.log).to_contain_text(HALF)
    before = await chat.shown()
    await chat.page.reload()
    await expect(chat.log).to_contain_text(HALF)
    await chat.shows(before)
    moments.go()
    await chat.ended()
    assert (await chat.words()).count("was coined in 1777 by Antoine Lavoisier") == 1


async def test_a_reload_during_the_search_shows_its_progress(stage: Stage, visit: Visit) -> None:
    answer = asyncio.Event()
    hits = [Hit("Oxygen", stage.web.url("/en/Oxygen"), "About oxygen.")]
    stage.search.script(found("duckduckgo", hits, answer))
    stage.answers(*oxygen())
    chat = await Chat.open(await visit())
    await chat.ask(QUESTION)
    await stage.search.received(1)
    await expect(chat.log).to_contain_text("searching")
    before = await chat.shown()
    await chat.page.reload()
    await expect(chat.log).to_contain_text("searching")
    await chat.shows(before)
    answer.set()
    await chat.ended()
    await expect(chat.log).to_contain_text("1 result")
