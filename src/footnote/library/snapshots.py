"""Snapshots as the database keeps them, and back."""

import hashlib
import re
import zlib
from collections.abc import Iterator
from typing import TypeVar

import msgspec
from msgspec import Struct

from footnote.db.index import IndexTerms
from footnote.db.library import FoundPassage, LibraryEntry, SnapshotRow
from footnote.library.terms import alternate_forms, content_terms
from footnote.protocol.sources import Link, Snapshot
from footnote.text.sentences import sentences

MAX_PASSAGE_BYTES = 900
"""About a paragraph. In bytes: a Chinese character has three of them, and says about as much as three letters."""
_BLOCK = re.compile(r"\S[^\n]*(?:\n(?![ \t]*\n|#{1,6} )[^\n]+)*")
_HEADING = re.compile(r"#{1,6} +(.+)")
_FENCED = re.compile(r"^(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^\1[ \t]*+$|(?P<open>\Z))", re.MULTILINE | re.DOTALL)


class PassageSection(Struct, frozen=True):
    """A piece of a text by its offsets, and the heading that it stands under."""

    start: int
    end: int
    heading: str


def split_passages(text: str, *, include_code: bool = True) -> Iterator[PassageSection]:
    """In order. A heading begins a new passage; short paragraphs share one, a long one is cut between sentences.
    Without `code`, what stands in fences is in none of them."""
    heading = ""
    for stretch in [(0, len(text))] if include_code else _prose_spans(text):
        start, end, size = 0, 0, 0
        for piece_start, piece_end in _split_blocks(text, *stretch):
            piece = text[piece_start:piece_end]
            begins = _HEADING.match(piece)
            weight = _byte_length(piece)
            if size and (begins or size + weight > MAX_PASSAGE_BYTES):
                yield PassageSection(start, end, heading)
                size = 0
            if begins:
                heading = begins.group(1)
            if not size:
                start = piece_start
            end, size = piece_end, size + weight
        if size:
            yield PassageSection(start, end, heading)


def _prose_spans(text: str) -> Iterator[tuple[int, int]]:
    """What stands between fenced blocks."""
    end = 0
    for fenced in _FENCED.finditer(text):
        if fenced["open"] is not None:  # it is never closed: a text that is cut is still a text
            break
        yield end, fenced.start()
        end = fenced.end()
    yield end, len(text)


def _split_blocks(text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Paragraphs; the sentences of a long one; slices of what has no sentences, such as a script on one line."""
    for block in _BLOCK.finditer(text, first, last):
        if _byte_length(block.group()) <= MAX_PASSAGE_BYTES:
            yield block.start(), block.end()
            continue
        for sentence in sentences(text, block.start(), block.end()):
            for start in range(sentence.start, sentence.end, MAX_PASSAGE_BYTES):
                yield start, min(start + MAX_PASSAGE_BYTES, sentence.end)


def _byte_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


T = TypeVar("T")

MAX_URL_BYTES = 2000
"""In bytes. The web knows longer ones; PostgreSQL takes no more than 2704 into an index."""


def pack(snapshot: Snapshot, *, searchable: bool = True, include_code: bool = True) -> LibraryEntry:
    """With the terms of its passages, if it is to be searched, which takes some milliseconds for a long page. Without
    `code`, what stands in fences is not found."""
    packed = zlib.compress(snapshot.text.encode("utf-8", "surrogatepass"))
    terms = _passage_terms(snapshot, include_code=include_code) if searchable else ()
    return LibraryEntry(_snapshot_row(snapshot), packed, len(snapshot.text), terms)


def unpack(row: FoundPassage) -> Snapshot:
    reading = row.reading
    return Snapshot(
        url=reading.url,
        text=zlib.decompress(row.packed).decode("utf-8", "surrogatepass"),
        title=reading.title,
        author=reading.author,
        published=reading.published,
        language=reading.language,
        site_name=reading.site_name,
        canonical_url=reading.canonical_url,
        media_type=reading.media_type,
        fetched_at=reading.fetched_at,
        links=tuple(Link(*link) for link in _unpack_json(reading.links, list[tuple[str, int, int]])),
        pages=tuple(_unpack_json(reading.pages, list[int])),
        icon=reading.icon,
    )


def url_key(url: str) -> str:
    """What a page is kept under. One that is too long for an index is cut, and told apart by what it was."""
    whole = storable_text(url)
    if len(encoded := whole.encode()) <= MAX_URL_BYTES:
        return whole
    kept = encoded[: MAX_URL_BYTES - 40].decode("utf-8", "ignore")
    return f"{kept}…{hashlib.sha256(encoded).hexdigest()[:32]}"


def storable_text(text: str) -> str:
    """Without what no database takes: halves of characters, and the character that ends a string in C."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _snapshot_row(snapshot: Snapshot) -> SnapshotRow:
    return SnapshotRow(
        url=url_key(snapshot.url),
        snapshot_id=snapshot.id,
        title=storable_text(snapshot.title),
        author=_storable_or_none(snapshot.author),
        published=_storable_or_none(snapshot.published),
        language=_storable_or_none(snapshot.language),
        site_name=_storable_or_none(snapshot.site_name),
        canonical_url=_storable_or_none(snapshot.canonical_url),
        media_type=storable_text(snapshot.media_type),
        fetched_at=storable_text(snapshot.fetched_at),
        links=_pack_json([(storable_text(link.url), link.start, link.end) for link in snapshot.links]),
        pages=_pack_json(snapshot.pages),
        icon=_storable_or_none(snapshot.icon),
    )


def _storable_or_none(text: str | None) -> str | None:
    return None if text is None else storable_text(text)


def _pack_json(value: object) -> bytes:
    return zlib.compress(msgspec.json.encode(value)) if value else b""


def _unpack_json(packed: bytes, kind: type[list[T]]) -> list[T]:
    return msgspec.json.decode(zlib.decompress(packed), type=kind) if packed else []


def _passage_terms(snapshot: Snapshot, *, include_code: bool) -> tuple[IndexTerms, ...]:
    """A passage is also found by the title of its page and by its heading."""
    title = _content_words(snapshot.title)
    return tuple(
        _index_terms(
            passage.start,
            passage.end,
            title + _content_words(passage.heading),
            _content_words(snapshot.text[passage.start : passage.end]),
        )
        for passage in split_passages(snapshot.text, include_code=include_code)
    )


def _content_words(text: str) -> list[str]:
    return [term.text for term in content_terms(text)]


def _index_terms(start: int, end: int, title: list[str], text: list[str]) -> IndexTerms:
    return IndexTerms(start, end, " ".join(title), " ".join(text), " ".join(alternate_forms([*title, *text])))
