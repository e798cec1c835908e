"""Folds the events of a turn as a client does, and a history to the same blocks."""

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass
class FoldedTurn:
    """One turn as a client shows it. Events that are repeated or out of order fail the test."""

    message_id: str | None = None
    blocks: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    parents: dict[int, str] = field(default_factory=dict[int, str])
    """The item of the plan to which a block belongs, for the blocks of items."""
    open: set[int] = field(default_factory=set[int])
    plans: list[list[dict[str, Any]]] = field(default_factory=list[list[dict[str, Any]]])
    """The items of the plan, in each of its states."""
    spent: dict[str, Any] = field(default_factory=dict[str, Any])
    statuses: dict[str, str] = field(default_factory=dict[str, str])
    stop_reason: str | None = None
    error: dict[str, Any] | None = None
    last_id: int = 0
    ended: bool = False
    restarts: int = 0
    approval_requests: int = 0
    """How often an approval was requested."""

    def feed(self, data: bytes) -> None:
        for frame in data.split(b"\n\n"):
            fields = dict(line.split(b": ", 1) for line in frame.split(b"\n") if b": " in line)
            if b"data" not in fields:
                continue
            if b"id" in fields:
                assert int(fields[b"id"]) > self.last_id, "ids only grow"
                self.last_id = int(fields[b"id"])
            self.handle_event(json.loads(fields[b"data"]))

    def handle_event(self, event: dict[str, Any]) -> None:
        assert not self.ended or event["type"] == "round_restart", event
        getattr(self, f"_{event['type']}")(event)

    def _message_start(self, event: dict[str, Any]) -> None:
        assert self.message_id is None
        self.message_id = event["message"]["id"]

    def _content_block_start(self, event: dict[str, Any]) -> None:
        assert event["index"] == len(self.blocks), (event, sorted(self.blocks))
        self.blocks[event["index"]] = dict(event["content_block"])
        self.open.add(event["index"])
        if "parent" in event:
            self.parents[event["index"]] = event["parent"]
        if event["content_block"]["type"] == "plan":
            self.plans.append(event["content_block"]["items"])

    def _content_block_delta(self, event: dict[str, Any]) -> None:
        assert event["index"] in self.open
        assert event.get("parent") == self.parents.get(event["index"])
        block, delta = self.blocks[event["index"]], event["delta"]
        match delta["type"]:
            case "text_delta":
                block["text"] += delta["text"]
            case "thinking_delta":
                block["thinking"] += delta["thinking"]
            case _:
                block["citations"] = delta["citations"]

    def _content_block_stop(self, event: dict[str, Any]) -> None:
        self.open.remove(event["index"])

    def _plan_update(self, event: dict[str, Any]) -> None:
        changed = {name: event[name] for name in ("items", "steering") if name in event}
        self.blocks[event["index"]] |= changed
        self.plans.append(event["items"])

    def _budget_update(self, event: dict[str, Any]) -> None:
        assert event["spent"]["seconds"] >= self.spent.get("seconds", 0)
        assert event["spent"]["pages"] >= self.spent.get("pages", 0)
        self.spent = event["spent"]

    def _approval_required(self, _event: dict[str, Any]) -> None:
        self.approval_requests += 1

    def _tool_status(self, event: dict[str, Any]) -> None:
        self.statuses[event["tool_use_id"]] = event["status"]

    def _tool_progress(self, event: dict[str, Any]) -> None: ...

    def _ping(self, event: dict[str, Any]) -> None: ...

    def _round_restart(self, event: dict[str, Any]) -> None:
        self.restarts += 1
        self.ended = False
        self.stop_reason = self.error = None
        self.blocks = {index: block for index, block in self.blocks.items() if index < event["from_index"]}
        self.open = {index for index in self.open if index < event["from_index"]}
        self.parents = {index: item for index, item in self.parents.items() if index in self.blocks}
        calls = {block["id"] for block in self.blocks.values() if block["type"] == "tool_use"}
        self.statuses = {call: status for call, status in self.statuses.items() if call in calls}

    def _message_delta(self, event: dict[str, Any]) -> None:
        self.stop_reason = event["delta"]["stop_reason"]

    def _error(self, event: dict[str, Any]) -> None:
        self.error = event["error"]

    def _message_stop(self, event: dict[str, Any]) -> None:
        assert not self.open, "every block is closed"
        self.ended = True

    @property
    def shown(self) -> dict[str, Any]:
        """What a client shows after the last event."""
        return {
            "id": self.message_id,
            "blocks": [self.blocks[index] for index in sorted(self.blocks)],
            "statuses": self.statuses,
            "stop_reason": self.stop_reason,
            "error": self.error,
            "ended": self.ended,
        }

    @property
    def blocks_by_item(self) -> dict[str | None, list[dict[str, Any]]]:
        """The blocks of each item of the plan, and those of the run itself: the order of items side by side is none."""
        found: dict[str | None, list[dict[str, Any]]] = {}
        for index in sorted(self.blocks):
            found.setdefault(self.parents.get(index), []).append(self.blocks[index])
        return found


def blocks_of_history(history: dict[str, Any], message_id: str) -> list[dict[str, Any]]:
    """The blocks of the last turn of a history, as its events would have been folded."""
    return _blocks_of(_last_turn(history), message_id)


def history_by_item(history: dict[str, Any], message_id: str) -> dict[str | None, list[dict[str, Any]]]:
    """The blocks of the last turn of a history by the item of the plan, as `FoldedTurn.blocks_by_item`."""
    by_item: dict[str | None, list[dict[str, Any]]] = {}
    for message in _last_turn(history):
        by_item.setdefault(message.get("parent"), []).append(message)
    blocks = {item: _blocks_of(messages, message_id) for item, messages in by_item.items()}
    return {item: found for item, found in blocks.items() if found}


def _last_turn(history: dict[str, Any]) -> list[dict[str, Any]]:
    messages = history["messages"]
    start = max(at for at, message in enumerate(messages) if message["role"] == "user")
    return messages[start + 1 :]


def _blocks_of(messages: list[dict[str, Any]], message_id: str) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    files: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "tool":
            blocks.append(
                {
                    "type": "tool_result",
                    "tool_use_id": message["tool_call_id"],
                    "name": message["name"],
                    "status": message["status"],
                    "content": message["content"],
                    "artifact": message["artifact"],
                }
            )
        else:
            blocks += message["content"]
            if message["attachments"]:
                assert message["id"] == message_id
                files = message["attachments"]
    return [*blocks, {"type": "attachments", "files": files}] if files else blocks
