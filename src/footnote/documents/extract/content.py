"""Which part of a page is its content.

First what stands on every page of a site goes: navigation, footers, banners; and what readers say, unless the page is a
forum. Then the smallest element is sought that holds most of the prose, and those beside it that hold a part of it
too. Last, what is left in between goes: teasers, bylines, lists of links.
"""

import re
from collections.abc import Callable, Iterator

from footnote.documents.extract.hints import Part, part, strong
from footnote.documents.extract.tree import HEADINGS, Document, Node

LEAST = 400
"""With less prose than this a page is taken as it is."""
WHOLE = frozenset(("p", "pre", "blockquote", "li", "ul", "ol", "table", "tbody", "tr", "td", "dl", "dd"))
"""What makes sense only as a whole."""
LISTS = HEADINGS | {"ul", "ol", "li", "dl", "dt", "dd", "p"}
"""In documentation and on overviews a list of links is content; news has related stories there."""

_ARTICLE = re.compile(r'"@type"\s*:\s*(?:\[[^\]]*)?"(?:\w*Article|BlogPosting|Report|LiveBlogPosting|Review)"')
_FORUM = re.compile(r'"@type"\s*:\s*(?:\[[^\]]*)?"(?:DiscussionForumPosting|QAPage|Question|SocialMediaPosting)"')
_FORUM_URL = re.compile(
    r"(?:^|[/.])(?:forums?|community|communities|discuss(?:ion)?s?|boards?|bbs|talk|ask|answers|questions?|threads?|topics?"
    r"|viewtopic|showthread|reddit|stackoverflow|stackexchange|quora|news\.ycombinator)(?:[/.?-]|$)"
    r"|/t/[\w-]+/\d+|viewtopic|showthread"
)
_FORUM_SOFTWARE = re.compile("phpbb|discourse|vbulletin|xenforo|flarum|nodebb|invision|mybb|smf|vanilla", re.IGNORECASE)


def content(document: Document, url: str) -> Node:
    """The element that holds the content. The tree is changed: what is not content is taken out of it."""
    root = document.root
    is_forum, is_article = _is_forum(document, url), _is_article(document)
    if not is_forum:
        _sweep(root, _talk(root.prose))
    _sweep(root, _frame(root.prose))
    teasers = {} if is_forum else _teasers_beside_prose(root, is_article=is_article)
    total = root.prose - sum(teasers.values())
    top, path = _descend(root, total * (0.7 if is_article else 0.8), _Weight(root, teasers))
    if total < LEAST:
        return top
    top = _with_siblings(top, path, _Weight(root, teasers), after=200 if is_article else 100)
    if not is_forum:
        _sweep(top, _loose(top.prose, 0.3 if is_article else 0.02))
        _drop_lists_of_links(top, frozenset() if is_article else LISTS)
    return top


def _is_article(document: Document) -> bool:
    kind = next((meta.get("content", "") for meta in document.metas if meta.get("property") == "og:type"), "")
    return kind.lower() in ("article", "news", "blog") or any(map(_ARTICLE.search, document.structured))


def _is_forum(document: Document, url: str) -> bool:
    software = next((meta.get("content", "") for meta in document.metas if meta.get("name") == "generator"), "")
    return bool(
        any(map(_FORUM.search, document.structured))
        or _FORUM_URL.search(url.partition("?")[0].lower())
        or _FORUM_SOFTWARE.search(software)
    )


# What goes ---------------------------------------------------------------------------------------------------------


def _talk(total: int) -> Callable[[Node], bool]:
    """Comments, as long as something else is there."""
    return lambda node: part(node) is Part.TALK and total - node.prose >= 250


def _frame(total: int) -> Callable[[Node], bool]:
    """Parts of the frame. The more prose is in one, the surer its name must be."""

    def goes(node: Node) -> bool:
        if part(node) is not Part.FRAME:
            return False
        if node.tag in ("nav", "aside", "menu", "dialog"):
            return node.prose <= 0.3 * total
        if node.prose <= 0.15 * total:
            return True
        if node.tag == "footer" or strong(node):
            return total - node.prose >= max(250, 0.25 * total)
        return node.linked >= 0.25 * node.size and node.prose <= 0.5 * total

    return goes


def _loose(total: int, share: float) -> Callable[[Node], bool]:
    """Bylines, captions, teasers: whatever stands around a text and is small beside it."""
    return lambda node: part(node) is Part.LOOSE and node.prose <= share * total


def _sweep(node: Node, goes: Callable[[Node], bool]) -> None:
    """Takes out every element that goes, and sets the measures of those around it right."""
    kept: list[Node | str] = []
    for kid in node.kids:
        if isinstance(kid, str) or not kid.kids:
            kept.append(kid)
        elif goes(kid):
            node.drop(kid)
        else:
            node.drop(kid)
            _sweep(kid, goes)
            node.take(kid)
            kept.append(kid)
    node.kids = kept


def _drop_lists_of_links(node: Node, spared: frozenset[str]) -> None:
    """Blocks that consist of links, but for those of a kind that is `spared`."""
    kept: list[Node | str] = []
    for kid in node.kids:
        if not isinstance(kid, str) and kid.solid and kid.size:
            if kid.linked > 0.7 * kid.size and kid.prose < 80 and kid.tag not in spared:
                node.drop(kid)
                continue
            _drop_lists_of_links(kid, spared)
        kept.append(kid)
    node.kids = kept


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
    """The element that also holds what belongs to the content beside `top`; nothing else is left in it."""
    chosen: Node | None = None
    for node, best in path:
        kept: list[Node | str] = list(_belonging(node, best, weight, after))
        node.kids = kept
        if len(kept) > 1 and chosen is None:
            chosen = node
    return chosen or top


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
