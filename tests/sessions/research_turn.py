"""The messages of a research turn, as it is stored: the plan, the work on its items side by side, the report, the
answer."""

import msgspec
from msgspec.structs import replace

from footnote.evidence.sources import Sources
from footnote.evidence.verdict import check_citations
from footnote.protocol.messages import AssistantMessage, Message, Plan, Text, ToolCall, ToolResultMessage
from footnote.protocol.plans import PlanItem
from footnote.protocol.sources import Quote, Snapshot, Source
from library.samples import RECIPE, TREATY
from sessions.turn_writer import answer, tool_calls, tool_result

QUESTION = "What do the treaty and the soup have in common?"
ITEMS = (
    PlanItem("q1", "When was the treaty signed?", "done"),
    PlanItem("q2", "How is the soup *made*?", "done"),
    PlanItem("q3", "Who paid?", "failed", "No page could be read."),
    PlanItem("q4", "Who cares?", "dropped"),
)
STEERING = "Leave out prices."
SIGNED = "It was signed on 28 June 1919 in the Hall of Mirrors."
COOKED = "Ninh xương bò trong sáu giờ, thêm quế và hồi."
MUSING = "Zeppelins are a musing of the reader alone."
ANSWER = "Both took their time, says the report."


def research_messages() -> tuple[Message, ...]:
    """The readers of both items end after both searches."""
    treaty, soup = _found("call_1", TREATY, 1, SIGNED), _found("call_2", RECIPE, 2, COOKED)
    results = (treaty, soup)
    report = ToolCall("call_3", "write_file", {"file_path": "/report.md", "content": f"{SIGNED} [1]"})
    return (
        AssistantMessage((Plan(ITEMS, (STEERING,)),), "stop", "footnote/test"),
        replace(tool_calls(ToolCall("call_2", "web_search", {"query": "soup"})), parent="q2"),
        replace(tool_calls(ToolCall("call_1", "web_search", {"query": "treaty"})), parent="q1"),
        replace(soup, parent="q2"),
        replace(treaty, parent="q1"),
        replace(_statements(f"- {COOKED} [2]\n- {MUSING} [2]", *results), parent="q2"),
        replace(_statements(f"- {SIGNED} [1]", *results), parent="q1"),
        tool_calls(report),
        ToolResultMessage("call_3", "write_file", (Text("Wrote it."),)),
        answer(f"{ANSWER} {SIGNED} [1]", *check_citations(f"{ANSWER} {SIGNED} [1]", _sources(results))),
    )


def _found(call_id: str, page: Snapshot, number: int, quote: str) -> ToolResultMessage:
    start = page.text.index(quote)
    source = Source(
        url=page.url, title=page.title, snippet="", domain="a.example", number=number, status="read",
        snapshot_id=page.id, fetched_at=page.fetched_at, quotes=(Quote(quote, start, start + len(quote)),),
    )  # fmt: skip
    return tool_result(call_id, "Found.", {"query": page.title, "sources": [msgspec.to_builtins(source)]})


def _sources(results: tuple[ToolResultMessage, ...]) -> Sources:
    return Sources.from_messages(results, {page.id: page for page in (TREATY, RECIPE)})


def _statements(text: str, *results: ToolResultMessage) -> AssistantMessage:
    return answer(text, *check_citations(text, _sources(results)))
