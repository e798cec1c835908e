"""The lines about tool calls: one for each that runs, with its progress, and one for each that has ended."""

import time
from collections.abc import Callable
from typing import Any

import msgspec

from footnote.cli.terminal.lines import Line, StyledText, Symbols, Tone
from footnote.cli.terminal.receipt import deviations
from footnote.protocol.events import CallStatus, ToolProgress, ToolResultBlock, ToolStatus, ToolUseBlock
from footnote.protocol.sources import Receipt

_DETAIL_LENGTH = 60
_RESULT_LENGTH = 120


class _CallLine:
    """A call that has no result yet."""

    def __init__(self, title: str, detail: str = "") -> None:
        self.title = title
        self.detail = detail
        self.status: CallStatus = "pending"
        self.stage = ""
        self.progress = ""
        self.started: float | None = None
        self.ended: float | None = None


class CallLines:
    """Fed the events about calls. Where lines cannot be redrawn, the line that a method returns is printed."""

    def __init__(self, symbols: Symbols, clock: Callable[[], float] = time.monotonic) -> None:
        self._symbols = symbols
        self._clock = clock
        self._open: dict[str, _CallLine] = {}

    def __bool__(self) -> bool:
        return bool(self._open)

    def begin(self, block: ToolUseBlock) -> None:
        detail = _detail(block.input)
        title = block.tool_content_message or block.name
        shown = _truncate(detail, _DETAIL_LENGTH, self._symbols.ellipsis)
        self._open[block.id] = _CallLine(self._join(title, shown), detail)

    def status(self, event: ToolStatus) -> Line | None:
        call = self._open.get(event.tool_use_id)
        if call is None or call.status == event.status:
            return None
        call.status = event.status
        if event.status == "running":
            call.started = self._clock()
            return self._line(call)
        if event.status in ("done", "error"):
            call.ended = self._clock()
        return None

    def progress(self, event: ToolProgress) -> Line | None:
        """A line only when a new stage begins, not for each of a hundred pages."""
        call = self._open.get(event.tool_use_id)
        if call is None:
            return None
        counted = f"{event.done}/{event.total}" if event.total is not None else ""
        label = "" if event.label == call.detail else event.label
        call.progress = " ".join(part for part in (event.stage, counted, label) if part)
        is_new = event.stage != call.stage
        call.stage = event.stage
        return self._line(call) if is_new else None

    def clear(self) -> None:
        """The round restarts: the model will make the running calls again."""
        self._open.clear()

    def finish(self, block: ToolResultBlock) -> Line:
        """The last line about a call."""
        call = self._open.pop(block.tool_use_id, None) or _CallLine(block.name)
        call.ended = call.ended or self._clock()
        failed = block.status == "error"
        results = [_truncate(part, _RESULT_LENGTH, self._symbols.ellipsis) for part in _result_parts(block)]
        rest = self._join("", self._duration(call), *results)
        return (
            self._symbol("error" if failed else "done"),
            StyledText(f" {call.title}"),
            StyledText(rest, "bad" if failed else "dim"),
        )

    def lines(self) -> list[Line]:
        """The running calls, in the order in which the model made them."""
        return [self._line(call, self._duration(call)) for call in self._open.values()]

    def _line(self, call: _CallLine, duration: str = "") -> Line:
        tone: Tone = "normal" if call.status == "running" else "dim"
        rest = self._join("", call.progress, duration)
        return (self._symbol(call.status), StyledText(f" {call.title}", tone), StyledText(rest, "dim"))

    def _symbol(self, status: CallStatus) -> StyledText:
        match status:
            case "done":
                return StyledText(self._symbols.done, "good")
            case "error":
                return StyledText(self._symbols.failed, "bad")
            case _:
                return StyledText(self._symbols.waiting)

    def _duration(self, call: _CallLine) -> str:
        if call.started is None:
            return ""
        if call.ended is None:
            # Whole seconds: a line that changes less often is redrawn less often.
            return f"{int(self._clock() - call.started)}s"
        return f"{call.ended - call.started:.1f}s"

    def _join(self, first: str, *rest: str) -> str:
        return self._symbols.dot.join([first, *(part for part in rest if part)])


def _detail(arguments: dict[str, Any]) -> str:
    """The first argument that fits in a line: a query, a path, a URL; not the text of a file."""
    values = (value for value in arguments.values() if isinstance(value, str))
    return next((value.strip() for value in values if value.strip() and "\n" not in value), "")


def _result_parts(block: ToolResultBlock) -> list[str]:
    """The number of sources and what went wrong with them, or the first line of the result."""
    artifact = block.artifact or {}
    sources: Any = artifact.get("sources")
    if isinstance(sources, list) and block.status == "success":
        count = len(sources)  # pyright: ignore[reportUnknownArgumentType] - an artifact is foreign JSON
        return ["1 source" if count == 1 else f"{count} sources", *_deviations(artifact.get("receipt"))]
    return [block.content.strip().partition("\n")[0]]


def _deviations(receipt: Any) -> list[str]:
    try:
        return deviations(msgspec.convert(receipt, Receipt))
    except msgspec.ValidationError:
        return []


def _truncate(text: str, length: int, ellipsis: str) -> str:
    return text if len(text) <= length else text[: length - len(ellipsis)].rstrip() + ellipsis
