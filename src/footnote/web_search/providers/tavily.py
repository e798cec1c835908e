"""Tavily: a search made for models. Its own answer is not asked for: ours has footnotes."""

from footnote.web_search.providers import json_api, options, results
from footnote.web_search.providers.base import HttpRequest, HttpResponse, Outcome, WebProvider, json_request
from footnote.web_search.providers.countries import TAVILY_COUNTRIES
from footnote.web_search.providers.rate import Rate
from footnote.web_search.settings import ProviderAccess, SearchRequest

KEY_NAME = "TAVILY_API_KEY"
_TIME_RANGES = {"pd": "day", "pw": "week", "pm": "month", "py": "year"}


def build_request(request: SearchRequest, access: ProviderAccess) -> HttpRequest:
    notes: list[str] = []
    options.note_missing_safe_search(request.safe_search, notes)
    days = options.date_range(request.freshness)
    body = {
        "query": options.truncate_query(request.query, notes, max_characters=400),
        "max_results": request.count,
        "search_depth": "basic",
        "include_answer": False,
        "include_favicon": True,
        "country": options.map_option("country", request.country, TAVILY_COUNTRIES, notes),
        "time_range": _TIME_RANGES.get(request.freshness or ""),
        "start_date": days and days[0],
        "end_date": days and days[1],
    }
    return json_request("/search", body, {"authorization": f"Bearer {access.api_key}"}, notes)


def parse_response(request: SearchRequest, response: HttpResponse) -> Outcome:
    if response.status in (432, 433):
        return json_api.quota_outcome(response, "the credit of its key")
    if response.status != 200:
        return json_api.status_outcome(response, KEY_NAME)
    rows = json_api.object_rows(json_api.json_object(response).get("results"), "results")
    return results.outcome_of_rows(
        rows,
        request.count,
        response.received_at,
        description="content",
        published=("published_date",),
        favicon=lambda row: row.get("favicon"),
    )


provider = WebProvider(
    id="tavily",
    order=30,
    base_url="https://api.tavily.com",
    key_name=KEY_NAME,
    rate=Rate(100, 60.0),
    build_request=build_request,
    parse_response=parse_response,
)
