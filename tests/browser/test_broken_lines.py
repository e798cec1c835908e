"""Connections that break, servers that die: no word is lost or doubled, and the page says what goes on."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser, expect

from browser.conftest import Visit
from browser.cutting import Line
from browser.moments import Moments
from browser.page import Chat
from browser.stage import Stage
from browser.visitor import open_visitor
from browser.waiting import wait_until
from runs.serving import Process
from upstream import Upstream, reply, say, stop

WORDS = [f"word{number} " for number in range(40)]
WHOLE = "".join(WORDS).strip()
LONG = [f"Paragraph {number} of the answer.\n\n" for number in range(60)]
TOP = "(log) => log.scrollTop"
RECONNECTING = re.compile("reconnect", re.IGNORECASE)


@pytest_asyncio.fixture(loop_scope="session")
async def line(stage: Stage) -> AsyncIterator[Line]:
    async with Line(stage.origin) as line:
        yield line


async def test_a_cut_line_is_told_and_mended_without_a_lost_word(browser: Browser, stage: Stage, line: Line) -> None:
    moments = Moments("middle", "end")
    stage.script(
        reply(
            say(*WORDS[:10]),
            *moments.before("middle"),
            say(*WORDS[10:20]),
            *moments.before("end"),
            say(*WORDS[20:]),
            stop(),
        )
    )
    async with open_visitor(browser, line.url, cookie=stage.cookie) as visitor:
        chat = await Chat.open(visitor)
        await chat.ask("Count")
        await expect(chat.log).to_contain_text("word9")
        line.cut()
        await expect(chat.page.get_by_text(RECONNECTING)).to_be_visible()
        moments.release("middle")
        line.restore()
        await expect(chat.log).to_contain_text("word19")
        await expect(chat.page.get_by_text(RECONNECTING)).to_have_count(0)
        line.cut()
        moments.release("end")
        await chat.page.wait_for_timeout(500)
        line.restore()
        await chat.wait_for_answer()
        assert (await chat.log_text()).count(WHOLE) == 1


async def test_a_browser_that_goes_offline_and_comes_back_goes_on(stage: Stage, visit: Visit) -> None:
    moments = Moments("middle")
    stage.script(reply(say(*WORDS[:10]), *moments.before("middle"), say(*WORDS[10:]), stop()))
    visitor = await visit()
    chat = await Chat.open(visitor)
    await chat.ask("Count")
    await expect(chat.log).to_contain_text("word9")
    await visitor.context.set_offline(offline=True)
    moments.release()
    await visitor.context.set_offline(offline=False)
    await chat.wait_for_answer()
    assert (await chat.log_text()).count(WHOLE) == 1
    await expect(chat.page.get_by_text(RECONNECTING)).to_have_count(0)


async def test_a_question_asked_while_the_line_is_cut_is_not_lost(browser: Browser, stage: Stage, line: Line) -> None:
    stage.script(reply(say("Here I am."), stop()))
    async with open_visitor(browser, line.url, cookie=stage.cookie) as visitor:
        chat = await Chat.open(visitor)
        await expect(chat.composer).to_be_visible()
        line.cut()
        await chat.ask("Are you there?")
        await expect(chat.composer).to_have_value("Are you there?")
        line.restore()
        await chat.send.click()
        await expect(chat.log).to_contain_text("Here I am.")
        await expect(chat.log.get_by_text("Are you there?")).to_have_count(1)


async def test_a_server_that_is_killed_in_the_middle_and_started_again_finishes_the_answer(
    browser: Browser, upstream: Upstream, tmp_path: Path
) -> None:
    moments = Moments("middle")
    upstream.script(
        reply(say("Half of it "), *moments.before("middle"), stop()),
        reply(say(*WORDS), stop()),
    )
    first = await Process.start(tmp_path, upstream)
    async with Line(first.url) as line:
        async with first.client() as client:
            await client.json("POST", "/v2/users", {"name": "ada", "password": "a long password"}, 201)
        async with open_visitor(browser, line.url) as visitor:
            chat = await Chat.open(visitor)
            await chat.log_in("ada", "a long password")
            await chat.ask("Count")
            await expect(chat.log).to_contain_text("Half of it")
            await first.kill()
            line.cut()
            await expect(chat.page.get_by_text(RECONNECTING)).to_be_visible()
            second = await Process.start(tmp_path, upstream)
            try:
                line.restore(second.url)
                # The longer a server was away, the longer the page waits before it asks once more.
                await chat.wait_for_answer(120)
                assert (await chat.log_text()).count(WHOLE) == 1
                await expect(chat.log).not_to_contain_text("Half of it")
                await expect(chat.page.get_by_text(RECONNECTING)).to_have_count(0)
                shown = await chat.conversation_text()
                await chat.page.reload()
                await expect(chat.log).to_contain_text("word39")
                await chat.expect_conversation(shown)
            finally:
                moments.release()
                await second.stop()


async def test_a_reader_who_scrolled_up_stays_there_when_a_killed_run_goes_on(
    browser: Browser, upstream: Upstream, tmp_path: Path
) -> None:
    moments = Moments("middle", "again")
    upstream.script(
        reply(say(*LONG), *moments.before("middle"), stop()),
        reply(*moments.before("again"), say(*LONG), say("The end of it."), stop()),
    )
    first = await Process.start(tmp_path, upstream)
    async with Line(first.url) as line:
        async with first.client() as client:
            await client.json("POST", "/v2/users", {"name": "ada", "password": "a long password"}, 201)
        async with open_visitor(browser, line.url) as visitor:
            chat = await Chat.open(visitor)
            await chat.log_in("ada", "a long password")
            await chat.ask("Tell me much")
            await expect(chat.log).to_contain_text("Paragraph 59 of")
            # A move of the reader's own: the wheel, and no script.
            await chat.log.hover()
            await chat.page.mouse.wheel(0, -1200)
            await expect(chat.button("Jump to latest")).to_be_visible()
            before = await wait_until(lambda: chat.log.evaluate(TOP), lambda top: top > 0)
            await first.kill()
            line.cut()
            second = await Process.start(tmp_path, upstream)
            try:
                line.restore(second.url)
                await expect(chat.log).not_to_contain_text("Paragraph 59 of", timeout=120_000)
                moments.release("again")
                await chat.wait_for_answer(120)
                await expect(chat.log).to_contain_text("The end of it.")
                await expect(chat.button("Jump to latest")).to_be_visible()
                assert abs(await chat.log.evaluate(TOP) - before) <= 2
            finally:
                moments.release()
                await second.stop()
