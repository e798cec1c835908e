"""A document tree as DOCX: WordprocessingML, written as text. Pure: it fetches nothing and reads no file."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath

from msgspec.structs import replace

from footnote.documents.languages import contents_title, is_right_to_left
from footnote.documents.markdown import parse_document
from footnote.documents.markdown.inlines import plain_text
from footnote.documents.out.docx.blocks import BlockPosition, write_blocks
from footnote.documents.out.docx.inlines import custom_mark, field
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
from footnote.documents.out.docx.state import DocxState, Relations, relationships_xml
from footnote.documents.out.docx.styles import LATIN_FONT, FontLanguages, language_fonts, styles_xml
from footnote.documents.tree import Block, Code, CodeBlock, Document, Heading, Paragraph, PlainText, walk
from footnote.sandbox.jobs import ConvertDocument, ConvertedDocument, JobRefused

__all__ = ["prepare", "render_docx"]

_LANGUAGES = "bash", "html", "java", "javascript", "json", "python", "rust", "sql", "typescript", "yaml"
_WARM_UP_MARKDOWN = "# Words\n\n$x^2$\n\n| a |\n|---|\n| b |\n\n" + "".join(
    f"```{name}\nx\n```\n\n" for name in _LANGUAGES
)


def prepare() -> None:
    """Builds the parser and the lexers of common languages once, in the process that is forked for each document. It
    starts no threads."""
    conversion = ConvertDocument(target="docx", markdown=_WARM_UP_MARKDOWN, filename="words.md")
    document = parse_document(conversion)
    if isinstance(document, Document):
        render_docx(document, conversion)


def render_docx(document: Document, job: ConvertDocument) -> ConvertedDocument | JobRefused:
    """The same document with the same images gives the same bytes."""
    state = DocxState(document, job.images)
    for warning in document.warnings:
        state.warn(warning)
    font_languages = language_fonts(document.language)
    first = contents_index(document.blocks)
    content = "".join(
        (
            write_blocks(document.blocks[:first], state),
            _title_block(document, PurePosixPath(job.filename).stem, state),
            table_of_contents(document.blocks, state),
            write_blocks(document.blocks[first:], state),
        )
    )
    notes, note_relations = write_footnotes(state)
    for name in RELATED_PARTS:
        state.relations.id_of(name, f"{name}.xml")
    footer = state.relations.id_of("footer", "footer1.xml")
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": CONTENT_TYPES,
        "_rels/.rels": ROOT_RELATIONS,
        "docProps/core.xml": core_properties_xml(document, job.made_at),
        "docProps/app.xml": APPLICATION,
        "word/document.xml": document_xml(content, footer, is_rtl=font_languages.is_rtl),
        "word/_rels/document.xml.rels": state.relations.xml(),
        "word/styles.xml": styles_xml(font_languages),
        "word/settings.xml": settings_xml(font_languages),
        "word/fontTable.xml": font_table_xml(font_languages),
        "word/numbering.xml": state.lists.xml(),
        "word/footnotes.xml": notes,
        "word/footer1.xml": footer_xml(),
    }
    if note_relations:
        files["word/_rels/footnotes.xml.rels"] = note_relations.xml()
    files |= {f"word/{target}": content for target, content in state.media.files.items()}
    return ConvertedDocument(content=zip_parts(files), notes=state.warnings)


def _title_block(document: Document, filename_title: str, state: DocxState) -> str:
    """Title, author and date above the text. The title is left out if the first heading has the same words."""
    headings = (" ".join(plain_text(block.content).split()) for block in document.blocks if isinstance(block, Heading))
    title = "" if document.title in (next(headings, ""), filename_title) else document.title
    byline = " · ".join(filter(None, (document.author, document.date)))
    lines = (("Title", title), ("Subtitle", byline), ("Subtitle", document.proof))
    return "".join(
        write_blocks((Paragraph((PlainText(words),)),), state, BlockPosition(style=style))
        for style, words in lines
        if words
    )


# Parts of the package ------------------------------------------------------------------------------------


_CLOSE = '<w:pPr><w:spacing w:after="0" w:line="240" w:lineRule="auto"/></w:pPr>'
_SEPARATORS = (
    f'<w:footnote w:type="separator" w:id="-1"><w:p>{_CLOSE}<w:r><w:separator/></w:r></w:p></w:footnote>'
    f'<w:footnote w:type="continuationSeparator" w:id="0"><w:p>{_CLOSE}<w:r><w:continuationSeparator/></w:r></w:p>'
    "</w:footnote>"
)
_NOTE_POSITION = BlockPosition(style="FootnoteText")


def write_footnotes(state: DocxState) -> tuple[str, Relations]:
    """The footnotes part and its relations. Called after the body is written, which collects the notes."""
    body_relations, state.relations, state.in_note = state.relations, Relations(), True
    try:
        notes = "".join(_note(number, key, state) for key, number in state.note_numbers.items())
        relations = state.relations
    finally:
        state.relations, state.in_note = body_relations, False
    return f"{DECLARATION}<w:footnotes {NAMESPACES}>{_SEPARATORS}{notes}</w:footnotes>", relations


def _note(number: int, key: str, state: DocxState) -> str:
    content = state.document.notes[key]
    if not content or not isinstance(content[0], Paragraph):
        content = (Paragraph(()), *content)
    label = state.note_labels.get(key)
    mark = custom_mark(label) if label else "<w:footnoteRef/>"
    begins = f'<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr>{mark}</w:r>{run(" ", RunFormat())}'
    pieces = [
        write_blocks(content[:1], state, replace(_NOTE_POSITION, begins=begins)),
        write_blocks(content[1:], state, _NOTE_POSITION),
    ]
    # Word has no notes inside notes. A nested note is printed below the one that refers to it, and may refer to others.
    written = 0
    while written < len(state.nested_notes):
        inner = list(state.nested_notes.values())[written]
        written += 1
        pieces.append(write_blocks(_with_number(written, inner), state, _NOTE_POSITION))
    state.nested_notes.clear()
    return f'<w:footnote w:id="{number}">{"".join(pieces)}</w:footnote>'


def _with_number(number: int, content: tuple[Block, ...]) -> tuple[Block, ...]:
    match content:
        case (Paragraph(words), *others):
            return Paragraph((PlainText(f"[{number}] "), *words)), *others
        case _:
            return Paragraph((PlainText(f"[{number}]"),)), *content


_MIN_HEADINGS = 8
_MIN_CHARACTERS = 9000
"""A shorter document gets no table of contents."""

_MAX_ENTRIES = 100
_MAX_ENTRY_CHARS = 200
_MAX_LEVELS = 3


def contents_index(blocks: Sequence[Block]) -> int:
    """The index of the block before which the contents are inserted: after the title, if there is one."""
    first = blocks[0] if blocks else None
    return 1 if isinstance(first, Heading) and first.level == 1 else 0


def table_of_contents(blocks: Sequence[Block], state: DocxState) -> str:
    """The contents as a field of Word; empty for a short document."""
    headings = [block for block in blocks[contents_index(blocks) :] if isinstance(block, Heading)]
    if len(headings) < _MIN_HEADINGS or _count_characters(blocks) < _MIN_CHARACTERS:
        return ""
    # A single heading of the first level is the title; the headings below it are the chapters.
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
"""The earliest time that a zip file can store."""

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
"""Parts whose relation type is their name."""


def document_xml(content: str, footer: str, *, is_rtl: bool) -> str:
    """The document: A4, with margins of 25 mm. `footer` is the relation of the footer."""
    section = (
        f'<w:sectPr><w:footerReference w:type="default" r:id="{footer}"/><w:pgSz w:w="11906" w:h="16838"/>'
        '<w:pgMar w:top="1418" w:right="1418" w:bottom="1418" w:left="1418" w:header="709" w:footer="709" '
        'w:gutter="0"/>'
        f"{'<w:bidi/>' if is_rtl else ''}</w:sectPr>"
    )
    return f"{DECLARATION}<w:document {NAMESPACES}><w:body>{content}{section}</w:body></w:document>"


def settings_xml(languages: FontLanguages) -> str:
    """Without the compatibility mode, Word would open the file as one of 2007."""
    return (
        f'{DECLARATION}<w:settings xmlns:w="{W}" xmlns:m="{M}"><w:zoom w:percent="100"/>'
        '<w:defaultTabStop w:val="425"/><w:characterSpacingControl w:val="doNotCompress"/>'
        '<w:footnotePr><w:footnote w:id="-1"/><w:footnote w:id="0"/></w:footnotePr>'
        '<w:compat><w:compatSetting w:name="compatibilityMode" w:uri="http://schemas.microsoft.com/office/word" '
        'w:val="15"/></w:compat><m:mathPr><m:mathFont m:val="Cambria Math"/></m:mathPr>'
        f'<w:themeFontLang w:val="{languages.latin}" w:eastAsia="{languages.east_asian}" w:bidi="{languages.complex}"/>'
        '<w:decimalSymbol w:val="."/><w:listSeparator w:val=","/></w:settings>'
    )


def font_table_xml(languages: FontLanguages) -> str:
    """Fonts with alternatives for those that are not installed."""
    fonts = {
        LATIN_FONT: ("Carlito", "swiss", "variable"),
        CODE_FONT: ("DejaVu Sans Mono", "modern", "fixed"),
        languages.east_asian_font: ("Noto Sans CJK SC", "swiss", "variable"),
        languages.complex_font: ("Liberation Sans", "swiss", "variable"),
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
    """Page number and page count."""
    numbers = field("PAGE", run("1", RunFormat())) + run(" / ", RunFormat()) + field("NUMPAGES", run("1", RunFormat()))
    paragraph = f'<w:p><w:pPr><w:pStyle w:val="Footer"/></w:pPr>{numbers}</w:p>'
    return f'{DECLARATION}<w:ftr xmlns:w="{W}">{paragraph}</w:ftr>'


def core_properties_xml(document: Document, made_at: int) -> str:
    created = datetime.fromtimestamp(min(max(made_at, 0), _LATEST), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return (
        f'{DECLARATION}<cp:coreProperties xmlns:cp="{_CORE}" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escape_text(document.title)}</dc:title>"
        f"<dc:creator>{escape_text(document.author or 'Footnote')}</dc:creator>"
        f'<dcterms:created xsi:type="dcterms:W3CDTF">{created}</dcterms:created>'
        f'<dcterms:modified xsi:type="dcterms:W3CDTF">{created}</dcterms:modified>'
        f"<dc:language>{escape_text(document.language)}</dc:language></cp:coreProperties>"
    )


def zip_parts(parts: Mapping[str, str | bytes]) -> bytes:
    """Pictures are stored without compression, since they are compressed already."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name, _ZIP_EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED if isinstance(content, str) else zipfile.ZIP_STORED
            # Otherwise the file would name the operating system, and the bytes would differ.
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            file.writestr(entry, content)
    return target.getvalue()
