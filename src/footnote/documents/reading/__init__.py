"""The text of an uploaded file. This runs where a hostile file can do no harm: in the sandbox."""

import re

from footnote.documents.extract import UnreadableDocument, extract
from footnote.documents.extract.charset import decode
from footnote.documents.inspection.without_text import no_text_reason
from footnote.documents.office import OFFICE_READERS
from footnote.documents.office.inlines import links_of, normalize_text
from footnote.documents.office.xml import ENTITIES_REASON, NotReadable
from footnote.sandbox.jobs import DocumentText, JobRefused, ReadText

MAX_CHARACTERS = 2_000_000

_HALVES = re.compile("[\ud800-\udfff\0]")
_ENTITY = re.compile(r"<!ENTITY\s+(?:%\s+)?[^\s>]{1,200}\s+(?:(SYSTEM|PUBLIC)\b|\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_MAX_ENTITY_CHARS = 1_000
_XML = frozenset(("application/xml", "text/xml", "image/svg+xml"))


def read_text(job: ReadText) -> DocumentText | JobRefused:
    try:
        return _read_text(job)
    except NotReadable as error:
        return JobRefused(f"{job.filename} {error.reason}.", is_hostile=error.is_hostile)


def _read_text(job: ReadText) -> DocumentText:
    media_type = job.media_type
    if not job.content:
        return DocumentText(text="")
    if reason := no_text_reason(media_type):
        return DocumentText(text=None, reason=reason)
    if media_type in OFFICE_READERS:
        return _read_office(job)
    if media_type in ("application/pdf", "text/html"):
        return _read_page(job)
    return _read_plain(job)


# Office documents -----------------------------------------------------------------------------------------------------


def _read_office(job: ReadText) -> DocumentText:
    line, facts = OFFICE_READERS[job.media_type](job.content)
    if not line.text:
        return DocumentText(text=None, reason="there is no text in it")
    text = line.text[:MAX_CHARACTERS]
    return DocumentText(
        text=text,
        title=normalize_text(facts.title),
        author=facts.author and normalize_text(facts.author),
        published=facts.published,
        links=links_of(line, len(text)),
        cut=len(text) < len(line.text),
    )


# Pages and texts ------------------------------------------------------------------------------------------------------


def _read_page(job: ReadText) -> DocumentText:
    is_pdf = job.media_type == "application/pdf"
    try:
        found = extract(job.content, job.media_type, "", max_characters=MAX_CHARACTERS)
    except UnreadableDocument as error:
        if not is_pdf:
            return _read_plain(job)
        if error.failure == "empty":
            return DocumentText(text=None, reason="it is a scan: its pages are pictures, without text")
        if error.failure == "media_type":
            raise ModuleNotFoundError(error.reason) from error
        raise NotReadable(f"cannot be read: {error.reason}") from error
    return DocumentText(
        text=found.text,
        title=found.title,
        author=found.author,
        published=found.published,
        language=found.language,
        links=found.links,
        pages=found.pages,
        cut=found.cut,
    )


def _read_plain(job: ReadText) -> DocumentText:
    """As it stands, in whatever encoding it came."""
    text = _HALVES.sub("", decode(job.content, ""))
    if job.media_type in _XML:
        _check_entities(text)
    return DocumentText(text=text[:MAX_CHARACTERS], cut=len(text) > MAX_CHARACTERS)


def _check_entities(text: str) -> None:
    """Old drawing programs declare short names for addresses. What names others, or a file, is made to do harm."""
    for outside, one, two in _ENTITY.findall(text):
        value = one or two
        if outside or "&" in value or "%" in value or len(value) > _MAX_ENTITY_CHARS:
            raise NotReadable(f"{ENTITIES_REASON}. Remove its DOCTYPE", is_hostile=True)
