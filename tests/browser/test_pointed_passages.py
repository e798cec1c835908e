"""Footnotes that point to a passage which the model was given open there, and the search says which these were."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from browser.backend import NAMED, QUESTION, SEARCH, PageBackend, open_backend
from browser.conftest import NewProfile
from browser.page import Chat
from upstream import Upstream, call, reply, say, stop

COINED = "The name oxygen was coined in 1777 by Antoine Lavoisier"


@dataclass
class PointingSession:
    """A session whose answer and report point to the passage `around` of the words that say so, and to `apart`."""

    session_id: str
    around: dict[str, Any]
    apart: dict[str, Any]

    @property
    def path(self) -> str:
        return f"/s/{self.session_id}"


async def _given_evidence(backend: PageBackend, session_id: str) -> list[dict[str, Any]]:
    """The passages of source 1 that the model was given."""
    history = await backend.user.history(session_id)
    [result] = [message for message in history["messages"] if message["role"] == "tool"]
    return [passage for passage in result["artifact"]["evidence"] if passage["number"] == 1]


@pytest_asyncio.fixture(loop_scope="session")
async def pointing(backend: PageBackend) -> PointingSession:
    session_id = await backend.user.create_session(title="Names of gases")
    backend.script(
        reply(call("web_search", SEARCH, id="call_search"), stop("toolUse")),
        reply(say(NAMED), stop()),
        reply(say("Found."), stop()),
    )
    await backend.user.ask_for_events(session_id, QUESTION)
    evidence = await _given_evidence(backend, session_id)
    [around] = [passage for passage in evidence if COINED in passage["text"]]
    apart = next(passage for passage in evidence if passage is not around)
    answer = f"{COINED} [{around['id']}]. {COINED}, they say [{apart['id']}]. Robots grow bananas [{apart['id']}]."
    report = f"# Oxygen\n\n{COINED} [{around['id']}].\n\nRobots grow bananas in Hanoi [{apart['id']}].\n"
    backend.script(
        reply(call("write_file", {"file_path": "/oxygen.md", "content": report}, id="call_write"), stop("toolUse")),
        reply(say(answer), stop()),
    )
    await backend.user.ask_for_events(session_id, "And what do they say?")
    return PointingSession(session_id, around, apart)


def _first_words(passage: dict[str, Any]) -> str:
    """The beginning of the last paragraph of a passage, as the page shows it."""
    return passage["text"].rpartition("\n\n")[2][:60]


def _outlined(room: Locator) -> Locator:
    return room.get_by_role("region", name="Passage sent to the model")


async def test_a_quotation_is_marked_within_the_outlined_passage_that_the_footnote_points_to(
    pointing: PointingSession, new_profile: NewProfile
) -> None:
    chat = await Chat.open(await new_profile(), pointing.path)
    await chat.footnote(1, "supported").first.click()
    marks = chat.drawer.locator("mark:visible")
    await expect(marks).to_have_count(1)
    await expect(marks).to_contain_text(COINED)
    await expect(_outlined(chat.drawer).locator("mark")).to_contain_text(COINED)
    await expect(_outlined(chat.drawer)).to_contain_text("Oxygen was discovered independently")
    note = chat.drawer.locator(".sources-verdict")
    await expect(note).to_contain_text("The highlighted passage says so. The answer points to the outlined passage.")
    await chat.drawer.get_by_role("button", name="Next passage").click()
    await expect(note).to_contain_text("You’re viewing a different passage of this source.")
    await expect(_outlined(chat.drawer)).to_be_attached()
    await chat.drawer.get_by_role("button", name="Previous passage").click()
    await expect(marks).to_contain_text(COINED)


async def test_a_footnote_that_points_elsewhere_opens_there_and_leads_to_its_quotation(
    pointing: PointingSession, new_profile: NewProfile
) -> None:
    profile = await new_profile()
    chat = await Chat.open(profile, pointing.path)
    await chat.footnote(1, "supported").nth(1).hover()
    await expect(chat.page.get_by_role("tooltip")).to_contain_text(COINED)
    await chat.footnote(1, "supported").nth(1).click()
    note = chat.drawer.locator(".sources-verdict")
    points = "This is the passage the answer points to. The words it was checked against are elsewhere in this source."
    marks = chat.drawer.locator("mark:visible")
    for _ in range(2):
        await expect(note).to_contain_text(points)
        await expect(_outlined(chat.drawer)).to_be_in_viewport()
        await expect(_outlined(chat.drawer)).to_contain_text(_first_words(pointing.apart))
        await expect(marks.last).to_contain_text(_first_words(pointing.apart))
        await expect(chat.page).to_have_url(
            re.compile(rf"passage={pointing.apart['start']}-{pointing.apart['end']}$"),
        )
        await chat.page.reload()
    await chat.footnote(1, "supported").nth(1).click()
    await chat.drawer.get_by_role("button", name="Show those words").click()
    await expect(marks).to_contain_text(COINED)
    await expect(note).to_contain_text("The highlighted passage says so. The answer points to another passage")
    await chat.drawer.get_by_role("button", name="Show cited passage").click()
    await expect(note).to_contain_text(points)
    await expect(_outlined(chat.drawer)).to_be_in_viewport()


async def test_a_footnote_without_a_quotation_shows_the_passage_that_it_points_to(
    pointing: PointingSession, new_profile: NewProfile
) -> None:
    chat = await Chat.open(await new_profile(), pointing.path)
    chip = chat.footnote(1, "not supported")
    await chip.hover()
    card = chat.page.get_by_role("tooltip")
    await expect(card).to_contain_text("It points to this passage:")
    await expect(card).to_contain_text(_first_words(pointing.apart))
    await chip.click()
    note = chat.drawer.locator(".sources-verdict")
    await expect(note).to_contain_text("Nothing in this source supports the sentence. This is the passage the answer")
    await expect(note.get_by_role("button")).to_have_count(0)
    await expect(_outlined(chat.drawer)).to_be_in_viewport()
    await expect(_outlined(chat.drawer)).to_be_focused()


async def test_a_footnote_of_a_report_opens_the_passage_that_it_points_to(
    pointing: PointingSession, new_profile: NewProfile
) -> None:
    chat = await Chat.open(await new_profile(), pointing.path)
    await chat.log.locator(".chat-file-open").click()
    beside = chat.viewer.get_by_role("complementary", name="Passage")
    await chat.viewer.get_by_role("button", name="Footnote 1, supported").click()
    await expect(beside).to_contain_text("The file points to the outlined passage.")
    await expect(_outlined(beside).locator("mark")).to_contain_text(COINED)
    await chat.viewer.get_by_role("button", name="Footnote 1, not supported").click()
    await expect(beside).to_contain_text("This is the passage the file points to.")
    await expect(_outlined(beside)).to_contain_text(_first_words(pointing.apart))


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
async def test_the_search_says_which_passages_the_model_was_given_and_opens_each(
    pointing: PointingSession, new_profile: NewProfile, *, phone: bool
) -> None:
    chat = await Chat.open(await new_profile(phone=phone), pointing.path)
    card = chat.log.locator(".chat-tool").first
    await card.get_by_role("button").first.click()
    await card.get_by_text("Sent to the model").click()
    await expect(card.locator(".chat-given")).to_contain_text(re.compile(r"^\d+ passages from 2 sources"))
    await card.get_by_role("button", name=f"Open passage {pointing.apart['id']} of “Oxygen”").click()
    await expect(chat.drawer).to_contain_text("This passage was sent to the model.")
    await expect(_outlined(chat.drawer)).to_be_in_viewport()
    await expect(_outlined(chat.drawer)).to_contain_text(_first_words(pointing.apart))
    await expect(chat.drawer.locator(".sources-verdict")).to_have_count(0)


async def test_a_search_without_a_summary_says_so_and_shows_no_empty_box(
    upstream: Upstream, tmp_path: Path, new_profile: NewProfile
) -> None:
    async with open_backend(tmp_path / "other", upstream, FOOTNOTE_TOOLS_WEB_SEARCH_SUMMARY="false") as backend:
        session_id = await backend.user.create_session(title="Names of gases")
        backend.script(
            reply(call("web_search", SEARCH, id="call_search"), stop("toolUse")), reply(say("Found."), stop())
        )
        await backend.user.ask_for_events(session_id, QUESTION)
        profile = await new_profile(cookie=None)
        await profile.context.add_cookies(
            [{"name": "footnote_session", "value": backend.cookie, "url": backend.origin, "httpOnly": True}]
        )
        profile.origin = backend.origin
        chat = await Chat.open(profile, f"/s/{session_id}")
        card = chat.log.locator(".chat-tool")
        await card.get_by_role("button").first.click()
        await card.get_by_text("Search log").click()
        await expect(card).to_contain_text("No summary")
        await card.get_by_text("Sent to the model").click()
        await expect(card.get_by_role("group", name="Sent to the model").last).to_have_text(re.compile("^Sources:"))
        empty = (
            "(card) => [...card.querySelectorAll('div, p, pre, li, details')].filter((one) => !one.innerText.trim())"
        )
        assert await card.evaluate(f"(card) => ({empty})(card).length") == 0
