"""The line to one provider: its turns, its breaker, the time that a request may take, and no key in what comes back."""

import asyncio
import logging

from msgspec.structs import replace

from footnote.web_search.clock import Clock
from footnote.web_search.finding.breaker import Breaker, Pause
from footnote.web_search.providers.base import Outcome, Provider, Reach, failed, skipped
from footnote.web_search.providers.pace import Pace
from footnote.web_search.providers.secrets import without_secrets
from footnote.web_search.settings import ProviderAccess, SearchRequest

log = logging.getLogger(__name__)

SHARE_FOR_WAITING = 0.5
"""Of the time of a request, this much may go by before it is sent: the rest is for the answer."""


class Line:
    """To a provider with one key at one address; all searches of the process share it."""

    __slots__ = ("_access", "_breaker", "_clock", "_pace", "_provider")

    def __init__(self, provider: Provider, access: ProviderAccess, clock: Clock) -> None:
        self._provider = provider
        self._access = access
        self._clock = clock
        self._pace = Pace(provider.rate)
        self._breaker = Breaker()

    async def ask(self, request: SearchRequest, seconds: float, reach: Reach, *, in_any_case: bool = False) -> Outcome:
        """Never raises. `in_any_case`: also while the provider is being left alone."""
        pause = None if in_any_case else self._breaker.pause(self._clock.now())
        if pause is not None:
            return _left_alone(pause)
        try:
            outcome = await self._within(request, seconds, reach)
        except BaseException:
            self._breaker.leave()
            raise
        if outcome.kind == "skipped":
            self._breaker.leave()
            return outcome
        outcome = _told(outcome, self._access)
        self._breaker.record(outcome, self._clock.now())
        return outcome

    async def _within(self, request: SearchRequest, seconds: float, reach: Reach) -> Outcome:
        try:
            async with asyncio.timeout(seconds):
                return await self._in_turn(request, seconds * SHARE_FOR_WAITING, reach)
        except TimeoutError:
            return failed(f"there was no answer within {seconds:g} seconds: try again, or raise timeoutSeconds")

    async def _in_turn(self, request: SearchRequest, longest: float, reach: Reach) -> Outcome:
        outcome = await self._once(request, longest, reach)
        if outcome.again is None:
            return outcome
        self._pace.hold(self._clock.now(), outcome.again)
        second = await self._once(request, longest, reach)
        return outcome if second.kind == "skipped" else second

    async def _once(self, request: SearchRequest, longest: float, reach: Reach) -> Outcome:
        now = self._clock.now()
        wait = self._pace.wait(now)
        if wait > longest:
            return skipped(f"its limit of requests leaves no room for {_seconds(wait)}")
        self._pace.take(now)
        if wait > 0:
            await self._clock.sleep(wait)
        try:
            outcome = await self._provider.search(request, self._access, reach)
        except Exception:  # the code of a provider may be a plugin's, and a broken one is only out of order
            log.exception("The search provider %s failed.", self._provider.id)
            return failed("its answer could not be understood, which is an error of ours: please report it")
        self._pace.learn(outcome.limits, self._clock.now())
        return outcome


def _left_alone(pause: Pause) -> Outcome:
    left = f"for {_seconds(pause.seconds)} more" if pause.seconds > 0 else "while another search tries it"
    return skipped(f"it is left alone {left}; last time, {pause.reason}", pause.cause)


def _seconds(seconds: float) -> str:
    return f"{max(1, round(seconds))} s"


def _told(outcome: Outcome, access: ProviderAccess) -> Outcome:
    """As it may be shown to anybody."""
    if outcome.reason is None:
        return outcome
    reason = outcome.reason.encode("utf-8", "replace")
    return replace(outcome, reason=without_secrets(reason, access).decode("utf-8", "replace"))
