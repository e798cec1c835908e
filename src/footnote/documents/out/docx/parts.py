"""The file: its parts, what each of them is, and the archive around them. The same parts make the same bytes."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from footnote.documents.labels import contents_title
from footnote.documents.markdown.inlines import plain_text
from footnote.documents.out.docx.blocks import BlockPosition, write_blocks
from footnote.documents.out.docx.inlines import field
from footnote.documents.out.docx.markup import (
    CODE_FONT,
    DECLARATION,
    NAMESPACES,
    M,
    RunFormat,
    W,
    escape_text,
    run,
    runs,
)
from footnote.documents.out.docx.relations import Relations, relationships_xml
from footnote.documents.out.docx.state import DocxState
from footnote.documents.out.docx.styles import LATIN_FONT, FontLanguages
from footnote.documents.scripts import is_right_to_left
from footnote.documents.tree import Block, Code, CodeBlock, Document, Heading, Paragraph, PlainText
from footnote.documents.walk import walk

_CLOSE = '<w:pPr><w:spacing w:after="0" w:line="240" w:lineRule="auto"/></w:pPr>'
_SEPARATORS = (
    f'<w:footnote w:type="separator" w:id="-1"><w:p>{_CLOSE}<w:r><w:separator/></w:r></w:p></w:footnote>'
    f'<w:footnote w:type="continuationSeparator" w:id="0"><w:p>{_CLOSE}<w:r><w:continuationSeparator/></w:r></w:p>'
    "</w:footnote>"
)
_NOTE_POSITION = BlockPosition(style="FootnoteText")


def write_footnotes(state: DocxState) -> tuple[str, Relations]:
    """After the body, which says which notes there are. With the relations of the part."""
    outside, state.relations, state.in_note = state.relations, Relations(), True
    try:
        made = "".join(_note(number, key, state) for key, number in state.note_numbers.items())
        relations = state.relations
    finally:
        state.relations, state.in_note = outside, False
    return f"{DECLARATION}<w:footnotes {NAMESPACES}>{_SEPARATORS}{made}</w:footnotes>", relations


def _note(number: int, key: str, state: DocxState) -> str:
    content = state.document.notes[key]
    if not content or not isinstance(content[0], Paragraph):
        content = (Paragraph(()), *content)
    label = state.note_labels.get(key)
    shown = f"<w:t>{label}</w:t>" if label else "<w:footnoteRef/>"
    begins = f'<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr>{shown}</w:r>{run(" ", RunFormat())}'
    made = [
        write_blocks(content[:1], state, replace(_NOTE_POSITION, begins=begins)),
        write_blocks(content[1:], state, _NOTE_POSITION),
    ]
    # A note inside a note is none in Word. It stands below the one that refers to it, and may refer to others.
    done = 0
    while done < len(state.nested_notes):
        inner = list(state.nested_notes.values())[done]
        done += 1
        made.append(write_blocks(_with_number(done, inner), state, _NOTE_POSITION))
    state.nested_notes.clear()
    return f'<w:footnote w:id="{number}">{"".join(made)}</w:footnote>'


def _with_number(number: int, content: tuple[Block, ...]) -> tuple[Block, ...]:
    match content:
        case (Paragraph(words), *others):
            return Paragraph((PlainText(f"[{number}] "), *words)), *others
        case _:
            return Paragraph((PlainText(f"[{number}]"),)), *content


_MIN_HEADINGS = 8
_MIN_CHARACTERS = 9000
"""What makes a table of contents worth its place."""

_MAX_ENTRIES = 100
_MAX_ENTRY_CHARS = 200
_MAX_LEVELS = 3
"""Levels."""


def contents_index(blocks: Sequence[Block]) -> int:
    """Behind how many blocks it stands: after the title, if the document begins with one."""
    first = blocks[0] if blocks else None
    return 1 if isinstance(first, Heading) and first.level == 1 else 0


def table_of_contents(blocks: Sequence[Block], state: DocxState) -> str:
    """Empty, if the document is short."""
    headings = [block for block in blocks[contents_index(blocks) :] if isinstance(block, Heading)]
    if len(headings) < _MIN_HEADINGS or _count_characters(blocks) < _MIN_CHARACTERS:
        return ""
    # One heading of the first level is a title; those below it are the chapters.
    top = min(heading.level for heading in headings)
    bottom = min(top + _MAX_LEVELS - 1, 6)
    while bottom > top and sum(1 for heading in headings if heading.level <= bottom) > _MAX_ENTRIES:
        bottom -= 1
    listed = [heading for heading in headings if heading.level <= bottom]
    title = contents_title(state.document.language)
    instruction = f'TOC \\o "{top}-{bottom}" \\h \\z \\u'
    begin = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f'<w:r><w:instrText xml:space="preserve"> {instruction} </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
    )
    entries = [_entry(heading, state, begin if not at else "") for at, heading in enumerate(listed)]
    return (
        '<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/><w:docPartUnique/></w:docPartObj>'
        f"</w:sdtPr><w:sdtContent>{_paragraph('TOCHeading', title, '', '', '')}{''.join(entries)}"
        '<w:p><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p></w:sdtContent></w:sdt>'
    )


def _count_characters(blocks: Sequence[Block]) -> int:
    return sum(len(part.text) for part in walk(blocks) if isinstance(part, PlainText | Code | CodeBlock))


def _entry(heading: Heading, state: DocxState, begin: str) -> str:
    words = " ".join(plain_text(heading.content).split())[:_MAX_ENTRY_CHARS]
    link = f'<w:hyperlink w:anchor="{state.bookmark_name(heading.anchor)}" w:history="1">'
    return _paragraph(f"TOC{heading.level}", words, begin, link, "</w:hyperlink>")


def _paragraph(style: str, words: str, begin: str, opening: str, closing: str) -> str:
    rtl = is_right_to_left(words)
    properties = f'<w:pPr><w:pStyle w:val="{style}"/>{"<w:bidi/>" if rtl else ""}</w:pPr>'
    return f"<w:p>{properties}{begin}{opening}{runs(words, RunFormat(), rtl=rtl)}{closing}</w:p>"


_OFFICE = "application/vnd.openxmlformats-officedocument"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_CORE = "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
_EXTENDED = "http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"
_ZIP_EPOCH = 1980, 1, 1, 0, 0, 0
"""The earliest time that an archive can tell."""

_LATEST = 253_402_300_799
_KINDS = {
    "/word/document.xml": f"{_OFFICE}.wordprocessingml.document.main+xml",
    "/word/styles.xml": f"{_OFFICE}.wordprocessingml.styles+xml",
    "/word/settings.xml": f"{_OFFICE}.wordprocessingml.settings+xml",
    "/word/fontTable.xml": f"{_OFFICE}.wordprocessingml.fontTable+xml",
    "/word/numbering.xml": f"{_OFFICE}.wordprocessingml.numbering+xml",
    "/word/footnotes.xml": f"{_OFFICE}.wordprocessingml.footnotes+xml",
    "/word/footer1.xml": f"{_OFFICE}.wordprocessingml.footer+xml",
    "/docProps/core.xml": "application/vnd.openxmlformats-package.core-properties+xml",
    "/docProps/app.xml": f"{_OFFICE}.extended-properties+xml",
}
_IMAGE_TYPES = {"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif"}

CONTENT_TYPES = (
    f'{DECLARATION}<Types xmlns="{_TYPES}">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    + "".join(f'<Default Extension="{ending}" ContentType="{kind}"/>' for ending, kind in _IMAGE_TYPES.items())
    + "".join(f'<Override PartName="{name}" ContentType="{kind}"/>' for name, kind in _KINDS.items())
    + "</Types>"
)
ROOT_RELATIONS = relationships_xml(
    (
        ("rId1", f"{_RELATED}/officeDocument", "word/document.xml", False),
        ("rId2", "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties",
         "docProps/core.xml", False),
        ("rId3", f"{_RELATED}/extended-properties", "docProps/app.xml", False),
    )
)  # fmt: skip
APPLICATION = f'{DECLARATION}<Properties xmlns="{_EXTENDED}"><Application>Footnote</Application></Properties>'
RELATED_PARTS = ("styles", "settings", "fontTable", "numbering", "footnotes")
"""Parts that the document is related to by their names."""


def document_xml(content: str, footer: str, *, is_rtl: bool) -> str:
    """The document: A4, with margins of 25 mm. `footer` is the relation of the footer."""
    section = (
        f'<w:sectPr><w:footerReference w:type="default" r:id="{footer}"/><w:pgSz w:w="11906" w:h="16838"/>'
        '<w:pgMar w:top="1418" w:right="1418" w:bottom="1418" w:left="1418" w:header="709" w:footer="709" '
        'w:gutter="0"/>'
        f"{'<w:bidi/>' if is_rtl else ''}</w:sectPr>"
    )
    return f"{DECLARATION}<w:document {NAMESPACES}><w:body>{content}{section}</w:body></w:document>"


def settings_xml(speech: FontLanguages) -> str:
    """As Word of today writes them: without the compatibility mode it would open the file as one of 2007."""
    return (
        f'{DECLARATION}<w:settings xmlns:w="{W}" xmlns:m="{M}"><w:zoom w:percent="100"/>'
        '<w:defaultTabStop w:val="425"/><w:characterSpacingControl w:val="doNotCompress"/>'
        '<w:footnotePr><w:footnote w:id="-1"/><w:footnote w:id="0"/></w:footnotePr>'
        '<w:compat><w:compatSetting w:name="compatibilityMode" w:uri="http://schemas.microsoft.com/office/word" '
        'w:val="15"/></w:compat><m:mathPr><m:mathFont m:val="Cambria Math"/></m:mathPr>'
        f'<w:themeFontLang w:val="{speech.latin}" w:eastAsia="{speech.east_asian}" w:bidi="{speech.complex}"/>'
        '<w:decimalSymbol w:val="."/><w:listSeparator w:val=","/></w:settings>'
    )


def font_table_xml(speech: FontLanguages) -> str:
    """With what to take where a font is not installed."""
    fonts = {
        LATIN_FONT: ("Carlito", "swiss", "variable"),
        CODE_FONT: ("DejaVu Sans Mono", "modern", "fixed"),
        speech.east_asian_font: ("Noto Sans CJK SC", "swiss", "variable"),
        speech.complex_font: ("Liberation Sans", "swiss", "variable"),
        "Cambria Math": ("Cambria", "roman", "variable"),
        "MS Gothic": ("Segoe UI Symbol", "modern", "fixed"),
    }
    listed = "".join(
        f'<w:font w:name="{name}"><w:altName w:val="{other}"/><w:family w:val="{family}"/>'
        f'<w:pitch w:val="{pitch}"/></w:font>'
        for name, (other, family, pitch) in fonts.items()
    )
    return f'{DECLARATION}<w:fonts xmlns:w="{W}">{listed}</w:fonts>'


def footer_xml() -> str:
    """The number of the page, of how many."""
    numbers = field("PAGE", run("1", RunFormat())) + run(" / ", RunFormat()) + field("NUMPAGES", run("1", RunFormat()))
    paragraph = f'<w:p><w:pPr><w:pStyle w:val="Footer"/></w:pPr>{numbers}</w:p>'
    return f'{DECLARATION}<w:ftr xmlns:w="{W}">{paragraph}</w:ftr>'


def core_properties_xml(document: Document, made_at: int) -> str:
    made = datetime.fromtimestamp(min(max(made_at, 0), _LATEST), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return (
        f'{DECLARATION}<cp:coreProperties xmlns:cp="{_CORE}" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escape_text(document.title)}</dc:title>"
        f"<dc:creator>{escape_text(document.author or 'Footnote')}</dc:creator>"
        f'<dcterms:created xsi:type="dcterms:W3CDTF">{made}</dcterms:created>'
        f'<dcterms:modified xsi:type="dcterms:W3CDTF">{made}</dcterms:modified>'
        f"<dc:language>{escape_text(document.language)}</dc:language></cp:coreProperties>"
    )


def zip_parts(parts: Mapping[str, str | bytes]) -> bytes:
    """Pictures are compressed already, and are kept as they are."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name, _ZIP_EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED if isinstance(content, str) else zipfile.ZIP_STORED
            # The system that made it would otherwise be told, and differ.
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            file.writestr(entry, content)
    return target.getvalue()
