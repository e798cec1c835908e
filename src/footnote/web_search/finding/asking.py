"""Asking one provider, unless its answer is known already or on its way."""

import logging
import re
from copy import copy

from msgspec import Struct
from msgspec.structs import replace

from footnote.protocol.sources import SearchResults
from footnote.tracing import SLOW, Work
from footnote.web_search.clock import Clock
from footnote.web_search.finding.cache import SearchCache, SearchStore, cache_key
from footnote.web_search.finding.line import Line
from footnote.web_search.flights import Flights
from footnote.web_search.providers.base import Library, Outcome, Plan, Provider, Reach, skipped
from footnote.web_search.settings import ProviderAccess, SearchRequest, WebSearchSettings

log = logging.getLogger(__name__)

SEARCHES = Work("search", "Searches that were put to a provider.", "provider", span="search", classes=SLOW)

_AS_WRITTEN = re.compile(r'\b(?:OR|AND|NOT)\b|[":]')
"""What engines take literally: there, upper and lower case may make a difference."""


class Answered(Struct, frozen=True):
    """How it went, and what the provider was not told. `cached`: without asking it."""

    outcome: Outcome
    cached: bool = False
    took_ms: int = 0
    notes: tuple[str, ...] = ()


class Asking:
    """One for the whole process. Equal searches at the same time make one request."""

    __slots__ = ("_cache", "_clock", "_flights", "_lines", "_reach")

    def __init__(self, reach: Reach, store: SearchStore | None, clock: Clock) -> None:
        self._reach = reach
        self._clock = clock
        self._cache = SearchCache(store, clock)
        self._flights: Flights[Answered] = Flights()
        self._lines: dict[tuple[str, ProviderAccess], Line] = {}

    def of(self, library: Library | None) -> "Asking":
        """For somebody else, who has another library; all the rest is shared."""
        other = copy(self)
        other._reach = replace(self._reach, library=library)  # noqa: SLF001 - one of us
        return other

    async def ask(
        self, provider: Provider, request: SearchRequest, settings: WebSearchSettings, *, in_any_case: bool = False
    ) -> Answered:
        """Never raises. `in_any_case`: also a provider that is being left alone."""
        began = self._clock.now()
        access = settings.providers.get(provider.id) or ProviderAccess()
        if missing := provider.missing(access):
            return Answered(skipped(missing))
        line = self._lines.setdefault((provider.id, access), Line(provider, access, self._clock))
        plan = _plan(provider, request, access)
        key = plan.signature and cache_key(provider.id, plan.signature, str(request.count))
        kept_for = settings.cache_ttl_minutes * 60 if key else 0.0

        async def fetch() -> Answered:
            with SEARCHES(provider.id) as span:
                if key and kept_for and (kept := await self._cache.get(key)):
                    span.outcome = "cached"
                    kind = "results" if kept.results else "empty"
                    return Answered(Outcome(kind=kind, hits=kept.results), cached=True)
                outcome = await line.ask(request, settings.timeout_seconds, self._reach, in_any_case=in_any_case)
                span.outcome = outcome.kind
                if key and kept_for and outcome.is_answer:
                    await self._cache.keep(key, search_results(provider.id, request, outcome), kept_for)
                return Answered(outcome)

        # The cache is read in flight: otherwise one who looked into it just before it was filled would ask again.
        flight = f"{key} {bool(kept_for)} {in_any_case}"
        answered = await (self._flights.join(flight, fetch) if key else fetch())
        return replace(answered, took_ms=round((self._clock.now() - began) * 1000), notes=plan.notes)


def search_results(provider: str, request: SearchRequest, outcome: Outcome) -> SearchResults:
    return SearchResults(
        query=request.query, provider=provider, results=outcome.hits, count=len(outcome.hits), took_ms=0
    )


def _plan(provider: Provider, request: SearchRequest, access: ProviderAccess) -> Plan:
    """What equal searches have in common. The case of a query counts only where an engine may take it literally."""
    query = request.query if _AS_WRITTEN.search(request.query) else request.query.casefold()
    try:
        return provider.plan(replace(request, query=query), access)
    except Exception:  # the code of a provider may be a plugin's; the same error comes again when it is asked
        log.exception("The search provider %s failed.", provider.id)
        return Plan(None, ())
