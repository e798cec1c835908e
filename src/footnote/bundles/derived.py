"""The entries of a bundle that are derived from the session: history, sources and verdicts. The functions are pure, so
that verification can derive them again."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from footnote.bundles.schema import (
    FilesEntry,
    RunRecord,
    SessionEntry,
    SourceRecord,
    SourcesEntry,
    VerdictRecord,
    VerdictsEntry,
)
from footnote.db.runs import TurnRow
from footnote.evidence.proof import given_texts
from footnote.evidence.sources import Sources
from footnote.protocol.history import ActiveRun, History, PastMessage, SessionHead, WorkspaceView
from footnote.protocol.messages import AssistantMessage, Message, Text, ToolResultMessage
from footnote.protocol.sessions import ACTIVE
from footnote.protocol.sources import Citation, Receipt, Source, sources_in
from footnote.sessions.history import past_messages, past_turns, response_ids, source_groups
from footnote.sessions.turns import branch_to, encode
from footnote.workspace.paths import LARGE_RESULTS


class BundledMessage(Struct, frozen=True):
    """A message of a run, with the id that it has in the history; tool results have none."""

    run: RunRecord
    message_id: str | None
    message: AssistantMessage | ToolResultMessage


class CitedText(Struct, frozen=True):
    """A text with footnotes: block `block` of an answer, or the summary in the artifact of a tool result. `judges_all`:
    its statements without a footnote were judged, too."""

    origin: BundledMessage
    block: int
    text: str
    citations: tuple[Citation, ...]
    judges_all: bool = False


class SourceAddress(Struct, frozen=True):
    """The URL of a source, and the URL to which it redirected, if that is known."""

    url: str
    final_url: str | None

    def may_serve(self, url: str) -> bool:
        """Whether the snapshot may be from `url`. A redirect that was not recorded is taken to stay within the site."""
        return url in (self.url, self.final_url) or (self.final_url is None and _site(url) == _site(self.url))


def _site(url: str) -> str:
    """The host without `www.`; URLs of another scheme than HTTP belong to one site per scheme."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return (parts.hostname or "").removeprefix("www.") if parts.scheme in ("http", "https") else parts.scheme


# Messages --------------------------------------------------------------------------------------------------


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


def bodies_by_run(runs: Sequence[RunRecord]) -> dict[str, list[bytes]]:
    return {run.id: [encode(one.message) for one in run.messages] for run in runs}


def head_of(entry: SessionEntry) -> SessionHead:
    session = entry.session
    return SessionHead(session.id, session.title, session.agent_id, session.created_at)


def history_of(entry: SessionEntry, files: FilesEntry) -> History:
    """The history of the active branch, as the server returns it."""
    turns = turns_of(entry)
    branch = branch_to(turns, entry.session.head)
    messages: tuple[PastMessage, ...] = tuple(past_messages(branch, bodies_by_run(entry.runs)))
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


def messages_of(entry: SessionEntry) -> Iterator[BundledMessage]:
    """The messages of all branches, in the order of the runs."""
    for run in entry.runs:
        ids = response_ids(
            run.message_id, [one.message for one in run.messages if isinstance(one.message, AssistantMessage)]
        )
        for one in run.messages:
            message_id = next(ids) if isinstance(one.message, AssistantMessage) else None
            yield BundledMessage(run, message_id, one.message)


def given_of(entry: SessionEntry) -> dict[str, tuple[str, ...]]:
    """By the id of each run, what its branch was given beside its sources, up to the end of the run."""
    runs = {run.id: run for run in entry.runs}
    questions = {question.id: question for question in entry.questions}
    found: dict[str, tuple[str, ...]] = {}
    for turn in turns_of(entry):
        run = runs[turn.run_id]
        earlier = found.get(turn.after_run or "", ())
        own = [questions[run.question_id].message, *(one.message for one in run.messages)]
        found[run.id] = (*earlier, *given_texts(own))
    return found


# Sources ----------------------------------------------------------------------------------------------------


def cited_snapshots(entry: SessionEntry) -> list[str]:
    """The ids of all snapshots that the session cites, sorted."""
    found = {source.snapshot_id for bundled in messages_of(entry) for source in sources_cited(bundled.message)}
    found |= {
        one.snapshot_id for bundled in messages_of(entry) for text in cited_texts(bundled) for one in text.citations
    }
    return sorted(one for one in found if one)


def addresses_of(entry: SessionEntry) -> dict[str, tuple[SourceAddress, ...]]:
    """The addresses at which the session found each snapshot, by snapshot id."""
    found: dict[str, dict[SourceAddress, None]] = {}
    for bundled in messages_of(entry):
        redirects = _redirects(bundled.message)
        for source in sources_cited(bundled.message):
            if source.snapshot_id:
                address = SourceAddress(source.url, redirects.get(source.url))
                found.setdefault(source.snapshot_id, {})[address] = None
    return {one: tuple(addresses) for one, addresses in found.items()}


def _redirects(message: Message) -> dict[str, str]:
    """The final URL of each requested URL, from the receipt of a search."""
    artifact = message.artifact if isinstance(message, ToolResultMessage) else None
    receipt: Any = (artifact or {}).get("receipt")
    try:
        pages = msgspec.convert(receipt, Receipt).pages if receipt is not None else ()
    except msgspec.ValidationError:
        return {}
    return {page.url: page.final_url for page in pages if page.final_url is not None}


def shown_first(entry: SessionEntry) -> tuple[AssistantMessage | ToolResultMessage, ...]:
    """The messages of all branches, those of the active branch first."""
    shown = {turn.run_id: None for turn in branch_to(turns_of(entry), entry.session.head)}
    order = [*shown, *(run.id for run in entry.runs if run.id not in shown)]
    by_run = {run.id: run for run in entry.runs}
    return tuple(one.message for run_id in order for one in by_run[run_id].messages)


def sources_of(entry: SessionEntry) -> SourcesEntry:
    """The sources by number. If two branches gave one number to two sources, the active branch wins."""
    messages = shown_first(entry)
    sources = Sources.from_messages(messages, {})
    read: dict[int, dict[str, None]] = {}
    for message in messages:
        for source in sources_cited(message):
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
            for bundled in messages_of(entry)
            for text in cited_texts(bundled)
            for citation in text.citations
        )
    )


def _verdict(text: CitedText, citation: Citation) -> VerdictRecord:
    message = text.origin.message
    return VerdictRecord(
        message_id=text.origin.message_id,
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


def cited_texts(bundled: BundledMessage) -> Iterator[CitedText]:
    """Every text of a message that may have footnotes, including texts without judged citations."""
    message = bundled.message
    if isinstance(message, AssistantMessage):
        for index, block in enumerate(message.content):
            if isinstance(block, Text):
                yield CitedText(bundled, index, block.text, block.citations, block.is_wholly_judged)
    elif message.artifact is not None and isinstance(message.artifact.get("summary"), str):
        listed = message.artifact.get("citations")
        yield CitedText(bundled, 0, message.artifact["summary"], tuple(_citations(listed)))


def sources_cited(message: Message) -> Iterator[Source]:
    if isinstance(message, ToolResultMessage) and message.artifact is not None:
        yield from sources_in(cast("Mapping[str, Any]", message.artifact))


def _citations(listed: Any) -> Iterator[Citation]:
    """The valid citations of a list. Third-party tools may return artifacts of any form."""
    for one in cast("Sequence[Any]", listed) if isinstance(listed, list | tuple) else ():
        try:
            yield msgspec.convert(one, Citation)
        except msgspec.ValidationError:
            continue
