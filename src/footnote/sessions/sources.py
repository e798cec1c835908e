"""The sources of a session: as groups, one for each search, and one by one, with what was read and quoted."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import msgspec
from msgspec import Raw, Struct

from footnote.evidence.sources import Sources
from footnote.protocol.messages import AssistantMessage, Message, Text, ToolResultMessage
from footnote.protocol.sessions import SourceSnapshot, SourceView
from footnote.protocol.sources import Citation, Quote, Snapshot, Source, SourceGroup, sources_in


class _FoundSource(Struct):
    query: str
    sources: list[Raw]


_group_decoder = msgspec.json.Decoder(SourceGroup)
_search_decoder = msgspec.json.Decoder(_FoundSource)
_source_decoder = msgspec.json.Decoder(Source)


def group_of(artifact: Raw) -> SourceGroup | None:
    """What a search found, if the artifact is that of a search. Tools of others may have artifacts of any form."""
    try:
        return _group_decoder.decode(artifact)
    except msgspec.DecodeError:
        pass
    try:
        found = _search_decoder.decode(artifact)
    except msgspec.DecodeError:
        return None
    return SourceGroup(found.query, tuple(_decode_sources(found.sources)))


def _decode_sources(listed: Iterable[Raw]) -> Iterator[Source]:
    for entry in listed:
        try:
            yield _source_decoder.decode(entry)
        except msgspec.DecodeError:
            continue


def snapshot_ids_of(messages: Sequence[Message], number: int) -> tuple[str, ...]:
    """The ids of the texts that were read from a source."""
    return tuple(entry.snapshot_id for entry in _entries(messages, number) if entry.snapshot_id)


def snapshot_ids_by_number(messages: Sequence[Message]) -> dict[int, tuple[str, ...]]:
    """The ids of the texts that were read from each source, each once."""
    sources = Sources.from_messages(messages, {})
    found: dict[int, dict[str, None]] = {number: {} for number in sources.numbers}
    for entry in (entry for message in messages for entry in _sources(message)):
        if entry.snapshot_id and (ids := found.get(sources.assign_number(entry.url))) is not None:
            ids[entry.snapshot_id] = None
    return {number: tuple(ids) for number, ids in found.items()}


def source_view(messages: Sequence[Message], number: int, snapshots: dict[str, Snapshot]) -> SourceView | None:
    """None: no source has this number. `snapshots` are those that were read from it, by their ids.

    Should two branches have given a number to two sources, it is that of the messages that come first.
    """
    source = Sources.from_messages(messages, snapshots).source(number)
    if source is None:
        return None
    entries = _entries(messages, number)
    read_at = {entry.snapshot_id: entry.fetched_at or "" for entry in entries if entry.snapshot_id in snapshots}
    quotes = [quote for entry in entries for quote in entry.quotes] + list(_cited_quotes(messages, number))
    return SourceView(
        number=number,
        url=source.url,
        title=source.title,
        domain=source.domain,
        status=source.status,
        published=source.published,
        fetched_at=source.fetched_at,
        snapshots=tuple(
            _snapshot_view(snapshots[snapshot_id], moment, quotes)
            for snapshot_id, moment in sorted(read_at.items(), key=lambda reading: reading[1], reverse=True)
        ),
    )


def _entries(messages: Sequence[Message], number: int) -> list[Source]:
    """What was found at the address that has this number, search by search. Elsewhere it may have another."""
    sources = Sources.from_messages(messages, {})
    if sources.source(number) is None:
        return []
    return [entry for message in messages for entry in _sources(message) if sources.assign_number(entry.url) == number]


def _snapshot_view(snapshot: Snapshot, read_at: str, quotes: Sequence[Quote]) -> SourceSnapshot:
    """With the quotes that stand in this very text: a page that was read again may have changed."""
    standing = {(quote.start, quote.end): quote for quote in quotes if _matches_text(quote, snapshot.text)}
    return SourceSnapshot(
        id=snapshot.id,
        title=snapshot.title,
        text=snapshot.text,
        media_type=snapshot.media_type,
        fetched_at=read_at or snapshot.fetched_at,
        links=snapshot.links,
        pages=snapshot.pages,
        quotes=tuple(standing[place] for place in sorted(standing)),
    )


def _matches_text(quote: Quote, text: str) -> bool:
    return 0 <= quote.start < quote.end and text[quote.start : quote.end] == quote.text


def _cited_quotes(messages: Iterable[Message], number: int) -> Iterator[Quote]:
    """What answers, and the summaries of searches, quote from a source."""
    for message in messages:
        for one in _citations(message):
            if one.number == number and one.quote and one.quote_start is not None and one.quote_end is not None:
                yield Quote(one.quote, one.quote_start, one.quote_end)


def _citations(message: Message) -> Iterator[Citation]:
    if isinstance(message, AssistantMessage):
        for block in message.content:
            if isinstance(block, Text):
                yield from block.citations
    elif isinstance(message, ToolResultMessage) and message.artifact is not None:
        yield from _convert_valid(message.artifact.get("citations"), Citation)


def _sources(message: Message) -> Iterator[Source]:
    if isinstance(message, ToolResultMessage) and message.artifact is not None:
        yield from sources_in(message.artifact)


def _convert_valid(listed: Any, kind: type[Any]) -> Iterator[Any]:
    """Those of a list that are what they should be."""
    for entry in cast("Sequence[Any]", listed) if isinstance(listed, list | tuple) else ():
        try:
            yield msgspec.convert(entry, kind)
        except msgspec.ValidationError:
            continue
