"""The list of conversations: found, renamed, deleted; and a long one."""

import asyncio

from playwright.async_api import expect

from browser.conftest import Visit
from browser.page import Chat
from browser.stage import Stage
from server.house import script_answer
from upstream import hold, reply, say, stop


async def test_a_conversation_is_found_by_what_was_said_in_it(stage: Stage, visit: Visit) -> None:
    stage.script(reply(say("Rayleigh scattering makes it so."), stop()), reply(say("Of milk."), stop()))
    for question in ("Why is the sky blue?", "What is cheese made of?"):
        desk = await stage.create_session()
        await stage.user.ask_for_events(desk.session_id, question)
    chat = await Chat.open(await visit())
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


async def test_a_conversation_is_renamed_and_deleted(stage: Stage, visit: Visit) -> None:
    desk = await stage.create_session(title="An old name")
    chat = await Chat.open(await visit(), f"/s/{desk.session_id}")
    await chat.rename("An old name", "A new name")
    await expect(chat.page.get_by_role("heading", name="A new name")).to_be_visible()
    await expect(chat.page).to_have_title("A new name · Footnote")
    await chat.remove("A new name")
    await expect(chat.page.get_by_text("Conversation deleted.")).to_be_visible()
    await expect(chat.sidebar.get_by_role("link", name="A new name")).to_have_count(0)
    assert chat.page.url == f"{stage.origin}/"
    assert (await stage.user.request("GET", f"/v2/sessions/{desk.session_id}")).status == 404


async def test_of_a_long_conversation_the_end_is_drawn_and_the_rest_on_demand(stage: Stage, visit: Visit) -> None:
    script_answer(stage.upstream, "Yes.")
    desk = await stage.create_session()
    for number in range(60):
        await stage.user.ask_for_events(desk.session_id, f"Question number {number:02}?")
    chat = await Chat.open(await visit(), f"/s/{desk.session_id}")
    await expect(chat.log).to_contain_text("Question number 59?")
    await expect(chat.log.get_by_text("Question number 59?")).to_be_in_viewport()
    await expect(chat.log).not_to_contain_text("Question number 05?")
    await chat.button("Load earlier").click()
    await expect(chat.log).to_contain_text("Question number 00?")
    await expect(chat.log.get_by_text("Question number 10?")).to_be_in_viewport()


async def test_a_running_answer_is_followed_until_somebody_scrolls_up(stage: Stage, visit: Visit) -> None:
    go = asyncio.Event()
    lines = [f"Line {number}.\n\n" for number in range(60)]
    more = [f"Line {number}.\n\n" for number in range(60, 120)]
    stage.script(reply(say(*lines), hold(go), say(*more), stop()))
    chat = await Chat.open(await visit())
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
