"""Tavily: a search made for models. Its own answer is not asked for: ours has footnotes."""

from footnote.web_search.providers import answers, hits, options
from footnote.web_search.providers.base import HttpAnswer, HttpRequest, Outcome, WebProvider, post_json
from footnote.web_search.providers.countries import TAVILY_NAMES
from footnote.web_search.providers.pace import Rate
from footnote.web_search.settings import ProviderAccess, SearchRequest

KEY = "TAVILY_API_KEY"
_PAST = {"pd": "day", "pw": "week", "pm": "month", "py": "year"}


def ask(request: SearchRequest, access: ProviderAccess) -> HttpRequest:
    notes: list[str] = []
    options.safe_search_left_out(request.safe_search, notes)
    days = options.date_range(request.freshness)
    body = {
        "query": options.shortened(request.query, notes, characters=400),
        "max_results": request.count,
        "search_depth": "basic",
        "include_answer": False,
        "include_favicon": True,
        "country": options.mapped("country", request.country, TAVILY_NAMES, notes),
        "time_range": _PAST.get(request.freshness or ""),
        "start_date": days and days[0],
        "end_date": days and days[1],
    }
    return post_json("/search", body, {"authorization": f"Bearer {access.api_key}"}, notes)


def read(request: SearchRequest, answer: HttpAnswer) -> Outcome:
    if answer.status in (432, 433):
        return answers.out_of_quota(answer, "the credit of its key")
    if answer.status != 200:
        return answers.refusal(answer, KEY)
    rows = answers.rows(answers.json_object(answer).get("results"), "results")
    return hits.results_of(
        rows,
        request.count,
        answer.received,
        description="content",
        published=("published_date",),
        favicon=lambda row: row.get("favicon"),
    )


provider = WebProvider(
    id="tavily",
    order=30,
    base_url="https://api.tavily.com",
    key_name=KEY,
    rate=Rate(100, 60.0),
    ask=ask,
    read=read,
)
