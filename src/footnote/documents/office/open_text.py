"""OpenDocument texts, as LibreOffice writes them."""

from collections.abc import Iterable, Iterator

from footnote.documents.office.lines import Line, joined, stripped, table, words
from footnote.documents.office.markup import Node, elements
from footnote.documents.office.package import Facts, Package

_UNSAID = frozenset(("tracked-changes", "annotation", "annotation-end", "sequence-decls", "forms", "bookmark"))
_SIGNS = {"tab": "\t", "line-break": "\n"}
_MOST_SPACES = 100
_MOST_REPEATED = 64


def read(package: Package) -> tuple[Line, Facts]:
    text = _Text()
    lines = list(text.blocks(elements(package.pieces("content.xml"), ("text",))))
    return joined([*lines, *text.notes], "\n\n"), _facts(package)


class _Text:
    def __init__(self) -> None:
        self.notes: list[Line] = []

    def blocks(self, nodes: Iterable[Node]) -> Iterator[Line]:
        for node in nodes:
            match node.name:
                case "h" | "p":
                    line = stripped(joined(self._runs(node), ""))
                    level = node.attributes.get("outline-level", "1")
                    sign = "#" * min(int(level) if level.isdecimal() and len(level) < 3 else 1, 6) + " "
                    if line.text:
                        yield _begun(sign, line) if node.name == "h" else line
                case "list":
                    yield joined(self._items(node, 0), "\n")
                case "table":
                    yield table([list(self._cells(row)) for row in node.within("table-row")])
                case name if name not in _UNSAID:
                    yield from self.blocks(node.nodes())
                case _:
                    pass

    def _items(self, node: Node, depth: int) -> Iterator[Line]:
        for item in node.nodes("list-item"):
            for part in item.nodes():
                if part.name == "list":
                    yield from self._items(part, depth + 1)
                elif (line := stripped(joined(self._runs(part), ""))).text:
                    yield _begun("  " * depth + "- ", line)

    def _cells(self, row: Node) -> Iterator[Line]:
        for cell in row.nodes():
            if cell.name in ("table-cell", "covered-table-cell"):
                repeated = cell.attributes.get("number-columns-repeated", "1")
                line = joined(self.blocks(cell.nodes()), " ")
                for _ in range(min(int(repeated) if repeated.isdecimal() else 1, _MOST_REPEATED)):
                    yield line

    def _runs(self, node: Node) -> Iterator[Line]:
        for kid in node.kids:
            if isinstance(kid, str):
                yield Line(words(" ".join(kid.split("\n"))))
            elif kid.name == "s":
                count = kid.attributes.get("c", "1")
                yield Line(" " * min(int(count) if count.isdecimal() else 1, _MOST_SPACES))
            elif kid.name in _SIGNS:
                yield Line(_SIGNS[kid.name])
            elif kid.name == "note":
                self.notes.append(Line())
                number = len(self.notes)
                body = kid.first("note-body") or Node("", {})
                self.notes[number - 1] = _begun(f"[^{number}]: ", joined(self.blocks(body.nodes()), " "))
                yield Line(f"[^{number}]")
            elif kid.name == "a":
                yield _link(joined(self._runs(kid), ""), kid.attributes.get("href", ""))
            elif kid.name not in _UNSAID:
                yield from self._runs(kid)


def _link(line: Line, url: str) -> Line:
    may = url.lower().startswith(("http://", "https://", "mailto:")) and line.text
    return Line(line.text, ((0, len(line.text), url),)) if may else line


def _begun(beginning: str, line: Line) -> Line:
    begun = Line(beginning)
    begun.add(line)
    return begun


def _facts(package: Package) -> Facts:
    said = {node.name: " ".join(node.text.split()) for node in elements(package.pieces("meta.xml"), ("meta",))}
    author = said.get("initial-creator") or said.get("creator") or None
    return Facts(said.get("title", ""), author, said.get("creation-date", "")[:10] or None)
