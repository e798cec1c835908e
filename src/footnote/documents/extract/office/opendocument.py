"""OpenDocument texts, as LibreOffice writes them."""

from collections.abc import Iterable, Iterator

from footnote.documents.extract.office.inlines import LinkedText, join_texts, markdown_table, normalize_text, strip_text
from footnote.documents.extract.office.package import DocumentMetadata, Package, XmlNode, iter_elements

_IGNORED_TAGS = frozenset(("tracked-changes", "annotation", "annotation-end", "sequence-decls", "forms", "bookmark"))
_SIGNS = {"tab": "\t", "line-break": "\n"}
_MAX_SPACES = 100
_MAX_REPEATED_CELLS = 64


def read(package: Package) -> tuple[LinkedText, DocumentMetadata]:
    text = _OpenDocumentText()
    lines = list(text.blocks(iter_elements(package.read_chunks("content.xml"), ("text",))))
    return join_texts([*lines, *text.notes], "\n\n"), _metadata(package)


class _OpenDocumentText:
    def __init__(self) -> None:
        self.notes: list[LinkedText] = []

    def blocks(self, nodes: Iterable[XmlNode]) -> Iterator[LinkedText]:
        for node in nodes:
            match node.name:
                case "h" | "p":
                    line = strip_text(join_texts(self._runs(node), ""))
                    level = node.attributes.get("outline-level", "1")
                    sign = "#" * min(int(level) if level.isdecimal() and len(level) < 3 else 1, 6) + " "
                    if line.text:
                        yield _prepend(sign, line) if node.name == "h" else line
                case "list":
                    yield join_texts(self._items(node, 0), "\n")
                case "table":
                    yield markdown_table([list(self._cells(row)) for row in node.descendants("table-row")])
                case name if name not in _IGNORED_TAGS:
                    yield from self.blocks(node.child_elements())
                case _:
                    pass

    def _items(self, node: XmlNode, depth: int) -> Iterator[LinkedText]:
        for item in node.child_elements("list-item"):
            for part in item.child_elements():
                if part.name == "list":
                    yield from self._items(part, depth + 1)
                elif (line := strip_text(join_texts(self._runs(part), ""))).text:
                    yield _prepend("  " * depth + "- ", line)

    def _cells(self, row: XmlNode) -> Iterator[LinkedText]:
        for cell in row.child_elements():
            if cell.name in ("table-cell", "covered-table-cell"):
                repeated = cell.attributes.get("number-columns-repeated", "1")
                line = join_texts(self.blocks(cell.child_elements()), " ")
                for _ in range(min(int(repeated) if repeated.isdecimal() else 1, _MAX_REPEATED_CELLS)):
                    yield line

    def _runs(self, node: XmlNode) -> Iterator[LinkedText]:
        for kid in node.kids:
            if isinstance(kid, str):
                yield LinkedText(normalize_text(" ".join(kid.split("\n"))))
            elif kid.name == "s":
                count = kid.attributes.get("c", "1")
                yield LinkedText(" " * min(int(count) if count.isdecimal() else 1, _MAX_SPACES))
            elif kid.name in _SIGNS:
                yield LinkedText(_SIGNS[kid.name])
            elif kid.name == "note":
                self.notes.append(LinkedText())
                number = len(self.notes)
                body = kid.find("note-body") or XmlNode("", {})
                self.notes[number - 1] = _prepend(f"[^{number}]: ", join_texts(self.blocks(body.child_elements()), " "))
                yield LinkedText(f"[^{number}]")
            elif kid.name == "a":
                yield _link(join_texts(self._runs(kid), ""), kid.attributes.get("href", ""))
            elif kid.name not in _IGNORED_TAGS:
                yield from self._runs(kid)


def _link(line: LinkedText, url: str) -> LinkedText:
    may = url.lower().startswith(("http://", "https://", "mailto:")) and line.text
    return LinkedText(line.text, ((0, len(line.text), url),)) if may else line


def _prepend(beginning: str, line: LinkedText) -> LinkedText:
    prefixed = LinkedText(beginning)
    prefixed.add(line)
    return prefixed


def _metadata(package: Package) -> DocumentMetadata:
    fields = {
        node.name: " ".join(node.text.split()) for node in iter_elements(package.read_chunks("meta.xml"), ("meta",))
    }
    author = fields.get("initial-creator") or fields.get("creator") or None
    return DocumentMetadata(fields.get("title", ""), author, fields.get("creation-date", "")[:10] or None)
