"""State of one document while it is written: unique ids, relations, list numbering, pictures, warnings."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from itertools import count
from urllib.parse import quote, urlsplit

from msgspec import Struct

from footnote.documents.images import ImageInfo, Kind, inspect_image
from footnote.documents.markdown.notes import label_notes
from footnote.documents.out.docx.markup import DECLARATION, W, clean, escape_attribute
from footnote.documents.tree import Block, Document
from footnote.sandbox.jobs import JobRefused

try:
    from footnote.documents.out.typesetter import rasterize
except ImportError:
    # Without the typesetter, pictures of kinds that Word does not show become their descriptions.
    rasterize = None

EMU_PER_PIXEL = 9525
"""English metric units, 914,400 to the inch."""

TWIPS_PER_PIXEL = 15
"""Twentieths of a point, at 96 pixels to the inch."""

_WORD_DRAWS = frozenset(("png", "jpeg", "gif"))
_MAX_RASTER_SIZE = 640, 900
"""In pixels, roughly the text area of a page. Nothing is rasterized larger than it is shown."""


class EmbeddedImage(Struct, frozen=True):
    """A picture of the package: the path of its part, and its size in pixels."""

    target: str
    width: int
    height: int


class Media:
    """Pictures of the package, each stored once."""

    def __init__(self, images: Mapping[str, bytes]) -> None:
        self._images = images
        self._cache: dict[str, EmbeddedImage | JobRefused] = {}
        self._targets: dict[bytes, str] = {}
        self.files: dict[str, bytes] = {}

    def image(self, name: str) -> EmbeddedImage | JobRefused:
        """A picture by name, or why it is not shown: half a sentence that goes on from `The picture NAME`."""
        found = self._cache.get(name)
        if found is None:
            found = self._cache[name] = self._load_image(name)
        return found

    def _load_image(self, name: str) -> EmbeddedImage | JobRefused:
        content = self._images.get(name)
        if content is None:
            return JobRefused("is not among the files of the workspace")
        info = inspect_image(content)
        if isinstance(info, JobRefused):
            return info
        if info.kind in _WORD_DRAWS:
            return EmbeddedImage(self._store(content, info.kind), info.width, info.height)
        width, height = fit_size(info, *_MAX_RASTER_SIZE)
        png = rasterize(content, info.kind, width, height) if rasterize else None
        if png is None:
            return JobRefused("could not be drawn")
        return EmbeddedImage(self._store(png, "png"), width, height)

    def _store(self, content: bytes, kind: Kind) -> str:
        digest = hashlib.sha256(content).digest()
        target = self._targets.get(digest)
        if target is None:
            target = self._targets[digest] = f"media/picture{len(self._targets) + 1}.{kind}"
            self.files[target] = content
        return target


def fit_size(size: ImageInfo | EmbeddedImage, width: int, height: int) -> tuple[int, int]:
    """The size in pixels, scaled down to fit and with the same proportions."""
    scale = min(1.0, width / size.width, height / size.height)
    return max(1, round(size.width * scale)), max(1, round(size.height * scale))


_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_MAX_URL_CHARS = 2000
"""Word does not open a file with longer URLs."""
_HOST = re.compile(r"[A-Za-z0-9._~-]+|[0-9A-Fa-f.]*+:[0-9A-Fa-f:.]*+")
_SAFE = "/?@!$&'()*+,;=:%-._~"
_HALF_ESCAPED = re.compile("%(?![0-9A-Fa-f]{2})")


class Relations:
    """The relations of one part; the footnotes have their own."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], str] = {}

    def id_of(self, kind: str, target: str) -> str:
        return self._ids.setdefault((kind, target), f"rId{len(self._ids) + 1}")

    def link_id(self, url: str) -> str | None:
        """None: Word would not accept the URL."""
        target = normalize_url(url)
        return None if target is None else self.id_of("hyperlink", target)

    def __bool__(self) -> bool:
        return bool(self._ids)

    def xml(self) -> str:
        return relationships_xml(
            (name, f"{_TYPES}/{kind}", target, kind == "hyperlink") for (kind, target), name in self._ids.items()
        )


def relationships_xml(entries: Iterable[tuple[str, str, str, bool]]) -> str:
    """Entries are id, type, target, and whether the target is outside the package."""
    lines = (
        f'<Relationship Id="{name}" Type="{kind}" Target="{escape_attribute(target)}"'
        + (' TargetMode="External"/>' if outside else "/>")
        for name, kind, target, outside in entries
    )
    return f'{DECLARATION}<Relationships xmlns="{_PACKAGE}">{"".join(lines)}</Relationships>'


def normalize_url(url: str) -> str | None:
    """A URL that Word accepts: one wrong character in a URL makes it take the whole file for damaged."""
    try:
        parts = urlsplit(clean(url).strip())
        port = parts.port
        host = (parts.hostname or "").encode("idna" if "[" not in parts.netloc else "ascii").decode()
    except ValueError:
        return None
    if parts.scheme == "mailto":
        normalized = f"mailto:{_percent_encode(parts.path)}"
    elif parts.scheme in ("http", "https") and _HOST.fullmatch(host):
        authority = f"[{host}]" if ":" in host else host
        normalized = f"{parts.scheme}://{authority}{f':{port}' if port else ''}{_percent_encode(parts.path)}"
    else:
        return None
    normalized += (f"?{_percent_encode(parts.query)}" if parts.query else "") + (
        f"#{_percent_encode(parts.fragment)}" if parts.fragment else ""
    )
    return normalized if len(normalized) <= _MAX_URL_CHARS else None


def _percent_encode(text: str) -> str:
    return _HALF_ESCAPED.sub("%25", quote(text, safe=_SAFE))


INDENT_STEP = 425
"""The indent of a list level, in twips."""

MAX_LEVEL = 8
"""Levels count from 0: Word has nine."""

_MAX_NUMBERINGS = 2000
"""The numberings that Word can hold, rounded down. Items of later lists have their number as text."""

_BULLETS = "\u2022\u25e6\u25aa"
BULLET_NUM_ID, TASK_NUM_ID = 1, 2
_NUMBERS = 3
"""The first two ids belong to bullets and tasks; numbered lists follow."""


class Lists:
    def __init__(self) -> None:
        self._counts: list[tuple[int, int]] = []

    def add_numbering(self, start: int, level: int) -> int | None:
        """The id of a new numbering; None: there are too many."""
        if len(self._counts) >= _MAX_NUMBERINGS:
            return None
        self._counts.append((start, level))
        return _NUMBERS + len(self._counts) - 1

    def xml(self) -> str:
        definitions = "".join(
            (
                _definition(0, [("bullet", _BULLETS[level % 3], "tab") for level in range(MAX_LEVEL + 1)]),
                _definition(1, [("bullet", "", "nothing")] * (MAX_LEVEL + 1)),
                _definition(2, [("decimal", f"%{level + 1}.", "tab") for level in range(MAX_LEVEL + 1)]),
            )
        )
        counts = "".join(
            f'<w:num w:numId="{count}"><w:abstractNumId w:val="2"/><w:lvlOverride w:ilvl="{level}">'
            f'<w:startOverride w:val="{start}"/></w:lvlOverride></w:num>'
            for count, (start, level) in enumerate(self._counts, _NUMBERS)
        )
        return (
            f'{DECLARATION}<w:numbering xmlns:w="{W}">{definitions}'
            f'<w:num w:numId="{BULLET_NUM_ID}"><w:abstractNumId w:val="0"/></w:num>'
            f'<w:num w:numId="{TASK_NUM_ID}"><w:abstractNumId w:val="1"/></w:num>{counts}</w:numbering>'
        )


def _definition(number: int, levels: list[tuple[str, str, str]]) -> str:
    described = "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:suff w:val="{after}"/>'
        f'<w:lvlText w:val="{text}"/><w:lvlJc w:val="left"/>'
        f'<w:pPr><w:ind w:left="{INDENT_STEP * (level + 1)}" w:hanging="{INDENT_STEP}"/></w:pPr>'
        + (
            '<w:rPr><w:rFonts w:ascii="Arial" w:hAnsi="Arial" w:cs="Arial"/></w:rPr>'
            if form == "bullet" and text
            else ""
        )
        + "</w:lvl>"
        for level, (form, text, after) in enumerate(levels)
    )
    kind = '<w:multiLevelType w:val="hybridMultilevel"/>'
    return f'<w:abstractNum w:abstractNumId="{number}">{kind}{described}</w:abstractNum>'


_MAX_WARNINGS = 20


class DocxState:
    """`relations` are those of the part that is being written; `in_note`: that part is the footnotes, in which Word
    allows no notes."""

    def __init__(self, document: Document, images: Mapping[str, bytes]) -> None:
        self.document = document
        self.media = Media(images)
        self.lists = Lists()
        self.relations = Relations()
        self.in_note = False
        self.note_numbers: dict[str, int] = {}
        self.note_labels = custom_note_labels(document.notes)
        self.nested_notes: dict[str, tuple[Block, ...]] = {}
        """Notes that only the current note refers to; they are printed below it."""
        self._warnings: dict[str, None] = {}
        self._bookmarks: dict[str, str] = {}
        self._ids = count(1)

    def next_id(self) -> int:
        return next(self._ids)

    def warn(self, sentence: str) -> None:
        """Reports a part that is not shown as it was written; equal sentences only once."""
        self._warnings[sentence] = None

    @property
    def warnings(self) -> tuple[str, ...]:
        sentences = tuple(self._warnings)
        if len(sentences) <= _MAX_WARNINGS:
            return sentences
        return *sentences[
            :_MAX_WARNINGS
        ], f"{len(sentences) - _MAX_WARNINGS:,} more things are not shown as they were written."

    def bookmark_name(self, anchor: str) -> str:
        """The bookmark of a heading. An anchor may be too long, or have characters that Word does not accept."""
        return self._bookmarks.setdefault(anchor, f"_Toc{len(self._bookmarks) + 1:06}")


def custom_note_labels(notes: Mapping[str, object]) -> Mapping[str, str]:
    """Labels where automatic numbering would be wrong: sources keep their numbers of the session, by which the text may
    list them. Empty: Word numbers the notes."""
    labels = label_notes(notes)
    return {} if list(labels.values()) == [str(number) for number in range(1, len(notes) + 1)] else labels
