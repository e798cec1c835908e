"""Migrations from every earlier version to the newest, all or nothing."""

import json
import re
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import pytest

from db.scripts import names
from footnote.db.blobs import BlobLocation, blob_location
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed
from footnote.db.files import call_note
from footnote.db.files import files as files_of
from footnote.db.library import DOCUMENTATION_FACT, list_pages

pytestmark = pytest.mark.embedded

STEPS = sorted((files("footnote.db") / "migrations" / "sqlite").iterdir(), key=lambda file: file.name)
MARK = 0x466F6F74


def test_the_steps_are_numbered_without_a_gap() -> None:
    numbers = [re.fullmatch(r"(\d{4})_[a-z_]+\.sql", step.name) for step in STEPS]
    assert [int(number.group(1)) for number in numbers if number] == list(range(1, len(STEPS) + 1))


@pytest.mark.parametrize("applied", range(len(STEPS) + 1))
async def test_a_database_of_any_earlier_format_is_brought_forward(tmp_path: Path, applied: int) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    with _raw(old) as connection:
        connection.create_function("sha256_hex", 1, lambda content: sha256(content).hexdigest())
        for step in STEPS[:applied]:
            connection.executescript(step.read_text(encoding="utf-8"))
        if applied:
            connection.execute(f"PRAGMA application_id = {MARK}")
            connection.execute(f"PRAGMA user_version = {applied}")
    for home in (old, new):
        async with Database.open("sqlite:footnote.db", home) as database:
            await database.read(names())
            await database.write(names())
    assert _format(old) == _format(new)


async def test_what_was_read_before_there_were_accounts_is_the_local_users(tmp_path: Path) -> None:
    with _raw(tmp_path) as connection:
        connection.executescript(STEPS[0].read_text(encoding="utf-8"))
        for url, kind in (
            ("https://a.example/", "web"),
            ("footnote://files/b.md", "upload"),
            ("footnote://c", DOCUMENTATION_FACT),
        ):
            text = zlib.compress(f"Text of {url}".encode())
            connection.execute("INSERT INTO snapshot VALUES (?, ?, 1)", (url, text))
            connection.execute(
                """
                INSERT INTO reading (url, snapshot_id, title, media_type, fetched_at, links, pages, kept_at)
                VALUES (?, ?, 'A title', 'text/html', '', '[]', '[]', 1)
                """,
                (url, url),
            )
            connection.execute("INSERT INTO page VALUES (?, ?, ?, NULL)", (url, url, kind))
        connection.execute(f"PRAGMA application_id = {MARK}")
        connection.execute("PRAGMA user_version = 1")
    async with Database.open("sqlite:footnote.db", tmp_path) as database:
        mine = {page.url for page in await database.read(list_pages("local")) if page.kind != DOCUMENTATION_FACT}
        others = {page.url for page in await database.read(list_pages("ann")) if page.kind != DOCUMENTATION_FACT}
    assert (mine, others) == ({"https://a.example/", "footnote://files/b.md"}, set())


async def test_files_that_were_kept_without_versions_get_their_first_ones(tmp_path: Path) -> None:
    with _raw(tmp_path) as connection:
        for step in STEPS[:2]:
            connection.executescript(step.read_text(encoding="utf-8"))
        connection.execute("INSERT INTO session VALUES ('s', 'local', 'researcher', '', 0, 'page', NULL, 'then', 1)")
        for number, (path, calls) in enumerate((("/a", {}), ("/b", {"c2": "Replaced", "c1": "Wrote"}), ("/c", {}))):
            content = b"same" if path in "/a/c" else b"other"
            row = ("s", path, f"f{number}", "generated", "then", "m1", json.dumps(calls).encode(), content)
            connection.execute("INSERT INTO workspace_file VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        connection.execute(f"PRAGMA application_id = {MARK}")
        connection.execute("PRAGMA user_version = 2")
    async with Database.open("sqlite:footnote.db", tmp_path) as database:
        rows = await database.read(files_of("local", "s"))
        found = [(row.path, row.id, row.version.number, row.version.hash, row.version.call_id) for row in rows]
        same, other = (sha256(content).hexdigest() for content in (b"same", b"other"))
        assert found == [("/a", "f0", 1, same, None), ("/b", "f1", 2, other, "c2"), ("/c", "f2", 1, same, None)]
        assert [await database.read(call_note("local", "s", "/b", "m1", call)) for call in ("c1", "c2", "c3")] == [
            "Wrote",
            "Replaced",
            None,
        ]
        assert await database.read(blob_location(same)) == BlobLocation(4, None, b"same")


async def test_files_that_later_turns_changed_go_back_to_the_turn_that_made_them(tmp_path: Path) -> None:
    with _raw(tmp_path) as connection:
        connection.create_function("sha256_hex", 1, lambda content: sha256(content).hexdigest())
        for step in STEPS[:4]:
            connection.executescript(step.read_text(encoding="utf-8"))
        connection.execute("INSERT INTO session VALUES ('s', 'local', 'researcher', '', 0, 'page', NULL, 'then', 1)")
        connection.execute("INSERT INTO blob (hash, size, content) VALUES ('h', 1, 'x')")
        for path, source, first in (("/a", "generated", "m1"), ("/b", "generated", None), ("up", "upload", None)):
            row = ("s", path, f"id of {path}", source, "then", "m3", 2, 2)
            connection.execute("INSERT INTO workspace_file VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            for number, message in ((1, first), (2, "m3")):
                author = "user" if message is None else "agent"
                version = (f"id of {path}", number, "h", author, message, None, "", "then")
                connection.execute("INSERT INTO file_version VALUES (?, ?, ?, ?, ?, ?, ?, ?)", version)
        connection.execute(f"PRAGMA application_id = {MARK}")
        connection.execute("PRAGMA user_version = 4")
    async with Database.open("sqlite:footnote.db", tmp_path) as database:
        rows = await database.read(files_of("local", "s"))
    assert {row.path: row.message_id for row in rows} == {"/a": "m1", "/b": None, "up": "m3"}


async def test_a_step_that_fails_changes_nothing(tmp_path: Path) -> None:
    with _raw(tmp_path) as connection:
        connection.execute("CREATE TABLE search_cache (in_the_way)")
        connection.execute(f"PRAGMA application_id = {MARK}")
    before = _format(tmp_path)
    async with Database.open("sqlite:footnote.db", tmp_path) as database:
        with pytest.raises(DatabaseFailed, match="search_cache already exists"):
            await database.read(names())
    assert _format(tmp_path) == before


@contextmanager
def _raw(home: Path) -> Iterator[sqlite3.Connection]:
    """Opens the file without the package."""
    connection = sqlite3.connect(home / "footnote.db")
    yield connection
    connection.commit()
    connection.close()


def _format(home: Path) -> tuple[object, ...]:
    with _raw(home) as connection:
        facts = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        return (*facts, connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall())
