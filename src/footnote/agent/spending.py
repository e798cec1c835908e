"""What a run spends: the price of a call is reserved before it is begun, and what it has used replaces the reservation.

Calls of several parts of a run may be in flight at once. While things are looked up, each may use a share of the money
that is left; a call that would fit if others cost less than they may waits for them to end.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TypeGuard

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from footnote.agent.window import MAX_ANSWER_TOKENS, message_tokens, text_tokens, tool_tokens
from footnote.cancel import Cancelled, CancelScope
from footnote.models.base import Context, Model, Options
from footnote.models.errors import ABORTED
from footnote.models.profiles import Price, Profile
from footnote.protocol.messages import AssistantMessage, Failure, Usage
from footnote.protocol.plans import Budget, Spent
from footnote.protocol.stream import Done, Failed, Start, StreamEvent

LOOK_UP_SHARE = 0.7
"""The share of the time or money after which nothing more is looked up: the rest is for the answer."""
CALL_SHARE = 0.25
"""While things are looked up, one call may use this share of the money that is left, so that others fit beside it."""
MIN_OUTPUT_TOKENS = 512
"""A call that could not write as much is not begun."""
THINKING_ROOM = 4_096
"""What a call with a thinking budget may write beside its thinking."""
MIN_THINKING_TOKENS = 1_024
UPDATE_SECONDS = 1.0
TICK_SECONDS = 5.0
"""An update follows after so much time, even if nothing but time was spent."""

BUDGET_USED_UP = Failure(
    "limit_reached",
    "The budget of this run leaves no room for a call of the model. Ask again with more time or money.",
    code="budget_used_up",
)


class StoredSpent(Spent, frozen=True):
    """What a run has used, as it is stored: `reserved` are US dollars of calls in flight, which may be billed."""

    reserved: float = 0.0


class Reservation(Struct, frozen=True, eq=False):
    """One call in flight: its options, and the most that it may cost; None: its price is not known."""

    options: Options
    input_tokens: int
    usd: float | None


class Account:
    """What a run and its items have spent together, and what calls in flight may cost."""

    def __init__(
        self,
        limits: Budget,
        spent: Spent,
        started_at: float,
        clock: Callable[[], float],
        store: Callable[[bytes], Awaitable[None]] | None,
        close: Callable[[], None],
    ) -> None:
        self.end_scope = CancelScope()
        self._seconds = None if limits.seconds is UNSET else limits.seconds
        self._usd = None if limits.usd is UNSET else limits.usd
        self._started_at = started_at
        self._clock = clock
        self._store = store
        self._close = close
        self.pages = spent.pages
        self._spent_usd = spent.usd
        self._in_flight: list[Reservation] = []
        self._returned = asyncio.Event()
        self._has_started = False
        self._timers: list[asyncio.TimerHandle] = []
        self._reported: Spent | None = None
        self._final: Spent | None = None

    # What was spent --------------------------------------------------------------------------------------------------

    @property
    def spent(self) -> Spent:
        return self._final or Spent(max(0.0, round(self._clock() - self._started_at, 3)), self._spent_usd, self.pages)

    @property
    def _reserved(self) -> float:
        return sum(one.usd or 0.0 for one in self._in_flight)

    def to_store(self) -> bytes:
        spent = self.spent
        return msgspec.json.encode(StoredSpent(spent.seconds, spent.usd, spent.pages, self._reserved))

    def restore(self, stored: bytes) -> int:
        """Goes on with what `to_store` gave another process; the pages that it had read."""
        spent = msgspec.json.decode(stored, type=StoredSpent)
        self.pages += spent.pages
        self._spend(None if spent.usd is None else spent.usd + spent.reserved)
        return spent.pages

    def take_change(self, *, is_last: bool) -> Spent | None:
        """What was spent, if that is to be told now. After the last time it stays as it is."""
        spent, last = self.spent, self._reported
        if last is not None:
            passed = spent.seconds - last.seconds
            has_changed = (spent.usd, spent.pages) != (last.usd, last.pages)
            is_due = passed >= (UPDATE_SECONDS if has_changed else TICK_SECONDS)
            if not (is_due or (is_last and (has_changed or passed > 0))):
                return None
        self._reported = spent
        self._final = spent if is_last else None
        return spent

    # Time ------------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        if self._seconds is None or self._has_started:
            return
        self._has_started, passed = True, self._clock() - self._started_at
        for share, act in ((LOOK_UP_SHARE, self._close), (1.0, self._end)):
            delay = self._seconds * share - passed
            if delay <= 0:
                act()
            else:
                self.set_timer(delay, act)

    def set_timer(self, seconds: float, act: Callable[[], None]) -> None:
        self._timers.append(asyncio.get_running_loop().call_later(seconds, act))

    def stop(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    def _end(self) -> None:
        self._close()
        self.end_scope.cancel()

    # Money -----------------------------------------------------------------------------------------------------------

    async def reserve(
        self, profile: Profile, context: Context, options: Options, scope: CancelScope, *, keeps_reserve: bool
    ) -> Reservation | None:
        """Reserves the price of a call. None: it does not fit. Where it would if other calls cost less than they may,
        it waits for them to end. `Cancelled`: the scope was cancelled meanwhile."""
        input_tokens = _context_tokens(context)
        while True:
            reservation = self._try_reserve(profile, input_tokens, options, keeps_reserve=keeps_reserve)
            if reservation is not None or not any(one.usd for one in self._in_flight):
                break
            self._returned.clear()
            await scope.wait(self._wait_for_return())
        if reservation is not None:
            self._in_flight.append(reservation)
            try:
                if self._store is not None and self._usd is not None:
                    await self._store(self.to_store())
            except BaseException:
                self._in_flight.remove(reservation)
                raise
        return reservation

    async def _wait_for_return(self) -> None:
        await self._returned.wait()

    def _try_reserve(
        self, profile: Profile, input_tokens: int, options: Options, *, keeps_reserve: bool
    ) -> Reservation | None:
        price, wanted = profile.price, _output_limit(profile, options)
        if price is None:
            return Reservation(options, input_tokens, None) if self._usd is None else None
        estimate = _Estimate(price, input_tokens)
        if self._usd is None:
            return Reservation(options, input_tokens, estimate.cost(wanted))
        free = self._usd - (self._spent_usd or 0.0) - self._reserved
        tokens = min(wanted, estimate.affordable_tokens(free))
        if keeps_reserve:
            tokens = min(tokens, max(MIN_OUTPUT_TOKENS, estimate.affordable_tokens(free * CALL_SHARE)))
        if tokens < min(MIN_OUTPUT_TOKENS, wanted):
            return None
        return Reservation(_limited(options, tokens, wanted), input_tokens, estimate.cost(tokens))

    def settle(self, reservation: Reservation, price: Price | None, message: AssistantMessage | None) -> None:
        """Replaces a reservation by what the call has used, once. `message` None: it was abandoned."""
        if reservation in self._in_flight:
            self._in_flight.remove(reservation)
            self._spend(_cost(reservation, price, message))
            self._returned.set()

    def _spend(self, usd: float | None) -> None:
        self._spent_usd = None if usd is None or self._spent_usd is None else self._spent_usd + usd
        if self._usd is not None and self._spent_usd and self._spent_usd >= LOOK_UP_SHARE * self._usd:
            self._close()


class _Estimate:
    """The price of a call with so much input."""

    def __init__(self, price: Price, input_tokens: int) -> None:
        is_long = price.long_from is not None and input_tokens > price.long_from
        rates = price.long if is_long and price.long else price
        # What the provider writes into its cache costs more than other input.
        self._input_usd = input_tokens * max(rates.input, rates.cache_write or 0.0) / 1_000_000
        self._output_rate = rates.output / 1_000_000

    def cost(self, output_tokens: int) -> float:
        return self._input_usd + output_tokens * self._output_rate

    def affordable_tokens(self, usd: float) -> int:
        left = usd - self._input_usd
        if left < 0:
            return 0
        return int(left / self._output_rate) if self._output_rate else 1_000_000_000


def _context_tokens(context: Context) -> int:
    return text_tokens(context.system) + sum(map(message_tokens, context.messages)) + tool_tokens(context.tools)


def _output_limit(profile: Profile, options: Options) -> int:
    """The most that a call writes, if nothing limits it."""
    limit = options.max_tokens or MAX_ANSWER_TOKENS
    if options.thinking_budget and profile.thinking not in ("none", "adaptive"):
        limit = max(limit, options.thinking_budget + THINKING_ROOM)
    return min(limit, profile.max_output)


def _limited(options: Options, tokens: int, wanted: int) -> Options:
    """The options of a call that may write so much. Its thinking gets less as well, for it is a part of the output."""
    if tokens >= wanted or not options.thinking_budget:
        return replace(options, max_tokens=tokens)
    thinking = min(options.thinking_budget, tokens - THINKING_ROOM)
    return replace(options, max_tokens=tokens, thinking_budget=thinking if thinking >= MIN_THINKING_TOKENS else None)


def _cost(reservation: Reservation, price: Price | None, message: AssistantMessage | None) -> float | None:
    """What a call has cost. One that was broken off counts as its estimate, since it may be billed in full; one that
    the provider refused costs nothing."""
    if price is None or reservation.usd is None:
        return 0.0 if _was_refused(message) else None
    if message is None:
        return reservation.usd
    if message.failure is not None:
        return 0.0 if _was_refused(message) else max(reservation.usd, price.cost(message.usage))
    if message.usage.context or message.usage.output:
        return price.cost(message.usage)
    # A server that does not say what was used.
    return price.cost(Usage(input=reservation.input_tokens, output=message_tokens(message)))


def _was_refused(message: AssistantMessage | None) -> bool:
    """Whether the provider has refused the request, or never received it."""
    if message is None or message.failure is None or message.content:
        return False
    return message.failure.status is not None or message.failure.is_unsent


# The model -----------------------------------------------------------------------------------------------------------


class BudgetedModel:
    """A model whose calls are counted and kept within the budget of a run."""

    def __init__(self, model: Model, account: Account, keeps_reserve: Callable[[], bool]) -> None:
        """`keeps_reserve`: whether a call leaves money for others."""
        self.id = model.id
        self._model = model
        self._account = account
        self._keeps_reserve = keeps_reserve

    @property
    def profile(self) -> Profile:
        return self._model.profile

    async def stream(
        self, context: Context, options: Options, cancel: CancelScope
    ) -> AsyncGenerator[StreamEvent, None]:
        account, price = self._account, self.profile.price
        with CancelScope.linked_to(cancel, account.end_scope) as scope:
            reservation = await self._reserve(context, options, scope)
            if reservation is None:
                yield Start(self.id)
                yield self._unbegun(cancel)
                return
            try:
                async with aclosing(self._model.stream(context, reservation.options, scope)) as events:
                    async for event in events:
                        if isinstance(event, Done | Failed):
                            account.settle(reservation, price, event.message)
                            yield _ended_by_time(event) if self._is_over(event, cancel) else event
                        else:
                            yield event
            finally:
                account.settle(reservation, price, None)

    async def _reserve(self, context: Context, options: Options, scope: CancelScope) -> Reservation | None:
        if scope.is_cancelled:
            return None
        keeps_reserve = self._keeps_reserve()
        try:
            return await self._account.reserve(self.profile, context, options, scope, keeps_reserve=keeps_reserve)
        except Cancelled:
            return None

    def _is_over(self, last: Done | Failed, cancel: CancelScope) -> TypeGuard[Failed]:
        return isinstance(last, Failed) and self._account.end_scope.is_cancelled and not cancel.is_cancelled

    def _unbegun(self, cancel: CancelScope) -> Failed:
        if cancel.is_cancelled:
            return Failed("aborted", AssistantMessage((), "aborted", self.id, failure=ABORTED))
        return Failed("error", AssistantMessage((), "error", self.id, failure=BUDGET_USED_UP))


def _ended_by_time(failed: Failed) -> Done | Failed:
    """The end of a response that was broken off because the time is over: what there is of it counts."""
    message = failed.message
    if message.text.strip():
        return Done("length", replace(message, stop_reason="length", failure=None))
    return Failed("error", replace(message, stop_reason="error", failure=BUDGET_USED_UP))
