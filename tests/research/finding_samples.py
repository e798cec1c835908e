"""Pages of several sites, what readers say of them, and the plans to which that belongs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from footnote.evidence.proof import judge_text
from footnote.evidence.sources import Sources
from footnote.protocol.messages import AssistantMessage, Message, Text, ToolCall, ToolResultMessage
from footnote.protocol.plans import PlanItem, PlanItemStatus
from footnote.protocol.sources import Citation, Passage, SearchArtifact, Snapshot, Source
from footnote.research.findings import Finding, findings_of
from footnote.research.plan import PlanState
from footnote.research.settlement import settle
from footnote.research.templates import Template, parse_template

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


def template(*headings: str) -> Template:
    """A template with these headings, the same in all languages."""
    return parse_template("plain", "\n".join(["# Report", "Be brief.", *(f"## {heading}" for heading in headings)]))


def plan_of(*questions: str, **ended: tuple[PlanItemStatus, str]) -> PlanState:
    """Items `q1`, `q2`, …, all of them done but for those that ended otherwise."""
    items: list[PlanItem] = []
    for number, question in enumerate(questions, 1):
        status, note = ended.get(f"q{number}", ("done", ""))
        items.append(
            PlanItem(f"q{number}", question, status, note) if note else PlanItem(f"q{number}", question, status)
        )
    return PlanState(tuple(items))


def searched(
    pages: Pages, item_id: str, question: str, passages: Sequence[tuple[int, str]], **fields: Any
) -> list[Message]:
    """The messages of an item whose search found these passages, each with the number of its page."""
    numbers = dict.fromkeys(number for number, _ in passages)
    found: list[Passage] = []
    for number, text in passages:
        snapshot = pages.sources.snapshot(number)
        at = snapshot.text.find(text) if snapshot else -1
        found.append(Passage(number=number, text=text, start=max(0, at), end=max(0, at) + len(text)))
    artifact = SearchArtifact(
        query=question,
        sources=tuple(one for number in numbers if (one := pages.sources.source(number))),
        passages=tuple(found),
        **fields,
    )
    call = ToolCall(f"call_{item_id}", "web_search", {"query": question})
    return [
        AssistantMessage((call,), "toolUse", "scripted/model", parent=item_id),
        ToolResultMessage(call.id, "web_search", (), artifact=msgspec.to_builtins(artifact), parent=item_id),
    ]
