"""Text with its links, as all readers of Office documents build it; formulas as text."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from footnote.documents.extract.office.package import XmlNode
from footnote.protocol.sources import Link

# Characters that neither a terminal nor a database should receive.
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\ufeff\ufffe\uffff\ud800-\udfff]")
_SPACES = re.compile(r"[ \t\u00a0]+")


class LinkedText(Struct):
    """Text under construction. `links` are (start, end, url)."""

    text: str = ""
    links: Sequence[tuple[int, int, str]] = ()

    def add(self, other: "LinkedText") -> None:
        if other.links:
            at = len(self.text)
            self.links = (*self.links, *((start + at, end + at, url) for start, end, url in other.links))
        self.text += other.text


def join_texts(lines: Iterable[LinkedText], between: str) -> LinkedText:
    """In linear time: repeated `add` would copy the text for each line."""
    texts: list[str] = []
    links: list[tuple[int, int, str]] = []
    at = 0
    for line in lines:
        if texts:
            at += len(between)
        links.extend((start + at, end + at, url) for start, end, url in line.links)
        texts.append(line.text)
        at += len(line.text)
    return LinkedText(between.join(texts), links)


def normalize_text(text: str) -> str:
    """In Unicode NFC, without control characters and surrogates."""
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", text))


def strip_text(line: LinkedText) -> LinkedText:
    """Without white space at both ends."""
    text = line.text.rstrip()
    begin = len(text) - len(text.lstrip())
    return LinkedText(
        text[begin:],
        tuple(
            (max(start - begin, 0), min(end, len(text)) - begin, url) for start, end, url in line.links if end > begin
        ),
    )


def to_single_line(line: LinkedText, *, in_table: bool = False) -> LinkedText:
    """With spaces for line breaks and tabs; in a table, bars are escaped."""
    text = line.text.replace("\n", " ").replace("\t", " ")
    if not in_table or "|" not in text:
        return LinkedText(text, line.links)
    offsets = [0]
    for character in text:
        offsets.append(offsets[-1] + (2 if character == "|" else 1))
    return LinkedText(
        text.replace("|", "\\|"), tuple((offsets[start], offsets[end], url) for start, end, url in line.links)
    )


def markdown_table(rows: Sequence[Sequence[LinkedText]]) -> LinkedText:
    """The first row is the head."""
    width = max(map(len, rows), default=0)
    written: list[LinkedText] = []
    for number, row in enumerate(rows):
        cells = [to_single_line(cell, in_table=True) for cell in row] + [LinkedText()] * (width - len(row))
        line = LinkedText("| ")
        line.add(join_texts(cells, " | "))
        line.add(LinkedText(" |"))
        written.append(line)
        if not number:
            written.append(LinkedText("|" + " --- |" * width))
    return join_texts(written, "\n")


def links_of(line: LinkedText, max_end: int) -> tuple[Link, ...]:
    return tuple(Link(url, start, end) for start, end, url in line.links if start < end <= max_end)


# Formulas on one line. Without operators, a half would be read as twelve, and x squared as x2.


_DEFAULT_OPERATOR = "\N{INTEGRAL}"
"""The default of a large operator."""


def omml_to_text(node: XmlNode) -> str:
    """The text of `m:oMath`, or of anything in it."""
    write = _WRITERS.get(node.name)
    return (
        write(node)
        if write
        else "".join(omml_to_text(kid) for kid in node.child_elements() if not kid.name.endswith("Pr"))
    )


def _letters(node: XmlNode) -> str:
    return normalize_text(node.text)


def _fraction(node: XmlNode) -> str:
    return f"{_group(node, 'num')}/{_group(node, 'den')}"


def _script(node: XmlNode) -> str:
    below, above = _group(node, "sub"), _group(node, "sup")
    return _part(node, "e") + (f"_{below}" if below else "") + (f"^{above}" if above else "")


def _root(node: XmlNode) -> str:
    return f"{_part(node, 'deg')}\N{SQUARE ROOT}({_part(node, 'e')})"


def _operator(node: XmlNode) -> str:
    below, above = _group(node, "sub"), _group(node, "sup")
    sign = node.find_value("naryPr", "chr") or _DEFAULT_OPERATOR
    return sign + (f"_{below}" if below else "") + (f"^{above}" if above else "") + f" {_part(node, 'e')}"


def _brackets(node: XmlNode) -> str:
    begin, end = (node.find_value("dPr", name) for name in ("begChr", "endChr"))
    inside = ", ".join(omml_to_text(part) for part in node.child_elements("e"))
    return f"{'(' if begin is None else begin}{inside}{')' if end is None else end}"


def _matrix(node: XmlNode) -> str:
    rows = (", ".join(omml_to_text(cell) for cell in row.child_elements("e")) for row in node.child_elements("mr"))
    return f"[{'; '.join(rows)}]"


_WRITERS: dict[str, Callable[[XmlNode], str]] = {
    "t": _letters,
    "f": _fraction,
    "sSup": _script,
    "sSub": _script,
    "sSubSup": _script,
    "rad": _root,
    "nary": _operator,
    "d": _brackets,
    "m": _matrix,
}


def _part(node: XmlNode, name: str) -> str:
    part = node.find(name)
    return "" if part is None else omml_to_text(part)


def _group(node: XmlNode, name: str) -> str:
    """In brackets if it is longer than a word."""
    text = _part(node, name)
    return text if len(text) <= 1 or text.isalnum() else f"({text})"
