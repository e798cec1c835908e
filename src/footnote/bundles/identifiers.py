"""New ids for the records of an imported session, in everything that names them. The text of questions and answers is
left as it is: the offsets of footnotes count its characters."""

import re
import secrets
import time
from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import unquote
from uuid import uuid4

from msgspec.structs import replace

from footnote.bundles.schema import MAX_DEPTH, SESSION, BundleDamaged, FilesEntry, SessionEntry
from footnote.protocol.events import (
    AttachmentsBlock,
    BlockStart,
    ContentBlock,
    Event,
    MessageStart,
    ToolResultBlock,
    ToolUseBlock,
)
from footnote.protocol.files import FileRecord, ToolImage
from footnote.protocol.messages import AssistantMessage, Block, Part, Text, ToolCall, ToolResultMessage
from footnote.sessions.turns import RunEnding
from footnote.workspace.paths import UPLOADS, upload_name
from footnote.workspace.stored import url_of

_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_UPLOAD = re.compile(rf"{UPLOADS}[^/\s\"]{{1,200}}/({_UUID})(?=/)")
_ADDRESS = re.compile(r"(?:local|s3)://[^\s\"]{0,300}+\Z")
_MAX_ADDRESS = 300
_ID = re.compile(rf"(?:session|run|msg)_[0-9a-f]{{28}}|{_UUID}")


class NewIds:
    """`ids` maps the old ids of a bundle to new ones, which have the same length and the same order."""

    def __init__(self, session: SessionEntry, files: FilesEntry, user_id: str, address: str) -> None:
        self._user_id = user_id
        self._address = address
        self.ids: dict[str, str] = {
            **_new_ids("session", [session.session.id]),
            **_new_ids("run", [run.id for run in session.runs]),
            **_new_ids("msg", [*(one.id for one in session.questions), *(run.message_id for run in session.runs)]),
        }
        self._session_id = self.ids[session.session.id]
        self._files = {file.record.id: str(uuid4()) for file in files.files}

    def require(self, old: str, entry: str) -> str:
        """The new id of a record; `BundleDamaged`: the bundle has no such record."""
        new = self.ids.get(old)
        if new is None:
            raise BundleDamaged(entry, f"it names {old[:60]!r}, which is not in the bundle")
        return new

    def link(self, old: str | None) -> str | None:
        """The new id of a record; None if the record is not in the bundle."""
        return None if old is None else self.ids.get(old)

    def file(self, record: FileRecord) -> FileRecord:
        """The record under its new id. A deleted file gets an id too, because messages still refer to it."""
        file_id = self._files.setdefault(record.id, str(uuid4()))
        is_upload = record.url.startswith(UPLOADS)
        key = self.upload_key(record.id, upload_name(unquote(record.url))) if is_upload else record.path
        return replace(
            record,
            id=file_id,
            path=self._address + key if is_upload else key,
            url=url_of(self._user_id, self._session_id, key),
            message_id=self.link(record.message_id),
        )

    def upload_key(self, old_id: str, name: str) -> str:
        """`name` includes the folders of an uploaded folder."""
        return f"{UPLOADS}{self._user_id}/{self._files[old_id]}/{name}"

    def text(self, text: str) -> str:
        """The arguments or the result of a tool, with new ids."""
        return _ID.sub(self._new_id, self._with_new_uploads(text))

    def _with_new_uploads(self, text: str) -> str:
        """Replaces the keys of uploads, and their addresses, which have the prefix of a storage before the key."""
        parts: list[str] = []
        done = 0
        for found in _UPLOAD.finditer(text):
            new = self._files.get(found[1])
            if new is not None:
                before = text[max(done, found.start() - _MAX_ADDRESS) : found.start()]
                address = _ADDRESS.search(before)
                start = found.start() - (len(address[0]) if address else 0)
                parts += [text[done:start], self._address if address else "", f"{UPLOADS}{self._user_id}/{new}"]
                done = found.end()
        return "".join([*parts, text[done:]])

    def _new_id(self, found: re.Match[str]) -> str:
        return self.ids.get(found[0]) or self._files.get(found[0]) or found[0]

    def value(self, value: Any, depth: int = 0) -> Any:
        """The same for a JSON value of any form."""
        if depth > MAX_DEPTH:
            raise BundleDamaged(SESSION, "a value in it is nested too deeply")
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            entries = cast("Mapping[str, Any]", value)
            return {name: self.value(one, depth + 1) for name, one in entries.items()}
        if isinstance(value, list | tuple):
            return [self.value(one, depth + 1) for one in cast("Iterable[Any]", value)]
        return value

    def artifact(self, artifact: dict[str, Any] | None) -> dict[str, Any] | None:
        """The artifact of a search stays as it is: it names pages and offsets, not records of the session."""
        renamed = self.value(artifact)
        return artifact if artifact is None or "sources" in artifact else renamed

    # Messages ----------------------------------------------------------------------------------------------

    def message(self, message: AssistantMessage | ToolResultMessage) -> AssistantMessage | ToolResultMessage:
        if isinstance(message, AssistantMessage):
            return replace(message, content=tuple(self._block(block) for block in message.content))
        parts = tuple(self._part(part) for part in message.content)
        images = self._images(message.images)
        return replace(message, content=parts, artifact=self.artifact(message.artifact), images=images)

    def _images(self, images: tuple[ToolImage, ...]) -> tuple[ToolImage, ...]:
        """The path of an upload changes; that of a generated file does not."""
        return tuple(
            image if image.file_path.startswith("/") else replace(image, file_path=self.text(image.file_path))
            for image in images
        )

    def _block(self, block: Block) -> Block:
        if not isinstance(block, ToolCall):
            return block
        invalid = None if block.invalid is None else self.text(block.invalid)
        return replace(block, arguments=self.value(block.arguments), invalid=invalid)

    def _part(self, part: Part) -> Part:
        return replace(part, text=self.text(part.text)) if isinstance(part, Text) else part

    def ending(self, ending: RunEnding) -> RunEnding:
        return replace(ending, attachments=tuple(self.file(file) for file in ending.attachments))

    # Events ------------------------------------------------------------------------------------------------

    def event(self, event: Event, entry: str) -> Event:
        if isinstance(event, MessageStart):
            head = event.message
            ids = (self.require(old, entry) for old in (head.id, head.run_id, head.session_id))
            message_id, run_id, session_id = ids
            return MessageStart(replace(head, id=message_id, run_id=run_id, session_id=session_id))
        if isinstance(event, BlockStart):
            return replace(event, content_block=self._content_block(event.content_block))
        return event

    def _content_block(self, block: ContentBlock) -> ContentBlock:
        if isinstance(block, ToolUseBlock):
            return replace(block, input=self.value(block.input))
        if isinstance(block, ToolResultBlock):
            renamed = replace(block, content=self.text(block.content), artifact=self.artifact(block.artifact))
            return replace(renamed, images=self._images(block.images)) if block.images else renamed
        if isinstance(block, AttachmentsBlock):
            return AttachmentsBlock(tuple(self.file(file) for file in block.files))
        return block


def _new_ids(kind: str, ids: Iterable[str]) -> dict[str, str]:
    """All new ids have the same timestamp and are sorted as the old ones are, because records are sorted by id."""
    old = sorted(set(ids))
    endings = sorted(secrets.token_hex(8) for _ in old)
    moment = f"{time.time_ns() // 1_000_000:012x}"
    return {one: f"{kind}_{moment}{ending}" for one, ending in zip(old, endings, strict=True)}
