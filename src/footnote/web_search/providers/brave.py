"""Brave Search, which has an index of its own. The free plan allows one request a second."""

from collections.abc import Mapping
from typing import Any

from footnote.web_search.providers import base, responses
from footnote.web_search.providers.base import (
    HttpRequest,
    HttpResponse,
    UnreadableResponse,
    WebProvider,
    get_request,
)
from footnote.web_search.providers.outcomes import Outcome, Rate
from footnote.web_search.settings import ProviderAccess, SearchRequest

KEY_NAME = "BRAVE_API_KEY"
_COUNTRIES = (
    "AR AT AU BE BR CA CH CL CN DE DK ES FI FR GB HK ID IN IT JP KR MX MY NL NO NZ PH PL PT RU SA SE TR TW US ZA"
)
_LANGUAGES = {"vi": "vi", "ja": "jp", "zh": "zh-hans"}
_RESPONSE_KEYS = frozenset(
    ("type", "query", "web", "mixed", "discussions", "faq", "infobox", "locations", "news", "videos")
)


def build_request(request: SearchRequest, access: ProviderAccess) -> HttpRequest:
    notes: list[str] = []
    query = {
        "q": base.truncate_query(request.query, notes, max_characters=400, max_words=50),
        "count": str(request.count),
        "country": base.map_option("country", request.country, {code: code for code in _COUNTRIES.split()}, notes),
        "search_lang": _LANGUAGES.get(base.query_language(request.query) or ""),
        "freshness": request.freshness,
        "safesearch": request.safe_search,
        "result_filter": "web",
    }
    return get_request("/res/v1/web/search", query, {"x-subscription-token": access.api_key or ""}, notes)


def parse_response(request: SearchRequest, response: HttpResponse) -> Outcome:
    if response.status != 200:
        return _error_outcome(response)
    body = responses.json_object(response)
    if body and not _RESPONSE_KEYS & body.keys():
        raise UnreadableResponse("its answer has none of the parts of an answer of Brave")
    web = body.get("web")  # missing when nothing was found
    if not isinstance(web, dict | None):
        raise UnreadableResponse("its answer has no list of results")
    rows = responses.object_rows(responses.object_fields(web).get("results", []), "results")
    return responses.outcome_of_rows(
        rows, request.count, response.received_at, published=("page_age", "age"), favicon=_favicon_url
    )


def _favicon_url(row: Mapping[str, Any]) -> Any:
    page, profile = (responses.object_fields(row.get(name)) for name in ("meta_url", "profile"))
    return page.get("favicon") or profile.get("img")


def _error_outcome(response: HttpResponse) -> Outcome:
    code = responses.error_fields(response).get("code")
    if code in ("SUBSCRIPTION_TOKEN_INVALID", "SUBSCRIPTION_NOT_FOUND"):
        return responses.key_refused_outcome(response, KEY_NAME)
    if code == "QUOTA_LIMITED":
        return responses.quota_outcome(response, "the quota of its key")
    if response.status == 429:
        return responses.rate_limit_outcome(
            response, throttle_seconds=responses.parse_rate_limit_headers(response.headers).wait_seconds or 1.0
        )
    return responses.status_outcome(response, KEY_NAME)


provider = WebProvider(
    id="brave",
    order=10,
    base_url="https://api.search.brave.com",
    key_name=KEY_NAME,
    rate=Rate(1, 1.0),
    build_request=build_request,
    parse_response=parse_response,
    parse_limits=responses.parse_rate_limit_headers,
)
