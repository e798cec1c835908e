"""Things that cross each other on the way: nothing is doubled, lost, or shown where it does not belong."""

import asyncio
import re

from playwright.async_api import Browser, expect

from browser.conftest import Visit
from browser.cutting import Line
from browser.moments import Moments
from browser.page import Chat
from browser.stage import Stage
from browser.visitor import open_visitor
from browser.waiting import Held
from server.house import PASSWORD
from upstream import reply, say, stop

WORDS = [f"word{number} " for number in range(40)]
WHOLE = "".join(WORDS).strip()
GONE = re.compile("no such conversation|not found|does not exist", re.IGNORECASE)


async def test_a_history_that_overtakes_a_slow_stream_doubles_no_word(browser: Browser, stage: Stage) -> None:
    moments = Moments("middle")
    stage.script(reply(say(*WORDS[:10]), *moments.before("middle"), say(*WORDS[10:]), stop()))
    async with Line(stage.origin) as line, open_visitor(browser, line.url, cookie=stage.cookie) as visitor:
        chat = await Chat.open(visitor)
        await chat.ask("Count")
        await expect(chat.log).to_contain_text("word9")
        line.hold()
        moments.release()
        session_id = chat.page.url.rpartition("/")[2]
        while (await stage.user.request("GET", f"/v2/sessions/{session_id}/history")).json["active_run"]:
            await asyncio.sleep(0.05)
        # New connections are not held: the network is said to be back, and the history is asked for.
        await chat.page.evaluate("() => dispatchEvent(new Event('online'))")
        await expect(chat.log).to_contain_text("word39")
        line.release()
        await chat.page.wait_for_timeout(500)
        assert (await chat.log_text()).count(WHOLE) == 1


async def test_a_question_that_was_asked_before_is_not_taken_for_one_that_arrived(
    browser: Browser, stage: Stage
) -> None:
    stage.script(reply(say("Once."), stop()))
    async with Line(stage.origin) as line, open_visitor(browser, line.url, cookie=stage.cookie) as visitor:
        chat = await Chat.open(visitor)
        await chat.ask_and_wait("go on")
        line.cut()
        await chat.ask("go on")
        await expect(chat.composer).to_have_value("go on")
        line.restore()
        await chat.page.wait_for_timeout(4000)
        await expect(chat.composer).to_have_value("go on")
        await expect(chat.log.get_by_text("go on")).to_have_count(1)


async def test_who_logs_in_again_in_the_middle_of_an_answer_sees_its_end(stage: Stage, visit: Visit) -> None:
    person = await stage.house.add_user("ada")
    moments = Moments("middle")
    stage.script(reply(say(*WORDS[:10]), *moments.before("middle"), say(*WORDS[10:]), stop()))
    visitor = await visit(cookie=person.cookie)
    chat = await Chat.open(visitor)
    await chat.ask("Count")
    await expect(chat.log).to_contain_text("word9")
    await stage.house.app.accounts.log_out(person.cookie)
    await chat.page.evaluate("() => dispatchEvent(new Event('online'))")
    await expect(chat.button("Log in")).to_be_visible()
    moments.release()
    await chat.log_in("ada", PASSWORD)
    await chat.wait_for_answer()
    assert (await chat.log_text()).count(WHOLE) == 1


async def test_a_failed_edit_leaves_nothing_in_the_conversation_that_was_opened_since(
    stage: Stage, visit: Visit
) -> None:
    stage.script(reply(say("ALPHA"), stop()))
    chat = await Chat.open(await visit())
    await chat.ask_and_wait("First")
    held = Held(fails=True)
    await chat.page.route("**/edit", held.handle_route)
    await chat.edit("First", "Second")
    await held.sent.wait()
    await chat.new_conversation()
    held.release()
    await chat.page.wait_for_timeout(500)
    await expect(chat.page.get_by_role("heading", name=re.compile("Footnote"), level=1)).to_be_visible()
    await expect(chat.page.get_by_role("main")).not_to_contain_text("ALPHA")


async def test_a_new_conversation_is_not_taken_over_by_the_one_before_it(stage: Stage, visit: Visit) -> None:
    stage.script(reply(say("To the first."), stop()))
    chat = await Chat.open(await visit())
    held = Held()
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
    assert chat.page.url == f"{stage.origin}/"
    await expect(chat.composer).to_have_value("second thing")
    await chat.sidebar.get_by_role("link", name="first thing").click()
    await expect(chat.log).to_contain_text("To the first.")


async def test_a_session_that_is_deleted_elsewhere_while_it_answers_is_said_to_be_gone(
    stage: Stage, visit: Visit
) -> None:
    moments = Moments("middle")
    stage.script(reply(say("Half."), *moments.before("middle"), stop()))
    chat = await Chat.open(await visit())
    await chat.ask("Count")
    await expect(chat.log).to_contain_text("Half.")
    session_id = chat.page.url.rpartition("/")[2]
    assert (await stage.user.request("DELETE", f"/v2/sessions/{session_id}")).status == 204
    moments.release()
    # If it looked just before, it looks again in a while.
    await expect(chat.log).to_contain_text(GONE, timeout=90_000)


async def test_a_session_that_is_deleted_elsewhere_is_said_to_be_gone_also_if_the_page_looked_just_before(
    stage: Stage, visit: Visit
) -> None:
    stage.script(reply(say("All of it."), stop()))
    visitor = await visit()
    await visitor.context.clock.install()
    chat = await Chat.open(visitor)
    async with chat.page.expect_response("**/files"):
        await chat.ask_and_wait("Count")
    await expect(chat.log).to_contain_text("All of it.")
    await expect(chat.sidebar.get_by_role("link", name="Count")).to_be_visible()
    session_id = chat.page.url.rpartition("/")[2]
    assert (await stage.user.request("DELETE", f"/v2/sessions/{session_id}")).status == 204
    await visitor.context.clock.fast_forward(20_000)
    await expect(chat.log).to_contain_text(GONE)


async def test_a_search_leads_to_the_message_that_was_found(stage: Stage, visit: Visit) -> None:
    desk = await stage.create_session(title="Long")
    stage.script(*(reply(say(f"Answer {number}. " + "More of it. " * 200), stop()) for number in range(12)))
    for number in range(12):
        await stage.user.ask_for_events(
            desk.session_id, "Where is the pelican?" if number == 3 else f"Question {number}?"
        )
    chat = await Chat.open(await visit())
    await chat.show_sidebar()
    await chat.page.get_by_role("searchbox").fill("pelican")
    await chat.sidebar.get_by_role("link", name=re.compile("Where is the pelican")).click()
    await expect(chat.log.get_by_text("Where is the pelican?")).to_be_in_viewport()


async def test_who_comes_back_while_a_question_is_sent_does_not_find_it_in_the_field_again(
    stage: Stage, visit: Visit
) -> None:
    stage.script(reply(say("Yes."), stop()))
    first, second = await stage.create_session(title="First"), await stage.create_session(title="Second")
    chat = await Chat.open(await visit(), f"/s/{first.session_id}")
    held = Held()
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


async def test_a_tab_that_nobody_looks_at_lets_go_of_its_line_and_misses_nothing(stage: Stage, visit: Visit) -> None:
    moments = Moments("middle")
    stage.script(reply(say(*WORDS[:10]), *moments.before("middle"), say(*WORDS[10:]), stop()))
    chat = await Chat.open(await visit())
    await chat.ask("Count")
    await expect(chat.log).to_contain_text("word9")
    await _set_hidden(chat, away=True)
    while stage.house.site.streams:
        await asyncio.sleep(0.1)
    await expect(chat.page.get_by_text(re.compile("reconnect", re.IGNORECASE))).to_have_count(0)
    moments.release()
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
