"""The budget of a run: what it may use, what it has used, and when looking things up has to end.

Time is that of the wall clock since the start of the run, so that a process that adopts the run keeps its deadline. A
run without limits pays nothing for all this: its models stay as they are.
"""

import dataclasses
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from footnote.agent.spending import Account, BudgetedModel
from footnote.cancel import CancelScope
from footnote.evidence.second_look import SecondLook
from footnote.models.base import Model
from footnote.protocol.errors import UsageError
from footnote.protocol.events import BudgetUpdate, MessageDelta
from footnote.protocol.plans import Budget, Spent

if TYPE_CHECKING:
    from footnote.agent.turn import Step
    from footnote.tools.base import Abilities


GRACE_SECONDS = 2.0
GRACE_SHARE = 0.1
"""How long calls may take to end by themselves when looking things up ends: so many seconds, or this share of the time
of the run, if that is less."""


class RunBudget:
    """One per run, for all of its loops, model calls and searches.

    `search_scope` is cancelled when looking things up has to end: at 70 % of the time or money, or with `close`. A
    search then ends with what it has; `calls_scope` is cancelled a moment later and stops the calls that did not end.
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
        self.calls_scope = CancelScope()
        self._max_pages = None if limits.pages is UNSET else limits.pages
        self._pages = spent.pages
        self._whole = part_of
        self._parts: list[RunBudget] = []
        if part_of is None:
            self._account = Account(
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
        is_last = is_last and self._whole is None  # the others go on after a part has ended
        spent = self._account.take_change(is_last=is_last) if self.is_limited else None
        return None if spent is None else BudgetUpdate(self.limits, spent)

    def to_store(self) -> bytes:
        return self._account.to_store()

    def restore(self, stored: bytes | None) -> None:
        """Goes on with what another process has stored of the run. Calls that it had begun may have been billed."""
        if stored is not None:
            self._pages += self._account.restore(stored)

    # The end of looking things up, and of all ------------------------------------------------------------------------

    @property
    def end_scope(self) -> CancelScope:
        return self._account.end_scope

    @property
    def is_closing(self) -> bool:
        """Whether nothing more may be looked up: the run answers now with what it has."""
        return self.search_scope.is_cancelled

    @property
    def has_deadline(self) -> bool:
        """Whether somebody waits for the answer at a certain time. Nobody waits for a part of it."""
        return self.limits.seconds is not UNSET and self._whole is None

    def close(self) -> None:
        """Ends looking things up now; for an item, its own only."""
        if not self.is_closing:
            self.search_scope.cancel()
            self._account.set_timer(self._grace_seconds, self.calls_scope.cancel)
            for part in self._parts:
                part.close()

    @property
    def _grace_seconds(self) -> float:
        seconds = self.limits.seconds
        return GRACE_SECONDS if seconds is UNSET else min(GRACE_SECONDS, GRACE_SHARE * seconds)

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
        return BudgetedModel(model, self._account, self._keeps_reserve)

    def limit(self, abilities: "Abilities") -> "Abilities":
        """The abilities of a loop with their models and pages within the budget."""
        if not self.is_limited:
            return abilities
        web, look = abilities.web, abilities.second_look
        return dataclasses.replace(
            abilities,
            web=None if web is None else web.within(self.model, self.allow_pages, self.search_scope),
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

    def _keeps_reserve(self) -> bool:
        """Whether a call leaves money for others: while things are looked up, and in a part of the run."""
        return self._whole is not None or not self.is_closing


def check_price_known(model: Model, limits: Budget) -> None:
    """`UsageError`: what the model costs is not known, so that an amount of money is no limit for it."""
    if limits.usd is not UNSET and model.profile.price is None:
        raise UsageError(
            f"The price of {model.id} is not known, so that a budget in dollars cannot be kept. Set "
            f"models.profiles.{model.id}.price in config.json, or limit the time or the pages instead.",
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
