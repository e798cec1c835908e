"""The JSON Schema of each event accepts what is sent, and nothing else."""

from typing import Any, get_args

import jsonschema
import msgspec
import pytest

from footnote.protocol.events import (
    ApprovalReason,
    ApprovalRequired,
    AttachmentsBlock,
    BlockDelta,
    BlockStart,
    BlockStop,
    BudgetUpdate,
    CitationsGrowth,
    ContentBlock,
    ContextReport,
    Delta,
    ErrorBody,
    ErrorEvent,
    Event,
    Gap,
    Growth,
    MessageDelta,
    MessageHead,
    MessageStart,
    MessageStop,
    Ping,
    PlanBlock,
    PlanUpdate,
    RoundRestart,
    TextBlock,
    TextGrowth,
    ThinkingBlock,
    ThinkingGrowth,
    ToolProgress,
    ToolResultBlock,
    ToolStatus,
    ToolUseBlock,
    TurnUsage,
    event_schemas,
)
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, Failure, Foreign, Plan, Text, Thinking, ToolCall, Usage
from footnote.protocol.plans import Budget, PlanItem, Spent
from footnote.protocol.sources import Citation
from footnote.protocol.sse import encode
from footnote.protocol.stream import (
    Done,
    Failed,
    Start,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)

FILE = FileRecord(
    id="f-1",
    path="/report.md",
    filename="report.md",
    icon_type="md",
    source="generated",
    created_at="2024-03-17T10:00:00Z",
    url="workspace/user123/report.md",
    message_id="msg-1",
)
CITATION = Citation("[1]", 1, 0, 12, "supported", "the quote", 40, 49, "0123abcd")
ITEMS = (PlanItem("q1", "What is it?", "running"), PlanItem("q2", "What costs it?", "failed", "No page was read."))
TURN: list[Event] = [
    MessageStart(MessageHead("msg_1", "assistant", "run_1", "ses_1", "anthropic/claude")),
    BlockStart(0, ThinkingBlock()),
    BlockDelta(0, ThinkingGrowth("Hm.")),
    BlockStop(0),
    BlockStart(1, TextBlock()),
    BlockDelta(1, TextGrowth("Xin chào 🚀\u2028")),
    BlockDelta(1, CitationsGrowth((CITATION, Citation("[2]", 2, 0, 3, "unsupported")))),
    BlockStart(2, ToolUseBlock("toolu_01", "web_search", "Tìm kiếm web", {"query": "…", "count": 5})),
    ApprovalRequired("toolu_01", "web_search", {"query": "…"}, (ApprovalReason("setting"),)),
    ToolStatus("toolu_01", "running"),
    ToolProgress("toolu_01", "reading", 3, 5, "simplize.vn"),
    ToolProgress("toolu_01", "searching", 0, None, ""),
    BlockStart(3, ToolResultBlock("toolu_01", "web_search", "success", "…", {"query": "…", "sources": []})),
    BlockStart(4, ToolResultBlock("toolu_02", "read_page", "error", "No.")),
    BlockStart(5, AttachmentsBlock((FILE,))),
    BlockStart(6, PlanBlock(ITEMS)),
    PlanUpdate(6, ITEMS[:1]),
    PlanUpdate(6, ITEMS, ("Leave out prices.",)),
    BlockStart(7, TextBlock(), "q1"),
    BlockDelta(7, TextGrowth("So"), "q1"),
    BlockStop(7, "q1"),
    ToolStatus("toolu_03", "running", "q1"),
    ToolProgress("toolu_03", "reading", 3, 5, "simplize.vn", "q1"),
    ApprovalRequired("toolu_03", "web_search", {"query": "…"}, (ApprovalReason("setting"),), "q1"),
    BudgetUpdate(Budget(seconds=60.0), Spent(0.5, 0.01, 3)),
    BudgetUpdate(Budget(usd=0.5, pages=60), Spent(0.5, None, 3)),
    MessageDelta(Delta("max_rounds"), TurnUsage(1, 2, 3, 4, 5, 0.01), ContextReport(10, 200_000, 1, 2)),
    MessageDelta(Delta("stop"), TurnUsage(1, 2, 3, 4, 5), ContextReport(10, 200_000)),
    RoundRestart(3),
    Gap(3, 7),
    ErrorEvent(ErrorBody("overloaded_error", "Try again.", retryable=True)),
    Ping(),
    MessageStop(),
]

CALL = ToolCall("call_1", "web_search", {"query": "x"})
WHOLE = AssistantMessage(
    (
        Thinking("Hm.", "sig"),
        Thinking("", redacted="data"),
        Thinking("Hm.", details=({"type": "reasoning.text"},)),
        Text("Yes."),
        CALL,
        ToolCall("call_2", "web_search", {}, invalid='{"q'),
        Foreign({"type": "of_tomorrow"}),
    ),
    "toolUse",
    "anthropic/claude",
    Usage(1, 2, 3, 4, 5),
    "tool_use",
)
PARTIAL = AssistantMessage((Text("So"),), "error", "a/b", failure=Failure("x", "Why.", retryable=True, status=500))
RESPONSE: list[StreamEvent] = [
    Start("anthropic/claude"),
    ThinkingStart(0),
    ThinkingDelta(0, "Hm."),
    ThinkingEnd(0, "Hm."),
    TextStart(1),
    TextDelta(1, "Yes."),
    TextEnd(1, "Yes."),
    ToolCallStart(2, "call_1", "web_search"),
    ToolCallDelta(2, '{"query": "x"', {"query": "x"}),
    ToolCallEnd(2, CALL),
    Done("toolUse", WHOLE),
    Failed("error", PARTIAL),
]


def plain(event: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(event))


def is_valid(value: Any, schema: Any) -> bool:
    checker = jsonschema.Draft202012Validator
    checker.check_schema(schema)
    return checker(schema).is_valid(value)


def test_the_events_of_a_turn_are_those_of_the_contract():
    assert set(event_schemas()) == {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "approval_required",
        "tool_status",
        "tool_progress",
        "plan_update",
        "budget_update",
        "message_delta",
        "round_restart",
        "gap",
        "message_stop",
        "error",
        "ping",
    }


def test_the_events_of_a_response_are_the_twelve():
    assert [kind.__struct_config__.tag for kind in get_args(StreamEvent)] == [
        "start",
        "text_start",
        "text_delta",
        "text_end",
        "thinking_start",
        "thinking_delta",
        "thinking_end",
        "toolcall_start",
        "toolcall_delta",
        "toolcall_end",
        "done",
        "error",
    ]


def test_the_samples_here_are_of_every_kind():
    assert {type(one) for one in TURN} == set(get_args(Event))
    assert {type(one) for one in RESPONSE} == set(get_args(StreamEvent))
    assert {type(one.content_block) for one in TURN if isinstance(one, BlockStart)} == set(get_args(ContentBlock))
    assert {type(one.delta) for one in TURN if isinstance(one, BlockDelta)} == set(get_args(Growth))


@pytest.mark.parametrize("event", TURN, ids=lambda event: type(event).__name__)
def test_an_event_of_a_turn_fits_its_schema_and_no_other(event: Event):
    sent = msgspec.json.decode(encode(event))

    fitting = [kind for kind, schema in event_schemas().items() if is_valid(sent, schema)]

    assert fitting == [sent["type"]]


@pytest.mark.parametrize("event", TURN, ids=lambda event: type(event).__name__)
def test_an_event_survives_the_way_over_the_wire(event: Event):
    assert msgspec.json.decode(encode(event), type=Event) == event


@pytest.mark.parametrize("event", RESPONSE, ids=lambda event: type(event).__name__)
def test_a_response_survives_being_stored(event: StreamEvent):
    assert msgspec.json.decode(msgspec.json.encode(event), type=StreamEvent) == event


@pytest.mark.parametrize(
    "broken",
    [
        {"type": "content_block_start", "index": "0", "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "of_tomorrow"}},
        {"type": "content_block_stop"},
        {"type": "tool_status", "tool_use_id": "x", "status": "sleeping"},
        {"type": "message_delta", "delta": {"stop_reason": "toolUse"}, "usage": {}},
        {"type": "error", "error": {"type": "x", "message": "y"}},
    ],
)
def test_what_is_no_event_fits_no_schema(broken: Any):
    assert not any(is_valid(broken, schema) for schema in event_schemas().values())


def test_a_tool_use_looks_as_the_contract_shows_it():
    event = BlockStart(2, ToolUseBlock("toolu_01", "web_search", "Tìm kiếm web", {"query": "…", "prompt": "…"}))

    assert plain(event) == {
        "type": "content_block_start",
        "index": 2,
        "content_block": {
            "type": "tool_use",
            "id": "toolu_01",
            "name": "web_search",
            "tool_content_message": "Tìm kiếm web",
            "input": {"query": "…", "prompt": "…"},
        },
    }


def test_the_plan_of_a_research_run_is_stored_as_a_block_of_a_message():
    assert plain(AssistantMessage((Plan(ITEMS),), "stop", "a/b")) == {
        "role": "assistant",
        "content": [
            {
                "type": "plan",
                "items": [
                    {"id": "q1", "question": "What is it?", "status": "running"},
                    {"id": "q2", "question": "What costs it?", "status": "failed", "note": "No page was read."},
                ],
            }
        ],
        "stopReason": "stop",
        "model": "a/b",
        "usage": {},
    }


def test_a_message_is_stored_in_the_names_of_the_contract():
    assert plain(PARTIAL) == {
        "role": "assistant",
        "content": [{"type": "text", "text": "So"}],
        "stopReason": "error",
        "model": "a/b",
        "usage": {},
        "failure": {"type": "x", "message": "Why.", "retryable": True, "status": 500},
    }
