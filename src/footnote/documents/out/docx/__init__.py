"""A document tree as a Word file: WordprocessingML, written as text. Pure: it fetches nothing and reads no file."""

from pathlib import PurePosixPath

from footnote.documents.markdown import parse_document
from footnote.documents.markdown.inlines import plain_text
from footnote.documents.out.docx import parts
from footnote.documents.out.docx.blocks import BlockPosition, write_blocks
from footnote.documents.out.docx.parts import contents_index, table_of_contents, write_footnotes
from footnote.documents.out.docx.state import DocxState
from footnote.documents.out.docx.styles import language_fonts, styles_xml
from footnote.documents.tree import Document, Heading, Paragraph, PlainText
from footnote.sandbox.jobs import ConvertDocument, ConvertedDocument, JobRefused

__all__ = ["prepare", "render_docx"]

_LANGUAGES = "bash", "html", "java", "javascript", "json", "python", "rust", "sql", "typescript", "yaml"
_WARM_UP_MARKDOWN = "# Words\n\n$x^2$\n\n| a |\n|---|\n| b |\n\n" + "".join(
    f"```{name}\nx\n```\n\n" for name in _LANGUAGES
)


def prepare() -> None:
    """Does once what the first document of a process has to wait for: to make the parser, and the lexers of common
    languages. For a process that is copied for each document; it starts no threads."""
    conversion = ConvertDocument(target="docx", markdown=_WARM_UP_MARKDOWN, filename="words.md")
    document = parse_document(conversion)
    if isinstance(document, Document):
        render_docx(document, conversion)


def render_docx(document: Document, job: ConvertDocument) -> ConvertedDocument | JobRefused:
    """The same document with the same images makes the same bytes."""
    writing = DocxState(document, job.images)
    for remark in document.warnings:
        writing.warn(remark)
    spoken = language_fonts(document.language)
    first = contents_index(document.blocks)
    content = "".join(
        (
            write_blocks(document.blocks[:first], writing),
            _title_block(document, PurePosixPath(job.filename).stem, writing),
            table_of_contents(document.blocks, writing),
            write_blocks(document.blocks[first:], writing),
        )
    )
    notes, note_relations = write_footnotes(writing)
    for name in parts.RELATED_PARTS:
        writing.relations.id_of(name, f"{name}.xml")
    footer = writing.relations.id_of("footer", "footer1.xml")
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": parts.CONTENT_TYPES,
        "_rels/.rels": parts.ROOT_RELATIONS,
        "docProps/core.xml": parts.core_properties_xml(document, job.made_at),
        "docProps/app.xml": parts.APPLICATION,
        "word/document.xml": parts.document_xml(content, footer, is_rtl=spoken.is_rtl),
        "word/_rels/document.xml.rels": writing.relations.xml(),
        "word/styles.xml": styles_xml(spoken),
        "word/settings.xml": parts.settings_xml(spoken),
        "word/fontTable.xml": parts.font_table_xml(spoken),
        "word/numbering.xml": writing.lists.xml(),
        "word/footnotes.xml": notes,
        "word/footer1.xml": parts.footer_xml(),
    }
    if note_relations:
        files["word/_rels/footnotes.xml.rels"] = note_relations.xml()
    files |= {f"word/{target}": content for target, content in writing.media.files.items()}
    return ConvertedDocument(content=parts.zip_parts(files), notes=writing.warnings)


def _title_block(document: Document, filename_title: str, state: DocxState) -> str:
    """What stands above the text: a title that no heading says, who wrote it, and when."""
    headings = (" ".join(plain_text(block.content).split()) for block in document.blocks if isinstance(block, Heading))
    title = "" if document.title in (next(headings, ""), filename_title) else document.title
    byline = " · ".join(filter(None, (document.author, document.date)))
    said = (("Title", title), ("Subtitle", byline))
    return "".join(
        write_blocks((Paragraph((PlainText(words),)),), state, BlockPosition(style=style))
        for style, words in said
        if words
    )
