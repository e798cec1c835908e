"""A session as it is shown after a reload: what was streamed, block for block; and its sources, one by one.

Artifacts are most of a history, and are passed on as stored JSON, without decoding.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

import msgspec
from msgspec import UNSET, Raw, Struct

from footnote.db.runs import TurnRow
from footnote.evidence.sources import Sources
from footnote.protocol import format_time
from footnote.protocol.events import PlanBlock, ThinkingBlock
from footnote.protocol.files import FileRecord, ToolImage
from footnote.protocol.history import (
    PastAssistantMessage,
    PastBlock,
    PastMessage,
    PastText,
    PastToolMessage,
    PastToolUse,
    PastTurn,
    PastUserMessage,
)
from footnote.protocol.messages import (
    AssistantMessage,
    Block,
    Message,
    Plan,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
)
from footnote.protocol.sessions import ACTIVE, SourceSnapshot, SourceView
from footnote.protocol.sources import Citation, Quote, Snapshot, Source, SourceGroup, sources_in
from footnote.sessions import turns as stored
from footnote.text.boundary import unwrap_web_text


class _HistoryText(Struct, tag="text"):
    text: str


class _HistoryImage(Struct, tag="image"):
    pass


class _Result(Struct, tag_field="role", tag="toolResult", rename="camel"):
    """The part of a `ToolResultMessage` that is shown."""

    tool_call_id: str
    tool_name: str
    content: tuple[_HistoryText | _HistoryImage, ...]
    is_error: bool = False
    artifact: Raw = Raw(b"null")
    timestamp: str | None = None
    images: tuple[ToolImage, ...] = ()
    parent: str | None = None


_message_decoder = msgspec.json.Decoder(AssistantMessage | _Result)


def past_messages(branch: Sequence[TurnRow], bodies_by_run: Mapping[str, Sequence[bytes]]) -> Iterator[PastMessage]:
    """The turns of a branch. An active run has only its question here: its answer is in its events."""
    for turn in branch:
        question = stored.question_decoder.decode(turn.question)
        yield PastUserMessage(
            turn.question_id,
            tuple(PastText(part.text) for part in question.content if isinstance(part, Text)),
            stored.files_decoder.decode(turn.attachments),
            turn_id=turn.run_id,
            timestamp=turn.asked_at,
        )
        if turn.state not in ACTIVE:
            yield from _answer(turn, [_message_decoder.decode(body) for body in bodies_by_run.get(turn.run_id, ())])


def source_groups(messages: Sequence[PastMessage]) -> tuple[SourceGroup, ...]:
    """One for each search, in order."""
    groups = (group_of(message.artifact) for message in messages if isinstance(message, PastToolMessage))
    return tuple(group for group in groups if group is not None)


def past_turns(turns: Sequence[TurnRow], branch: Sequence[TurnRow]) -> Iterator[PastTurn]:
    questions: dict[str | None, dict[str, None]] = {}
    answers: dict[str, list[str]] = {}
    for turn in turns:
        questions.setdefault(turn.after_run, {})[turn.question_id] = None
        answers.setdefault(turn.question_id, []).append(turn.message_id)
    for turn in branch:
        ending = None if turn.ending is None else stored.ending_decoder.decode(turn.ending)
        request = stored.request_decoder.decode(turn.asked)
        yield PastTurn(
            run_id=turn.run_id,
            question_id=turn.question_id,
            message_id=turn.message_id,
            state=turn.state,
            model=request.model,
            stop_reason=ending and ending.stop_reason,
            usage=ending and ending.usage,
            error=ending and ending.error,
            questions=tuple(questions[turn.after_run]),
            answers=tuple(answers[turn.question_id]),
            timestamp=format_time(turn.began_at),
            ended_at=None if turn.ended_at is None else format_time(turn.ended_at),
            unsourced=True if ending and ending.unsourced else UNSET,
            budget=request.budget or UNSET,
            spent=ending.spent or UNSET if ending else UNSET,
        )


def _answer(turn: TurnRow, messages: Sequence[AssistantMessage | _Result]) -> Iterator[PastMessage]:
    files = () if turn.ending is None else stored.ending_decoder.decode(turn.ending).attachments
    ids = response_ids(turn.message_id, [message for message in messages if isinstance(message, AssistantMessage)])
    for message in messages:
        if isinstance(message, _Result):
            yield _result(turn, message)
            continue
        message_id = next(ids)
        yield _response(turn, message_id, message, files if message_id == turn.message_id else ())


def response_ids(message_id: str, responses: Sequence[AssistantMessage]) -> Iterator[str]:
    """The ids of the responses of a turn. The answer, which is the last one that belongs to no item of a plan, has that
    of the turn; the others have it with a number."""
    own = [number for number, response in enumerate(responses, 1) if response.parent is None]
    for number in range(1, len(responses) + 1):
        yield message_id if number == (own[-1] if own else 0) else f"{message_id}-{number}"


def _response(
    turn: TurnRow, message_id: str, message: AssistantMessage, files: tuple[FileRecord, ...]
) -> PastAssistantMessage:
    blocks = tuple(block for block in map(_block, message.content) if block is not None)
    timestamp = message.timestamp or _timestamp_of(turn)
    return PastAssistantMessage(message_id, blocks, files, turn.run_id, timestamp, message.parent or UNSET)


def _timestamp_of(turn: TurnRow) -> str:
    """For messages that were stored before messages had timestamps."""
    return format_time(turn.began_at if turn.ended_at is None else turn.ended_at)


def _result(turn: TurnRow, message: _Result) -> PastToolMessage:
    text = unwrap_web_text("\n".join(part.text for part in message.content if isinstance(part, _HistoryText)))
    status: Literal["success", "error"] = "error" if message.is_error else "success"
    return PastToolMessage(
        message.tool_call_id,
        message.tool_name,
        text,
        status,
        message.artifact,
        turn_id=turn.run_id,
        timestamp=message.timestamp or _timestamp_of(turn),
        images=message.images or UNSET,
        parent=message.parent or UNSET,
    )


def _block(block: Block) -> PastBlock | None:
    """The block as it was streamed; None for an unknown kind."""
    match block:
        case Text():
            return PastText(block.text, block.citations)
        case Thinking():
            return ThinkingBlock(block.text)
        case ToolCall():
            return PastToolUse(block.id, block.name, block.arguments, block.title or block.name)
        case Plan():
            return PlanBlock(block.items, block.steering or UNSET)
        case _:
            return None


# The sources of a session --------------------------------------------------------------------------------


class _FoundSource(Struct):
    query: str
    sources: list[Raw]


_group_decoder = msgspec.json.Decoder(SourceGroup)
_search_decoder = msgspec.json.Decoder(_FoundSource)
_source_decoder = msgspec.json.Decoder(Source)


def group_of(artifact: Raw) -> SourceGroup | None:
    """The search results in an artifact; None for artifacts of other tools, which may have any form."""
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
    """The hits at the URL of this number, search by search; in another branch the URL may have another number."""
    sources = Sources.from_messages(messages, {})
    if sources.source(number) is None:
        return []
    return [entry for message in messages for entry in _sources(message) if sources.assign_number(entry.url) == number]


def _snapshot_view(snapshot: Snapshot, read_at: str, quotes: Sequence[Quote]) -> SourceSnapshot:
    """The text with the quotations that it contains: a page that was read again may have changed."""
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
    """The quotations from a source in answers and in summaries of searches, suggested ones included."""
    for message in messages:
        for one in _citations(message):
            if (
                number in (one.number, one.suggestion)
                and one.quote
                and one.quote_start is not None
                and one.quote_end is not None
            ):
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
    """The items of a list that have the expected form."""
    for entry in cast("Sequence[Any]", listed) if isinstance(listed, list | tuple) else ():
        try:
            yield msgspec.convert(entry, kind)
        except msgspec.ValidationError:
            continue
