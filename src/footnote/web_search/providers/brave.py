"""Brave Search: an index of its own behind a documented API. Its free plan allows one request a second."""

from collections.abc import Mapping
from typing import Any

from footnote.web_search.providers import answers, hits, options
from footnote.web_search.providers.base import HttpAnswer, HttpRequest, Outcome, Unreadable, WebProvider, get
from footnote.web_search.providers.pace import Rate, header_limits
from footnote.web_search.settings import ProviderAccess, SearchRequest

KEY = "BRAVE_API_KEY"
_COUNTRIES = (
    "AR AT AU BE BR CA CH CL CN DE DK ES FI FR GB HK ID IN IT JP KR MX MY NL NO NZ PH PL PT RU SA SE TR TW US ZA"
)
_LANGUAGES = {"vi": "vi", "ja": "jp", "zh": "zh-hans"}
_PARTS = frozenset(("type", "query", "web", "mixed", "discussions", "faq", "infobox", "locations", "news", "videos"))


def ask(request: SearchRequest, access: ProviderAccess) -> HttpRequest:
    notes: list[str] = []
    query = {
        "q": options.shortened(request.query, notes, characters=400, words=50),
        "count": str(request.count),
        "country": options.mapped("country", request.country, {code: code for code in _COUNTRIES.split()}, notes),
        "search_lang": _LANGUAGES.get(options.language(request.query) or ""),
        "freshness": request.freshness,
        "safesearch": request.safe_search,
        "result_filter": "web",
    }
    return get("/res/v1/web/search", query, {"x-subscription-token": access.api_key or ""}, notes)


def read(request: SearchRequest, answer: HttpAnswer) -> Outcome:
    if answer.status != 200:
        return _refusal(answer)
    body = answers.json_object(answer)
    if body and not _PARTS & body.keys():
        raise Unreadable("its answer has none of the parts of an answer of Brave")
    found = body.get("web")  # left out when there is nothing
    if not isinstance(found, dict | None):
        raise Unreadable("its answer has no list of results")
    rows = answers.rows(answers.fields(found).get("results", []), "results")
    return hits.results_of(rows, request.count, answer.received, published=("page_age", "age"), favicon=_favicon)


def _favicon(row: Mapping[str, Any]) -> Any:
    return answers.fields(row.get("meta_url")).get("favicon") or answers.fields(row.get("profile")).get("img")


def _refusal(answer: HttpAnswer) -> Outcome:
    code = answers.error_fields(answer).get("code")
    if code in ("SUBSCRIPTION_TOKEN_INVALID", "SUBSCRIPTION_NOT_FOUND"):
        return answers.refused_key(answer, KEY)
    if code == "QUOTA_LIMITED":
        return answers.out_of_quota(answer, "the quota of its key")
    if answer.status == 429:
        return answers.too_fast(answer, again=header_limits(answer.headers).pause or 1.0)
    return answers.refusal(answer, KEY)


provider = WebProvider(
    id="brave",
    order=10,
    base_url="https://api.search.brave.com",
    key_name=KEY,
    rate=Rate(1, 1.0),
    ask=ask,
    read=read,
    limits=header_limits,
)
