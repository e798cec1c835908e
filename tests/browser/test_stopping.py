"""An answer is stopped on purpose: by its button, or by two Escapes of somebody who means the answer."""

import re

from playwright.async_api import expect

from browser.conftest import Visit
from browser.page import Chat
from browser.stage import Stage
from upstream import reply, say, stall, stop


async def _running(stage: Stage, visit: Visit) -> Chat:
    stage.script(reply(say("So far "), stall()), reply(say("And here is the rest."), stop()))
    chat = await Chat.open(await visit())
    await chat.ask("Why?")
    await expect(chat.log).to_contain_text("So far")
    return chat


async def test_escape_in_the_search_field_leaves_a_running_answer_alone(stage: Stage, visit: Visit) -> None:
    chat = await _running(stage, visit)
    hint = chat.page.get_by_text("Press Esc again to stop")
    await chat.page.keyboard.press("Control+k")
    await expect(chat.page.get_by_role("searchbox", name="Search conversations")).to_be_focused()
    for _ in range(3):
        await chat.page.keyboard.press("Escape")
    await expect(hint).to_have_count(0)
    await expect(chat.stop).to_have_text("Stop")
    await chat.stop.click()
    await chat.wait_for_answer()


async def test_escape_stops_at_the_second_press_and_the_first_says_so(stage: Stage, visit: Visit) -> None:
    chat = await _running(stage, visit)
    hint = chat.page.get_by_text("Press Esc again to stop")
    await chat.press("Escape")
    await expect(hint).to_be_visible()
    await expect(chat.stop).to_have_text("Stop")
    # Whoever goes on with something else did not mean it.
    await chat.composer.press("a")
    await expect(hint).to_have_count(0)
    await chat.composer.press("Escape")
    await expect(hint).to_be_visible()
    await expect(chat.stop).to_have_text("Stop")
    await chat.composer.press("Escape")
    await chat.wait_for_answer()
    await expect(hint).to_have_count(0)
    await expect(chat.log).to_contain_text(re.compile("stopped", re.IGNORECASE))


async def test_an_answer_that_was_stopped_can_be_continued(stage: Stage, visit: Visit) -> None:
    chat = await _running(stage, visit)
    await chat.stop.click()
    await chat.wait_for_answer()
    await chat.log.get_by_role("button", name="Continue").click()
    await expect(chat.log).to_contain_text("And here is the rest.")
    await chat.wait_for_answer()
    await expect(chat.log.get_by_role("button", name="Continue")).to_have_count(0)
    assert "So far" in str(stage.upstream.requests[-1].body["messages"])
