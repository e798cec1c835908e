"""The times of messages, and the turn that wrote a file."""

import re

import pytest
from playwright.async_api import Locator, expect

from browser.backend import PageBackend
from browser.conftest import NewProfile
from browser.page import Chat
from upstream import call, reply, say, stop

WRITE = {"file_path": "/report.md", "content": "One."}
OTHER = {"file_path": "/table.csv", "content": "a,b"}
EDIT = {"file_path": "/report.md", "old_string": "One", "new_string": "Two"}
MOMENTS = {
    "English": re.compile(r"^[A-Z][a-z]{2} \d{1,2}, 20\d\d, \d{1,2}:\d\d\s[AP]M$"),
    "Tiếng Việt": re.compile(r"^\d{1,2}:\d\d(:\d\d)?,? \d{1,2} thg \d{1,2}, 20\d\d$"),
    "中文": re.compile(r"^20\d\d年\d{1,2}月\d{1,2}日 \d{1,2}:\d\d$"),
}


async def _is_seen(moment: Locator) -> None:
    await expect(moment).to_have_css("opacity", "1")


@pytest.mark.parametrize("language", list(MOMENTS))
async def test_question_and_answer_have_their_time_under_the_pointer_in_the_language_of_the_page(
    backend: PageBackend, new_profile: NewProfile, language: str
) -> None:
    backend.script(reply(say("Hello."), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("Hello?")
    breakpoints = chat.log.locator("time")
    await expect(breakpoints).to_have_count(2)
    await chat.composer.hover()
    for moment, message in ((breakpoints.first, ".chat-question"), (breakpoints.last, ".chat-answer")):
        await expect(moment).to_have_css("opacity", "0")
        await expect(moment).to_have_text(MOMENTS["English"])
        await chat.log.locator(message).hover()
        await _is_seen(moment)
    text = await chat.conversation_text()
    await chat.page.reload()
    await chat.expect_conversation(text)
    if language != "English":
        await chat.open_settings()
        await chat.set(language)
        await expect(breakpoints.first).to_have_text(MOMENTS[language])
        await expect(breakpoints.last).to_have_text(MOMENTS[language])


async def test_files_stand_under_the_question_of_the_turn_that_made_them(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(
        reply(call("write_file", WRITE), stop("toolUse")),
        reply(say("Written."), stop()),
        reply(call("edit_file", EDIT), call("write_file", OTHER), stop("toolUse")),
        reply(say("Changed, and a table."), stop()),
    )
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("Write a report")
    await chat.ask_and_wait("Change it, and add a table")
    await chat.open_files()
    for _ in range(2):
        groups = chat.drawer.locator(".files-turn")
        await expect(groups).to_have_count(2)
        await expect(groups.first.get_by_role("heading")).to_have_text("Change it, and add a table")
        await expect(groups.first).to_contain_text("table.csv")
        await expect(groups.last.get_by_role("heading")).to_have_text("Write a report")
        await expect(groups.last).to_contain_text("report.md")
        await expect(groups.first).not_to_contain_text("report.md")
        await chat.page.reload()
        await expect(chat.drawer.or_(chat.button(re.compile("^Files"))).first).to_be_visible()
        if not await chat.drawer.is_visible():
            await chat.open_files()
