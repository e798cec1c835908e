"""Brings a database up to the newest format. Replicas of two versions may run beside each other while it does."""

import logging

from footnote.db.errors import DatabaseForeign
from footnote.db.migrations import Step, load_migrations
from footnote.db.postgresql.pool import AsyncpgConnection, ServerAddress, close_gracefully, connect

log = logging.getLogger(__name__)

# Sessions that hold a lock of this name take turns; everything else goes on meanwhile.
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || 'footnote format', 0))"
_FORMAT_TABLE = """
CREATE TABLE IF NOT EXISTS footnote_format (
    number BIGINT PRIMARY KEY,
    works_with BIGINT NOT NULL,
    applied_at TIMESTAMPTZ NOT NULL DEFAULT now()
)
"""


async def migrate(address: ServerAddress) -> None:
    """Applies what is missing, all or nothing; of several replicas, one does it and the others wait."""
    connection = await connect(address, command_seconds=None)
    try:
        known = load_migrations("postgresql")
        if await _applied_number(connection) == len(known):
            return
        async with connection.transaction():
            await connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            await connection.execute(_LOCK)
            await connection.execute(_FORMAT_TABLE)
            await _apply_missing(connection, known, address.name)
    finally:
        await close_gracefully(connection)


async def _applied_number(connection: AsyncpgConnection) -> int:
    """Of the last step that was applied; looked at without a lock, since nearly always there is nothing to do."""
    if await connection.fetchval("SELECT to_regclass('footnote_format')") is None:
        return 0
    return await connection.fetchval("SELECT coalesce(max(number), 0) FROM footnote_format")


async def _apply_missing(connection: AsyncpgConnection, known: list[Step], name: str) -> None:
    number = await _applied_number(connection)
    if number > len(known):
        await _check_compatible(connection, number, known, name)
    elif number == 0:
        await _check_empty(connection, name)
    for step in known[number:]:
        await connection.execute(step.text)
        works_with = step.works_with or step.number
        await connection.execute(
            "INSERT INTO footnote_format (number, works_with) VALUES ($1, $2)", step.number, works_with
        )
        log.info("The database has format %d now.", step.number)


async def _check_compatible(connection: AsyncpgConnection, number: int, known: list[Step], name: str) -> None:
    """Of a newer Footnote: while replicas are upgraded one by one, the old ones go on beside it, if its format lets
    them."""
    works_with = await connection.fetchval("SELECT works_with FROM footnote_format WHERE number = $1", number)
    if len(known) < works_with:
        raise DatabaseForeign(
            f"{name} was written by a newer Footnote (format {number}; this one knows {len(known)}, and needs to know "
            f"{works_with}). Upgrade Footnote."
        )
    log.info("The database has format %d of a newer Footnote, beside which this one can go on.", number)


async def _check_empty(connection: AsyncpgConnection, name: str) -> None:
    tables = await connection.fetchval(
        "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'footnote_format'"
    )
    if tables:
        raise DatabaseForeign(
            f"{name} has tables of another program, and was left as it is. Name an empty database, or a schema of its "
            "own, in database.url."
        )
