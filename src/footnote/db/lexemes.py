"""Terms in the words of PostgreSQL's own full-text search: as a query over sets of lexemes (see `lexemes` in its
tables)."""

LONGEST_BYTES = 1000
"""No word. What is longer is in no set."""
LONG = "§long"
"""In the set of a text that has too many terms for one."""
MOST = 100
"""Lexemes in a query: it is taken apart by recursion, which has an end."""


def lexeme(term: str, *, is_open: bool = False) -> str | None:
    """A term in a query, quoted, so that nothing in it is read as an operator; `is_open`: or a longer one that begins
    so. None: no set can have it."""
    if not term or len(term.encode()) > LONGEST_BYTES:
        return None
    quoted = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{quoted}':*" if is_open else f"'{quoted}'"
