"""Hostile uploads, inspected and read as the server does: a text or a clear message."""

from collections.abc import Callable
from pathlib import Path

import pytest

from documents.extract.pdf_builder import lines, make_pdf
from documents.office import (
    BILLION_LAUGHS,
    EXTERNAL_ENTITY,
    S,
    cells,
    docx,
    make_zip,
    mark_encrypted,
    overlapping_zip,
    paragraph,
    pptx,
    relationships_xml,
    shape,
    with_claimed_size,
    xlsx,
)
from footnote.documents.inspection import DOCX, ODS, PPTX, XLSX
from footnote.protocol.errors import UnprocessableFile, UsageError
from footnote.sandbox.jobs import DocumentText, Inspection, ReadText
from footnote.sandbox.pool import SandboxPool
from responsive import responsive
from security.hostile import CANARY, plant_canary, run_trap, svg

# One sandbox for all of them, as in a server.
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def read(sandbox: SandboxPool, filename: str, media_type: str, content: bytes) -> DocumentText:
    async with responsive():
        return await sandbox.run(ReadText(content=content, filename=filename, media_type=media_type))


def spreadsheet(rows: str) -> bytes:
    space = "urn:oasis:names:tc:opendocument:xmlns:"
    content = (
        f'<office:document-content xmlns:office="{space}office:1.0" xmlns:table="{space}table:1.0" '
        f'xmlns:text="{space}text:1.0"><office:body><office:spreadsheet><table:table table:name="One">{rows}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    manifest = f'<manifest:manifest xmlns:manifest="{space}manifest:1.0"/>'
    return make_zip({"mimetype": ODS, "content.xml": content, "META-INF/manifest.xml": manifest}, packed=False)


FAR = (
    '<table:table-row table:number-rows-repeated="1048575"><table:table-cell table:number-columns-repeated="16383" '
    'office:value-type="float" office:value="1"><text:p>1</text:p></table:table-cell></table:table-row>'
)
CORNERS = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
ENCODED = CORNERS.replace("XFD1048576", "&#88;FD1048576").replace('r="1048576"', 'r="&#49;048576"')
SELF = relationships_xml(("rId1", "slide", "presentation.xml"), ("rId2", "notesSlide", "slides/slide1.xml"))


def strings() -> str:
    return f"<sst {S}>" + "<si><t>" + "x" * 30_000_000 + "</t></si></sst>"


def pages(count: int) -> bytes:
    """A PDF that claims so many pages."""
    return make_pdf(lines("words")).replace(b"/Count 1", f"/Count {count}".encode())


# Built on demand: together they have 200 MB and take a second.
UPLOADS: dict[str, Callable[[], bytes]] = {
    "bomb.docx": lambda: docx(paragraph(" " * 50_000_000)),
    "bomb.zip": lambda: make_zip({"a": bytes(50_000_000)}),
    "claims.docx": lambda: with_claimed_size(docx(paragraph("x")), 2_000_000_000),
    "claims less.docx": lambda: with_claimed_size(docx(paragraph("x" * 100_000)), 5),
    "claims.xlsx": lambda: with_claimed_size(xlsx({"A": cells(1, 1)}), 0xFFFFFFFE),
    "overlap.zip": lambda: overlapping_zip(500),
    "laughs.docx": lambda: docx(paragraph("&j;"), prolog=BILLION_LAUGHS),
    "laughs.pptx": lambda: pptx(shape("&j;"), prolog=BILLION_LAUGHS),
    "laughs.xlsx": lambda: xlsx(
        {"A": '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'}, sharedStrings=f"{BILLION_LAUGHS}<sst>&j;</sst>"
    ),
    "laughs.svg": lambda: svg("&j;", BILLION_LAUGHS),
    "laughs.xml": f"{BILLION_LAUGHS}<a>&j;</a>".encode,
    "laughs.html": f"{BILLION_LAUGHS}<html><p>&j;&j;&j;</p></html>".encode,
    "sparse.xlsx": lambda: xlsx({"A": CORNERS}),
    "encoded.xlsx": lambda: xlsx({"A": ENCODED}),
    "strings.xlsx": lambda: xlsx({"A": cells(1, 1)}, sharedStrings=strings()),
    "far.ods": lambda: spreadsheet(FAR),
    "self.pptx": lambda: pptx(shape("x"), **{"_rels__presentation.xml.rels": SELF}),
    "macros.docx": lambda: docx(paragraph("x"), **{"vbaProject.bin": "x"}),
    "password.docx": lambda: mark_encrypted(docx(paragraph("x"))),
    "deep.docx": lambda: docx("<w:tbl><w:tr><w:tc>" * 30_000),
    "truncated.docx": lambda: docx(paragraph("words " * 1000))[:900],
    "truncated.pdf": lambda: make_pdf(lines("words"))[:300],
    "pages.pdf": lambda: pages(2_000_000_000),
    "circle.pdf": lambda: make_pdf(lines("words")).replace(b"/Kids [6 0 R]", b"/Kids [2 0 R]"),
    "deep.pdf": lambda: make_pdf(lines("words")).replace(b"/Count 1", b"/Count 1 /X " + b"[" * 200_000),
    "deep.html": lambda: b"<div>" * 300_000 + b"words",
    "deep.json": lambda: b"[" * 1_000_000,
    "quote.csv": lambda: b'"' + b"a,b\n" * 500_000,
    "lies.pdf": lambda: b"MZ\x90\0" + bytes(100),
    "lies.png": lambda: b"<!DOCTYPE html><script>alert(1)</script>",
    "zeros.txt": lambda: bytes(5_000_000),
    "line.txt": lambda: b"a" * 20_000_000,
}


@pytest.mark.parametrize("filename", UPLOADS)
async def test_a_hostile_upload_is_a_text_or_a_sentence(sandbox: SandboxPool, tmp_path: Path, filename: str) -> None:
    content = UPLOADS[filename]()
    path = tmp_path / "spooled"
    path.write_bytes(content)
    outcomes: list[object] = []
    try:
        kind = (await sandbox.run(Inspection(path=str(path), filename=filename))).media_type
        outcomes.append(await read(sandbox, filename, kind, content))
    except UsageError as error:
        outcomes.append(error.message)
    (one,) = outcomes
    if isinstance(one, DocumentText):
        assert len(one.text or one.reason) <= 2_000_000
    else:
        assert str(one).startswith(filename)


@pytest.mark.parametrize(
    ("filename", "media_type"),
    [
        *((name, DOCX) for name in ("bomb.docx", "claims.docx", "overlap.zip", "laughs.docx", "deep.docx")),
        *((name, XLSX) for name in ("claims.xlsx", "encoded.xlsx", "laughs.xlsx")),
        *((name, PPTX) for name in ("laughs.pptx", "bomb.zip")),
        ("pages.pdf", "application/pdf"),
    ],
)
async def test_what_was_never_looked_at_does_no_harm_either(
    sandbox: SandboxPool, filename: str, media_type: str
) -> None:
    try:
        assert isinstance(await read(sandbox, filename, media_type, UPLOADS[filename]()), DocumentText)
    except UnprocessableFile as error:
        assert error.message.startswith(filename)  # noqa: PT017 - either is right


@pytest.mark.parametrize(
    ("media_type", "make"),
    [
        (DOCX, lambda beginning: docx(paragraph("&x;"), prolog=beginning)),
        (PPTX, lambda beginning: pptx(shape("&x;"), prolog=beginning)),
        (
            XLSX,
            lambda beginning: xlsx(
                {"A": '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'},
                sharedStrings=f"{beginning}<sst {S}><si><t>&x;</t></si></sst>",
            ),
        ),
        ("application/xml", lambda beginning: f"{beginning}<a>&x;</a>".encode()),
        ("image/svg+xml", lambda beginning: svg("<text>&x;</text>", beginning)),
        ("text/html", lambda beginning: f"{beginning}<html><p>words &x; words</p></html>".encode()),
    ],
    ids=["docx", "pptx", "xlsx", "xml", "svg", "html"],
)
async def test_no_upload_reads_a_file_or_asks_a_server(
    sandbox: SandboxPool, tmp_path: Path, media_type: str, make
) -> None:
    canary = plant_canary(tmp_path)
    async with run_trap() as trap:
        for place in (f"file://{canary}", str(canary), trap.url("/x")):
            content = make(EXTERNAL_ENTITY.replace("file:///etc/passwd", place))
            try:
                text = await read(sandbox, "a", media_type, content)
            except UnprocessableFile as error:
                assert CANARY not in error.message  # noqa: PT017 - either is right
            else:
                assert CANARY not in (text.text or "")
