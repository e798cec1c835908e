"""What a run was asked for and how it ended, as they are kept."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from footnote.db.turns import TurnRow
from footnote.protocol.events import ErrorBody, TurnStopReason, TurnUsage
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, ToolResultMessage, UserMessage
from footnote.protocol.tools import Locale


def branch_to(turns: Sequence[TurnRow], run_id: str | None) -> tuple[TurnRow, ...]:
    """The turns on the way to a run, from the first one to it."""
    by_run = {turn.run_id: turn for turn in turns}
    way: list[TurnRow] = []
    while run_id is not None and (turn := by_run.pop(run_id, None)) is not None:
        way.append(turn)
        run_id = turn.after_run
    return tuple(reversed(way))


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


class RunRequest(Struct, frozen=True):
    """`model` is the one that answers, so that it is the same after a crash."""

    agent_id: str
    model: str
    locale: Locale


class RunEnding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`attachments` are the files that the turn showed."""

    stop_reason: TurnStopReason
    usage: TurnUsage | None = None
    error: ErrorBody | None = None
    attachments: tuple[FileRecord, ...] = ()


request_decoder = msgspec.json.Decoder(RunRequest)
ending_decoder = msgspec.json.Decoder(RunEnding)
question_decoder = msgspec.json.Decoder(UserMessage)
files_decoder = msgspec.json.Decoder(tuple[FileRecord, ...])
message_decoder = msgspec.json.Decoder(AssistantMessage | ToolResultMessage)
encode = msgspec.json.encode
