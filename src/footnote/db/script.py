"""A transaction as a generator of statements: it yields one, is sent its rows, and returns what it came to.

    def title_of(url: str) -> Script[str | None]:
        rows = yield sql("SELECT title FROM reading WHERE url = ?", url)
        return rows[0][0] if rows else None

It does no I/O of its own, so that one text serves a driver that blocks in a thread as well as one that awaits.
"""

from collections.abc import Generator, Sequence
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

T = TypeVar("T")
Row: TypeAlias = tuple[Any, ...]
Rows: TypeAlias = list[Row]


class Statement(Struct, frozen=True):
    """`many`: the same statement once for each of these rows of values; it gives none back."""

    text: str
    values: Row = ()
    many: Sequence[Row] | None = None


Script: TypeAlias = Generator[Statement, Rows, T]


def sql(text: str, *values: Any) -> Statement:
    """A statement with a `?` for each of the values."""
    return Statement(text, values)


def sql_many(text: str, rows: Sequence[Row]) -> Statement:
    return Statement(text, many=rows)
