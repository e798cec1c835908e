"""Formulas of Office documents on one line. Without their signs a half would be read as twelve, and x squared as x2."""

from collections.abc import Callable

from footnote.documents.office.lines import words
from footnote.documents.office.markup import Node

_LARGE = "\N{INTEGRAL}"
"""What a large operator is unless it says something else."""


def formula(node: Node) -> str:
    """The text of `m:oMath`, or of anything in it."""
    write = _WRITERS.get(node.name)
    return write(node) if write else "".join(formula(kid) for kid in node.nodes() if not kid.name.endswith("Pr"))


def _letters(node: Node) -> str:
    return words(node.text)


def _fraction(node: Node) -> str:
    return f"{_group(node, 'num')}/{_group(node, 'den')}"


def _script(node: Node) -> str:
    below, above = _group(node, "sub"), _group(node, "sup")
    return _part(node, "e") + (f"_{below}" if below else "") + (f"^{above}" if above else "")


def _root(node: Node) -> str:
    return f"{_part(node, 'deg')}\N{SQUARE ROOT}({_part(node, 'e')})"


def _operator(node: Node) -> str:
    below, above = _group(node, "sub"), _group(node, "sup")
    sign = node.value("naryPr", "chr") or _LARGE
    return sign + (f"_{below}" if below else "") + (f"^{above}" if above else "") + f" {_part(node, 'e')}"


def _brackets(node: Node) -> str:
    begin, end = (node.value("dPr", name) for name in ("begChr", "endChr"))
    inside = ", ".join(formula(part) for part in node.nodes("e"))
    return f"{'(' if begin is None else begin}{inside}{')' if end is None else end}"


def _matrix(node: Node) -> str:
    rows = (", ".join(formula(cell) for cell in row.nodes("e")) for row in node.nodes("mr"))
    return f"[{'; '.join(rows)}]"


_WRITERS: dict[str, Callable[[Node], str]] = {
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


def _part(node: Node, name: str) -> str:
    part = node.first(name)
    return "" if part is None else formula(part)


def _group(node: Node, name: str) -> str:
    """What is longer than a word stands in brackets."""
    text = _part(node, name)
    return text if len(text) <= 1 or text.isalnum() else f"({text})"
