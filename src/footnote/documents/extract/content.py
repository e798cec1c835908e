"""Finds the content of a page.

First the boilerplate of the site is removed: navigation, footers, banners; and comments, unless the page is a forum.
Then the smallest element with most of the prose is chosen, together with its siblings that have prose too. Last, the
peripheral parts in between are removed: teasers, bylines, lists of links.
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
    """Whether reviews are the content of the page."""
    return _REVIEWS.search(f"{url} {document.title}") is not None


def is_forum(document: PageTree, url: str) -> bool:
    software = next((meta.get("content", "") for meta in document.metas if meta.get("name") == "generator"), "")
    return bool(
        any(map(_FORUM.search, document.structured))
        or _FORUM_URL.search(url.partition("?")[0].lower())
        or _FORUM_SOFTWARE.search(software)
    )


ATOMIC_TAGS = frozenset(("p", "pre", "blockquote", "li", "ul", "ol", "table", "tbody", "tr", "td", "dl", "dd"))
"""Elements that make sense only as a whole."""

_MAJORITY = 0.8
_MIN_MAIN_SHARE = 0.4
"""The share of a page's text that an element needs to count as the main one that it claims to be."""


def overview_content(root: HtmlNode) -> HtmlNode:
    """The element with the content of a page whose boilerplate was removed."""
    top = max(_main_elements(root), key=lambda node: node.size, default=root)
    if top.size < _MIN_MAIN_SHARE * root.size:
        top = root
    size, prose = _MAJORITY * top.size, _MAJORITY * top.prose
    while True:
        kids = (kid for kid in top.kids if isinstance(kid, HtmlNode))
        best = next((kid for kid in kids if kid.size >= size and kid.prose >= prose), None)
        if best is None or best.tag in ATOMIC_TAGS:
            return top
        top = best


def _main_elements(node: HtmlNode) -> list[HtmlNode]:
    found: list[HtmlNode] = []
    for kid in node.kids:
        if isinstance(kid, HtmlNode) and kid.size:
            is_main = kid.tag == "main" or kid.attributes.get("role") == "main"
            found += [kid] if is_main else _main_elements(kid)
    return found


class PartHint(IntEnum):
    TEXT = 0
    PERIPHERAL = 1
    """Beside the text of an article, but content on other pages: a teaser, a caption, a byline."""
    COMMENTS = 2
    """Comments on an article, reviews of a product, or the posts of a forum."""
    BOILERPLATE = 3
    """The same on every page of the site: navigation, footer, banners."""


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
"""The names of these come from the author: the slug of a heading, the language of a program."""
CLASS_ONLY_TAGS = name_set("section p li dt dd a span td th ul ol table dl")
"""Their `id` is mostly the target of a link, made from a heading."""

IGNORED_NAME = re.compile(
    "accordion|elementor|wp-|category-|tag-|has-|no-|with-|without-|is-|not-|hide-|post-\\d|type-|theme"
)
"""Names of a page builder, of a subject, of a state: they do not tell what kind of part it is."""
HAS_SIDEBAR = re.compile("(?:has|with|content)[-_]sidebar")
"""An element that has a sidebar, and is not one."""
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
    """Whether the name is used for nothing but boilerplate, so that even much prose in it is no content."""
    return not CERTAIN_WORDS.isdisjoint(_name_words(node))


def is_consent_notice(node: HtmlNode) -> bool:
    """Whether it is a notice about cookies. The name alone is not enough: pages that store consent name `body` so."""
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
    names = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}".split()
    meaningful = " ".join(name for name in names if not _is_ignored_name(name))
    return NOT_LETTERS.split(CASE.sub(" ", meaningful).lower())


def _is_ignored_name(name: str) -> bool:
    return bool(IGNORED_NAME.match(name) or HAS_SIDEBAR.search(name))


MIN_PROSE = 400
"""A page with less prose is used as it is."""
MIN_BODY_PROSE = 3_000
"""With this much prose, a page counts as an article even if it does not declare itself one."""
MIN_PROSE_SHARE = 0.6
"""The share of prose in the text below which a page is an overview, unless it declares itself an article."""
MIN_CHOSEN_SHARE = 0.3
"""The share of the text that its prose needs to be the content of a page, whatever the page declares."""
MIN_REMAINING_CHARS = 250
"""Letters that must remain when a part is removed that is certainly boilerplate."""
SHORT_PAGE_CHARS = 2_000
MIN_TEXT_CHARS = 30
"""A short page with so many letters beside navigation, footers and notices has content."""
LARGE_PAGE_CHARS = 1_500
LISTS = HEADINGS | {"ul", "ol", "li", "dl", "dt", "dd", "p"}
"""In documentation and on overviews a list of links is content; news has related stories there."""


def main_content(document: PageTree, url: str) -> HtmlNode:
    """The element with the content."""
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
    """Whether an element is a text by itself: most of the prose of the page, and hardly anything else."""
    return node.prose >= max(min_prose, 0.5 * root.prose, 0.8 * node.size)


def _prose(root: HtmlNode, *, is_forum: bool, is_article: bool) -> HtmlNode:
    """The element with the prose, for a page that consists of prose."""
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


# Parts to remove -----------------------------------------------------------------------------------------------------


def _comment_filter(root: HtmlNode) -> Callable[[HtmlNode], bool]:
    """Selects comments, as long as the page has other prose."""
    return lambda node: part_hint(node) is PartHint.COMMENTS and root.prose - node.prose >= 250


def _boilerplate_filter(root: HtmlNode) -> Callable[[HtmlNode], bool]:
    """Selects boilerplate. The more text is in a part, the more certain its name must be."""
    total = root.prose
    rest = _remove(root, _is_boilerplate).size if root.size <= SHORT_PAGE_CHARS else 0

    def is_selected(node: HtmlNode) -> bool:
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

    return is_selected


def _is_boilerplate(node: HtmlNode) -> bool:
    """Whether an element is boilerplate on any page."""
    return node.tag in BOILERPLATE_TAGS or is_consent_notice(node)


def _remove_boilerplate(root: HtmlNode) -> HtmlNode:
    """Names may be wrong: if they leave nothing of a large page, only the tags count."""
    remaining = _remove(root, _boilerplate_filter(root))
    if remaining.size < MIN_REMAINING_CHARS <= LARGE_PAGE_CHARS <= root.size:
        remaining = _remove(root, lambda node: node.tag in BOILERPLATE_TAGS)
    return remaining


def _peripheral_filter(total: int, share: float) -> Callable[[HtmlNode], bool]:
    """Selects bylines, captions, teasers: peripheral parts that are small in comparison with the text."""
    return lambda node: part_hint(node) is PartHint.PERIPHERAL and node.prose <= share * total


def _remove(node: HtmlNode, should_remove: Callable[[HtmlNode], bool]) -> HtmlNode:
    """The element without those parts in it that are to be removed."""
    kids: list[HtmlNode | str] = []
    is_unchanged = True
    for kid in node.kids:
        if isinstance(kid, str) or not kid.kids:
            kids.append(kid)
        elif should_remove(kid):
            is_unchanged = False
        else:
            remaining = _remove(kid, should_remove)
            is_unchanged = is_unchanged and remaining is kid
            kids.append(remaining)
    return node if is_unchanged else node.with_kids(kids)


def _remove_link_lists(node: HtmlNode, kept_tags: frozenset[str]) -> HtmlNode:
    """The element without blocks that consist of links, except those with one of the `kept_tags`."""
    kids: list[HtmlNode | str] = []
    for kid in node.kids:
        if isinstance(kid, str) or not kid.solid or not kid.size:
            kids.append(kid)
        elif kid.linked <= 0.7 * kid.size or kid.prose >= 80 or kid.tag in kept_tags:
            kids.append(_remove_link_lists(kid, kept_tags))
    return node.with_kids(kids)


# The choice of the content -------------------------------------------------------------------------------------------


class _ProseWeight:
    """The prose of an element without that of teasers in it."""

    def __init__(self, root: HtmlNode, teasers: dict[int, int]) -> None:
        self._discounts: dict[int, int] = {}
        if teasers:
            self._discount(root, teasers)

    def __call__(self, node: HtmlNode) -> int:
        return node.prose - self._discounts.get(id(node), 0)

    def _discount(self, node: HtmlNode, teasers: dict[int, int]) -> int:
        discount = teasers.get(id(node))
        if discount is None:
            kids = (kid for kid in node.kids if isinstance(kid, HtmlNode) and kid.prose)
            discount = sum(self._discount(kid, teasers) for kid in kids)
        self._discounts[id(node)] = discount
        return discount


def _teasers_beside_prose(root: HtmlNode, *, is_article: bool) -> dict[int, int]:
    """The prose of groups of teasers, if enough other prose is left for the page to be more than a list of them."""
    teasers = {id(node): node.prose for node in _teasers(root)}
    remaining = root.prose - sum(teasers.values())
    return teasers if remaining >= max(MIN_PROSE, root.prose * (0.2 if is_article else 0.35)) else {}


def _teasers(node: HtmlNode) -> Iterator[HtmlNode]:
    """Teasers, a linked title and a few words each, of which there are three or more of one kind side by side."""
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


def _descend(root: HtmlNode, required: float, weight: _ProseWeight) -> tuple[HtmlNode, list[tuple[HtmlNode, HtmlNode]]]:
    """The smallest element with the required prose, and the path to it: each element with the child chosen in it."""
    top = root
    path: list[tuple[HtmlNode, HtmlNode]] = []
    while True:
        best = next((kid for kid in top.kids if isinstance(kid, HtmlNode) and weight(kid) >= required), None)
        if best is None or best.tag in ATOMIC_TAGS:
            return top, path
        path.append((top, best))
        top = best


def _with_siblings(
    top: HtmlNode, path: list[tuple[HtmlNode, HtmlNode]], weight: _ProseWeight, *, after: int
) -> HtmlNode:
    """The smallest element with `top` and its related siblings, and nothing else."""
    chosen = inner = top
    for node, best in reversed(path):
        kids = [kid if kid is not best else inner for kid in _related_siblings(node, best, weight, after)]
        inner = node.with_kids(kids)
        if len(kids) > 1:
            chosen = inner
    return chosen


def _related_siblings(node: HtmlNode, best: HtmlNode, weight: _ProseWeight, after: int) -> Iterator[HtmlNode]:
    """`best`, and its siblings with prose, each with the heading before it; after `best` only those with `after`
    letters."""
    before: HtmlNode | None = None
    is_after = False
    for kid in node.kids:
        if isinstance(kid, str):
            before = None if kid.strip() else before
            continue
        if kid is best:
            is_after = True
            yield kid
        elif _is_text(kid, weight) and (not is_after or kid.prose >= after):
            if before is not None and before is not best and before.headings and not before.prose:
                yield before
            yield kid
        before = kid


def _is_text(node: HtmlNode, weight: _ProseWeight) -> bool:
    return weight(node) >= 100 and node.linked <= 0.25 * node.size and part_hint(node) is PartHint.TEXT
