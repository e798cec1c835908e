"""A session as markdown: questions, tool calls, answers, and the sources that they cite. The functions are pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

import msgspec
from msgspec import Struct

from footnote.bundles.schema import SourceRecord
from footnote.protocol.events import PlanBlock
from footnote.protocol.files import FileCitations, FileRecord
from footnote.protocol.history import (
    History,
    PastAssistantMessage,
    PastMessage,
    PastText,
    PastToolMessage,
    PastToolUse,
    PastTurn,
    PastUserMessage,
)
from footnote.protocol.sessions import ACTIVE
from footnote.protocol.sources import Citation, ProofCounts, disagreements_in, published_day
from footnote.text.markdown import escape_inline, markdown_link

_ENDINGS = {
    "aborted": "Stopped here.",
    "length": "Cut here: the longest that the model may write.",
    "max_rounds": "The agent used all its tool rounds and answered with what it had.",
}
_VERDICTS = {
    "partial": "partly supported",
    "contradicted": "contradicted",
    "unsupported": "not supported",
    "uncited": "without a footnote",
    "unread": "page not read",
}


class TranscriptTurn(Struct, frozen=True):
    """A question with the messages that answer it, without those of items of a plan: the report has what came of
    them."""

    question: str
    answer: str
    messages: tuple[PastMessage, ...]


def heading(history: History) -> str:
    session = history.session
    when = session.created_at[:16].replace("T", " ")
    return f"# {escape_inline(session.title) or 'Untitled'}\n\n{session.id} · {session.agent_id} · {when} UTC"


def turns_of(history: History) -> Iterator[TranscriptTurn]:
    """The turns of the active branch."""
    known = {turn.question_id: turn for turn in history.turns or ()}
    for asked, messages in _split_turns(history.messages):
        question = [*(block.text for block in asked.content), *_attachment_list(asked)]
        shown = [message for message in messages if isinstance(message, PastUserMessage) or not message.parent]
        answer = [*_blocks(shown), *_ending(known.get(asked.id), shown)]
        yield TranscriptTurn("\n\n".join(question), "\n\n".join(answer), tuple(shown))


def markdown(history: History, sources: Iterable[SourceRecord]) -> str:
    """The active branch. `sources` are those of all branches: an answer may cite a source that another branch found."""
    numbered = {source.number: source for source in sources}
    parts = [heading(history)]
    for turn in turns_of(history):
        parts += ["## Question", turn.question, "## Answer", turn.answer]
        parts += _disagreement_lists(turn.messages)
        if cited := _citations_by_source(turn.messages):
            lines = [line for number in sorted(cited) for line in _entry(number, cited[number], numbered.get(number))]
            parts += ["\n".join(["Sources:", "", *lines])] if lines else []
            if unproved := [f"- {line}" for line in map(_without_source, cited.get(0, ())) if line]:
                parts.append("\n".join(["Without a source:", "", *unproved]))
    return "\n\n".join(part for part in parts if part) + "\n"


def _disagreement_lists(messages: Iterable[PastMessage]) -> Iterator[str]:
    """The sides of each disagreement that a search found."""
    for message in messages:
        if isinstance(message, PastToolMessage):
            for found in disagreements_in(_artifact(message)):
                lines = (
                    f"- [{side.number}]{f' ({day})' if (day := published_day(side.published)) else ''}"
                    f" “{escape_inline(' '.join(side.text.split()))}”"
                    for side in found.values
                )
                yield "\n".join([f"Sources contradict each other ({escape_inline(found.about)}):", "", *lines])


def _artifact(message: PastToolMessage) -> Mapping[str, Any]:
    """The artifact of a result, which a history may hold as JSON that is not decoded."""
    artifact = message.artifact
    if isinstance(artifact, msgspec.Raw):
        artifact = msgspec.json.decode(artifact)
    return cast("dict[str, Any]", artifact) if isinstance(artifact, dict) else {}


def _split_turns(messages: tuple[PastMessage, ...]) -> Iterator[tuple[PastUserMessage, list[PastMessage]]]:
    asked: PastUserMessage | None = None
    following: list[PastMessage] = []
    for message in messages:
        if not isinstance(message, PastUserMessage):
            following.append(message)
            continue
        if asked is not None:
            yield asked, following
        asked, following = message, []
    if asked is not None:
        yield asked, following


def _attachment_list(asked: PastUserMessage) -> Iterator[str]:
    if asked.attachments:
        yield "\n".join(["Files:", "", *(f"- {escape_inline(file.filename)}" for file in asked.attachments)])


def _citations_by_source(messages: Sequence[PastMessage]) -> dict[int, list[tuple[str, Citation]]]:
    """The footnoted sentences of the answer, by the number of their source."""
    cited: dict[int, list[tuple[str, Citation]]] = {}
    for message in messages:
        if isinstance(message, PastAssistantMessage):
            for block in message.content:
                for one in block.citations if isinstance(block, PastText) else ():
                    sentence = block.text[one.start : one.end] if isinstance(block, PastText) else ""
                    cited.setdefault(one.number, []).append((sentence, one))
    return cited


def _blocks(messages: Sequence[PastMessage]) -> Iterator[str]:
    """The plan, the text of the agent, and a line for each tool call."""
    proofs = _proof_counts(messages)
    failed = {one.tool_call_id for one in messages if isinstance(one, PastToolMessage) and one.status == "error"}
    for message in messages:
        if not isinstance(message, PastAssistantMessage):
            continue
        yield from (_plan(block) for block in message.content if isinstance(block, PlanBlock))
        calls = [_call(block, failed) for block in message.content if isinstance(block, PastToolUse)]
        texts = (block.text.strip() for block in message.content if isinstance(block, PastText))
        yield from filter(None, texts)
        if calls:
            yield "\n".join(calls)
        if message.attachments:
            yield "\n".join(["Files:", "", *(_file(file, proofs) for file in message.attachments)])


def _plan(block: PlanBlock) -> str:
    """The questions that were looked up; those that were not, with the reason."""
    lines = ["Plan:", ""]
    for item in block.items:
        state = "" if item.status == "done" else item.status
        detail = ": ".join(filter(None, (state, escape_inline(item.note or ""))))
        lines.append(f"- {escape_inline(item.question)}" + (f" ({detail})" if detail else ""))
    if block.steering:
        lines += ["", "Said meanwhile:", "", *(f"- {escape_inline(' '.join(text.split()))}" for text in block.steering)]
    return "\n".join(lines)


def _call(block: PastToolUse, failed: set[str]) -> str:
    texts = (value for value in block.input.values() if isinstance(value, str))
    detail = next((escape_inline(text) for text in texts if text.strip() and "\n" not in text), "")
    suffix = (f": {detail}" if detail else "") + (" (failed)" if block.id in failed else "")
    return f"- {escape_inline(block.tool_content_message or block.name)}{suffix}"


def _proof_counts(messages: Iterable[PastMessage]) -> dict[str, ProofCounts]:
    """The counts of the last version of each file that a call of these messages wrote."""
    found: dict[str, ProofCounts] = {}
    for message in messages:
        artifact = cast("object", message.artifact) if isinstance(message, PastToolMessage) else None
        if isinstance(artifact, dict):
            with suppress(msgspec.ValidationError):  # most tools have none, and that of a plugin may be anything
                proof = msgspec.convert(cast("dict[str, Any]", artifact).get("proof"), FileCitations)
                found[proof.file_path] = proof.counts
    return found


def _file(record: FileRecord, proofs: Mapping[str, ProofCounts]) -> str:
    line = f"- {escape_inline(record.path)}"
    counts = proofs.get(record.path)
    return line if counts is None or not counts.statements else f"{line}: {_counts(counts)}"


def _counts(counts: ProofCounts) -> str:
    by_verdict = {verdict: getattr(counts, verdict) for verdict in ("supported", *_VERDICTS)}
    total = "1 statement" if counts.statements == 1 else f"{counts.statements} statements"
    named = (f"{count} {_VERDICTS.get(verdict, verdict)}" for verdict, count in by_verdict.items() if count)
    return f"{total}: {', '.join(named)}"


def _ending(turn: PastTurn | None, messages: Sequence[PastMessage]) -> Iterator[str]:
    if turn is None:
        return
    if turn.unsourced is True:
        yield "*Nothing was looked up for this answer.*"
    if turn.error is not None:
        yield f"*Failed: {escape_inline(turn.error.message)}*"
    elif turn.state in ACTIVE:
        yield "*Being answered now.*"
    elif ending := _ENDINGS.get(turn.stop_reason or ""):
        yield f"*{ending}*"
    elif not messages:
        yield "*There is no answer.*"


def _without_source(cited: tuple[str, Citation]) -> str:
    """A statement without a footnote, or with a link to a page that was not read."""
    sentence, citation = cited
    if citation.verdict not in ("uncited", "unread"):
        return ""
    suggestion = f"; source [{citation.suggestion}] says so" if citation.suggestion else ""
    return f"{_VERDICTS[citation.verdict]}: “{escape_inline(sentence)}”{suggestion}"


def _entry(number: int, cited: Sequence[tuple[str, Citation]], source: SourceRecord | None) -> Iterator[str]:
    if all(citation.number == 0 and citation.verdict in ("uncited", "unread") for _, citation in cited):
        return
    if source is None:
        yield f"- [{number}] no such source"
        return
    yield f"- [{number}] {markdown_link(source.title.strip() or source.domain or source.url, source.url)}"
    written: set[str] = set()
    for sentence, citation in cited:
        line = _evidence(sentence, citation)
        if line and line not in written:
            written.add(line)
            yield f"  - {line}"


def _evidence(sentence: str, citation: Citation) -> str:
    quote = f"“{escape_inline(citation.quote)}”" if citation.quote else ""
    verdict = _VERDICTS.get(citation.verdict)
    if verdict is None:
        return quote
    bare = sentence.replace(f" {citation.marker}", "").replace(citation.marker, "")
    return f"{verdict}: “{escape_inline(bare)}”" + (f"; the page says: {quote}" if quote else "")
