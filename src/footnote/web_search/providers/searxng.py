"""SearXNG, a self-hosted instance that queries other engines. Its JSON format has to be switched on there."""

from footnote.text.boundary import quote_external
from footnote.web_search.providers import base, responses
from footnote.web_search.providers.base import (
    HttpRequest,
    HttpResponse,
    WebProvider,
    get_request,
)
from footnote.web_search.providers.outcomes import Outcome, failed_outcome
from footnote.web_search.settings import ProviderAccess, SearchRequest

_COUNTRY_LANGUAGES = base.country_table(
    """AR es, AT de, AU en, BE nl, BG bg, BR pt, CA en, CH de, CL es, CN zh, CO es, CZ cs, DE de, DK da, EE et, ES es,
    FI fi, FR fr, GB en, GR el, HK zh, HR hr, HU hu, ID id, IE en, IL he, IN en, IS is, IT it, JP ja, KR ko, LT lt,
    LV lv, MX es, MY ms, NL nl, NO nb, NZ en, PE es, PH en, PK en, PL pl, PT pt, RO ro, RU ru, SA ar, SE sv, SG en,
    SI sl, SK sk, TH th, TR tr, TW zh, UA uk, US en, VN vi, ZA en"""
)
"""The main language of a country, for engines that know a country only as part of a locale."""
_TIME_RANGES = {"pd": "day", "pw": "week", "pm": "month", "py": "year"}
_SAFE_SEARCH = {"off": "0", "moderate": "1", "strict": "2"}
"""Always sent, because the default of an instance is up to its operator and usually means no filter."""
_JSON_DISABLED_REASON = (
    "its JSON answers are switched off: add json to search.formats in the settings.yml of the instance"
)


def build_request(request: SearchRequest, access: ProviderAccess) -> HttpRequest:  # noqa: ARG001 - it has no key
    notes: list[str] = []
    language = base.map_option("country", request.country, _COUNTRY_LANGUAGES, notes)
    locale = f"{language}-{request.country}" if language else base.query_language(request.query)
    if language:
        notes.append(f"country {request.country} was asked for as the language {locale}")
    query = {
        "q": request.query,
        "format": "json",
        "categories": "general",
        "language": locale,
        "safesearch": _SAFE_SEARCH[request.safe_search],
        "time_range": base.map_option("freshness", request.freshness, _TIME_RANGES, notes),
    }
    return get_request("/search", query, {}, notes)


def parse_response(request: SearchRequest, response: HttpResponse) -> Outcome:
    if response.status == 403 or (response.status == 200 and response.body.lstrip()[:1] == b"<"):
        return failed_outcome("misconfigured", _JSON_DISABLED_REASON)
    if response.status != 200:
        return responses.status_outcome(response)
    body = responses.json_object(response)
    rows = list(responses.object_rows(body.get("results"), "results"))
    if not rows and (silent := body.get("unresponsive_engines")):
        which = quote_external(responses.clean_text(str(silent), 200))
        return failed_outcome(
            "server_error", f"none of its engines answered ({which}): look at them in its preferences"
        )
    return responses.outcome_of_rows(
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
