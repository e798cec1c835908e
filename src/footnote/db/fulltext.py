"""How a full-text index is kept in shape.

Whatever takes deleted words out of an index (`optimize`, `merge`) adds levels to it in older versions of SQLite, and
nothing ever takes one away: an index of more than 2000 is taken for damaged, for good. Written anew, it has one.
"""

from typing import Literal, TypeAlias

from footnote.db.script import Either, Steps, script, sql

MAX_LEXEME_BYTES = 1000
"""No word. What is longer is in no set."""
LONG_TEXT_LEXEME = "§long"
"""In the set of a text that has too many terms for one."""
MAX_QUERY_LEXEMES = 100
"""Lexemes in a query: it is taken apart by recursion, which has an end."""


def lexeme(term: str, *, is_prefix: bool = False) -> str | None:
    """A term in a query, quoted, so that nothing in it is read as an operator; `is_open`: or a longer one that begins
    so. None: no set can have it."""
    if not term or len(term.encode()) > MAX_LEXEME_BYTES:
        return None
    quoted = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{quoted}':*" if is_prefix else f"'{quoted}'"


Index: TypeAlias = Literal["passage_terms", "session_terms"]
MAX_LEVELS = 300
_COOKIE_BYTES = 4
_NEWER_FORMAT = b"\xff\x00\x00\x01"
_STRUCTURE_ROW = 10
"""The row of an index that says what it is made of."""


@script
def rebuild_if_deep(index: Index) -> Steps[bool]:
    """Writes an index anew, without the words of what was deleted, if it has too many levels; False: it has not."""
    if (yield from index_levels(index)) <= MAX_LEVELS:
        return False
    yield Either(sql(f"INSERT INTO {index} ({index}) VALUES ('rebuild')"), None)  # noqa: S608 - one of two names
    return True


@script
def index_levels(index: Index) -> Steps[int]:
    rows = yield Either(sql(f"SELECT block FROM {index}_data WHERE id = ?", _STRUCTURE_ROW), None)  # noqa: S608 - as above
    if not rows:
        return 0
    block: bytes = rows[0][0]
    at = _COOKIE_BYTES + (len(_NEWER_FORMAT) if block[_COOKIE_BYTES:].startswith(_NEWER_FORMAT) else 0)
    number = 0
    for byte in block[at:]:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return number
