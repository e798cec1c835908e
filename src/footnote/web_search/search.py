"""Finding: the wanted provider first, others in its place where it fails, and a record of what each of them did."""

from collections.abc import Iterator, Sequence
from copy import copy

from msgspec import Struct
from msgspec.structs import replace

from footnote.net.client import Net
from footnote.protocol.errors import UpstreamError
from footnote.protocol.receipts import ProviderTry
from footnote.protocol.sources import SearchResults
from footnote.web_search.boundary import strip_quotes
from footnote.web_search.cache import SearchStore
from footnote.web_search.clock import Clock
from footnote.web_search.provider_client import ProviderAnswer, ProviderClient, search_results
from footnote.web_search.providers import builtin_providers
from footnote.web_search.providers.base import LibrarySearch, Provider, ProviderContext
from footnote.web_search.settings import ProviderAccess, SearchRequest, WebSearchSettings

PROBE_REQUEST = SearchRequest(query="footnote", prompt="footnote", count=1)


class SearchFailed(UpstreamError):
    """Nobody answered. The message has the cause of each, `tries` the same as values; `for_a_model` is the message
    without what it quotes of their answers."""

    type = "search_failed"

    def __init__(self, tries: tuple[ProviderTry, ...]) -> None:
        causes = " ".join(f"{tried.provider}: {tried.reason or tried.outcome}." for tried in tries)
        super().__init__(f"No search provider had an answer. {causes}")
        self.tries = tries
        self.model_message = strip_quotes(self.message)


class FoundResults(Struct, frozen=True):
    """The results of the last of `tries`: those before it failed, found nothing, or were passed over. Where nobody
    found anything, the empty answer of the first that gave one."""

    results: SearchResults
    tries: tuple[ProviderTry, ...]


class ProviderSearch:
    """One for the whole process: its searches share turns, breakers, cache and the requests that are under way."""

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
        self._client = ProviderClient(ProviderContext(net, library, clock.wall), store, clock)
        self._providers = {provider.id: provider for provider in providers or builtin_providers()}

    def for_library(self, library: LibrarySearch) -> "ProviderSearch":
        """For somebody else, who has another library; all the rest is shared."""
        other = copy(self)
        other._client = self._client.for_library(library)  # noqa: SLF001 - one of us
        return other

    async def search(self, request: SearchRequest, settings: WebSearchSettings) -> FoundResults:
        """Raises `SearchFailed` if nobody answers."""
        tries: list[ProviderTry] = []
        empty: ProviderTry | None = None
        held_back: list[tuple[Provider, bool]] = []
        if settings.provider not in self._providers:
            tries.append(self._unknown_provider(settings.provider))
        for provider in self._ordered_providers(settings):
            answered = await self._client.search(provider, request, settings)
            tries.append(_provider_try(provider, answered))
            if answered.outcome.hits or _is_final(provider, answered, settings):
                return _found_results(request, answered, tries)
            if answered.outcome.is_answer and not provider.is_last_resort:
                empty = empty or tries[-1]
            if answered.outcome.cause == "errors" or answered.outcome.throttle_seconds is not None:
                held_back.append((provider, answered.outcome.cause == "errors"))
        if empty is not None:
            return FoundResults(_no_results(request, empty), tuple(tries))
        # Before giving up, one that wants a moment between two requests gets it, and one that is left alone because of
        # errors is asked all the same: the network may be back, and not to try would be a failure of our own making.
        # After a block it would not help, and make that longer.
        if held_back:
            provider, in_any_case = held_back[0]
            answered = await self._client.search(provider, request, settings, force=in_any_case)
            tries.append(_provider_try(provider, answered))
            if answered.outcome.is_answer:
                return _found_results(request, answered, tries)
        raise SearchFailed(tuple(tries))

    async def probe(self, provider_id: str, settings: WebSearchSettings) -> ProviderTry:
        """One real request to one provider, whatever is cached and however the last ones went."""
        if provider_id not in self._providers:
            return self._unknown_provider(provider_id)
        provider = self._providers[provider_id]
        uncached = replace(settings, cache_ttl_minutes=0)
        return _provider_try(provider, await self._client.search(provider, PROBE_REQUEST, uncached, force=True))

    def _ordered_providers(self, settings: WebSearchSettings) -> Iterator[Provider]:
        """The wanted one in any case, to say why it cannot be asked; the others if they can."""
        wanted = self._providers.get(settings.provider)
        if wanted is not None:
            yield wanted
        for provider in sorted(self._providers.values(), key=lambda provider: provider.order):
            access = settings.providers.get(provider.id) or ProviderAccess()
            if provider is not wanted and provider.is_available(access):
                yield provider

    def _unknown_provider(self, provider_id: str) -> ProviderTry:
        reason = f"there is no such provider: choose one of {', '.join(sorted(self._providers))}"
        return ProviderTry(provider=provider_id, outcome="skipped", reason=reason)


def _is_final(provider: Provider, answered: ProviderAnswer, settings: WebSearchSettings) -> bool:
    """Whoever wants the library alone does not want the web to hear of the search, though nothing was found."""
    return answered.outcome.is_answer and provider.is_last_resort and provider.id == settings.provider


def _provider_try(provider: Provider, answered: ProviderAnswer) -> ProviderTry:
    outcome = answered.outcome
    return ProviderTry(
        provider=provider.id,
        outcome=outcome.kind,
        took_ms=answered.took_ms,
        reason=outcome.reason,
        cached=answered.cached,
        count=len(outcome.hits),
        notes=answered.notes,
    )


def _no_results(request: SearchRequest, tried: ProviderTry) -> SearchResults:
    return SearchResults(
        query=request.query,
        provider=tried.provider,
        results=(),
        count=0,
        took_ms=tried.took_ms,
        cached=tried.cached,
    )


def _found_results(request: SearchRequest, answered: ProviderAnswer, tries: list[ProviderTry]) -> FoundResults:
    last = tries[-1]
    results = search_results(last.provider, request, answered.outcome)
    return FoundResults(replace(results, took_ms=last.took_ms, cached=last.cached), tuple(tries))
