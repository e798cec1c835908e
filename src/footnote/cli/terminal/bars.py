"""The budget of a run in a terminal: a bar each for time, money and pages, or a line of figures."""

import time
from collections.abc import Callable

from msgspec import Struct

from footnote.cli.terminal.lines import (
    UNICODE,
    Line,
    StyledText,
    Symbols,
    Tone,
    format_clock,
    format_dollars,
    pad,
    width,
)
from footnote.protocol.events import BudgetUpdate
from footnote.protocol.plans import Budget, Spent
from footnote.protocol.tools import Locale

MAX_BAR_CELLS = 30
MIN_BAR_CELLS = 6
CLOSING_SHARE = 0.7
"""From this share of the time or the money on, nothing more is looked up."""


class BudgetMessages(Struct, frozen=True):
    time: str
    money: str
    pages: str
    of: str
    unknown_price: str


MESSAGES: dict[Locale, BudgetMessages] = {
    "en": BudgetMessages("time", "money", "pages", "{spent} of {limit}", "price not known"),
    "vi": BudgetMessages("thời gian", "chi phí", "số trang", "{spent} / {limit}", "không rõ giá"),
    "zh": BudgetMessages("时间", "费用", "页数", "{spent} / {limit}", "价格未知"),
}


class _Gauge(Struct, frozen=True):
    """`share`: of the limit; None: there is none."""

    label: str
    amount: str
    share: float | None


class BudgetBars:
    """Fed the events about the budget."""

    def __init__(self, symbols: Symbols, locale: Locale, clock: Callable[[], float] = time.monotonic) -> None:
        self._symbols = symbols
        self._messages = MESSAGES[locale]
        self._clock = clock
        self._budget = Budget()
        self._spent: Spent | None = None
        self._spent_at = 0.0
        self._quarter = 0

    def __bool__(self) -> bool:
        """Whether the run has a budget."""
        return self._spent is not None

    def feed(self, event: BudgetUpdate) -> list[Line]:
        """A line of figures, for where nothing can be redrawn: whenever another quarter of a limit is used."""
        self._budget, self._spent, self._spent_at = event.budget, event.spent, self._clock()
        quarter = int(4 * max((gauge.share or 0 for gauge in self._gauges()), default=0))
        is_new, self._quarter = quarter > self._quarter, max(quarter, self._quarter)
        return [(StyledText(self.figures, "dim"),)] if is_new else []

    @property
    def figures(self) -> str:
        """All of it on one line."""
        return self._symbols.dot.join(f"{gauge.label} {gauge.amount}" for gauge in self._gauges())

    def lines(self, columns: int) -> list[Line]:
        """A bar for each limit. In a narrow terminal the figures alone."""
        gauges = self._gauges()
        label = max((width(gauge.label) for gauge in gauges), default=0) + 1
        room = columns - label - 1 - max((width(gauge.amount) for gauge in gauges), default=0)
        cells = min(room, MAX_BAR_CELLS) if room >= MIN_BAR_CELLS else 0
        return [self._bar(gauge, label, cells) for gauge in gauges]

    def _bar(self, gauge: _Gauge, label: int, cells: int) -> Line:
        name, amount = StyledText(pad(gauge.label, label), "dim"), StyledText(gauge.amount, "dim")
        if not cells:
            return (name, amount)
        if gauge.share is None:
            return (name, StyledText(" " * (cells + 1)), amount)
        full, empty = ("█", "░") if self._symbols is UNICODE else ("#", "-")
        used = min(int(gauge.share * cells + 0.5), cells)
        tone: Tone = "bad" if gauge.share >= 1 else "doubtful" if gauge.share >= CLOSING_SHARE else "good"
        return (name, StyledText(full * used, tone), StyledText(f"{empty * (cells - used)} ", "dim"), amount)

    def _gauges(self) -> list[_Gauge]:
        """Money is left out where there is no limit and nothing was paid."""
        spent, budget, messages = self._spent, self._budget, self._messages
        if spent is None:
            return []
        seconds = spent.seconds + self._clock() - self._spent_at
        gauges = [self._gauge(messages.time, seconds, budget.seconds, format_clock)]
        if spent.usd or isinstance(budget.usd, int | float):
            gauges.append(self._gauge(messages.money, spent.usd, budget.usd, _format_cents))
        return [*gauges, self._gauge(messages.pages, spent.pages, budget.pages, str)]

    def _gauge(self, label: str, used: float | None, limit: object, show: Callable[[float], str]) -> _Gauge:
        amount = self._messages.unknown_price if used is None else show(used)
        if not isinstance(limit, int | float):
            return _Gauge(label, amount, None)
        share = (used or 0) / limit if limit else 1.0
        return _Gauge(label, self._messages.of.format(spent=amount, limit=show(limit)), share)


def _format_cents(usd: float) -> str:
    return f"${usd:.2f}" if usd >= 0.01 else format_dollars(usd)
