"""Stop, retry, edit, branches, and errors."""

import re

from playwright.async_api import expect

from browser.backend import PageBackend
from browser.conftest import NewProfile
from browser.page import Chat
from upstream import cut, reply, say, stall, status, stop


async def test_stopping_keeps_what_was_said_and_says_so(backend: PageBackend, new_profile: NewProfile) -> None:
    backend.script(reply(say("So far "), stall()))
    chat = await Chat.open(await new_profile())
    await chat.ask("Why?")
    await expect(chat.log).to_contain_text("So far")
    await chat.stop.click()
    await chat.wait_for_answer()
    await expect(chat.log).to_contain_text("So far")
    await expect(chat.log).to_contain_text(re.compile("stopped", re.IGNORECASE))
    before = await chat.conversation_text()
    await chat.page.reload()
    await expect(chat.log).to_contain_text("So far")
    await chat.expect_conversation(before)


async def test_escape_in_the_composer_stops_too(backend: PageBackend, new_profile: NewProfile) -> None:
    backend.script(reply(say("So far "), stall()))
    chat = await Chat.open(await new_profile())
    await chat.ask("Why?")
    await expect(chat.log).to_contain_text("So far")
    await chat.composer.press("Escape")
    await chat.composer.press("Escape")
    await chat.wait_for_answer()


async def test_a_retry_is_a_branch_and_both_answers_stay(backend: PageBackend, new_profile: NewProfile) -> None:
    backend.script(reply(say("The first answer."), stop()), reply(say("The second answer."), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("Why?")
    await chat.retry()
    await expect(chat.log).to_contain_text("The second answer.")
    await chat.wait_for_answer()
    await expect(chat.log).not_to_contain_text("The first answer.")
    await expect(chat.log).to_contain_text("2/2")
    await chat.log.get_by_role("button", name="Previous answer").click()
    await expect(chat.log).to_contain_text("The first answer.")
    await expect(chat.log).to_contain_text("1/2")
    await chat.page.reload()
    await expect(chat.log).to_contain_text("The first answer.")
    await chat.log.get_by_role("button", name="Next answer").click()
    await expect(chat.log).to_contain_text("The second answer.")


async def test_an_edited_question_is_a_branch(backend: PageBackend, new_profile: NewProfile) -> None:
    backend.script(reply(say("About cats."), stop()), reply(say("About dogs."), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("Tell me of cats")
    await chat.edit("Tell me of cats", "Tell me of dogs")
    await expect(chat.log).to_contain_text("About dogs.")
    await chat.wait_for_answer()
    await expect(chat.log).not_to_contain_text("Tell me of cats")
    await expect(chat.log).to_contain_text("2/2")
    await chat.log.get_by_role("button", name="Previous question").click()
    await expect(chat.log).to_contain_text("About cats.")
    await expect(chat.log).to_contain_text("Tell me of cats")


async def test_a_model_that_refuses_is_an_error_with_words_and_a_retry(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(status(401), reply(say("Now it works."), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("Why?")
    await expect(chat.failure).to_be_visible()
    before = await chat.conversation_text()
    await chat.page.reload()
    await expect(chat.failure).to_be_visible()
    await chat.expect_conversation(before)
    await chat.failure.get_by_role("button", name="Try again").click()
    await expect(chat.log).to_contain_text("Now it works.")


async def test_a_model_that_dies_in_the_middle_never_leaves_an_endless_spinner(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(reply(say("It is because"), cut()), status(400))
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("Why?")
    await expect(chat.log).to_contain_text("It is because")
    await expect(chat.failure).to_be_visible()
    await expect(chat.page.locator("[aria-busy=true]")).to_have_count(0)


async def test_a_session_that_is_not_there_says_so_and_leads_on(backend: PageBackend, new_profile: NewProfile) -> None:
    chat = await Chat.open(await new_profile(), "/s/session_nobody_has")
    await expect(chat.page.get_by_text("Conversation not found")).to_be_visible()
    await chat.page.get_by_role("main").get_by_role("button", name="New conversation").click()
    await expect(chat.composer).to_be_visible()
    assert chat.page.url == f"{backend.origin}/"


async def test_a_long_question_scrolls_in_the_conversation_and_not_the_page(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(reply(say("Yes."), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("\n".join(f"line {number}" for number in range(80)))
    await chat.log.get_by_role("button", name="Show more").click()
    assert await chat.page.evaluate("() => document.documentElement.scrollHeight <= innerHeight")
