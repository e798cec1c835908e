"""Escape closes only the topmost layer, however often it is pressed, and never discards typed text."""

import pytest
from playwright.async_api import expect

from browser.backend import PageBackend
from browser.conftest import NewProfile
from browser.page import Chat


@pytest.mark.parametrize("presses", [1, 2, 3, 4, 7])
async def test_any_number_of_escapes_loses_no_typed_word_and_leaves_the_page_alive(
    backend: PageBackend, new_profile: NewProfile, presses: int
) -> None:
    session = await backend.create_session(title="Two files")
    await session.write("/report.md", "# Report\n\nThe first line.\n")
    await session.write("/notes.md", "# Notes\n\nA note.\n")
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    await chat.open_files()
    await chat.open_file("report.md")
    await chat.viewer.get_by_role("button", name="Edit").click()
    text, question = chat.viewer.get_by_role("textbox"), chat.page.get_by_role("dialog", name="Discard your changes?")
    await text.press("Control+End")
    await chat.page.keyboard.type("Mine.")
    # Only keys: a script call would count as a user activation, after which Chromium allows another close request.
    for _ in range(presses):
        await chat.page.keyboard.press("Escape")
    # Every second Escape closes the confirmation that the one before has opened.
    await expect(question).to_have_count(presses % 2)
    await expect(text).to_be_visible()
    await expect(text).to_have_value("# Report\n\nThe first line.\nMine.")
    if presses % 2:
        await question.get_by_role("button", name="Cancel").click()
    await text.press("Control+End")
    await chat.page.keyboard.type(" Still.")
    await expect(text).to_have_value("# Report\n\nThe first line.\nMine. Still.")
    await chat.page.keyboard.press("Escape")
    await question.get_by_role("button", name="Discard").click()
    await expect(chat.page.get_by_role("dialog")).to_have_count(0)
    await chat.open_file("notes.md")
    await expect(chat.viewer).to_contain_text("A note.")
    await chat.page.keyboard.press("Escape")
    await expect(chat.viewer).to_have_count(0)


async def test_a_dialog_that_the_browser_closes_by_itself_is_shown_again_below_its_question(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    session = await backend.create_session(title="A file")
    await session.write("/report.md", "# Report\n")
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    await chat.open_files()
    await chat.open_file("report.md")
    await chat.viewer.get_by_role("button", name="Edit").click()
    await chat.viewer.get_by_role("textbox").fill("Mine.")
    await chat.page.keyboard.press("Escape")
    question = chat.page.get_by_role("dialog", name="Discard your changes?")
    await expect(question).to_be_visible()
    # The Back gesture of a phone, which the page cannot prevent twice.
    await chat.page.evaluate("() => document.querySelector('dialog').close()")
    await question.get_by_role("button", name="Cancel").click()
    await expect(question).to_have_count(0)
    await expect(chat.viewer.get_by_role("textbox")).to_have_value("Mine.")
    await chat.viewer.get_by_role("button", name="Save").click()
    await expect(chat.viewer.get_by_role("textbox")).to_have_count(0)
