"""What stands in a backup: a head, the rows of every table, the contents of large files, an end. A backup may be a
stranger's, so that every value has a type and a limit."""

from enum import Enum
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct

from footnote.db.backup import TABLES
from footnote.protocol.errors import FootnoteError, UsageError
from footnote.protocol.files import Hash

VERSION = 1
"""Of the parts and their order. Tables and columns have names, and change without it."""

PIECE_BYTES = 1024 * 1024
MOST_BYTES = 256 * 1024 * 1024
"""Of one part, unpacked: a row of a table may be large."""

Word: TypeAlias = Annotated[str, Meta(max_length=200)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**63 - 1)]
State: TypeAlias = Literal["whole", "gone", "lost"]

_TYPES = frozenset({int, float, str, bytes, type(None)})
_HIGHEST = 2**63 - 1

T = TypeVar("T")


class Kind(Enum):
    """The kinds of parts. A content is a `CONTENT`, its pieces, and a `CLOSE`."""

    HEAD = b"H"
    ROWS = b"R"
    CONTENT = b"B"
    PIECE = b"D"
    CLOSE = b"C"
    END = b"E"


class NotABackup(UsageError):
    """It is something else, or made by a version that is newer than this one."""

    type = "not_a_backup"


class BackupDamaged(FootnoteError):
    """It is a backup, and a part of it is not as it was written."""

    type = "backup_damaged"


class Head(Struct, frozen=True, forbid_unknown_fields=True):
    """`tables`: the columns of each, in the order of the values of its rows."""

    footnote: Word
    made_at: Word
    tables: dict[Word, tuple[Word, ...]]


class RowsPart(Struct, frozen=True, array_like=True):
    """A value is an integer, a float, text, bytes, or nothing; `is_sound` tells."""

    table: Word
    rows: list[tuple[Any, ...]]

    def is_sound(self, width: int) -> bool:
        """Whether every row has so many values, and nothing that no column takes."""
        return all(
            len(row) == width
            and _TYPES.issuperset(map(type, row))
            and not any(type(value) is int and value > _HIGHEST for value in row)
            for row in self.rows
        )


class ContentPart(Struct, frozen=True, forbid_unknown_fields=True):
    hash: Hash
    size: Count


class ClosePart(Struct, frozen=True, forbid_unknown_fields=True):
    """How a content came out. `gone`: it was deleted while the backup was made. `lost`: the storage did not have it, or
    had something else. Its pieces count for nothing then."""

    state: State


class End(Struct, frozen=True, forbid_unknown_fields=True):
    """What came before it, counted: rows of each table; contents that are whole, and their bytes."""

    rows: dict[Word, Count]
    contents: Count
    bytes: Count
    gone: Count
    lost: Count


def encoded(value: Struct) -> bytes:
    return msgspec.msgpack.encode(value)


def decoded(data: bytes, kind: type[T]) -> T:
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise BackupDamaged("A part of the backup is not what it should be: somebody else wrote it.") from None


def check_tables(head: Head) -> None:
    """An older Footnote had fewer tables and columns; what this one does not know is a newer one's."""
    known = {table.name: table for table in TABLES}
    for name, columns in head.tables.items():
        table = known.get(name)
        if table is None or not set(columns) <= set(table.columns) or len(set(columns)) < len(columns):
            raise NotABackup(
                f"The backup was made by Footnote {head.footnote} and has a table or a column that this one does not "
                "know. Upgrade Footnote, then restore it."
            )
