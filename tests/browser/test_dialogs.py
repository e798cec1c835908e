"""Escape closes what lies on top and nothing else, however often it is pressed, and never what somebody has typed."""

import pytest
from playwright.async_api import expect

from browser.conftest import Visit
from browser.page import Chat
from browser.stage import Stage


@pytest.mark.parametrize("presses", [1, 2, 3, 4, 7])
async def test_any_number_of_escapes_loses_no_typed_word_and_leaves_the_page_alive(
    stage: Stage, visit: Visit, presses: int
) -> None:
    desk = await stage.create_session(title="Two files")
    await desk.write("/report.md", "# Report\n\nThe first line.\n")
    await desk.write("/notes.md", "# Notes\n\nA note.\n")
    chat = await Chat.open(await visit(), f"/s/{desk.session_id}")
    await chat.open_files()
    await chat.open_file("report.md")
    await chat.viewer.get_by_role("button", name="Edit").click()
    text, question = chat.viewer.get_by_role("textbox"), chat.page.get_by_role("dialog", name="Discard your changes?")
    await text.press("Control+End")
    await chat.page.keyboard.type("Mine.")
    # Keys alone: a script call in between would count as an act of the user, after which Chromium forgives more.
    for _ in range(presses):
        await chat.page.keyboard.press("Escape")
    # Every second one takes the question away that the one before has asked.
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
    stage: Stage, visit: Visit
) -> None:
    desk = await stage.create_session(title="A file")
    await desk.write("/report.md", "# Report\n")
    chat = await Chat.open(await visit(), f"/s/{desk.session_id}")
    await chat.open_files()
    await chat.open_file("report.md")
    await chat.viewer.get_by_role("button", name="Edit").click()
    await chat.viewer.get_by_role("textbox").fill("Mine.")
    await chat.page.keyboard.press("Escape")
    question = chat.page.get_by_role("dialog", name="Discard your changes?")
    await expect(question).to_be_visible()
    # As the way back of a phone does it, when the page may not say no a second time.
    await chat.page.evaluate("() => document.querySelector('dialog').close()")
    await question.get_by_role("button", name="Cancel").click()
    await expect(question).to_have_count(0)
    await expect(chat.viewer.get_by_role("textbox")).to_have_value("Mine.")
    await chat.viewer.get_by_role("button", name="Save").click()
    await expect(chat.viewer.get_by_role("textbox")).to_have_count(0)
