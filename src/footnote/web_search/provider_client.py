"""Requests to providers, each with rate limit, circuit breaker, timeout, cache and single flight."""

import asyncio
import logging
import math
import re
from copy import copy

from msgspec import Struct
from msgspec.structs import replace

from footnote.net.client import Net
from footnote.net.connector import user_agent
from footnote.protocol.sources import SearchResults
from footnote.tracing import SLOW_BUCKETS, Operation
from footnote.web_search.cache import Clock, SearchCache, SearchStore, SingleFlight, cache_key
from footnote.web_search.providers import outcomes
from footnote.web_search.providers.base import (
    MAX_BODY_BYTES,
    HttpRequest,
    HttpResponse,
    LibrarySearch,
    Provider,
    ProviderContext,
    RequestPlan,
    redact_secrets,
)
from footnote.web_search.providers.outcomes import Outcome, PauseCause, ProviderLimits, Rate
from footnote.web_search.settings import ProviderAccess, SearchRequest, WebSearchSettings

log = logging.getLogger(__name__)

# Rate limit and circuit breaker ---------------------------------------------------------------------------------------

MAX_HOLD_SECONDS = 3600.0
"""The longest pause, even if a provider asks for more."""
_EPSILON = 1e-6


class RateLimiter:
    """Assigns slots to requests: points in time that keep the distance which the rate of the provider requires."""

    __slots__ = ("_blocked_until", "_rate", "_slots")

    def __init__(self, rate: Rate | None) -> None:
        self._rate = rate
        self._blocked_until = -math.inf
        self._slots: list[float] = []

    def next_slot(self, now: float) -> float:
        """The first slot that is free."""
        first = max(now, self._blocked_until)
        if self._rate is None:
            return first
        later = sorted(slot + self._rate.seconds for slot in self._slots if slot + self._rate.seconds > first)
        return next(slot for slot in (first, *later) if self._is_free(slot, self._rate))

    def reserve(self, slot: float, now: float) -> None:
        if self._rate is not None:
            expired = now - self._rate.seconds
            self._slots = [*(other for other in self._slots if other > expired), slot]

    def release(self, slot: float) -> None:
        """Frees a slot whose request was cancelled before it began."""
        if slot in self._slots:
            self._slots.remove(slot)

    def _is_free(self, slot: float, rate: Rate) -> bool:
        near = rate.seconds - _EPSILON
        return sum(abs(other - slot) < near for other in self._slots) < rate.requests

    def block(self, now: float, seconds: float) -> None:
        """Assigns no slots within these seconds; reserved ones stay."""
        self._blocked_until = max(self._blocked_until, now + min(seconds, MAX_HOLD_SECONDS))

    def update_limits(self, limits: ProviderLimits, now: float) -> None:
        self._rate = limits.rate or self._rate
        if limits.wait_seconds > 0:
            self.block(now, limits.wait_seconds)


BLOCK_COOLDOWN_SECONDS = 45.0
"""For a block without a stated length. An earlier request would make the provider block for longer."""
ERROR_THRESHOLD = 3
ERROR_COOLDOWN_SECONDS = 60.0
KEY_COOLDOWN_SECONDS = 300.0
"""A refused key may become valid without a restart, for instance when the account is paid."""


class BreakerPause(Struct, frozen=True):
    """The provider is paused for `seconds` more; `reason` is that of its last outcome."""

    seconds: float
    cause: PauseCause
    reason: str


class CircuitBreaker:
    """The circuit breaker of one provider with one key at one address. Another key has a breaker of its own."""

    __slots__ = ("_cause", "_errors", "_open_until", "_probing", "_reason")

    def __init__(self) -> None:
        self._open_until: float | None = None
        self._cause: PauseCause = "errors"
        self._reason = ""
        self._errors = 0
        self._probing = False

    def acquire(self, now: float) -> BreakerPause | None:
        """None: the request may be made, and must be followed by `record` or `release`. After a pause a single request
        probes the provider."""
        if self._open_until is None:
            return None
        if now < self._open_until or self._probing:
            return BreakerPause(max(0.0, self._open_until - now), self._cause, self._reason)
        self._probing = True
        return None

    def current_pause(self, now: float) -> BreakerPause | None:
        """The pause, if the breaker opened while the request waited for its slot."""
        if self._open_until is None or now >= self._open_until:
            return None
        return BreakerPause(self._open_until - now, self._cause, self._reason)

    def record(self, outcome: Outcome, now: float) -> None:
        self._probing = False
        self._reason = outcome.reason or ""
        if outcome.is_answer:
            self._open_until, self._errors = None, 0
        elif outcome.kind == "blocked":
            wait = BLOCK_COOLDOWN_SECONDS if outcome.retry_after is None else outcome.retry_after
            self._open("block", now, max(1.0, min(wait, MAX_HOLD_SECONDS)))
        elif outcome.code == "bad_key":
            self._open("key", now, KEY_COOLDOWN_SECONDS)
        else:
            self._errors += 1
            if self._errors >= ERROR_THRESHOLD:
                self._open("errors", now, ERROR_COOLDOWN_SECONDS)

    def release(self) -> None:
        """Ends a request without an outcome, for instance a cancelled one."""
        self._probing = False

    def _open(self, cause: PauseCause, now: float, seconds: float) -> None:
        self._cause, self._open_until = cause, now + seconds


# Requests ------------------------------------------------------------------------------------------------------------

MAX_QUEUE_SECONDS = 30.0
"""The longest wait for a slot of the rate limit. The timeout of a request begins after it."""
MAX_THROTTLE_SECONDS = 7.5
"""A provider that demands a longer pause between two requests counts as blocking."""


class HttpSender:
    """Sends the HTTP requests of the providers, without retries and redirects."""

    __slots__ = ("_clock", "_net")

    def __init__(self, net: Net, clock: Clock) -> None:
        self._net = net
        self._clock = clock

    async def __call__(self, url: str, request: HttpRequest) -> HttpResponse:
        # The name is our own, in a form that a server which only admits browsers may accept.
        agent = f"Mozilla/5.0 (compatible; {user_agent()})"
        headers = {"user-agent": agent, "accept": "application/json", **request.headers}
        if request.method == "GET":
            response = await self._net.get(url, headers=headers)
        else:
            response = await self._net.post(url, headers=headers, body=request.body)
        try:
            body = await response.read_all(MAX_BODY_BYTES + 1)
        finally:
            response.close()
        lowered = {name.lower(): value for name, value in response.headers.items()}
        return HttpResponse(status=response.status, headers=lowered, body=body, received_at=self._clock.wall())


class _GateRequest(Struct, frozen=True):
    """`timeout_seconds` is for the request alone, without the wait for its slot."""

    request: SearchRequest
    timeout_seconds: float
    context: ProviderContext
    force: bool


class ProviderGate:
    """Rate limit, circuit breaker and timeout of a provider with one key at one address, shared by all searches of the
    process."""

    __slots__ = ("_access", "_breaker", "_clock", "_provider", "_rate_limiter", "_was_throttled")

    def __init__(self, provider: Provider, access: ProviderAccess, clock: Clock) -> None:
        self._provider = provider
        self._access = access
        self._clock = clock
        self._rate_limiter = RateLimiter(provider.rate)
        self._breaker = CircuitBreaker()
        self._was_throttled = False

    async def search(
        self, request: SearchRequest, timeout_seconds: float, context: ProviderContext, *, force: bool = False
    ) -> Outcome:
        """Never raises, and never retries: a search that exceeds the rate limit continues with the next provider.

        `force`: make the request even while the circuit breaker is open.
        """
        pause = None if force else self._breaker.acquire(self._clock.now())
        if pause is not None:
            return outcomes.paused(pause.seconds, pause.cause, pause.reason)
        try:
            outcome = await self._search_once(_GateRequest(request, timeout_seconds, context, force))
        except BaseException:
            self._breaker.release()
            raise
        if outcome.kind == "skipped":
            self._breaker.release()
            return outcome
        outcome = _redact_outcome(outcome, self._access)
        if (
            outcome.throttle_seconds is not None
            and outcome.throttle_seconds <= MAX_THROTTLE_SECONDS
            and not self._was_throttled
        ):
            # The first throttling does not open the breaker: the next request only waits for its slot.
            self._was_throttled = True
            self._rate_limiter.block(self._clock.now(), outcome.throttle_seconds)
            self._breaker.release()
            return outcome
        self._was_throttled = False
        self._breaker.record(outcome, self._clock.now())
        return replace(outcome, throttle_seconds=None)

    async def _search_once(self, gate_request: _GateRequest) -> Outcome:
        now = self._clock.now()
        slot = self._rate_limiter.next_slot(now)
        if slot - now > MAX_QUEUE_SECONDS:
            return outcomes.queue_full(slot - now)
        self._rate_limiter.reserve(slot, now)
        if slot > now:
            pause = await self._wait_for_slot(slot, gate_request)
            if pause is not None:
                return outcomes.paused(pause.seconds, pause.cause, pause.reason)
        try:
            async with asyncio.timeout(gate_request.timeout_seconds):
                outcome = await self._provider.search(gate_request.request, self._access, gate_request.context)
        except TimeoutError:
            return outcomes.timed_out(gate_request.timeout_seconds)
        except Exception:  # a provider may be a plugin, whose bugs must not end the search
            log.exception("The search provider %s failed.", self._provider.id)
            return outcomes.internal_error()
        self._rate_limiter.update_limits(outcome.limits, self._clock.now())
        return outcome

    async def _wait_for_slot(self, slot: float, gate_request: _GateRequest) -> BreakerPause | None:
        """Waits for the slot, and releases it if the wait is cancelled."""
        try:
            await self._clock.sleep(slot - self._clock.now())
        except BaseException:
            self._rate_limiter.release(slot)
            raise
        # Another request may have opened the circuit breaker meanwhile.
        return None if gate_request.force else self._breaker.current_pause(self._clock.now())


def _redact_outcome(outcome: Outcome, access: ProviderAccess) -> Outcome:
    """Removes keys and passwords from the reason, which is shown to users."""
    if outcome.reason is None:
        return outcome
    reason = outcome.reason.encode("utf-8", "replace")
    return replace(outcome, reason=redact_secrets(reason, access).decode("utf-8", "replace"))


# Searches ------------------------------------------------------------------------------------------------------------

SEARCHES = Operation("search", "Searches that were put to a provider.", "provider", span="search", buckets=SLOW_BUCKETS)

_LITERAL_OPERATORS = re.compile(r'\b(?:OR|AND|NOT)\b|[":]')
"""Search operators. In a query with operators the case of letters may matter."""


class ProviderAnswer(Struct, frozen=True):
    """The outcome, with notes on options that the provider does not support. `cached`: no request was made."""

    outcome: Outcome
    cached: bool = False
    took_ms: int = 0
    notes: tuple[str, ...] = ()


class ProviderClient:
    """The client of all providers, one for the whole process. Equal searches at the same time share one request."""

    __slots__ = ("_cache", "_clock", "_context", "_gates", "_in_flight")

    def __init__(self, context: ProviderContext, store: SearchStore | None, clock: Clock) -> None:
        self._context = context
        self._clock = clock
        self._cache = SearchCache(store, clock)
        self._in_flight: SingleFlight[ProviderAnswer] = SingleFlight()
        self._gates: dict[tuple[str, ProviderAccess], ProviderGate] = {}

    def for_library(self, library: LibrarySearch | None) -> "ProviderClient":
        """A copy with another user's library, which shares everything else."""
        other = copy(self)
        other._context = replace(self._context, library=library)  # noqa: SLF001 - the same class
        return other

    async def search(
        self, provider: Provider, request: SearchRequest, settings: WebSearchSettings, *, force: bool = False
    ) -> ProviderAnswer:
        """Never raises. `force`: make the request even while the circuit breaker is open."""
        started_at = self._clock.now()
        access = settings.providers.get(provider.id) or ProviderAccess()
        if missing := provider.missing_setting(access):
            return ProviderAnswer(outcomes.setting_missing(missing))
        gate = self._gates.setdefault((provider.id, access), ProviderGate(provider, access, self._clock))
        plan = _plan(provider, request, access)
        key = plan.signature and cache_key(provider.id, plan.signature, str(request.count))
        cache_seconds = settings.cache_ttl_minutes * 60 if key else 0.0

        async def fetch() -> ProviderAnswer:
            with SEARCHES(provider.id) as span:
                if key and cache_seconds and (cached := await self._cache.get(key)):
                    span.outcome = "cached"
                    kind = "results" if cached.results else "empty"
                    return ProviderAnswer(Outcome(kind=kind, hits=cached.results), cached=True)
                outcome = await gate.search(request, settings.timeout_seconds, self._context, force=force)
                span.outcome = outcome.kind
                if key and cache_seconds and outcome.is_answer:
                    await self._cache.put(key, search_results(provider.id, request, outcome), cache_seconds)
                return ProviderAnswer(outcome)

        # The cache is read inside the flight: a search that reads it just before it is filled would send a second
        # request.
        flight_key = f"{key} {bool(cache_seconds)} {force}"
        answer = await (self._in_flight.join(flight_key, fetch) if key else fetch())
        return replace(answer, took_ms=round((self._clock.now() - started_at) * 1000), notes=plan.notes)


def search_results(provider: str, request: SearchRequest, outcome: Outcome) -> SearchResults:
    return SearchResults(
        query=request.query, provider=provider, results=outcome.hits, count=len(outcome.hits), took_ms=0
    )


def _plan(provider: Provider, request: SearchRequest, access: ProviderAccess) -> RequestPlan:
    """The plan of a search. The case of the query is part of its signature only beside search operators."""
    query = request.query if _LITERAL_OPERATORS.search(request.query) else request.query.casefold()
    try:
        return provider.plan(replace(request, query=query), access)
    except Exception:  # the code of a provider may be a plugin's; its `search` will fail in the same way
        log.exception("The search provider %s failed.", provider.id)
        return RequestPlan(None, ())
