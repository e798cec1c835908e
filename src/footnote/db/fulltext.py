"""How a full-text index is kept in shape.

Whatever takes deleted words out of an index (`optimize`, `merge`) adds levels to it in older versions of SQLite, and
nothing ever takes one away: an index of more than 2000 is taken for damaged, for good. Written anew, it has one.
"""

from typing import Literal, TypeAlias

from footnote.db.script import Either, Steps, script, sql

Index: TypeAlias = Literal["passage_terms", "session_terms"]
MOST_LEVELS = 300
_COOKIE_BYTES = 4
_NEWER_FORM = b"\xff\x00\x00\x01"
_STRUCTURE = 10
"""The row of an index that says what it is made of."""


@script
def renew(index: Index) -> Steps[bool]:
    """Writes an index anew, without the words of what was deleted, if it has too many levels; False: it has not."""
    if (yield from levels(index)) <= MOST_LEVELS:
        return False
    yield Either(sql(f"INSERT INTO {index} ({index}) VALUES ('rebuild')"), None)  # noqa: S608 - one of two names
    return True


@script
def levels(index: Index) -> Steps[int]:
    rows = yield Either(sql(f"SELECT block FROM {index}_data WHERE id = ?", _STRUCTURE), None)  # noqa: S608 - as above
    if not rows:
        return 0
    block: bytes = rows[0][0]
    at = _COOKIE_BYTES + (len(_NEWER_FORM) if block[_COOKIE_BYTES:].startswith(_NEWER_FORM) else 0)
    number = 0
    for byte in block[at:]:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return number
