"""The entries of a bundle: their names, and the type of the JSON in each. A bundle is untrusted input, so every value
has a type and a limit."""

from typing import Annotated, Any, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct

from footnote.protocol.errors import UnprocessableFile, UsageError
from footnote.protocol.files import FilePath, FileRecord, FileVersion
from footnote.protocol.messages import AssistantMessage, ToolResultMessage, UserMessage
from footnote.protocol.sessions import Origin, RunState
from footnote.protocol.sources import Citation, Link, Snapshot, SourceStatus, Verdict
from footnote.sessions.turns import RunEnding, RunRequest

README = "README.txt"
TRANSCRIPT = "transcript.md"
HISTORY = "history.json"
SESSION = "session.json"
FILES = "files.json"
SOURCES = "sources.json"
SNAPSHOTS = "snapshots.json"
VERDICTS = "verdicts.json"
PROOFS = "proofs.json"
EVENTS_FOLDER = "events/"
FILES_FOLDER = "files/"
VERSIONS_FOLDER = "versions/"
SNAPSHOTS_FOLDER = "snapshots/"
FIXED_ENTRIES = (README, TRANSCRIPT, HISTORY, SESSION, FILES, SOURCES, SNAPSHOTS, VERDICTS)
"""The entries that every bundle has beside its manifest. `PROOFS` is missing from those of earlier versions."""

MAX_DEPTH = 200
"""The nesting depth of JSON values in a bundle."""

README_TEXT = """\
A research bundle of Footnote: one session with everything that it rests on.

transcript.md    the questions and answers, with the sources
files/           the current files of the session; versions/ holds earlier ones; files.json lists their authors
snapshots/       the exact text of every page that was read; snapshots.json and sources.json say where and when
verdicts.json    every footnote: the sentence, the passage that it cites, and whether the passage supports it
proofs.json      the same for the statements of files, version by version
history.json     the conversation for programs; session.json adds all branches; events/ holds the event streams
bundle.json      the manifest: the size and the SHA-256 of every entry, and one seal over all of them

`footnote bundle verify FILE` checks all of it again without a network. `footnote bundle import FILE` opens it in
another Footnote. The seal is the SHA-256 of the lines "HASH  NAME" of all entries but bundle.json, sorted by bytes.
Anyone who rewrites every entry makes another bundle with another seal: compare the seals to know that two are the same.
"""

T = TypeVar("T")

SessionId: TypeAlias = Annotated[str, Meta(pattern="^session_[0-9a-f]{28}$")]
RunId: TypeAlias = Annotated[str, Meta(pattern="^run_[0-9a-f]{28}$")]
MessageId: TypeAlias = Annotated[str, Meta(pattern="^msg_[0-9a-f]{28}$")]
SnapshotId: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
EntryName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=2000)]
ContentName: TypeAlias = Annotated[
    str, Meta(max_length=2000, pattern=rf"^(?:{FILES_FOLDER}|{VERSIONS_FOLDER})(?!(?:.*/)?\.\.(?:/|$))")
]
"""The entry of a file's content. Nothing here unpacks an entry to a path, but other programs do."""
Line: TypeAlias = Annotated[str, Meta(max_length=10_000)]
Timestamp: TypeAlias = Annotated[str, Meta(max_length=64)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=1e11)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**53)]


class NotABundle(UsageError):
    """The file is something else, or a bundle of a newer format version."""

    type = "not_a_bundle"


class BundleDamaged(UnprocessableFile):
    """The file is a bundle whose entry `entry` is invalid."""

    def __init__(self, entry: str, message: str) -> None:
        super().__init__(f"{printable(entry)}: {message}.")
        self.entry = entry
        self.reason = message


class BundleRejected(UnprocessableFile):
    """The file is a bundle that did not pass verification."""


class SessionRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: SessionId
    title: Line
    agent_id: Line
    created_at: Timestamp
    titled: bool
    origin: Origin
    head: RunId | None


class QuestionRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: MessageId
    after_run: RunId | None
    message: UserMessage
    attachments: tuple[FileRecord, ...]
    created_at: Timestamp


class RunMessageRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """`blocks`: the number of content blocks of the turn up to and including this message."""

    blocks: Count
    message: AssistantMessage | ToolResultMessage


class DigestRecord(Struct, frozen=True, forbid_unknown_fields=True):
    messages: Count
    text: str


class RunRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`events`: whether the complete event log of the run is in `events/ID.sse`."""

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
    messages: tuple[RunMessageRecord, ...]


class SessionEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """All turns of all branches, in order."""

    session: SessionRecord
    questions: tuple[QuestionRecord, ...]
    runs: tuple[RunRecord, ...]


class VersionRecord(FileVersion, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`entry` holds the content. `run_id`: the run at the end of the branch in which the version was written; null: the
    version is visible in every branch."""

    entry: ContentName
    run_id: RunId | None = None


class UploadTextRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """The extracted text of an upload. `text` is null if there is none, and `reason` says why."""

    text: str | None
    reason: str


class FileEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`versions`: the newest first. `seen`: the number of the newest version that the agent wrote or read."""

    record: FileRecord
    key: FilePath
    seen: Count
    versions: Annotated[tuple[VersionRecord, ...], Meta(min_length=1)]
    text: UploadTextRecord | None = None


class FilesEntry(Struct, frozen=True, forbid_unknown_fields=True):
    files: tuple[FileEntry, ...]


class SnapshotRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The metadata of a snapshot. Its text is the entry `snapshots/ID.txt`."""

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
        metadata = {name: getattr(snapshot, name) for name in cls.__struct_fields__ if name != "id"}
        return cls(id=snapshot.id, **metadata)

    def with_text(self, text: str) -> Snapshot:
        metadata = {name: getattr(self, name) for name in self.__struct_fields__ if name != "id"}
        return Snapshot(text=text, **metadata)


class SnapshotsEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """`missing`: snapshots that the session cites and that were removed from the library before the export."""

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
    """A footnoted sentence in a block of a message, or in the summary of the search whose result is that of
    `call_id`."""

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


class ProofRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """The verdicts on the statements of version `number` of the file `key`."""

    key: FilePath
    number: Count
    citations: tuple[Citation, ...]


class ProofsEntry(Struct, frozen=True, forbid_unknown_fields=True):
    proofs: tuple[ProofRecord, ...] = ()


def shared_fields(source: Struct, target: type[Struct], **others: Any) -> dict[str, Any]:
    """The fields of `target`: `others`, and those that `source` has under the same name, which are copied. So a column
    that bundles carry is written once in its row type and once in its record."""
    names = (name for name in target.__struct_fields__ if name not in others and hasattr(source, name))
    return {name: getattr(source, name) for name in names} | others


def encode_json(value: Any) -> bytes:
    """Indented, because people read the entries too."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def decode_json(data: bytes, kind: type[T], name: str) -> T:
    """Raises `BundleDamaged` if entry `name` is not JSON of this type."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.DecodeError as error:
        raise BundleDamaged(name, f"its content is invalid: {printable(str(error))}") from None
    except (RecursionError, UnicodeError):
        raise BundleDamaged(name, "it cannot be decoded: it is nested too deeply, or not UTF-8") from None


def printable(name: str) -> str:
    """A name for a message: shortened, and without terminal control characters."""
    return repr(name if len(name) <= 120 else name[:120] + "…")[1:-1]
