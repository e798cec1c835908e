"""Code in colours, where its language is known."""

import re
from functools import cache
from typing import Any

from footnote.documents.out.docx.markup import RunFormat, run

try:
    from pygments import lexers as _lexers
    from pygments.util import ClassNotFound
except ImportError:
    # Code is then of one colour.
    _lexers, ClassNotFound = None, LookupError

lexers: Any = _lexers
"""The library has types for the half of it."""

_MAX_CODE_CHARS = 30_000
_MAX_LINE_CHARS = 2_000
# What no code looks like. The time of many a lexer grows with the square of such a stretch, and worse.
_REPEATED = re.compile(r"(\S{1,4})\1{100}|\s{200}")

_LOOKS = {
    "Comment": RunFormat(colour="5F6B76", italic=True),
    "Keyword": RunFormat(colour="8A2094"),
    "Name.Builtin": RunFormat(colour="0B5CAD"),
    "Name.Function": RunFormat(colour="0B5CAD"),
    "Name.Class": RunFormat(colour="0B5CAD"),
    "Name.Tag": RunFormat(colour="8A2094"),
    "Name.Attribute": RunFormat(colour="7A4E00"),
    "Name.Decorator": RunFormat(colour="7A4E00"),
    "Literal.String": RunFormat(colour="1B6E2B"),
    "Literal.Number": RunFormat(colour="A03A00"),
    "Operator.Word": RunFormat(colour="8A2094"),
    "Generic.Deleted": RunFormat(colour="A31515"),
    "Generic.Inserted": RunFormat(colour="1B6E2B"),
    "Generic.Heading": RunFormat(bold=True),
    "Generic.Subheading": RunFormat(bold=True),
}
_PLAIN = RunFormat()


def highlight_code(text: str, language: str) -> list[str]:
    """The runs of each line."""
    lines: list[str] = []
    inside: list[str] = []
    for look, piece in _tokenize(text, language):
        first, *others = piece.split("\n")
        if first:
            inside.append(run(first, look))
        for other in others:
            lines.append("".join(inside))
            inside = [run(other, look)] if other else []
    return [*lines, "".join(inside)]


def _tokenize(text: str, language: str) -> list[tuple[RunFormat, str]]:
    """Neighbours of one look are one stretch."""
    lexer = _lexer(language) if language and _should_highlight(text) else None
    if lexer is None:
        return [(_PLAIN, text)]
    stretches: list[tuple[RunFormat, str]] = []
    for _, kind, piece in lexer.get_tokens_unprocessed(text):
        look = _token_look(kind)
        # A space has no colour, and joins what is beside it.
        if stretches and (look == stretches[-1][0] or piece.isspace()):
            stretches[-1] = stretches[-1][0], stretches[-1][1] + piece
        else:
            stretches.append((look, piece))
    return stretches


def _should_highlight(text: str) -> bool:
    """Whether it is as long and as varied as code that somebody reads in a report."""
    if len(text) > _MAX_CODE_CHARS or _REPEATED.search(text):
        return False
    return max(map(len, text.split("\n"))) <= _MAX_LINE_CHARS


@cache
def _lexer(language: str) -> Any | None:
    try:
        return lexers.get_lexer_by_name(language) if lexers else None
    except ClassNotFound:
        return None


@cache
def _token_look(kind: Any) -> RunFormat:
    """Of the token's kind, or of what it is a kind of."""
    names = str(kind).removeprefix("Token.").split(".")
    for length in range(len(names), 0, -1):
        look = _LOOKS.get(".".join(names[:length]))
        if look is not None:
            return look
    return _PLAIN
