"""The budget of a run: what it may use, what it has used, and when looking things up has to end.

Time is that of the wall clock since the start of the run, so that a process that adopts the run keeps its deadline. No
call of a model is begun that would not fit: its price is estimated and reserved first, and what it used replaces the
reservation afterwards. A run without limits pays nothing for all this: its models stay as they are.
"""

import asyncio
import dataclasses
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, TypeGuard

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from footnote.agent.window import MAX_ANSWER_TOKENS, message_tokens, text_tokens, tool_tokens
from footnote.cancel import Cancelled, CancelScope
from footnote.evidence.second_look import SecondLook
from footnote.models.base import Context, Model, Options
from footnote.models.errors import ABORTED
from footnote.models.profiles import Price, Profile
from footnote.protocol.errors import UsageError
from footnote.protocol.events import BudgetUpdate, MessageDelta
from footnote.protocol.messages import AssistantMessage, Failure, Usage
from footnote.protocol.plans import Budget, Spent
from footnote.protocol.stream import Done, Failed, Start, StreamEvent

if TYPE_CHECKING:
    from footnote.agent.turn import Step
    from footnote.tools.base import Abilities

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


_stored_decoder = msgspec.json.Decoder(StoredSpent)


class RunBudget:
    """One per run, for all of its loops, model calls and searches.

    `search_scope` is cancelled when looking things up has to end: at 70 % of the time or money, or with `close`.
    `end_scope` is cancelled when the time is over: what a model is writing then ends there.
    """

    def __init__(
        self,
        limits: Budget = Budget(),  # noqa: B008 - frozen
        spent: Spent = Spent(),  # noqa: B008 - frozen
        *,
        started_at: float | None = None,
        clock: Callable[[], float] = time.time,
        store: Callable[[bytes], Awaitable[None]] | None = None,
        part_of: "RunBudget | None" = None,
    ) -> None:
        """`spent`: by a process that had the run before. `started_at`: the start of the run, by the clock. `store`:
        stores `to_store()` before a call whose price is limited is begun. `part_of`: see `for_item`."""
        self.limits = limits if part_of is None else part_of.limits
        self.search_scope = CancelScope()
        self._max_pages = None if limits.pages is UNSET else limits.pages
        self._pages = spent.pages
        self._whole = part_of
        self._parts: list[RunBudget] = []
        if part_of is None:
            self._account = _Account(
                limits, spent, clock() if started_at is None else started_at, clock, store, self.close
            )
        else:
            self._account = part_of._account  # noqa: SLF001 - the same class
            part_of._parts.append(self)  # noqa: SLF001 - see above
            if part_of.is_closing:
                self.close()

    # What was spent --------------------------------------------------------------------------------------------------

    @property
    def is_limited(self) -> bool:
        return self.limits != Budget() or self._max_pages is not None

    @property
    def spent(self) -> Spent:
        return self._account.spent

    def take_update(self, *, is_last: bool = False) -> BudgetUpdate | None:
        """What was spent, if that has changed since the last update; at most once a second, but for the last. None also
        for a run without limits."""
        spent = self._account.take_change(is_last=is_last) if self.is_limited else None
        return None if spent is None else BudgetUpdate(self.limits, spent)

    def to_store(self) -> bytes:
        return self._account.to_store()

    def restore(self, stored: bytes | None) -> None:
        """Goes on with what another process has stored of the run. Calls that it had begun may have been billed."""
        if stored is not None:
            spent = _stored_decoder.decode(stored)
            self._account.restore(spent)
            self._pages += spent.pages

    # The end of looking things up, and of all ------------------------------------------------------------------------

    @property
    def end_scope(self) -> CancelScope:
        return self._account.end_scope

    @property
    def is_closing(self) -> bool:
        """Whether nothing more may be looked up: the run answers now with what it has."""
        return self.search_scope.is_cancelled

    def close(self) -> None:
        """Ends looking things up now; for an item, its own only."""
        self.search_scope.cancel()
        for part in self._parts:
            part.close()

    def start(self) -> None:
        """Sets the timers of the time limit, unless they are set. Needs a running event loop."""
        self._account.start()

    def stop(self) -> None:
        """Drops the timers, when the run has ended."""
        self._account.stop()

    # Models and pages ------------------------------------------------------------------------------------------------

    def model(self, model: Model) -> Model:
        """The model, whose calls are counted and kept within the budget; without limits, the model itself. A model must
        not be passed twice."""
        if not self.is_limited:
            return model
        self.start()
        return _BudgetedModel(model, self._account, self)

    def limit(self, abilities: "Abilities") -> "Abilities":
        """The abilities of a loop with their models and pages within the budget."""
        if not self.is_limited:
            return abilities
        web, look = abilities.web, abilities.second_look
        return dataclasses.replace(
            abilities,
            web=None if web is None else web.within(self.model, self.allow_pages),
            second_look=None if look is None else SecondLook(self.model(look.model)),
        )

    def allow_pages(self, count: int) -> int:
        """How many of so many pages may be read now. They are counted as read, in a part also for the whole."""
        allowed = count if self._max_pages is None else max(0, min(count, self._max_pages - self._pages))
        if self._whole is not None:
            allowed = self._whole.allow_pages(allowed)
        else:
            self._account.pages += allowed
        self._pages += allowed
        return allowed

    def for_item(self, max_pages: int) -> "RunBudget":
        """The budget of one of several parts of the run: with the same time and money, and pages of its own, so that no
        part takes all of them."""
        return RunBudget(Budget(pages=max_pages), part_of=self)

    @property
    def keeps_reserve(self) -> bool:
        """Whether a call leaves money for others: while things are looked up, and in a part of the run."""
        return self._whole is not None or not self.is_closing


def check_price_known(model: Model, limits: Budget) -> None:
    """`UsageError`: what the model costs is not known, so that an amount of money is no limit for it."""
    if limits.usd is not UNSET and model.profile.price is None:
        raise UsageError(
            f"The price of {model.id} is not known, so that a budget in dollars cannot be kept. Set "
            f"models.profiles.{model.id}.price in settings.json, or limit the time or the pages instead.",
            code="budget_needs_price",
            model=model.id,
        )


def spent_of(stored: bytes | None) -> Spent:
    """What a run has used by the time of `to_store`."""
    return Spent() if stored is None else msgspec.json.decode(stored, type=Spent)


async def with_updates(steps: AsyncGenerator["Step", None], budget: RunBudget) -> AsyncGenerator["Step", None]:
    """The steps of a run, and between them what it has spent; the last update comes before the end of the turn."""
    async with aclosing(steps):
        async for step in steps:
            if isinstance(step, MessageDelta):
                if last := budget.take_update(is_last=True):
                    yield last
                yield step
                continue
            yield step
            if update := budget.take_update():
                yield update


# The money and the time ----------------------------------------------------------------------------------------------


class _Reservation(Struct, frozen=True, eq=False):
    """One call in flight: its options, and the most that it may cost; None: its price is not known."""

    options: Options
    input_tokens: int
    usd: float | None


class _Account:
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
        self._in_flight: list[_Reservation] = []
        self._returned = asyncio.Event()
        self._timers: list[asyncio.TimerHandle] = []
        self._reported: Spent | None = None

    # What was spent --------------------------------------------------------------------------------------------------

    @property
    def spent(self) -> Spent:
        return Spent(max(0.0, round(self._clock() - self._started_at, 3)), self._spent_usd, self.pages)

    @property
    def _reserved(self) -> float:
        return sum(one.usd or 0.0 for one in self._in_flight)

    def to_store(self) -> bytes:
        spent = self.spent
        return msgspec.json.encode(StoredSpent(spent.seconds, spent.usd, spent.pages, self._reserved))

    def restore(self, stored: StoredSpent) -> None:
        self.pages += stored.pages
        self._spend(None if stored.usd is None else stored.usd + stored.reserved)

    def take_change(self, *, is_last: bool) -> Spent | None:
        spent, last = self.spent, self._reported
        if last is not None:
            passed = spent.seconds - last.seconds
            has_changed = (spent.usd, spent.pages) != (last.usd, last.pages)
            is_due = passed >= (UPDATE_SECONDS if has_changed else TICK_SECONDS)
            if not (is_due or (is_last and (has_changed or passed > 0))):
                return None
        self._reported = spent
        return spent

    # Time ------------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        if self._seconds is None or self._timers:
            return
        loop, passed = asyncio.get_running_loop(), self._clock() - self._started_at
        for share, act in ((LOOK_UP_SHARE, self._close), (1.0, self._end)):
            delay = self._seconds * share - passed
            if delay <= 0:
                act()
            else:
                self._timers.append(loop.call_later(delay, act))

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
    ) -> _Reservation | None:
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
    ) -> _Reservation | None:
        price, wanted = profile.price, _output_limit(profile, options)
        if price is None:
            return _Reservation(options, input_tokens, None) if self._usd is None else None
        estimate = _Estimate(price, input_tokens)
        if self._usd is None:
            return _Reservation(options, input_tokens, estimate.cost(wanted))
        free = self._usd - (self._spent_usd or 0.0) - self._reserved
        tokens = min(wanted, estimate.affordable_tokens(free))
        if keeps_reserve:
            tokens = min(tokens, max(MIN_OUTPUT_TOKENS, estimate.affordable_tokens(free * CALL_SHARE)))
        if tokens < min(MIN_OUTPUT_TOKENS, wanted):
            return None
        return _Reservation(_limited(options, tokens, wanted), input_tokens, estimate.cost(tokens))

    def settle(self, reservation: _Reservation, price: Price | None, message: AssistantMessage | None) -> None:
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


def _cost(reservation: _Reservation, price: Price | None, message: AssistantMessage | None) -> float | None:
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
    failure = message.failure if message is not None else None
    return failure is not None and failure.status is not None and message is not None and not message.content


# The model -----------------------------------------------------------------------------------------------------------


class _BudgetedModel:
    """A model whose calls are counted and kept within the budget of a run."""

    def __init__(self, model: Model, account: _Account, budget: RunBudget) -> None:
        self.id = model.id
        self._model = model
        self._account = account
        self._budget = budget

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

    async def _reserve(self, context: Context, options: Options, scope: CancelScope) -> _Reservation | None:
        if scope.is_cancelled:
            return None
        keeps_reserve = self._budget.keeps_reserve
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
