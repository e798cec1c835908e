"""DuckDuckGo without a key, by its page for browsers without scripts. Whom it takes for a robot, it blocks."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urljoin, urlsplit

from msgspec import Struct

from footnote.protocol.sources import SearchHit
from footnote.web_search.providers import base, json_api, options, results
from footnote.web_search.providers.countries import DUCKDUCKGO_REGIONS
from footnote.web_search.providers.rate import Rate
from footnote.web_search.settings import ProviderAccess, SearchRequest

# Quotes reach no further than the next tag, so that a page of nothing but open quotes costs no more than another.
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*+)((?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+)>")
_ATTRIBUTE = re.compile(r"(?<![\w-])([\w-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_MAX_OPEN = 16
"""More than that inside each other is a page that is broken: the outermost end where the next one begins."""


class Element(Struct, frozen=True):
    """`names` are its classes, and its id behind a `#`. `inner` is what stands in it, with all markup."""

    names: frozenset[str] = frozenset()
    attributes: Mapping[str, str] = {}
    inner: str = ""


@dataclass(slots=True)
class _FoundElement:
    tag: str
    names: frozenset[str]
    attributes: Mapping[str, str]
    start: int
    end: int | None = None
    depth: int = 1


def find_elements(page: str, wanted: frozenset[str]) -> list[Element]:
    """Those that have a wanted class or id, in the order of the page. One that is never closed reaches to its end."""
    found: list[_FoundElement] = []
    open_now: list[_FoundElement] = []
    for token in _TAG.finditer(page):
        is_end, tag = bool(token[1]), token[2].lower()
        for element in open_now:
            if element.tag == tag:
                element.depth += -1 if is_end else 1
                element.end = token.start() if element.depth == 0 else None
        open_now = [element for element in open_now if element.end is None]
        attributes = {} if is_end else _parse_attributes(token[3])
        names = frozenset((*attributes.get("class", "").split(), "#" + attributes.get("id", "")))
        if names & wanted:
            found.append(_FoundElement(tag, names, attributes, token.end()))
            open_now.append(found[-1])
            if len(open_now) > _MAX_OPEN:
                open_now.pop(0).end = token.start()
    return [Element(one.names, one.attributes, page[one.start : one.end]) for one in found]


def link_target(href: str, *, site: str, parameter: str) -> str:
    """Where a link on a page of `site` leads, also if it is a redirect of the site that has it in `parameter`."""
    try:
        url = urljoin(site, href) if href else ""
        parts = urlsplit(url)
        inside = parse_qs(parts.query).get(parameter) if parts.netloc == urlsplit(site).netloc else None
    except ValueError:
        return ""
    return inside[0] if inside else url


def _parse_attributes(text: str) -> dict[str, str]:
    return {
        name.lower(): html.unescape(double or single or bare) for name, double, single, bare in _ATTRIBUTE.findall(text)
    }


_RESULT_CLASSES = frozenset({"result", "result__a", "result__snippet", "result__extras__url"})
_NO_RESULT_CLASSES = frozenset({"no-results", "result--no-result"})
_CHALLENGE_CLASSES = frozenset({"anomaly-modal", "#challenge-form"})
_CHALLENGE_SCRIPT = re.compile(r"<(?:form|script)\b[^<>]*\banomaly\.js")
_AD = re.compile(r"https?://(?:[\w-]+\.)*(?:duckduckgo\.com/y\.js|bing\.com/aclick)")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}T[\d:.]+(?=\s*</span>)")
_SAFE_SEARCH = {"off": "-2", "strict": "1"}
"""Moderate is what it does when it is not told, which is how a browser without settings asks."""
_BLOCKED_REASON = (
    "it takes this machine for a robot: wait a minute, or set BRAVE_API_KEY, SERPER_API_KEY or TAVILY_API_KEY"
)


class _BlockPage(Struct, frozen=True):
    """One result: the classes of what is around it, and its parts in their order."""

    names: frozenset[str]
    parts: list[Element]


def build_request(request: SearchRequest, access: ProviderAccess) -> base.HttpRequest:  # noqa: ARG001 - it has no key
    notes: list[str] = []
    days = options.date_range(request.freshness)
    form = {
        "q": options.truncate_query(request.query, notes, max_characters=499),
        "b": "",  # a browser sends it, too
        "kl": options.map_option("country", request.country, DUCKDUCKGO_REGIONS, notes),
        "df": "..".join(days) if days else request.freshness and request.freshness[1],
        "kp": _SAFE_SEARCH.get(request.safe_search),
    }
    return base.form_request("/html/", form, notes)


def parse_response(request: SearchRequest, response: base.HttpResponse) -> base.Outcome:
    page = response.body.decode("utf-8", "replace")
    found = find_elements(page, _RESULT_CLASSES | _NO_RESULT_CLASSES | _CHALLENGE_CLASSES)
    names = {name for element in found for name in element.names}
    if names & _CHALLENGE_CLASSES or response.status in (202, 403) or _CHALLENGE_SCRIPT.search(page):
        return base.blocked_outcome(
            f"{_BLOCKED_REASON} (status {response.status})", retry_after=json_api.retry_after(response) or 60.0
        )
    if response.status != 200:
        return json_api.status_outcome(response)
    if blocks := _result_blocks(found) or ([] if names & _NO_RESULT_CLASSES else _unframed_blocks(found)):
        return results.results_outcome((_to_hit(block, response.received_at) for block in blocks), request.count)
    if names & _NO_RESULT_CLASSES:
        return base.Outcome(kind="empty")
    raise base.UnreadableResponse("it answered with a page that has neither results nor says that there are none")


def _result_blocks(found: list[Element]) -> list[_BlockPage]:
    around = [one for one in found if "result" in one.names][: results.MAX_ROWS]
    blocks = [_BlockPage(one.names, find_elements(one.inner, _RESULT_CLASSES)) for one in around]
    return [block for block in blocks if any("result__a" in part.names for part in block.parts)]


def _unframed_blocks(found: list[Element]) -> list[_BlockPage]:
    """Each link with what follows it, for a page whose frames around the results have other names by now."""
    starts = [index for index, one in enumerate(found) if "result__a" in one.names]
    ends = [*starts[1:], len(found)]
    return [_BlockPage(frozenset(), found[start:end]) for start, end in zip(starts, ends, strict=False)]


def _to_hit(block: _BlockPage, received_at: float) -> SearchHit | None:
    parts = {name: part for part in reversed(block.parts) for name in part.names}
    title, snippet, extras = (parts.get(f"result__{name}", Element()) for name in ("a", "snippet", "extras__url"))
    url = link_target(title.attributes.get("href", ""), site="https://duckduckgo.com/", parameter="uddg")
    is_ad = "result--ad" in block.names or _AD.match(url)
    published = results.parse_date(next(iter(_DATE.findall(extras.inner)), None), received_at)
    return results.make_hit(
        title=title.inner, url=None if is_ad else url, description=snippet.inner, published=published
    )


provider = base.WebProvider(
    id="duckduckgo",
    order=50,
    base_url="https://html.duckduckgo.com",
    rate=Rate(1, 1.0),
    build_request=build_request,
    parse_response=parse_response,
)
