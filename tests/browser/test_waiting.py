"""A model that is silent for long: the page counts the seconds until its first event."""

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.async_api import Route, expect

from browser.backend import PageBackend
from browser.conftest import NewProfile
from browser.page import Chat
from upstream import call, hold, reply, say, stop

WAITING = re.compile(r"^Waiting for the model · \d+ s$")


async def test_the_seconds_that_a_model_is_awaited_are_counted_in_each_round(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    first, second = asyncio.Event(), asyncio.Event()
    backend.script(
        reply(hold(first), call("list_files", {}, id="call_list"), stop("toolUse")),
        reply(hold(second), say("Hello."), stop()),
    )
    chat = await Chat.open(await new_profile())
    await chat.ask("Hello?")
    working = chat.log.locator(".chat-working")
    await expect(working).to_have_text(WAITING)
    # One line, as high as the one that was there before.
    await expect(working).to_have_css("height", "24px")
    first.set()
    await expect(chat.log.locator(".chat-tool")).to_contain_text("done")
    await expect(working).to_have_text(WAITING)
    second.set()
    await chat.wait_for_answer()
    await expect(working).to_have_count(0)
    await expect(chat.log).to_contain_text("Hello.")


async def test_after_a_reload_the_wait_goes_on_from_the_start_of_the_run_and_is_told_every_half_minute(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    until = asyncio.Event()
    backend.script(reply(hold(until), say("Hello."), stop()))

    async def begun_earlier(route: Route) -> None:
        response = await route.fetch()
        history: Any = await response.json()
        for turn in history["turns"]:
            turn["timestamp"] = (datetime.now(UTC) - timedelta(seconds=100)).isoformat()
        await route.fulfill(response=response, body=json.dumps(history))

    profile = await new_profile()
    chat = await Chat.open(profile)
    await chat.ask("Hello?")
    await expect(chat.log.locator(".chat-working")).to_have_text(WAITING)
    await profile.context.route("**/history*", begun_earlier)
    await chat.page.reload()
    await expect(chat.log.locator(".chat-working")).to_have_text(re.compile(r"^Waiting for the model · 1 min 4\d s$"))
    status = chat.page.get_by_role("status").filter(has_text="Waiting for the model")
    await expect(status).to_have_text("Waiting for the model · 1 min 30 s")
    until.set()
    await chat.wait_for_answer()
    await expect(status).to_have_count(0)
