"""A research run of the real server in the page: its plan is changed while it runs, and each phase survives a
reload."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, expect

from browser.backend import PageBackend, open_backend, open_web
from browser.breakpoints import Breakpoints
from browser.browser_profile import open_profile
from browser.conftest import NewProfile
from browser.event_proxy import EventProxy
from browser.page import Chat
from browser.research_model import ITEMS, QUESTION, OxygenModel
from runs.server_process import ServerProcess
from upstream import Upstream

COINED, MEANING, YEAR = ITEMS
SUPPORTED = "coined in 1777 by Antoine Lavoisier"


@pytest_asyncio.fixture(loop_scope="session")
async def backend(tmp_path: Path, upstream: Upstream) -> AsyncIterator[PageBackend]:
    """One reader at a time, so that questions wait."""
    agents = {"agents": [{"id": "researcher", "webSearch": {"enabled": True}, "research": {"atOnce": 1}}]}
    (tmp_path / ".footnote").mkdir()
    (tmp_path / ".footnote" / "agents.json").write_text(json.dumps(agents))
    async with open_backend(tmp_path, upstream, ("/en/Oxygen", "/en/Normans")) as backend:
        yield backend


def _row(chat: Chat, question: str) -> Locator:
    return chat.log.get_by_role("list", name="Research plan").get_by_role("listitem").filter(has_text=question)


async def _reload(chat: Chat) -> None:
    before = await chat.conversation_text()
    await chat.page.reload()
    await chat.expect_conversation(before)


async def _ask(chat: Chat) -> None:
    await chat.page.get_by_role("button", name="Research", exact=True).click()
    await chat.ask(QUESTION)


async def test_a_plan_is_changed_while_it_runs_and_each_phase_survives_a_reload(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    waits = Breakpoints("plan", "read 1", "write")
    model = OxygenModel("Its history or its chemistry?", waits)
    backend.script(model)
    chat = await Chat.open(await new_profile())
    await _ask(chat)
    await chat.button("Its history").click()
    await expect(chat.stop).to_be_visible()
    await expect(chat.log).to_contain_text("Its history or its chemistry?")
    await expect(chat.log).to_contain_text(re.compile("Working|Waiting"))
    await _reload(chat)
    waits.release("plan")
    await expect(_row(chat, COINED)).to_contain_text("In progress")
    await expect(_row(chat, YEAR)).to_contain_text("Waiting")
    await _reload(chat)

    await chat.button(f"Move up: {YEAR}").click()
    await chat.button(f"Drop: {MEANING}").click()
    await chat.button("Add a question").click()
    await chat.page.get_by_role("textbox", name="New question").fill("Who else named it?")
    await chat.page.keyboard.press("Enter")
    await expect(chat.log.locator(".chat-plan-question")).to_have_text([COINED, YEAR, MEANING, "Who else named it?"])
    await expect(chat.button("Drop: Who else named it?")).to_be_visible()
    await chat.composer.fill("Name the year")
    await chat.composer.press("Enter")
    await expect(chat.log.get_by_role("list", name="You said")).to_contain_text("Name the year")
    await _reload(chat)
    await expect(_row(chat, MEANING)).to_contain_text("Dropped")

    waits.release("read 1")
    await expect(_row(chat, COINED)).to_contain_text(re.compile(r"1 statement · \d source"))
    await expect(_row(chat, "Who else named it?")).to_contain_text("Done")
    assert "read 2" not in model.asked
    await _reload(chat)
    waits.release("write")
    await chat.wait_for_answer()
    await _expect_report(chat)
    await _reload(chat)
    await chat.log.get_by_role("button", name=re.compile("^Research")).click()
    await expect(_row(chat, YEAR)).to_contain_text("1 statement")


async def _expect_report(chat: Chat) -> None:
    await expect(chat.log.locator(".chat-answer > .chat-text").last).to_contain_text(SUPPORTED)
    await expect(chat.log.get_by_role("button", name=re.compile("^report.md")).first).to_be_visible()
    await expect(chat.log.get_by_role("button", name=re.compile("^Research"))).to_contain_text("statement")


async def test_a_research_run_is_finished_early(backend: PageBackend, new_profile: NewProfile) -> None:
    waits = Breakpoints("read 2")
    backend.script(OxygenModel(waits=waits))
    chat = await Chat.open(await new_profile())
    await _ask(chat)
    await expect(_row(chat, COINED)).to_contain_text("Done")
    await expect(_row(chat, MEANING)).to_contain_text("In progress")
    await chat.button("Finish now").click()
    await expect(_row(chat, YEAR)).to_contain_text("Dropped")
    waits.release()
    await chat.wait_for_answer()
    await _expect_report(chat)


async def test_a_server_that_is_killed_in_the_middle_goes_on_with_the_questions_that_are_left(
    browser: Browser, upstream: Upstream, tmp_path: Path
) -> None:
    waits = Breakpoints("read 2")
    model = OxygenModel(waits=waits)
    upstream.script(model)
    async with open_web(("/en/Oxygen", "/en/Normans")) as (_, _, settings):
        first = await ServerProcess.start(tmp_path, upstream, **settings)
        async with EventProxy(first.url) as proxy:
            async with first.client() as client:
                await client.json("POST", "/v2/users", {"name": "ada", "password": "a long password"}, 201)
            async with open_profile(browser, proxy.url) as profile:
                chat = await Chat.open(profile)
                await chat.log_in("ada", "a long password")
                await _ask(chat)
                for question in (COINED, YEAR):
                    await expect(_row(chat, question)).to_contain_text("1 statement")
                await expect(_row(chat, MEANING)).to_contain_text("In progress")
                read = model.asked.count("read 1")
                await first.kill()
                proxy.cut()
                second = await ServerProcess.start(tmp_path, upstream, **settings)
                try:
                    proxy.restore(second.url)
                    waits.release()
                    await chat.wait_for_answer(120)
                    await _expect_report(chat)
                    assert model.asked.count("read 1") == read
                    await _reload(chat)
                    await chat.log.get_by_role("button", name=re.compile("^Research")).click()
                    for question in ITEMS:
                        await expect(_row(chat, question)).to_contain_text("1 statement")
                finally:
                    waits.release()
                    await second.stop()


@pytest.mark.parametrize("phone", [True])
async def test_research_without_a_model_on_a_phone(
    new_profile: NewProfile, backend: PageBackend, *, phone: bool
) -> None:
    chat = await Chat.open(await new_profile(phone=phone, viewport={"width": 360, "height": 780}))
    await chat.choose(chat.button(re.compile("^Model: ")), "Built-in reader")
    await _ask(chat)
    await chat.wait_for_answer(seconds=120)
    await expect(chat.log.get_by_role("button", name=re.compile("^report.md")).first).to_be_visible()
    assert not await chat.page.evaluate("document.documentElement.scrollWidth > innerWidth")
    await _reload(chat)
