"""Connections that break and servers that die: no word is lost or doubled, and the page shows the state."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser, expect

from browser.backend import PageBackend
from browser.breakpoints import Breakpoints
from browser.browser_profile import open_profile
from browser.conftest import NewProfile
from browser.event_proxy import EventProxy
from browser.page import Chat
from browser.waiting import wait_until
from runs.server_process import ServerProcess
from upstream import Upstream, reply, say, stop

WORDS = [f"word{number} " for number in range(40)]
WHOLE = "".join(WORDS).strip()
LONG = [f"Paragraph {number} of the answer.\n\n" for number in range(60)]
TOP = "(log) => log.scrollTop"
RECONNECTING = re.compile("reconnect", re.IGNORECASE)


@pytest_asyncio.fixture(loop_scope="session")
async def proxy(backend: PageBackend) -> AsyncIterator[EventProxy]:
    async with EventProxy(backend.origin) as proxy:
        yield proxy


async def test_a_cut_line_is_told_and_mended_without_a_lost_word(
    browser: Browser, backend: PageBackend, proxy: EventProxy
) -> None:
    breakpoints = Breakpoints("middle", "end")
    backend.script(
        reply(
            say(*WORDS[:10]),
            *breakpoints.before("middle"),
            say(*WORDS[10:20]),
            *breakpoints.before("end"),
            say(*WORDS[20:]),
            stop(),
        )
    )
    async with open_profile(browser, proxy.url, cookie=backend.cookie) as profile:
        chat = await Chat.open(profile)
        await chat.ask("Count")
        await expect(chat.log).to_contain_text("word9")
        proxy.cut()
        await expect(chat.page.get_by_text(RECONNECTING)).to_be_visible()
        breakpoints.release("middle")
        proxy.restore()
        await expect(chat.log).to_contain_text("word19")
        await expect(chat.page.get_by_text(RECONNECTING)).to_have_count(0)
        proxy.cut()
        breakpoints.release("end")
        await chat.page.wait_for_timeout(500)
        proxy.restore()
        await chat.wait_for_answer()
        assert (await chat.log_text()).count(WHOLE) == 1


async def test_a_browser_that_goes_offline_and_comes_back_goes_on(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    breakpoints = Breakpoints("middle")
    backend.script(reply(say(*WORDS[:10]), *breakpoints.before("middle"), say(*WORDS[10:]), stop()))
    profile = await new_profile()
    chat = await Chat.open(profile)
    await chat.ask("Count")
    await expect(chat.log).to_contain_text("word9")
    await profile.context.set_offline(offline=True)
    breakpoints.release()
    await profile.context.set_offline(offline=False)
    await chat.wait_for_answer()
    assert (await chat.log_text()).count(WHOLE) == 1
    await expect(chat.page.get_by_text(RECONNECTING)).to_have_count(0)


async def test_a_question_asked_while_the_line_is_cut_is_not_lost(
    browser: Browser, backend: PageBackend, proxy: EventProxy
) -> None:
    backend.script(reply(say("Here I am."), stop()))
    async with open_profile(browser, proxy.url, cookie=backend.cookie) as profile:
        chat = await Chat.open(profile)
        await expect(chat.composer).to_be_visible()
        proxy.cut()
        await chat.ask("Are you there?")
        await expect(chat.composer).to_have_value("Are you there?")
        proxy.restore()
        await chat.send.click()
        await expect(chat.log).to_contain_text("Here I am.")
        await expect(chat.log.get_by_text("Are you there?")).to_have_count(1)


async def test_a_server_that_is_killed_in_the_middle_and_started_again_finishes_the_answer(
    browser: Browser, upstream: Upstream, tmp_path: Path
) -> None:
    breakpoints = Breakpoints("middle")
    upstream.script(
        reply(say("Half of it "), *breakpoints.before("middle"), stop()),
        reply(say(*WORDS), stop()),
    )
    first = await ServerProcess.start(tmp_path, upstream)
    async with EventProxy(first.url) as proxy:
        async with first.client() as client:
            await client.json("POST", "/v2/users", {"name": "ada", "password": "a long password"}, 201)
        async with open_profile(browser, proxy.url) as profile:
            chat = await Chat.open(profile)
            await chat.log_in("ada", "a long password")
            await chat.ask("Count")
            await expect(chat.log).to_contain_text("Half of it")
            await first.kill()
            proxy.cut()
            await expect(chat.page.get_by_text(RECONNECTING)).to_be_visible()
            second = await ServerProcess.start(tmp_path, upstream)
            try:
                proxy.restore(second.url)
                # The page waits longer between its attempts, the longer the server is away.
                await chat.wait_for_answer(120)
                assert (await chat.log_text()).count(WHOLE) == 1
                await expect(chat.log).not_to_contain_text("Half of it")
                await expect(chat.page.get_by_text(RECONNECTING)).to_have_count(0)
                shown = await chat.conversation_text()
                await chat.page.reload()
                await expect(chat.log).to_contain_text("word39")
                await chat.expect_conversation(shown)
            finally:
                breakpoints.release()
                await second.stop()


async def test_a_reader_who_scrolled_up_stays_there_when_a_killed_run_goes_on(
    browser: Browser, upstream: Upstream, tmp_path: Path
) -> None:
    breakpoints = Breakpoints("middle", "again")
    upstream.script(
        reply(say(*LONG), *breakpoints.before("middle"), stop()),
        reply(*breakpoints.before("again"), say(*LONG), say("The end of it."), stop()),
    )
    first = await ServerProcess.start(tmp_path, upstream)
    async with EventProxy(first.url) as proxy:
        async with first.client() as client:
            await client.json("POST", "/v2/users", {"name": "ada", "password": "a long password"}, 201)
        async with open_profile(browser, proxy.url) as profile:
            chat = await Chat.open(profile)
            await chat.log_in("ada", "a long password")
            await chat.ask("Tell me much")
            await expect(chat.log).to_contain_text("Paragraph 59 of")
            # A wheel event counts as a user's own scrolling; a script would not.
            await chat.log.hover()
            await chat.page.mouse.wheel(0, -1200)
            await expect(chat.button("Jump to latest")).to_be_visible()
            before = await wait_until(lambda: chat.log.evaluate(TOP), lambda top: top > 0)
            await first.kill()
            proxy.cut()
            second = await ServerProcess.start(tmp_path, upstream)
            try:
                proxy.restore(second.url)
                await expect(chat.log).not_to_contain_text("Paragraph 59 of", timeout=120_000)
                breakpoints.release("again")
                await chat.wait_for_answer(120)
                await expect(chat.log).to_contain_text("The end of it.")
                await expect(chat.button("Jump to latest")).to_be_visible()
                assert abs(await chat.log.evaluate(TOP) - before) <= 2
            finally:
                breakpoints.release()
                await second.stop()
