"""SearXNG: an instance of one's own that asks other engines. It answers in JSON only where that is switched on."""

from footnote.web_search.boundary import quotation
from footnote.web_search.providers import answers, hits, options
from footnote.web_search.providers.base import HttpAnswer, HttpRequest, Outcome, WebProvider, failed, get
from footnote.web_search.providers.countries import LANGUAGES
from footnote.web_search.settings import ProviderAccess, SearchRequest

_PAST = {"pd": "day", "pw": "week", "pm": "month", "py": "year"}
_SAFE_SEARCH = {"off": "0", "moderate": "1", "strict": "2"}
"""Always sent: what an instance does when it is not told is up to its operator, and usually no filter."""
_SWITCHED_OFF = "its JSON answers are switched off: add json to search.formats in the settings.yml of the instance"


def ask(request: SearchRequest, access: ProviderAccess) -> HttpRequest:  # noqa: ARG001 - it has no key
    notes: list[str] = []
    language = options.mapped("country", request.country, LANGUAGES, notes)
    locale = f"{language}-{request.country}" if language else options.language(request.query)
    if language:
        notes.append(f"country {request.country} was asked for as the language {locale}")
    query = {
        "q": request.query,
        "format": "json",
        "categories": "general",
        "language": locale,
        "safesearch": _SAFE_SEARCH[request.safe_search],
        "time_range": options.mapped("freshness", request.freshness, _PAST, notes),
    }
    return get("/search", query, {}, notes)


def read(request: SearchRequest, answer: HttpAnswer) -> Outcome:
    if answer.status == 403 or (answer.status == 200 and answer.body.lstrip()[:1] == b"<"):
        return failed(_SWITCHED_OFF)
    if answer.status != 200:
        return answers.refusal(answer)
    body = answers.json_object(answer)
    rows = list(answers.rows(body.get("results"), "results"))
    if not rows and (silent := body.get("unresponsive_engines")):
        which = quotation(hits.clean(str(silent), 200))
        return failed(f"none of its engines answered ({which}): look at them in its preferences")
    return hits.results_of(
        rows,
        request.count,
        answer.received,
        description="content",
        published=("publishedDate",),
        favicon=lambda row: row.get("favicon"),
    )


provider = WebProvider(id="searxng", order=40, base_url=None, ask=ask, read=read)
