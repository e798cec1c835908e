"""The URL holds what is open: Back closes it, Forward opens it again, and a link shares it."""

import re

import pytest
import pytest_asyncio
from playwright.async_api import expect

from browser.backend import QUESTION, PageBackend, oxygen_script
from browser.conftest import NewProfile
from browser.page import Chat


@pytest_asyncio.fixture(loop_scope="session")
async def session_id(backend: PageBackend) -> str:
    backend.script(*oxygen_script())
    session_id = await backend.user.create_session(title="Names of gases")
    await backend.user.ask_for_events(session_id, QUESTION)
    return session_id


async def test_on_a_phone_back_closes_the_passage_and_stays_in_the_conversation(
    session_id: str, new_profile: NewProfile
) -> None:
    chat = await Chat.open(await new_profile(phone=True))
    await chat.page.get_by_role("button", name="Conversations", exact=True).tap()
    await chat.sidebar.get_by_role("link", name="Names of gases").tap()
    await chat.footnote(1, "supported").tap()
    await expect(chat.drawer.locator("mark").first).to_contain_text("1777")
    await expect(chat.page).to_have_url(re.compile(rf"/s/{session_id}\?source=1&passage=\d+$"))
    await chat.page.go_back()
    await expect(chat.drawer).to_have_count(0)
    await expect(chat.footnote(1, "supported")).to_be_visible()
    await expect(chat.page).to_have_url(re.compile(f"/s/{session_id}$"))
    await chat.page.go_forward()
    await expect(chat.drawer.locator("mark").first).to_contain_text("1777")
    await expect(chat.drawer).to_contain_text("Supported")
    await chat.page.go_back()
    await expect(chat.drawer).to_have_count(0)
    # Choosing the conversation closed the list, so Back leads to the page before.
    await chat.page.go_back()
    await expect(chat.page).to_have_url(re.compile("/$"))
    await expect(chat.sidebar).to_have_count(0)
    await expect(chat.log).to_have_count(0)


async def test_on_a_phone_back_closes_the_list_the_sources_and_a_file(session_id: str, new_profile: NewProfile) -> None:
    chat = await Chat.open(await new_profile(phone=True), f"/s/{session_id}")
    await expect(chat.log).to_contain_text("Lavoisier")
    await chat.page.get_by_role("button", name="Conversations", exact=True).tap()
    await expect(chat.sidebar).to_be_visible()
    await chat.page.go_back()
    await expect(chat.sidebar).to_have_count(0)
    await chat.open_sources()
    await chat.page.go_back()
    await expect(chat.drawer).to_have_count(0)
    await chat.open_files()
    await chat.open_file("oxygen.md")
    await expect(chat.page).to_have_url(re.compile(r"\?file=/oxygen\.md$"))
    await chat.page.go_back()
    await expect(chat.viewer).to_have_count(0)
    await expect(chat.drawer).to_be_visible()
    await chat.page.go_back()
    await expect(chat.drawer).to_have_count(0)
    await expect(chat.log).to_contain_text("Lavoisier")


async def test_a_link_to_a_passage_opens_it(session_id: str, new_profile: NewProfile) -> None:
    profile = await new_profile()
    chat = await Chat.open(profile, f"/s/{session_id}")
    await chat.footnote(1, "supported").click()
    await expect(chat.drawer.locator("mark").first).to_contain_text("1777")
    await expect(chat.page).to_have_url(re.compile("passage="))
    marked = await chat.drawer.locator("mark").all_inner_texts()
    other = await Chat.open(profile, chat.page.url.removeprefix(profile.origin))
    await expect(other.drawer.locator("mark").first).to_contain_text("1777")
    assert await other.drawer.locator("mark").all_inner_texts() == marked
    await expect(other.drawer).to_contain_text("Supported")
    await expect(other.drawer.locator("blockquote")).to_contain_text("was coined in 1777 by Antoine Lavoisier")
    await chat.page.reload()
    await expect(chat.drawer.locator("mark").first).to_contain_text("1777")


async def test_a_link_to_a_passage_beside_a_file_opens_both(session_id: str, new_profile: NewProfile) -> None:
    profile = await new_profile()
    chat = await Chat.open(profile, f"/s/{session_id}")
    await chat.open_files()
    await chat.open_file("oxygen.md")
    await chat.viewer.get_by_role("button", name="Footnote 1, supported").click()
    passage = chat.viewer.get_by_role("complementary", name="Passage")
    await expect(passage.locator("mark").first).to_contain_text("1777")
    await expect(chat.page).to_have_url(re.compile(r"\?file=/oxygen\.md&source=1&passage="))
    other = await Chat.open(profile, chat.page.url.removeprefix(profile.origin))
    await expect(other.viewer.get_by_role("heading", name="oxygen.md")).to_be_visible()
    beside = other.viewer.get_by_role("complementary", name="Passage")
    await expect(beside.locator("mark").first).to_contain_text("1777")
    await other.page.keyboard.press("Escape")
    await expect(beside).to_have_count(0)
    await other.page.keyboard.press("Escape")
    await expect(other.viewer).to_have_count(0)
    await expect(other.page).to_have_url(re.compile(f"/s/{session_id}$"))


async def test_what_was_closed_by_hand_costs_no_second_step_back(session_id: str, new_profile: NewProfile) -> None:
    chat = await Chat.open(await new_profile())
    await chat.page.get_by_role("link", name="Names of gases").click()
    await chat.footnote(1, "supported").click()
    await expect(chat.drawer.locator("mark").first).to_contain_text("1777")
    await chat.close_drawer()
    await chat.page.go_back()
    await expect(chat.page).to_have_url(re.compile("/$"))
    await chat.page.go_forward()
    await expect(chat.log).to_contain_text("Lavoisier")


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
async def test_back_closes_the_settings_and_stays_in_the_conversation(
    session_id: str, new_profile: NewProfile, *, phone: bool
) -> None:
    chat = await Chat.open(await new_profile(phone=phone))
    await chat.show_sidebar()
    await chat.sidebar.get_by_role("link", name="Names of gases").click()
    await expect(chat.log).to_contain_text("Lavoisier")
    await chat.open_settings()
    await expect(chat.page).to_have_url(re.compile(rf"/s/{session_id}\?panel=settings$"))
    await chat.page.go_back()
    await expect(chat.viewer).to_have_count(0)
    await expect(chat.page).to_have_url(re.compile(f"/s/{session_id}$"))
    await expect(chat.log).to_contain_text("Lavoisier")
    await chat.page.go_forward()
    await expect(chat.page.get_by_role("dialog", name="Settings")).to_be_visible()
    # Closing by hand removes the entry from the browser's history, and so does choosing from the list on a phone.
    await chat.page.keyboard.press("Escape")
    await expect(chat.viewer).to_have_count(0)
    await chat.page.go_back()
    await expect(chat.page).to_have_url(re.compile("/$"))
    await expect(chat.log).to_have_count(0)


async def test_back_takes_away_a_question_and_nothing_behind_it(session_id: str, new_profile: NewProfile) -> None:
    chat = await Chat.open(await new_profile())
    await chat.page.get_by_role("link", name="Names of gases").click()
    await expect(chat.log).to_contain_text("Lavoisier")
    await chat.choose(chat.button("Actions for “Names of gases”"), "Delete")
    question = chat.page.get_by_role("dialog", name=re.compile("Delete"))
    await expect(question).to_be_visible()
    await chat.page.go_back()
    await expect(question).to_have_count(0)
    await expect(chat.page).to_have_url(re.compile(f"/s/{session_id}$"))
    await expect(chat.log).to_contain_text("Lavoisier")
    await chat.page.go_back()
    await expect(chat.page).to_have_url(re.compile("/$"))
