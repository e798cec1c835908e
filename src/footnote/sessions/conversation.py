"""What a model is told of a session: the messages on the way to a question, and what a crash left of the answer."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from footnote.agent.turn import Resumed
from footnote.db.runs import Interrupted
from footnote.db.turns import TurnRow
from footnote.protocol.attachments import listed
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import Image, Message, Text, ToolResultMessage, Usage, UserMessage
from footnote.protocol.tools import ToolResult
from footnote.sessions import turns as stored

_result = msgspec.json.Decoder(ToolResult)


class Enclosed(Struct, frozen=True):
    """What is known of the files that come with questions, by their ids: images as they are shown, and the addresses at
    which the library has their texts."""

    pictures: Mapping[str, Image]
    addresses: Mapping[str, str]


NOTHING = Enclosed({}, {})


def conversation(
    branch: Sequence[TurnRow], said: Mapping[str, Sequence[bytes]], enclosed: Enclosed = NOTHING
) -> tuple[Message, ...]:
    """The turns of a branch, one after the other: each question, and what was said to it."""
    messages: list[Message] = []
    for turn in branch:
        messages.append(question_of(turn, enclosed))
        messages += [stored.said.decode(body) for body in said.get(turn.run_id, ())]
    return tuple(messages)


def attached_to(turn: TurnRow) -> tuple[FileRecord, ...]:
    """The files that come with a question."""
    return stored.files.decode(turn.attachments)


def question_of(turn: TurnRow, enclosed: Enclosed) -> UserMessage:
    """The question as a model reads it: with the names of the files that come with it, and the images among them."""
    asked = stored.question.decode(turn.question)
    attached = attached_to(turn)
    if not attached:
        return asked
    told = Text(listed((file, enclosed.addresses.get(file.id)) for file in attached))
    shown = (enclosed.pictures[file.id] for file in attached if file.id in enclosed.pictures)
    return replace(asked, content=(*asked.content, told, *shown))


def results_of(found: Interrupted) -> dict[str, ToolResult | None]:
    """Of every call that had begun, its result, or none."""
    return {call_id: None if body is None else _result.decode(body) for call_id, body in found.calls.items()}


def resumed(found: Interrupted, files: Sequence[FileRecord]) -> Resumed:
    """Where an interrupted run goes on. `files` are those that it wrote."""
    results = {call_id: result for call_id, result in results_of(found).items() if result is not None}
    messages = [stored.said.decode(message.body) for message in found.messages]
    answered = [message.tool_call_id for message in messages if isinstance(message, ToolResultMessage)]
    spent = sum((results[call].usage or Usage() for call in answered if call in results), Usage())
    return Resumed(
        blocks=found.messages[-1].blocks if found.messages else 0,
        finished=results,
        begun=frozenset(found.calls),
        files=tuple(files),
        spent=spent,
    )
