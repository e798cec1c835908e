"""PowerPoint presentations: slide by slide, in the order in which they are shown, with what the speaker is to say."""

from collections.abc import Iterator, Mapping

from footnote.documents.office.formulas import formula
from footnote.documents.office.lines import Line, joined, stripped, table, words
from footnote.documents.office.markup import Node, elements, whole
from footnote.documents.office.package import Facts, Package

_TITLES = frozenset(("title", "ctrTitle"))
_FRAME = frozenset(("dt", "ftr", "sldNum", "hdr"))
"""What stands on every slide."""


def read(package: Package) -> tuple[Line, Facts]:
    return joined(_slides(package), "\n\n"), package.facts()


def _slides(package: Package) -> Iterator[Line]:
    main = package.main("ppt/presentation.xml")
    relations = package.relations(main)
    listed = whole(package.pieces(main)).first("sldIdLst") or Node("sldIdLst", {})
    number = 0
    for entry in listed.nodes("sldId"):
        relation = relations.get(entry.attributes.get("r:id", ""))
        if relation is not None and relation.target in package.names:
            number += 1
            yield _slide(package, relation.target, number)


def _slide(package: Package, part: str, number: int) -> Line:
    links = package.links(part)
    titles: list[str] = []
    blocks: list[Line] = []
    for shape in _shapes(elements(package.pieces(part), ("spTree",))):
        kind = _placeholder(shape)
        if kind in _TITLES:
            titles.append(" ".join(joined(_paragraphs(shape, links), " ").text.split()))
        elif kind not in _FRAME:
            blocks.extend(_blocks(shape, links))
    head = Line(f"## Slide {number}" + (f": {' '.join(titles)}" if any(titles) else ""))
    return joined([head, *blocks, *_notes(package, part)], "\n\n")


def _shapes(nodes: Iterator[Node]) -> Iterator[Node]:
    for node in nodes:
        if node.name in ("grpSp", "AlternateContent", "Choice"):
            yield from _shapes(node.nodes())
        elif node.name in ("sp", "graphicFrame", "cxnSp"):
            yield node


def _placeholder(shape: Node) -> str:
    """What it is on the slide; empty: nothing in particular."""
    place = next((kid.first("nvPr", "ph") for kid in shape.nodes() if kid.name.startswith("nv")), None)
    return "" if place is None else place.attributes.get("type", "body")


def _blocks(shape: Node, links: Mapping[str, str]) -> Iterator[Line]:
    for grid in shape.within("tbl"):
        rows = [
            [joined(_paragraphs(cell, links), " ") for cell in row.nodes("tc") if cell.attributes.get("hMerge") != "1"]
            for row in grid.nodes("tr")
        ]
        if rows:
            yield table(rows)
    if shape.name != "graphicFrame":
        said = list(_paragraphs(shape, links))
        if said:
            yield joined(said, "\n")


def _paragraphs(shape: Node, links: Mapping[str, str]) -> Iterator[Line]:
    listed = _placeholder(shape) == "body"
    for body in shape.nodes("txBody"):
        for paragraph in body.nodes("p"):
            line = stripped(joined(_runs(paragraph, links), ""))
            if not line.text:
                continue
            if listed:
                depth = (paragraph.first("pPr") or paragraph).attributes.get("lvl", "0")
                item = Line("  " * (int(depth) if depth in "012345678" else 0) + "- ")
                item.add(line)
                line = item
            yield line


def _runs(paragraph: Node, links: Mapping[str, str]) -> Iterator[Line]:
    for run in paragraph.nodes():
        if run.name == "br":
            yield Line(" ")
        elif run.name in ("r", "fld"):
            text = words("".join(part.text for part in run.nodes("t")))
            link = run.first("rPr", "hlinkClick")
            url = links.get(link.attributes.get("r:id", "")) if link else None
            yield Line(text, ((0, len(text), url),) if url and text else ())
        elif run.name not in ("pPr", "endParaRPr"):
            yield Line(formula(run))


def _notes(package: Package, part: str) -> Iterator[Line]:
    for relation in package.relations(part).values():
        if relation.kind != "notesSlide":
            continue
        for shape in _shapes(elements(package.pieces(relation.target), ("spTree",))):
            if _placeholder(shape) == "body":
                said = " ".join(joined((_bare(line) for line in _paragraphs(shape, {})), "\n").text.split("\n"))
                if said:
                    yield Line(f"Notes: {said}")


def _bare(line: Line) -> Line:
    return Line(line.text.lstrip().removeprefix("- "))
