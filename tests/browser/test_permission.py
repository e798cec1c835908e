"""A call that needs approval: the page shows the request, also after a reload, and sends the decision."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Locator, expect

from browser.backend import PageBackend, open_backend
from browser.conftest import NewProfile
from browser.page import Chat
from cli.process import with_tool_server
from upstream import Upstream, call, reply, say, stop

TOOL = "mcp__tools__shout"
HOSTILE = "<img src=x onerror=document.title='hit'> hello\u202e"
SHOWN = HOSTILE.replace("\u202e", r"\u{202e}")


@pytest_asyncio.fixture(loop_scope="session")
async def backend(tmp_path: Path, upstream: Upstream) -> AsyncIterator[PageBackend]:
    with_tool_server(tmp_path, approval=True)
    async with open_backend(tmp_path, upstream) as backend:
        yield backend


def _approval_box(chat: Chat) -> Locator:
    return chat.log.locator(".chat-approval")


def _script_calls(backend: PageBackend) -> None:
    backend.script(
        reply(call(TOOL, {"text": HOSTILE}, id="call_1"), stop("toolUse")),
        reply(say("Shouted."), stop()),
        reply(call(TOOL, {"text": "again"}, id="call_2"), stop("toolUse")),
        reply(say("Then not."), stop()),
    )


async def test_a_call_is_allowed_after_a_reload_and_the_next_one_denied(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    _script_calls(backend)
    chat = await Chat.open(await new_profile())
    await chat.ask("Shout")
    await expect(_approval_box(chat)).to_contain_text(SHOWN)
    await expect(chat.log.locator(".chat-tool .ui-badge").first).to_have_text("needs permission")
    await chat.page.reload()
    await expect(_approval_box(chat)).to_contain_text(SHOWN)
    assert await chat.page.title() != "hit"
    allow = _approval_box(chat).get_by_role("button", name="Allow once")
    await allow.focus()
    await chat.page.keyboard.press("Enter")
    await chat.wait_for_answer()
    await expect(chat.log).to_contain_text("Shouted.")
    await expect(_approval_box(chat)).to_have_count(0)

    await chat.ask("And again")
    await _approval_box(chat).get_by_role("button", name="Deny").click()
    await expect(chat.log).to_contain_text("Then not.")
    await chat.wait_for_answer()
    await expect(chat.log).to_contain_text("The user declined this call")
    await expect(_approval_box(chat)).to_have_count(0)


async def test_who_comes_back_is_asked_nothing_that_was_decided_meanwhile(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    _script_calls(backend)
    profile = await new_profile()
    chat = await Chat.open(profile)
    await chat.ask("Shout")
    await expect(_approval_box(chat)).to_have_count(1)
    other = await Chat.open(await new_profile(), "/" + chat.page.url.split("/", 3)[3])
    await _approval_box(other).get_by_role("button", name="Allow for this conversation").click()
    await expect(other.log).to_contain_text("Shouted.")
    await expect(_approval_box(chat)).to_have_count(0)
    await chat.page.reload()
    await expect(chat.log).to_contain_text("Shouted.")
    await expect(_approval_box(chat)).to_have_count(0)
    await chat.ask("And again")
    await expect(chat.log).to_contain_text("Then not.")
    await expect(_approval_box(chat)).to_have_count(0)
