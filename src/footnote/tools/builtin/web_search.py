from collections.abc import AsyncIterator
from typing import Annotated

from msgspec import Meta, Struct

from footnote.protocol.receipts import Receipt, SearchArtifact
from footnote.tools.base import Outcome, ToolContext
from footnote.tools.define import tool
from footnote.tools.web import is_on, outcomes, to_tool_result, web_of
from footnote.web_search.pipeline import SearchAnswer
from footnote.web_search.search import SearchFailed
from footnote.web_search.settings import search_request


class WebSearchParameters(Struct, frozen=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(min_length=1, description="What to search for, as one would type it into a search box.")]
    prompt: Annotated[
        str | None,
        Meta(description="What you want to know from the pages, as a question or a task. Left out: the query."),
    ] = None
    count: Annotated[
        Annotated[int, Meta(ge=1, le=10)] | None, Meta(description="How many results to look at, 1 to 10.")
    ] = None
    country: Annotated[
        str | None, Meta(description="Prefer results for this country: ISO 3166-1 alpha-2, for example VN.")
    ] = None
    freshness: Annotated[
        str | None,
        Meta(
            description="Only pages of the past day (pd), week (pw), month (pm) or year (py), "
            "or of a range of days: 2024-01-01to2024-03-31."
        ),
    ] = None


@tool(
    titles={"en": "Search the web", "vi": "Tìm kiếm web", "zh": "搜索网页"},
    when=is_on,
    idempotent=True,
    bounded=True,
    reuse="always",
    timeout=180,
)
async def web_search(params: WebSearchParameters, context: ToolContext) -> AsyncIterator[Outcome]:
    """Search the web, read the pages found, and get a summary of what they say about your prompt, with the number of
    the source after each statement.

    Cite those numbers in your answer, as [1]. Use precise queries; several searches may run at the same time."""
    web = web_of(context)
    request = search_request(
        web.settings,
        params.query,
        prompt=params.prompt,
        count=params.count,
        country=params.country,
        freshness=params.freshness,
    )
    try:
        async for outcome in outcomes(web.search(request)):
            yield outcome
    except SearchFailed as error:
        artifact = SearchArtifact(query=request.query, sources=(), receipt=Receipt(providers=error.tries))
        yield to_tool_result(SearchAnswer(error.model_message, artifact, failed=True))
