"""The list of conversations: search, rename, delete, and a long list."""

import asyncio

from playwright.async_api import expect

from browser.backend import PageBackend
from browser.conftest import NewProfile
from browser.page import Chat
from server.harness import script_answer
from upstream import hold, reply, say, stop


async def test_a_conversation_is_found_by_what_was_said_in_it(backend: PageBackend, new_profile: NewProfile) -> None:
    backend.script(reply(say("Rayleigh scattering makes it so."), stop()), reply(say("Of milk."), stop()))
    for question in ("Why is the sky blue?", "What is cheese made of?"):
        session = await backend.create_session()
        await backend.user.ask_for_events(session.session_id, question)
    chat = await Chat.open(await new_profile())
    await expect(chat.sidebar.get_by_role("link", name="What is cheese made of?")).to_be_visible()
    search = chat.page.get_by_role("searchbox")
    await search.fill("Rayleigh")
    await expect(chat.sidebar.get_by_role("link", name="Why is the sky blue?")).to_be_visible()
    await expect(chat.sidebar.get_by_role("link", name="What is cheese made of?")).to_have_count(0)
    await chat.sidebar.get_by_role("link", name="Why is the sky blue?").click()
    await expect(chat.log).to_contain_text("Rayleigh scattering makes it so.")
    await search.press("Escape")
    await expect(chat.sidebar.get_by_role("link", name="What is cheese made of?")).to_be_visible()
    await search.fill("zzzz-nowhere")
    await expect(chat.sidebar).to_contain_text("zzzz-nowhere")


async def test_a_conversation_is_renamed_and_deleted(backend: PageBackend, new_profile: NewProfile) -> None:
    session = await backend.create_session(title="An old name")
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    await chat.rename("An old name", "A new name")
    await expect(chat.page.get_by_role("heading", name="A new name")).to_be_visible()
    await expect(chat.page).to_have_title("A new name · Footnote")
    await chat.remove("A new name")
    await expect(chat.page.get_by_text("Conversation deleted.")).to_be_visible()
    await expect(chat.sidebar.get_by_role("link", name="A new name")).to_have_count(0)
    assert chat.page.url == f"{backend.origin}/"
    assert (await backend.user.request("GET", f"/v2/sessions/{session.session_id}")).status == 404


async def test_of_a_long_conversation_the_end_is_drawn_and_the_rest_on_demand(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    script_answer(backend.upstream, "Yes.")
    session = await backend.create_session()
    for number in range(60):
        await backend.user.ask_for_events(session.session_id, f"Question number {number:02}?")
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    await expect(chat.log).to_contain_text("Question number 59?")
    await expect(chat.log.get_by_text("Question number 59?")).to_be_in_viewport()
    await expect(chat.log).not_to_contain_text("Question number 05?")
    await chat.button("Load earlier").click()
    await expect(chat.log).to_contain_text("Question number 00?")
    await expect(chat.log.get_by_text("Question number 10?")).to_be_in_viewport()


async def test_a_running_answer_is_followed_until_somebody_scrolls_up(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    go = asyncio.Event()
    lines = [f"Line {number}.\n\n" for number in range(60)]
    more = [f"Line {number}.\n\n" for number in range(60, 120)]
    backend.script(reply(say(*lines), hold(go), say(*more), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask("Count")
    await expect(chat.log.get_by_text("Line 59.")).to_be_in_viewport()
    await chat.log.hover()
    await chat.page.mouse.wheel(0, -600)
    await expect(chat.button("Jump to latest")).to_be_visible()
    go.set()
    await chat.wait_for_answer()
    await expect(chat.log.get_by_text("Line 119.")).not_to_be_in_viewport()
    await chat.button("Jump to latest").click()
    await expect(chat.log.get_by_text("Line 119.")).to_be_in_viewport()
