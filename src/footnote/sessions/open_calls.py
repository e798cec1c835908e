"""The calls of a run that have no message yet: whatever ends the run early, each of them gets one."""

from footnote.agent.calls import BROKEN_OFF, INTERRUPTED
from footnote.agent.turn import CallBegun, CallEnded, Kept, Note
from footnote.protocol.events import BlockStart, Event, ToolResultBlock, ToolStatus
from footnote.protocol.messages import AssistantMessage, Message, ToolCall, ToolResultMessage
from footnote.protocol.tools import ToolResult, failed


class OpenCalls:
    """What is known of them, from the steps of the run or from what another process left."""

    def __init__(self) -> None:
        self._open: dict[str, ToolCall] = {}
        self._results: dict[str, ToolResult] = {}
        self._begun: set[str] = set()
        self._shown: set[str] = set()
        self._told: set[ToolStatus] = set()

    def remember(self, messages: list[Message], calls: dict[str, ToolResult | None]) -> None:
        """What was kept before a crash. A call without a result was begun."""
        for message in messages:
            self._keep(message)
        self._begun.update(calls)
        self._results.update({call_id: result for call_id, result in calls.items() if result is not None})

    def note(self, note: Note) -> None:
        match note:
            case Kept(message):
                self._keep(message)
            case CallBegun(call_id):
                self._begun.add(call_id)
            case CallEnded(call_id, result):
                self._results[call_id] = result
            case _:
                pass

    def see(self, event: Event) -> None:
        if isinstance(event, BlockStart) and isinstance(event.content_block, ToolResultBlock):
            self._shown.add(event.content_block.tool_use_id)
        elif isinstance(event, ToolStatus):
            self._told.add(event)

    def close(self) -> list[tuple[ToolCall, ToolResult, bool]]:
        """Each call that is open, in order, with its result, and whether that was shown already."""
        closed = [(call, self._outcome(call.id), call.id in self._shown) for call in self._open.values()]
        self._open = {}
        return closed

    def left_to_tell(self, call: ToolCall, result: ToolResult) -> list[ToolStatus]:
        """The states that a call goes through before its result, without those that were told."""
        states = (ToolStatus(call.id, "running"), ToolStatus(call.id, "error" if result.is_error else "done"))
        return [state for state in states if state not in self._told]

    def _keep(self, message: Message) -> None:
        if isinstance(message, AssistantMessage):
            self._open = {call.id: call for call in message.calls}
        elif isinstance(message, ToolResultMessage):
            self._open.pop(message.tool_call_id, None)

    def _outcome(self, call_id: str) -> ToolResult:
        return self._results.get(call_id) or failed(INTERRUPTED if call_id in self._begun else BROKEN_OFF)
