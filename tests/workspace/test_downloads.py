"""Addresses for an hour: bound to a user, a session and a content."""

import base64
from collections.abc import AsyncIterator
from urllib.parse import unquote

import pytest

from footnote.db.engine import Database
from footnote.library import Library
from footnote.protocol.errors import Unknown
from footnote.sessions.store import Sessions
from footnote.storage.memory import MemoryStorage
from footnote.workspace.blobs import Blobs
from footnote.workspace.downloads import EXPIRY_SECONDS, PATH, Downloads
from library.pages import Clock

NAME = "báo cáo / 1%.pdf"


class Desk:
    def __init__(self, database: Database) -> None:
        self.clock = Clock()
        self.blobs = Blobs(database, MemoryStorage())
        self.sessions = Sessions(database, Library(database), self.blobs)
        self.downloads = Downloads(database, self.blobs, clock=self.clock)

    async def begin(self) -> str:
        """A token for a file of a session."""
        self.session_id = (await self.sessions.create("local", "researcher")).id
        self.workspace = self.sessions.workspace("local", self.session_id)
        await self.workspace.write("/a.pdf", b"%PDF content", message_id=None)
        (version,) = await self.workspace.versions("/a.pdf")
        self.url = await self.downloads.create_url("local", self.session_id, version.hash, NAME)
        return self.url.removeprefix(PATH).partition("/")[0]


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with Database.in_memory() as database:
        yield Desk(database)


async def test_a_content_can_be_fetched_under_its_name_for_an_hour(desk: Desk) -> None:
    token = await desk.begin()
    assert unquote(desk.url) == f"{PATH}{token}/{NAME}"
    assert "/" not in desk.url.removeprefix(f"{PATH}{token}/")
    for asker in ("local", None):
        download = await desk.downloads.open(token, asker)
        assert (download.filename, download.media_type, download.size) == (NAME, "application/pdf", 12)
        assert [piece async for piece in download.read(1, 4)] == [b"PDF"]
        assert await download.signed_url() is None
    desk.clock.time += EXPIRY_SECONDS - 10
    await desk.downloads.open(token, None)
    desk.clock.time += 10
    with pytest.raises(Unknown, match="Addresses expire after an hour"):
        await desk.downloads.open(token, None)


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.tgz", "application/gzip"),
        ("a.tar.bz2", "application/x-bzip2"),
        ("a.csv.xz", "application/x-xz"),
        ("a.svgz", "application/gzip"),
        ("a.svg", "image/svg+xml"),
        ("a.html.br", "application/octet-stream"),
        ("a", "application/octet-stream"),
    ],
)
async def test_what_is_packed_is_not_called_what_is_inside(desk: Desk, name: str, media_type: str) -> None:
    await desk.begin()
    (version,) = await desk.workspace.versions("/a.pdf")
    url = await desk.downloads.create_url("local", desk.session_id, version.hash, name)
    download = await desk.downloads.open(url.removeprefix(PATH).partition("/")[0], None)
    assert download.media_type == media_type


async def test_it_is_nothing_to_somebody_else(desk: Desk) -> None:
    token = await desk.begin()
    with pytest.raises(Unknown):
        await desk.downloads.open(token, "ann")


async def test_it_goes_with_its_content_and_its_session(desk: Desk) -> None:
    token = await desk.begin()
    await desk.workspace.write("/a.pdf", b"other", message_id=None)
    await desk.downloads.open(token, None)  # an earlier version
    await desk.workspace.delete("/a.pdf")
    with pytest.raises(Unknown):
        await desk.downloads.open(token, None)
    await desk.workspace.write("/again.pdf", b"%PDF content", message_id=None)
    await desk.downloads.open(token, None)
    await desk.sessions.delete("local", desk.session_id)
    with pytest.raises(Unknown):
        await desk.downloads.open(token, None)


async def test_the_content_of_another_session_is_not_opened_by_it(desk: Desk) -> None:
    token = await desk.begin()
    (version,) = await desk.workspace.versions("/a.pdf")
    other = (await desk.sessions.create("local", "researcher")).id
    url = await desk.downloads.create_url("local", other, version.hash, NAME)
    with pytest.raises(Unknown):
        await desk.downloads.open(url.removeprefix(PATH).partition("/")[0], "local")
    await desk.downloads.open(token, "local")


async def test_what_was_changed_by_one_bit_is_refused(desk: Desk) -> None:
    token = await desk.begin()
    raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    for place in range(len(raw)):
        changed = bytearray(raw)
        changed[place] ^= 1
        with pytest.raises(Unknown):
            await desk.downloads.open(base64.urlsafe_b64encode(bytes(changed)).decode().rstrip("="), None)
    for odd in ("", "x", "é", "a" * 10_000, token + "A", token[:-2], "....", "=" * 50):
        with pytest.raises(Unknown):
            await desk.downloads.open(odd, None)


async def test_another_process_on_the_same_database_opens_it(desk: Desk) -> None:
    token = await desk.begin()
    other = Downloads(desk.downloads._database, desk.blobs, clock=desk.clock)
    assert (await other.open(token, None)).filename == NAME
