"""A document tree as a Word file: WordprocessingML, written as text. Pure: it fetches nothing and reads no file."""

from pathlib import PurePosixPath

from footnote.documents.docx import parts
from footnote.documents.docx.blocks import Place, written
from footnote.documents.docx.contents import place_of, table_of_contents
from footnote.documents.docx.languages import speech
from footnote.documents.docx.notes import footnotes
from footnote.documents.docx.styles import styles
from footnote.documents.docx.writing import Writing
from footnote.documents.markdown import document_of
from footnote.documents.markdown.inlines import plain
from footnote.documents.tree import Document, Heading, Paragraph, Text
from footnote.sandbox.jobs import Conversion, Converted, Refused

__all__ = ["docx_of", "prepare"]

_LANGUAGES = "bash", "html", "java", "javascript", "json", "python", "rust", "sql", "typescript", "yaml"
_COMMON = "# Words\n\n$x^2$\n\n| a |\n|---|\n| b |\n\n" + "".join(f"```{name}\nx\n```\n\n" for name in _LANGUAGES)


def prepare() -> None:
    """Does once what the first document of a process has to wait for: to make the parser, and the lexers of common
    languages. For a process that is copied for each document; it starts no threads."""
    conversion = Conversion(target="docx", markdown=_COMMON, filename="words.md")
    document = document_of(conversion)
    if isinstance(document, Document):
        docx_of(document, conversion)


def docx_of(document: Document, conversion: Conversion) -> Converted | Refused:
    """The same document with the same images makes the same bytes."""
    writing = Writing(document, conversion.images)
    for remark in document.remarks:
        writing.remark(remark)
    spoken = speech(document.language)
    first = place_of(document.blocks)
    content = "".join(
        (
            written(document.blocks[:first], writing),
            _front(document, PurePosixPath(conversion.filename).stem, writing),
            table_of_contents(document.blocks, writing),
            written(document.blocks[first:], writing),
        )
    )
    notes, note_relations = footnotes(writing)
    for name in parts.RELATED_PARTS:
        writing.relations.id_of(name, f"{name}.xml")
    footer = writing.relations.id_of("footer", "footer1.xml")
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": parts.CONTENT_TYPES,
        "_rels/.rels": parts.ROOT_RELATIONS,
        "docProps/core.xml": parts.core(document, conversion.made_at),
        "docProps/app.xml": parts.APPLICATION,
        "word/document.xml": parts.body(content, footer, from_the_right=spoken.from_the_right),
        "word/_rels/document.xml.rels": writing.relations.xml(),
        "word/styles.xml": styles(spoken),
        "word/settings.xml": parts.settings(spoken),
        "word/fontTable.xml": parts.font_table(spoken),
        "word/numbering.xml": writing.lists.xml(),
        "word/footnotes.xml": notes,
        "word/footer1.xml": parts.footer(),
    }
    if note_relations:
        files["word/_rels/footnotes.xml.rels"] = note_relations.xml()
    files |= {f"word/{target}": content for target, content in writing.media.files.items()}
    return Converted(content=parts.archive(files), notes=writing.remarks)


def _front(document: Document, filename_title: str, writing: Writing) -> str:
    """What stands above the text: a title that no heading says, who wrote it, and when."""
    headings = (" ".join(plain(block.content).split()) for block in document.blocks if isinstance(block, Heading))
    title = "" if document.title in (next(headings, ""), filename_title) else document.title
    byline = " · ".join(filter(None, (document.author, document.date)))
    said = (("Title", title), ("Subtitle", byline))
    return "".join(written((Paragraph((Text(words),)),), writing, Place(style=style)) for style, words in said if words)
