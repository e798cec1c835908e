"""PowerPoint presentations: the slides in their order, with the speaker notes."""

from collections.abc import Iterator, Mapping

from footnote.documents.extract.office.inlines import (
    LinkedText,
    join_texts,
    markdown_table,
    normalize_text,
    omml_to_text,
    strip_text,
)
from footnote.documents.extract.office.package import DocumentMetadata, Package, XmlNode, iter_elements, parse_root

_TITLES = frozenset(("title", "ctrTitle"))
_FRAME = frozenset(("dt", "ftr", "sldNum", "hdr"))
"""Placeholders that are repeated on every slide."""


def read(package: Package) -> tuple[LinkedText, DocumentMetadata]:
    return join_texts(_slides(package), "\n\n"), package.metadata()


def _slides(package: Package) -> Iterator[LinkedText]:
    main = package.main_part("ppt/presentation.xml")
    relations = package.relations(main)
    listed = parse_root(package.read_chunks(main)).find("sldIdLst") or XmlNode("sldIdLst", {})
    number = 0
    for entry in listed.child_elements("sldId"):
        relation = relations.get(entry.attributes.get("r:id", ""))
        if relation is not None and relation.target in package.names:
            number += 1
            yield _slide(package, relation.target, number)


def _slide(package: Package, part: str, number: int) -> LinkedText:
    links = package.link_targets(part)
    titles: list[str] = []
    blocks: list[LinkedText] = []
    for shape in _shapes(iter_elements(package.read_chunks(part), ("spTree",))):
        kind = _placeholder(shape)
        if kind in _TITLES:
            titles.append(" ".join(join_texts(_paragraphs(shape, links), " ").text.split()))
        elif kind not in _FRAME:
            blocks.extend(_blocks(shape, links))
    head = LinkedText(f"## Slide {number}" + (f": {' '.join(titles)}" if any(titles) else ""))
    return join_texts([head, *blocks, *_notes(package, part)], "\n\n")


def _shapes(nodes: Iterator[XmlNode]) -> Iterator[XmlNode]:
    for node in nodes:
        if node.name in ("grpSp", "AlternateContent", "Choice"):
            yield from _shapes(node.child_elements())
        elif node.name in ("sp", "graphicFrame", "cxnSp"):
            yield node


def _placeholder(shape: XmlNode) -> str:
    """The kind of placeholder of a shape; empty: it is none."""
    placeholder = next((kid.find("nvPr", "ph") for kid in shape.child_elements() if kid.name.startswith("nv")), None)
    return "" if placeholder is None else placeholder.attributes.get("type", "body")


def _blocks(shape: XmlNode, links: Mapping[str, str]) -> Iterator[LinkedText]:
    for grid in shape.descendants("tbl"):
        rows = [
            [
                join_texts(_paragraphs(cell, links), " ")
                for cell in row.child_elements("tc")
                if cell.attributes.get("hMerge") != "1"
            ]
            for row in grid.child_elements("tr")
        ]
        if rows:
            yield markdown_table(rows)
    if shape.name != "graphicFrame":
        paragraphs = list(_paragraphs(shape, links))
        if paragraphs:
            yield join_texts(paragraphs, "\n")


def _paragraphs(shape: XmlNode, links: Mapping[str, str]) -> Iterator[LinkedText]:
    listed = _placeholder(shape) == "body"
    for body in shape.child_elements("txBody"):
        for paragraph in body.child_elements("p"):
            line = strip_text(join_texts(_runs(paragraph, links), ""))
            if not line.text:
                continue
            if listed:
                depth = (paragraph.find("pPr") or paragraph).attributes.get("lvl", "0")
                item = LinkedText("  " * (int(depth) if depth in "012345678" else 0) + "- ")
                item.add(line)
                line = item
            yield line


def _runs(paragraph: XmlNode, links: Mapping[str, str]) -> Iterator[LinkedText]:
    for run in paragraph.child_elements():
        if run.name == "br":
            yield LinkedText(" ")
        elif run.name in ("r", "fld"):
            text = normalize_text("".join(part.text for part in run.child_elements("t")))
            link = run.find("rPr", "hlinkClick")
            url = links.get(link.attributes.get("r:id", "")) if link else None
            yield LinkedText(text, ((0, len(text), url),) if url and text else ())
        elif run.name not in ("pPr", "endParaRPr"):
            yield LinkedText(omml_to_text(run))


def _notes(package: Package, part: str) -> Iterator[LinkedText]:
    for relation in package.relations(part).values():
        if relation.kind != "notesSlide":
            continue
        for shape in _shapes(iter_elements(package.read_chunks(relation.target), ("spTree",))):
            if _placeholder(shape) == "body":
                notes = " ".join(
                    join_texts((_strip_bullet(line) for line in _paragraphs(shape, {})), "\n").text.split("\n")
                )
                if notes:
                    yield LinkedText(f"Notes: {notes}")


def _strip_bullet(line: LinkedText) -> LinkedText:
    return LinkedText(line.text.lstrip().removeprefix("- "))
