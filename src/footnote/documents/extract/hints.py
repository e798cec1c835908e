"""What names that authors give to the parts of a page say about them."""

import re
from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache

from footnote.documents.extract.tree import HEADINGS, Node, words


class Part(IntEnum):
    TEXT = 0
    LOOSE = 1
    """Around the text of an article, and yet content where a page is no article: a teaser, a caption, a byline."""
    TALK = 2
    """What readers say of an article and buyers of a product, or what a forum consists of."""
    FRAME = 3
    """On every page of the site: navigation, footer, banners."""


FRAME_WORDS = words(
    "nav navbar navigation navi topnav sidenav subnav mobilenav menu menus submenu megamenu mainmenu navmenu dropdown"
    " breadcrumb breadcrumbs crumbs pagination pager paging footer footnav prefooter colophon masthead copyright legal"
    " share sharing sharebar sharedaddy addthis social socials sns newsletter subscribe subscription subscriber signup"
    " signin login optin register cookie cookies consent gdpr ccpa onetrust cmplz popup modal lightbox toast"
    " sidebar sidepanel related recommended recommendation recommendations recirc suggested trending sponsored"
    " sponsor adsense advert advertisement advertising outbrain taboola mgid ads dfp paywall"
    " toolbar utility skiplink printfriendly noprint nocontent vcard slogan tagline ticker upsell"
)
TALK_WORDS = words("comment comments commentlist commentform disqus wpdiscuz respond reply replies discussion reviews")
LOOSE_WORDS = words(
    "banner cta ctas carousel swiper slick slider widget widgets textwidget promo promos promotion promoted"
    " author authors byline bio biography meta metadata info date published updated caption credit credits tags taglist"
    " tagcloud topics links button buttons btn search prev previous popular recent latest category categories rating"
    " ratings teaser follow contact disclaimer disclosure affiliate ad alert notice avatar profile tooltip overlay"
    " readmore readnext mostread mostpopular similar print skip toggle"
)
FRAME_START = re.compile(
    "breadcrumb|newsletter|subscri|related|recommend|advert|sidebar|footer|cookie|taboola|outbrain|sponsor|sharing"
)
TALK_START = re.compile("comment|disqus")
CONSENT = words("cookie cookies consent gdpr ccpa onetrust cmplz")
LONGEST_NOTICE = 20_000
SURE = words("footer copyright legal sidebar newsletter subscribe subscription popup modal")
FRAME_TAGS = words("nav footer aside menu dialog")
FRAME_ROLES = words(
    "navigation complementary banner contentinfo search dialog alertdialog menu menubar toolbar tablist tooltip"
)
LOOSE_TAGS = words("header form fieldset address figcaption")
NEVER = HEADINGS | words("html body main article tbody thead tr pre code blockquote em strong b i")
"""Names on these are the author's: the slug of a heading, the language of a program."""
NAMED_BY_CLASS = words("section p li dt dd a span td th ul ol table dl")
"""Their `id` is mostly the target of a link, made from a heading."""

NOT_A_NAME = re.compile(
    "accordion|elementor|wp-|category-|tag-|has-|no-|with-|without-|is-|not-|hide-|post-\\d|type-|theme"
)
"""Names of a page builder, of the subject, of a state: they do not say what the part is."""
BESIDE = re.compile("(?:has|with|content)[-_]sidebar")
"""What has a sidebar, and is none."""
CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
NOT_LETTERS = re.compile(r"[^a-z]+")


def part(node: Node) -> Part:
    """What kind of part an element is by its tag, role and names."""
    tag = node.tag
    attributes = node.attributes
    if tag in FRAME_TAGS:
        return Part.TEXT if tag == "aside" and "quote" in attributes.get("class", "") else Part.FRAME
    found = Part.LOOSE if tag in LOOSE_TAGS else Part.TEXT
    if not attributes or tag in NEVER:
        return found
    if attributes.get("role") in FRAME_ROLES:
        return Part.FRAME
    names = attributes.get("class") or ""
    if tag not in NAMED_BY_CLASS and "id" in attributes:
        names = f"{names} {attributes['id']}"
    return max(found, _named(names)) if names else found


@lru_cache(maxsize=4096)
def _named(names: str) -> Part:
    found = Part.TEXT
    for name in names.split():
        if _is_no_name(name):
            continue
        for word in NOT_LETTERS.split(CASE.sub(" ", name).lower()):
            if word in FRAME_WORDS or FRAME_START.match(word):
                return Part.FRAME
            if word in TALK_WORDS or TALK_START.match(word):
                found = Part.TALK
            elif word in LOOSE_WORDS:
                found = max(found, Part.LOOSE)
    return found


def is_named_surely(node: Node) -> bool:
    """Named by a word that is used for nothing else, so that even much prose in it is no content."""
    return not SURE.isdisjoint(_words(node))


def asks_for_consent(node: Node) -> bool:
    """A notice about cookies. Its name alone does not tell: whole pages are named by whether one was accepted."""
    if node.size > LONGEST_NOTICE or CONSENT.isdisjoint(_words(node)):
        return False
    text = "".join(_texts(node)).lower()
    return text.count("cookie") + text.count("consent") > node.size / 500


def _texts(node: Node) -> Iterator[str]:
    for kid in node.kids:
        if isinstance(kid, str):
            yield kid
        else:
            yield from _texts(kid)


def _words(node: Node) -> list[str]:
    named = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
    told = " ".join(name for name in named.split() if not _is_no_name(name))
    return NOT_LETTERS.split(CASE.sub(" ", told).lower())


def _is_no_name(name: str) -> bool:
    return bool(NOT_A_NAME.match(name) or BESIDE.search(name))
