"""What stands in a bundle: the names of its entries, and what each of them holds. A bundle is data of a stranger, so
that every value has a type and a limit."""

import hashlib
from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from footnote.protocol.errors import UnprocessableFile, UsageError
from footnote.protocol.files import FilePath, FileRecord, FileVersion, Hash
from footnote.protocol.history import SessionHead
from footnote.protocol.messages import AssistantMessage, ToolResultMessage, UserMessage
from footnote.protocol.sessions import Origin, RunState
from footnote.protocol.sources import Link, Snapshot, SourceStatus, Verdict
from footnote.sessions.turns import RunEnding, RunRequest

FORMAT = "footnote-bundle"
VERSION = 2
"""Bundles of version 1 have no times and turn ids in their history, marks around the text of search results, and do not
say in which branch a version of a file was written."""

README = "README.txt"
TRANSCRIPT = "transcript.md"
HISTORY = "history.json"
SESSION = "session.json"
FILES = "files.json"
SOURCES = "sources.json"
SNAPSHOTS = "snapshots.json"
VERDICTS = "verdicts.json"
MANIFEST = "bundle.json"
EVENTS_FOLDER = "events/"
FILES_FOLDER = "files/"
VERSIONS_FOLDER = "versions/"
SNAPSHOTS_FOLDER = "snapshots/"

MOST_ENTRIES = 20_000
MOST_BYTES = 2_000_000_000
"""Of all entries together, unpacked."""
MOST_JSON = 100_000_000
"""Of one entry that is read as a whole."""
DEEPEST = 200
"""How far values of a bundle may be nested."""

READ_ME = """\
A research bundle of Footnote: one session with all that it rests on.

transcript.md    what was asked and answered, with the sources
files/           the files of the session as they are now; versions/ holds earlier ones; files.json says who wrote them
snapshots/       the exact text of every page that was read; snapshots.json and sources.json say where and when
verdicts.json    every footnote: the sentence, the passage that it rests on, and whether the passage says so
history.json     the conversation for programs; session.json the same with all branches; events/ how it was written
bundle.json      the size and the SHA-256 of everything here, and one seal over all of it

`footnote bundle verify FILE` checks all of it again without a network. `footnote bundle import FILE` opens it in
another Footnote. The seal is the SHA-256 of the lines "HASH  NAME" of all entries but bundle.json, sorted by bytes.
Who rewrites everything makes another bundle with another seal: compare the seals to know that two are the same.
"""

T = TypeVar("T")

SessionId: TypeAlias = Annotated[str, Meta(pattern="^session_[0-9a-f]{28}$")]
RunId: TypeAlias = Annotated[str, Meta(pattern="^run_[0-9a-f]{28}$")]
MessageId: TypeAlias = Annotated[str, Meta(pattern="^msg_[0-9a-f]{28}$")]
SnapshotId: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
EntryName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=2000)]
Line: TypeAlias = Annotated[str, Meta(max_length=10_000)]
Moment: TypeAlias = Annotated[str, Meta(max_length=64)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=1e11)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**53)]


class NotABundle(UsageError):
    """It is something else, or made by a version that is newer than this one."""

    type = "not_a_bundle"


class BundleDamaged(UnprocessableFile):
    """It is a bundle, and something is wrong with `entry`."""

    def __init__(self, entry: str, message: str) -> None:
        super().__init__(f"{shown(entry)}: {message}.")
        self.entry = entry
        self.reason = message


class NotTaken(UnprocessableFile):
    """It is a bundle, and not everything in it is right."""


class ManifestEntry(Struct, frozen=True, forbid_unknown_fields=True):
    name: EntryName
    size: Count
    sha256: Hash


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`seal` is the hash over the hashes and names of all other entries. `checksum` is the hash of this list itself,
    with an empty one in its place."""

    format: Literal["footnote-bundle"] = FORMAT
    version: int = VERSION
    footnote: Line
    exported_at: Moment
    session: SessionHead
    seal: Hash
    entries: Annotated[tuple[ManifestEntry, ...], Meta(max_length=MOST_ENTRIES)]
    checksum: str = ""


class SessionRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: SessionId
    title: Line
    agent_id: Line
    created_at: Moment
    titled: bool
    origin: Origin
    head: RunId | None


class QuestionRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: MessageId
    after_run: RunId | None
    message: UserMessage
    attachments: tuple[FileRecord, ...]
    created_at: Moment


class SaidRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """`blocks`: how many the turn has with it."""

    blocks: Count
    message: AssistantMessage | ToolResultMessage


class DigestRecord(Struct, frozen=True, forbid_unknown_fields=True):
    messages: Count
    text: str


class RunRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`events`: whether all of them are still kept, in `events/ID.sse`."""

    id: RunId
    question_id: MessageId
    message_id: MessageId
    state: RunState
    asked: RunRequest
    ending: RunEnding | None
    created_at: Seconds
    ended_at: Seconds | None
    events: bool
    digest: DigestRecord | None
    messages: tuple[SaidRecord, ...]


class SessionEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """All turns of all branches, in order."""

    session: SessionRecord
    questions: tuple[QuestionRecord, ...]
    runs: tuple[RunRecord, ...]


class VersionRecord(FileVersion, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`entry` holds its content. `run_id`: the run at the end of the branch in which it was written; null: it is shown
    in every branch."""

    entry: EntryName
    run_id: RunId | None = None


class TextRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """The text of an upload; null: it has none, and `reason` says why."""

    text: str | None
    reason: str


class FileEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`versions`: the newest first. `seen`: the number of the newest one that the agent wrote or read."""

    record: FileRecord
    key: FilePath
    seen: Count
    versions: Annotated[tuple[VersionRecord, ...], Meta(min_length=1)]
    text: TextRecord | None = None


class FilesEntry(Struct, frozen=True, forbid_unknown_fields=True):
    files: tuple[FileEntry, ...]


class SnapshotRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that is known of a text but the text itself, which stands in `snapshots/ID.txt`."""

    id: SnapshotId
    url: Line
    title: Line
    author: Line | None
    published: Line | None
    language: Line | None
    site_name: Line | None
    canonical_url: Line | None
    media_type: Line
    fetched_at: Line
    links: tuple[Link, ...]
    pages: tuple[int, ...]
    icon: Line | None = None

    @classmethod
    def of(cls, snapshot: Snapshot) -> "SnapshotRecord":
        facts = {name: getattr(snapshot, name) for name in cls.__struct_fields__ if name != "id"}
        return cls(id=snapshot.id, **facts)

    def with_text(self, text: str) -> Snapshot:
        facts = {name: getattr(self, name) for name in self.__struct_fields__ if name != "id"}
        return Snapshot(text=text, **facts)


class SnapshotsEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """`missing`: what is named and was removed from the library since."""

    snapshots: tuple[SnapshotRecord, ...]
    missing: tuple[SnapshotId, ...] = ()


class SourceRecord(Struct, frozen=True, kw_only=True):
    number: int
    url: str
    title: str
    domain: str
    status: SourceStatus | None
    published: str | None
    fetched_at: str | None
    snapshots: tuple[str, ...]


class SourcesEntry(Struct, frozen=True):
    sources: tuple[SourceRecord, ...]


class VerdictRecord(Struct, frozen=True, kw_only=True):
    """A footnoted sentence of a block of a message, or of the summary of a search, which is the result of `call_id`."""

    message_id: str | None
    call_id: str | None
    block: int
    marker: str
    number: int
    start: int
    end: int
    sentence: str
    verdict: Verdict
    quote: str | None
    quote_start: int | None
    quote_end: int | None
    snapshot_id: str | None


class VerdictsEntry(Struct, frozen=True):
    verdicts: tuple[VerdictRecord, ...]


def written_json(value: Any) -> bytes:
    """For people too: a line for each value."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def read_json(data: bytes, kind: type[T], name: str) -> T:
    """`Damaged`: it is not what it should be."""
    try:
        value = msgspec.json.decode(data, type=kind)
    except msgspec.DecodeError as error:
        raise BundleDamaged(name, f"it is not what it should be: {shown(str(error))}") from None
    except (RecursionError, UnicodeError):
        raise BundleDamaged(name, "it cannot be read: it is nested too deeply, or not text") from None
    return value


def shown(name: str) -> str:
    """A name in a message: short, and with nothing in it that acts on a terminal."""
    return repr(name if len(name) <= 120 else name[:120] + "…")[1:-1]


def seal_of(entries: Iterable[ManifestEntry]) -> str:
    """As `sha256sum` writes them, sorted: so that anybody can make it."""
    lines = sorted(f"{entry.sha256}  {entry.name}\n" for entry in entries)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def manifest_bytes(manifest: Manifest) -> bytes:
    """With its own checksum."""
    bare = replace(manifest, checksum="")
    return written_json(replace(bare, checksum=hashlib.sha256(written_json(bare)).hexdigest()))
