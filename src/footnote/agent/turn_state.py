"""The state of one turn: its messages, open calls, tokens, cost and files, and how all of that is closed at its end."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from msgspec import UNSET, UnsetType

from footnote.agent.calls import (
    INTERRUPTED,
    RESPONSE_BROKEN_OFF,
    Calls,
    final_statuses,
    result_block,
    result_message,
)
from footnote.agent.turn import CallBegun, CallEnded, HistorySummarised, Indexes, MessageCompleted, Step, Turn
from footnote.agent.window import SummaryResult, question_index
from footnote.evidence.second_look import SecondLookResult
from footnote.models.profiles import Price
from footnote.protocol.events import (
    AttachmentsBlock,
    BlockDelta,
    BlockStart,
    BlockStop,
    ContextReport,
    Delta,
    ErrorBody,
    ErrorEvent,
    MessageDelta,
    MessageHead,
    MessageStart,
    MessageStop,
    RoundRestart,
    ToolResultBlock,
    ToolStatus,
    TurnStopReason,
    TurnUsage,
)
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, Message, ToolCall, ToolResultMessage, Usage
from footnote.protocol.tools import ToolResult, error_result


@dataclass(slots=True)
class _CallProgress:
    """How far one call has come, and what followers have seen of it."""

    has_begun: bool = False
    result: ToolResult | None = None
    is_result_shown: bool = False
    statuses: set[ToolStatus] = field(default_factory=set[ToolStatus])


class TurnState:
    """One per turn. The loop changes it with every step; the caller of the loop may close a turn that broke off.

    `messages` is the session with the messages of this turn. `error`, `attachments` and `final_delta` are set by
    `close`.
    """

    def __init__(
        self, turn: Turn, model_id: str, price: Price | None = None, *, indexes: Indexes | None = None
    ) -> None:
        """`indexes`: those of several turns whose blocks are numbered as one series."""
        self.turn = turn
        self.messages: tuple[Message, ...] = turn.messages
        self.indexes = indexes or Indexes(turn.resumed.blocks if turn.resumed else 0)
        self.error: ErrorBody | None = None
        self.attachments: tuple[FileRecord, ...] = ()
        self.final_delta: MessageDelta | None = None
        self._model_id = model_id
        self._price = price
        self.usage = Usage()
        self.cost: float | None = None if price is None else 0.0
        self._context = ContextReport(0, 0)
        self._files: dict[str, FileRecord] = {}
        self._open_blocks: dict[int, str | UnsetType] = {}
        """The item of the plan to which each open block belongs, if there is one."""
        self._calls: defaultdict[str, _CallProgress] = defaultdict(_CallProgress)
        if turn.resumed is not None:
            for message in self.responses:
                self._add_usage(message.usage)
            self._add_usage(turn.resumed.usage)
            self.add_files(turn.resumed.files)
            for call_id in turn.resumed.started_calls:
                self._calls[call_id].has_begun = True
            for call_id, result in turn.resumed.results.items():
                self._calls[call_id].result = result

    def beside(self, turn: Turn) -> "TurnState":
        """That of another turn of the same model, whose blocks are numbered with the blocks of this one."""
        return TurnState(turn, self._model_id, self._price, indexes=self.indexes)

    @property
    def responses(self) -> list[AssistantMessage]:
        """The responses of this turn, those before a crash included."""
        return [message for message in self._turn_messages() if isinstance(message, AssistantMessage)]

    def _turn_messages(self) -> tuple[Message, ...]:
        return self.messages[question_index(self.messages) :]

    def start(self) -> MessageStart | RoundRestart:
        turn = self.turn
        if turn.resumed is not None:
            return RoundRestart(turn.resumed.blocks)
        return MessageStart(MessageHead(turn.message_id, "assistant", turn.run_id, turn.session_id, self._model_id))

    def interrupted_response(self) -> AssistantMessage | None:
        """The last response before a crash, if the turn goes on with its calls or was complete with it."""
        responses = self.responses
        if not responses or (responses[-1].calls and not self.open_calls()):
            return None
        return responses[-1]

    def open_calls(self) -> tuple[ToolCall, ...]:
        """The calls of the last response for which there is no result message yet."""
        answered = {message.tool_call_id for message in self._turn_messages() if isinstance(message, ToolResultMessage)}
        calls = self.responses[-1].calls if self.responses else ()
        return tuple(call for call in calls if call.id not in answered)

    # The steps of the loop ---------------------------------------------------------------------------------

    def observe(self, step: Step) -> None:
        """Notes what a step opens, closes or finishes."""
        if type(step) is BlockDelta:  # nearly every step is a delta, and changes nothing here
            return
        match step:
            case BlockStart(index, block):
                self._open_blocks[index] = step.parent
                if isinstance(block, ToolResultBlock):
                    self._calls[block.tool_use_id].is_result_shown = True
            case BlockStop(index):
                self._open_blocks.pop(index, None)
            case ToolStatus():
                self._calls[step.tool_use_id].statuses.add(step)
            case CallBegun(call_id):
                self._calls[call_id].has_begun = True
            case CallEnded(call_id, result):
                self._calls[call_id].result = result
                self.add_files(result.files)
            case _:
                pass

    def append_response(self, message: AssistantMessage, review: SecondLookResult | None = None) -> MessageCompleted:
        """`review`: the second look at its last text."""
        self.messages = (*self.messages, message)
        self._add_usage(message.usage)
        if review is not None:
            self.record_usage(review.usage, review.cost)
        return MessageCompleted(message, self.indexes.count)

    def append_results(self, calls: Calls) -> Iterator[MessageCompleted]:
        """The results of a round. Each of them was shown as one block."""
        blocks_before = self.indexes.count - len(calls.results)
        for number, (call, result) in enumerate(calls.results, 1):
            yield self._append_result(call, result, blocks_before + number)

    def _append_result(self, call: ToolCall, result: ToolResult, blocks: int) -> MessageCompleted:
        message = result_message(call, result)
        self.messages = (*self.messages, message)
        if result.usage is not None:
            self._add_usage(result.usage)
        self.add_files(result.files)
        return MessageCompleted(message, blocks)

    def record_summary(self, summary: SummaryResult | None) -> Iterator[HistorySummarised]:
        """Counts what a summary of the history cost, and hands it up for storing if a model wrote it."""
        if summary is not None:
            self._add_usage(summary.usage)
            if summary.by_model:
                yield HistorySummarised(summary.summary)

    def record_usage(self, usage: Usage, cost: float | None) -> None:
        """Counts what somebody else used for this turn, such as a second look, whose model may have another price."""
        self.usage += usage
        self.cost = None if self.cost is None or cost is None else self.cost + cost

    @property
    def written_files(self) -> tuple[FileRecord, ...]:
        """The files that this turn has written, each once."""
        return tuple(self._files.values())

    def add_files(self, files: Iterable[FileRecord]) -> None:
        """One path is one file: the last write to it counts."""
        for file in files:
            self._files.pop(file.path, None)
            self._files[file.path] = file

    def _add_usage(self, usage: Usage) -> None:
        self.usage += usage
        if self._price is not None and self.cost is not None:
            self.cost += self._price.cost(usage)

    # The end -----------------------------------------------------------------------------------------------

    def close(
        self,
        reason: TurnStopReason,
        error: ErrorBody | None = None,
        context: ContextReport | None = None,
        *,
        unsourced: bool = False,
    ) -> list[Step]:
        """The last steps of the turn. In a turn that broke off, an open block and open calls are closed first.
        `unsourced`: its answer states facts that nothing was looked up for.

        May be called again, with another reason, if the end could not be stored: what is closed stays closed.
        """
        steps: list[Step] = [BlockStop(index, parent) for index, parent in self._open_blocks.items()]
        self._open_blocks.clear()
        for call in self.open_calls():
            steps += self._close_call(call)
        if self._files and not self.attachments:
            self.attachments = tuple(self._files.values())
            index = next(self.indexes)
            steps += (BlockStart(index, AttachmentsBlock(self.attachments)), BlockStop(index))
        if error is not None:
            self.error = error
            steps.append(ErrorEvent(error))
        if context is not None:
            self._context = context
        self.final_delta = MessageDelta(
            Delta(reason, unsourced=unsourced or UNSET), TurnUsage.of(self.usage, self.cost), self._context
        )
        return [*steps, self.final_delta, MessageStop()]

    def _close_call(self, call: ToolCall) -> Iterator[Step]:
        """Every call goes through all its statuses and gets a result, whatever ended the turn."""
        progress = self._calls[call.id]
        result = progress.result or error_result(INTERRUPTED if progress.has_begun else RESPONSE_BROKEN_OFF)
        if not progress.is_result_shown:
            yield from (status for status in final_statuses(call, result) if status not in progress.statuses)
            index = next(self.indexes)
            yield BlockStart(index, result_block(call, result))
            yield BlockStop(index)
        yield self._append_result(call, result, self.indexes.count)
