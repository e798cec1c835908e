"""Uploads by button, by drop and by paste, with their progress and their errors."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Route, expect

from browser.backend import PageBackend
from browser.conftest import NewProfile
from browser.page import Chat
from browser.waiting import wait_until
from server.forms import upload_files
from upstream import reply, say, stop

NOTES = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"Kind footnotes."}

DROP = """([name, kind, text]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([text], name, { type: kind }));
  const about = { dataTransfer: transfer, bubbles: true, cancelable: true };
  for (const event of ["dragenter", "dragover", "drop"])
    document.querySelector("main").dispatchEvent(new DragEvent(event, about));
}"""
PASTE = """([name, kind, text]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([text], name, { type: kind }));
  const about = { clipboardData: transfer, bubbles: true, cancelable: true };
  document.activeElement.dispatchEvent(new ClipboardEvent("paste", about));
}"""


async def test_a_file_chosen_by_button_goes_with_the_question(backend: PageBackend, new_profile: NewProfile) -> None:
    backend.script(reply(say("It says that footnotes are kind."), stop()))
    chat = await Chat.open(await new_profile())
    await chat.attach(NOTES)
    await expect(chat.attachment("notes.txt")).to_be_visible()
    await chat.ask_and_wait("What does it say?")
    await expect(chat.log).to_contain_text("notes.txt")
    await expect(chat.attachment("notes.txt")).to_have_count(0)
    assert "notes.txt" in str(backend.upstream.requests[-1].body["messages"])
    await chat.page.reload()
    await expect(chat.log).to_contain_text("notes.txt")


async def test_a_file_that_is_dropped_is_attached(backend: PageBackend, new_profile: NewProfile) -> None:
    chat = await Chat.open(await new_profile())
    await expect(chat.composer).to_be_visible()
    await chat.page.evaluate(DROP, ["dropped.md", "text/markdown", "# Dropped"])
    await expect(chat.attachment("dropped.md")).to_be_visible()


async def test_a_file_that_is_pasted_is_attached(backend: PageBackend, new_profile: NewProfile) -> None:
    chat = await Chat.open(await new_profile())
    await chat.composer.focus()
    await chat.page.evaluate(PASTE, ["pasted.txt", "text/plain", "Pasted."])
    await expect(chat.attachment("pasted.txt")).to_be_visible()


async def test_very_long_text_that_is_pasted_becomes_a_file(backend: PageBackend, new_profile: NewProfile) -> None:
    chat = await Chat.open(await new_profile())
    await chat.composer.focus()
    await chat.page.evaluate(
        """(text) => {
          const transfer = new DataTransfer();
          transfer.setData("text/plain", text);
          const paste = new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true });
          document.activeElement.dispatchEvent(paste);
        }""",
        "long " * 2000,
    )
    await expect(chat.attachment("pasted-text.txt")).to_be_visible()
    await expect(chat.composer).to_have_value("")


async def test_a_file_that_is_refused_says_why_and_can_be_taken_off(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    chat = await Chat.open(await new_profile())
    await chat.attach({"name": "tool.exe", "mimeType": "application/octet-stream", "buffer": b"MZ" + bytes(200)})
    chip = chat.attachment("tool.exe")
    await expect(chip).to_contain_text("tool.exe")
    await expect(chat.page.get_by_text(re.compile("not taken|kind|program", re.IGNORECASE)).first).to_be_visible()
    await chip.get_by_role("button", name=re.compile("Remove|Cancel")).click()
    await expect(chat.attachment("tool.exe")).to_have_count(0)


async def test_what_is_in_the_way_of_a_question_stands_first_and_is_named(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    chat = await Chat.open(await new_profile())
    notes = [{"name": f"notes {number}.txt", "mimeType": "text/plain", "buffer": b"x" * number} for number in range(12)]
    program = {"name": "tool.exe", "mimeType": "application/octet-stream", "buffer": b"MZ" + bytes(200)}
    await chat.attach(*notes, program)
    await expect(chat.attachment("notes 11.txt")).to_contain_text("11 bytes")
    await expect(chat.attachment("notes 0.txt")).to_contain_text("0 bytes")
    first = chat.attachment(re.compile("")).first
    await expect(first).to_contain_text("tool.exe is a program")
    await expect(first).not_to_contain_text("was not taken")
    await expect(first.get_by_role("button", name="again")).to_have_count(0)
    await chat.attachment("notes 11.txt").scroll_into_view_if_needed()
    await chat.ask("What do they say?")
    await expect(chat.page.get_by_text("tool.exe couldn’t be uploaded. Remove it, then send.")).to_be_visible()
    await expect(first).to_be_in_viewport(ratio=0.9)


async def test_a_file_that_is_too_large_says_so_where_it_stands(backend: PageBackend, new_profile: NewProfile) -> None:
    profile = await new_profile()

    async def smaller(route: Route) -> None:
        response = await route.fetch()
        await route.fulfill(response=response, json={**await response.json(), "upload_bytes": 2048})

    await profile.context.route("**/v2/about", smaller)
    chat = await Chat.open(profile)
    await chat.wait_for_settings()
    await chat.attach(NOTES)
    await expect(chat.attachment("notes.txt")).to_contain_text("15 bytes")
    await chat.attach({"name": "large.txt", "mimeType": "text/plain", "buffer": b"x" * 3000})
    await expect(chat.attachment("large.txt")).to_contain_text("this server accepts files up to 2 KB")
    await chat.attachment("large.txt").get_by_role("button", name="Remove large.txt").click()
    await expect(chat.attachment("large.txt")).to_have_count(0)


async def test_a_large_file_shows_its_progress_and_can_be_broken_off(
    backend: PageBackend, new_profile: NewProfile, tmp_path: Path
) -> None:
    large = tmp_path / "large.txt"
    large.write_bytes(b"All of it. " * 2_000_000)
    profile = await new_profile()
    chat = await Chat.open(profile)
    session = await profile.context.new_cdp_session(chat.page)
    await session.send("Network.enable")
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 500_000}
    await session.send("Network.emulateNetworkConditions", slow)
    await chat.attach(str(large))
    progress = chat.page.get_by_role("progressbar").first
    await expect(progress).to_be_visible()
    await expect(chat.page).to_have_url(re.compile("/s/"))
    await chat.attachment("large.txt").get_by_role("button", name=re.compile("Remove|Cancel")).click()
    await expect(chat.attachment("large.txt")).to_have_count(0)
    session_id = chat.page.url.rpartition("/")[2]
    assert (await backend.user.request("GET", f"/v2/sessions/{session_id}/files")).json["files"] == []


async def test_files_can_be_uploaded_in_the_panel_too_and_deleted(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    session = await backend.create_session(title="Files")
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    await chat.open_files()
    async with chat.page.expect_file_chooser() as choosing:
        await chat.drawer.get_by_role("button", name=re.compile("Upload")).first.click()
    await (await choosing.value).set_files([NOTES])
    actions = chat.drawer.get_by_role("button", name="Actions for notes.txt")
    await expect(actions).to_be_visible()
    assert await session.names() == ["notes.txt"]
    await chat.choose(actions, "Delete")
    await chat.viewer.get_by_role("button", name="Delete").click()
    await expect(actions).to_have_count(0)
    assert await session.names() == []


async def test_a_conversation_is_listed_when_something_is_asked_and_not_when_a_file_is_attached(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(reply(say("It says that footnotes are kind."), stop()))
    chat = await Chat.open(await new_profile())
    await chat.attach(NOTES)
    await expect(chat.attachment("notes.txt")).to_contain_text("15 bytes")
    await expect(chat.page).to_have_url(re.compile("/s/"))
    abandoned = chat.page.url
    files = f"/v2/sessions/{abandoned.rpartition('/')[2]}/files"
    stored = await wait_until(
        lambda: backend.user.request("GET", files), lambda response: len(response.json["files"]) == 1
    )
    assert len(stored.json["files"]) == 1
    await chat.new_conversation()
    await expect(chat.page).not_to_have_url(abandoned)
    await chat.page.reload()
    await expect(chat.sidebar).to_contain_text("No conversations yet")
    # The abandoned conversation has its attachment when the user returns to it.
    await chat.page.goto(abandoned)
    await expect(chat.attachment("notes.txt")).to_be_visible()
    await chat.ask_and_wait("What does it say?")
    await expect(chat.sidebar.get_by_role("link", name="What does it say?")).to_be_visible()


async def test_a_file_is_mentioned_by_its_name_and_not_by_where_it_is_stored(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    session = await backend.create_session(title="Files")
    names = ("sample.txt", "old-plan.txt", "plan.txt", "exported.txt")
    await upload_files(backend.user, session.session_id, *((name, b"Words.") for name in names))
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    await chat.composer.press_sequentially("Read @pl")
    options = chat.page.get_by_role("option")
    await expect(options).to_have_text(["plan.txt", "old-plan.txt", "sample.txt"])
    await chat.page.keyboard.press("Enter")
    await expect(chat.attachment("plan.txt")).to_have_count(1)
    await expect(chat.attachment("exported.txt")).to_have_count(0)


@pytest.mark.parametrize(
    ("typed", "name"), [("报告", "越南报告.txt"), ("báo cáo n", "Báo cáo năng lượng.txt"), ("de c", "Đề cương.txt")]
)
async def test_a_file_is_mentioned_in_every_script_and_by_more_than_one_word(
    backend: PageBackend, new_profile: NewProfile, typed: str, name: str
) -> None:
    session = await backend.create_session(title="Files")
    names = ("plan.txt", "Đề cương.txt", "越南报告.txt", "Báo cáo năng lượng.txt")
    await upload_files(backend.user, session.session_id, *((one, b"Words.") for one in names))
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    await chat.composer.press_sequentially("Read @")
    await expect(chat.page.get_by_role("option")).to_have_count(4)
    # An input event without a key event, as an input method, dictation or the clipboard sends it.
    await chat.page.keyboard.insert_text(typed)
    await expect(chat.page.get_by_role("option")).to_have_text([name])
    await chat.page.keyboard.press("Enter")
    await expect(chat.attachment(name)).to_have_count(1)
    await expect(chat.composer).to_have_value(f"Read {name} ")
