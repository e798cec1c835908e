from collections.abc import AsyncIterator
from datetime import date
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from footnote.protocol.sources import Receipt, SearchArtifact
from footnote.tools.base import Outcome, ToolContext, has_web_search, search_outcomes, search_result, web_search_of
from footnote.tools.define import tool
from footnote.tools.lenient import Reader
from footnote.web_search.filters import country_code, parse_freshness
from footnote.web_search.pipeline import SearchAnswer
from footnote.web_search.search import SearchFailed
from footnote.web_search.settings import search_request


def _read_freshness(text: str) -> str | None:
    return parse_freshness(text, date.today())  # noqa: DTZ011 - the local date is meant


class WebSearchParameters(Struct, frozen=True, forbid_unknown_fields=True):
    query: Annotated[
        str,
        Meta(
            min_length=1,
            description="What to type into a search box.",
            extra={
                "aliases": (
                    *("q", "queries", "search", "search_query", "search_queries", "search_term", "search_terms"),
                    *("keyword", "keywords", "query_string", "question", "text", "term", "topic", "input"),
                )
            },
        ),
    ]
    prompt: Annotated[
        str | UnsetType, Meta(description="What you want to know from the pages. Left out: the query.")
    ] = UNSET
    count: Annotated[
        Annotated[int, Meta(ge=1, le=10)] | UnsetType,
        Meta(
            description="How many results.",
            extra={"aliases": ("num", "n", "k", "limit", "top_k", "num_results", "max_results", "number_of_results")},
        ),
    ] = UNSET
    country: Annotated[
        str | UnsetType,
        Meta(
            description="Prefer results for it: ISO 3166-1 alpha-2, such as VN.",
            extra={
                "aliases": ("country_code", "region", "location", "gl"),
                "reader": Reader(country_code, "a code of two letters, such as VN, US or CN"),
            },
        ),
    ] = UNSET
    freshness: Annotated[
        str | UnsetType,
        Meta(
            description="Pages of the past day, week, month or year (pd, pw, pm, py), or 2024-01-01to2024-03-31.",
            extra={
                "aliases": (
                    *("time_range", "date_range", "time_period", "timeframe", "period", "recency", "time", "date"),
                    "year",
                ),
                "reader": Reader(_read_freshness, "pd, pw, pm, py, or days such as 2024-01-01to2024-03-31"),
            },
        ),
    ] = UNSET


@tool(
    titles={"en": "Search the web", "vi": "Tìm kiếm web", "zh": "搜索网页"},
    when=has_web_search,
    lenient=True,
    idempotent=True,
    bounded=True,
    reuse="always",
    timeout=180,
)
async def web_search(params: WebSearchParameters, context: ToolContext) -> AsyncIterator[Outcome]:
    """Search the web and read the pages found. Returns what they say about the prompt, with the number of the source
    after each statement, and passages word for word with ids to cite, such as [3.2]."""
    web = web_search_of(context)
    request = search_request(
        web.settings,
        params.query,
        prompt=params.prompt or None,
        count=params.count or None,
        country=params.country or None,
        freshness=params.freshness or None,
    )
    try:
        async for outcome in search_outcomes(web.search(request)):
            yield outcome
    except SearchFailed as error:
        artifact = SearchArtifact(query=request.query, sources=(), receipt=Receipt(providers=error.tries))
        yield search_result(SearchAnswer(error.model_message, artifact, failed=True))
