"""What a model is told of a session: the messages on the way to a question, and what a crash left of the answer."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from footnote.agent.turn import Resumed
from footnote.db.runs import InterruptedRun
from footnote.db.turns import TurnRow
from footnote.protocol.attachments import format_attachments
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import Image, Message, Text, ToolResultMessage, Usage, UserMessage
from footnote.protocol.tools import ToolResult
from footnote.sessions import turns as stored

_result_decoder = msgspec.json.Decoder(ToolResult)


class AttachedFiles(Struct, frozen=True):
    """What is known of the files that come with questions, by their ids: images as they are shown, and the addresses at
    which the library has their texts."""

    images: Mapping[str, Image]
    addresses: Mapping[str, str]


NO_ENCLOSURES = AttachedFiles({}, {})


def conversation(
    branch: Sequence[TurnRow], bodies_by_run: Mapping[str, Sequence[bytes]], enclosed: AttachedFiles = NO_ENCLOSURES
) -> tuple[Message, ...]:
    """The turns of a branch, one after the other: each question, and what was said to it."""
    messages: list[Message] = []
    for turn in branch:
        messages.append(question_of(turn, enclosed))
        messages += [stored.message_decoder.decode(body) for body in bodies_by_run.get(turn.run_id, ())]
    return tuple(messages)


def attachments_of(turn: TurnRow) -> tuple[FileRecord, ...]:
    """The files that come with a question."""
    return stored.files_decoder.decode(turn.attachments)


def question_of(turn: TurnRow, enclosed: AttachedFiles) -> UserMessage:
    """The question as a model reads it: with the names of the files that come with it, and the images among them."""
    asked = stored.question_decoder.decode(turn.question)
    attached = attachments_of(turn)
    if not attached:
        return asked
    told = Text(format_attachments((file, enclosed.addresses.get(file.id)) for file in attached))
    shown = (enclosed.images[file.id] for file in attached if file.id in enclosed.images)
    return replace(asked, content=(*asked.content, told, *shown))


def call_results(found: InterruptedRun) -> dict[str, ToolResult | None]:
    """Of every call that had begun, its result, or none."""
    return {call_id: None if body is None else _result_decoder.decode(body) for call_id, body in found.calls.items()}


def resume_point(found: InterruptedRun, files: Sequence[FileRecord]) -> Resumed:
    """Where an interrupted run goes on. `files` are those that it wrote."""
    results = {call_id: result for call_id, result in call_results(found).items() if result is not None}
    messages = [stored.message_decoder.decode(message.body) for message in found.messages]
    answered = [message.tool_call_id for message in messages if isinstance(message, ToolResultMessage)]
    spent = sum((results[call].usage or Usage() for call in answered if call in results), Usage())
    return Resumed(
        blocks=found.messages[-1].blocks if found.messages else 0,
        results=results,
        started_calls=frozenset(found.calls),
        files=tuple(files),
        usage=spent,
    )
