"""The library: pages read before, uploads and the shipped documentation. It needs no network, and answers when
nobody else does."""

from footnote.web_search.providers.base import Outcome, Provider, ProviderContext, RequestPlan, failed_outcome
from footnote.web_search.settings import ProviderAccess, SearchRequest


class LibraryProvider(Provider, frozen=True, kw_only=True):
    def plan(self, request: SearchRequest, access: ProviderAccess) -> RequestPlan:  # noqa: ARG002 - it is on this machine
        """Not kept: it is as fast as a cache, and knows what was read a moment ago."""
        unknown = {"country": request.country, "freshness": request.freshness}
        notes = (f"{name} was left out: the library knows none" for name, value in unknown.items() if value)
        return RequestPlan(None, tuple(notes))

    async def search(self, request: SearchRequest, access: ProviderAccess, context: ProviderContext) -> Outcome:  # noqa: ARG002 - the same
        if context.library is None:
            return failed_outcome("there is no library: check database.url")
        hits = (await context.library.search(request.query, request.count))[: request.count]
        if not hits:
            return Outcome(kind="empty", reason="nothing that was read before matches")
        return Outcome(kind="results", hits=hits)


provider = LibraryProvider(id="library", order=100, is_last_resort=True)
