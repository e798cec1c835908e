"""The viewer of every kind of file; comparing and restoring versions; exports."""

import re
import zipfile
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from browser.backend import PageBackend
from browser.conftest import NewProfile
from browser.page import Chat
from browser.samples import FILES
from browser.waiting import wait_until
from documents.office import W, docx, paragraph
from server.forms import upload_files
from server.session_files import SessionFiles

HAS_INK = """(canvas) => {
  if (!canvas.width) return false;
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.some((part, at) => at % 4 < 3 && part < 128);
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def session(backend: PageBackend) -> SessionFiles:
    """A session with one file of every kind, one of them in two versions."""
    session = await backend.create_session(title="Files of all kinds")
    response = await upload_files(backend.user, session.session_id, *FILES.items())
    assert response.status == 201, response
    await session.write("/report.md", "# Report\n\nThe first line.\n\nAn old line.\n")
    await session.write(
        "/report.md", "# Report\n\nThe first line.\n\nA new line.\n", "# Report\n\nThe first line.\n\nAn old line.\n"
    )
    return session


async def _open_in_viewer(new_profile: NewProfile, session: SessionFiles, name: str) -> Chat:
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    await chat.open_files()
    await chat.open_file(name)
    return chat


async def test_markdown_is_set(session: SessionFiles, new_profile: NewProfile) -> None:
    viewer = (await _open_in_viewer(new_profile, session, "notes.md")).viewer
    await expect(viewer.get_by_role("heading", name="Notes", exact=True)).to_be_visible()
    await expect(viewer.get_by_role("listitem").filter(has_text="one")).to_be_visible()
    await viewer.get_by_role("tab", name="Source").click()
    await expect(viewer).to_contain_text("A *short* list:")


async def test_code_is_shown_with_its_lines(session: SessionFiles, new_profile: NewProfile) -> None:
    viewer = (await _open_in_viewer(new_profile, session, "double.py")).viewer
    await expect(viewer).to_contain_text("def double(number: int) -> int:")


async def test_a_csv_file_is_a_table(session: SessionFiles, new_profile: NewProfile) -> None:
    viewer = (await _open_in_viewer(new_profile, session, "rivers.csv")).viewer
    await expect(viewer.get_by_role("columnheader", name="river")).to_be_visible()
    await expect(viewer.get_by_role("cell", name="Sông Hồng")).to_be_visible()


async def test_a_workbook_has_its_sheets(session: SessionFiles, new_profile: NewProfile) -> None:
    viewer = (await _open_in_viewer(new_profile, session, "budget.xlsx")).viewer
    await expect(viewer.get_by_role("cell", name="12.5")).to_be_visible()
    await viewer.get_by_role("tab", name="Income").click()
    await expect(viewer.get_by_role("cell", name="a reader")).to_be_visible()


async def test_a_pdf_is_drawn_and_its_text_can_be_selected(session: SessionFiles, new_profile: NewProfile) -> None:
    viewer = (await _open_in_viewer(new_profile, session, "bridges.pdf")).viewer
    await expect(viewer.locator("canvas").first).to_be_visible()
    await expect(viewer).to_contain_text("Concrete bridges of the nineteenth century")
    await expect(viewer).to_contain_text(re.compile("of 2"))
    # The text layer is added while the page is still drawn.
    assert await wait_until(lambda: viewer.locator("canvas").first.evaluate(HAS_INK), bool)


async def test_a_letter_is_shown_as_the_agent_reads_it(session: SessionFiles, new_profile: NewProfile) -> None:
    viewer = (await _open_in_viewer(new_profile, session, "letter.docx")).viewer
    await expect(viewer).to_contain_text("footnotes are kind to you.")


async def test_a_picture_is_shown(session: SessionFiles, new_profile: NewProfile) -> None:
    viewer = (await _open_in_viewer(new_profile, session, "chart.png")).viewer
    picture = viewer.get_by_role("img", name="chart.png")
    await expect(picture).to_be_visible()
    await expect(picture).to_have_js_property("naturalWidth", 320)


async def test_a_web_page_is_alive_in_its_frame(session: SessionFiles, new_profile: NewProfile) -> None:
    profile = await new_profile()
    # Chromium logs the scripts that the frame's policy blocked.
    profile.expected_problems.append("Blocked script execution")
    chat = await Chat.open(profile, f"/s/{session.session_id}")
    await chat.open_files()
    await chat.open_file("page.html")
    viewer = chat.viewer
    heading = viewer.frame_locator("iframe").get_by_role("heading")
    await expect(heading).to_have_text("Built by hand")
    await viewer.get_by_role("button", name="Run scripts").click()
    await expect(heading).to_have_text("Built by hand and alive")
    await viewer.get_by_role("button", name="Reload preview").click()
    await expect(heading).to_have_text("Built by hand and alive")


async def test_a_long_text_is_shown_from_its_beginning(session: SessionFiles, new_profile: NewProfile) -> None:
    lines = b"".join(b"line %06d of a log" % number + b" that is long" * 23 + b"\n" for number in range(9_000))
    noise = b"word " * 4_000 + b"\xff" * 3_000_000
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    for name, content in {"long.log": lines, "noise.txt": noise}.items():
        await chat.attach({"name": name, "mimeType": "text/plain", "buffer": content})
        await expect(chat.attachment(name).get_by_role("button", name=f"Remove {name}")).to_be_visible()
    await chat.open_files()
    await chat.open_file("long.log")
    note, more = chat.viewer.get_by_text("Showing the first"), chat.viewer.get_by_role("button", name="Show more")
    text = chat.viewer.locator("code")
    await expect(note).to_have_text("Showing the first 1 MB of 2.7 MB.")
    shown_text = await text.inner_text()
    assert lines.decode().startswith(f"{shown_text}\n")
    await more.click()
    await expect(note).to_have_text("Showing the first 2 MB of 2.7 MB.")
    await more.click()
    await expect(note).to_have_count(0)
    shown_text = await text.inner_text()
    assert shown_text == lines.decode().rstrip("\n")
    await expect(more).to_have_count(0)
    await chat.page.keyboard.press("Escape")
    await chat.open_file("noise.txt")
    await expect(chat.viewer).to_contain_text("no readable text")


async def test_broken_json_is_a_text_that_says_so(session: SessionFiles, new_profile: NewProfile) -> None:
    await session.write("/broken.json", '{"a": 1,')
    await session.write("/rows.jsonl", '{"a": 1}\n{"a": 2}\n')
    chat = await _open_in_viewer(new_profile, session, "broken.json")
    await expect(chat.viewer).to_contain_text("Not valid JSON")
    await expect(chat.viewer).to_contain_text('{"a": 1,')
    await chat.page.keyboard.press("Escape")
    await chat.open_file("rows.jsonl")
    await expect(chat.viewer).to_contain_text('{"a": 2}')
    await expect(chat.viewer).not_to_contain_text("not valid JSON")


async def test_the_first_version_is_compared_with_the_second(session: SessionFiles, new_profile: NewProfile) -> None:
    chat = await _open_in_viewer(new_profile, session, "report.md")
    await chat.show_version(1)
    await chat.viewer.get_by_role("tab", name="Changes").click()
    await expect(chat.viewer).to_contain_text("An old line.")
    await expect(chat.viewer).to_contain_text("A new line.")


async def test_the_way_back_does_not_lose_what_is_being_written(session: SessionFiles, new_profile: NewProfile) -> None:
    chat = await Chat.open(await new_profile())
    await chat.page.get_by_role("link", name="Files of all kinds").first.click()
    await chat.open_files()
    await chat.open_file("report.md")
    await chat.viewer.get_by_role("button", name="Edit").click()
    await chat.viewer.get_by_role("textbox").fill("Mine.")
    address = chat.page.url
    await chat.page.evaluate("() => history.back()")
    await chat.page.get_by_role("button", name="Cancel").last.click()
    await expect(chat.viewer.get_by_role("textbox")).to_have_value("Mine.")
    await expect(chat.page).to_have_url(address)
    await chat.page.evaluate("() => history.back()")
    await chat.page.get_by_role("button", name="Discard").click()
    await expect(chat.viewer).to_have_count(0)
    await expect(chat.drawer).to_be_visible()
    await chat.page.evaluate("() => history.back()")
    await chat.page.wait_for_url("**/")


async def test_versions_are_compared_and_restored(session: SessionFiles, new_profile: NewProfile) -> None:
    chat = await _open_in_viewer(new_profile, session, "report.md")
    await expect(chat.viewer).to_contain_text("A new line.")
    await chat.viewer.get_by_role("tab", name="Changes").click()
    await expect(chat.viewer).to_contain_text("An old line.")
    await expect(chat.viewer).to_contain_text("A new line.")
    await chat.viewer.get_by_role("tab", name="View").click()
    await chat.show_version(1)
    await expect(chat.viewer).to_contain_text("An old line.")
    await chat.viewer.get_by_role("button", name="Restore this version").click()
    await chat.viewer.get_by_role("button", name="Restore", exact=True).click()
    await expect(chat.viewer.get_by_role("button", name="Version 3 of 3")).to_be_visible()
    await expect(chat.viewer).to_contain_text("An old line.")
    versions = (await session.request("GET", "/versions", file_path="/report.md")).json["versions"]
    assert [one["number"] for one in versions] == [3, 2, 1]


@pytest.mark.parametrize(
    ("name", "kind", "start"),
    [("report.md", "PDF", b"%PDF-"), ("report.md", "DOCX", b"PK\x03\x04"), ("letter.docx", "Markdown", b"Dear reader")],
)
async def test_a_file_comes_in_another_form(
    session: SessionFiles, new_profile: NewProfile, tmp_path: Path, name: str, kind: str, start: bytes
) -> None:
    chat = await _open_in_viewer(new_profile, session, name)
    async with chat.page.expect_download(timeout=60_000) as downloading:
        await chat.export(kind)
    download = await downloading.value
    await download.save_as(tmp_path / "exported")
    assert (tmp_path / "exported").read_bytes().startswith(start)
    suffix = {"PDF": "pdf", "DOCX": "docx", "Markdown": "md"}[kind]
    assert download.suggested_filename == f"{name.partition('.')[0]}.{suffix}"


async def test_all_files_come_as_one_archive_and_the_session_as_a_bundle(
    session: SessionFiles, new_profile: NewProfile, tmp_path: Path
) -> None:
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    for item in ("Download all files", "Export with proof"):
        await chat.button("More options for this conversation").click()
        async with chat.page.expect_download() as downloading:
            await chat.page.get_by_role("menuitem", name=item).click()
        download = await downloading.value
        await download.save_as(tmp_path / "some.zip")
        assert any("report.md" in name for name in zipfile.ZipFile(tmp_path / "some.zip").namelist())


async def test_what_somebody_edits_is_a_new_version_and_a_change_in_between_is_not_overwritten(
    session: SessionFiles, new_profile: NewProfile
) -> None:
    chat = await _open_in_viewer(new_profile, session, "report.md")
    await chat.viewer.get_by_role("button", name="Edit").click()
    text = chat.viewer.get_by_role("textbox")
    await text.fill("# Report\n\nMy own line.\n")
    await text.press("Control+s")
    await expect(chat.viewer.get_by_role("textbox")).to_have_count(0)
    await expect(chat.viewer).to_contain_text("My own line.")
    await chat.viewer.get_by_role("button", name="Edit").click()
    await session.write("/report.md", "# Report\n\nSomebody else's line.\n", "# Report\n\nMy own line.\n")
    await chat.viewer.get_by_role("textbox").fill("# Report\n\nA late line.\n")
    await chat.viewer.get_by_role("button", name="Save").click()
    await expect(chat.viewer.get_by_text(re.compile("changed", re.IGNORECASE)).first).to_be_visible()
    content = (await session.request("GET", "/content", file_path="/report.md")).json["content"]
    assert "Somebody else's line." in content


async def test_escape_closes_a_menu_and_not_the_file_behind_it(session: SessionFiles, new_profile: NewProfile) -> None:
    chat = await _open_in_viewer(new_profile, session, "notes.md")
    await chat.viewer.get_by_role("button", name=re.compile("^Actions for")).click()
    await expect(chat.page.get_by_role("menu")).to_be_visible()
    await chat.page.keyboard.press("Escape")
    await expect(chat.page.get_by_role("menu")).to_have_count(0)
    await expect(chat.viewer).to_be_visible()


async def test_a_note_of_a_word_file_is_marked_once_and_by_its_own_number(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    session = await backend.create_session(title="Notes of Word")
    mark = '<w:r><w:footnoteReference w:customMarkFollows="1" w:id="{0}"/><w:t>{1}</w:t></w:r>'.format
    words = "<w:r><w:t>{0}</w:t></w:r>".format
    body = f"<w:p>{words('From 2024')}{mark(1, 1)}{words(' on, all of it by 2027')}{mark(2, 3)}{words('.')}</w:p>"
    notes = "".join(f'<w:footnote w:id="{name}">{paragraph(text)}</w:footnote>' for name, text in ((1, "A"), (2, "B")))
    content = docx(body, footnotes=f"<w:footnotes {W}>{notes}</w:footnotes>")
    await upload_files(backend.user, session.session_id, ("law.docx", content))
    viewer = (await _open_in_viewer(new_profile, session, "law.docx")).viewer
    text = viewer.locator(".files-document p").first
    await expect(text).to_have_text("From 20241 on, all of it by 20273.")
    await expect(text.locator("sup")).to_have_text(["1", "3"])
    await expect(viewer.get_by_role("list", name="Notes").get_by_role("listitem")).to_have_text(["A↩", "B↩"])
