"""Which part of a page is its content.

First what stands on every page of a site goes: navigation, footers, banners; and what readers say, unless the page is a
forum. Then the smallest element is sought that holds most of the prose, and those beside it that hold a part of it
too. Last, what is left in between goes: teasers, bylines, lists of links.
"""

import re
from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import lru_cache

from footnote.documents.extract.tree import HEADINGS, HtmlNode, PageTree, name_set

_ARTICLE = re.compile(
    r'"@type"\s*:\s*(?:\[[^\]]{0,300})?"(?:\w{0,40}Article|BlogPosting|Report|LiveBlogPosting|Review)"'
)
_FORUM = re.compile(r'"@type"\s*:\s*(?:\[[^\]]{0,300})?"(?:DiscussionForumPosting|QAPage|Question|SocialMediaPosting)"')
_FORUM_URL = re.compile(
    r"(?:^|[/.])(?:forums?|community|communities|discuss(?:ion)?s?|boards?|bbs|talk|ask|answers|questions?|threads?|topics?"
    r"|viewtopic|showthread|reddit|stackoverflow|stackexchange|quora|news\.ycombinator)(?:[/.?-]|$)"
    r"|/t/[\w-]+/\d+|viewtopic|showthread"
)
_REVIEWS = re.compile(r"reviews|testimonials|ratings", re.IGNORECASE)
_FORUM_SOFTWARE = re.compile("phpbb|discourse|vbulletin|xenforo|flarum|nodebb|invision|mybb|smf|vanilla", re.IGNORECASE)


def is_article(document: PageTree) -> bool:
    kind = next((meta.get("content", "") for meta in document.metas if meta.get("property") == "og:type"), "")
    return kind.lower() in ("article", "news", "blog") or any(map(_ARTICLE.search, document.structured))


def is_about_reviews(document: PageTree, url: str) -> bool:
    """Whether what buyers say is what the page is about."""
    return _REVIEWS.search(f"{url} {document.title}") is not None


def is_forum(document: PageTree, url: str) -> bool:
    software = next((meta.get("content", "") for meta in document.metas if meta.get("name") == "generator"), "")
    return bool(
        any(map(_FORUM.search, document.structured))
        or _FORUM_URL.search(url.partition("?")[0].lower())
        or _FORUM_SOFTWARE.search(software)
    )


ATOMIC_TAGS = frozenset(("p", "pre", "blockquote", "li", "ul", "ol", "table", "tbody", "tr", "td", "dl", "dd"))
"""What makes sense only as a whole."""

_MAJORITY = 0.8
_MIN_MAIN_SHARE = 0.4
"""Of the text of a page: an element that says of itself that it is the main one has so much at least."""


def overview_content(root: HtmlNode) -> HtmlNode:
    """The element that holds the content of a page from which its frame was taken."""
    top = max(_mains(root), key=lambda node: node.size, default=root)
    if top.size < _MIN_MAIN_SHARE * root.size:
        top = root
    size, prose = _MAJORITY * top.size, _MAJORITY * top.prose
    while True:
        kids = (kid for kid in top.kids if isinstance(kid, HtmlNode))
        best = next((kid for kid in kids if kid.size >= size and kid.prose >= prose), None)
        if best is None or best.tag in ATOMIC_TAGS:
            return top
        top = best


def _mains(node: HtmlNode) -> list[HtmlNode]:
    found: list[HtmlNode] = []
    for kid in node.kids:
        if isinstance(kid, HtmlNode) and kid.size:
            is_main = kid.tag == "main" or kid.attributes.get("role") == "main"
            found += [kid] if is_main else _mains(kid)
    return found


class PartHint(IntEnum):
    TEXT = 0
    PERIPHERAL = 1
    """Around the text of an article, and yet content where a page is no article: a teaser, a caption, a byline."""
    COMMENTS = 2
    """What readers say of an article and buyers of a product, or what a forum consists of."""
    BOILERPLATE = 3
    """On every page of the site: navigation, footer, banners."""


BOILERPLATE_WORDS = name_set(
    "nav navbar navigation navi topnav sidenav subnav mobilenav menu menus submenu megamenu mainmenu navmenu dropdown"
    " breadcrumb breadcrumbs crumbs pagination pager paging footer footnav prefooter colophon masthead copyright legal"
    " share sharing sharebar sharedaddy addthis social socials sns newsletter subscribe subscription subscriber signup"
    " signin login optin register cookie cookies consent gdpr ccpa onetrust cmplz popup modal lightbox toast"
    " sidebar sidepanel related recommended recommendation recommendations recirc suggested trending sponsored"
    " sponsor adsense advert advertisement advertising outbrain taboola mgid ads dfp paywall"
    " toolbar utility skiplink printfriendly noprint nocontent vcard slogan tagline ticker upsell"
)
COMMENT_WORDS = name_set(
    "comment comments commentlist commentform disqus wpdiscuz respond reply replies discussion reviews"
)
PERIPHERAL_WORDS = name_set(
    "banner cta ctas carousel swiper slick slider widget widgets textwidget promo promos promotion promoted"
    " author authors byline bio biography meta metadata info date published updated caption credit credits tags taglist"
    " tagcloud topics links button buttons btn search prev previous popular recent latest category categories rating"
    " ratings teaser follow contact disclaimer disclosure affiliate ad alert notice avatar profile tooltip overlay"
    " readmore readnext mostread mostpopular similar print skip toggle"
)
BOILERPLATE_PREFIX = re.compile(
    "breadcrumb|newsletter|subscri|related|recommend|advert|sidebar|footer|cookie|taboola|outbrain|sponsor|sharing"
)
COMMENT_PREFIX = re.compile("comment|disqus")
CONSENT_WORDS = name_set("cookie cookies consent gdpr ccpa onetrust cmplz")
MAX_NOTICE_CHARS = 20_000
CERTAIN_WORDS = name_set("footer copyright legal sidebar newsletter subscribe subscription popup modal")
BOILERPLATE_TAGS = name_set("nav footer aside menu dialog")
BOILERPLATE_ROLES = name_set(
    "navigation complementary banner contentinfo search dialog alertdialog menu menubar toolbar tablist tooltip"
)
PERIPHERAL_TAGS = name_set("header form fieldset address figcaption")
UNNAMED_TAGS = HEADINGS | name_set("html body main article tbody thead tr pre code blockquote em strong b i")
"""Names on these are the author's: the slug of a heading, the language of a program."""
CLASS_ONLY_TAGS = name_set("section p li dt dd a span td th ul ol table dl")
"""Their `id` is mostly the target of a link, made from a heading."""

IGNORED_NAME = re.compile(
    "accordion|elementor|wp-|category-|tag-|has-|no-|with-|without-|is-|not-|hide-|post-\\d|type-|theme"
)
"""Names of a page builder, of the subject, of a state: they do not say what the part is."""
HAS_SIDEBAR = re.compile("(?:has|with|content)[-_]sidebar")
"""What has a sidebar, and is none."""
CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
NOT_LETTERS = re.compile(r"[^a-z]+")


def part_hint(node: HtmlNode) -> PartHint:
    """What kind of part an element is by its tag, role and names."""
    tag = node.tag
    attributes = node.attributes
    if tag in BOILERPLATE_TAGS:
        return PartHint.TEXT if tag == "aside" and "quote" in attributes.get("class", "") else PartHint.BOILERPLATE
    found = PartHint.PERIPHERAL if tag in PERIPHERAL_TAGS else PartHint.TEXT
    if not attributes or tag in UNNAMED_TAGS:
        return found
    if attributes.get("role") in BOILERPLATE_ROLES:
        return PartHint.BOILERPLATE
    names = attributes.get("class") or ""
    if tag not in CLASS_ONLY_TAGS and "id" in attributes:
        names = f"{names} {attributes['id']}"
    return max(found, _hint_by_names(names)) if names else found


@lru_cache(maxsize=4096)
def _hint_by_names(names: str) -> PartHint:
    found = PartHint.TEXT
    for name in names.split():
        if _is_ignored_name(name):
            continue
        for word in NOT_LETTERS.split(CASE.sub(" ", name).lower()):
            if word in BOILERPLATE_WORDS or BOILERPLATE_PREFIX.match(word):
                return PartHint.BOILERPLATE
            if word in COMMENT_WORDS or COMMENT_PREFIX.match(word):
                found = PartHint.COMMENTS
            elif word in PERIPHERAL_WORDS:
                found = max(found, PartHint.PERIPHERAL)
    return found


def is_certain_boilerplate(node: HtmlNode) -> bool:
    """Named by a word that is used for nothing else, so that even much prose in it is no content."""
    return not CERTAIN_WORDS.isdisjoint(_name_words(node))


def is_consent_notice(node: HtmlNode) -> bool:
    """A notice about cookies. Its name alone does not tell: whole pages are named by whether one was accepted."""
    if node.size > MAX_NOTICE_CHARS or CONSENT_WORDS.isdisjoint(_name_words(node)):
        return False
    text = "".join(_texts(node)).lower()
    return text.count("cookie") + text.count("consent") > node.size / 500


def _texts(node: HtmlNode) -> Iterator[str]:
    for kid in node.kids:
        if isinstance(kid, str):
            yield kid
        else:
            yield from _texts(kid)


def _name_words(node: HtmlNode) -> list[str]:
    named = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
    told = " ".join(name for name in named.split() if not _is_ignored_name(name))
    return NOT_LETTERS.split(CASE.sub(" ", told).lower())


def _is_ignored_name(name: str) -> bool:
    return bool(IGNORED_NAME.match(name) or HAS_SIDEBAR.search(name))


MIN_PROSE = 400
"""With less prose than this a page is taken as it is."""
MIN_BODY_PROSE = 3_000
"""Prose of a page that does not call itself an article, and is one all the same."""
MIN_PROSE_SHARE = 0.6
"""Of the text: with less prose a page that does not call itself an article is an overview."""
MIN_CHOSEN_SHARE = 0.3
"""Of the text: if so little is prose, the prose is not what the page is about, whatever it calls itself."""
MIN_REMAINING_CHARS = 250
"""Letters that are left of a page without a part that is certainly no content."""
SHORT_PAGE_CHARS = 2_000
MIN_TEXT_CHARS = 30
"""Letters without navigation, footers and notices: a short page that has so many says something."""
LARGE_PAGE_CHARS = 1_500
LISTS = HEADINGS | {"ul", "ol", "li", "dl", "dt", "dd", "p"}
"""In documentation and on overviews a list of links is content; news has related stories there."""


def main_content(document: PageTree, url: str) -> HtmlNode:
    """The element that holds the content."""
    is_a_forum, is_an_article = is_forum(document, url), is_article(document)
    root = document.root
    if not (is_a_forum or is_about_reviews(document, url)):
        root = _remove(root, _comment_filter(root))
    root = _remove_boilerplate(root)
    everything = overview_content(root)
    chosen = _prose(root, is_forum=is_a_forum, is_article=is_an_article)
    if _is_main_text(chosen, root, MIN_PROSE if is_an_article else MIN_BODY_PROSE):
        return chosen
    if not is_an_article and root.prose < MIN_PROSE_SHARE * root.size:
        return everything
    return chosen if chosen.size >= MIN_CHOSEN_SHARE * everything.size else everything


def _is_main_text(node: HtmlNode, root: HtmlNode, min_prose: int) -> bool:
    """Whether it is a text by itself: most of the prose of the page, and hardly anything else."""
    return node.prose >= max(min_prose, 0.5 * root.prose, 0.8 * node.size)


def _prose(root: HtmlNode, *, is_forum: bool, is_article: bool) -> HtmlNode:
    """Where the prose is, for a page that consists of prose."""
    teasers = {} if is_forum else _teasers_beside_prose(root, is_article=is_article)
    total = root.prose - sum(teasers.values())
    top, path = _descend(root, total * (0.7 if is_article else 0.8), _ProseWeight(root, teasers))
    if total < MIN_PROSE:
        return top
    top = _with_siblings(top, path, _ProseWeight(root, teasers), after=200 if is_article else 100)
    if is_forum:
        return top
    top = _remove(top, _peripheral_filter(top.prose, 0.3 if is_article else 0.02))
    return _remove_link_lists(top, frozenset() if is_article else LISTS)


# What goes ---------------------------------------------------------------------------------------------------------


def _comment_filter(root: HtmlNode) -> Callable[[HtmlNode], bool]:
    """Comments, as long as something else is there."""
    return lambda node: part_hint(node) is PartHint.COMMENTS and root.prose - node.prose >= 250


def _boilerplate_filter(root: HtmlNode) -> Callable[[HtmlNode], bool]:
    """Parts of the frame. The more there is in one, the surer its name must be."""
    total = root.prose
    rest = _remove(root, _is_boilerplate).size if root.size <= SHORT_PAGE_CHARS else 0

    def goes(node: HtmlNode) -> bool:
        if part_hint(node) is not PartHint.BOILERPLATE:
            return False
        if node.tag == "footer" or is_consent_notice(node):
            return root.size - node.size >= MIN_REMAINING_CHARS or rest >= MIN_TEXT_CHARS
        if node.tag in ("nav", "aside", "menu", "dialog"):
            return node.prose <= 0.3 * total
        if is_certain_boilerplate(node) and total - node.prose >= max(MIN_REMAINING_CHARS, 0.25 * total):
            return True
        if node.size > 0.5 * root.size:
            return not node.prose and node.linked >= 0.7 * node.size
        return node.prose <= 0.15 * total or (node.linked >= 0.25 * node.size and node.prose <= 0.5 * total)

    return goes


def _is_boilerplate(node: HtmlNode) -> bool:
    """Whatever else a page has, this is not what it says."""
    return node.tag in BOILERPLATE_TAGS or is_consent_notice(node)


def _remove_boilerplate(root: HtmlNode) -> HtmlNode:
    """Names may lie: where nothing is left of a page that has much to show, only what tags say is believed."""
    left = _remove(root, _boilerplate_filter(root))
    if left.size < MIN_REMAINING_CHARS <= LARGE_PAGE_CHARS <= root.size:
        left = _remove(root, lambda node: node.tag in BOILERPLATE_TAGS)
    return left


def _peripheral_filter(total: int, share: float) -> Callable[[HtmlNode], bool]:
    """Bylines, captions, teasers: whatever stands around a text and is small beside it."""
    return lambda node: part_hint(node) is PartHint.PERIPHERAL and node.prose <= share * total


def _remove(node: HtmlNode, should_remove: Callable[[HtmlNode], bool]) -> HtmlNode:
    """The element without those in it that go."""
    kept: list[HtmlNode | str] = []
    is_whole = True
    for kid in node.kids:
        if isinstance(kid, str) or not kid.kids:
            kept.append(kid)
        elif should_remove(kid):
            is_whole = False
        else:
            left = _remove(kid, should_remove)
            is_whole = is_whole and left is kid
            kept.append(left)
    return node if is_whole else node.with_kids(kept)


def _remove_link_lists(node: HtmlNode, kept_tags: frozenset[str]) -> HtmlNode:
    """Without blocks that consist of links, but for those of a kind that is `spared`."""
    kept: list[HtmlNode | str] = []
    for kid in node.kids:
        if isinstance(kid, str) or not kid.solid or not kid.size:
            kept.append(kid)
        elif kid.linked <= 0.7 * kid.size or kid.prose >= 80 or kid.tag in kept_tags:
            kept.append(_remove_link_lists(kid, kept_tags))
    return node.with_kids(kept)


# What stays ----------------------------------------------------------------------------------------------------------


class _ProseWeight:
    """The prose of an element without that of teasers in it."""

    def __init__(self, root: HtmlNode, teasers: dict[int, int]) -> None:
        self._off: dict[int, int] = {}
        if teasers:
            self._discount(root, teasers)

    def __call__(self, node: HtmlNode) -> int:
        return node.prose - self._off.get(id(node), 0)

    def _discount(self, node: HtmlNode, teasers: dict[int, int]) -> int:
        off = teasers.get(id(node))
        if off is None:
            off = sum(self._discount(kid, teasers) for kid in node.kids if isinstance(kid, HtmlNode) and kid.prose)
        self._off[id(node)] = off
        return off


def _teasers_beside_prose(root: HtmlNode, *, is_article: bool) -> dict[int, int]:
    """The prose of groups of teasers, if enough other prose is left for the page to be more than a list of them."""
    teasers = {id(node): node.prose for node in _teasers(root)}
    left = root.prose - sum(teasers.values())
    return teasers if left >= max(MIN_PROSE, root.prose * (0.2 if is_article else 0.35)) else {}


def _teasers(node: HtmlNode) -> Iterator[HtmlNode]:
    """Elements of which there are three or more of one kind side by side: a linked title and a few words."""
    kids = [kid for kid in node.kids if isinstance(kid, HtmlNode) and kid.solid and kid.size]
    found = [kid for kid in kids if _is_teaser(kid)] if len(kids) >= 3 and node.titles >= 3 else []
    if len(found) >= 3 and len(found) >= 0.7 * len(kids):
        yield node
        return
    of_one_kind: dict[tuple[str, str | None], list[HtmlNode]] = {}
    for kid in found if len(found) >= 3 else ():
        of_one_kind.setdefault((kid.tag, kid.attributes.get("class")), []).append(kid)
    groups = [group for group in of_one_kind.values() if len(group) >= 3]
    grouped = {id(kid) for group in groups for kid in group}
    yield from (kid for group in groups for kid in group)
    for kid in kids:
        if id(kid) not in grouped and kid.titles >= 3:
            yield from _teasers(kid)


def _is_teaser(node: HtmlNode) -> bool:
    return 1 <= node.titles <= 4 and node.prose <= 450 and node.size <= 900


def _descend(root: HtmlNode, needed: float, weight: _ProseWeight) -> tuple[HtmlNode, list[tuple[HtmlNode, HtmlNode]]]:
    """The smallest element with the prose that is needed, and the way to it: each element with the one chosen in it."""
    top = root
    path: list[tuple[HtmlNode, HtmlNode]] = []
    while True:
        best = next((kid for kid in top.kids if isinstance(kid, HtmlNode) and weight(kid) >= needed), None)
        if best is None or best.tag in ATOMIC_TAGS:
            return top, path
        path.append((top, best))
        top = best


def _with_siblings(
    top: HtmlNode, path: list[tuple[HtmlNode, HtmlNode]], weight: _ProseWeight, *, after: int
) -> HtmlNode:
    """The element that also holds what belongs to the content beside `top`, and nothing else."""
    chosen = inner = top
    for node, best in reversed(path):
        kept = [kid if kid is not best else inner for kid in _related_siblings(node, best, weight, after)]
        inner = node.with_kids(kept)
        if len(kept) > 1:
            chosen = inner
    return chosen


def _related_siblings(node: HtmlNode, best: HtmlNode, weight: _ProseWeight, after: int) -> Iterator[HtmlNode]:
    """`best`, and prose beside it with the heading before that; after it only if there is enough of it."""
    before: HtmlNode | None = None
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


def _is_text(node: HtmlNode, weight: _ProseWeight) -> bool:
    return weight(node) >= 100 and node.linked <= 0.25 * node.size and part_hint(node) is PartHint.TEXT
