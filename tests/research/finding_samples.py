"""Pages of several sites, what readers say of them, and the plans to which that belongs."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from footnote.evidence.proof import judge_text
from footnote.evidence.sources import Sources
from footnote.protocol.messages import Text
from footnote.protocol.plans import PlanItem, PlanItemStatus
from footnote.protocol.sources import Citation, Snapshot, Source
from footnote.protocol.tools import Locale
from footnote.research.findings import Finding, findings_of
from footnote.research.plan import PlanState
from footnote.research.settlement import settle

READ_AT = "2026-11-19T10:00:00Z"


@dataclass
class Pages:
    """The pages that were read in a session."""

    sources: Sources = field(default_factory=Sources)

    def add(self, domain: str, text: str, published: str | None = None) -> int:
        """The number of a page of a site."""
        number = len(self.sources.numbers) + 1
        url = f"https://{domain}/{number}"
        snapshot = Snapshot(url=url, text=text, published=published, fetched_at=READ_AT)
        self.sources.add(
            Source(
                url=url,
                title=f"Page {number}",
                snippet="",
                domain=domain,
                number=number,
                status="read",
                published=published,
                snapshot_id=snapshot.id,
                fetched_at=READ_AT,
            ),
            snapshot,
        )
        return number

    def text(self, text: str) -> Text:
        """The last text of a reader, judged as the loop judges it."""
        return Text(text, judge_text(text, self.sources, uncited=True))

    def findings(self, **texts: str) -> tuple[Finding, ...]:
        """What readers hand over, by their items."""
        return tuple(one for item, text in texts.items() for one in findings_of(item, self.text(text)))

    def settled(self, **texts: str) -> tuple[Finding, ...]:
        return settle(self.findings(**texts), (), self.sources)

    def marks(self, text: str) -> list[tuple[str, str]]:
        """The statements of a text that are not supported, with their verdicts."""
        citations: Sequence[Citation] = judge_text(text, self.sources, uncited=True)
        return [(one.verdict, text[one.start : one.end]) for one in citations if one.verdict != "supported"]


class PlainTemplate:
    """A template with these headings, the same in all languages."""

    def __init__(self, *headings: str) -> None:
        self._headings = headings

    def headings(self, locale: Locale) -> tuple[str, ...]:
        return self._headings if locale else ()

    def prompt(self, locale: Locale) -> str:
        return f"The report is a report ({locale})."


def plan_of(*questions: str, **ended: tuple[PlanItemStatus, str]) -> PlanState:
    """Items `q1`, `q2`, …, all of them done but for those that ended otherwise."""
    items: list[PlanItem] = []
    for number, question in enumerate(questions, 1):
        status, note = ended.get(f"q{number}", ("done", ""))
        items.append(
            PlanItem(f"q{number}", question, status, note) if note else PlanItem(f"q{number}", question, status)
        )
    return PlanState(tuple(items))
