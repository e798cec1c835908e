"""Responses that arrive out of order: in the end the page shows the state of the server."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Request, Route, expect

from browser.backend import PageBackend
from browser.breakpoints import Breakpoints
from browser.conftest import NewProfile
from browser.page import Chat
from browser.waiting import HeldRequest
from upstream import reply, say, stop

RECONNECTING = re.compile("reconnect", re.IGNORECASE)
GONE = "Conversation not found"
NOTES = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"Kind footnotes."}
LISTS = re.compile(r"/v2/sessions\?")


@asynccontextmanager
async def delay_response(chat: Chat, address: str | re.Pattern[str]) -> AsyncIterator[None]:
    """The page loads the history again, and the response arrives only after everything that the test does."""
    requested, arrives, arrived = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(route: Route) -> None:
        response = await route.fetch()
        requested.set()
        await arrives.wait()
        await route.fulfill(response=response)
        arrived.set()

    await chat.page.route(address, slow, times=1)
    # The network is back.
    await chat.page.evaluate("() => dispatchEvent(new Event('online'))")
    await requested.wait()
    yield
    arrives.set()
    await arrived.wait()
    # Time for what must not happen.
    await chat.page.wait_for_timeout(500)


async def test_a_history_from_before_a_question_does_not_take_it_away(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    breakpoints = Breakpoints("middle")
    backend.script(
        reply(say("Hello."), stop()),
        reply(say("The first half "), *breakpoints.before("middle"), say("and more."), stop()),
    )
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("Hello?")
    async with delay_response(chat, "**/history?*"):
        await chat.ask("And then?")
        await expect(chat.log).to_contain_text("The first half")
    breakpoints.release()
    await expect(chat.log).to_contain_text("and more.")
    await chat.wait_for_answer()
    assert (await chat.log_text()).count("The first half and more.") == 1


async def test_a_history_from_before_another_branch_was_chosen_does_not_bring_the_old_one_back(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(reply(say("The first answer."), stop()), reply(say("The second answer."), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("Why?")
    await chat.retry()
    await expect(chat.log).to_contain_text("2/2")
    async with delay_response(chat, "**/history?*"):
        await chat.log.get_by_role("button", name="Previous answer").click()
        await expect(chat.log).to_contain_text("1/2")
    await expect(chat.log).to_contain_text("1/2")
    await expect(chat.log).to_contain_text("The first answer.")


async def test_a_history_from_before_the_end_of_an_answer_does_not_have_it_followed_again(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    breakpoints = Breakpoints("end")
    backend.script(reply(say("Nearly."), *breakpoints.before("end"), say(" All."), stop()))
    chat = await Chat.open(await new_profile())
    followed: list[str] = []

    def note(request: Request) -> None:
        if request.url.endswith("/events"):
            followed.append(request.url)

    chat.page.on("request", note)
    await chat.ask("Why?")
    await expect(chat.log).to_contain_text("Nearly.")
    async with delay_response(chat, "**/history?*"):
        breakpoints.release()
        await chat.wait_for_answer()
    assert len(followed) == 1
    await expect(chat.log).to_contain_text("Nearly. All.")


async def test_a_history_that_comes_at_the_second_attempt_leaves_no_word_about_the_line(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    breakpoints = Breakpoints("end")
    backend.script(reply(say("Nearly."), *breakpoints.before("end"), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask("Why?")
    await expect(chat.log).to_contain_text("Nearly.")
    await chat.page.route("**/history?*", lambda route: route.abort(), times=1)
    await chat.page.evaluate("() => dispatchEvent(new Event('online'))")
    await expect(chat.page.get_by_text(RECONNECTING)).to_be_visible()
    await expect(chat.page.get_by_text(RECONNECTING)).to_have_count(0)
    breakpoints.release()
    await chat.wait_for_answer()


async def test_a_history_from_before_an_upload_does_not_hide_the_file(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    session = await backend.create_session(title="Files")
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    await chat.open_files()
    row = chat.drawer.get_by_role("button", name="Actions for notes.txt")
    async with delay_response(chat, "**/history?*"):
        await chat.attach(NOTES)
        await expect(row).to_be_visible()
    await expect(row).to_be_visible()


async def test_a_list_from_before_a_new_name_or_a_removal_does_not_undo_it(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    await backend.create_session(title="Another one")
    session = await backend.create_session(title="An old name")
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    old, new = (chat.sidebar.get_by_role("link", name=name) for name in ("An old name", "A new name"))
    await expect(old).to_be_visible()
    async with delay_response(chat, LISTS):
        await chat.rename("An old name", "A new name")
        await expect(new).to_be_visible()
    assert (await old.count(), await new.count()) == (0, 1)
    await expect(chat.page).to_have_title("A new name · Footnote")
    async with delay_response(chat, LISTS):
        await chat.remove("A new name")
        await expect(new).to_have_count(0)
    assert await new.count() == 0


async def test_a_file_that_is_taken_off_before_there_is_a_session_is_not_sent(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    chat = await Chat.open(await new_profile())
    held = HeldRequest()
    await chat.page.route("**/v2/sessions", held.handle_route, times=1)
    await chat.attach(NOTES)
    await held.sent.wait()
    await chat.attachment("notes.txt").get_by_role("button", name="Cancel").click()
    held.release()
    await expect(chat.page).to_have_url(re.compile("/s/"))
    await chat.page.wait_for_timeout(500)
    session_id = chat.page.url.rpartition("/")[2]
    assert (await backend.user.request("GET", f"/v2/sessions/{session_id}/files")).json["files"] == []


async def test_files_for_two_new_conversations_at_once_come_each_to_its_own(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    chat = await Chat.open(await new_profile())
    held = HeldRequest()
    await chat.page.route("**/v2/sessions", held.handle_route, times=1)
    await chat.attach(*({**NOTES, "name": f"first {number}.txt"} for number in range(2)))
    await held.sent.wait()
    await chat.new_conversation()
    await chat.attach({**NOTES, "name": "second.txt"})
    held.release()
    await expect(chat.page).to_have_url(re.compile("/s/"))
    await expect(chat.attachment("second.txt").get_by_role("button", name="Remove second.txt")).to_be_visible()
    await chat.open_files()
    await expect(chat.drawer).to_contain_text("second.txt")
    await expect(chat.drawer).not_to_contain_text("first")


async def test_a_file_that_failed_before_there_was_a_session_is_sent_from_the_next_new_one(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    await backend.create_session(title="Another")
    chat = await Chat.open(await new_profile())
    await chat.page.route("**/v2/sessions", lambda route: route.abort(), times=1)
    await chat.attach(NOTES)
    again = chat.attachment("notes.txt").get_by_role("button", name="Retry upload of notes.txt")
    await expect(again).to_be_visible()
    await chat.sidebar.get_by_role("link", name="Another").click()
    await expect(chat.page.get_by_role("heading", name="Another")).to_be_visible()
    await expect(again).to_have_count(0)
    await chat.new_conversation()
    await again.click()
    await expect(chat.page).to_have_url(re.compile("/s/"))
    await expect(chat.attachment("notes.txt").get_by_role("button", name="Remove notes.txt")).to_be_visible()


async def test_escape_stops_also_what_the_server_has_not_taken_yet(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    breakpoints = Breakpoints("end")
    backend.script(reply(say("Too late."), *breakpoints.before("end"), stop()))
    session = await backend.create_session(title="Stopped")
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    held = HeldRequest()
    await chat.page.route("**/messages", held.handle_route)
    await chat.ask("Why?")
    await held.sent.wait()
    await chat.press("Escape")
    await chat.press("Escape")
    held.release()
    await chat.wait_for_answer()
    await expect(chat.log).to_contain_text(re.compile("stopped", re.IGNORECASE))
    breakpoints.release()


async def test_a_session_that_is_not_in_the_list_is_said_to_be_gone_when_it_is_deleted_elsewhere(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    session = await backend.create_session(title="Hidden")
    profile = await new_profile()
    await profile.context.clock.install()
    chat = await Chat.open(profile, f"/s/{session.session_id}")
    await expect(chat.sidebar.get_by_role("link", name="Hidden")).to_be_visible()
    async with chat.page.expect_response(f"**/v2/sessions/{session.session_id}"):
        await chat.page.get_by_role("searchbox").fill("zzzz-nowhere")
    assert (await backend.user.request("DELETE", f"/v2/sessions/{session.session_id}")).status == 204
    await profile.context.clock.fast_forward(20_000)
    await expect(chat.page.get_by_text(GONE)).to_be_visible()
