"""Tool results: a failure is visible at once, and images are shown."""

import asyncio
import json
from typing import Any

from playwright.async_api import Route, expect

from browser.backend import SEARCH, PageBackend
from browser.conftest import NewProfile
from browser.page import Chat
from browser.samples import FILES
from server.forms import upload_files
from upstream import call, reply, say, stop
from web.providers import results_reply


async def test_a_call_that_failed_is_red_though_another_of_its_round_still_runs(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    until = asyncio.Event()
    backend.search.script(results_reply("duckduckgo", (), until))
    backend.script(
        reply(
            call("web_search", SEARCH, id="call_search"),
            call("read_file", {"file_path": "/missing.md"}, id="call_read"),
            stop("toolUse"),
        ),
        # Where the provider has no results, the library is searched, and its passages are summarised.
        reply(say("Nothing of that."), stop()),
        reply(say("Done."), stop()),
    )
    chat = await Chat.open(await new_profile())
    await chat.ask("Go on")
    await backend.search.wait_received(1)
    card = chat.log.locator(".chat-tool").filter(has_text="/missing.md")
    badge = card.locator(".ui-badge")
    await expect(badge).to_have_text("failed")
    await expect(badge).to_have_attribute("data-tone", "bad")
    await expect(chat.log.locator(".chat-answer")).to_have_attribute("aria-busy", "true")
    until.set()
    await chat.wait_for_answer()
    await expect(badge).to_have_text("failed")


async def test_an_image_that_a_tool_returned_is_shown_and_one_that_is_gone_says_so(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(reply(call("list_files", {}, id="call_list"), stop("toolUse")), reply(say("Seen."), stop()))
    session_id = await backend.user.create_session(title="Images")
    await backend.user.ask_for_events(session_id, "Show me")
    path = (await upload_files(backend.user, session_id, ("chart.png", FILES["chart.png"]))).json["files"][0]["path"]
    chart = {"file_path": path, "media_type": "image/png", "width": 320, "height": 200}
    images = [
        chart,
        {**chart, "file_path": "/large_tool_results/gone.png"},
        {"file_path": "https://evil.example/a.png"},
    ]

    async def with_images(route: Route) -> None:
        response = await route.fetch()
        history: Any = await response.json()
        for message in history["messages"]:
            if message["role"] == "tool":
                message["images"] = images
        await route.fulfill(response=response, body=json.dumps(history))

    profile = await new_profile()
    await profile.context.route("**/history*", with_images)
    chat = await Chat.open(profile, f"/s/{session_id}")
    for _ in range(2):
        shown = chat.log.locator(".chat-tool").get_by_role("img")
        await expect(shown).to_have_count(1)
        await expect(shown).to_have_js_property("naturalWidth", 320)
        await expect(chat.log).to_contain_text("This image is no longer available.")
        await chat.page.reload()
