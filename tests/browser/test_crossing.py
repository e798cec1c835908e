"""Requests and events that overtake each other: nothing is doubled, lost, or shown in the wrong place."""

import asyncio
import re

from playwright.async_api import Browser, expect

from browser.backend import PageBackend
from browser.breakpoints import Breakpoints
from browser.browser_profile import open_profile
from browser.conftest import NewProfile
from browser.event_proxy import EventProxy
from browser.page import Chat
from browser.waiting import HeldRequest
from server.harness import PASSWORD
from upstream import reply, say, stop

WORDS = [f"word{number} " for number in range(40)]
WHOLE = "".join(WORDS).strip()
GONE = re.compile("no such conversation|not found|does not exist", re.IGNORECASE)


async def test_a_history_that_overtakes_a_slow_stream_doubles_no_word(browser: Browser, backend: PageBackend) -> None:
    breakpoints = Breakpoints("middle")
    backend.script(reply(say(*WORDS[:10]), *breakpoints.before("middle"), say(*WORDS[10:]), stop()))
    async with EventProxy(backend.origin) as proxy, open_profile(browser, proxy.url, cookie=backend.cookie) as profile:
        chat = await Chat.open(profile)
        await chat.ask("Count")
        await expect(chat.log).to_contain_text("word9")
        proxy.hold()
        breakpoints.release()
        session_id = chat.page.url.rpartition("/")[2]
        while (await backend.user.request("GET", f"/v2/sessions/{session_id}/history")).json["active_run"]:
            await asyncio.sleep(0.05)
        # New connections are not held: an `online` event makes the page load the history.
        await chat.page.evaluate("() => dispatchEvent(new Event('online'))")
        await expect(chat.log).to_contain_text("word39")
        proxy.release()
        await chat.page.wait_for_timeout(500)
        assert (await chat.log_text()).count(WHOLE) == 1


async def test_a_question_that_was_asked_before_is_not_taken_for_one_that_arrived(
    browser: Browser, backend: PageBackend
) -> None:
    backend.script(reply(say("Once."), stop()))
    async with EventProxy(backend.origin) as proxy, open_profile(browser, proxy.url, cookie=backend.cookie) as profile:
        chat = await Chat.open(profile)
        await chat.ask_and_wait("go on")
        proxy.cut()
        await chat.ask("go on")
        await expect(chat.composer).to_have_value("go on")
        proxy.restore()
        await chat.page.wait_for_timeout(4000)
        await expect(chat.composer).to_have_value("go on")
        await expect(chat.log.get_by_text("go on")).to_have_count(1)


async def test_who_logs_in_again_in_the_middle_of_an_answer_sees_its_end(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    client = await backend.server.add_user("ada")
    breakpoints = Breakpoints("middle")
    backend.script(reply(say(*WORDS[:10]), *breakpoints.before("middle"), say(*WORDS[10:]), stop()))
    profile = await new_profile(cookie=client.cookie)
    chat = await Chat.open(profile)
    await chat.ask("Count")
    await expect(chat.log).to_contain_text("word9")
    await backend.server.app.accounts.log_out(client.cookie)
    await chat.page.evaluate("() => dispatchEvent(new Event('online'))")
    await expect(chat.button("Sign in")).to_be_visible()
    breakpoints.release()
    await chat.log_in("ada", PASSWORD)
    await chat.wait_for_answer()
    assert (await chat.log_text()).count(WHOLE) == 1


async def test_a_failed_edit_leaves_nothing_in_the_conversation_that_was_opened_since(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(reply(say("ALPHA"), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("First")
    held = HeldRequest(fails=True)
    await chat.page.route("**/edit", held.handle_route)
    await chat.edit("First", "Second")
    await held.sent.wait()
    await chat.new_conversation()
    held.release()
    await chat.page.wait_for_timeout(500)
    await expect(chat.page.get_by_role("heading", name=re.compile("Footnote"), level=1)).to_be_visible()
    await expect(chat.page.get_by_role("main")).not_to_contain_text("ALPHA")


async def test_a_new_conversation_is_not_taken_over_by_the_one_before_it(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(reply(say("To the first."), stop()))
    chat = await Chat.open(await new_profile())
    held = HeldRequest()
    await chat.page.route(
        "**/v2/sessions",
        lambda route: held.handle_route(route) if route.request.method == "POST" else route.continue_(),
    )
    await chat.ask("first thing")
    await held.sent.wait()
    await chat.new_conversation()
    await chat.composer.fill("second thing")
    held.release()
    await expect(chat.sidebar.get_by_role("link", name="first thing")).to_be_visible()
    assert chat.page.url == f"{backend.origin}/"
    await expect(chat.composer).to_have_value("second thing")
    await chat.sidebar.get_by_role("link", name="first thing").click()
    await expect(chat.log).to_contain_text("To the first.")


async def test_a_session_that_is_deleted_elsewhere_while_it_answers_is_said_to_be_gone(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    breakpoints = Breakpoints("middle")
    backend.script(reply(say("Half."), *breakpoints.before("middle"), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask("Count")
    await expect(chat.log).to_contain_text("Half.")
    session_id = chat.page.url.rpartition("/")[2]
    assert (await backend.user.request("DELETE", f"/v2/sessions/{session_id}")).status == 204
    breakpoints.release()
    # The page polls, so a missed check is repeated later.
    await expect(chat.log).to_contain_text(GONE, timeout=90_000)


async def test_a_session_that_is_deleted_elsewhere_is_said_to_be_gone_also_if_the_page_looked_just_before(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(reply(say("All of it."), stop()))
    profile = await new_profile()
    await profile.context.clock.install()
    chat = await Chat.open(profile)
    async with chat.page.expect_response("**/files"):
        await chat.ask_and_wait("Count")
    await expect(chat.log).to_contain_text("All of it.")
    await expect(chat.sidebar.get_by_role("link", name="Count")).to_be_visible()
    session_id = chat.page.url.rpartition("/")[2]
    assert (await backend.user.request("DELETE", f"/v2/sessions/{session_id}")).status == 204
    await profile.context.clock.fast_forward(20_000)
    await expect(chat.log).to_contain_text(GONE)


async def test_a_search_leads_to_the_message_that_was_found(backend: PageBackend, new_profile: NewProfile) -> None:
    session = await backend.create_session(title="Long")
    backend.script(*(reply(say(f"Answer {number}. " + "More of it. " * 200), stop()) for number in range(12)))
    for number in range(12):
        await backend.user.ask_for_events(
            session.session_id, "Where is the pelican?" if number == 3 else f"Question {number}?"
        )
    chat = await Chat.open(await new_profile())
    await chat.show_sidebar()
    await chat.page.get_by_role("searchbox").fill("pelican")
    await chat.sidebar.get_by_role("link", name=re.compile("Where is the pelican")).click()
    await expect(chat.log.get_by_text("Where is the pelican?")).to_be_in_viewport()


async def test_who_comes_back_while_a_question_is_sent_does_not_find_it_in_the_field_again(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(reply(say("Yes."), stop()))
    first, second = await backend.create_session(title="First"), await backend.create_session(title="Second")
    chat = await Chat.open(await new_profile(), f"/s/{first.session_id}")
    held = HeldRequest()
    await chat.page.route("**/messages", held.handle_route)
    await chat.ask("Is it so?")
    await held.sent.wait()
    await chat.sidebar.get_by_role("link", name="Second").click()
    await expect(chat.page.get_by_role("heading", name="Second")).to_be_visible()
    await chat.sidebar.get_by_role("link", name="First").click()
    await expect(chat.page.get_by_role("heading", name="First")).to_be_visible()
    await expect(chat.composer).to_have_value("")
    held.release()
    await expect(chat.log).to_contain_text("Yes.")
    await expect(chat.composer).to_have_value("")
    assert second.session_id not in chat.page.url


async def test_a_tab_that_nobody_looks_at_lets_go_of_its_line_and_misses_nothing(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    breakpoints = Breakpoints("middle")
    backend.script(reply(say(*WORDS[:10]), *breakpoints.before("middle"), say(*WORDS[10:]), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask("Count")
    await expect(chat.log).to_contain_text("word9")
    await _set_hidden(chat, away=True)
    while backend.server.site.streams:
        await asyncio.sleep(0.1)
    await expect(chat.page.get_by_text(re.compile("reconnect", re.IGNORECASE))).to_have_count(0)
    breakpoints.release()
    await _set_hidden(chat, away=False)
    await chat.wait_for_answer()
    assert (await chat.log_text()).count(WHOLE) == 1


async def _set_hidden(chat: Chat, *, away: bool) -> None:
    await chat.page.evaluate(
        """(away) => {
          Object.defineProperty(document, "hidden", { configurable: true, get: () => away });
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        away,
    )
