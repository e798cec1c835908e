"""A session as it is shown after a reload: what was streamed, block for block.

Artifacts are most of a history, and are handed on as they are stored, as JSON that nobody has to read.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import UNSET, Raw, Struct

from footnote.db.turns import TurnRow
from footnote.protocol.events import ThinkingBlock
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
from footnote.protocol.messages import AssistantMessage, Block, Text, Thinking, ToolCall
from footnote.protocol.sessions import ACTIVE
from footnote.protocol.sources import SourceGroup
from footnote.protocol.times import format_time
from footnote.sessions import turns as stored
from footnote.sessions.sources import group_of
from footnote.web_search.boundary import unwrap_web_text


class _HistoryText(Struct, tag="text"):
    text: str


class _HistoryImage(Struct, tag="image"):
    pass


class _Result(Struct, tag_field="role", tag="toolResult", rename="camel"):
    """A `ToolResultMessage`, no more of it than is shown."""

    tool_call_id: str
    tool_name: str
    content: tuple[_HistoryText | _HistoryImage, ...]
    is_error: bool = False
    artifact: Raw = Raw(b"null")
    timestamp: str | None = None
    images: tuple[ToolImage, ...] = ()


_message_decoder = msgspec.json.Decoder(AssistantMessage | _Result)


def past_messages(branch: Sequence[TurnRow], bodies_by_run: Mapping[str, Sequence[bytes]]) -> Iterator[PastMessage]:
    """The turns of a branch. Of a run that is active there is only the question: its answer stands in its events."""
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
        yield PastTurn(
            run_id=turn.run_id,
            question_id=turn.question_id,
            message_id=turn.message_id,
            state=turn.state,
            model=stored.request_decoder.decode(turn.asked).model,
            stop_reason=ending and ending.stop_reason,
            usage=ending and ending.usage,
            error=ending and ending.error,
            questions=tuple(questions[turn.after_run]),
            answers=tuple(answers[turn.question_id]),
            timestamp=format_time(turn.began_at),
            ended_at=None if turn.ended_at is None else format_time(turn.ended_at),
        )


def _answer(turn: TurnRow, messages: Sequence[AssistantMessage | _Result]) -> Iterator[PastMessage]:
    rounds = sum(isinstance(message, AssistantMessage) for message in messages)
    files = () if turn.ending is None else stored.ending_decoder.decode(turn.ending).attachments
    number = 0
    for message in messages:
        if isinstance(message, _Result):
            yield _result(turn, message)
            continue
        number += 1
        last = number == rounds
        message_id = turn.message_id if last else f"{turn.message_id}-{number}"
        yield _response(turn, message_id, message, files if last else ())


def _response(
    turn: TurnRow, message_id: str, message: AssistantMessage, files: tuple[FileRecord, ...]
) -> PastAssistantMessage:
    blocks = tuple(block for block in map(_block, message.content) if block is not None)
    return PastAssistantMessage(message_id, blocks, files, turn.run_id, message.timestamp or _timestamp_of(turn))


def _timestamp_of(turn: TurnRow) -> str:
    """For messages that were stored before each of them had a time of its own."""
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
    )


def _block(block: Block) -> PastBlock | None:
    """As it was streamed. Blocks of a kind that we do not know are not."""
    match block:
        case Text():
            return PastText(block.text, block.citations)
        case Thinking():
            return ThinkingBlock(block.text)
        case ToolCall():
            return PastToolUse(block.id, block.name, block.arguments, block.title or block.name)
        case _:
            return None
