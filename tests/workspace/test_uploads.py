"""Uploads are stored unchanged, or refused with a message and without a trace."""

import asyncio
import io
import os
import zipfile
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote

import pytest

from documents.office import BILLION_LAUGHS, docx, paragraph
from footnote.app import App
from footnote.protocol.errors import LimitReached, TooLarge, Unknown, UnprocessableFile, UsageError, WrongKind
from footnote.protocol.files import FileRecord
from footnote.sandbox.pool import SandboxPool
from footnote.workspace.export import zip_workspace as archived
from footnote.workspace.files import FileMissing, NotText
from footnote.workspace.uploads import Uploads
from workspace.hostile import HOSTILE_NAMES as NAMES

AGAIN = "upload it again to have that tried once more"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    async with App.open(home=tmp_path / "home", environ={"FOOTNOTE_LIMITS_UPLOAD_BYTES": "3000000"}) as opened:
        yield opened


@pytest.fixture
async def session_id(app: App) -> str:
    return (await app.sessions.create("local", "researcher")).id


async def pieces(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), 1000):
        yield content[start : start + 1000]


async def upload(app: App, session_id: str, name: str, content: bytes, user_id: str = "local") -> FileRecord:
    async with app.uploads.spool(pieces(content)) as spooled:
        return await app.uploads.accept(user_id, session_id, name, spooled)


def make_zip(*files: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return buffer.getvalue()


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("footnote.db")]


async def test_a_spooled_upload_is_a_file_that_is_gone_afterwards(app: App) -> None:
    async with app.uploads.spool(pieces(b"x" * 2500)) as spooled:
        assert spooled.path.read_bytes() == b"x" * 2500
        assert (spooled.size, spooled.sha256) == (2500, sha256(b"x" * 2500).hexdigest())
        assert spooled.path.stat().st_mode & 0o077 == 0
    assert not spooled.path.exists()


async def test_more_than_one_upload_may_be_is_refused_before_it_is_all_there(app: App) -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 1
            yield b"x" * 100_000

    with pytest.raises(TooLarge, match=r"larger than 3,000,000 bytes, the most that is taken here\. Send"):
        async with app.uploads.spool(endless()):
            raise AssertionError
    assert read == 31


async def test_an_upload_is_kept_byte_for_byte_with_its_text(app: App, session_id: str) -> None:
    content = "\ufeffTên;Giá\r\nGạo;1\r\n".encode()
    record = await upload(app, session_id, "bảng giá.csv", content)
    workspace = app.sessions.workspace("local", session_id)
    assert record == FileRecord(
        id=record.id,
        path=f"local://uploads/local/{record.id}/bảng giá.csv",
        filename="bảng giá.csv",
        icon_type="csv",
        source="upload",
        created_at=record.created_at,
        url=f"uploads/local/{record.id}/bảng giá.csv",
        message_id=None,
    )
    assert await workspace.list() == (record,)
    assert await workspace.read(record.path) == content
    assert "Tên;Giá" in await workspace.extracted_text("bảng giá.csv")
    (version,) = await workspace.versions(record.path)
    assert (version.author, version.hash) == ("user", sha256(content).hexdigest())


async def test_a_name_in_its_other_unicode_form_is_the_same_name(app: App, session_id: str) -> None:
    record = await upload(app, session_id, "ba\u0301o ca\u0301o.txt", b"x")
    assert record.filename == "báo cáo.txt"


async def test_the_same_file_many_times_at_once_is_one(app: App, session_id: str) -> None:
    names = ["re\u0301sume\u0301.txt", "r\u00e9sum\u00e9.txt"] * 3
    records = await asyncio.gather(*(upload(app, session_id, name, b"one") for name in names))
    assert len({record.id for record in records}) == 1
    assert len(await app.sessions.workspace("local", session_id).list()) == 1


async def test_the_same_file_again_is_the_one_that_is_there(app: App, session_id: str) -> None:
    first = await upload(app, session_id, "a.txt", b"one")
    assert await upload(app, session_id, "a.txt", b"one") == first
    other = await upload(app, session_id, "b.txt", b"one")
    changed = await upload(app, session_id, "a.txt", b"two")
    assert len({first.id, other.id, changed.id}) == 3


async def test_the_same_large_content_lies_in_the_storage_once(app: App, session_id: str, tmp_path: Path) -> None:
    content = b"line of text\n" * 100_000
    await upload(app, session_id, "a.txt", content)
    other = (await app.sessions.create("local", "researcher")).id
    await upload(app, other, "b.txt", content)
    (lying,) = files_below(tmp_path / "home" / "files")
    assert lying.read_bytes() == content
    assert lying.name.startswith(sha256(content).hexdigest())
    await app.sessions.delete("local", session_id)
    assert len(files_below(tmp_path / "home" / "files")) == 1
    await app.sessions.delete("local", other)
    assert files_below(tmp_path / "home" / "files") == []


async def test_no_name_becomes_a_path_of_the_host(app: App, session_id: str, tmp_path: Path) -> None:
    before = {path for path in tmp_path.rglob("*") if not path.name.startswith("footnote.db")}
    accepted = 0
    last_parts = {name.replace("\\", "/").rpartition("/")[2]: name for name in NAMES}
    for number, name in enumerate(last_parts.values()):
        try:
            record = await upload(app, session_id, name, f"text {number}".encode())
        except UsageError:
            continue
        accepted += 1
        workspace = app.sessions.workspace("local", session_id)
        assert unquote(record.url) == f"uploads/local/{record.id}/{record.filename}"
        assert "/" not in record.filename
        assert await workspace.read(record.path) == f"text {number}".encode()
    assert accepted > len(last_parts) // 2
    assert {path for path in tmp_path.rglob("*") if not path.name.startswith("footnote.db")} - before <= {
        tmp_path / "home" / "files",
        tmp_path / "home" / "spool",
    }


async def test_what_is_refused_leaves_nothing(app: App, session_id: str, tmp_path: Path) -> None:
    for name, content in (
        ("report.pdf", b"<html>not a PDF</html>" * 5000),
        ("tool.exe", b"MZ\x90\x00" + bytes(100_000)),
        ("photo.png", b"<script>alert(1)</script>"),
    ):
        with pytest.raises(UsageError) as refused:
            await upload(app, session_id, name, content)
        assert name in refused.value.message
    assert await app.sessions.workspace("local", session_id).list() == ()
    assert files_below(tmp_path / "home") == []


async def test_a_file_without_text_is_kept_and_says_why_it_has_none(app: App, session_id: str) -> None:
    record = await upload(app, session_id, "a.zip", make_zip(("a.txt", b"x")))
    assert record.icon_type == "archive"
    with pytest.raises(NotText, match=r"a\.zip has no text to be read: "):
        await app.sessions.workspace("local", session_id).extracted_text(record.path)


@pytest.mark.parametrize(
    ("name", "content", "icon", "why"),
    [
        ("a.pdf", b"%PDF-1.4 fake", "pdf", "it is broken: no PDF reader can open it"),
        ("a.docx", b"PK\x03\x04" + b"junk" * 50, "docx", "it is damaged"),
        ("a.docx", docx("<w:p>"), "docx", "it is damaged"),
        ("a.xlsx", b"PK\x03\x04 junk", "xlsx", "it is damaged"),
        ("b.zip", b"PK\x03\x04 junk", "archive", "it is damaged"),
        ("a.bin", bytes(range(256)) * 4, "file", "it is of a kind that is not known here"),
        (
            "a.tar.gz",
            b"\x1f\x8b\x08" + bytes(99),
            "archive",
            "it is an archive of a kind that is not unpacked here; pack its files as .zip",
        ),
        ("a.gif", b"GIF89a" + bytes(99), "image", "it is an image"),
    ],
)
async def test_what_cannot_be_read_is_kept_as_it_came_and_says_why(
    app: App, session_id: str, name: str, content: bytes, icon: str, why: str
) -> None:
    record = await upload(app, session_id, name, content)
    workspace = app.sessions.workspace("local", session_id)
    assert record.icon_type == icon
    assert await workspace.list() == (record,)
    assert await workspace.read(record.path) == content
    with pytest.raises(NotText) as raised:
        await workspace.extracted_text(record.path)
    assert raised.value.message == f"{name} has no text to be read: {why}."
    assert not [hit for hit in await app.library.search(name, 5) if hit.url.startswith("footnote://files/")]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("killed SIGALRM", "it takes too long to be read: split it into smaller files"),
        ("killed SIGKILL", "it is too large to be read: split it into smaller files"),
        ("fail", "it is damaged, or there is a mistake in Footnote"),
        (
            "missing",
            'reading such files needs packages that are not installed: pip install "footnote[documents]"',
        ),
    ],
)
async def test_what_no_process_can_read_is_kept_all_the_same(app: App, session_id: str, name: str, why: str) -> None:
    async with SandboxPool(worker="sandbox.scripted_worker:work") as sandbox:
        app.uploads = Uploads(app._database, app.blobs, app.library, sandbox, app.spool, max_bytes=10_000)
        record = await upload(app, session_id, name, b"words")
    with pytest.raises(NotText) as raised:
        await app.sessions.workspace("local", session_id).extracted_text(record.path)
    assert raised.value.message == f"{name} has no text to be read: {why}; {AGAIN}."


@pytest.mark.parametrize("head", [b"\x89PNG\r\n\x1a\n", b"ID3\4", b"\x1aE\xdf\xa3", b"\x1f\x8b\x08", b"\1\2\3\4"])
async def test_what_holds_no_text_is_not_read(app: App, session_id: str, head: bytes) -> None:
    # The scripted worker fails for a file of this name.
    async with SandboxPool(worker="sandbox.scripted_worker:work") as sandbox:
        app.uploads = Uploads(app._database, app.blobs, app.library, sandbox, app.spool, max_bytes=10_000)
        record = await upload(app, session_id, "fail", head + bytes(20))
    with pytest.raises(NotText) as raised:
        await app.sessions.workspace("local", session_id).extracted_text(record.path)
    assert "mistake in Footnote" not in raised.value.message


async def test_what_is_made_to_do_harm_is_refused_by_its_reading(app: App, session_id: str) -> None:
    with pytest.raises(UnprocessableFile, match=r"a\.docx declares entities, which can be made to expand without end"):
        await upload(app, session_id, "a.docx", docx(paragraph("&j;"), prolog=BILLION_LAUGHS))
    assert await app.sessions.workspace("local", session_id).list() == ()


async def test_a_zip_is_unpacked_on_request(app: App, session_id: str) -> None:
    content = make_zip(
        ("notes/một.md", "# Một".encode()), ("../../data.csv", b"a,b"), ("__MACOSX/x", b"junk"), ("d/", b"")
    )
    record = await upload(app, session_id, "all.zip", content)
    unpacked = await app.uploads.unpack("local", session_id, record.path)
    assert sorted(one.filename for one in unpacked) == ["data.csv", "một.md"]
    workspace = app.sessions.workspace("local", session_id)
    assert await workspace.read_text("một.md") == "# Một"
    with pytest.raises(WrongKind, match=r"một\.md is not a zip file"):
        await app.uploads.unpack("local", session_id, "một.md")
    with pytest.raises(FileMissing):
        await app.uploads.unpack("local", session_id, "nothing.zip")


async def test_files_of_a_zip_keep_their_folders(app: App, session_id: str) -> None:
    content = make_zip(
        ("a/b.txt", b"first"), ("a/c/b.txt", b"second"), ("../..\\up/b.txt", b"third"), ("b.txt", b"first")
    )
    record = await upload(app, session_id, "all.zip", content)
    unpacked = await app.uploads.unpack("local", session_id, record.path)
    names = ["a/b.txt", "a/c/b.txt", "up/b.txt", "b.txt"]
    assert [one.url.split("/", 3)[3] for one in unpacked] == names
    assert [one.filename for one in unpacked] == ["b.txt"] * 4
    workspace = app.sessions.workspace("local", session_id)
    assert [await workspace.extracted_text(name) for name in names] == ["first", "second", "third", "first"]
    assert [await workspace.extracted_text(one.path) for one in unpacked] == ["first", "second", "third", "first"]
    assert await app.uploads.unpack("local", session_id, record.path) == unpacked
    archive = b"".join([piece async for piece in archived(workspace)])
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        assert set(opened.namelist()) == {"uploads/all.zip", *(f"uploads/{name}" for name in names)}


async def test_one_file_of_a_zip_that_is_not_taken_does_not_keep_out_the_others(app: App, session_id: str) -> None:
    content = make_zip(("a.txt", b"a"), ("run.txt", b"MZ\x90\x00" + bytes(200)), ("fake.pdf", b"no"), ("z.txt", b"z"))
    record = await upload(app, session_id, "all.zip", content)
    with pytest.raises(WrongKind) as refused:
        await app.uploads.unpack("local", session_id, record.path)
    assert "run.txt was not taken: " in refused.value.message
    assert "fake.pdf was not taken: " in refused.value.message
    assert refused.value.message.endswith("2 other files were taken.")
    names = {one.filename for one in await app.sessions.workspace("local", session_id).list()}
    assert names == {"all.zip", "a.txt", "z.txt"}


async def test_nobody_brings_anything_into_a_session_of_somebody_else(app: App, session_id: str) -> None:
    with pytest.raises(Unknown):
        await upload(app, session_id, "a.txt", b"x", user_id="ann")
    with pytest.raises(Unknown):
        await upload(app, "session_0", "a.txt", b"x")


async def test_the_room_of_a_user_is_kept(app: App, session_id: str) -> None:
    app.uploads = Uploads(
        app._database, app.blobs, app.library, app.sandbox, app.spool, max_bytes=10_000, max_user_bytes=1000
    )
    await upload(app, session_id, "a.txt", b"x" * 800)
    with pytest.raises(LimitReached, match="would have 1,600 bytes; this server allows 1,000"):
        await upload(app, session_id, "b.txt", b"y" * 800)
    assert len(await app.sessions.workspace("local", session_id).list()) == 1


async def test_what_an_upload_says_is_found_by_the_library(app: App, session_id: str) -> None:
    text = "The quokka is a small macropod about the size of a domestic cat. " * 3
    await upload(app, session_id, "quokka.md", f"# Quokkas\n\n{text}".encode())
    other = (await app.sessions.create("local", "researcher")).id
    await upload(app, other, "quokka.md", f"# Other\n\n{text} Rottnest Island.".encode())
    hits = await app.library.search("quokka macropod", 5)
    assert sorted(hit.url for hit in hits) == ["footnote://files/quokka-2.md", "footnote://files/quokka.md"]


async def test_what_a_killed_process_left_in_the_spool_is_removed(app: App, tmp_path: Path) -> None:
    spool = tmp_path / "home" / "spool"
    spool.mkdir(parents=True)
    old, young, other = spool / "footnote-old", spool / "footnote-young", spool / "mine"
    for file in (old, young, other):
        file.write_bytes(b"x")
    for file in (old, other):
        os.utime(file, (1, 1))
    async with app.uploads.spool(pieces(b"x")) as spooled:
        assert set(spool.iterdir()) == {young, other, spooled.path}
