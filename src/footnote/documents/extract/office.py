"""Office documents of the web: read as uploads are. Which kind one is, says the list of what is in it."""

from footnote.documents.extract.document import ExtractedPage, UnreadableDocument
from footnote.documents.media import DOCX, ODS, ODT, PPTX, XLSX
from footnote.documents.office import OFFICE_READERS
from footnote.documents.office.inlines import links_of, normalize_text
from footnote.documents.office.package import Package
from footnote.documents.office.xml import NotReadable

_MAIN_PARTS = {"word/document": DOCX, "xl/workbook": XLSX, "ppt/presentation": PPTX}
_MAX_MIMETYPE = 200


def read(body: bytes, max_characters: int) -> ExtractedPage:
    try:
        kind = _kind(Package(body))
        if kind is None:
            raise UnreadableDocument("media_type", "it is an archive, and no document")
        line, facts = OFFICE_READERS[kind](body)
    except NotReadable as error:
        raise UnreadableDocument("unreadable", f"it {error.reason}") from error
    except ImportError:
        raise UnreadableDocument(
            "media_type", 'reading Office documents needs pip install "footnote[documents]"'
        ) from None
    if not line.text.strip():
        raise UnreadableDocument("empty", "there is no text in it")
    text = line.text[:max_characters]
    return ExtractedPage(
        text=text,
        title=normalize_text(facts.title),
        author=facts.author and normalize_text(facts.author),
        published=facts.published,
        media_type=kind,
        links=links_of(line, len(text)),
        cut=len(text) < len(line.text),
    )


def _kind(package: Package) -> str | None:
    for main, kind in _MAIN_PARTS.items():
        if any(name.startswith(main) and name.endswith(".xml") for name in package.names):
            return kind
    said = b"".join(package.read_chunks("mimetype"))[:_MAX_MIMETYPE].decode("ascii", "replace").strip()
    # LibreOffice calls a text that it made of a web page `text-web`.
    return next((kind for kind in (ODT, ODS) if said in (kind, f"{kind}-web")), None)
