"""What a run was asked for and how it ended, as they are kept."""

import msgspec
from msgspec import Struct

from footnote.protocol.events import ErrorBody, TurnStopReason, TurnUsage
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, ToolResultMessage, UserMessage
from footnote.protocol.tools import Locale


class Asked(Struct, frozen=True):
    """`model` is the one that answers, so that it is the same after a crash."""

    agent_id: str
    model: str
    locale: Locale


class Ending(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`attachments` are the files that the turn showed."""

    stop_reason: TurnStopReason
    usage: TurnUsage | None = None
    error: ErrorBody | None = None
    attachments: tuple[FileRecord, ...] = ()


asked = msgspec.json.Decoder(Asked)
ending = msgspec.json.Decoder(Ending)
question = msgspec.json.Decoder(UserMessage)
files = msgspec.json.Decoder(tuple[FileRecord, ...])
said = msgspec.json.Decoder(AssistantMessage | ToolResultMessage)
encode = msgspec.json.encode
