"""Which parts of a parsed text belong to which statement.

Statements have offsets in the markdown, and tokens have none. The text of the tokens stands in the markdown in the same
order, between marks of formatting, so that each is found behind the one before it. Text that stands there in another
notation (an entity, a decoded URL) is skipped.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from copy import copy

from markdown_it.token import Token

from footnote.text.sentences import Span

STATEMENT = "statement"
"""The key of a statement's index in the metadata of a token."""

_MAX_ATTEMPTS = 20
_LEFT_OUT = re.compile(r"\\(?=\|)|<!--.{0,1000}?-->|</?[A-Za-z][^<>]{0,500}>")
"""Characters between two that follow each other in the text of a token: the escape of a bar in a table, and tags."""
_LINE = re.compile(r"^", re.MULTILINE)


def label_statements(tokens: Sequence[Token], markdown: str, statements: Sequence[Span]) -> None:
    """Labels inline tokens with the statement that they belong to, and divides those that belong to several.
    `statements` are in order and do not overlap."""
    labeller = _Labeller(markdown, statements)
    for token in tokens:
        if token.map and token.type in ("inline", "tr_open"):
            labeller.move(token.map[0], token.map[1])
        if token.type == "inline" and token.children and labeller.has_statement():
            token.children = list(labeller.label(token.children))


class _Labeller:
    def __init__(self, markdown: str, statements: Sequence[Span]) -> None:
        # A line break inside code is a space in its token.
        self._flat = markdown.replace("\n", " ")
        self._lines = [found.start() for found in _LINE.finditer(markdown)]
        self._statements = statements
        self._ends = [statement.end for statement in statements]
        self._at = 0
        self._end = len(markdown)

    def move(self, line: int, end: int) -> None:
        """Goes on to a line; the cells of a row share one."""
        self._at = max(self._at, self._start_of(line))
        self._end = self._start_of(end)

    def _start_of(self, line: int) -> int:
        return self._lines[line] if line < len(self._lines) else len(self._flat)

    def has_statement(self) -> bool:
        following = bisect_right(self._ends, self._at)
        return following < len(self._statements) and self._statements[following].start < self._end

    def label(self, tokens: Sequence[Token]) -> Iterator[Token]:
        for token in tokens:
            pieces = self._find(token.markup if token.type == "text_special" else token.content)
            if token.type != "text" or not pieces:
                yield _labelled(token, token.content, self._statement_at(pieces[0].start if pieces else self._at))
            else:
                at = 0
                for piece in pieces:
                    length = piece.end - piece.start
                    yield from self._divide(token, token.content[at : at + length], piece)
                    at += length
            self._at = pieces[-1].end if pieces else self._at

    def _find(self, text: str) -> list[Span]:
        """Where a text stands, in pieces if there is a tag or an escape in it; empty: nowhere."""
        if not text:
            return []
        start = self._flat.find(text, self._at, self._end)
        if start >= 0:
            return [Span(start, start + len(text))]
        start = self._at
        for _ in range(_MAX_ATTEMPTS):
            start = self._flat.find(text[0], start, self._end)
            if start < 0:
                return []
            if pieces := self._follow(text, start):
                return pieces
            start += 1
        return []

    def _follow(self, text: str, start: int) -> list[Span]:
        pieces: list[Span] = []
        at = start
        for character in text:
            while at < self._end and self._flat[at] != character and (left := _LEFT_OUT.match(self._flat, at)):
                pieces.append(Span(start, at))
                start = at = left.end()
            if at >= self._end or self._flat[at] != character:
                return []
            at += 1
        return [*(piece for piece in pieces if piece.start < piece.end), Span(start, at)]

    def _divide(self, token: Token, content: str, found: Span) -> Iterator[Token]:
        at = found.start
        while at < found.end:
            following = bisect_right(self._ends, at)
            statement = self._statements[following] if following < len(self._statements) else None
            if statement is None or statement.start >= found.end:
                end, number = found.end, None
            elif statement.start > at:
                end, number = statement.start, None
            else:
                end, number = min(statement.end, found.end), following
            yield _labelled(token, content[at - found.start : end - found.start], number)
            at = end

    def _statement_at(self, offset: int) -> int | None:
        following = bisect_right(self._ends, offset)
        is_inside = following < len(self._statements) and self._statements[following].start <= offset
        return following if is_inside else None


def _labelled(token: Token, content: str, statement: int | None) -> Token:
    if statement is None and content == token.content:
        return token
    labelled = copy(token)
    labelled.content = content
    labelled.meta = token.meta if statement is None else {**token.meta, STATEMENT: statement}
    return labelled
