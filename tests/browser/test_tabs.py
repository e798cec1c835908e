"""Two tabs of one person show the same conversation."""

from playwright.async_api import expect

from browser.conftest import Visit
from browser.moments import Moments
from browser.page import Chat
from browser.stage import QUESTION, Stage, oxygen_script
from upstream import reply, say, stop


async def test_a_tab_that_was_open_before_and_one_opened_in_the_middle_see_the_whole_turn(
    stage: Stage, visit: Visit
) -> None:
    moments = Moments("text")
    stage.script(reply(say("Hello."), stop()), *oxygen_script(before=moments.before))
    visitor = await visit()
    first = await Chat.open(visitor)
    await first.ask_and_wait("Hello?")
    path = first.page.url.removeprefix(visitor.origin)
    early = await Chat.open(visitor, path)
    await expect(early.log).to_contain_text("Hello.")

    await first.ask(QUESTION)
    await stage.upstream.wait_received(5)
    await expect(early.log).to_contain_text("oxygen.md")
    late = await Chat.open(visitor, path)
    await expect(late.log).to_contain_text("oxygen.md")
    moments.release()
    for tab in (first, early, late):
        await tab.wait_for_answer()
        await expect(tab.footnote(1, "supported")).to_have_count(1)
    await early.expect_same_as(first)
    await late.expect_same_as(first)


async def test_what_one_tab_renames_or_removes_the_other_shows(stage: Stage, visit: Visit) -> None:
    stage.script(reply(say("Hello."), stop()))
    visitor = await visit()
    first = await Chat.open(visitor)
    await first.ask_and_wait("Hello there")
    second = await Chat.open(visitor)
    await expect(second.sidebar.get_by_role("link", name="Hello there")).to_be_visible()
    await first.rename("Hello there", "Greetings")
    await expect(second.sidebar.get_by_role("link", name="Greetings")).to_be_visible()
    await first.remove("Greetings")
    await expect(second.sidebar.get_by_role("link", name="Greetings")).to_have_count(0)


async def test_stopping_in_one_tab_stops_in_the_other(stage: Stage, visit: Visit) -> None:
    moments = Moments("text")
    stage.script(*oxygen_script(before=moments.before))
    visitor = await visit()
    first = await Chat.open(visitor)
    await first.ask(QUESTION)
    await stage.upstream.wait_received(4)
    second = await Chat.open(visitor, first.page.url.removeprefix(visitor.origin))
    await expect(second.log).to_contain_text("oxygen.md")
    await second.stop.click()
    await first.wait_for_answer()
    await second.wait_for_answer()
    await first.expect_same_as(second)
