"""The content of a page that has little prose: a list of links, a catalogue, a table, a form of a service.

Such a page consists of cards, rows and short lines. Its content is what is left without the frame, in the smallest
element that holds most of it.
"""

from footnote.documents.extract.tree import Node

WHOLE = frozenset(("p", "pre", "blockquote", "li", "ul", "ol", "table", "tbody", "tr", "td", "dl", "dd"))
"""What makes sense only as a whole."""

_MOST = 0.8
_MAIN = 0.4
"""Of the text of a page: an element that says of itself that it is the main one has so much at least."""


def overview(root: Node) -> Node:
    """The element that holds the content of a page from which its frame was taken."""
    top = max(_mains(root), key=lambda node: node.size, default=root)
    if top.size < _MAIN * root.size:
        top = root
    size, prose = _MOST * top.size, _MOST * top.prose
    while True:
        kids = (kid for kid in top.kids if isinstance(kid, Node))
        best = next((kid for kid in kids if kid.size >= size and kid.prose >= prose), None)
        if best is None or best.tag in WHOLE:
            return top
        top = best


def _mains(node: Node) -> list[Node]:
    found: list[Node] = []
    for kid in node.kids:
        if isinstance(kid, Node) and kid.size:
            is_main = kid.tag == "main" or kid.attributes.get("role") == "main"
            found += [kid] if is_main else _mains(kid)
    return found
