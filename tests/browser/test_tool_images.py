"""An image that a tool returns is shown at once, after a reload, and enlarged after a click."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import expect

from browser.backend import PageBackend, open_backend
from browser.conftest import NewProfile
from browser.page import Chat
from browser.samples import FILES
from plugin_packages import install, site
from server.test_tool_images import DRAW
from upstream import Upstream, call, reply, say, stop

__all__ = ["site"]


@pytest_asyncio.fixture(loop_scope="session")
async def backend(tmp_path: Path, upstream: Upstream, site: Path) -> AsyncIterator[PageBackend]:
    install(site, "draw_package", DRAW, "draw = draw_package:draw\n")
    async with open_backend(tmp_path, upstream) as backend:
        yield backend


async def test_an_image_that_a_tool_returns_is_shown_at_once_and_kept(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    images = [base64.b64encode(FILES["chart.png"]).decode()]
    backend.script(reply(call("draw", {"images": images}, id="c1"), stop("toolUse")), reply(say("Drawn."), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("Draw it")
    shown = chat.log.locator(".chat-tool").get_by_role("img")
    for _ in range(2):
        await expect(shown).to_have_count(1)
        await expect(shown).to_have_js_property("naturalWidth", 320)
        await chat.page.reload()
