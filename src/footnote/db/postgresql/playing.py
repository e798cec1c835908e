"""Scripts played on a connection to PostgreSQL."""

from functools import lru_cache
from typing import TypeVar

from footnote.db.postgresql.connecting import Connection
from footnote.db.script import Either, Row, Rows, Script, Statement

T = TypeVar("T")


async def play(script: Script[T], connection: Connection) -> T:
    """Runs the statements of a script, inside whatever transaction there is."""
    steps = iter(script)
    try:
        statement = next(steps)
        while True:
            statement = steps.send(await _rows(statement, connection))
    except StopIteration as end:
        return end.value
    finally:
        steps.close()


class NeedsTransaction(Exception):
    """A script that was taken for one of a single statement has more."""


async def play_one(script: Script[T], connection: Connection) -> T:
    """The same for a script of one statement, without a transaction around it."""
    steps = iter(script)
    try:
        steps.send(await _rows(next(steps), connection))
    except StopIteration as end:
        return end.value
    finally:
        steps.close()
    raise NeedsTransaction


async def _rows(statement: Statement | Either | None, connection: Connection) -> Rows:
    if isinstance(statement, Either):
        statement = statement.postgresql
    if statement is None:
        return []
    text = _numbered(statement.text)
    if statement.many is not None:
        await connection.executemany(text, [_storable(row) for row in statement.many])
        return []
    return [tuple(record) for record in await connection.fetch(text, *_storable(statement.values))]


@lru_cache(maxsize=1000)
def _numbered(text: str) -> str:
    """`$1`, `$2`, … for each `?`. None of our texts has one inside a string."""
    first, *others = text.split("?")
    return first + "".join(f"${number}{other}" for number, other in enumerate(others, 1))


def _storable(values: Row) -> Row:
    """A text in PostgreSQL has no NUL; SQLite keeps it, and nobody means anything by it."""
    if any(isinstance(value, str) and "\0" in value for value in values):
        return tuple(value.replace("\0", "\ufffd") if isinstance(value, str) else value for value in values)
    return values
