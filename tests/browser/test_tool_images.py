"""An image that a tool returns, from the tool to the page: at once, after a reload, and large after a click."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import expect

from browser.conftest import Visit
from browser.page import Chat
from browser.samples import FILES
from browser.stage import Stage, open_stage
from server.test_tool_images import DRAW
from tools.test_plugins import install, site
from upstream import Upstream, call, reply, say, stop

__all__ = ["site"]


@pytest_asyncio.fixture(loop_scope="session")
async def stage(tmp_path: Path, upstream: Upstream, site: Path) -> AsyncIterator[Stage]:
    install(site, "draw_package", DRAW, "draw = draw_package:draw\n")
    async with open_stage(tmp_path, upstream) as stage:
        yield stage


async def test_an_image_that_a_tool_returns_is_shown_at_once_and_kept(stage: Stage, visit: Visit) -> None:
    images = [base64.b64encode(FILES["chart.png"]).decode()]
    stage.script(reply(call("draw", {"images": images}, id="c1"), stop("toolUse")), reply(say("Drawn."), stop()))
    chat = await Chat.open(await visit())
    await chat.ask_and_wait("Draw it")
    shown = chat.log.locator(".chat-tool").get_by_role("img")
    for _ in range(2):
        await expect(shown).to_have_count(1)
        await expect(shown).to_have_js_property("naturalWidth", 320)
        await chat.page.reload()
