"""Conversion between snapshots and the rows of the database, with the passages that are indexed."""

import hashlib
import zlib
from collections.abc import Iterator
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from footnote.db.fulltext import IndexTerms
from footnote.db.library import FoundPassage, LibraryEntry, SnapshotRow
from footnote.protocol.sources import Link, Snapshot
from footnote.text.markdown import MarkdownLine, read_lines
from footnote.text.search_terms import alternate_forms, content_terms
from footnote.text.sentences import Span, sentences

MAX_PASSAGE_BYTES = 900
"""About a paragraph. In bytes, because a Chinese character has three and says about as much as three letters."""


class PassageSection(Struct, frozen=True):
    """A passage of a text as offsets, and the heading above it."""

    start: int
    end: int
    heading: str


class _Paragraph(Struct, frozen=True, gc=False):
    """Lines without a blank line between them. `heading` is the title of a paragraph that begins with a heading;
    `follows_code`: fenced code was left out right before it."""

    start: int
    end: int
    heading: str | None
    follows_code: bool


def split_passages(text: str, *, include_code: bool = True) -> Iterator[PassageSection]:
    """The passages of a text in order. A heading begins a new passage; short paragraphs share one, a long paragraph is
    cut between sentences. Without `include_code`, fenced code belongs to no passage."""
    heading = ""
    start, end, size = 0, 0, 0
    for paragraph in _paragraphs(text, include_code=include_code):
        for piece in _pieces(text, paragraph):
            piece_size = _byte_length(text[piece.start : piece.end])
            begins = piece.start == paragraph.start and (paragraph.heading is not None or paragraph.follows_code)
            if size and (begins or size + piece_size > MAX_PASSAGE_BYTES):
                yield PassageSection(start, end, heading)
                size = 0
            if paragraph.heading is not None:
                heading = paragraph.heading
            if not size:
                start = piece.start
            end, size = piece.end, size + piece_size
    if size:
        yield PassageSection(start, end, heading)


def _paragraphs(text: str, *, include_code: bool) -> Iterator[_Paragraph]:
    paragraph: _Paragraph | None = None
    follows_code = False
    for line in _indexed_lines(text, include_code=include_code):
        content = None if line is None else text[line.start : line.end].strip()
        if paragraph and line and content and line.kind != "heading":
            paragraph = replace(paragraph, end=line.end)
            continue
        if paragraph:
            yield paragraph
            paragraph, follows_code = None, False
        if line is None:
            follows_code = True
        elif content:
            heading = text[line.content : line.end] if line.kind == "heading" else None
            start = line.start + text[line.start : line.end].index(content)
            paragraph = _Paragraph(start, line.end, heading, follows_code)
    if paragraph:
        yield paragraph


def _indexed_lines(text: str, *, include_code: bool) -> Iterator[MarkdownLine | None]:
    """The lines that are indexed; None for a line of fenced code that is left out. Code after a fence that is never
    closed is indexed: the end of the text may have been cut off."""
    lines = list(read_lines(text, indented_code=False))
    fences = [at for at, line in enumerate(lines) if line.kind == "fence"]
    closed = fences[-1] + 1 if fences and len(fences) % 2 == 0 else fences[-1] if fences else 0
    for at, line in enumerate(lines):
        yield line if include_code or at >= closed or line.kind not in ("code", "fence") else None


def _pieces(text: str, paragraph: _Paragraph) -> Iterator[Span]:
    """The paragraph; the sentences of a long one; slices of a long text without sentences, such as a script."""
    if _byte_length(text[paragraph.start : paragraph.end]) <= MAX_PASSAGE_BYTES:
        yield Span(paragraph.start, paragraph.end)
        return
    for sentence in sentences(text, paragraph.start, paragraph.end):
        for start in range(sentence.start, sentence.end, MAX_PASSAGE_BYTES):
            yield Span(start, min(start + MAX_PASSAGE_BYTES, sentence.end))


def _byte_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


T = TypeVar("T")

MAX_URL_BYTES = 2000
"""Some URLs are longer, but PostgreSQL accepts no more than 2704 bytes in an index."""


def pack(snapshot: Snapshot, *, searchable: bool = True, include_code: bool = True) -> LibraryEntry:
    """The entry of a snapshot. `searchable`: with the terms of its passages, which takes some milliseconds for a long
    page. `include_code`: fenced code is indexed too."""
    packed = zlib.compress(snapshot.text.encode("utf-8", "surrogatepass"))
    terms = _passage_terms(snapshot, include_code=include_code) if searchable else ()
    return LibraryEntry(_snapshot_row(snapshot), packed, len(snapshot.text), terms)


def unpack(row: FoundPassage) -> Snapshot:
    metadata = row.reading
    return Snapshot(
        url=metadata.url,
        text=zlib.decompress(row.packed).decode("utf-8", "surrogatepass"),
        title=metadata.title,
        author=metadata.author,
        published=metadata.published,
        language=metadata.language,
        site_name=metadata.site_name,
        canonical_url=metadata.canonical_url,
        media_type=metadata.media_type,
        fetched_at=metadata.fetched_at,
        links=tuple(Link(*link) for link in _unpack_json(metadata.links, list[tuple[str, int, int]])),
        pages=tuple(_unpack_json(metadata.pages, list[int])),
        icon=metadata.icon,
    )


def url_key(url: str) -> str:
    """The key of a page in the database: its URL. One that is too long for an index is cut, and a hash of the whole is
    appended."""
    storable = storable_text(url)
    if len(encoded := storable.encode()) <= MAX_URL_BYTES:
        return storable
    beginning = encoded[: MAX_URL_BYTES - 40].decode("utf-8", "ignore")
    return f"{beginning}…{hashlib.sha256(encoded).hexdigest()[:32]}"


def storable_text(text: str) -> str:
    """The text without lone surrogates and NUL characters, which databases refuse."""
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
    """The terms of each passage, which include the title of the page and the heading above the passage."""
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
