"""The footnotes of a report work like those of an answer: a verdict, a passage, and a way back to the report."""

import asyncio
import re
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Route, expect

from browser import axe
from browser.backend import SEARCH, PageBackend
from browser.conftest import NewProfile
from browser.page import Chat
from browser.proof import ANSWER, CONTRADICTED, JUDGEMENTS, answered_session, judge_file
from cli.small_web import article
from server.forms import upload_files
from server.session_files import SessionFiles
from upstream import call, reply, say, stop

LITHIUM = "Recycling processes shall recover at least 50 percent of the lithium in waste batteries by 31 December 2027."
NICKEL = "For cobalt, copper, lead and nickel the level of recovered materials shall be no less than 90 percent."
COBALT = "From 18 August 2031 new electric vehicle batteries shall contain at least 16 percent recovered cobalt."
REPORT = (
    "# Batteries\n\n"
    + "A paragraph that stands before the others.\n\n" * 40
    + "New electric vehicle batteries shall contain at least 16 percent recovered cobalt [1].\n\n"
    f"{LITHIUM[:-1]} [1].\n\n"
    "It was invented in Hanoi in 1999 [1].\n"
)


@pytest_asyncio.fixture(loop_scope="session")
async def session_id(backend: PageBackend) -> str:
    """A session with a report; the answer cites another sentence of the page than the first footnote of the report."""
    backend.web.put("/en/Oxygen", article("Regulation on batteries", LITHIUM, NICKEL, COBALT))
    backend.script(
        reply(call("web_search", SEARCH, id="call_search"), stop("toolUse")),
        reply(say(f"{LITHIUM} [1]"), stop()),
        reply(call("write_file", {"file_path": "/batteries.md", "content": REPORT}, id="call_write"), stop("toolUse")),
        reply(say(f"I wrote a report. {LITHIUM[:-1]} [1]."), stop()),
    )
    session_id = await backend.user.create_session(title="Batteries")
    await backend.user.ask_for_events(session_id, "What does the law ask for?")
    return session_id


async def _open_report(chat: Chat) -> tuple[Locator, Locator]:
    """The report, and the passage beside it."""
    await chat.log.locator(".chat-file-open").click()
    await expect(chat.viewer.get_by_role("heading", name="Batteries", exact=True)).to_be_visible()
    return chat.viewer, chat.viewer.get_by_role("complementary", name="Passage")


async def test_a_footnote_of_a_report_opens_its_own_passage_beside_the_report(
    session_id: str, new_profile: NewProfile
) -> None:
    chat = await Chat.open(await new_profile(), f"/s/{session_id}")
    viewer, passage = await _open_report(chat)
    chips = viewer.get_by_role("button", name="Footnote 1, supported")
    await expect(chips).to_have_count(2)
    await chips.first.hover()
    card = chat.page.get_by_role("tooltip")
    await expect(card).to_contain_text("Supported")
    await expect(card).to_contain_text("16 percent recovered cobalt")
    scrolled = await viewer.locator(".files-scroll").evaluate("(box) => box.scrollTop")
    await chips.first.click()
    await expect(passage.locator("mark")).to_have_text(re.compile("16 percent recovered cobalt"))
    await expect(passage).to_contain_text("The file says: New electric vehicle batteries shall contain")
    await expect(viewer.get_by_role("heading", name="batteries.md")).to_be_visible()
    await chips.last.click()
    await expect(passage.locator("mark")).to_have_text(re.compile("50 percent of the lithium"))
    await chat.page.keyboard.press("Escape")
    await expect(passage).to_have_count(0)
    await expect(chips.last).to_be_focused()
    assert await viewer.locator(".files-scroll").evaluate("(box) => box.scrollTop") == scrolled
    await viewer.get_by_role("button", name="Footnote 1, not supported").click()
    await expect(passage).to_contain_text("It was invented in Hanoi in 1999")
    await chat.page.go_back()
    await expect(passage).to_have_count(0)
    await expect(viewer).to_be_visible()
    # The pointer rests where it clicked: no card opens, which would take the Escape.
    await expect(viewer.get_by_role("button", name="Footnote 1, not supported")).to_be_focused()
    await expect(card).to_have_count(0)
    await chat.page.keyboard.press("Escape")
    await expect(viewer).to_have_count(0)


async def test_on_a_phone_the_passage_covers_the_report_and_goes_back_to_it(
    session_id: str, new_profile: NewProfile
) -> None:
    chat = await Chat.open(await new_profile(phone=True), f"/s/{session_id}")
    viewer, passage = await _open_report(chat)
    chip = viewer.get_by_role("button", name="Footnote 1, supported").first
    await chip.tap()
    await expect(passage.locator("mark")).to_have_text(re.compile("16 percent recovered cobalt"))
    await expect(chip).not_to_be_visible()
    assert (await passage.bounding_box() or {})["width"] == 390
    await passage.get_by_role("button", name="Back to the file").tap()
    await expect(passage).to_have_count(0)
    await expect(chip).to_be_in_viewport()


async def test_a_report_that_comes_back_as_pdf_keeps_its_numbers_apart_from_its_footnotes(
    backend: PageBackend, session_id: str, new_profile: NewProfile
) -> None:
    chat = await Chat.open(await new_profile(), f"/s/{session_id}")
    await _open_report(chat)
    async with chat.page.expect_download() as coming:
        await chat.export("PDF")
    exported = Path(await (await coming.value).path())
    session = await backend.create_session(title="Sent on")
    await upload_files(backend.user, session.session_id, ("batteries.pdf", exported.read_bytes()))
    backend.script(
        reply(call("read_page", {"url": "footnote://files/batteries.pdf"}, id="call_read"), stop("toolUse")),
        reply(say(f"{LITHIUM[:-1]} [1]."), stop()),
    )
    await chat.page.goto(f"{backend.origin}/s/{session.session_id}")
    await chat.ask_and_wait("What does it say?")
    await chat.footnote(1, "supported").click()
    text = chat.drawer.get_by_role("region", name="Text as it was read")
    await expect(text.locator("mark").first).to_contain_text("31 December 2027¹")
    await expect(text).not_to_contain_text("20271")


async def _judged_report(
    backend: PageBackend, new_profile: NewProfile, path: str = "/report.md", **options: object
) -> tuple[Chat, Locator]:
    """A session with a report of two versions, of which the second has statements of every verdict."""
    answer = "The report is ready."
    session_id = await answered_session(backend, answer)
    session = SessionFiles(backend.user, session_id)
    await session.write(path, ONE_STATEMENT)
    await session.write(path, ANSWER, ONE_STATEMENT)
    profile = await new_profile(**options)
    await judge_file(profile.context, backend, session_id, path, {1: (CONTRADICTED,), 2: JUDGEMENTS})
    chat = await Chat.open(profile, f"/s/{session_id}?file={path}")
    await expect(chat.viewer.get_by_role("mark")).to_have_count(6)
    return chat, chat.viewer.get_by_role("complementary", name="Passage")


ONE_STATEMENT = "Recyclers in Europe have shelved **forty** plants since early 2024 [1].\n"


@pytest.mark.parametrize("path", ["/report.md", "/report.txt"])
async def test_a_file_is_marked_counted_and_mapped_like_an_answer(
    backend: PageBackend, new_profile: NewProfile, path: str
) -> None:
    chat, passage = await _judged_report(backend, new_profile, path)
    await expect(chat.viewer.locator(".proof-line")).to_contain_text("7 statements: 1 supported, 1 partly supported")
    await chat.viewer.get_by_role("option").nth(2).click()
    contradicted = chat.viewer.locator(".md-statement[data-verdict=contradicted]")
    await expect(contradicted).to_be_in_viewport()
    await chat.viewer.get_by_role("button", name="Footnote 1, the page says otherwise").click()
    await expect(passage.locator(".sources-verdict del")).to_have_text(["forty"])
    await expect(passage.locator("mark strong")).to_have_text(["nine"])
    await expect(contradicted).to_be_visible()
    await chat.viewer.get_by_role("button", name="not cited · 1: source 1 says it").click()
    await expect(passage.locator("mark")).to_have_text(re.compile("For nickel"))
    assert await axe.accessibility_violations(chat.page) == []
    if path.endswith(".txt"):
        await expect(chat.viewer.get_by_text("## What recyclers have to reach")).to_be_visible()


async def test_each_version_of_a_file_has_its_own_verdicts(backend: PageBackend, new_profile: NewProfile) -> None:
    chat, _ = await _judged_report(backend, new_profile)
    await chat.show_version(1)
    await expect(chat.viewer.locator(".proof-line")).to_have_text("1 statement: 1 contradicted")
    await expect(chat.viewer.get_by_role("mark")).to_have_count(1)
    await chat.show_version(2)
    await expect(chat.viewer.get_by_role("mark")).to_have_count(6)


async def test_a_file_whose_footnotes_are_still_checked_says_so_and_is_shown(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    answer = "The report is ready."
    session_id = await answered_session(backend, answer)
    await SessionFiles(backend.user, session_id).write("/report.md", ANSWER)
    profile = await new_profile()
    checked = asyncio.Event()

    async def later(route: Route) -> None:
        await checked.wait()
        await route.continue_()

    await profile.context.route("**/files/citations*", later)
    chat = await Chat.open(profile, f"/s/{session_id}?file=/report.md")
    await expect(chat.viewer.get_by_role("status").filter(has_text="Checking statements…")).to_be_visible()
    await expect(chat.viewer.get_by_text("Shall I look for more?")).to_be_visible()
    checked.set()
    await expect(chat.viewer.get_by_text("Checking statements…")).to_have_count(0)
    await expect(chat.viewer.locator(".proof-line")).to_be_visible()


async def test_the_marks_of_a_file_are_accessible_on_a_dark_phone(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    chat, _ = await _judged_report(backend, new_profile, phone=True, color_scheme="dark")
    assert await axe.accessibility_violations(chat.page) == []
    await chat.viewer.get_by_role("listbox").focus()
    await chat.page.keyboard.press("End")
    await chat.page.keyboard.press("Enter")
    await expect(chat.viewer.get_by_role("button", name="Footnote 7, page not read")).to_be_focused()


async def test_a_report_is_exported_with_its_marks_or_without(backend: PageBackend, new_profile: NewProfile) -> None:
    chat, _ = await _judged_report(backend, new_profile)
    for name, proof in (("PDF", "mark"), ("PDF, without marks", "plain"), ("DOCX, without marks", "plain")):
        async with chat.page.expect_request("**/files/convert") as asking, chat.page.expect_download():
            await chat.export(name)
        assert (await asking.value).post_data_json["proof"] == proof
