"""Logging in, and the page before it."""

from playwright.async_api import expect

from browser.backend import PageBackend
from browser.conftest import NewProfile
from browser.page import Chat
from server.harness import PASSWORD
from upstream import reply, say, stop


async def test_the_printed_address_lets_in_once(backend: PageBackend, new_profile: NewProfile) -> None:
    address = await backend.login_address()
    chat = await Chat.open(await new_profile(cookie=None), address)
    await expect(chat.composer).to_be_visible()
    assert chat.page.url == f"{backend.origin}/"
    late = await (await new_profile(cookie=None)).open_tab(address)
    await expect(late.get_by_role("heading", name="Not signed in")).to_be_visible()


async def test_who_is_not_logged_in_gets_a_form_and_then_what_they_wanted(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    client = await backend.server.add_user("ada")
    backend.script(reply(say("Hello, Ada."), stop()))
    session_id = await client.create_session()
    await client.ask_for_events(session_id, "Hello?")
    chat = await Chat.open(await new_profile(cookie=None), f"/s/{session_id}")
    await chat.log_in("ada", "wrong")
    await expect(chat.page.get_by_role("alert")).to_be_visible()
    await chat.log_in("ada", PASSWORD)
    await expect(chat.log).to_contain_text("Hello, Ada.")


async def test_a_visit_that_ended_elsewhere_asks_to_log_in_again_and_keeps_the_draft(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    client = await backend.server.add_user("ada")
    profile = await new_profile(cookie=client.cookie)
    chat = await Chat.open(profile)
    await chat.composer.fill("Half a question")
    await backend.server.app.accounts.log_out(client.cookie)
    await chat.send.click()
    await chat.log_in("ada", PASSWORD)
    await expect(chat.composer).to_have_value("Half a question")


async def test_logging_out_ends_the_visit(backend: PageBackend, new_profile: NewProfile) -> None:
    client = await backend.server.add_user("ada")
    profile = await new_profile(cookie=client.cookie)
    chat = await Chat.open(profile)
    await chat.open_settings()
    await chat.page.get_by_role("button", name="Sign out").click()
    await expect(chat.page.get_by_label("Password", exact=True)).to_be_visible()
    assert [cookie for cookie in await profile.context.cookies() if cookie.get("name") == "footnote_session"] == []
