"""The session that the tests export, and functions that read, forge and reseal the zip of a bundle."""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from footnote.bundles.bundles import Bundles
from footnote.bundles.manifest import MANIFEST, Manifest, ManifestEntry, encode_manifest, seal_of
from footnote.db import files
from footnote.db.blobs import StoredBlob
from footnote.db.runs import EventRow, append_events
from footnote.evidence.sources import Sources
from footnote.evidence.verdict import check_citations
from footnote.library import Library
from footnote.protocol import new_id
from footnote.protocol.events import (
    AttachmentsBlock,
    BlockDelta,
    BlockStart,
    BlockStop,
    CitationsGrowth,
    ContextReport,
    Delta,
    Event,
    MessageDelta,
    MessageHead,
    MessageStart,
    MessageStop,
    TextBlock,
    TextGrowth,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    TurnUsage,
)
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, Text, Thinking, ToolCall, ToolResultMessage, Usage
from footnote.protocol.sources import Quote, Snapshot, Source
from footnote.protocol.sse import frame
from footnote.workspace.blobs import Blobs
from footnote.workspace.paths import upload_key
from footnote.workspace.stored import compress_text
from library.samples import TREATY
from sessions.turn_writer import StoredTurn, TurnWriter

SIGNED = "It was signed on 28 June 1919 in the Hall of Mirrors."
FALSE = "Napoleon paid 5 million for it in 1805."
ANSWER = f"{SIGNED} [1] {FALSE} [1]"
LARGE = b"large " * 20_000
UPLOAD = "/báo cáo.pdf"


@dataclass
class SampleSession:
    """A session, its turns, and its file with three versions."""

    session_id: str
    first: StoredTurn
    again: StoredTurn
    edited: StoredTurn


def source(snapshot: Snapshot, number: int = 1) -> Source:
    start = snapshot.text.index(SIGNED)
    return Source(
        url=snapshot.url,
        title=snapshot.title,
        snippet="Signed …",
        domain="history.example",
        number=number,
        status="read",
        published=snapshot.published,
        snapshot_id=snapshot.id,
        fetched_at=snapshot.fetched_at,
        quotes=(Quote(SIGNED, start, start + len(SIGNED)),),
    )


def search_result(call_id: str, found: Source) -> ToolResultMessage:
    summary = f"{SIGNED} [1]"
    sources = Sources()
    sources.add(found, TREATY)
    artifact = {
        "query": "treaty",
        "sources": [found],
        "summary": summary,
        "citations": check_citations(summary, sources),
    }
    return ToolResultMessage(
        call_id, "web_search", (Text(summary),), artifact=msgspec.json.decode(msgspec.json.encode(artifact))
    )


def judge_text(text: str, *results: ToolResultMessage) -> Text:
    return Text(text, check_citations(text, Sources.from_messages(results, {TREATY.id: TREATY})))


async def create_sample_session(
    turn_writer: TurnWriter, library: Library, blobs: Blobs, user_id: str = "ann"
) -> SampleSession:
    """Two branches, a retried answer, a search, verdicts, versions of both authors, an upload with its text, and
    events."""
    await library.for_user(user_id).store(TREATY)
    head = await turn_writer.sessions.create(user_id, "researcher")
    workspace = turn_writer.sessions.workspace(user_id, head.id)
    upload = await upload_file(turn_writer, blobs, user_id, head.id)
    found = search_result("call_1", source(TREATY))
    calls = (
        ToolCall("call_1", "web_search", {"query": "treaty"}, title="Search the web"),
        ToolCall("call_2", "read_file", {"file_path": upload.path}, title="Read a file"),
        *(
            ToolCall(call_id, "write_file", {"file_path": "/notes/report.md", "content": text}, title="Write a file")
            for text, call_id in (("one", "call_3"), ("two", "call_4"))
        ),
        ToolCall("call_5", "draw", {"file_path": "/large.txt"}, title="Draw"),
    )
    reading = ToolResultMessage(
        "call_2", "read_file", (Text(f"{upload.path}: Bản gốc."),), artifact={"path": upload.path}
    )
    first_messages = (
        AssistantMessage((Thinking("Let me look."), Text("I look."), *calls), "toolUse", "footnote/test"),
        found,
        reading,
        *(ToolResultMessage(call_id, "write_file", (Text("Wrote it."),)) for call_id in ("call_3", "call_4", "call_5")),
        AssistantMessage((judge_text(ANSWER, found),), "stop", "footnote/test", Usage(input=3, output=4)),
    )
    # Written before the first run, so that both branches have the files.
    message_id = new_id("msg")
    for text, call_id in (("one", "call_3"), ("two", "call_4")):
        await workspace.write("/notes/report.md", text, message_id=message_id, call_id=call_id)
    record = await workspace.record("/notes/report.md")
    base = (await workspace.versions(record.path))[0].hash
    await workspace.put(record.path, "three", base_hash=base)
    await workspace.write("/large.txt", LARGE, message_id=message_id, call_id="call_5")
    first = await turn_writer.turn(
        head.id,
        "When was the treaty signed?",
        *first_messages,
        user_id=user_id,
        attached=[upload],
        message_id=message_id,
    )
    again = await turn_writer.retry(
        head.id, first, AssistantMessage((Text("In 1919."),), "stop", "footnote/test"), user_id=user_id
    )
    edited = await turn_writer.turn(
        head.id, "Where was it signed?",
        AssistantMessage((judge_text(f"{SIGNED} [1]", found),), "stop", "footnote/test"),
        user_id=user_id, attachments=(record,),
    )  # fmt: skip
    for turn, messages, attachments in ((first, first_messages, ()), (edited, None, (record,))):
        streamed = messages or (AssistantMessage((judge_text(f"{SIGNED} [1]", found),), "stop", "footnote/test"),)
        await turn_writer.database.write(append_events([(event_row(head.id, turn, streamed, attachments), 0)]))
    return SampleSession(head.id, first, again, edited)


async def upload_file(
    turn_writer: TurnWriter,
    blobs: Blobs,
    user_id: str,
    session_id: str,
    content: bytes = b"%PDF-1.7 not really",
    name: str = UPLOAD,
    text: str | None = "Bản gốc.",
) -> FileRecord:
    """Stores an upload with its text, without inspecting it."""
    file_id = f"{zlib.crc32(name.encode()):08x}-0000-4000-8000-" + session_id[-12:]
    key = upload_key(user_id, file_id, name.removeprefix("/"))

    async def need(blob: StoredBlob) -> None:
        version = files.NewVersion(blob=blob, author="user", created_at="2026-01-01T00:00:00Z")
        new = files.NewFile(file_id, "upload", None)
        script = files.add_version(user_id, session_id, key, new, version, basis=None, max_bytes=None)
        await turn_writer.database.write(script)

    await blobs.store_for(content, need)
    upload_text = files.UploadText(
        None if text is None else compress_text(text), "" if text is not None else "there is none"
    )
    await turn_writer.database.write(files.store_text(file_id, upload_text))
    return await turn_writer.sessions.workspace(user_id, session_id).record(blobs.address + key)


def event_row(session_id: str, turn: StoredTurn, messages: tuple[Any, ...], files: tuple[FileRecord, ...]) -> EventRow:
    """The events that a client received for these messages, as a row of the event log."""
    events: list[Event] = [
        MessageStart(MessageHead(turn.message_id, "assistant", turn.run_id, session_id, "footnote/test"))
    ]
    blocks: list[tuple[Any, list[Any]]] = []
    for message in messages:
        if isinstance(message, ToolResultMessage):
            shown = ToolResultBlock(message.tool_call_id, message.tool_name, "success", message.text, message.artifact)
            blocks.append((shown, []))
            continue
        for block in message.content:
            if isinstance(block, Text):
                half = len(block.text) // 2
                deltas: list[Any] = [TextGrowth(block.text[:half]), TextGrowth(block.text[half:])]
                blocks.append((TextBlock(), deltas + [CitationsGrowth(block.citations)] * bool(block.citations)))
            elif isinstance(block, Thinking):
                blocks.append((ThinkingBlock(block.text), []))
            else:
                blocks.append((ToolUseBlock(block.id, block.name, block.title, block.arguments), []))
    if files:
        blocks.append((AttachmentsBlock(files), []))
    for index, (block, deltas) in enumerate(blocks):
        events += [BlockStart(index, block), *(BlockDelta(index, delta) for delta in deltas), BlockStop(index)]
    events += [MessageDelta(Delta("stop"), TurnUsage.of(Usage(), None), ContextReport(0, 0)), MessageStop()]
    frames = b"".join(frame(number, event) for number, event in enumerate(events, 1))
    return EventRow(turn.run_id, 1, len(events), frames)


# Zips --------------------------------------------------------------------------------------------------------


async def export_bundle(bundles: Bundles, session_id: str, user_id: str = "ann") -> bytes:
    async with aclosing(bundles.export(user_id, session_id)) as pieces:
        return b"".join([piece async for piece in pieces])


def read_entries(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zip_entries(entries: Mapping[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return target.getvalue()


def reseal(entries: Mapping[str, bytes]) -> dict[str, bytes]:
    """The same entries with a manifest that matches them, as a forger who knows the format would make it."""
    others = {name: content for name, content in entries.items() if name != MANIFEST}
    listed = [
        ManifestEntry(name, len(content), hashlib.sha256(content).hexdigest()) for name, content in others.items()
    ]
    old = msgspec.json.decode(entries[MANIFEST], type=Manifest)
    new = msgspec.structs.replace(
        old, entries=tuple(sorted(listed, key=lambda entry: entry.name)), seal=seal_of(listed)
    )
    return {**others, MANIFEST: encode_manifest(new)}


def forge_entry(entries: Mapping[str, bytes], name: str, change: Callable[[Any], Any]) -> dict[str, bytes]:
    """Changes the value of one entry, and makes all hashes match."""
    value = json_of(entries[name])
    changed = change(value)
    content = msgspec.json.format(msgspec.json.encode(value if changed is None else changed), indent=1) + b"\n"
    return reseal({**entries, name: content})


def json_of(content: bytes) -> Any:
    return msgspec.json.decode(content)


def write_bundle(folder: Path, data: bytes | Mapping[str, bytes]) -> Path:
    path = folder / "bundle.zip"
    path.write_bytes(data if isinstance(data, bytes) else zip_entries(data))
    return path
