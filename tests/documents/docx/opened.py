"""A Word file taken apart again, by the rules that Word reads it by."""

import io
import posixpath
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from footnote.documents.markdown import parse_document
from footnote.documents.out.docx import render_docx
from footnote.documents.out.docx.markup import M, R, W
from footnote.documents.tree import Block, Document
from footnote.sandbox.jobs import ConvertDocument, ConvertedDocument

PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}"
TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
w, r, m = f"{{{W}}}", f"{{{R}}}", f"{{{M}}}"


class Opened:
    def __init__(self, made: ConvertedDocument) -> None:
        self.made = made
        with zipfile.ZipFile(io.BytesIO(made.content)) as file:
            assert file.testzip() is None
            self.files = {name: file.read(name) for name in file.namelist()}
        self.parts = {name: ET.fromstring(self.files[name]) for name in self.files if name.endswith((".xml", ".rels"))}
        self.body = self.parts["word/document.xml"]
        self.notes = self.parts["word/footnotes.xml"]

    def all(self, tag: str, part: ET.Element | None = None) -> list[ET.Element]:
        return list((self.body if part is None else part).iter(tag))

    def paragraphs(self, part: ET.Element | None = None) -> list[tuple[str, str]]:
        """The style and the words of each paragraph that has words."""
        found = [(style_of(paragraph), text_of(paragraph)) for paragraph in self.all(f"{w}p", part)]
        return [(style, text) for style, text in found if text]

    def styled(self, style: str) -> list[str]:
        return [text for found, text in self.paragraphs() if found == style]

    def targets(self, part: str) -> dict[str, tuple[str, bool]]:
        """What the relations of a part lead to, and whether that is outside the file."""
        folder, name = posixpath.split(part)
        relations = self.parts.get(f"{folder}/_rels/{name}.rels")
        return {
            relation.attrib["Id"]: (relation.attrib["Target"], relation.get("TargetMode") == "External")
            for relation in ([] if relations is None else relations)
        }


def open_docx(markdown: str, images: Mapping[str, bytes] | None = None, **about: Any) -> Opened:
    conversion = ConvertDocument(target="docx", markdown=markdown, filename="report.md", images=images or {}, **about)
    document = parse_document(conversion)
    assert isinstance(document, Document)
    made = render_docx(document, conversion)
    assert isinstance(made, ConvertedDocument)
    return Opened(made)


def docx_of_blocks(blocks: Sequence[Block], **about: Any) -> Opened:
    """Of a tree that no markdown makes."""
    made = render_docx(
        Document(title="tree", language="en", blocks=tuple(blocks), **about),
        ConvertDocument(target="docx", markdown="", filename="tree.md"),
    )
    assert isinstance(made, ConvertedDocument)
    return Opened(made)


def style_of(paragraph: ET.Element) -> str:
    style = paragraph.find(f"{w}pPr/{w}pStyle")
    return "" if style is None else style.attrib[f"{w}val"]


def text_of(element: ET.Element) -> str:
    said: list[str] = []
    for part in element.iter():
        if part.tag in (f"{w}t", f"{m}t"):
            said.append(part.text or "")
        elif part.tag == f"{w}br":
            said.append("\n")
        elif part.tag == f"{w}tab" and f"{w}val" not in part.attrib:
            said.append("\t")
    return "".join(said)
