"""What a session that was found shows: the text around the place where a word of the query stands."""

import re
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from footnote.db.sessions import TITLE, FoundPart, SessionRow
from footnote.text.readable import markdown_to_text
from footnote.text.search_terms import QueryWord, first_match

EXCERPT_CHARACTERS = 160
"""Characters of an excerpt."""
_CHARACTERS_BEFORE = 50
"""How many of them stand before the place."""

_MARKDOWN_WINDOW = 10_000
"""Characters on either side of the place of which the markdown is read. Reading megabytes of it would hold the
interpreter's lock for half a second."""

_SPACE = re.compile(r"\s+")
_LAST_SPACE = re.compile(r"\s+(?=\S*\Z)")


class _ExcerptPart(Struct):
    """Just as much of a message as is needed: what tools brought is long, and is not looked at."""

    role: str
    content: tuple["_ExcerptBlock", ...] = ()


class _ExcerptBlock(Struct):
    type: str
    text: str = ""


_message_decoder = msgspec.json.Decoder(_ExcerptPart)


class ExcerptPlace(Struct, frozen=True):
    """Where something was found: the message or the path of the file, neither for the title; and the text around
    it."""

    message_id: str | None = None
    excerpt: str | None = None
    path: str | None = None


class FoundFile(Struct, frozen=True):
    path: str
    text: str


def places_of(
    rows: Sequence[SessionRow], parts: Sequence[FoundPart], files: Mapping[str, FoundFile], words: Sequence[QueryWord]
) -> dict[str, ExcerptPlace]:
    """Of sessions, by their ids. `files` are those in which something was found, by their sessions."""
    titles = {row.id: row.title for row in rows}
    places: dict[str, ExcerptPlace] = {}
    for part in parts:
        if file := files.get(part.session_id):
            places[part.session_id] = ExcerptPlace(None, excerpt(file.text, words), file.path)
        elif part.session_id in titles and part.file_key is None:
            is_title = part.part == TITLE
            text = titles[part.session_id] if is_title else _text(part.bodies, words)
            places[part.session_id] = ExcerptPlace(None if is_title else part.part, excerpt(text, words))
    return places


def excerpt(text: str, words: Sequence[QueryWord]) -> str:
    """On one line, cut between words where there are spaces."""
    start, end = first_match(text, words) or (0, 0)
    begin = max(0, start - _CHARACTERS_BEFORE)
    stop = min(len(text), max(begin + EXCERPT_CHARACTERS, end))
    if begin > 0 and (space := _SPACE.search(text, begin, start)):
        begin = space.end()
    if stop < len(text) and (space := _LAST_SPACE.search(text, end, stop)):
        stop = space.start()
    line = " ".join(text[begin:stop].split())
    return f"{'…' if begin > 0 else ''}{line}{'…' if stop < len(text) else ''}"


def _text(bodies: Sequence[bytes], words: Sequence[QueryWord]) -> str:
    """What was said, as it is read. A question is shown as it was written, an answer is markdown."""
    said = (_message_decoder.decode(body) for body in bodies)
    return "\n\n".join(
        markdown_to_text(_window_around(block.text, words)) if part.role == "assistant" else block.text
        for part in said
        if part.role != "toolResult"
        for block in part.content
        if block.type == "text"
    )


def _window_around(text: str, words: Sequence[QueryWord]) -> str:
    """The part of a long text around the first of the words."""
    if len(text) <= 2 * _MARKDOWN_WINDOW:
        return text
    start, end = first_match(text, words) or (0, 0)
    return text[max(0, start - _MARKDOWN_WINDOW) : end + _MARKDOWN_WINDOW]
