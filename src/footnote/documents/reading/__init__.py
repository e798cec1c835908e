"""The text of an uploaded file. This runs where a hostile file can do no harm: in a process of the workshop."""

# ruff: noqa: PLC0415 - each reader is loaded with the first file of its kind

import re
from collections.abc import Callable

from footnote.documents.extract import Unreadable, extract
from footnote.documents.extract.charset import decode
from footnote.documents.inspection.inspection import DOCX, ODS, ODT, PPTX, XLSX
from footnote.documents.inspection.without_text import why_no_text
from footnote.documents.reading.lines import Line, links_of, words
from footnote.documents.reading.package import Facts, Package
from footnote.documents.reading.refusal import DECLARES, NotReadable
from footnote.documents.work import Reading, Refused, TextOf

MOST_CHARACTERS = 2_000_000

_HALVES = re.compile("[\ud800-\udfff\0]")
_ENTITY = re.compile(r"<!ENTITY\s+(?:%\s+)?[^\s>]{1,200}\s+(?:(SYSTEM|PUBLIC)\b|\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_LONG_ENTITY = 1_000
_XML = frozenset(("application/xml", "text/xml", "image/svg+xml"))


def text_of(reading: Reading) -> TextOf | Refused:
    try:
        return _text_of(reading)
    except NotReadable as error:
        return Refused(f"{reading.filename} {error.reason}.", is_hostile=error.is_hostile)


def _text_of(reading: Reading) -> TextOf:
    media_type = reading.media_type
    if not reading.content:
        return TextOf(text="")
    if reason := why_no_text(media_type):
        return TextOf(text=None, reason=reason)
    if media_type in _PACKAGES:
        return _packaged(reading)
    if media_type in ("application/pdf", "text/html"):
        return _extracted(reading)
    return _plain(reading)


# Office documents -----------------------------------------------------------------------------------------------------


def _word(content: bytes) -> tuple[Line, Facts]:
    from footnote.documents.reading import word

    return word.read(Package(content))


def _slides(content: bytes) -> tuple[Line, Facts]:
    from footnote.documents.reading import slides

    return slides.read(Package(content))


def _sheets(content: bytes) -> tuple[Line, Facts]:
    from footnote.documents.reading import sheets

    return sheets.read(Package(content), content)


def _open_text(content: bytes) -> tuple[Line, Facts]:
    from footnote.documents.reading import open_text

    return open_text.read(Package(content))


_PACKAGES: dict[str, Callable[[bytes], tuple[Line, Facts]]] = {
    DOCX: _word,
    ODT: _open_text,
    PPTX: _slides,
    XLSX: _sheets,
    ODS: _sheets,
}


def _packaged(reading: Reading) -> TextOf:
    line, facts = _PACKAGES[reading.media_type](reading.content)
    if not line.text:
        return TextOf(text=None, reason="there is no text in it")
    text = line.text[:MOST_CHARACTERS]
    return TextOf(
        text=text,
        title=words(facts.title),
        author=facts.author and words(facts.author),
        published=facts.published,
        links=links_of(line, len(text)),
        cut=len(text) < len(line.text),
    )


# Pages and texts ------------------------------------------------------------------------------------------------------


def _extracted(reading: Reading) -> TextOf:
    is_pdf = reading.media_type == "application/pdf"
    try:
        found = extract(reading.content, reading.media_type, "", most=MOST_CHARACTERS)
    except Unreadable as error:
        if not is_pdf:
            return _plain(reading)
        if error.failure == "empty":
            return TextOf(text=None, reason="it is a scan: its pages are pictures, without text")
        if error.failure == "media_type":
            raise ModuleNotFoundError(error.reason) from error
        raise NotReadable(f"cannot be read: {error.reason}") from error
    return TextOf(
        text=found.text,
        title=found.title,
        author=found.author,
        published=found.published,
        language=found.language,
        links=found.links,
        pages=found.pages,
        cut=found.cut,
    )


def _plain(reading: Reading) -> TextOf:
    """As it stands, in whatever encoding it came."""
    text = _HALVES.sub("", decode(reading.content, ""))
    if reading.media_type in _XML:
        _check_entities(text)
    return TextOf(text=text[:MOST_CHARACTERS], cut=len(text) > MOST_CHARACTERS)


def _check_entities(text: str) -> None:
    """Old drawing programs declare short names for addresses. What names others, or a file, is made to do harm."""
    for outside, one, two in _ENTITY.findall(text):
        value = one or two
        if outside or "&" in value or "%" in value or len(value) > _LONG_ENTITY:
            raise NotReadable(f"{DECLARES}. Remove its DOCTYPE", is_hostile=True)
