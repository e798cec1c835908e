"""The events of a research run: a plan of three questions, their work side by side, the report and the answer."""

from typing import Any

from cli.run_events import attach, end, result, say, start
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    BlockStop,
    BudgetUpdate,
    CitationsGrowth,
    Event,
    PlanBlock,
    PlanUpdate,
    TextBlock,
    TextGrowth,
    ToolProgress,
    ToolResultBlock,
    ToolStatus,
    ToolUseBlock,
)
from footnote.protocol.files import FileRecord
from footnote.protocol.plans import Budget, PlanItem, PlanItemStatus, Spent
from footnote.protocol.sources import Citation

QUESTIONS = ("Who isolated oxygen first?", "When was it published?", "Who named it?")
LIMITS = Budget(seconds=600, usd=0.5, pages=60)
REPORT = FileRecord(
    id="f1",
    path="/report.md",
    filename="report.md",
    icon_type="md",
    source="generated",
    created_at="2026-10-21T10:00:00Z",
    url="workspace/local/report.md",
    message_id="msg_1",
)


def items(*statuses: PlanItemStatus, **notes: str) -> tuple[PlanItem, ...]:
    """The items of the plan with these statuses. `notes`: by the id of the item."""
    return tuple(
        PlanItem(f"q{number}", question, status, **({"note": notes[f"q{number}"]} if f"q{number}" in notes else {}))
        for number, (question, status) in enumerate(zip(QUESTIONS, statuses, strict=False), 1)
    )


def plan(*statuses: PlanItemStatus) -> list[Event]:
    return [BlockStart(0, PlanBlock(items(*statuses))), BlockStop(0)]


def plan_now(*statuses: PlanItemStatus, **notes: str) -> list[Event]:
    return [PlanUpdate(0, items(*statuses, **notes))]


def spent(seconds: float, usd: float | None = 0.0, pages: int = 0, budget: Budget = LIMITS) -> list[Event]:
    return [BudgetUpdate(budget, Spent(seconds, usd, pages))]


def source(number: int, domain: str, status: str = "read") -> dict[str, Any]:
    facts = {"url": f"https://{domain}/{number}", "title": f"Page {number}", "snippet": "…", "favicon": None}
    return {**facts, "domain": domain, "number": number, "status": status}


def searching(item_id: str, index: int, call_id: str, query: str) -> list[Event]:
    block = ToolUseBlock(call_id, "web_search", "Search the web", {"query": query})
    return [
        BlockStart(index, block, item_id),
        BlockStop(index, item_id),
        ToolStatus(call_id, "pending", item_id),
        ToolStatus(call_id, "running", item_id),
    ]


def reading(item_id: str, call_id: str, done: int, total: int, host: str) -> list[Event]:
    return [ToolProgress(call_id, "reading", done, total, host, item_id)]


def found(item_id: str, index: int, call_id: str, *sources: dict[str, Any]) -> list[Event]:
    block = ToolResultBlock(call_id, "web_search", "success", "…", {"query": "…", "sources": list(sources)})
    return [ToolStatus(call_id, "done", item_id), BlockStart(index, block, item_id), BlockStop(index, item_id)]


def handing_over(item_id: str, index: int, text: str, *, supported: int) -> list[Event]:
    """The last text of an item, with so many supported statements and one that is not."""
    verdicts = ["supported"] * supported + ["unsupported"]
    citations = tuple(_citation(at, verdict) for at, verdict in enumerate(verdicts))
    return [
        BlockStart(index, TextBlock(), item_id),
        BlockDelta(index, TextGrowth(text), item_id),
        BlockDelta(index, CitationsGrowth(citations), item_id),
        BlockStop(index, item_id),
    ]


def _citation(at: int, verdict: Any) -> Citation:
    return Citation(marker="[1]", number=1, start=at, end=at + 1, verdict=verdict)


def writing(done: int, total: int, heading: str) -> list[Event]:
    return [ToolProgress("call_report", "writing", done, total, heading)]


def report_written(index: int) -> list[Event]:
    block = ToolUseBlock("call_report", "write_file", "Write a file", {"file_path": "/report.md", "content": "# R\n"})
    return [
        BlockStart(index, block),
        BlockStop(index),
        ToolStatus("call_report", "pending"),
        ToolStatus("call_report", "running"),
        ToolStatus("call_report", "done"),
        *result(index + 1, "call_report", "write_file", "Wrote /report.md (4 bytes)."),
    ]


def investigating() -> list[Event]:
    """Up to the moment in which one item is done and two are being worked on."""
    return [
        *start(),
        *spent(1),
        *plan("pending", "pending", "pending"),
        *plan_now("running", "running", "pending"),
        *searching("q1", 1, "c1", "oxygen"),
        *searching("q2", 2, "c2", "oxygen published"),
        *reading("q1", "c1", 1, 3, "example.org"),
        *reading("q2", "c2", 2, 3, "nature.example"),
        *found(
            "q1", 3, "c1", source(1, "example.org"), source(2, "uppsala.example"), source(3, "gone.example", "failed")
        ),
        *handing_over("q1", 4, "Scheele did [1].", supported=2),
        *spent(30, 0.06, 2),
        *plan_now("done", "running", "running"),
    ]


def whole_run() -> list[Event]:
    return [
        *investigating(),
        *found("q2", 5, "c2", source(2, "uppsala.example"), source(4, "nature.example")),
        *handing_over("q2", 6, "In 1777 [2].", supported=1),
        *plan_now("done", "done", "failed", q3="It took too long."),
        *writing(1, 2, "Discovery"),
        *writing(2, 2, "Names"),
        *spent(480, 0.2, 3),
        *report_written(7),
        *say(9, "Scheele isolated ", "oxygen.\n\nThe report has more."),
        *attach(10, REPORT),
        *end(),
    ]
