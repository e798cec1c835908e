"""Serper: the results of Google as JSON."""

from datetime import date

from footnote.web_search.providers import base, responses
from footnote.web_search.providers.base import (
    HttpRequest,
    HttpResponse,
    UnreadableResponse,
    WebProvider,
    json_request,
)
from footnote.web_search.providers.outcomes import Outcome, Rate
from footnote.web_search.settings import ProviderAccess, SearchRequest

KEY_NAME = "SERPER_API_KEY"
_RESPONSE_KEYS = frozenset(
    ("organic", "searchParameters", "credits", "knowledgeGraph", "answerBox", "peopleAlsoAsk", "relatedSearches")
)
_TIME_RANGES = {"pd": "qdr:d", "pw": "qdr:w", "pm": "qdr:m", "py": "qdr:y"}


def build_request(request: SearchRequest, access: ProviderAccess) -> HttpRequest:
    notes: list[str] = []
    base.note_missing_safe_search(request.safe_search, notes)
    body = {
        "q": request.query,
        "num": request.count,
        "gl": request.country and request.country.lower(),
        "tbs": _time_range(request.freshness),
    }
    return json_request("/search", body, {"x-api-key": access.api_key or ""}, notes)


def parse_response(request: SearchRequest, response: HttpResponse) -> Outcome:
    if response.status == 400 and "credit" in responses.error_detail(response).lower():
        return responses.quota_outcome(response, "the credit of its key")
    if response.status != 200:
        return responses.status_outcome(response, KEY_NAME)
    body = responses.json_object(response)
    if body and not _RESPONSE_KEYS & body.keys():
        raise UnreadableResponse("its answer has none of the parts of an answer of Serper")
    rows = responses.object_rows(body.get("organic", []), "results")  # missing when nothing was found
    return responses.outcome_of_rows(
        rows, request.count, response.received_at, url="link", description="snippet", published=("date",)
    )


def _time_range(freshness: str | None) -> str | None:
    if days := base.date_range(freshness):
        first, last = (f"{day.month}/{day.day}/{day.year}" for day in map(date.fromisoformat, days))
        return f"cdr:1,cd_min:{first},cd_max:{last}"
    return _TIME_RANGES.get(freshness or "")


provider = WebProvider(
    id="serper",
    order=20,
    base_url="https://google.serper.dev",
    key_name=KEY_NAME,
    rate=Rate(50, 1.0),
    build_request=build_request,
    parse_response=parse_response,
)
