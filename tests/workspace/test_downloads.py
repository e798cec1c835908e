"""Download URLs for an hour: bound to a user, a session and a content."""

import base64
from collections.abc import AsyncIterator
from urllib.parse import unquote

import pytest

from footnote.db.engine import Database
from footnote.library import Library
from footnote.protocol.errors import Unknown
from footnote.sessions.store import Sessions
from footnote.storage.local import MemoryStorage
from footnote.workspace.blobs import Blobs
from footnote.workspace.downloads import EXPIRY_SECONDS, PATH, Downloads
from library.samples import TickingClock

NAME = "báo cáo / 1%.pdf"


class DownloadsHarness:
    def __init__(self, database: Database) -> None:
        self.clock = TickingClock()
        self.blobs = Blobs(database, MemoryStorage())
        self.sessions = Sessions(database, Library(database), self.blobs)
        self.downloads = Downloads(database, self.blobs, clock=self.clock)

    async def begin(self) -> str:
        """Writes a file into a session, and returns its download token."""
        self.session_id = (await self.sessions.create("local", "researcher")).id
        self.workspace = self.sessions.workspace("local", self.session_id)
        await self.workspace.write("/a.pdf", b"%PDF content", message_id=None)
        (version,) = await self.workspace.versions("/a.pdf")
        self.url = await self.downloads.create_url("local", self.session_id, version.hash, NAME)
        return self.url.removeprefix(PATH).partition("/")[0]


@pytest.fixture
async def harness() -> AsyncIterator[DownloadsHarness]:
    async with Database.in_memory() as database:
        yield DownloadsHarness(database)


async def test_a_content_can_be_fetched_under_its_name_for_an_hour(harness: DownloadsHarness) -> None:
    token = await harness.begin()
    assert unquote(harness.url) == f"{PATH}{token}/{NAME}"
    assert "/" not in harness.url.removeprefix(f"{PATH}{token}/")
    for asker in ("local", None):
        download = await harness.downloads.open(token, asker)
        assert (download.filename, download.media_type, download.size) == (NAME, "application/pdf", 12)
        assert [piece async for piece in download.read(1, 4)] == [b"PDF"]
        assert await download.signed_url() is None
    harness.clock.time += EXPIRY_SECONDS - 10
    await harness.downloads.open(token, None)
    harness.clock.time += 10
    with pytest.raises(Unknown, match="Addresses expire after an hour"):
        await harness.downloads.open(token, None)


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
async def test_what_is_packed_is_not_called_what_is_inside(
    harness: DownloadsHarness, name: str, media_type: str
) -> None:
    await harness.begin()
    (version,) = await harness.workspace.versions("/a.pdf")
    url = await harness.downloads.create_url("local", harness.session_id, version.hash, name)
    download = await harness.downloads.open(url.removeprefix(PATH).partition("/")[0], None)
    assert download.media_type == media_type


async def test_it_is_nothing_to_somebody_else(harness: DownloadsHarness) -> None:
    token = await harness.begin()
    with pytest.raises(Unknown):
        await harness.downloads.open(token, "ann")


async def test_it_goes_with_its_content_and_its_session(harness: DownloadsHarness) -> None:
    token = await harness.begin()
    await harness.workspace.write("/a.pdf", b"other", message_id=None)
    await harness.downloads.open(token, None)  # an earlier version
    await harness.workspace.delete("/a.pdf")
    with pytest.raises(Unknown):
        await harness.downloads.open(token, None)
    await harness.workspace.write("/again.pdf", b"%PDF content", message_id=None)
    await harness.downloads.open(token, None)
    await harness.sessions.delete("local", harness.session_id)
    with pytest.raises(Unknown):
        await harness.downloads.open(token, None)


async def test_the_content_of_another_session_is_not_opened_by_it(harness: DownloadsHarness) -> None:
    token = await harness.begin()
    (version,) = await harness.workspace.versions("/a.pdf")
    other = (await harness.sessions.create("local", "researcher")).id
    url = await harness.downloads.create_url("local", other, version.hash, NAME)
    with pytest.raises(Unknown):
        await harness.downloads.open(url.removeprefix(PATH).partition("/")[0], "local")
    await harness.downloads.open(token, "local")


async def test_what_was_changed_by_one_bit_is_refused(harness: DownloadsHarness) -> None:
    token = await harness.begin()
    raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    for place in range(len(raw)):
        changed = bytearray(raw)
        changed[place] ^= 1
        with pytest.raises(Unknown):
            await harness.downloads.open(base64.urlsafe_b64encode(bytes(changed)).decode().rstrip("="), None)
    for odd in ("", "x", "é", "a" * 10_000, token + "A", token[:-2], "....", "=" * 50):
        with pytest.raises(Unknown):
            await harness.downloads.open(odd, None)


async def test_another_process_on_the_same_database_opens_it(harness: DownloadsHarness) -> None:
    token = await harness.begin()
    other = Downloads(harness.downloads._database, harness.blobs, clock=harness.clock)
    assert (await other.open(token, None)).filename == NAME
