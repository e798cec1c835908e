"""SearXNG: an instance of one's own that asks other engines. It answers in JSON only where that is switched on."""

from footnote.web_search.boundary import quote_external
from footnote.web_search.providers import json_api, options, results
from footnote.web_search.providers.base import (
    HttpRequest,
    HttpResponse,
    Outcome,
    WebProvider,
    failed_outcome,
    get_request,
)
from footnote.web_search.providers.countries import COUNTRY_LANGUAGES
from footnote.web_search.settings import ProviderAccess, SearchRequest

_TIME_RANGES = {"pd": "day", "pw": "week", "pm": "month", "py": "year"}
_SAFE_SEARCH = {"off": "0", "moderate": "1", "strict": "2"}
"""Always sent: what an instance does when it is not told is up to its operator, and usually no filter."""
_JSON_DISABLED_REASON = (
    "its JSON answers are switched off: add json to search.formats in the settings.yml of the instance"
)


def build_request(request: SearchRequest, access: ProviderAccess) -> HttpRequest:  # noqa: ARG001 - it has no key
    notes: list[str] = []
    language = options.map_option("country", request.country, COUNTRY_LANGUAGES, notes)
    locale = f"{language}-{request.country}" if language else options.query_language(request.query)
    if language:
        notes.append(f"country {request.country} was asked for as the language {locale}")
    query = {
        "q": request.query,
        "format": "json",
        "categories": "general",
        "language": locale,
        "safesearch": _SAFE_SEARCH[request.safe_search],
        "time_range": options.map_option("freshness", request.freshness, _TIME_RANGES, notes),
    }
    return get_request("/search", query, {}, notes)


def parse_response(request: SearchRequest, response: HttpResponse) -> Outcome:
    if response.status == 403 or (response.status == 200 and response.body.lstrip()[:1] == b"<"):
        return failed_outcome(_JSON_DISABLED_REASON)
    if response.status != 200:
        return json_api.status_outcome(response)
    body = json_api.json_object(response)
    rows = list(json_api.object_rows(body.get("results"), "results"))
    if not rows and (silent := body.get("unresponsive_engines")):
        which = quote_external(results.clean_text(str(silent), 200))
        return failed_outcome(f"none of its engines answered ({which}): look at them in its preferences")
    return results.outcome_of_rows(
        rows,
        request.count,
        response.received_at,
        description="content",
        published=("publishedDate",),
        favicon=lambda row: row.get("favicon"),
    )


provider = WebProvider(
    id="searxng", order=40, base_url=None, build_request=build_request, parse_response=parse_response
)
