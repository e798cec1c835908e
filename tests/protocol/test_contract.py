"""The values read and write the JSON of the documented contract, field for field."""

import json
from typing import Any

import msgspec
import pytest

from footnote.protocol.events import BlockStart, Event
from footnote.protocol.files import FileRecord
from footnote.protocol.history import History
from footnote.protocol.messages import Message
from footnote.protocol.sources import SearchResults, SourceGroup

FILE = {
    "id": "uuid",
    "path": "/report.md",
    "filename": "report.md",
    "icon_type": "md",
    "source": "generated",
    "created_at": "2024-03-17T10:00:00Z",
    "url": "workspace/user123/report.md",
    "message_id": "msg-uuid",
}
HISTORY = {
    "session": {"id": "s", "title": "T", "agent_id": "researcher", "created_at": "2024-03-17T10:00:00Z"},
    "messages": [
        {"id": "m1", "role": "user", "content": [{"type": "text", "text": "…"}], "attachments": []},
        {
            "id": "m2",
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_01", "name": "web_search", "input": {}}],
            "attachments": [FILE],
        },
        {
            "role": "tool",
            "tool_call_id": "toolu_01",
            "name": "web_search",
            "content": "…",
            "status": "success",
            "artifact": {},
        },
    ],
    "workspace": {"sources": [{"query": "…", "sources": []}], "workspace_files": [FILE]},
    "active_run": None,
}
TOOL_USE = {
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
FOUND = {
    "query": "q",
    "provider": "brave",
    "results": [{"title": "T", "url": "https://x", "description": "d", "published": None, "siteName": "x"}],
    "count": 1,
    "tookMs": 12,
    "cached": False,
}
SAID = {"role": "toolResult", "toolCallId": "c1", "toolName": "look", "content": [{"type": "text", "text": "x"}]}
ANSWER = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "text": "Hm.", "signature": "s"},
        {"type": "text", "text": "So."},
        {"type": "toolCall", "id": "c1", "name": "look", "arguments": {"at": 1}},
    ],
    "stopReason": "toolUse",
    "model": "anthropic/claude",
    "usage": {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "reasoning": 5},
}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (FILE, FileRecord),
        (HISTORY, History),
        (TOOL_USE, BlockStart),
        (TOOL_USE, Event),
        (FOUND, SearchResults),
        (SAID, Message),
        (ANSWER, Message),
    ],
)
def test_json_of_the_contract_is_read_and_written_again_unchanged(value: Any, kind: Any):
    read = msgspec.json.decode(json.dumps(value), type=kind)
    assert json.loads(msgspec.json.encode(read)) == value


def test_the_five_fields_of_a_source_are_always_there():
    source = {"url": "https://x", "title": "T", "snippet": "s", "domain": "x", "favicon": None}
    group = msgspec.json.decode(json.dumps({"query": "q", "sources": [source]}), type=SourceGroup)
    encoded = json.loads(msgspec.json.encode(group))["sources"][0]
    assert {name: encoded[name] for name in source} == source


@pytest.mark.parametrize("kind", [FileRecord, History, SearchResults, SourceGroup])
def test_values_are_frozen(kind: Any):
    assert kind.__struct_config__.frozen
