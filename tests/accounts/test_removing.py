"""Removing a user removes all rows of that user, and no row of another."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

import engines
from accounts.users import add_user, log_in
from footnote.accounts.accounts import Accounts
from footnote.db import sessions
from footnote.db.engine import Database
from footnote.db.script import Either, Steps, script, sql
from footnote.library import Library, file_url
from footnote.protocol.accounts import LOCAL_USER, NewToken
from footnote.protocol.sources import Snapshot

OWNED = {
    "account": "name",
    "credential": "name",
    "shelf": "url",
    "session": "title",
    "question": "body",
    "run": "asked",
    "run_message": "body",
    "run_call": "result",
    "run_progress": "plan",
    "approval": "note",
    "standing_approval": "tool",
    "run_events": "frames",
    "digest": "text",
    "workspace_file": "path",
    "file_version": "note",
    "file_proof": "proof",
    "upload_text": "reason",
    "rendition": "notes",
    "blob": "content",
    "session_entry": "part",
    "session_terms": "text",
}
"""Every table with rows of users, and a column whose value shows the owner."""


@script
def insert_row(table: str, **values: Any) -> Steps[None]:
    """Inserts a row with these values, and harmless values in the other required columns."""
    columns = yield Either(
        sql('SELECT name, type, "notnull" AND dflt_value IS NULL FROM pragma_table_info(?)', table),
        sql(
            "SELECT column_name, data_type, is_nullable = 'NO' AND column_default IS NULL "
            "FROM information_schema.columns WHERE table_name = ? AND is_identity = 'NO' AND is_generated = 'NEVER'",
            table,
        ),
    )
    harmless = {"text": "", "blob": b"", "bytea": b""}
    row = {name: harmless.get(kind.lower(), 0) for name, kind, needed in columns if needed} | values
    for name, kind, _ in columns:
        if kind.lower() in ("blob", "bytea") and isinstance(row.get(name), str):
            row[name] = row[name].encode()
    yield sql(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", *row.values())


@script
def index_message(user_id: str, word: str) -> Steps[None]:
    session, question, run = f"session_{word}", f"question_{word}", f"run_{word}"
    yield from insert_row("session", id=session, user_id=user_id, title=word)
    yield from insert_row("question", id=question, session_id=session, body=word)
    yield from insert_row(
        "run", id=run, session_id=session, user_id=user_id, question_id=question, message_id=word, asked=word
    )
    yield from insert_row("run_message", run_id=run, body=word)
    yield from insert_row("run_call", run_id=run, call_id=word, result=word)
    yield from insert_row("run_progress", run_id=run, plan=word)
    yield from insert_row("approval", run_id=run, call_id=word, note=word)
    yield from insert_row("standing_approval", user_id=user_id, tool=word)
    ((number,),) = yield sql("SELECT number FROM run WHERE id = ?", run)
    yield from insert_row("run_events", run=number, frames=word)
    yield from insert_row("digest", run_id=run, text=word)
    for content in ("file", "rendition"):
        yield from insert_row("blob", hash=f"{content} {word}", content=word)
    yield from insert_row("workspace_file", session_id=session, path=f"/{word}.md", id=f"file_{word}")
    yield from insert_row("file_version", file_id=f"file_{word}", hash=f"file {word}", note=word)
    yield from insert_row("file_proof", file_id=f"file_{word}", proof=word)
    yield from insert_row("upload_text", file_id=f"file_{word}", reason=word)
    yield from insert_row("rendition", session_id=session, hash=f"rendition {word}", notes=word)
    yield from insert_row("search_cache", key=word, results=word)
    yield from sessions.index_part(session, word, f"{word} and other words")


def tables_holding(home: Path, word: str) -> set[str]:
    return {
        table
        for table, column in OWNED.items()
        for (value,) in engines.rows(home, f"SELECT {column} FROM {table}")
        if word in (value.decode() if isinstance(value, bytes) else str(value))
    }


async def test_all_that_is_a_users_leaves_with_them(tmp_path: Path, accounts: Accounts, database: Database) -> None:
    ann, bob = await add_user(accounts, "plantedann"), await add_user(accounts, "plantedbob")
    for user, word in ((ann, "plantedann"), (bob, "plantedbob")):
        await database.write(index_message(user.id, word))
        await accounts.issue(user.id, NewToken(word))
        await log_in(accounts, word)
        file = Snapshot(url=file_url(f"{word}.md"), text=f"{word} " * 20, title=word)
        await Library(database).for_user(user.id).add(file, f"{word}.md")
    assert tables_holding(tmp_path, "plantedann") == tables_holding(tmp_path, "plantedbob") == set(OWNED)

    await accounts.remove(ann.id)

    assert tables_holding(tmp_path, "plantedann") == set()
    assert tables_holding(tmp_path, "plantedbob") == set(OWNED)
    content = engines.contents(tmp_path).lower()
    assert b"plantedann" not in content
    assert b"plantedbob" in content
    assert [user.id for user in await accounts.users()] == [LOCAL_USER, bob.id]


@pytest.mark.embedded
def test_the_list_of_tables_is_whole(tmp_path: Path) -> None:
    """A new table with rows of users must be added to the list above."""
    connection = sqlite3.connect(":memory:")
    connection.create_function("sha256_hex", 1, str)
    migrations = Path(sessions.__file__).parent / "migrations" / "sqlite"
    for step in sorted(migrations.glob("*.sql")):
        connection.executescript(step.read_text(encoding="utf-8"))
    tables = {
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        if not name.startswith(("session_terms_", "passage_terms_"))
    }
    connection.close()
    public = {"snapshot", "reading", "page", "passage", "passage_terms", "passage_vocabulary"}
    caches = {"page_cache", "search_cache", "library_fact"}
    own = {"loose_place", "owner", "secret"}  # generated names, and the key of signed URLs
    assert tables - public - caches - own == set(OWNED)
