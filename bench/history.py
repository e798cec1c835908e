"""The cost of searching for a word in all messages.

    .venv/bin/python bench/history.py            100,000 messages, about a minute
    .venv/bin/python bench/history.py --quick    10,000 messages

CPU of the whole process, from the query to the page of sessions with their excerpts. The reference in the same run is
the full-text index alone: the count of matching entries in SQLite.
"""

import argparse
import asyncio
import os
import platform
import random
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, closing
from pathlib import Path

from report import FAIL, NO_BAR, PASS, Table, conclude

from footnote.db import runs
from footnote.db import sessions as db
from footnote.db.engine import Database
from footnote.db.script import Steps, script
from footnote.library import Library
from footnote.protocol import format_time, new_id
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.messages import AssistantMessage, Text, user_message
from footnote.sessions.store import Sessions
from footnote.sessions.turns import RunEnding, RunRequest, encode
from footnote.storage.local import MemoryStorage
from footnote.text.search_terms import terms_of
from footnote.workspace.blobs import Blobs

MESSAGES, QUICK_MESSAGES = 100_000, 10_000
IN_A_SESSION = 100
WORDS = 60
BAR_MS = 50
EVERYWHERE = "everywhere"
QUERIES = {
    "a word in all messages": EVERYWHERE,
    "its beginning": EVERYWHERE[:4],
    "a letter that half of the words begin with": "w",
    "two words in all messages": f"{EVERYWHERE} {EVERYWHERE[:-1]}",
    "a word in one message": "needle",
    "a word in no message": "nowhere",
}


async def main(messages: int) -> list[Table]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with AsyncExitStack() as stack:
            database = await stack.enter_async_context(Database.open("sqlite:footnote.db", home))
            sessions = Sessions(database, Library(database), Blobs(database, MemoryStorage()))
            await _fill(database, sessions, messages)
            rows = [await _row(name, query, sessions, home) for name, query in QUERIES.items()]
    columns = ("query", "sessions", "CPU, ms", "the index alone, ms", "bar", "")
    return [Table(f"Search in {messages:,} messages", columns, rows)]


async def _row(name: str, query: str, sessions: Sessions, home: Path) -> tuple[str, ...]:
    found = await sessions.list(LOCAL_USER, query=query)
    ours = await _cpu(lambda: sessions.list(LOCAL_USER, query=query))
    with closing(sqlite3.connect(home / "footnote.db")) as connection:

        async def count() -> None:
            wanted = " AND ".join(f'"{word}" *' for word in query.split())
            connection.execute("SELECT count(*) FROM session_terms WHERE session_terms MATCH ?", (wanted,)).fetchall()

        reference = await _cpu(count)
    bar = (f"≤ {BAR_MS} ms", PASS if ours <= BAR_MS / 1e3 else FAIL) if "a letter" not in name else NO_BAR
    return name, str(len(found.sessions)), f"{ours * 1e3:.1f}", f"{reference * 1e3:.1f}", *bar


async def _cpu(work: Callable[[], Awaitable[object]]) -> float:
    """The median of seven."""
    seconds: list[float] = []
    for _ in range(7):
        began = time.process_time()
        await work()
        seconds.append(time.process_time() - began)
    return sorted(seconds)[3]


async def _fill(database: Database, sessions: Sessions, messages: int) -> None:
    rng = random.Random(1)
    for _ in range(messages // IN_A_SESSION):
        head = await sessions.create(LOCAL_USER, "researcher", title="About something")
        await database.write(_turns(head.id, [(_text(rng), _text(rng)) for _ in range(IN_A_SESSION // 2)]))
    await database.write(_turns(head.id, [("Where is the needle?", "Here.")]))


def _text(rng: random.Random) -> str:
    words = [f"w{int(rng.paretovariate(0.7)) % 20_000}" for _ in range(WORDS)]
    return " ".join([*words[: WORDS // 2], "everywhere", *words[WORDS // 2 :]])


@script
def _turns(session_id: str, turns: list[tuple[str, str]]) -> Steps[None]:
    for question, answer in turns:
        new_question = runs.NewQuestion(new_id("msg"), encode(user_message(question)), b"[]", format_time(0.0))
        run = runs.NewRun(
            id=new_id("run"),
            session_id=session_id,
            user_id=LOCAL_USER,
            question_id=new_question.id,
            message_id=new_id("msg"),
            asked=encode(RunRequest("researcher", "a/b", "en")),
            owner="bench",
            lease_seconds=60,
            now=1.0,
        )
        message = AssistantMessage((Text(answer),), "stop", "a/b")
        yield from runs.record_turn(run, new_question, [encode(message)], encode(RunEnding(stop_reason="stop")))
        yield from db.index_part(session_id, new_question.id, terms_of(question))
        yield from db.index_part(session_id, run.message_id, terms_of(answer))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the messages")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}\n")
    tables = asyncio.run(main(QUICK_MESSAGES if arguments.quick else MESSAGES))
    conclude(tables, strict=arguments.strict)
