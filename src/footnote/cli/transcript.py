"""A session as text to be read: questions, what was done, answers, and what they rest on. Pure."""

from collections.abc import Iterator
from itertools import count

from msgspec import Struct

from footnote.cli.terminal.footnotes import Cited, Footnotes, title_of
from footnote.language.quotation import inline, link
from footnote.protocol.events import BlockDelta, BlockStart, CitationsGrowth, Event, TextBlock, ToolResultBlock
from footnote.protocol.files import FileRecord
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

_ENDINGS = {
    "aborted": "Stopped here.",
    "length": "Cut here: the longest that the model may write.",
    "max_rounds": "The agent used all its tool rounds and answered with what it had.",
}
_VERDICTS = {"partial": "partly supported", "unsupported": "not supported"}


class Turn(Struct, frozen=True):
    """One question with all that answers it. `footnotes` are those of the answer."""

    question: str
    answer: str
    footnotes: Footnotes


def heading(history: History) -> str:
    session = history.session
    when = session.created_at[:16].replace("T", " ")
    return f"# {inline(session.title) or 'Untitled'}\n\n{session.id} · {session.agent_id} · {when} UTC"


def turns_of(history: History) -> Iterator[Turn]:
    """The turns of the branch that is shown."""
    known = {turn.question_id: turn for turn in history.turns or ()}
    numbered = [source for group in history.workspace.sources for source in group.sources]
    for asked, messages in _parted(history.messages):
        footnotes = Footnotes()
        footnotes.know(numbered)
        for event in _events(messages):
            footnotes.feed(event)
        told = known.get(asked.id)
        parts = [*_blocks(messages), *_ending(told, messages)]
        question = "\n\n".join(block.text for block in asked.content)
        yield Turn(question, "\n\n".join(parts), footnotes)


def markdown(history: History) -> str:
    """The whole session as one markdown text."""
    parts = [heading(history)]
    for turn in turns_of(history):
        parts += ["## Question", turn.question, "## Answer", turn.answer]
        if cited := turn.footnotes.cited():
            lines = [line for number, ones in cited.items() for line in _entry(number, ones, turn.footnotes)]
            parts.append("\n".join(["Sources:", "", *lines]))
    return "\n\n".join(part for part in parts if part) + "\n"


def _parted(messages: tuple[PastMessage, ...]) -> Iterator[tuple[PastUserMessage, list[PastMessage]]]:
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


def _events(messages: list[PastMessage]) -> Iterator[Event]:
    """The events that footnotes are made of."""
    index = count()
    for message in messages:
        if isinstance(message, PastToolMessage):
            result = ToolResultBlock(message.tool_call_id, message.name, message.status, "", message.artifact)
            yield BlockStart(next(index), result)
        elif isinstance(message, PastAssistantMessage):
            for block in message.content:
                if isinstance(block, PastText):
                    place = next(index)
                    yield BlockStart(place, TextBlock(block.text))
                    yield BlockDelta(place, CitationsGrowth(block.citations))


def _blocks(messages: list[PastMessage]) -> Iterator[str]:
    """The words of the agent, and a line for each thing that it did."""
    failed = {one.tool_call_id for one in messages if isinstance(one, PastToolMessage) and one.status == "error"}
    for message in messages:
        if not isinstance(message, PastAssistantMessage):
            continue
        calls = [_call(block, failed) for block in message.content if isinstance(block, PastToolUse)]
        texts = (block.text.strip() for block in message.content if isinstance(block, PastText))
        yield from filter(None, texts)
        if calls:
            yield "\n".join(calls)
        if message.attachments:
            yield "\n".join(["Files:", "", *map(_file, message.attachments)])


def _call(block: PastToolUse, failed: set[str]) -> str:
    texts = (value for value in block.input.values() if isinstance(value, str))
    detail = next((inline(text) for text in texts if text.strip() and "\n" not in text), "")
    told = f": {detail}" if detail else ""
    return f"- {inline(block.tool_content_message or block.name)}{told}{' (failed)' if block.id in failed else ''}"


def _file(record: FileRecord) -> str:
    return f"- {inline(record.path)}"


def _ending(turn: PastTurn | None, messages: list[PastMessage]) -> Iterator[str]:
    if turn is None:
        return
    if turn.error is not None:
        yield f"*Failed: {inline(turn.error.message)}*"
    elif turn.state in ("queued", "running"):
        yield "*Being answered now.*"
    elif ending := _ENDINGS.get(turn.stop_reason or ""):
        yield f"*{ending}*"
    elif not messages:
        yield "*There is no answer.*"


def _entry(number: int, cited: list[Cited], footnotes: Footnotes) -> Iterator[str]:
    source = footnotes.source(number)
    if source is None:
        yield f"- [{number}] no such source"
        return
    yield f"- [{number}] {link(title_of(source), source.url)}"
    told: set[str] = set()
    for one in cited:
        line = _evidence(one)
        if line and line not in told:
            told.add(line)
            yield f"  - {line}"


def _evidence(one: Cited) -> str:
    quote = f"“{inline(one.citation.quote)}”" if one.citation.quote else ""
    verdict = _VERDICTS.get(one.citation.verdict)
    if verdict is None:
        return quote
    return f"{verdict}: “{inline(one.sentence)}”" + (f"; the page says: {quote}" if quote else "")
