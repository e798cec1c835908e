"""Serper: what Google finds, as JSON."""

from datetime import date

from footnote.web_search.providers import answers, hits, options
from footnote.web_search.providers.base import HttpAnswer, HttpRequest, Outcome, Unreadable, WebProvider, post_json
from footnote.web_search.providers.pace import Rate
from footnote.web_search.settings import ProviderAccess, SearchRequest

KEY = "SERPER_API_KEY"
_PARTS = frozenset(
    ("organic", "searchParameters", "credits", "knowledgeGraph", "answerBox", "peopleAlsoAsk", "relatedSearches")
)
_PAST = {"pd": "qdr:d", "pw": "qdr:w", "pm": "qdr:m", "py": "qdr:y"}


def ask(request: SearchRequest, access: ProviderAccess) -> HttpRequest:
    notes: list[str] = []
    options.safe_search_left_out(request.safe_search, notes)
    body = {
        "q": request.query,
        "num": request.count,
        "gl": request.country and request.country.lower(),
        "tbs": _period(request.freshness),
    }
    return post_json("/search", body, {"x-api-key": access.api_key or ""}, notes)


def read(request: SearchRequest, answer: HttpAnswer) -> Outcome:
    if answer.status == 400 and "credit" in answers.said(answer).lower():
        return answers.out_of_quota(answer, "the credit of its key")
    if answer.status != 200:
        return answers.refusal(answer, KEY)
    body = answers.json_object(answer)
    if body and not _PARTS & body.keys():
        raise Unreadable("its answer has none of the parts of an answer of Serper")
    rows = answers.rows(body.get("organic", []), "results")  # left out when nothing was found
    return hits.results_of(rows, request.count, answer.received, url="link", description="snippet", published=("date",))


def _period(freshness: str | None) -> str | None:
    if days := options.date_range(freshness):
        first, last = (f"{day.month}/{day.day}/{day.year}" for day in map(date.fromisoformat, days))
        return f"cdr:1,cd_min:{first},cd_max:{last}"
    return _PAST.get(freshness or "")


provider = WebProvider(
    id="serper",
    order=20,
    base_url="https://google.serper.dev",
    key_name=KEY,
    rate=Rate(50, 1.0),
    ask=ask,
    read=read,
)
