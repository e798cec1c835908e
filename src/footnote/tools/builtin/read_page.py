from collections.abc import AsyncIterator
from typing import Annotated

from msgspec import Meta, Struct

from footnote.library.documentation import SCHEME
from footnote.tools.base import Outcome, ToolContext
from footnote.tools.define import tool
from footnote.tools.web import is_on, outcomes, web_of


class ReadPage(Struct, frozen=True, forbid_unknown_fields=True):
    url: Annotated[
        str, Meta(min_length=1, description="The address of the page, with http://, https:// or footnote://.")
    ]
    prompt: Annotated[
        str,
        Meta(description="What you want to know from it: of a long page, the passages that fit this are returned."),
    ] = ""


@tool(
    titles={"en": "Read a page", "vi": "Đọc trang web", "zh": "阅读网页"},
    when=is_on,
    idempotent=True,
    bounded=True,
    reuse="always",
)
async def read_page(params: ReadPage, context: ToolContext) -> AsyncIterator[Outcome]:
    """Read one web page or PDF at a given address, for example one that the user pasted; or a text of the library.

    The text is returned as markdown, with a source number to cite."""
    web, url, addresses = web_of(context), params.url.strip(), context.abilities.addresses
    if addresses is not None and not url.startswith(SCHEME):
        url = await addresses.resolve_allowed(url)
    async for outcome in outcomes(web.read_page(url, params.prompt.strip())):
        yield outcome
