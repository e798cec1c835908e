"""What is asked of the sandbox, and what comes of it: plain values that cross a process border."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct, field

from footnote.protocol.files import Cell
from footnote.protocol.receipts import PageFailure
from footnote.protocol.sources import Link

Target: TypeAlias = Literal["pdf", "docx"]

MAX_SOURCE_BYTES = 2_000_000
"""Of the markdown of one document."""


class SourceNote(Struct, frozen=True):
    """A source of the session, for a marker such as `[3]` in a report."""

    title: str
    url: str
    fetched_at: str | None = None
    published: str | None = None


class ConvertDocument(Struct, frozen=True, kw_only=True, tag=True):
    """Markdown to become a document. `images` are files of the workspace by the names that the markdown gives them;
    `sources` those of the session by number. `made_at`: seconds since 1970, for the metadata: the same conversion
    gives the same bytes."""

    target: Target
    markdown: str
    filename: str
    images: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    sources: Mapping[int, SourceNote] = field(default_factory=dict[int, SourceNote])
    language: str | None = None
    made_at: int = 0


class ConvertedDocument(Struct, frozen=True, kw_only=True, tag=True):
    """`notes`: what could not be shown as it was written, a sentence each."""

    content: bytes
    notes: tuple[str, ...] = ()


class ReadText(Struct, frozen=True, kw_only=True, tag=True):
    """A file that a user uploaded, whose text is wanted."""

    content: bytes
    filename: str
    media_type: str


class DocumentText(Struct, frozen=True, kw_only=True, tag=True):
    """What a file says. `text` None: it holds none that can be read, and `reason` says why in a sentence for the user
    (a scan, an image, sound). `cut`: there was more than may be kept."""

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
    """Some rows of a table: of a text that separates its cells by a sign, or of a sheet of a workbook. `sheet` None:
    the first."""

    content: bytes
    filename: str
    form: Literal["csv", "tsv", "workbook"]
    sheet: str | None = None
    offset: int = 0
    limit: int = 1000


class TableRows(Struct, frozen=True, kw_only=True, tag=True):
    """`total` counts all rows of the sheet, `columns` those of its widest row, of which `left_out` are beyond what is
    shown. A row ends with its last cell that holds something."""

    sheets: tuple[str, ...] = ()
    sheet: str = ""
    columns: int = 0
    left_out: int = 0
    rows: tuple[tuple[Cell, ...], ...] = ()
    total: int = 0


class ExtractPage(Struct, frozen=True, kw_only=True, tag=True):
    """A document of the web, whose text is wanted."""

    content: bytes
    content_type: str
    url: str
    filename: str = "The document"


class ExtractedPage(Struct, frozen=True, kw_only=True, tag=True):
    """What a document says. `cut`: there was more than may be kept."""

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
    """The parser itself says why a document has no text."""

    failure: PageFailure
    reason: str


class Inspection(Struct, frozen=True, kw_only=True, tag=True):
    """A file on the disk of which is to be found out what it is. The process opens `path` before it is confined."""

    path: str
    filename: str


class InspectionResult(Struct, frozen=True, tag=True):
    """What a file is, whatever its name says; for a text, what kind of text its name says. `unreadable`: why nobody
    need try to read it, as half a sentence."""

    media_type: str
    unreadable: str = ""


class ListArchive(Struct, frozen=True, kw_only=True, tag=True):
    """A zip file on the disk whose entries are wanted."""

    path: str
    filename: str


class ArchiveEntry(Struct, frozen=True):
    """A file in an archive. `name` is its path there; `size` what it claims to have, and more is not read."""

    name: str
    size: int
    place: int
    """Which of the list of entries it is: names need not be unique."""


class ArchiveListing(Struct, frozen=True, tag=True):
    entries: tuple[ArchiveEntry, ...]


class UnpackArchive(Struct, frozen=True, kw_only=True, tag=True):
    """One file of a zip file on the disk, whose content is wanted."""

    path: str
    filename: str
    entry: ArchiveEntry


class UnpackedFile(Struct, frozen=True, kw_only=True, tag=True):
    content: bytes


class ImageCheck(Struct, frozen=True, kw_only=True, tag=True):
    """An image whose kind and size are wanted, as its header says them."""

    content: bytes
    filename: str


class ImageFacts(Struct, frozen=True, kw_only=True, tag=True):
    """`is_whole`: its end is there, as far as the format tells without decoding it. `media_type` None: it is no image
    of a known kind; width and height are 0 where the header is damaged."""

    media_type: str | None
    width: int = 0
    height: int = 0
    is_whole: bool = False


class JobRefused(Struct, frozen=True, tag=True):
    """The job cannot or must not be done: too large, damaged, hostile. `reason` is a sentence for the user.
    `is_hostile`: the file is made to do harm, and nobody wants to keep it. `is_wrong_kind`: files of this kind are not
    taken."""

    reason: str
    is_hostile: bool = False
    is_wrong_kind: bool = False


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
"""In the order of the numbers by which an order names them to the fork server."""
