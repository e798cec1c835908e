"""Two tabs of one user show the same conversation."""

from playwright.async_api import expect

from browser.backend import QUESTION, PageBackend, oxygen_script
from browser.breakpoints import Breakpoints
from browser.conftest import NewProfile
from browser.page import Chat
from upstream import reply, say, stop


async def test_a_tab_that_was_open_before_and_one_opened_in_the_middle_see_the_whole_turn(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    breakpoints = Breakpoints("text")
    backend.script(reply(say("Hello."), stop()), *oxygen_script(before=breakpoints.before))
    profile = await new_profile()
    first = await Chat.open(profile)
    await first.ask_and_wait("Hello?")
    path = first.page.url.removeprefix(profile.origin)
    early = await Chat.open(profile, path)
    await expect(early.log).to_contain_text("Hello.")

    await first.ask(QUESTION)
    await backend.upstream.wait_received(5)
    await expect(early.log).to_contain_text("oxygen.md")
    late = await Chat.open(profile, path)
    await expect(late.log).to_contain_text("oxygen.md")
    breakpoints.release()
    for tab in (first, early, late):
        await tab.wait_for_answer()
        await expect(tab.footnote(1, "supported")).to_have_count(1)
    await early.expect_same_as(first)
    await late.expect_same_as(first)


async def test_what_one_tab_renames_or_removes_the_other_shows(backend: PageBackend, new_profile: NewProfile) -> None:
    backend.script(reply(say("Hello."), stop()))
    profile = await new_profile()
    first = await Chat.open(profile)
    await first.ask_and_wait("Hello there")
    second = await Chat.open(profile)
    await expect(second.sidebar.get_by_role("link", name="Hello there")).to_be_visible()
    await first.rename("Hello there", "Greetings")
    await expect(second.sidebar.get_by_role("link", name="Greetings")).to_be_visible()
    await first.remove("Greetings")
    await expect(second.sidebar.get_by_role("link", name="Greetings")).to_have_count(0)


async def test_stopping_in_one_tab_stops_in_the_other(backend: PageBackend, new_profile: NewProfile) -> None:
    breakpoints = Breakpoints("text")
    backend.script(*oxygen_script(before=breakpoints.before))
    profile = await new_profile()
    first = await Chat.open(profile)
    await first.ask(QUESTION)
    await backend.upstream.wait_received(4)
    second = await Chat.open(profile, first.page.url.removeprefix(profile.origin))
    await expect(second.log).to_contain_text("oxygen.md")
    await second.stop.click()
    await first.wait_for_answer()
    await second.wait_for_answer()
    await first.expect_same_as(second)
