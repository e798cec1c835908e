"""Word documents: headings, lists, tables and notes as markdown; plain inside a line, with the links beside it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.documents.extract.office.inlines import (
    LinkedText,
    join_texts,
    markdown_table,
    normalize_text,
    omml_to_text,
    strip_text,
)
from footnote.documents.extract.office.package import DocumentMetadata, Package, XmlNode, iter_elements, parse_root

_IGNORED_TAGS = frozenset(
    ("del", "moveFrom", "instrText", "delText", "pPr", "rPr", "tblPr", "trPr", "tcPr", "sdtPr", "Fallback")
)
_WRAPPER_TAGS = frozenset(("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo", "AlternateContent", "Choice"))
"""Elements around paragraphs and tables whose content is read as if they were not there."""
_CODE = frozenset(("source code", "html preformatted", "code", "code block", "preformatted text", "macro text"))
_OFF = frozenset(("0", "false", "off"))

Kind: TypeAlias = Literal["text", "item", "code"]


class _Style(Struct):
    name: str = ""
    level: int | None = None
    number: str | None = None
    depth: int = 0


class _WordBlock(Struct):
    kind: Kind
    line: LinkedText


def read(package: Package) -> tuple[LinkedText, DocumentMetadata]:
    return _WordDocument(package).read(), package.metadata()


class _WordDocument:
    def __init__(self, package: Package) -> None:
        self._package = package
        self._main = package.main_part("word/document.xml")
        self._parts = {relation.kind: relation.target for relation in package.relations(self._main).values()}
        self._styles = _styles(package, self._part("styles"))
        self._bullets = _bullets(package, self._part("numbering"))
        self._links = package.link_targets(self._main)
        self._counters: Counter[tuple[str, int]] = Counter()
        self._mark_styles = _mark_styles(package, self._part("styles"))
        self._notes: dict[tuple[str, str], str] = {}
        """The label of each note by its kind and its id in Word, in the order of the text."""
        self._note_marks: dict[str, str] = {}
        """The mark of a note that has one instead of a number, by the label of the note."""
        self._current_mark: str | None = None
        """The mark of the note that is being read."""

    def _part(self, kind: str) -> str:
        return self._parts.get(kind, f"word/{kind}.xml")

    def read(self) -> LinkedText:
        blocks = list(self._blocks(iter_elements(self._package.read_chunks(self._main), ("body",))))
        return join_texts([*_group_blocks(blocks), *self._read_notes()], "\n\n")

    # Blocks ---------------------------------------------------------------------------------------------------------

    def _blocks(self, nodes: Iterable[XmlNode]) -> Iterator[_WordBlock]:
        for node in nodes:
            if node.name == "p":
                yield from self._paragraph(node)
            elif node.name == "tbl":
                yield from self._table(node)
            elif node.name in _WRAPPER_TAGS:
                yield from self._blocks(node.child_elements())

    def _paragraph(self, node: XmlNode) -> Iterator[_WordBlock]:
        about = node.find("pPr") or XmlNode("pPr", {})
        style = self._styles.get(about.find_value("pStyle") or "", _Style())
        line = self._line(node)
        if style.name in _CODE:
            yield _WordBlock("code", line)
            return
        line = strip_text(line)
        if not line.text:
            return
        level = _parse_int(about.find_value("outlineLvl"))
        level = style.level if level is None else level
        number = about.find_value("numPr", "numId") or style.number
        if level is not None and level < 9:
            yield _WordBlock(
                "text", _prepend("#" * min(level + 1, 6) + " ", LinkedText(line.text.replace("\n", " "), line.links))
            )
        elif number and number != "0":
            depth = min(_parse_int(about.find_value("numPr", "ilvl")) or style.depth, 8)
            yield _WordBlock("item", _prepend("  " * depth + self._list_marker(number, depth) + " ", line))
        else:
            yield _WordBlock("text", line)

    def _list_marker(self, number: str, depth: int) -> str:
        if self._bullets.get((number, depth), True):
            return "-"
        self._counters[number, depth] += 1
        for deeper in range(depth + 1, 9):
            self._counters.pop((number, deeper), None)
        return f"{self._counters[number, depth]}."

    def _table(self, node: XmlNode) -> Iterator[_WordBlock]:
        rows = [list(_table_parts(row, "tc")) for row in _table_parts(node, "tr")]
        if all(len(row) <= 1 for row in rows):
            # A table with a single column is a frame around text.
            for row in rows:
                for cell in row:
                    yield from self._blocks(cell.child_elements())
            return
        yield _WordBlock("text", markdown_table([list(self._cells(row)) for row in rows]))

    def _cells(self, row: Iterable[XmlNode]) -> Iterator[LinkedText]:
        for cell in row:
            about = cell.find("tcPr") or XmlNode("tcPr", {})
            merged = about.find("vMerge")
            goes_on = merged is not None and merged.attributes.get("val") != "restart"
            yield (
                LinkedText()
                if goes_on
                else join_texts((block.line for block in self._blocks(cell.child_elements())), " ")
            )
            for _ in range(min(_parse_int(about.find_value("gridSpan")) or 1, 64) - 1):
                yield LinkedText()

    # Inside a line --------------------------------------------------------------------------------------------------

    def _line(self, node: XmlNode) -> LinkedText:
        return join_texts(self._runs(node), "")

    def _runs(self, node: XmlNode) -> Iterator[LinkedText]:
        for kid in node.child_elements():
            name = kid.name
            if name in _IGNORED_TAGS or (name == "r" and _is_hidden(kid)):
                continue
            if name == "r" and (special := self._special_run(kid)) is not None:
                yield special
            elif name == "t":
                yield LinkedText(normalize_text(kid.text))
            elif name == "hyperlink":
                yield self._link(kid)
            elif name in _SIGNS:
                yield LinkedText("" if kid.attributes.get("type") in ("page", "column") else _SIGNS[name])
            elif name in ("footnoteReference", "endnoteReference"):
                yield LinkedText(f"[^{self._note_label(kid)}]")
            elif name == "oMath":
                yield LinkedText(omml_to_text(kid))
            elif name == "p":
                yield LinkedText("\n")
                yield from self._runs(kid)
            else:
                yield from self._runs(kid)

    def _special_run(self, run: XmlNode) -> LinkedText | None:
        """A run that is the mark of a note, or a superscript number. None: any other run."""
        custom = next((kid for kid in run.child_elements() if kid.name in _REFERENCES and _has_custom_mark(kid)), None)
        if custom is not None:
            # The mark that Word shows follows in the same run, in the place of an automatic number.
            return LinkedText(f"[^{self._note_label(custom, _run_text(run))}]")
        if any(kid.name in _REFERENCES for kid in run.child_elements()):
            return None
        text = _run_text(run)
        if run.find_value("rPr", "rStyle") in self._mark_styles and text:
            if text == self._current_mark:
                return LinkedText()
            return LinkedText(f"[^{text}]") if text in self._notes.values() else None
        if run.find_value("rPr", "vertAlign") == "superscript" and _EXPONENT.match(text):
            return LinkedText(text.translate(_SUPERSCRIPTS))
        return None

    def _link(self, node: XmlNode) -> LinkedText:
        line = self._line(node)
        url = self._links.get(node.attributes.get("r:id", ""))
        return LinkedText(line.text, ((0, len(line.text), url),)) if url and line.text else line

    # Notes ----------------------------------------------------------------------------------------------------------

    def _note_label(self, reference: XmlNode, mark: str = "") -> str:
        """The label of the note that is referred to: its own number, if no other note has the same."""
        key = reference.name.removesuffix("Reference"), reference.attributes.get("id", "")
        if key not in self._notes:
            used = set(self._notes.values())
            label = mark if mark.isascii() and _parse_int(mark) and mark not in used else ""
            if not label:
                label = next(number for count in range(1, len(used) + 2) if (number := str(count)) not in used)
            self._notes[key] = label
            self._note_marks[label] = mark or label
        return self._notes[key]

    def _read_notes(self) -> Iterator[LinkedText]:
        """In the order in which the text refers to them."""
        found: dict[str, LinkedText] = {}
        for kind in ("footnote", "endnote"):
            part = self._part(f"{kind}s")
            self._links = self._package.link_targets(part)
            for node in iter_elements(self._package.read_chunks(part), (f"{kind}s",)):
                label = self._notes.get((kind, node.attributes.get("id", "")))
                if label:
                    self._current_mark = self._note_marks[label]
                    text = join_texts((block.line for block in self._blocks(node.child_elements())), " ")
                    found[label] = _prepend(f"[^{label}]: ", text)
        for label in tuple(self._notes.values()):
            if label in found:
                yield found[label]


_REFERENCES = frozenset(("footnoteReference", "endnoteReference"))
_EXPONENT = re.compile(r"[-+−]?[0-9]+\Z")
_SUPERSCRIPTS = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def _prepend(beginning: str, line: LinkedText) -> LinkedText:
    prefixed = LinkedText(beginning)
    prefixed.add(line)
    return prefixed


def _table_parts(node: XmlNode, name: str) -> Iterator[XmlNode]:
    """The rows or cells of one table, not of those in its cells."""
    for kid in node.child_elements():
        if kid.name == name:
            yield kid
        elif kid.name in _WRAPPER_TAGS:
            yield from _table_parts(kid, name)


def _group_blocks(blocks: Iterable[_WordBlock]) -> Iterator[LinkedText]:
    """The blocks, with the items of a list, and the lines of code, joined into one."""
    for kind, group in groupby(blocks, key=lambda block: block.kind):
        lines = [block.line for block in group]
        if kind == "text":
            yield from lines
        elif kind == "item":
            yield join_texts(lines, "\n")
        else:
            yield join_texts((LinkedText("```"), *lines, LinkedText("```")), "\n")


def _is_hidden(run: XmlNode) -> bool:
    hidden = run.find("rPr", "vanish")
    return hidden is not None and hidden.attributes.get("val", "1") not in _OFF


def _has_custom_mark(reference: XmlNode) -> bool:
    return reference.attributes.get("customMarkFollows", "0") not in _OFF


def _run_text(run: XmlNode) -> str:
    return "".join(normalize_text(kid.text) for kid in run.child_elements() if kid.name == "t").strip()


def _mark_styles(package: Package, part: str) -> frozenset[str]:
    """The ids of the styles for marks of notes in this file: Word translates them."""
    return frozenset(
        node.attributes.get("styleId", "")
        for node in iter_elements(package.read_chunks(part), ("styles",))
        if node.name == "style"
        and (node.find_value("name") or "").lower() in ("footnote reference", "endnote reference")
    )


def _parse_int(text: str | None) -> int | None:
    return int(text) if text and len(text) < 10 and text.isdecimal() else None


def _styles(package: Package, part: str) -> dict[str, _Style]:
    styles: dict[str, _Style] = {}
    based: dict[str, str] = {}
    for node in iter_elements(package.read_chunks(part), ("styles",)):
        key = node.attributes.get("styleId", "")
        if node.name != "style" or node.attributes.get("type", "paragraph") != "paragraph":
            continue
        name = (node.find_value("name") or "").lower()
        heading = name.removeprefix("heading ")
        level = 0 if name == "title" else int(heading) - 1 if heading in "123456789" and heading != name else None
        if level is None:
            level = _parse_int(node.find_value("pPr", "outlineLvl"))
        number = node.find_value("pPr", "numPr", "numId")
        styles[key] = _Style(name, level, number, _parse_int(node.find_value("pPr", "numPr", "ilvl")) or 0)
        based[key] = node.find_value("basedOn") or ""
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
    root = parse_root(package.read_chunks(part))
    kinds: dict[str, dict[int, bool]] = {
        abstract.attributes.get("abstractNumId", ""): {
            _parse_int(level.attributes.get("ilvl")) or 0: level.find_value("numFmt") in ("bullet", "none", None)
            for level in abstract.child_elements("lvl")
        }
        for abstract in root.child_elements("abstractNum")
    }
    return {
        (number.attributes.get("numId", ""), depth): is_bullet
        for number in root.child_elements("num")
        for depth, is_bullet in kinds.get(number.find_value("abstractNumId") or "", {}).items()
    }
