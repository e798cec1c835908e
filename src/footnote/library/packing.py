"""Snapshots as the database keeps them, and back."""

import hashlib
import zlib
from typing import TypeVar

import msgspec

from footnote.db.index import Terms
from footnote.db.library import Entry, Found, Reading
from footnote.library.forms import other_forms, telling_terms
from footnote.library.passages import passages_of
from footnote.protocol.sources import Link, Snapshot

T = TypeVar("T")

LONGEST_ADDRESS = 2000
"""In bytes. The web knows longer ones; PostgreSQL takes no more than 2704 into an index."""


def pack(snapshot: Snapshot, *, searchable: bool = True, code: bool = True) -> Entry:
    """With the terms of its passages, if it is to be searched, which takes some milliseconds for a long page. Without
    `code`, what stands in fences is not found."""
    packed = zlib.compress(snapshot.text.encode("utf-8", "surrogatepass"))
    terms = _terms(snapshot, code=code) if searchable else ()
    return Entry(_reading(snapshot), packed, len(snapshot.text), terms)


def unpack(found: Found) -> Snapshot:
    reading = found.reading
    return Snapshot(
        url=reading.url,
        text=zlib.decompress(found.packed).decode("utf-8", "surrogatepass"),
        title=reading.title,
        author=reading.author,
        published=reading.published,
        language=reading.language,
        site_name=reading.site_name,
        canonical_url=reading.canonical_url,
        media_type=reading.media_type,
        fetched_at=reading.fetched_at,
        links=tuple(Link(*link) for link in _unpacked(reading.links, list[tuple[str, int, int]])),
        pages=tuple(_unpacked(reading.pages, list[int])),
        icon=reading.icon,
    )


def address(url: str) -> str:
    """What a page is kept under. One that is too long for an index is cut, and told apart by what it was."""
    whole = storable(url)
    if len(encoded := whole.encode()) <= LONGEST_ADDRESS:
        return whole
    kept = encoded[: LONGEST_ADDRESS - 40].decode("utf-8", "ignore")
    return f"{kept}…{hashlib.sha256(encoded).hexdigest()[:32]}"


def storable(text: str) -> str:
    """Without what no database takes: halves of characters, and the character that ends a string in C."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _reading(snapshot: Snapshot) -> Reading:
    return Reading(
        url=address(snapshot.url),
        snapshot_id=snapshot.id,
        title=storable(snapshot.title),
        author=_if_any(snapshot.author),
        published=_if_any(snapshot.published),
        language=_if_any(snapshot.language),
        site_name=_if_any(snapshot.site_name),
        canonical_url=_if_any(snapshot.canonical_url),
        media_type=storable(snapshot.media_type),
        fetched_at=storable(snapshot.fetched_at),
        links=_packed([(storable(link.url), link.start, link.end) for link in snapshot.links]),
        pages=_packed(snapshot.pages),
        icon=_if_any(snapshot.icon),
    )


def _if_any(text: str | None) -> str | None:
    return None if text is None else storable(text)


def _packed(value: object) -> bytes:
    return zlib.compress(msgspec.json.encode(value)) if value else b""


def _unpacked(packed: bytes, kind: type[list[T]]) -> list[T]:
    return msgspec.json.decode(zlib.decompress(packed), type=kind) if packed else []


def _terms(snapshot: Snapshot, *, code: bool) -> tuple[Terms, ...]:
    """A passage is also found by the title of its page and by its heading."""
    title = _words(snapshot.title)
    return tuple(
        _terms_of_passage(
            passage.start,
            passage.end,
            title + _words(passage.heading),
            _words(snapshot.text[passage.start : passage.end]),
        )
        for passage in passages_of(snapshot.text, code=code)
    )


def _words(text: str) -> list[str]:
    return [term.text for term in telling_terms(text)]


def _terms_of_passage(start: int, end: int, title: list[str], text: list[str]) -> Terms:
    return Terms(start, end, " ".join(title), " ".join(text), " ".join(other_forms([*title, *text])))
