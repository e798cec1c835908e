"""The turns of a session as they are stored: branches, decoders, and the conversation that a model reads."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from footnote.agent.budget import spent_of
from footnote.agent.turn import Resumed
from footnote.db.runs import InterruptedRun, RunRow, TurnRow
from footnote.protocol import format_time
from footnote.protocol.events import ErrorBody, TurnStopReason, TurnUsage
from footnote.protocol.files import FileRecord, format_attachments
from footnote.protocol.messages import (
    AssistantMessage,
    Image,
    Message,
    Plan,
    Text,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from footnote.protocol.plans import Budget, Spent
from footnote.protocol.sessions import RunMode, RunState, RunView
from footnote.protocol.tools import Locale, ToolResult


def branch_to(turns: Sequence[TurnRow], run_id: str | None) -> tuple[TurnRow, ...]:
    """The turns from the first one of a branch to that of a run."""
    by_run = {turn.run_id: turn for turn in turns}
    branch: list[TurnRow] = []
    while run_id is not None and (turn := by_run.pop(run_id, None)) is not None:
        branch.append(turn)
        run_id = turn.after_run
    return tuple(reversed(branch))


def newest_leaf(turns: Sequence[TurnRow], run_id: str) -> str:
    """The end of the branch that goes through a run: of several that go on from it, the one that was used last."""
    following: dict[str, str] = {turn.after_run: turn.run_id for turn in turns if turn.after_run is not None}
    while run_id in following:
        run_id = following[run_id]
    return run_id


def find_turn(turns: Sequence[TurnRow], message_id: str) -> TurnRow | None:
    """The turn that a message belongs to, its question or any of its responses; of several, the last."""
    turn_id = message_id.partition("-")[0]
    ids = (message_id, turn_id)
    return next((turn for turn in reversed(turns) if turn.question_id in ids or turn.message_id in ids), None)


class RunRequest(Struct, frozen=True, omit_defaults=True):
    """`model` is the one that answers, so that it is the same after a crash; so are the others."""

    agent_id: str
    model: str
    locale: Locale
    mode: RunMode = "answer"
    budget: Budget | None = None
    template: str | None = None


class RunEnding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`attachments` are the files that the turn showed. `unsourced`: its answer states facts that nothing was looked up
    for. `spent`: what a run with a budget has used."""

    stop_reason: TurnStopReason
    usage: TurnUsage | None = None
    error: ErrorBody | None = None
    attachments: tuple[FileRecord, ...] = ()
    unsourced: bool = False
    spent: Spent | None = None


request_decoder = msgspec.json.Decoder(RunRequest)
ending_decoder = msgspec.json.Decoder(RunEnding)
question_decoder = msgspec.json.Decoder(UserMessage)
files_decoder = msgspec.json.Decoder(tuple[FileRecord, ...])
message_decoder = msgspec.json.Decoder(AssistantMessage | ToolResultMessage)
_result_decoder = msgspec.json.Decoder(ToolResult)
encode = msgspec.json.encode


def run_view(row: RunRow, spent: bytes | None) -> RunView:
    """A run as its user sees it. `spent`: what it had used when that was stored last."""
    asked = request_decoder.decode(row.asked)
    ending = ending_decoder.decode(row.ending) if row.ending else None
    used = (ending.spent if ending else None) or spent_of(spent)
    return RunView(
        run_id=row.id,
        session_id=row.session_id,
        message_id=row.message_id,
        state=cast("RunState", row.state),
        model=asked.model,
        created_at=format_time(row.created_at),
        ended_at=format_time(row.ended_at) if row.ended_at is not None else None,
        stop_reason=ending.stop_reason if ending else None,
        usage=ending.usage if ending else None,
        error=ending.error if ending else None,
        mode=asked.mode,
        budget=asked.budget or UNSET,
        spent=UNSET if asked.budget is None else used,
    )


class AttachedFiles(Struct, frozen=True):
    """Facts of the files that are attached to questions, by file id: images as a model reads them, and the URLs of
    their texts in the library."""

    images: Mapping[str, Image]
    addresses: Mapping[str, str]


NO_FILES = AttachedFiles({}, {})


def conversation(
    branch: Sequence[TurnRow], bodies_by_run: Mapping[str, Sequence[bytes]], files: AttachedFiles = NO_FILES
) -> tuple[Message, ...]:
    """The messages of a branch: each question, and the responses and tool results that follow it."""
    messages: list[Message] = []
    for turn in branch:
        messages.append(question_of(turn, files))
        messages += [message_decoder.decode(body) for body in bodies_by_run.get(turn.run_id, ())]
    return tuple(messages)


def main_line(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The part of a conversation that a model reads at the next question: without the messages of items of a plan,
    whose findings are in the report. Their searches are sources of the session all the same."""
    return tuple(message for message in messages if isinstance(message, UserMessage) or message.parent is None)


def attachments_of(turn: TurnRow) -> tuple[FileRecord, ...]:
    """The files that are attached to a question."""
    return files_decoder.decode(turn.attachments)


def question_of(turn: TurnRow, files: AttachedFiles) -> UserMessage:
    """The question as a model reads it: with the names of its attachments, and the images among them."""
    question = question_decoder.decode(turn.question)
    attached = attachments_of(turn)
    if not attached:
        return question
    names = Text(format_attachments((file, files.addresses.get(file.id)) for file in attached))
    images = (files.images[file.id] for file in attached if file.id in files.images)
    return replace(question, content=(*question.content, names, *images))


def call_results(found: InterruptedRun) -> dict[str, ToolResult | None]:
    """The result of every call that had begun, or None for one that had not finished."""
    return {call_id: None if body is None else _result_decoder.decode(body) for call_id, body in found.calls.items()}


def unanswered_results(found: InterruptedRun) -> tuple[ToolResultMessage, ...]:
    """The results of finished calls that are in no message yet: other calls of their round had not finished. The run
    goes on with these results, so that their sources are known to it, under the numbers that they have."""
    messages = [message_decoder.decode(message.body) for message in found.messages]
    answered = {message.tool_call_id for message in messages if isinstance(message, ToolResultMessage)}
    asked = {call.id: call for message in messages if isinstance(message, AssistantMessage) for call in message.calls}
    return tuple(
        ToolResultMessage(call_id, asked[call_id].name, result.content, result.is_error, result.artifact)
        for call_id, result in call_results(found).items()
        if result is not None and call_id in asked.keys() - answered
    )


def resume_point(found: InterruptedRun, files: Sequence[FileRecord]) -> Resumed:
    """Where an interrupted run resumes. `files` are those that it wrote."""
    results = {call_id: result for call_id, result in call_results(found).items() if result is not None}
    messages = [message_decoder.decode(message.body) for message in found.messages]
    answered = [message.tool_call_id for message in messages if isinstance(message, ToolResultMessage)]
    usage = sum((results[call].usage or Usage() for call in answered if call in results), Usage())
    return Resumed(
        blocks=_shown_blocks(found, messages),
        results=results,
        started_calls=frozenset(found.calls),
        files=tuple(files),
        usage=usage,
    )


def _shown_blocks(found: InterruptedRun, messages: Sequence[AssistantMessage | ToolResultMessage]) -> int:
    """How many blocks of the turn a follower may keep. Those of items that are read for side by side are sent again,
    since the last stored block may come after others that are not stored."""
    if not messages:
        return 0
    return found.messages[0 if messages[-1].parent is not None else -1].blocks


def stored_plan(found: InterruptedRun) -> AssistantMessage | None:
    """The message of the plan, which is the first of a research run."""
    first = message_decoder.decode(found.messages[0].body) if found.messages else None
    has_plan = isinstance(first, AssistantMessage) and any(isinstance(block, Plan) for block in first.content)
    return first if has_plan else None


def unshown_items(found: InterruptedRun | None) -> dict[str, tuple[Message, ...]]:
    """The messages of items whose blocks a follower drops: see `_shown_blocks`."""
    last = message_decoder.decode(found.messages[-1].body) if found and found.messages else None
    return item_messages(found) if found and last and last.parent is not None else {}


def item_messages(found: InterruptedRun) -> dict[str, tuple[Message, ...]]:
    """What is stored of the items of a plan, by their ids."""
    by_item: dict[str, tuple[Message, ...]] = {}
    for message in (message_decoder.decode(stored.body) for stored in found.messages):
        if message.parent is not None:
            by_item[message.parent] = (*by_item.get(message.parent, ()), message)
    return by_item
