"""The line to one provider: its turns, its breaker, the time that a request may take, and no key in what comes back."""

import asyncio
import logging

from msgspec import Struct
from msgspec.structs import replace

from footnote.web_search.clock import Clock
from footnote.web_search.finding.breaker import Breaker, Pause
from footnote.web_search.providers.base import Outcome, Provider, Reach, failed, skipped
from footnote.web_search.providers.pace import Pace
from footnote.web_search.providers.secrets import without_secrets
from footnote.web_search.settings import ProviderAccess, SearchRequest

log = logging.getLogger(__name__)

LONGEST_WAIT = 30.0
"""For a turn. That is our own doing, and takes nothing of the time of the request, which begins with its turn."""
LONGEST_HOLD_BACK = 7.5
"""A provider that wants more time than this between two requests blocks us."""

SILENT = "there was no answer"
"""How the reason of a time-out begins."""


class _Asked(Struct, frozen=True):
    """`seconds` are for the request alone."""

    request: SearchRequest
    seconds: float
    reach: Reach
    in_any_case: bool


class Line:
    """To a provider with one key at one address; all searches of the process share it."""

    __slots__ = ("_access", "_breaker", "_clock", "_pace", "_provider", "_was_too_fast")

    def __init__(self, provider: Provider, access: ProviderAccess, clock: Clock) -> None:
        self._provider = provider
        self._access = access
        self._clock = clock
        self._pace = Pace(provider.rate)
        self._breaker = Breaker()
        self._was_too_fast = False

    async def ask(self, request: SearchRequest, seconds: float, reach: Reach, *, in_any_case: bool = False) -> Outcome:
        """Never raises, and tries only once: who is too fast for this provider goes on to the next at once.

        `in_any_case`: also while the provider is being left alone.
        """
        pause = None if in_any_case else self._breaker.pause(self._clock.now())
        if pause is not None:
            return _left_alone(pause)
        try:
            outcome = await self._once(_Asked(request, seconds, reach, in_any_case))
        except BaseException:
            self._breaker.leave()
            raise
        if outcome.kind == "skipped":
            self._breaker.leave()
            return outcome
        outcome = _told(outcome, self._access)
        if outcome.again is not None and outcome.again <= LONGEST_HOLD_BACK and not self._was_too_fast:
            # Once is no block: the next request waits for its turn, and that is all.
            self._was_too_fast = True
            self._pace.hold(self._clock.now(), outcome.again)
            self._breaker.leave()
            return outcome
        self._was_too_fast = False
        self._breaker.record(outcome, self._clock.now())
        return replace(outcome, again=None)

    async def _once(self, asked: _Asked) -> Outcome:
        now = self._clock.now()
        turn = self._pace.next(now)
        if turn - now > LONGEST_WAIT:
            return skipped(f"its limit of requests leaves no room for {_seconds(turn - now)}")
        self._pace.take(turn, now)
        if turn > now:
            pause = await self._until(turn, asked)
            if pause is not None:
                return _left_alone(pause)
        try:
            async with asyncio.timeout(asked.seconds):
                outcome = await self._provider.search(asked.request, self._access, asked.reach)
        except TimeoutError:
            return failed(f"{SILENT} within {asked.seconds:g} seconds: try again, or raise timeoutSeconds")
        except Exception:  # the code of a provider may be a plugin's, and a broken one is only out of order
            log.exception("The search provider %s failed.", self._provider.id)
            return failed("its answer could not be understood, which is an error of ours: please report it")
        self._pace.learn(outcome.limits, self._clock.now())
        return outcome

    async def _until(self, turn: float, asked: _Asked) -> Pause | None:
        """Waits for a turn. Who goes away meanwhile leaves it to others."""
        try:
            await self._clock.sleep(turn - self._clock.now())
        except BaseException:
            self._pace.give_back(turn)
            raise
        # Others were before us: one of them may have learned that the provider is to be left alone.
        return None if asked.in_any_case else self._breaker.opened(self._clock.now())


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
