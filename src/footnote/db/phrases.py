"""Phrases in sessions: how each engine looks for them.

SQLite has FTS5, which knows the order of terms. In PostgreSQL an index over the sets of terms finds what may have the
phrase, and the text tells.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from footnote.db.lexemes import LONG, MOST, lexeme
from footnote.db.script import Either, Statement, sql


class Phrase(Struct, frozen=True):
    """Terms that follow each other. `open`: the last one may be the beginning of a longer one."""

    terms: tuple[str, ...]
    open: bool


MAX_PROBED = 50
"""Entries of a session that are looked at one by one, here and in the statements below."""
COMMON = 3_000
"""From so many entries on it is quicker to look through the newest sessions than to collect all that the index has."""
Wording: TypeAlias = Callable[[str, Sequence[Any]], Statement]
"""A statement with a condition in it, and what the `?` of that stand for."""

_MATCHED = "session_terms MATCH ?"
_HELD = "session_terms.lexemes @@ CAST(? AS TEXT)::tsquery AND strpos(' ' || session_terms.text || ' ', ?) > 0"
_HAVING = """
    AND session.id IN (
        SELECT session_entry.session_id
        FROM session_terms JOIN session_entry ON session_entry.id = session_terms.rowid
        WHERE {condition}
    )
"""
_FIRST_MATCHED = """
    SELECT session_id, part FROM (
        SELECT session_entry.session_id, session_entry.part,
            min((substr(session_entry.part, 1, 5) = 'path:') * (1 << 61) + (session_entry.part = 'title') * (1 << 62)
                + session_entry.id)
        -- The index comes first: to look up each entry of these sessions in it would take longer.
        FROM session_terms CROSS JOIN session_entry ON session_entry.id = session_terms.rowid
        WHERE session_terms MATCH ? AND session_entry.session_id IN ({marks})
        GROUP BY session_entry.session_id
    )
"""
_FIRST_HELD = """
    SELECT DISTINCT ON (session_entry.session_id) session_entry.session_id, session_entry.part
    FROM session_terms JOIN session_entry ON session_entry.id = session_terms.rowid
    WHERE session_entry.session_id IN ({marks}) AND ({condition})
    ORDER BY session_entry.session_id, session_entry.part = 'title', session_entry.part LIKE 'path:%', session_entry.id
"""
_COUNTED = "SELECT count(*) FROM (SELECT 1 FROM session_terms WHERE session_terms MATCH ? LIMIT ?) AS some"
_SOME_ENTRIES = """
    FROM (
        SELECT id, part FROM session_entry WHERE session_id = session.id ORDER BY part LIMIT 50
    ) AS entry
    JOIN session_terms ON session_terms.rowid = entry.id
"""
_STANDS = "{strpos}(' ' || session_terms.text || ' ', ?) > 0"
_PROBED = """
    SELECT session.*,
        (SELECT count(*) FROM (
            SELECT 1 FROM session_entry WHERE session_id = session.id LIMIT 51
        ) AS entries),
        (SELECT entry.part {some} WHERE {any} LIMIT 1)
        {each}
    FROM ({sessions}) AS session
"""


def with_phrases(user_id: str, phrases: Sequence[Phrase], wording: Wording) -> Either:
    """Over the sessions of a user in which each of the phrases stands somewhere."""
    held = [_held(user_id, phrase) for phrase in phrases]
    return Either(
        wording(_HAVING.format(condition=_MATCHED) * len(phrases), [_matching(user_id, [one]) for one in phrases]),
        wording(_HAVING.format(condition=_HELD) * len(phrases), [value for pair in held for value in pair]),
    )


def counted(user_id: str, phrase: Phrase) -> Either:
    """In how many entries of a user a phrase stands, up to `COMMON`. PostgreSQL would collect all of them for that."""
    return Either(sql(_COUNTED, _matching(user_id, [phrase]), COMMON), None)


def probed(user_id: str, phrases: Sequence[Phrase], sessions: str, values: Sequence[Any]) -> Either:
    """Of each of the sessions that the statement `sessions` selects, beside its columns: how many entries it has, up to
    one more than are looked at; the first of those in which one of the phrases stands; and for each phrase whether it
    stands in one of them."""
    texts = [_held(user_id, phrase)[1] for phrase in phrases]

    def statement(strpos: str) -> Statement:
        stands = _STANDS.format(strpos=strpos)
        return sql(
            _PROBED.format(
                some=_SOME_ENTRIES,
                any=" OR ".join([stands] * len(texts)),
                each="".join(f", EXISTS (SELECT 1 {_SOME_ENTRIES} WHERE {stands})" for _ in texts),
                sessions=sessions,
            ),
            *(*texts, *texts, *values),
        )

    return Either(statement("instr"), statement("strpos"))


def first_parts(user_id: str, phrases: Sequence[Phrase], session_ids: Sequence[str]) -> Either:
    """Of each of these sessions the first part in which one of the phrases stands: messages before files, and the title
    after both."""
    if not session_ids:
        return Either(None, None)
    marks = ", ".join("?" * len(session_ids))
    condition = " OR ".join(f"({_HELD})" for _ in phrases)
    held = [value for phrase in phrases for value in _held(user_id, phrase)]
    return Either(
        sql(_FIRST_MATCHED.format(marks=marks), _matching(user_id, phrases), *session_ids),
        sql(_FIRST_HELD.format(marks=marks, condition=condition), *session_ids, *held),
    )


def owner_term(user_id: str) -> str:
    """A term that all entries of a user have, and no text: without it, what others said would be gone through too."""
    return "§" + hashlib.sha256(user_id.encode()).hexdigest()[:16]


def _matching(user_id: str, phrases: Sequence[Phrase]) -> str:
    """Any of the phrases, for FTS5. Every one is a quoted string, so that nothing in it is read as an operator or as a
    name of a column."""
    wanted = " OR ".join(f'"{" ".join(phrase.terms)}"{" *" if phrase.open else ""}' for phrase in phrases)
    return f'"{owner_term(user_id)}" AND ({wanted})'


def _held(user_id: str, phrase: Phrase) -> tuple[str, str]:
    """What an entry with the phrase has in its set, and in its text."""
    *whole, last = phrase.terms
    owner = lexeme(owner_term(user_id))
    needed = [lexeme(last, is_open=phrase.open), *map(lexeme, whole[:MOST])]
    terms = " & ".join(one for one in needed if one) or owner
    return f"{owner} & (({terms}) | {lexeme(LONG)})", f" {' '.join(phrase.terms)}{'' if phrase.open else ' '}"
