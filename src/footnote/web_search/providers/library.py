"""The library as a provider: pages read before, uploads and the documentation. It needs no network, so it answers when
all other providers fail."""

from footnote.web_search.providers.base import Provider, ProviderContext, RequestPlan
from footnote.web_search.providers.outcomes import Outcome, failed_outcome
from footnote.web_search.settings import ProviderAccess, SearchRequest


class LibraryProvider(Provider, frozen=True, kw_only=True):
    def plan(self, request: SearchRequest, access: ProviderAccess) -> RequestPlan:  # noqa: ARG002 - it is on this machine
        """Without a signature: the library is as fast as a cache, and a cached answer would miss new pages."""
        unsupported = {"country": request.country, "freshness": request.freshness}
        notes = (f"{name} was left out: the library knows none" for name, value in unsupported.items() if value)
        return RequestPlan(None, tuple(notes))

    async def search(self, request: SearchRequest, access: ProviderAccess, context: ProviderContext) -> Outcome:  # noqa: ARG002 - the same
        if context.library is None:
            return failed_outcome("misconfigured", "there is no library: check database.url")
        hits = (await context.library.search(request.query, request.count))[: request.count]
        if not hits:
            return Outcome(kind="empty", reason="nothing that was read before matches")
        return Outcome(kind="results", hits=hits)


provider = LibraryProvider(id="library", order=100, is_last_resort=True)
