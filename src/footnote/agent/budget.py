"""The budget of a run: what it may use, what it has used, and when looking things up has to end."""

import time
from collections.abc import Callable

from footnote.cancel import CancelScope
from footnote.models.base import Model
from footnote.protocol.events import BudgetUpdate
from footnote.protocol.plans import Budget, Spent


class RunBudget:
    """One per run, for all of its loops, model calls and searches.

    `search_scope` is cancelled when looking things up has to end: at 70 % of the time or money, or with `close`.
    """

    def __init__(
        self,
        limits: Budget = Budget(),  # noqa: B008 - frozen
        spent: Spent = Spent(),  # noqa: B008 - frozen
        *,
        started_at: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`spent`: by a process that had the run before. `started_at`: the start of the run, by the clock."""
        self.limits = limits
        self.search_scope = CancelScope()
        self._clock = clock
        self._started_at = clock() if started_at is None else started_at
        self._spent = spent

    @property
    def spent(self) -> Spent:
        return Spent(self._clock() - self._started_at, self._spent.usd, self._spent.pages)

    @property
    def is_closing(self) -> bool:
        """Whether nothing more may be looked up: the run answers now with what it has."""
        return self.search_scope.is_cancelled

    def close(self) -> None:
        """Ends looking things up now."""
        self.search_scope.cancel()

    def model(self, model: Model) -> Model:
        """The model, whose calls are counted and kept within the budget."""
        return model

    def allow_pages(self, count: int) -> int:
        """How many of so many pages may be read now. They are counted as read."""
        return count

    def take_update(self) -> BudgetUpdate | None:
        """What was spent, if that has changed since the last update. None also for a run without limits."""
        return None
