"""Which part of a page is its content.

First what stands on every page of a site goes: navigation, footers, banners; and what readers say, unless the page is a
forum. Then the smallest element is sought that holds most of the prose, and those beside it that hold a part of it
too. Last, what is left in between goes: teasers, bylines, lists of links.
"""

from collections.abc import Callable, Iterator

from footnote.documents.extract.hints import FRAME_TAGS, Part, asks_for_consent, is_named_surely, part
from footnote.documents.extract.overview import WHOLE, overview
from footnote.documents.extract.pagekind import is_about_reviews, is_article, is_forum
from footnote.documents.extract.tree import HEADINGS, Document, Node

LEAST = 400
"""With less prose than this a page is taken as it is."""
BODY = 3_000
"""Prose of a page that does not call itself an article, and is one all the same."""
PROSE_SHARE = 0.6
"""Of the text: with less prose a page that does not call itself an article is an overview."""
TINY = 0.3
"""Of the text: if so little is prose, the prose is not what the page is about, whatever it calls itself."""
REST = 250
"""Letters that are left of a page without a part that is certainly no content."""
SHORT = 2_000
SOMETHING = 30
"""Letters without navigation, footers and notices: a short page that has so many says something."""
MUCH = 1_500
LISTS = HEADINGS | {"ul", "ol", "li", "dl", "dt", "dd", "p"}
"""In documentation and on overviews a list of links is content; news has related stories there."""


def content(document: Document, url: str) -> Node:
    """The element that holds the content."""
    is_a_forum, is_an_article = is_forum(document, url), is_article(document)
    root = document.root
    if not (is_a_forum or is_about_reviews(document, url)):
        root = _without(root, _talk(root))
    root = _without_frame(root)
    everything = overview(root)
    chosen = _prose(root, is_forum=is_a_forum, is_article=is_an_article)
    if _is_body(chosen, root, LEAST if is_an_article else BODY):
        return chosen
    if not is_an_article and root.prose < PROSE_SHARE * root.size:
        return everything
    return chosen if chosen.size >= TINY * everything.size else everything


def _is_body(node: Node, root: Node, least: int) -> bool:
    """Whether it is a text by itself: most of the prose of the page, and hardly anything else."""
    return node.prose >= max(least, 0.5 * root.prose, 0.8 * node.size)


def _prose(root: Node, *, is_forum: bool, is_article: bool) -> Node:
    """Where the prose is, for a page that consists of prose."""
    teasers = {} if is_forum else _teasers_beside_prose(root, is_article=is_article)
    total = root.prose - sum(teasers.values())
    top, path = _descend(root, total * (0.7 if is_article else 0.8), _Weight(root, teasers))
    if total < LEAST:
        return top
    top = _with_siblings(top, path, _Weight(root, teasers), after=200 if is_article else 100)
    if is_forum:
        return top
    top = _without(top, _loose(top.prose, 0.3 if is_article else 0.02))
    return _without_lists_of_links(top, frozenset() if is_article else LISTS)


# What goes ---------------------------------------------------------------------------------------------------------


def _talk(root: Node) -> Callable[[Node], bool]:
    """Comments, as long as something else is there."""
    return lambda node: part(node) is Part.TALK and root.prose - node.prose >= 250


def _frame(root: Node) -> Callable[[Node], bool]:
    """Parts of the frame. The more there is in one, the surer its name must be."""
    total = root.prose
    rest = _without(root, _is_furniture).size if root.size <= SHORT else 0

    def goes(node: Node) -> bool:
        if part(node) is not Part.FRAME:
            return False
        if node.tag == "footer" or asks_for_consent(node):
            return root.size - node.size >= REST or rest >= SOMETHING
        if node.tag in ("nav", "aside", "menu", "dialog"):
            return node.prose <= 0.3 * total
        if is_named_surely(node) and total - node.prose >= max(REST, 0.25 * total):
            return True
        if node.size > 0.5 * root.size:
            return not node.prose and node.linked >= 0.7 * node.size
        return node.prose <= 0.15 * total or (node.linked >= 0.25 * node.size and node.prose <= 0.5 * total)

    return goes


def _is_furniture(node: Node) -> bool:
    """Whatever else a page has, this is not what it says."""
    return node.tag in FRAME_TAGS or asks_for_consent(node)


def _without_frame(root: Node) -> Node:
    """Names may lie: where nothing is left of a page that has much to show, only what tags say is believed."""
    left = _without(root, _frame(root))
    if left.size < REST <= MUCH <= root.size:
        left = _without(root, lambda node: node.tag in FRAME_TAGS)
    return left


def _loose(total: int, share: float) -> Callable[[Node], bool]:
    """Bylines, captions, teasers: whatever stands around a text and is small beside it."""
    return lambda node: part(node) is Part.LOOSE and node.prose <= share * total


def _without(node: Node, goes: Callable[[Node], bool]) -> Node:
    """The element without those in it that go."""
    kept: list[Node | str] = []
    is_whole = True
    for kid in node.kids:
        if isinstance(kid, str) or not kid.kids:
            kept.append(kid)
        elif goes(kid):
            is_whole = False
        else:
            left = _without(kid, goes)
            is_whole = is_whole and left is kid
            kept.append(left)
    return node if is_whole else node.holding(kept)


def _without_lists_of_links(node: Node, spared: frozenset[str]) -> Node:
    """Without blocks that consist of links, but for those of a kind that is `spared`."""
    kept: list[Node | str] = []
    for kid in node.kids:
        if isinstance(kid, str) or not kid.solid or not kid.size:
            kept.append(kid)
        elif kid.linked <= 0.7 * kid.size or kid.prose >= 80 or kid.tag in spared:
            kept.append(_without_lists_of_links(kid, spared))
    return node.holding(kept)


# What stays ----------------------------------------------------------------------------------------------------------


class _Weight:
    """The prose of an element without that of teasers in it."""

    def __init__(self, root: Node, teasers: dict[int, int]) -> None:
        self._off: dict[int, int] = {}
        if teasers:
            self._discount(root, teasers)

    def __call__(self, node: Node) -> int:
        return node.prose - self._off.get(id(node), 0)

    def _discount(self, node: Node, teasers: dict[int, int]) -> int:
        off = teasers.get(id(node))
        if off is None:
            off = sum(self._discount(kid, teasers) for kid in node.kids if isinstance(kid, Node) and kid.prose)
        self._off[id(node)] = off
        return off


def _teasers_beside_prose(root: Node, *, is_article: bool) -> dict[int, int]:
    """The prose of groups of teasers, if enough other prose is left for the page to be more than a list of them."""
    teasers = {id(node): node.prose for node in _teasers(root)}
    left = root.prose - sum(teasers.values())
    return teasers if left >= max(LEAST, root.prose * (0.2 if is_article else 0.35)) else {}


def _teasers(node: Node) -> Iterator[Node]:
    """Elements of which there are three or more of one kind side by side: a linked title and a few words."""
    kids = [kid for kid in node.kids if isinstance(kid, Node) and kid.solid and kid.size]
    found = [kid for kid in kids if _is_teaser(kid)] if len(kids) >= 3 and node.titles >= 3 else []
    if len(found) >= 3 and len(found) >= 0.7 * len(kids):
        yield node
        return
    of_one_kind: dict[tuple[str, str | None], list[Node]] = {}
    for kid in found if len(found) >= 3 else ():
        of_one_kind.setdefault((kid.tag, kid.attributes.get("class")), []).append(kid)
    groups = [group for group in of_one_kind.values() if len(group) >= 3]
    grouped = {id(kid) for group in groups for kid in group}
    yield from (kid for group in groups for kid in group)
    for kid in kids:
        if id(kid) not in grouped and kid.titles >= 3:
            yield from _teasers(kid)


def _is_teaser(node: Node) -> bool:
    return 1 <= node.titles <= 4 and node.prose <= 450 and node.size <= 900


def _descend(root: Node, needed: float, weight: _Weight) -> tuple[Node, list[tuple[Node, Node]]]:
    """The smallest element with the prose that is needed, and the way to it: each element with the one chosen in it."""
    top = root
    path: list[tuple[Node, Node]] = []
    while True:
        best = next((kid for kid in top.kids if isinstance(kid, Node) and weight(kid) >= needed), None)
        if best is None or best.tag in WHOLE:
            return top, path
        path.append((top, best))
        top = best


def _with_siblings(top: Node, path: list[tuple[Node, Node]], weight: _Weight, *, after: int) -> Node:
    """The element that also holds what belongs to the content beside `top`, and nothing else."""
    chosen = inner = top
    for node, best in reversed(path):
        kept = [kid if kid is not best else inner for kid in _belonging(node, best, weight, after)]
        inner = node.holding(kept)
        if len(kept) > 1:
            chosen = inner
    return chosen


def _belonging(node: Node, best: Node, weight: _Weight, after: int) -> Iterator[Node]:
    """`best`, and prose beside it with the heading before that; after it only if there is enough of it."""
    before: Node | None = None
    seen = False
    for kid in node.kids:
        if isinstance(kid, str):
            before = None if kid.strip() else before
            continue
        if kid is best:
            seen = True
            yield kid
        elif _is_text(kid, weight) and (not seen or kid.prose >= after):
            if before is not None and before is not best and before.headings and not before.prose:
                yield before
            yield kid
        before = kid


def _is_text(node: Node, weight: _Weight) -> bool:
    return weight(node) >= 100 and node.linked <= 0.25 * node.size and part(node) is Part.TEXT
