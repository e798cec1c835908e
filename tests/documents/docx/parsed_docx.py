"""A generated DOCX file, unzipped and parsed."""

import io
import posixpath
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from footnote.documents.markdown import parse_document
from footnote.documents.out.docx import render_docx
from footnote.documents.out.docx.markup import M, W
from footnote.documents.tree import Block, Document
from footnote.sandbox.jobs import ConvertDocument, ConvertedDocument

PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}"
TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
w, m = f"{{{W}}}", f"{{{M}}}"


class ParsedDocx:
    def __init__(self, converted: ConvertedDocument) -> None:
        self.made = converted
        with zipfile.ZipFile(io.BytesIO(converted.content)) as file:
            assert file.testzip() is None
            self.files = {name: file.read(name) for name in file.namelist()}
        self.parts = {name: ET.fromstring(self.files[name]) for name in self.files if name.endswith((".xml", ".rels"))}
        self.body = self.parts["word/document.xml"]
        self.notes = self.parts["word/footnotes.xml"]

    def all(self, tag: str, part: ET.Element | None = None) -> list[ET.Element]:
        return list((self.body if part is None else part).iter(tag))

    def paragraphs(self, part: ET.Element | None = None) -> list[tuple[str, str]]:
        """The style and the text of each paragraph that has text."""
        found = [(style_of(paragraph), text_of(paragraph)) for paragraph in self.all(f"{w}p", part)]
        return [(style, text) for style, text in found if text]

    def styled(self, style: str) -> list[str]:
        return [text for found, text in self.paragraphs() if found == style]

    def targets(self, part: str) -> dict[str, tuple[str, bool]]:
        """The relationships of a part: the target of each, and whether it is external."""
        folder, name = posixpath.split(part)
        relations = self.parts.get(f"{folder}/_rels/{name}.rels")
        return {
            relation.attrib["Id"]: (relation.attrib["Target"], relation.get("TargetMode") == "External")
            for relation in ([] if relations is None else relations)
        }


def open_docx(markdown: str, images: Mapping[str, bytes] | None = None, **about: Any) -> ParsedDocx:
    conversion = ConvertDocument(target="docx", markdown=markdown, filename="report.md", images=images or {}, **about)
    document = parse_document(conversion)
    assert isinstance(document, Document)
    converted = render_docx(document, conversion)
    assert isinstance(converted, ConvertedDocument)
    return ParsedDocx(converted)


def docx_of_blocks(blocks: Sequence[Block], **about: Any) -> ParsedDocx:
    """Renders a tree that markdown cannot produce."""
    converted = render_docx(
        Document(title="tree", language="en", blocks=tuple(blocks), **about),
        ConvertDocument(target="docx", markdown="", filename="tree.md"),
    )
    assert isinstance(converted, ConvertedDocument)
    return ParsedDocx(converted)


def style_of(paragraph: ET.Element) -> str:
    style = paragraph.find(f"{w}pPr/{w}pStyle")
    return "" if style is None else style.attrib[f"{w}val"]


def text_of(element: ET.Element) -> str:
    texts: list[str] = []
    for part in element.iter():
        if part.tag in (f"{w}t", f"{m}t"):
            texts.append(part.text or "")
        elif part.tag == f"{w}br":
            texts.append("\n")
        elif part.tag == f"{w}tab" and f"{w}val" not in part.attrib:
            texts.append("\t")
    return "".join(texts)
