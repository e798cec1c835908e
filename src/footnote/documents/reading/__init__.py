"""The text of an uploaded file. This runs where a hostile file can do no harm: in the sandbox."""

import re

from footnote.documents.extract import Unreadable, extract
from footnote.documents.extract.charset import decode
from footnote.documents.inspection.without_text import why_no_text
from footnote.documents.office import OFFICE_READERS
from footnote.documents.office.lines import links_of, words
from footnote.documents.office.refusal import DECLARES, NotReadable
from footnote.sandbox.jobs import Reading, Refused, TextOf

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
    if media_type in OFFICE_READERS:
        return _packaged(reading)
    if media_type in ("application/pdf", "text/html"):
        return _extracted(reading)
    return _plain(reading)


# Office documents -----------------------------------------------------------------------------------------------------


def _packaged(reading: Reading) -> TextOf:
    line, facts = OFFICE_READERS[reading.media_type](reading.content)
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
