"""DuckDuckGo without a key, by its page for browsers without scripts. Whom it takes for a robot, it blocks."""

import re

from msgspec import Struct

from footnote.protocol.sources import SearchHit
from footnote.web_search.providers import answers, base, hits, options
from footnote.web_search.providers.countries import DUCKDUCKGO_REGIONS
from footnote.web_search.providers.pace import Rate
from footnote.web_search.providers.page import Element, elements, target
from footnote.web_search.settings import ProviderAccess, SearchRequest

_RESULT = frozenset({"result", "result__a", "result__snippet", "result__extras__url"})
_NO_RESULT = frozenset({"no-results", "result--no-result"})
_CHALLENGE = frozenset({"anomaly-modal", "#challenge-form"})
_CHALLENGE_SCRIPT = re.compile(r"<(?:form|script)\b[^<>]*\banomaly\.js")
_AD = re.compile(r"https?://(?:[\w-]+\.)*(?:duckduckgo\.com/y\.js|bing\.com/aclick)")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}T[\d:.]+(?=\s*</span>)")
_SAFE_SEARCH = {"off": "-2", "strict": "1"}
"""Moderate is what it does when it is not told, which is how a browser without settings asks."""
_ROBOT = "it takes this machine for a robot: wait a minute, or set BRAVE_API_KEY, SERPER_API_KEY or TAVILY_API_KEY"


class _Block(Struct, frozen=True):
    """One result: the classes of what is around it, and its parts in their order."""

    names: frozenset[str]
    parts: list[Element]


def ask(request: SearchRequest, access: ProviderAccess) -> base.HttpRequest:  # noqa: ARG001 - it has no key
    notes: list[str] = []
    days = options.date_range(request.freshness)
    form = {
        "q": options.shortened(request.query, notes, characters=499),
        "b": "",  # a browser sends it, too
        "kl": options.mapped("country", request.country, DUCKDUCKGO_REGIONS, notes),
        "df": "..".join(days) if days else request.freshness and request.freshness[1],
        "kp": _SAFE_SEARCH.get(request.safe_search),
    }
    return base.post_form("/html/", form, notes)


def read(request: SearchRequest, answer: base.HttpAnswer) -> base.Outcome:
    page = answer.body.decode("utf-8", "replace")
    found = elements(page, _RESULT | _NO_RESULT | _CHALLENGE)
    names = {name for element in found for name in element.names}
    if names & _CHALLENGE or answer.status in (202, 403) or _CHALLENGE_SCRIPT.search(page):
        return base.blocked(f"{_ROBOT} (status {answer.status})", retry_after=answers.retry_after(answer) or 60.0)
    if answer.status != 200:
        return answers.refusal(answer)
    if blocks := _framed(found) or ([] if names & _NO_RESULT else _without_a_frame(found)):
        return hits.results((_hit(block, answer.received) for block in blocks), request.count)
    if names & _NO_RESULT:
        return base.Outcome(kind="empty")
    raise base.Unreadable("it answered with a page that has neither results nor says that there are none")


def _framed(found: list[Element]) -> list[_Block]:
    around = [one for one in found if "result" in one.names][: hits.MOST_ROWS]
    blocks = [_Block(one.names, elements(one.inner, _RESULT)) for one in around]
    return [block for block in blocks if any("result__a" in part.names for part in block.parts)]


def _without_a_frame(found: list[Element]) -> list[_Block]:
    """Each link with what follows it, for a page whose frames around the results have other names by now."""
    starts = [index for index, one in enumerate(found) if "result__a" in one.names]
    ends = [*starts[1:], len(found)]
    return [_Block(frozenset(), found[start:end]) for start, end in zip(starts, ends, strict=False)]


def _hit(block: _Block, received: float) -> SearchHit | None:
    parts = {name: part for part in reversed(block.parts) for name in part.names}
    title, snippet, extras = (parts.get(f"result__{name}", Element()) for name in ("a", "snippet", "extras__url"))
    url = target(title.attributes.get("href", ""), site="https://duckduckgo.com/", parameter="uddg")
    is_ad = "result--ad" in block.names or _AD.match(url)
    published = hits.date_of(next(iter(_DATE.findall(extras.inner)), None), received)
    return hits.hit(title=title.inner, url=None if is_ad else url, description=snippet.inner, published=published)


provider = base.WebProvider(
    id="duckduckgo", order=50, base_url="https://html.duckduckgo.com", rate=Rate(1, 1.0), ask=ask, read=read
)
