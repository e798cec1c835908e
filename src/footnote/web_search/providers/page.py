"""The few elements of a page into which a provider without an API writes its results. The rest is passed over."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urljoin, urlsplit

from msgspec import Struct

# Quotes reach no further than the next tag, so that a page of nothing but open quotes costs no more than another.
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*+)((?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+)>")
_ATTRIBUTE = re.compile(r"(?<![\w-])([\w-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_MOST_OPEN = 16
"""More than that inside each other is a page that is broken: the outermost end where the next one begins."""


class Element(Struct, frozen=True):
    """`names` are its classes, and its id behind a `#`. `inner` is what stands in it, with all markup."""

    names: frozenset[str] = frozenset()
    attributes: Mapping[str, str] = {}
    inner: str = ""


@dataclass(slots=True)
class _Found:
    tag: str
    names: frozenset[str]
    attributes: Mapping[str, str]
    start: int
    end: int | None = None
    depth: int = 1


def elements(page: str, wanted: frozenset[str]) -> list[Element]:
    """Those that have a wanted class or id, in the order of the page. One that is never closed reaches to its end."""
    found: list[_Found] = []
    open_now: list[_Found] = []
    for token in _TAG.finditer(page):
        is_end, tag = bool(token[1]), token[2].lower()
        for element in open_now:
            if element.tag == tag:
                element.depth += -1 if is_end else 1
                element.end = token.start() if element.depth == 0 else None
        open_now = [element for element in open_now if element.end is None]
        attributes = {} if is_end else _attributes(token[3])
        names = frozenset((*attributes.get("class", "").split(), "#" + attributes.get("id", "")))
        if names & wanted:
            found.append(_Found(tag, names, attributes, token.end()))
            open_now.append(found[-1])
            if len(open_now) > _MOST_OPEN:
                open_now.pop(0).end = token.start()
    return [Element(one.names, one.attributes, page[one.start : one.end]) for one in found]


def target(href: str, *, site: str, parameter: str) -> str:
    """Where a link on a page of `site` leads, also if it is a redirect of the site that has it in `parameter`."""
    try:
        url = urljoin(site, href) if href else ""
        parts = urlsplit(url)
        inside = parse_qs(parts.query).get(parameter) if parts.netloc == urlsplit(site).netloc else None
    except ValueError:
        return ""
    return inside[0] if inside else url


def _attributes(text: str) -> dict[str, str]:
    return {
        name.lower(): html.unescape(double or single or bare) for name, double, single, bare in _ATTRIBUTE.findall(text)
    }
