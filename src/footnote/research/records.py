"""The messages of the items of a plan, and what follows from them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from footnote.evidence.sources import Sources
from footnote.protocol.events import ErrorBody
from footnote.protocol.messages import AssistantMessage, Message, Text, ToolResultMessage
from footnote.protocol.plans import PlanItem
from footnote.protocol.sources import Disagreement, disagreements_in
from footnote.research.findings import Finding, findings_of, quoted_findings, says_more
from footnote.research.page_quotations import page_quotations
from footnote.research.relevance import Relevance
from footnote.research.settlement import settle

MAX_QUOTATIONS = 6
"""Of one item, where the model says little."""


class ItemRecords:
    """What the readers of one run have done so far, by the ids of their items."""

    def __init__(self, stored: Mapping[str, tuple[Message, ...]]) -> None:
        self._messages = dict(stored)
        self.errors: list[ErrorBody] = []
        """Those that readers ended with in this process."""

    def __iter__(self) -> Iterator[tuple[str, tuple[Message, ...]]]:
        return iter(self._messages.items())

    def of(self, item: PlanItem) -> tuple[Message, ...]:
        return self._messages.get(item.id, ())

    def keep(self, item: PlanItem, messages: tuple[Message, ...], error: ErrorBody | None = None) -> None:
        self._messages[item.id] = messages
        self.errors += [error] if error is not None else []

    def in_order(self, items: Sequence[PlanItem]) -> tuple[Message, ...]:
        """The order of the plan, whatever order the readers came to their ends in."""
        return tuple(chain.from_iterable(map(self.of, items)))

    def disagreements(self, items: Sequence[PlanItem]) -> tuple[Disagreement, ...]:
        results = (message for message in self.in_order(items) if isinstance(message, ToolResultMessage))
        return tuple(chain.from_iterable(disagreements_in(one.artifact) for one in results if one.artifact))

    def findings(self, items: Sequence[PlanItem], sources: Sources, *, is_quoted: bool) -> tuple[Finding, ...]:
        """What the items have found. Of an item whose text proves nothing, quotations. `is_quoted`: quotations of its
        pages in any case, since the model says little."""
        found: list[Finding] = []
        relevance = Relevance(sources)
        for item in items:
            text = self._last_text(item)
            handed_over = findings_of(item.id, text) if text is not None else ()
            of_item = tuple(one for one in handed_over if says_more(one, item.question))
            of_item = of_item or quoted_findings(item.id, item.question, self.of(item), sources)
            if is_quoted:
                quoted = (*of_item, *page_quotations(item, self.of(item), sources))
                of_item = relevance.select(item.question, quoted, MAX_QUOTATIONS)
            found += of_item
        return settle(found, self.disagreements(items), sources)

    def _last_text(self, item: PlanItem) -> Text | None:
        """What a reader has handed over; None: it did not come so far."""
        messages = self.of(item)
        last = messages[-1] if messages else None
        if not isinstance(last, AssistantMessage) or last.calls:
            return None
        return next((block for block in reversed(last.content) if isinstance(block, Text)), None)
