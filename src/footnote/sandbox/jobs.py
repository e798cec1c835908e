"""Jobs of the sandbox and their results: plain values that cross a process boundary."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct, field

from footnote.protocol.errors import ErrorParam
from footnote.protocol.files import Cell
from footnote.protocol.sources import Citation, Link, PageFailure, ProofCounts, Verdict

Target: TypeAlias = Literal["pdf", "docx"]

MAX_SOURCE_BYTES = 2_000_000
"""Limit for the markdown of one document."""


class SourceNote(Struct, frozen=True):
    """A source of the session, to which a marker such as `[3]` in a report refers."""

    title: str
    url: str
    fetched_at: str | None = None
    published: str | None = None


class DoubtfulStatement(Struct, frozen=True):
    """A statement of a document that its sources do not support, or not wholly, with all its citations. The offsets are
    those of the markdown."""

    start: int
    end: int
    verdict: Verdict
    citations: tuple[Citation, ...]


class DocumentProof(Struct, frozen=True):
    """The verdicts of a document: how many statements were judged, and those that are marked, in order."""

    counts: ProofCounts
    doubtful: tuple[DoubtfulStatement, ...] = ()


class ConvertDocument(Struct, frozen=True, kw_only=True, tag=True):
    """Converts markdown to a document. `images` are files of the workspace, by the names that the markdown uses;
    `sources` are those of the session, by number. `proof`: statements to mark, with the reasons in notes. `made_at`:
    Unix time for the metadata, so that the same job gives the same bytes."""

    target: Target
    markdown: str
    filename: str
    images: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    sources: Mapping[int, SourceNote] = field(default_factory=dict[int, SourceNote])
    proof: DocumentProof | None = None
    language: str | None = None
    made_at: int = 0


class ConvertedDocument(Struct, frozen=True, kw_only=True, tag=True):
    """`notes`: what could not be converted as it was written, a sentence each."""

    content: bytes
    notes: tuple[str, ...] = ()


class ReadText(Struct, frozen=True, kw_only=True, tag=True):
    """Extracts the text of an uploaded file."""

    content: bytes
    filename: str
    media_type: str


class DocumentText(Struct, frozen=True, kw_only=True, tag=True):
    """The text of a file. `text` None: it has none, for a `reason` that the user sees (a scan, an image, sound).
    `cut`: the text was longer than the limit."""

    text: str | None
    reason: str = ""
    title: str = ""
    author: str | None = None
    published: str | None = None
    language: str | None = None
    links: tuple[Link, ...] = ()
    pages: tuple[int, ...] = ()
    cut: bool = False


class ReadTable(Struct, frozen=True, kw_only=True, tag=True):
    """Reads some rows of a CSV or TSV file, or of a sheet of a workbook. `sheet` None: the first."""

    content: bytes
    filename: str
    form: Literal["csv", "tsv", "workbook"]
    sheet: str | None = None
    offset: int = 0
    limit: int = 1000


class TableRows(Struct, frozen=True, kw_only=True, tag=True):
    """`total` counts all rows of the sheet, `columns` those of its widest row, of which `left_out` are beyond the
    limit. A row ends with its last cell that is not empty."""

    sheets: tuple[str, ...] = ()
    sheet: str = ""
    columns: int = 0
    left_out: int = 0
    rows: tuple[tuple[Cell, ...], ...] = ()
    total: int = 0


class ExtractPage(Struct, frozen=True, kw_only=True, tag=True):
    """Extracts the text of a web page, or of another document of the web."""

    content: bytes
    content_type: str
    url: str
    filename: str = "The document"


class ExtractedPage(Struct, frozen=True, kw_only=True, tag=True):
    """The text and metadata of a document. `cut`: the text was longer than the limit."""

    text: str
    title: str = ""
    author: str | None = None
    published: str | None = None
    language: str | None = None
    site_name: str | None = None
    canonical_url: str | None = None
    icon: str | None = None
    media_type: str = "text/html"
    links: tuple[Link, ...] = ()
    pages: tuple[int, ...] = ()
    cut: bool = False


class ExtractionFailed(Struct, frozen=True, tag=True):
    """A document has no text, for a `reason` that the parser knows."""

    failure: PageFailure
    reason: str


class Inspection(Struct, frozen=True, kw_only=True, tag=True):
    """Detects the type of a file on the disk. The process opens `path` before it is confined."""

    path: str
    filename: str


class InspectionResult(Struct, frozen=True, tag=True):
    """The type of a file by its content; for a text, by its suffix. `unreadable`: why its text cannot be read, as half
    a sentence."""

    media_type: str
    unreadable: str = ""


class ListArchive(Struct, frozen=True, kw_only=True, tag=True):
    """Lists the entries of a zip file on the disk."""

    path: str
    filename: str


class ArchiveEntry(Struct, frozen=True):
    """A file in an archive. `name` is its path there; `size` is the declared one, and no more is unpacked."""

    name: str
    size: int
    place: int
    """The index in the directory of the archive: names need not be unique."""


class ArchiveListing(Struct, frozen=True, tag=True):
    entries: tuple[ArchiveEntry, ...]


class UnpackArchive(Struct, frozen=True, kw_only=True, tag=True):
    """Unpacks one entry of a zip file on the disk."""

    path: str
    filename: str
    entry: ArchiveEntry


class UnpackedFile(Struct, frozen=True, kw_only=True, tag=True):
    content: bytes


class ImageCheck(Struct, frozen=True, kw_only=True, tag=True):
    """Reads the type and the size of an image from its header."""

    content: bytes
    filename: str


class ImageFacts(Struct, frozen=True, kw_only=True, tag=True):
    """`is_whole`: the file is not truncated, as far as the format shows that without decoding. `media_type` None: it is
    not an image of a known type. Width and height are 0 where the header is damaged."""

    media_type: str | None
    width: int = 0
    height: int = 0
    is_whole: bool = False


class JobRefused(Struct, frozen=True, tag=True):
    """The parser refuses the file: too large, damaged, hostile. `reason` is a sentence for the user. `is_hostile`: the
    file is made to do harm, and must not be stored. `is_wrong_kind`: files of this kind are not accepted. `code` and
    `params` are the facts behind the sentence, as in a `FootnoteError`."""

    reason: str
    is_hostile: bool = False
    is_wrong_kind: bool = False
    code: str | None = None
    params: Mapping[str, ErrorParam] = {}


Job: TypeAlias = (
    ConvertDocument | ReadText | ReadTable | ExtractPage | Inspection | ListArchive | UnpackArchive | ImageCheck
)
Result: TypeAlias = (
    ConvertedDocument
    | DocumentText
    | TableRows
    | ExtractedPage
    | ExtractionFailed
    | InspectionResult
    | ArchiveListing
    | UnpackedFile
    | ImageFacts
    | JobRefused
)

KINDS: tuple[type[Job], ...] = (
    *(ConvertDocument, ReadText, ReadTable, ExtractPage),
    *(Inspection, ListArchive, UnpackArchive, ImageCheck),
)
"""An order to the fork server names a kind by its index in this tuple."""
