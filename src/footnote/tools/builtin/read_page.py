from collections.abc import AsyncIterator
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from footnote.library.documentation import SCHEME
from footnote.tools.base import Outcome, ToolContext, has_web_search, search_outcomes, web_search_of
from footnote.tools.define import tool


class ReadPage(Struct, frozen=True, forbid_unknown_fields=True):
    url: Annotated[
        str,
        Meta(
            min_length=1,
            description="Its address, with http://, https:// or footnote://.",
            extra={"aliases": ("urls", "link", "links", "uri", "href", "address", "page", "page_url", "website")},
        ),
    ]
    prompt: Annotated[
        str | UnsetType,
        Meta(
            description="What you want to know from it.",
            extra={"aliases": ("query", "question", "goal", "instruction", "instructions")},
        ),
    ] = UNSET


@tool(
    titles={"en": "Read a page", "vi": "Đọc trang web", "zh": "阅读网页"},
    when=has_web_search,
    lenient=True,
    idempotent=True,
    bounded=True,
    reuse="always",
)
async def read_page(params: ReadPage, context: ToolContext) -> AsyncIterator[Outcome]:
    """Read one web page, PDF or library text whose address the user or a result gave. Returns passages with ids to
    cite, such as [3.2]; of a long page, those that fit the prompt."""
    web, url, addresses = web_search_of(context), params.url.strip(), context.abilities.addresses
    if addresses is not None and not url.startswith(SCHEME):
        url = await addresses.resolve_allowed(url)
    async for outcome in search_outcomes(web.read_page(url, (params.prompt or "").strip())):
        yield outcome
