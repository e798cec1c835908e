"""DuckDuckGo, which needs no key: its HTML page for browsers without scripts is parsed. It blocks clients that it takes
for robots."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urljoin, urlsplit

from msgspec import Struct

from footnote.protocol.sources import SearchHit
from footnote.web_search.providers import base, outcomes, responses
from footnote.web_search.settings import ProviderAccess, SearchRequest

# A quoted value may not contain `<`, so that a page full of opening quotes is parsed in linear time.
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*+)((?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+)>")
_ATTRIBUTE = re.compile(r"(?<![\w-])([\w-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_MAX_OPEN = 16
"""The limit for nested elements. On a broken page the outermost element ends where one more begins."""


class Element(Struct, frozen=True):
    """`names` are the classes and, after a `#`, the id. `inner` is the content with all markup."""

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


def find_elements(page: str, names: frozenset[str]) -> list[Element]:
    """The elements with one of these classes or ids, in page order. An element without an end tag reaches to the end of
    the page."""
    found: list[_FoundElement] = []
    open_elements: list[_FoundElement] = []
    for token in _TAG.finditer(page):
        is_end, tag = bool(token[1]), token[2].lower()
        for element in open_elements:
            if element.tag == tag:
                element.depth += -1 if is_end else 1
                element.end = token.start() if element.depth == 0 else None
        open_elements = [element for element in open_elements if element.end is None]
        attributes = {} if is_end else _parse_attributes(token[3])
        own_names = frozenset((*attributes.get("class", "").split(), "#" + attributes.get("id", "")))
        if own_names & names:
            found.append(_FoundElement(tag, own_names, attributes, token.end()))
            open_elements.append(found[-1])
            if len(open_elements) > _MAX_OPEN:
                open_elements.pop(0).end = token.start()
    return [Element(one.names, one.attributes, page[one.start : one.end]) for one in found]


def link_target(href: str, *, site: str, parameter: str) -> str:
    """The target of a link on a page of `site`. A redirect through the site has it in the query field `parameter`."""
    try:
        url = urljoin(site, href) if href else ""
        parts = urlsplit(url)
        redirected = parse_qs(parts.query).get(parameter) if parts.netloc == urlsplit(site).netloc else None
    except ValueError:
        return ""
    return redirected[0] if redirected else url


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
_REGIONS = base.country_table(
    """AR ar-es, AT at-de, AU au-en, BE be-nl, BG bg-bg, BR br-pt, CA ca-en, CH ch-de, CL cl-es, CN cn-zh, CO co-es,
    CZ cz-cs, DE de-de, DK dk-da, EE ee-et, ES es-es, FI fi-fi, FR fr-fr, GB uk-en, GR gr-el, HK hk-tzh, HR hr-hr,
    HU hu-hu, ID id-en, IE ie-en, IL il-en, IN in-en, IS is-is, IT it-it, JP jp-jp, KR kr-kr, LT lt-lt, LV lv-lv,
    MX mx-es, MY my-en, NL nl-nl, NO no-no, NZ nz-en, PE pe-es, PH ph-en, PK pk-en, PL pl-pl, PT pt-pt, RO ro-ro,
    RU ru-ru, SA xa-ar, SE se-sv, SG sg-en, SI sl-sl, SK sk-sk, TH th-en, TR tr-tr, TW tw-tzh, UA ua-uk, US us-en,
    VN vn-en, ZA za-en"""
)
"""The values of `kl`. DuckDuckGo supports no other countries."""
_SAFE_SEARCH = {"off": "-2", "strict": "1"}
"""Moderate is the default, and a browser without settings sends no value."""


class _ResultBlock(Struct, frozen=True):
    """One result: the classes of the element around it, and its parts in order."""

    names: frozenset[str]
    parts: list[Element]


def build_request(request: SearchRequest, access: ProviderAccess) -> base.HttpRequest:  # noqa: ARG001 - it has no key
    notes: list[str] = []
    days = base.date_range(request.freshness)
    form = {
        "q": base.truncate_query(request.query, notes, max_characters=499),
        "b": "",  # as a browser sends it
        "kl": base.map_option("country", request.country, _REGIONS, notes),
        "df": "..".join(days) if days else request.freshness and request.freshness[1],
        "kp": _SAFE_SEARCH.get(request.safe_search),
    }
    return base.form_request("/html/", form, notes)


def parse_response(request: SearchRequest, response: base.HttpResponse) -> outcomes.Outcome:
    page = response.body.decode("utf-8", "replace")
    found = find_elements(page, _RESULT_CLASSES | _NO_RESULT_CLASSES | _CHALLENGE_CLASSES)
    names = {name for element in found for name in element.names}
    if names & _CHALLENGE_CLASSES or response.status in (202, 403) or _CHALLENGE_SCRIPT.search(page):
        return outcomes.robot_check(response.status, retry_after=responses.retry_after(response) or 60.0)
    if response.status != 200:
        return responses.status_outcome(response)
    if blocks := _result_blocks(found) or ([] if names & _NO_RESULT_CLASSES else _unframed_blocks(found)):
        return responses.results_outcome((_to_hit(block, response.received_at) for block in blocks), request.count)
    if names & _NO_RESULT_CLASSES:
        return outcomes.Outcome(kind="empty")
    raise base.UnreadableResponse("it answered with a page that has neither results nor says that there are none")


def _result_blocks(found: list[Element]) -> list[_ResultBlock]:
    frames = [element for element in found if "result" in element.names][: responses.MAX_ROWS]
    blocks = [_ResultBlock(frame.names, find_elements(frame.inner, _RESULT_CLASSES)) for frame in frames]
    return [block for block in blocks if any("result__a" in part.names for part in block.parts)]


def _unframed_blocks(found: list[Element]) -> list[_ResultBlock]:
    """Each link with the elements that follow it, in case the page names the frames around its results differently."""
    starts = [index for index, element in enumerate(found) if "result__a" in element.names]
    ends = [*starts[1:], len(found)]
    return [_ResultBlock(frozenset(), found[start:end]) for start, end in zip(starts, ends, strict=False)]


def _to_hit(block: _ResultBlock, received_at: float) -> SearchHit | None:
    parts = {name: part for part in reversed(block.parts) for name in part.names}
    title, snippet, extras = (parts.get(f"result__{name}", Element()) for name in ("a", "snippet", "extras__url"))
    url = link_target(title.attributes.get("href", ""), site="https://duckduckgo.com/", parameter="uddg")
    is_ad = "result--ad" in block.names or _AD.match(url)
    published = responses.parse_date(next(iter(_DATE.findall(extras.inner)), None), received_at)
    return responses.make_hit(
        title=title.inner, url=None if is_ad else url, description=snippet.inner, published=published
    )


provider = base.WebProvider(
    id="duckduckgo",
    order=50,
    aliases=("duck-duck-scrape",),
    base_url="https://html.duckduckgo.com",
    rate=outcomes.Rate(1, 1.0),
    build_request=build_request,
    parse_response=parse_response,
)
