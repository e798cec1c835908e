"""Searches with the configured provider first and the others as fallbacks, and a record of each attempt."""

from collections.abc import Iterator, Sequence
from copy import copy

from msgspec import UNSET, Struct
from msgspec.structs import replace

from footnote.net.client import Net
from footnote.protocol.errors import UpstreamError
from footnote.protocol.sources import ProviderTry, SearchResults
from footnote.text.boundary import strip_quotes
from footnote.web_search.cache import Clock, SearchStore
from footnote.web_search.provider_client import HttpSender, ProviderAnswer, ProviderClient, search_results
from footnote.web_search.providers import search_providers
from footnote.web_search.providers.base import LibrarySearch, Provider, ProviderContext
from footnote.web_search.settings import ProviderAccess, SearchRequest, WebSearchSettings

PROBE_REQUEST = SearchRequest(query="footnote", prompt="footnote", count=1)


class SearchFailed(UpstreamError):
    """No provider answered. The message has the reason of each, and `tries` the same as values; `model_message` is the
    message without the parts that quote their responses."""

    type = "search_failed"

    def __init__(self, tries: tuple[ProviderTry, ...]) -> None:
        causes = " ".join(f"{attempt.provider}: {attempt.reason or attempt.outcome}." for attempt in tries)
        super().__init__(f"No search provider had an answer. {causes}")
        self.tries = tries
        self.model_message = strip_quotes(self.message)


class FoundResults(Struct, frozen=True):
    """The results of the last of `tries`: those before it failed, found nothing, or were skipped. If no provider found
    anything, the empty answer of the first that answered."""

    results: SearchResults
    tries: tuple[ProviderTry, ...]


class ProviderSearch:
    """One for the whole process: its searches share rate limits, circuit breakers, cache and requests in flight."""

    __slots__ = ("_client", "_providers")

    def __init__(
        self,
        net: Net,
        library: LibrarySearch | None = None,
        store: SearchStore | None = None,
        *,
        providers: Sequence[Provider] | None = None,
        clock: Clock | None = None,
    ) -> None:
        clock = clock or Clock()
        self._client = ProviderClient(ProviderContext(HttpSender(net, clock), library), store, clock)
        self._providers = {provider.id: provider for provider in providers or search_providers()}

    def for_library(self, library: LibrarySearch) -> "ProviderSearch":
        """A copy with another user's library, which shares everything else."""
        other = copy(self)
        other._client = self._client.for_library(library)  # noqa: SLF001 - the same class
        return other

    async def search(self, request: SearchRequest, settings: WebSearchSettings) -> FoundResults:
        """Raises `SearchFailed` if no provider answers."""
        tries: list[ProviderTry] = []
        empty: ProviderTry | None = None
        retryable: list[tuple[Provider, bool]] = []
        if settings.provider not in self._providers:
            tries.append(self._unknown_provider(settings.provider))
        for provider in self._ordered_providers(settings):
            answer = await self._client.search(provider, request, settings)
            tries.append(_provider_try(provider, answer))
            if answer.outcome.hits or _is_final(provider, answer, settings):
                return _found_results(request, answer, tries)
            if answer.outcome.is_answer and not provider.is_last_resort:
                empty = empty or tries[-1]
            if answer.outcome.cause == "errors" or answer.outcome.throttle_seconds is not None:
                retryable.append((provider, answer.outcome.cause == "errors"))
        if empty is not None:
            return FoundResults(_no_results(request, empty), tuple(tries))
        # Before the search fails, a provider that throttled a request is tried again in its next slot, and one that is
        # paused because of errors is tried despite the pause: the network may be back. A provider that blocks is not,
        # because that would prolong the block.
        if retryable:
            provider, force = retryable[0]
            answer = await self._client.search(provider, request, settings, force=force)
            tries.append(_provider_try(provider, answer))
            if answer.outcome.is_answer:
                return _found_results(request, answer, tries)
        raise SearchFailed(tuple(tries))

    async def probe(self, provider_id: str, settings: WebSearchSettings) -> ProviderTry:
        """One real request to one provider, without the cache and despite an open circuit breaker."""
        if provider_id not in self._providers:
            return self._unknown_provider(provider_id)
        provider = self._providers[provider_id]
        uncached = replace(settings, cache_ttl_minutes=0)
        return _provider_try(provider, await self._client.search(provider, PROBE_REQUEST, uncached, force=True))

    def _ordered_providers(self, settings: WebSearchSettings) -> Iterator[Provider]:
        """The configured provider even if it lacks a setting, so that the receipt says so; the others only if they lack
        none."""
        preferred = self._providers.get(settings.provider)
        if preferred is not None:
            yield preferred
        for provider in sorted(self._providers.values(), key=lambda provider: provider.order):
            access = settings.providers.get(provider.id) or ProviderAccess()
            if provider is not preferred and provider.missing_setting(access) is None:
                yield provider

    def _unknown_provider(self, provider_id: str) -> ProviderTry:
        reason = f"there is no such provider: choose one of {', '.join(sorted(self._providers))}"
        return ProviderTry(provider=provider_id, outcome="skipped", code="unknown_provider", reason=reason)


def _is_final(provider: Provider, answer: ProviderAnswer, settings: WebSearchSettings) -> bool:
    """Whether an empty answer ends the search: with the library as the chosen provider, no query may reach the web."""
    return answer.outcome.is_answer and provider.is_last_resort and provider.id == settings.provider


def _provider_try(provider: Provider, answer: ProviderAnswer) -> ProviderTry:
    outcome = answer.outcome
    return ProviderTry(
        provider=provider.id,
        outcome=outcome.kind,
        took_ms=answer.took_ms,
        code=outcome.code or UNSET,
        reason=outcome.reason,
        cached=answer.cached,
        count=len(outcome.hits),
        notes=answer.notes,
    )


def _no_results(request: SearchRequest, attempt: ProviderTry) -> SearchResults:
    return SearchResults(
        query=request.query,
        provider=attempt.provider,
        results=(),
        count=0,
        took_ms=attempt.took_ms,
        cached=attempt.cached,
    )


def _found_results(request: SearchRequest, answer: ProviderAnswer, tries: list[ProviderTry]) -> FoundResults:
    last = tries[-1]
    results = search_results(last.provider, request, answer.outcome)
    return FoundResults(replace(results, took_ms=last.took_ms, cached=last.cached), tuple(tries))
