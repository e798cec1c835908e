"""A transaction as a generator of statements: it yields a statement, is sent its rows, and returns a result.

    @script
    def title_of(url: str) -> Steps[str | None]:
        rows = yield sql("SELECT title FROM reading WHERE url = ?", url)
        return rows[0][0] if rows else None

It does no I/O of its own, so that a blocking driver and an async driver run the same script. A driver can restart it
after a lost connection or a deadlock.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial, wraps
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar, cast

from msgspec import Struct

T = TypeVar("T")
P = ParamSpec("P")
Row: TypeAlias = tuple[Any, ...]
Rows: TypeAlias = list[Row]

MAX_VALUES = 10_000
"""Both engines limit the number of parameters of a statement to about 32,000."""


class Statement(Struct, frozen=True):
    """`many`: runs the statement once for each of these rows of values, and returns no rows."""

    text: str
    values: Row = ()
    many: Sequence[Row] | None = None


class Either(Struct, frozen=True):
    """A statement for each engine. None: that engine runs none, and gets no rows."""

    sqlite: Statement | None
    postgresql: Statement | None


Steps: TypeAlias = Generator[Statement | Either, Rows, T]


class Script(Generic[T]):
    """A transaction that has not started. Each iteration over it starts it from its beginning."""

    __slots__ = ("_start", "function")

    def __init__(self, kind: Callable[..., Any], begin: Callable[[], Steps[T]]) -> None:
        self.function = kind
        """The decorated function, which identifies the kind of transaction."""
        self._start = begin

    def __iter__(self) -> Steps[T]:
        return self._start()


def script(function: Callable[P, Steps[T]]) -> Callable[P, Script[T]]:
    @wraps(function)
    def called(*args: P.args, **named: P.kwargs) -> Script[T]:
        return Script(function, partial(function, *map(_materialise, args), **named))

    return called


def _materialise(argument: Any) -> Any:
    """An iterator would be exhausted when the script is restarted."""
    return tuple(cast("Iterator[Any]", argument)) if isinstance(argument, Iterator) else argument


def sql(text: str, *values: Any) -> Statement:
    """A statement with a `?` for each of the values."""
    return Statement(text, values)


def sql_many(text: str, rows: Sequence[Row]) -> Statement:
    return Statement(text, many=rows)


def in_batches(values: Sequence[T]) -> Iterator[tuple[str, Sequence[T]]]:
    """The values in batches that fit into one statement, each with its marks: `?, ?, ?`, for `IN (…)`."""
    for at in range(0, len(values), MAX_VALUES):
        batch = values[at : at + MAX_VALUES]
        yield ", ".join("?" for _ in batch), batch


# SQLite has one writer at a time, so that what a transaction has read cannot change before it commits. PostgreSQL has
# many: there, a transaction locks the rows on which its decisions depend.


def lock(subject: str, key: str) -> Either:
    """Waits for an exclusive lock on this subject and key, and holds it until the transaction ends."""
    name = f"footnote {subject} {key}"
    return Either(None, sql("SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ?, 0))", name))


def sql_for_update(text: str, *values: Any) -> Either:
    """A SELECT whose rows no other transaction can change or delete until this one ends."""
    return Either(sql(text, *values), sql(f"{text} FOR NO KEY UPDATE", *values))


def sql_for_key_share(text: str, *values: Any) -> Either:
    """A SELECT whose rows no other transaction can delete until this one ends; it can change them."""
    return Either(sql(text, *values), sql(f"{text} FOR KEY SHARE", *values))
