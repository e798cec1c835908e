"""A transaction as a generator of statements: it yields one, is sent its rows, and returns what it came to.

    @script
    def title_of(url: str) -> Steps[str | None]:
        rows = yield sql("SELECT title FROM reading WHERE url = ?", url)
        return rows[0][0] if rows else None

It does no I/O of its own, so that one text serves a driver that blocks in a thread as well as one that awaits; and it
can be begun again, so that a driver whose connection broke, or that met another one in a deadlock, does just that.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial, wraps
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar, cast

from msgspec import Struct

T = TypeVar("T")
P = ParamSpec("P")
Row: TypeAlias = tuple[Any, ...]
Rows: TypeAlias = list[Row]


class Statement(Struct, frozen=True):
    """`many`: the same statement once for each of these rows of values; it gives none back."""

    text: str
    values: Row = ()
    many: Sequence[Row] | None = None


class Either(Struct, frozen=True):
    """What the engines say in different words. None: there is nothing to be said, and no rows come back."""

    sqlite: Statement | None
    postgresql: Statement | None


Steps: TypeAlias = Generator[Statement | Either, Rows, T]


class Script(Generic[T]):
    """A transaction that has not begun. To iterate over it is to begin it, as often as that is needed."""

    __slots__ = ("_start", "function")

    def __init__(self, kind: Callable[..., Any], begin: Callable[[], Steps[T]]) -> None:
        self.function = kind
        """The function that it is a call of."""
        self._start = begin

    def __iter__(self) -> Steps[T]:
        return self._start()


def script(function: Callable[P, Steps[T]]) -> Callable[P, Script[T]]:
    @wraps(function)
    def called(*args: P.args, **named: P.kwargs) -> Script[T]:
        return Script(function, partial(function, *map(_materialise, args), **named))

    return called


def _materialise(argument: Any) -> Any:
    """An iterator would have nothing left for a second beginning."""
    return tuple(cast("Iterator[Any]", argument)) if isinstance(argument, Iterator) else argument


def sql(text: str, *values: Any) -> Statement:
    """A statement with a `?` for each of the values."""
    return Statement(text, values)


def sql_many(text: str, rows: Sequence[Row]) -> Statement:
    return Statement(text, many=rows)


# SQLite has one writer at a time, so that whoever has read something knows that it still holds. PostgreSQL has many:
# there, what a decision depends on is held until the transaction ends.


def lock(subject: str, key: str) -> Either:
    """From here to its end, no other transaction that names the same subject and key runs."""
    name = f"footnote {subject} {key}"
    return Either(None, sql("SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ?, 0))", name))


def sql_for_update(text: str, *values: Any) -> Either:
    """A SELECT whose rows stay as they are, and stay, until the transaction ends."""
    return Either(sql(text, *values), sql(f"{text} FOR NO KEY UPDATE", *values))


def sql_for_key_share(text: str, *values: Any) -> Either:
    """A SELECT whose rows stay there until the transaction ends; others may need them too, and may change them."""
    return Either(sql(text, *values), sql(f"{text} FOR KEY SHARE", *values))
