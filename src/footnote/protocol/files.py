"""Files of a workspace, as clients see them."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from footnote.protocol.sources import Citation

IconType: TypeAlias = Literal[
    "md",
    "pdf",
    "code",
    "image",
    "csv",
    "xlsx",
    "docx",
    "pptx",
    "json",
    "txt",
    "archive",
    "audio",
    "video",
    "file",
]
FileOrigin: TypeAlias = Literal["generated", "upload"]
Author: TypeAlias = Literal["agent", "user"]
ConvertType: TypeAlias = Literal["pdf", "docx", "md"]
FilePath: TypeAlias = Annotated[str, Meta(min_length=1, max_length=4096)]
Hash: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
MAX_TEXT_LENGTH = 20_000_000


class ToolImage(Struct, frozen=True):
    """An image that a tool returned. `file_path`: where the workspace of the session keeps it. Sizes are in pixels."""

    file_path: str
    media_type: str
    width: int
    height: int


class FileRecord(Struct, frozen=True):
    id: str
    path: str
    filename: str
    icon_type: IconType
    source: FileOrigin
    created_at: str
    url: str
    message_id: str | None = None


class FileVersion(Struct, frozen=True):
    """One writing of a file. `hash` is the SHA-256 of its content; `message_id` and `call_id` say which turn and which
    tool call wrote it, and are null where a user did."""

    number: int
    hash: str
    size: int
    created_at: str
    author: Author
    message_id: str | None = None
    call_id: str | None = None


class FileList(Struct, frozen=True):
    files: tuple[FileRecord, ...]


class FileContent(Struct, frozen=True):
    """`content` of a text; of anything else it is null, and `download_url` says where to get it for an hour."""

    content: str | None
    filename: str
    file_path: str
    download_url: str | None


class FileText(Struct, frozen=True):
    """What a file says: of a document, its text as markdown, as the agent reads it."""

    file_path: str
    filename: str
    text: str


Cell: TypeAlias = str | int | float | bool | None


class FileTable(Struct, frozen=True, kw_only=True):
    """Some rows of a table. `sheets` are those of a workbook, of which one is shown; a text with separated cells has
    none, and `sheet` is empty. `columns` is how many its widest row has; a row ends with its last cell that holds
    something. `left_out` counts columns beyond those that are shown, `total` all rows. Dates are texts."""

    file_path: str
    filename: str
    sheets: tuple[str, ...]
    sheet: str
    columns: int
    left_out: int
    rows: tuple[tuple[Cell, ...], ...]
    offset: int
    total: int


class FileCitation(Citation, frozen=True):
    """One footnoted sentence of a file; `start` and `end` are offsets in its text. `by` says how it was judged: `text`,
    by comparing the sentence with the page."""

    by: Literal["text"] = "text"


class ProofCounts(Struct, frozen=True):
    """How many statements of a text were judged, and with which verdict. Of a statement with several footnotes, the
    best of their verdicts counts. `contradicted`, `uncited` and `unread` are not told apart yet, and always 0."""

    statements: int = 0
    supported: int = 0
    partial: int = 0
    contradicted: int = 0
    unsupported: int = 0
    uncited: int = 0
    unread: int = 0


class FileCitations(Struct, frozen=True):
    """The footnotes of one version of a file, in the order of the text."""

    file_path: str
    version: int
    counts: ProofCounts
    citations: tuple[FileCitation, ...]


class FileVersions(Struct, frozen=True):
    """The newest first: that is what the file holds."""

    file_path: str
    filename: str
    versions: tuple[FileVersion, ...]


class FileDiff(Struct, frozen=True, rename={"older": "from", "newer": "to"}):
    """What two versions differ in, as a unified diff; null: one of them is no text. `added` and `removed` count
    lines."""

    file_path: str
    older: int
    newer: int
    diff: str | None
    added: int = 0
    removed: int = 0


class FileEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What a user wants a file to hold. `base_hash` is the hash of the version that they changed; null: there is no
    such file yet. Any other version is a conflict, so that nothing is overwritten unseen."""

    file_path: FilePath
    content: Annotated[str, Meta(max_length=MAX_TEXT_LENGTH)]
    base_hash: Hash | None


class FileRestore(Struct, frozen=True, forbid_unknown_fields=True):
    """`file_path` and `version` may stand in the query instead. `base_hash`, where it is given: that of the version
    that the user saw last, as with an edit."""

    file_path: FilePath | None = None
    version: Annotated[int, Meta(ge=1)] | None = None
    base_hash: Hash | None = None


class FileConversion(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: FilePath
    convert_type: ConvertType


class ConvertedFile(Struct, frozen=True, omit_defaults=True):
    """Where the document can be fetched for an hour. `notes`: what could not be shown as it was written."""

    download_url: str
    filename: str
    notes: tuple[str, ...] = ()


class Unpacking(Struct, frozen=True, forbid_unknown_fields=True):
    """A zip file of the session whose files are wanted as uploads of their own."""

    file_path: FilePath
