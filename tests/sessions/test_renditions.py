"""Files of a session converted to documents, with the sources of the session."""

import zipfile
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pypdfium2
import pytest

from footnote.app import App
from footnote.protocol.errors import Unknown, UnprocessableFile
from footnote.protocol.messages import ToolCall
from footnote.protocol.sources import Snapshot, Source
from footnote.sessions.renditions import Rendition
from footnote.workspace.files import FileMissing, Workspace
from library.samples import TickingClock
from sessions.turn_writer import TurnWriter, answer, tool_calls, tool_result
from workspace.in_memory import add_upload

PAGE = Snapshot(url="https://a.example/sky", text="The sky is blue because air scatters blue light most.", title="Sky")
SOURCE = Source(
    url=PAGE.url, title="Why the sky is blue", snippet="", domain="a.example", number=1, status="read",
    snapshot_id=PAGE.id, fetched_at="2024-03-17T10:00:00Z",
)  # fmt: skip
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c636460f85f0f0002870180eb47ba920000000049454e44ae426082"
)


class ConvertHarness:
    """A session with a source."""

    def __init__(self, app: App, session_id: str) -> None:
        self.app = app
        self.session_id = session_id
        self.workspace: Workspace = app.sessions.workspace("local", session_id)

    async def convert(self, path: str, target: Any, **options: Any) -> Rendition:
        return await self.app.renditions.convert("local", self.session_id, path, target, **options)

    async def pdf_text(self, path: str) -> str:
        rendition = await self.convert(path, "pdf")
        document = pypdfium2.PdfDocument(await self.app.blobs.read(rendition.hash))
        try:
            return "\n".join(page.get_textpage().get_text_bounded() for page in document).replace("\r\n", "\n")
        finally:
            document.close()


@pytest.fixture
async def sample(tmp_path: Path) -> AsyncIterator[ConvertHarness]:
    async with App.open(home=tmp_path, environ={}) as app:
        turn_writer = TurnWriter(app._database, app.sessions, TickingClock())
        session_id = await turn_writer.session(user_id="local")
        artifact = {"query": "sky", "sources": [msgspec.to_builtins(SOURCE)]}
        messages = (
            tool_calls(ToolCall("c1", "web_search", {})),
            tool_result("c1", "Found.", artifact),
            answer("Because [1]."),
        )
        await turn_writer.turn(session_id, "Why?", *messages, user_id="local")
        yield ConvertHarness(app, session_id)


async def test_a_marker_in_a_report_becomes_a_footnote_with_its_source(sample: ConvertHarness) -> None:
    await sample.workspace.write("/report.md", "# Bầu trời\n\nTrời xanh vì tán xạ [1]. Không có [7].", message_id=None)
    text = await sample.pdf_text("/report.md")
    assert "Bầu trời" in text
    assert "Why the sky is blue" in text
    assert "a.example/sky" in text
    assert "Không có [7]." in text


async def test_the_same_document_is_made_once_and_another_text_makes_another(sample: ConvertHarness) -> None:
    await sample.workspace.write("/report.md", "# One", message_id=None)
    first = await sample.convert("/report.md", "docx")
    assert first == await sample.convert("/report.md", "docx")
    await sample.workspace.write("/report.md", "# Two", message_id=None)
    second = await sample.convert("/report.md", "docx")
    assert second.filename == first.filename == "report.docx"
    assert second.hash != first.hash
    assert "word/document.xml" in zipfile.ZipFile(BytesIO(await sample.app.blobs.read(second.hash))).namelist()


async def test_pictures_of_the_workspace_are_in_it_and_those_of_anywhere_else_are_not(sample: ConvertHarness) -> None:
    await sample.workspace.write("/notes/dot.png", PNG, message_id=None)
    await sample.workspace.write("/root.png", PNG, message_id=None)
    text = (
        "![a dot](dot.png) ![root](/root.png) ![gone](gone.png) ![far](https://a.example/x.png) ![etc](file:///etc/x)"
    )
    await sample.workspace.write("/notes/report.md", text, message_id=None)
    rendition = await sample.convert("/notes/report.md", "docx")
    names = zipfile.ZipFile(BytesIO(await sample.app.blobs.read(rendition.hash))).namelist()
    assert len([name for name in names if name.startswith("word/media/")]) == 1  # the two are the same
    assert any("gone" in note for note in rendition.notes)


async def test_code_and_tables_become_what_they_are(sample: ConvertHarness) -> None:
    await sample.workspace.write("/a.py", "print('*no emphasis*')\n```\n", message_id=None)
    assert "print('*no emphasis*')" in await sample.pdf_text("/a.py")
    await sample.workspace.write("/b.csv", 'name,price\n"*rice*, white",1|2\n', message_id=None)
    text = await sample.pdf_text("/b.csv")
    assert "*rice*, white" in text
    assert "1|2" in text


async def test_an_upload_becomes_markdown(sample: ConvertHarness) -> None:
    record = await add_upload(sample.workspace, "x.bin", b"\xff\xfe\xfd")
    with pytest.raises(UnprocessableFile):
        await sample.convert(record.path, "md")
    await sample.workspace.write("/t.md", "# Text\n", message_id=None)
    rendition = await sample.convert("/t.md", "md")
    assert (rendition.filename, await sample.app.blobs.read(rendition.hash)) == ("t.md", b"# Text\n")
    await sample.workspace.write("/t.csv", "a,b\n1,2\n", message_id=None)
    rendition = await sample.convert("/t.csv", "md")
    table = b"| a | b |\n| --- | --- |\n| 1 | 2 |\n"
    assert (rendition.filename, await sample.app.blobs.read(rendition.hash)) == ("t.md", table)


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def test_the_text_of_an_uploaded_page_is_no_code(sample: ConvertHarness) -> None:
    sentence = "The quokka is a small macropod about the size of a domestic cat. " * 5
    page = f"<html><body><article><h1>Quokkas</h1><p>{sentence}</p></article></body></html>"

    async with sample.app.uploads.spool(_pieces(page.encode())) as spooled:
        record = await sample.app.uploads.accept("local", sample.session_id, "page.html", spooled)
    rendition = await sample.convert(record.path, "md")
    text = (await sample.app.blobs.read(rendition.hash)).decode()
    assert text.startswith("# Quokkas\n\nThe quokka")
    assert "```" not in text


async def test_what_is_such_a_document_already_is_handed_out_as_it_is(sample: ConvertHarness) -> None:
    record = await add_upload(sample.workspace, "Scan.PDF", b"%PDF-1.7 as it came")
    rendition = await sample.convert(record.path, "pdf")
    assert (rendition.filename, await sample.app.blobs.read(rendition.hash)) == ("Scan.PDF", b"%PDF-1.7 as it came")


async def test_what_cannot_be_converted_says_so(sample: ConvertHarness) -> None:
    with pytest.raises(FileMissing):
        await sample.convert("/none.md", "pdf")
    with pytest.raises(Unknown):
        await sample.app.renditions.convert("ann", sample.session_id, "/none.md", "pdf")
    await sample.workspace.write("/dot.png", PNG, message_id=None)
    with pytest.raises(
        UnprocessableFile, match=r"dot\.png is no text, so it cannot be converted\. Download it as it is\."
    ):
        await sample.convert("/dot.png", "pdf")
    await sample.workspace.write("/long.md", "x" * 2_000_001, message_id=None)
    with pytest.raises(UnprocessableFile, match=r"long\.md has more than 2,000,000 bytes of text"):
        await sample.convert("/long.md", "pdf")


# Proof --------------------------------------------------------------------------------------------------------------

DOUBTFUL = "The sky is blue because air scatters blue light most [1]. It is made of 78 percent nitrogen [1].\n"


@pytest.fixture
async def read_sample(sample: ConvertHarness) -> ConvertHarness:
    """The session, with the text of its source in the library."""
    await sample.app.library.for_user("local").store(PAGE)
    return sample


async def test_a_statement_that_its_source_does_not_say_is_marked(read_sample: ConvertHarness) -> None:
    sample = read_sample
    await sample.workspace.write("/report.md", DOUBTFUL, message_id=None)
    text = " ".join((await sample.pdf_text("/report.md")).split())
    assert "2 statements were checked against their sources: 1 supported, 1 not supported (○)." in text
    assert "light most1. It is made of 78 percent nitrogen1.○a" in text
    assert "Not supported." in text


async def test_a_plain_document_has_no_mark_and_is_another_one(sample: ConvertHarness) -> None:
    await sample.workspace.write("/report.md", DOUBTFUL, message_id=None)
    marked = await sample.convert("/report.md", "docx")
    plain = await sample.convert("/report.md", "docx", proof="plain")
    assert marked.hash != plain.hash
    assert marked == await sample.convert("/report.md", "docx", proof="mark")
    document = zipfile.ZipFile(BytesIO(await sample.app.blobs.read(plain.hash))).read("word/document.xml").decode()
    assert "○" not in document


async def test_a_document_with_doubtful_statements_is_refused_on_request(read_sample: ConvertHarness) -> None:
    sample = read_sample
    await sample.workspace.write("/report.md", "\ufeff" + DOUBTFUL, message_id=None)
    for target in ("pdf", "docx", "md"):
        with pytest.raises(UnprocessableFile) as refused:
            await sample.convert("/report.md", target, proof="refuse")
        assert (refused.value.code, refused.value.params) == (
            "convert_unsupported",
            {"name": "report.md", "count": 1, "statements": 2},
        )
        (statement,) = refused.value.refused_statements
        assert (statement.statement, statement.verdict, statement.numbers) == (
            "It is made of 78 percent nitrogen [1].",
            "unsupported",
            (1,),
        )
    await sample.workspace.write("/report.md", DOUBTFUL.partition(" It is")[0], message_id=None)
    assert (await sample.convert("/report.md", "pdf", proof="refuse")).filename == "report.pdf"


async def test_a_source_that_is_read_later_makes_another_document(sample: ConvertHarness) -> None:
    await sample.workspace.write("/report.md", "Grass has 12 shades of green, say painters [2].", message_id=None)
    before = await sample.convert("/report.md", "docx")
    page = Snapshot(url="https://b.example/grass", text="Grass has 12 shades of green, say painters.", title="Grass")
    await sample.app.library.for_user("local").store(page)
    source = Source(
        url=page.url, title="Grass", snippet="", domain="b.example", number=2, status="read", snapshot_id=page.id
    )
    writer = TurnWriter(sample.app._database, sample.app.sessions, TickingClock())
    artifact = {"query": "grass", "sources": [msgspec.to_builtins(source)]}
    messages = (tool_calls(ToolCall("c2", "web_search", {})), tool_result("c2", "Found.", artifact), answer("Yes."))
    await writer.turn(sample.session_id, "And grass?", *messages, user_id="local")
    after = await sample.convert("/report.md", "docx")
    assert after.hash != before.hash


async def test_text_that_is_not_judged_is_converted_with_any_proof(sample: ConvertHarness) -> None:
    await sample.workspace.write("/a.py", "x = [1]\n", message_id=None)
    await sample.workspace.write("/b.csv", "a,b\n1,2 [1]\n", message_id=None)
    async with sample.app.uploads.spool(_pieces(b"It is made of 78 percent nitrogen [1].")) as spooled:
        upload = await sample.app.uploads.accept("local", sample.session_id, "notes.md", spooled)
    for path in ("/a.py", "/b.csv", upload.path):
        for proof in ("mark", "plain", "refuse"):
            rendition = await sample.convert(path, "docx", proof=proof)
            document = zipfile.ZipFile(BytesIO(await sample.app.blobs.read(rendition.hash))).read("word/document.xml")
            assert "statement" not in document.decode()
