"""Word documents: headings, lists, tables and notes as markdown; plain inside a line, with the links beside it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.documents.office.formulas import formula
from footnote.documents.office.lines import Line, joined, stripped, table, words
from footnote.documents.office.markup import Node, elements, whole
from footnote.documents.office.package import Facts, Package

_DELETED = frozenset(
    ("del", "moveFrom", "instrText", "delText", "pPr", "rPr", "tblPr", "trPr", "tcPr", "sdtPr", "Fallback")
)
_HOLDERS = frozenset(("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo", "AlternateContent", "Choice"))
"""What stands around paragraphs and tables without a meaning of its own here."""
_CODE = frozenset(("source code", "html preformatted", "code", "code block", "preformatted text", "macro text"))
_OFF = frozenset(("0", "false", "off"))

Kind: TypeAlias = Literal["text", "item", "code"]


class _Style(Struct):
    name: str = ""
    level: int | None = None
    number: str | None = None
    depth: int = 0


class _Block(Struct):
    kind: Kind
    line: Line


def read(package: Package) -> tuple[Line, Facts]:
    return _Document(package).read(), package.facts()


class _Document:
    def __init__(self, package: Package) -> None:
        self._package = package
        self._main = package.main("word/document.xml")
        self._parts = {relation.kind: relation.target for relation in package.relations(self._main).values()}
        self._styles = _styles(package, self._part("styles"))
        self._bullets = _bullets(package, self._part("numbering"))
        self._links = package.links(self._main)
        self._counted: Counter[tuple[str, int]] = Counter()
        self._mark_styles = _mark_styles(package, self._part("styles"))
        self._notes: dict[tuple[str, str], str] = {}
        """The label of each note by its kind and the name that Word has for it, in the order of the text."""
        self._marks: dict[str, str] = {}
        """What stands in the text and before the note in the place of a number, by the label of the note."""
        self._note_mark: str | None = None
        """The mark of the note that is being read."""

    def _part(self, kind: str) -> str:
        return self._parts.get(kind, f"word/{kind}.xml")

    def read(self) -> Line:
        blocks = list(self._blocks(elements(self._package.pieces(self._main), ("body",))))
        return joined([*_grouped(blocks), *self._written_notes()], "\n\n")

    # Blocks ---------------------------------------------------------------------------------------------------------

    def _blocks(self, nodes: Iterable[Node]) -> Iterator[_Block]:
        for node in nodes:
            if node.name == "p":
                yield from self._paragraph(node)
            elif node.name == "tbl":
                yield from self._table(node)
            elif node.name in _HOLDERS:
                yield from self._blocks(node.nodes())

    def _paragraph(self, node: Node) -> Iterator[_Block]:
        about = node.first("pPr") or Node("pPr", {})
        style = self._styles.get(about.value("pStyle") or "", _Style())
        line = self._line(node)
        if style.name in _CODE:
            yield _Block("code", line)
            return
        line = stripped(line)
        if not line.text:
            return
        level = _number(about.value("outlineLvl"))
        level = style.level if level is None else level
        number = about.value("numPr", "numId") or style.number
        if level is not None and level < 9:
            yield _Block("text", _begun("#" * min(level + 1, 6) + " ", Line(line.text.replace("\n", " "), line.links)))
        elif number and number != "0":
            depth = min(_number(about.value("numPr", "ilvl")) or style.depth, 8)
            yield _Block("item", _begun("  " * depth + self._sign(number, depth) + " ", line))
        else:
            yield _Block("text", line)

    def _sign(self, number: str, depth: int) -> str:
        if self._bullets.get((number, depth), True):
            return "-"
        self._counted[number, depth] += 1
        for deeper in range(depth + 1, 9):
            self._counted.pop((number, deeper), None)
        return f"{self._counted[number, depth]}."

    def _table(self, node: Node) -> Iterator[_Block]:
        rows = [list(_within(row, "tc")) for row in _within(node, "tr")]
        if all(len(row) <= 1 for row in rows):
            # A frame around text, not a table of anything.
            for row in rows:
                for cell in row:
                    yield from self._blocks(cell.nodes())
            return
        yield _Block("text", table([list(self._cells(row)) for row in rows]))

    def _cells(self, row: Iterable[Node]) -> Iterator[Line]:
        for cell in row:
            about = cell.first("tcPr") or Node("tcPr", {})
            merged = about.first("vMerge")
            goes_on = merged is not None and merged.attributes.get("val") != "restart"
            yield Line() if goes_on else joined((block.line for block in self._blocks(cell.nodes())), " ")
            for _ in range(min(_number(about.value("gridSpan")) or 1, 64) - 1):
                yield Line()

    # Inside a line --------------------------------------------------------------------------------------------------

    def _line(self, node: Node) -> Line:
        return joined(self._runs(node), "")

    def _runs(self, node: Node) -> Iterator[Line]:
        for kid in node.nodes():
            name = kid.name
            if name in _DELETED or (name == "r" and _is_hidden(kid)):
                continue
            if name == "r" and (special := self._special_run(kid)) is not None:
                yield special
            elif name == "t":
                yield Line(words(kid.text))
            elif name == "hyperlink":
                yield self._link(kid)
            elif name in _SIGNS:
                yield Line("" if kid.attributes.get("type") in ("page", "column") else _SIGNS[name])
            elif name in ("footnoteReference", "endnoteReference"):
                yield Line(f"[^{self._note(kid)}]")
            elif name == "oMath":
                yield Line(formula(kid))
            elif name == "p":
                yield Line("\n")
                yield from self._runs(kid)
            else:
                yield from self._runs(kid)

    def _special_run(self, run: Node) -> Line | None:
        """A run whose text is no text of the line: a mark of a note, or a number that is raised. None: any other."""
        custom = next((kid for kid in run.nodes() if kid.name in _REFERENCES and _is_custom(kid)), None)
        if custom is not None:
            # The mark that Word shows follows in the same run, and stands for the number that it would count.
            return Line(f"[^{self._note(custom, _text(run))}]")
        if any(kid.name in _REFERENCES for kid in run.nodes()):
            return None
        said = _text(run)
        if run.value("rPr", "rStyle") in self._mark_styles and said:
            if said == self._note_mark:
                return Line()
            return Line(f"[^{said}]") if said in self._notes.values() else None
        if run.value("rPr", "vertAlign") == "superscript" and _EXPONENT.match(said):
            return Line(said.translate(_RAISED))
        return None

    def _link(self, node: Node) -> Line:
        line = self._line(node)
        url = self._links.get(node.attributes.get("r:id", ""))
        return Line(line.text, ((0, len(line.text), url),)) if url and line.text else line

    # Notes ----------------------------------------------------------------------------------------------------------

    def _note(self, reference: Node, mark: str = "") -> str:
        """The label of the note that is referred to: its own number where it has one that no other note has."""
        key = reference.name.removesuffix("Reference"), reference.attributes.get("id", "")
        if key not in self._notes:
            taken = set(self._notes.values())
            label = mark if mark.isascii() and _number(mark) and mark not in taken else ""
            if not label:
                label = next(number for count in range(1, len(taken) + 2) if (number := str(count)) not in taken)
            self._notes[key] = label
            self._marks[label] = mark or label
        return self._notes[key]

    def _written_notes(self) -> Iterator[Line]:
        """In the order in which the text refers to them."""
        found: dict[str, Line] = {}
        for kind in ("footnote", "endnote"):
            part = self._part(f"{kind}s")
            self._links = self._package.links(part)
            for node in elements(self._package.pieces(part), (f"{kind}s",)):
                label = self._notes.get((kind, node.attributes.get("id", "")))
                if label:
                    self._note_mark = self._marks[label]
                    said = joined((block.line for block in self._blocks(node.nodes())), " ")
                    found[label] = _begun(f"[^{label}]: ", said)
        for label in tuple(self._notes.values()):
            if label in found:
                yield found[label]


_REFERENCES = frozenset(("footnoteReference", "endnoteReference"))
_EXPONENT = re.compile(r"[-+−]?[0-9]+\Z")
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def _begun(beginning: str, line: Line) -> Line:
    begun = Line(beginning)
    begun.add(line)
    return begun


def _within(node: Node, name: str) -> Iterator[Node]:
    """The rows or cells of one table, not of those in its cells."""
    for kid in node.nodes():
        if kid.name == name:
            yield kid
        elif kid.name in _HOLDERS:
            yield from _within(kid, name)


def _grouped(blocks: Iterable[_Block]) -> Iterator[Line]:
    """The items of a list stand together, and so do the lines of code."""
    for kind, group in groupby(blocks, key=lambda block: block.kind):
        lines = [block.line for block in group]
        if kind == "text":
            yield from lines
        elif kind == "item":
            yield joined(lines, "\n")
        else:
            yield joined((Line("```"), *lines, Line("```")), "\n")


def _is_hidden(run: Node) -> bool:
    hidden = run.first("rPr", "vanish")
    return hidden is not None and hidden.attributes.get("val", "1") not in _OFF


def _is_custom(reference: Node) -> bool:
    return reference.attributes.get("customMarkFollows", "0") not in _OFF


def _text(run: Node) -> str:
    return "".join(words(kid.text) for kid in run.nodes() if kid.name == "t").strip()


def _mark_styles(package: Package, part: str) -> frozenset[str]:
    """The names that the file has for the styles of the marks of notes, which Word translates."""
    return frozenset(
        node.attributes.get("styleId", "")
        for node in elements(package.pieces(part), ("styles",))
        if node.name == "style" and (node.value("name") or "").lower() in ("footnote reference", "endnote reference")
    )


def _number(text: str | None) -> int | None:
    return int(text) if text and len(text) < 10 and text.isdecimal() else None


def _styles(package: Package, part: str) -> dict[str, _Style]:
    styles: dict[str, _Style] = {}
    based: dict[str, str] = {}
    for node in elements(package.pieces(part), ("styles",)):
        key = node.attributes.get("styleId", "")
        if node.name != "style" or node.attributes.get("type", "paragraph") != "paragraph":
            continue
        name = (node.value("name") or "").lower()
        heading = name.removeprefix("heading ")
        level = 0 if name == "title" else int(heading) - 1 if heading in "123456789" and heading != name else None
        if level is None:
            level = _number(node.value("pPr", "outlineLvl"))
        number = node.value("pPr", "numPr", "numId")
        styles[key] = _Style(name, level, number, _number(node.value("pPr", "numPr", "ilvl")) or 0)
        based[key] = node.value("basedOn") or ""
    for key, style in styles.items():
        _inherit(style, styles, based, key)
    return styles


def _inherit(style: _Style, styles: dict[str, _Style], based: dict[str, str], key: str) -> None:
    seen = {key}
    while (key := based.get(key, "")) in styles and key not in seen:
        seen.add(key)
        style.level = styles[key].level if style.level is None else style.level
        style.number = styles[key].number if style.number is None else style.number


def _bullets(package: Package, part: str) -> dict[tuple[str, int], bool]:
    """Whether a list has bullets or numbers, by its name and depth."""
    root = whole(package.pieces(part))
    kinds: dict[str, dict[int, bool]] = {
        abstract.attributes.get("abstractNumId", ""): {
            _number(level.attributes.get("ilvl")) or 0: level.value("numFmt") in ("bullet", "none", None)
            for level in abstract.nodes("lvl")
        }
        for abstract in root.nodes("abstractNum")
    }
    return {
        (number.attributes.get("numId", ""), depth): is_bullet
        for number in root.nodes("num")
        for depth, is_bullet in kinds.get(number.value("abstractNumId") or "", {}).items()
    }
