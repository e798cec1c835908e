"""Files of a workspace, as clients see them."""

import re
from collections.abc import Iterable
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from footnote.protocol.sources import Citation, ProofCounts

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
ProofOption: TypeAlias = Literal["mark", "plain", "refuse"]
"""`mark`: a document marks statements that their sources do not support, and says why in notes. `plain`: it is as it
was written. `refuse`: there is no document as long as there are such statements."""
FilePath: TypeAlias = Annotated[str, Meta(min_length=1, max_length=4096)]
Hash: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
MAX_TEXT_LENGTH = 20_000_000


class ToolImage(Struct, frozen=True):
    """An image that a tool returned. `file_path`: its path in the workspace of the session. Sizes are in pixels."""

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
    """One version of a file. `hash` is the SHA-256 of its content; `message_id` and `call_id` say which turn and which
    tool call wrote it, and are null if a user did."""

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
    """`content` is that of a text. For any other file it is null, and `download_url` is valid for an hour."""

    content: str | None
    filename: str
    file_path: str
    download_url: str | None


class FileText(Struct, frozen=True):
    """The text of a file; that of a document as markdown, as the agent reads it."""

    file_path: str
    filename: str
    text: str


Cell: TypeAlias = str | int | float | bool | None


class FileTable(Struct, frozen=True, kw_only=True):
    """Some rows of a table. `sheets` are those of a workbook, and `sheet` is the one that is shown; CSV and TSV have no
    sheets. `columns` is the length of the widest row; empty cells at the end of a row are left out. `left_out` counts
    the columns beyond those that are shown, `total` all rows. Dates are strings."""

    file_path: str
    filename: str
    sheets: tuple[str, ...]
    sheet: str
    columns: int
    left_out: int
    rows: tuple[tuple[Cell, ...], ...]
    offset: int
    total: int


class FileCitations(Struct, frozen=True):
    """The footnotes of one version of a file, in the order of the text."""

    file_path: str
    version: int
    counts: ProofCounts
    citations: tuple[Citation, ...]


class FileVersions(Struct, frozen=True):
    """The newest version first, which is the content of the file."""

    file_path: str
    filename: str
    versions: tuple[FileVersion, ...]


class FileDiff(Struct, frozen=True, rename={"older": "from", "newer": "to"}):
    """The difference between two versions as a unified diff; null: one of them is not text. `added` and `removed` count
    lines."""

    file_path: str
    older: int
    newer: int
    diff: str | None
    added: int = 0
    removed: int = 0


class FileEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """New content for a file. `base_hash` is the hash of the version that the user edited; null: there is no such file
    yet. If the file has another version by now, that is a conflict, so that nothing is overwritten unseen."""

    file_path: FilePath
    content: Annotated[str, Meta(max_length=MAX_TEXT_LENGTH)]
    base_hash: Hash | None


class FileRestore(Struct, frozen=True, forbid_unknown_fields=True):
    """`file_path` and `version` may be query parameters instead. `base_hash`, if given, is that of the version that the
    user saw last, as with an edit."""

    file_path: FilePath | None = None
    version: Annotated[int, Meta(ge=1)] | None = None
    base_hash: Hash | None = None


class FileConversion(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """`proof`: what is done about statements that their sources do not support. Markdown is never marked."""

    file_path: FilePath
    convert_type: ConvertType
    proof: ProofOption = "mark"


class ConvertedFile(Struct, frozen=True, omit_defaults=True):
    """`download_url` is valid for an hour. `notes`: what could not be converted as it was written."""

    download_url: str
    filename: str
    notes: tuple[str, ...] = ()


class Unpacking(Struct, frozen=True, forbid_unknown_fields=True):
    """A zip file of the session that is to be unpacked: each of its files becomes an upload."""

    file_path: FilePath


_HEADING = "Files that come with this message:"
_LIST = re.compile(rf"(?:^|\n){re.escape(_HEADING)}\n((?:- [^\n]*\n?)+)\Z")
_ROW = re.compile(r"^- (?P<path>.*?)(?: \(to cite it: read_page (?P<address>\S+)\))?$", re.MULTILINE)


class Attached(Struct, frozen=True):
    """The files that come with a message: the addresses of those in the library, and the paths of the others."""

    addresses: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def format_attachments(files: Iterable[tuple[FileRecord, str | None]]) -> str:
    """The files as a list for the model, each with its address in the library, if its text is there."""
    rows = (f"- {file.path}" + (f" (to cite it: read_page {address})" if address else "") for file, address in files)
    return "\n".join((_HEADING, *rows))


def split_attachments(text: str) -> tuple[str, Attached]:
    """The text of the user without the list of `format_attachments`, and the files in that list."""
    found = _LIST.search(text)
    if found is None:
        return text, Attached()
    rows = list(_ROW.finditer(found[1].rstrip("\n")))
    return text[: found.start()], Attached(
        addresses=tuple(row["address"] for row in rows if row["address"]),
        others=tuple(row["path"] for row in rows if not row["address"]),
    )
