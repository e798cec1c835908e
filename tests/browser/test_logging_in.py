"""Who is let in, and what somebody sees who is not."""

from playwright.async_api import expect

from browser.conftest import Visit
from browser.page import Chat
from browser.stage import Stage
from server.house import PASSWORD
from upstream import reply, say, stop


async def test_the_printed_address_lets_in_once(stage: Stage, visit: Visit) -> None:
    address = await stage.login_address()
    chat = await Chat.open(await visit(cookie=None), address)
    await expect(chat.composer).to_be_visible()
    assert chat.page.url == f"{stage.origin}/"
    late = await (await visit(cookie=None)).open_tab(address)
    await expect(late.get_by_role("heading", name="Not logged in")).to_be_visible()


async def test_who_is_not_logged_in_gets_a_form_and_then_what_they_wanted(stage: Stage, visit: Visit) -> None:
    person = await stage.house.add_user("ada")
    stage.script(reply(say("Hello, Ada."), stop()))
    session_id = await person.create_session()
    await person.ask_for_events(session_id, "Hello?")
    chat = await Chat.open(await visit(cookie=None), f"/s/{session_id}")
    await chat.log_in("ada", "wrong")
    await expect(chat.page.get_by_role("alert")).to_be_visible()
    await chat.log_in("ada", PASSWORD)
    await expect(chat.log).to_contain_text("Hello, Ada.")


async def test_a_visit_that_ended_elsewhere_asks_to_log_in_again_and_keeps_the_draft(
    stage: Stage, visit: Visit
) -> None:
    person = await stage.house.add_user("ada")
    visitor = await visit(cookie=person.cookie)
    chat = await Chat.open(visitor)
    await chat.composer.fill("Half a question")
    await stage.house.app.accounts.log_out(person.cookie)
    await chat.send.click()
    await chat.log_in("ada", PASSWORD)
    await expect(chat.composer).to_have_value("Half a question")


async def test_logging_out_ends_the_visit(stage: Stage, visit: Visit) -> None:
    person = await stage.house.add_user("ada")
    visitor = await visit(cookie=person.cookie)
    chat = await Chat.open(visitor)
    await chat.open_settings()
    await chat.page.get_by_role("button", name="Log out").click()
    await expect(chat.page.get_by_label("Password", exact=True)).to_be_visible()
    assert [cookie for cookie in await visitor.context.cookies() if cookie.get("name") == "footnote_session"] == []
