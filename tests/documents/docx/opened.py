"""A Word file taken apart again, by the rules that Word reads it by."""

import io
import posixpath
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from footnote.documents.docx import docx_of
from footnote.documents.docx.markup import M, R, W
from footnote.documents.markdown import document_of
from footnote.documents.tree import Block, Document
from footnote.sandbox.jobs import Conversion, Converted

PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}"
TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
w, r, m = f"{{{W}}}", f"{{{R}}}", f"{{{M}}}"


class Opened:
    def __init__(self, made: Converted) -> None:
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


def opened(markdown: str, images: Mapping[str, bytes] | None = None, **about: Any) -> Opened:
    conversion = Conversion(target="docx", markdown=markdown, filename="report.md", images=images or {}, **about)
    document = document_of(conversion)
    assert isinstance(document, Document)
    made = docx_of(document, conversion)
    assert isinstance(made, Converted)
    return Opened(made)


def written(blocks: Sequence[Block], **about: Any) -> Opened:
    """Of a tree that no markdown makes."""
    made = docx_of(
        Document(title="tree", language="en", blocks=tuple(blocks), **about),
        Conversion(target="docx", markdown="", filename="tree.md"),
    )
    assert isinstance(made, Converted)
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
