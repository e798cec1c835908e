"""The line to one provider: its turns, its breaker, the time that a request may take, and no key in what comes back."""

import asyncio
import logging
import re
from copy import copy

from msgspec import Struct
from msgspec.structs import replace

from footnote.protocol.sources import SearchResults
from footnote.tracing import SLOW_BUCKETS, Operation
from footnote.web_search.cache import SearchCache, SearchStore, cache_key
from footnote.web_search.clock import Clock
from footnote.web_search.providers.base import (
    Cause,
    LibrarySearch,
    Outcome,
    Provider,
    ProviderContext,
    RequestPlan,
    failed_outcome,
    skipped_outcome,
)
from footnote.web_search.providers.rate import MAX_HOLD_SECONDS, RateLimiter
from footnote.web_search.providers.secrets import redact_secrets
from footnote.web_search.settings import ProviderAccess, SearchRequest, WebSearchSettings
from footnote.web_search.single_flight import SingleFlight

BLOCK_COOLDOWN_SECONDS = 45.0
"""After a block that does not say how long it lasts. To ask earlier makes blocks longer."""
ERROR_THRESHOLD = 3
ERROR_COOLDOWN_SECONDS = 60.0
KEY_COOLDOWN_SECONDS = 300.0
"""A refused key does not become right by itself, but an account may be put in order."""


class BreakerPause(Struct, frozen=True):
    """Not now, for these `seconds` more, because of what came last."""

    seconds: float
    cause: Cause
    reason: str


class CircuitBreaker:
    """Of one provider with one key at one address: with another key it is another breaker."""

    __slots__ = ("_cause", "_errors", "_open_until", "_probing", "_reason")

    def __init__(self) -> None:
        self._open_until: float | None = None
        self._cause: Cause = "errors"
        self._reason = ""
        self._errors = 0
        self._probing = False

    def acquire(self, now: float) -> BreakerPause | None:
        """None: go ahead, and tell with `record` or `leave` how it went. After a pause, one goes ahead alone."""
        if self._open_until is None:
            return None
        if now < self._open_until or self._probing:
            return BreakerPause(max(0.0, self._open_until - now), self._cause, self._reason)
        self._probing = True
        return None

    def current_pause(self, now: float) -> BreakerPause | None:
        """For one who went ahead and then had to wait: what the provider has told others since."""
        if self._open_until is None or now >= self._open_until:
            return None
        return BreakerPause(self._open_until - now, self._cause, self._reason)

    def record(self, outcome: Outcome, now: float) -> None:
        self._probing = False
        self._reason = outcome.reason or ""
        if outcome.is_answer:
            self._open_until, self._errors = None, 0
        elif outcome.kind == "blocked":
            asked = BLOCK_COOLDOWN_SECONDS if outcome.retry_after is None else outcome.retry_after
            self._open("block", now, max(1.0, min(asked, MAX_HOLD_SECONDS)))
        elif outcome.key_refused:
            self._open("key", now, KEY_COOLDOWN_SECONDS)
        else:
            self._errors += 1
            if self._errors >= ERROR_THRESHOLD:
                self._open("errors", now, ERROR_COOLDOWN_SECONDS)

    def release(self) -> None:
        """Whoever went ahead came back without an answer of any kind, by being cancelled for instance."""
        self._probing = False

    def _open(self, cause: Cause, now: float, seconds: float) -> None:
        self._cause, self._open_until = cause, now + seconds


log = logging.getLogger(__name__)

MAX_QUEUE_SECONDS = 30.0
"""For a turn. That is our own doing, and takes nothing of the time of the request, which begins with its turn."""
MAX_THROTTLE_SECONDS = 7.5
"""A provider that wants more time than this between two requests blocks us."""

TIMEOUT_REASON = "there was no answer"
"""How the reason of a time-out begins."""


class _GateRequest(Struct, frozen=True):
    """`seconds` are for the request alone."""

    request: SearchRequest
    timeout_seconds: float
    context: ProviderContext
    force: bool


class ProviderGate:
    """To a provider with one key at one address; all searches of the process share it."""

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
        """Never raises, and tries only once: who is too fast for this provider goes on to the next at once.

        `in_any_case`: also while the provider is being left alone.
        """
        pause = None if force else self._breaker.acquire(self._clock.now())
        if pause is not None:
            return _skipped_by_breaker(pause)
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
            # Once is no block: the next request waits for its turn, and that is all.
            self._was_throttled = True
            self._rate_limiter.block(self._clock.now(), outcome.throttle_seconds)
            self._breaker.release()
            return outcome
        self._was_throttled = False
        self._breaker.record(outcome, self._clock.now())
        return replace(outcome, throttle_seconds=None)

    async def _search_once(self, gate_request: _GateRequest) -> Outcome:
        now = self._clock.now()
        turn = self._rate_limiter.next_slot(now)
        if turn - now > MAX_QUEUE_SECONDS:
            return skipped_outcome(f"its limit of requests leaves no room for {_format_seconds(turn - now)}")
        self._rate_limiter.reserve(turn, now)
        if turn > now:
            pause = await self._wait_for_slot(turn, gate_request)
            if pause is not None:
                return _skipped_by_breaker(pause)
        try:
            async with asyncio.timeout(gate_request.timeout_seconds):
                outcome = await self._provider.search(gate_request.request, self._access, gate_request.context)
        except TimeoutError:
            return failed_outcome(
                f"{TIMEOUT_REASON} within {gate_request.timeout_seconds:g} seconds: try again, or raise timeoutSeconds"
            )
        except Exception:  # the code of a provider may be a plugin's, and a broken one is only out of order
            log.exception("The search provider %s failed.", self._provider.id)
            return failed_outcome("its answer could not be understood, which is an error of ours: please report it")
        self._rate_limiter.update_limits(outcome.limits, self._clock.now())
        return outcome

    async def _wait_for_slot(self, slot: float, gate_request: _GateRequest) -> BreakerPause | None:
        """Waits for a turn. Who goes away meanwhile leaves it to others."""
        try:
            await self._clock.sleep(slot - self._clock.now())
        except BaseException:
            self._rate_limiter.release(slot)
            raise
        # Others were before us: one of them may have learned that the provider is to be left alone.
        return None if gate_request.force else self._breaker.current_pause(self._clock.now())


def _skipped_by_breaker(pause: BreakerPause) -> Outcome:
    left = f"for {_format_seconds(pause.seconds)} more" if pause.seconds > 0 else "while another search tries it"
    return skipped_outcome(f"it is left alone {left}; last time, {pause.reason}", pause.cause)


def _format_seconds(seconds: float) -> str:
    return f"{max(1, round(seconds))} s"


def _redact_outcome(outcome: Outcome, access: ProviderAccess) -> Outcome:
    """As it may be shown to anybody."""
    if outcome.reason is None:
        return outcome
    reason = outcome.reason.encode("utf-8", "replace")
    return replace(outcome, reason=redact_secrets(reason, access).decode("utf-8", "replace"))


# Asking one provider, unless its answer is known already or on its way.


SEARCHES = Operation("search", "Searches that were put to a provider.", "provider", span="search", buckets=SLOW_BUCKETS)

_LITERAL_OPERATORS = re.compile(r'\b(?:OR|AND|NOT)\b|[":]')
"""What engines take literally: there, upper and lower case may make a difference."""


class ProviderAnswer(Struct, frozen=True):
    """How it went, and what the provider was not told. `cached`: without asking it."""

    outcome: Outcome
    cached: bool = False
    took_ms: int = 0
    notes: tuple[str, ...] = ()


class ProviderClient:
    """One for the whole process. Equal searches at the same time make one request."""

    __slots__ = ("_cache", "_clock", "_context", "_gates", "_in_flight")

    def __init__(self, context: ProviderContext, store: SearchStore | None, clock: Clock) -> None:
        self._context = context
        self._clock = clock
        self._cache = SearchCache(store, clock)
        self._in_flight: SingleFlight[ProviderAnswer] = SingleFlight()
        self._gates: dict[tuple[str, ProviderAccess], ProviderGate] = {}

    def for_library(self, library: LibrarySearch | None) -> "ProviderClient":
        """For somebody else, who has another library; all the rest is shared."""
        other = copy(self)
        other._context = replace(self._context, library=library)  # noqa: SLF001 - one of us
        return other

    async def search(
        self, provider: Provider, request: SearchRequest, settings: WebSearchSettings, *, force: bool = False
    ) -> ProviderAnswer:
        """Never raises. `in_any_case`: also a provider that is being left alone."""
        began = self._clock.now()
        access = settings.providers.get(provider.id) or ProviderAccess()
        if missing := provider.missing_setting(access):
            return ProviderAnswer(skipped_outcome(missing))
        line = self._gates.setdefault((provider.id, access), ProviderGate(provider, access, self._clock))
        plan = _plan(provider, request, access)
        key = plan.signature and cache_key(provider.id, plan.signature, str(request.count))
        kept_for = settings.cache_ttl_minutes * 60 if key else 0.0

        async def fetch() -> ProviderAnswer:
            with SEARCHES(provider.id) as span:
                if key and kept_for and (kept := await self._cache.get(key)):
                    span.outcome = "cached"
                    kind = "results" if kept.results else "empty"
                    return ProviderAnswer(Outcome(kind=kind, hits=kept.results), cached=True)
                outcome = await line.search(request, settings.timeout_seconds, self._context, force=force)
                span.outcome = outcome.kind
                if key and kept_for and outcome.is_answer:
                    await self._cache.put(key, search_results(provider.id, request, outcome), kept_for)
                return ProviderAnswer(outcome)

        # The cache is read in flight: otherwise one who looked into it just before it was filled would ask again.
        flight = f"{key} {bool(kept_for)} {force}"
        answered = await (self._in_flight.join(flight, fetch) if key else fetch())
        return replace(answered, took_ms=round((self._clock.now() - began) * 1000), notes=plan.notes)


def search_results(provider: str, request: SearchRequest, outcome: Outcome) -> SearchResults:
    return SearchResults(
        query=request.query, provider=provider, results=outcome.hits, count=len(outcome.hits), took_ms=0
    )


def _plan(provider: Provider, request: SearchRequest, access: ProviderAccess) -> RequestPlan:
    """What equal searches have in common. The case of a query counts only where an engine may take it literally."""
    query = request.query if _LITERAL_OPERATORS.search(request.query) else request.query.casefold()
    try:
        return provider.plan(replace(request, query=query), access)
    except Exception:  # the code of a provider may be a plugin's; the same error comes again when it is asked
        log.exception("The search provider %s failed.", provider.id)
        return RequestPlan(None, ())
