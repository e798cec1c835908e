"""What follows from a session by itself: its history, its sources, its verdicts, as a bundle has them. Pure, so that
whoever checks a bundle makes them anew."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from footnote.bundles.form import (
    FilesEntry,
    RunRecord,
    SessionEntry,
    SourceRecord,
    SourcesEntry,
    VerdictRecord,
    VerdictsEntry,
)
from footnote.db.turns import TurnRow
from footnote.evidence.sources import Sources
from footnote.protocol.history import ActiveRun, History, PastMessage, PastToolMessage, SessionHead, WorkspaceView
from footnote.protocol.messages import AssistantMessage, Message, Text, ToolResultMessage
from footnote.protocol.receipts import Receipt
from footnote.protocol.sessions import ACTIVE
from footnote.protocol.sources import Citation, Source, sources_in
from footnote.sessions.history import past_messages, past_turns, source_groups
from footnote.sessions.turns import branch_to, encode
from footnote.web_search.boundary import unwrap_web_text
from footnote.workspace.paths import LARGE_RESULTS


class BundledMessage(Struct, frozen=True):
    """A message of a run, with the id that the history gives it; results of tools have none."""

    run: RunRecord
    message_id: str | None
    message: AssistantMessage | ToolResultMessage


class CitedSource(Struct, frozen=True):
    """A text with footnotes: block `block` of a message, or the summary in the artifact of a result."""

    spoken: BundledMessage
    block: int
    text: str
    citations: tuple[Citation, ...]


class SourceAddress(Struct, frozen=True):
    """Where a text was found, and where that led to, if it is known."""

    url: str
    led_to: str | None

    def may_be(self, url: str) -> bool:
        """Whether the text may have been read there. Not every redirection is known, but those within a site are none
        to wonder at."""
        return url in (self.url, self.led_to) or (self.led_to is None and _site(url) == _site(self.url))


def _site(url: str) -> str:
    """Addresses that are none of the web are of one site for each scheme."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return (parts.hostname or "").removeprefix("www.") if parts.scheme in ("http", "https") else parts.scheme


# What was said ---------------------------------------------------------------------------------------------


def turns_of(entry: SessionEntry) -> list[TurnRow]:
    questions = {question.id: question for question in entry.questions}
    return [
        TurnRow(
            run.id,
            run.question_id,
            run.message_id,
            questions[run.question_id].after_run,
            run.state,
            encode(run.asked),
            None if run.ending is None else encode(run.ending),
            encode(questions[run.question_id].message),
            encode(questions[run.question_id].attachments),
            questions[run.question_id].created_at,
            run.created_at,
            run.ended_at,
        )
        for run in entry.runs
    ]


def said_in(runs: Sequence[RunRecord]) -> dict[str, list[bytes]]:
    return {run.id: [encode(said.message) for said in run.messages] for run in runs}


def head_of(entry: SessionEntry) -> SessionHead:
    session = entry.session
    return SessionHead(session.id, session.title, session.agent_id, session.created_at)


def history_of(entry: SessionEntry, files: FilesEntry) -> History:
    """As the server has it, with all JSON read."""
    turns = turns_of(entry)
    branch = branch_to(turns, entry.session.head)
    messages: tuple[PastMessage, ...] = tuple(past_messages(branch, said_in(entry.runs)))
    active = next((run.id for run in entry.runs if run.state in ACTIVE), None)
    history = History(
        session=head_of(entry),
        messages=messages,
        workspace=WorkspaceView(
            source_groups(messages),
            tuple(file.record for file in files.files if not file.record.path.startswith(LARGE_RESULTS)),
        ),
        active_run=None if active is None else ActiveRun(active),
        turns=tuple(past_turns(turns, branch)),
    )
    return msgspec.json.decode(msgspec.json.encode(history), type=History)


def as_in_version_1(history: History) -> History:
    """With what a bundle of version 1 can be compared: without what its history has not, and without the marks around
    text from the web, which it has."""
    messages = (replace(message, turn_id=UNSET, timestamp=UNSET) for message in history.messages)
    return replace(
        history,
        messages=tuple(
            replace(message, content=unwrap_web_text(message.content))
            if isinstance(message, PastToolMessage)
            else message
            for message in messages
        ),
        turns=tuple(replace(turn, timestamp=UNSET, ended_at=None) for turn in history.turns or ()),
    )


def spoken_in(entry: SessionEntry) -> Iterator[BundledMessage]:
    """Of all branches, in the order of the runs."""
    for run in entry.runs:
        rounds = sum(isinstance(said.message, AssistantMessage) for said in run.messages)
        number = 0
        for said in run.messages:
            message_id = None
            if isinstance(said.message, AssistantMessage):
                number += 1
                message_id = run.message_id if number == rounds else f"{run.message_id}-{number}"
            yield BundledMessage(run, message_id, said.message)


# What it rests on ------------------------------------------------------------------------------------------


def named_snapshots(entry: SessionEntry) -> list[str]:
    """The ids of all texts that something in the session rests on, sorted."""
    found = {source.snapshot_id for spoken in spoken_in(entry) for source in sources_named(spoken.message)}
    found |= {one.snapshot_id for spoken in spoken_in(entry) for text in cited_in(spoken) for one in text.citations}
    return sorted(one for one in found if one)


def addresses_of(entry: SessionEntry) -> dict[str, tuple[SourceAddress, ...]]:
    """Where each text was found, by its id."""
    found: dict[str, dict[SourceAddress, None]] = {}
    for spoken in spoken_in(entry):
        led_to = _led_to(spoken.message)
        for source in sources_named(spoken.message):
            if source.snapshot_id:
                address = SourceAddress(source.url, led_to.get(source.url))
                found.setdefault(source.snapshot_id, {})[address] = None
    return {one: tuple(addresses) for one, addresses in found.items()}


def _led_to(message: Message) -> dict[str, str]:
    """Addresses that were asked for, and where the reading of each ended."""
    artifact = message.artifact if isinstance(message, ToolResultMessage) else None
    receipt: Any = (artifact or {}).get("receipt")
    try:
        pages = msgspec.convert(receipt, Receipt).pages if receipt is not None else ()
    except msgspec.ValidationError:
        return {}
    return {page.url: page.final_url for page in pages if page.final_url is not None}


def sources_of(entry: SessionEntry) -> SourcesEntry:
    """By number. Should two branches have given one to two sources, it is that of the branch that is shown."""
    shown = {turn.run_id: None for turn in branch_to(turns_of(entry), entry.session.head)}
    order = [*shown, *(run.id for run in entry.runs if run.id not in shown)]
    by_run = {run.id: run for run in entry.runs}
    messages: list[Message] = [said.message for run_id in order for said in by_run[run_id].messages]
    sources = Sources.from_messages(messages, {})
    read: dict[int, dict[str, None]] = {}
    for message in messages:
        for source in sources_named(message):
            if source.snapshot_id and (source.number or 0) > 0:
                read.setdefault(sources.assign_number(source.url), {})[source.snapshot_id] = None
    records = ((number, sources.source(number)) for number in sources.numbers)
    return SourcesEntry(
        tuple(_source(number, source, tuple(read.get(number, ()))) for number, source in records if source is not None)
    )


def _source(number: int, source: Source, snapshots: tuple[str, ...]) -> SourceRecord:
    return SourceRecord(
        number=number,
        url=source.url,
        title=source.title,
        domain=source.domain,
        status=source.status,
        published=source.published,
        fetched_at=source.fetched_at,
        snapshots=snapshots,
    )


def verdicts_of(entry: SessionEntry) -> VerdictsEntry:
    return VerdictsEntry(
        tuple(
            _verdict(text, citation)
            for spoken in spoken_in(entry)
            for text in cited_in(spoken)
            for citation in text.citations
        )
    )


def _verdict(text: CitedSource, citation: Citation) -> VerdictRecord:
    message = text.spoken.message
    return VerdictRecord(
        message_id=text.spoken.message_id,
        call_id=message.tool_call_id if isinstance(message, ToolResultMessage) else None,
        block=text.block,
        marker=citation.marker,
        number=citation.number,
        start=citation.start,
        end=citation.end,
        sentence=text.text[max(citation.start, 0) : max(citation.end, 0)],
        verdict=citation.verdict,
        quote=citation.quote,
        quote_start=citation.quote_start,
        quote_end=citation.quote_end,
        snapshot_id=citation.snapshot_id,
    )


def cited_in(spoken: BundledMessage) -> Iterator[CitedSource]:
    """Every text of a message that may have footnotes, also one in which none was judged."""
    message = spoken.message
    if isinstance(message, AssistantMessage):
        for index, block in enumerate(message.content):
            if isinstance(block, Text):
                yield CitedSource(spoken, index, block.text, block.citations)
    elif message.artifact is not None and isinstance(message.artifact.get("summary"), str):
        listed = message.artifact.get("citations")
        yield CitedSource(spoken, 0, message.artifact["summary"], tuple(_converted(listed)))


def sources_named(message: Message) -> Iterator[Source]:
    if isinstance(message, ToolResultMessage) and message.artifact is not None:
        yield from sources_in(cast("Mapping[str, Any]", message.artifact))


def _converted(listed: Any) -> Iterator[Citation]:
    """Those of a list that are what they should be: tools of others may have artifacts of any form."""
    for one in cast("Sequence[Any]", listed) if isinstance(listed, list | tuple) else ():
        try:
            yield msgspec.convert(one, Citation)
        except msgspec.ValidationError:
            continue
