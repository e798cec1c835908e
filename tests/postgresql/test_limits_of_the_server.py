"""What PostgreSQL refuses and SQLite accepts is handled or reported."""

import secrets
from pathlib import Path

import asyncpg
import pytest

from footnote.app import App
from footnote.db import runs, sessions
from footnote.db.engine import Database
from footnote.db.errors import DatabaseRefused
from footnote.db.script import Steps, script, sql
from footnote.library import Library
from footnote.text.search_terms import terms_of
from library.samples import page
from postgresql.test_commits import increment
from postgresql.test_together import _add_users, new_run, question


async def test_an_id_of_any_length_that_a_provider_makes_up(database: Database) -> None:
    await _add_users(database, 1)
    await database.write(runs.create_run(new_run(0, "session_0"), question(0), max_active=1))
    lease, call_id = runs.Lease("run_0", 0), "call" + secrets.token_urlsafe(5000)
    await database.write(runs.start_call(lease, call_id))
    await database.write(runs.start_call(lease, call_id))
    await database.write(runs.store_call_result(lease, call_id, b"1"))
    await database.write(runs.store_call_result(lease, call_id, b"2"))
    found = await database.read(runs.interrupted_run("run_0"))
    assert found is not None
    assert found.calls == {call_id: b"2"}


async def test_a_page_with_an_address_longer_than_an_index_takes(database: Database) -> None:
    library = Library(database)
    url = "https://example.org/?q=" + secrets.token_urlsafe(4000)
    snapshot = page(url, "The treaty was signed in the spring of that year.")
    await library.store(snapshot)
    assert (await library.latest(url)).text == snapshot.text
    assert (await library.snapshots([snapshot.id]))[snapshot.id].text == snapshot.text
    assert await library.latest(url + "x") is None


async def test_what_is_refused_for_good_says_so(database: Database) -> None:
    @script
    def too_long() -> Steps[None]:
        yield sql("INSERT INTO library_fact (name, value) VALUES (?, '')", secrets.token_urlsafe(5000))

    with pytest.raises(DatabaseRefused) as found:
        await database.write(too_long())
    assert not found.value.retryable
    assert found.value.public_message == (
        "The database cannot be used now, so nothing was changed. Who runs the server finds out why in its log."
    )


async def test_a_connection_that_the_server_ends_is_nobodys_business(url: str, tmp_path: Path) -> None:
    async with Database.open(url, tmp_path) as database:
        await database.write(increment("a"))
        operator = await asyncpg.connect(url)
        for number in range(2, 30):
            await operator.fetch("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
            assert await database.write(increment("a")) == number
        await operator.close()


@pytest.mark.slow
async def test_a_text_with_more_terms_than_an_index_takes_is_found(url: str, tmp_path: Path) -> None:
    async with App.open(home=tmp_path, environ={"FOOTNOTE_DATABASE_URL": url}) as app:
        session = await app.sessions.create("local", "researcher", title="A long one")
        words = " ".join(f"word{number}x{number * 7}" for number in range(90_000))
        await app._database.write(sessions.index_part(session.id, "title", terms_of(words)))
        assert await _find(app, "word89998x629986 word89999x629993") == [session.id]
        assert await _find(app, "word89999x629993 word89998x629986") == []


async def _find(app: App, text: str) -> list[str]:
    phrase = sessions.Phrase(tuple(terms_of(text).split()), is_prefix=False)
    found, _ = await app._database.read(sessions.list_sessions("local", [phrase], None, 10))
    return [row.id for row in found]
