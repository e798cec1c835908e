"""What is asked of the workshop, and what comes of it: plain values that cross a process border."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct, field

from footnote.protocol.files import Cell
from footnote.protocol.sources import Link

Target: TypeAlias = Literal["pdf", "docx"]

MOST_SOURCE_BYTES = 2_000_000
"""Of the markdown of one document."""


class SourceNote(Struct, frozen=True):
    """A source of the session, for a marker such as `[3]` in a report."""

    title: str
    url: str
    fetched_at: str | None = None
    published: str | None = None


class Conversion(Struct, frozen=True, kw_only=True, tag=True):
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


class Converted(Struct, frozen=True, kw_only=True, tag=True):
    """`notes`: what could not be shown as it was written, a sentence each."""

    content: bytes
    notes: tuple[str, ...] = ()


class Reading(Struct, frozen=True, kw_only=True, tag=True):
    """A file that a user uploaded, whose text is wanted."""

    content: bytes
    filename: str
    media_type: str


class TextOf(Struct, frozen=True, kw_only=True, tag=True):
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


class Tabling(Struct, frozen=True, kw_only=True, tag=True):
    """Some rows of a table: of a text that separates its cells by a sign, or of a sheet of a workbook. `sheet` None:
    the first."""

    content: bytes
    filename: str
    form: Literal["csv", "tsv", "workbook"]
    sheet: str | None = None
    offset: int = 0
    limit: int = 1000


class TableOf(Struct, frozen=True, kw_only=True, tag=True):
    """`total` counts all rows of the sheet, `columns` those of its widest row, of which `left_out` are beyond what is
    shown. A row ends with its last cell that holds something."""

    sheets: tuple[str, ...] = ()
    sheet: str = ""
    columns: int = 0
    left_out: int = 0
    rows: tuple[tuple[Cell, ...], ...] = ()
    total: int = 0


class Refused(Struct, frozen=True, tag=True):
    """The work cannot or must not be done: too large, damaged, hostile. `reason` is a sentence for the user.
    `is_hostile`: the file is made to do harm, and nobody wants to keep it."""

    reason: str
    is_hostile: bool = False


Work: TypeAlias = Conversion | Reading | Tabling
Result: TypeAlias = Converted | TextOf | TableOf | Refused
