"""Text that knows where its links are."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from msgspec import Struct

from footnote.protocol.sources import Link

# Neither a terminal nor a database is to meet them.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\ufeff\ufffe\uffff\ud800-\udfff]")
_SPACES = re.compile(r"[ \t\u00a0]+")


class Line(Struct):
    """Text that is being put together. `links` are (start, end, url)."""

    text: str = ""
    links: Sequence[tuple[int, int, str]] = ()

    def add(self, other: "Line") -> None:
        if other.links:
            at = len(self.text)
            self.links = (*self.links, *((start + at, end + at, url) for start, end, url in other.links))
        self.text += other.text


def joined(lines: Iterable[Line], between: str) -> Line:
    """All at once, so that a thousand lines are not copied a thousand times."""
    texts: list[str] = []
    links: list[tuple[int, int, str]] = []
    at = 0
    for line in lines:
        if texts:
            at += len(between)
        links.extend((start + at, end + at, url) for start, end, url in line.links)
        texts.append(line.text)
        at += len(line.text)
    return Line(between.join(texts), links)


def words(text: str) -> str:
    """As it is kept: letters in one piece, and nothing that is no character."""
    return unicodedata.normalize("NFC", _UNSEEN.sub("", text))


def stripped(line: Line) -> Line:
    """Without spaces at the ends."""
    text = line.text.rstrip()
    begin = len(text) - len(text.lstrip())
    return Line(
        text[begin:],
        tuple(
            (max(start - begin, 0), min(end, len(text)) - begin, url) for start, end, url in line.links if end > begin
        ),
    )


def one_line(line: Line, *, in_table: bool = False) -> Line:
    """With spaces for line ends, and bars that a table does not take for its own."""
    text = line.text.replace("\n", " ").replace("\t", " ")
    if not in_table or "|" not in text:
        return Line(text, line.links)
    moved = [0]
    for character in text:
        moved.append(moved[-1] + (2 if character == "|" else 1))
    return Line(text.replace("|", "\\|"), tuple((moved[start], moved[end], url) for start, end, url in line.links))


def table(rows: Sequence[Sequence[Line]]) -> Line:
    """As markdown; the first row is the head."""
    width = max(map(len, rows), default=0)
    written: list[Line] = []
    for number, row in enumerate(rows):
        cells = [one_line(cell, in_table=True) for cell in row] + [Line()] * (width - len(row))
        line = Line("| ")
        line.add(joined(cells, " | "))
        line.add(Line(" |"))
        written.append(line)
        if not number:
            written.append(Line("|" + " --- |" * width))
    return joined(written, "\n")


def links_of(line: Line, most: int) -> tuple[Link, ...]:
    return tuple(Link(url, start, end) for start, end, url in line.links if start < end <= most)
