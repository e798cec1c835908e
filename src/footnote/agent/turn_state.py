"""What a turn adds up to: its messages, its tokens and cost, its files, and how it ended."""

from collections.abc import Iterable, Iterator

from footnote.agent.calls import Calls
from footnote.agent.summary import SummaryResult
from footnote.agent.turn import HistorySummarised, Indexes, MessageCompleted, Turn
from footnote.agent.window import question_index
from footnote.models.base import Model
from footnote.protocol.events import (
    AttachmentsBlock,
    BlockStart,
    BlockStop,
    ContextReport,
    Delta,
    ErrorBody,
    ErrorEvent,
    Event,
    MessageDelta,
    MessageHead,
    MessageStart,
    MessageStop,
    RoundRestart,
    TurnStopReason,
    TurnUsage,
)
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, Message, ToolCall, ToolResultMessage, Usage


class TurnState:
    """One per turn. `messages` grows by what is kept; the session's own history is not touched."""

    def __init__(self, turn: Turn, model: Model) -> None:
        self.messages: tuple[Message, ...] = turn.messages
        self._turn = turn
        self._model = model
        self._usage = Usage()
        self._cost: float | None = None if model.profile.price is None else 0.0
        self._files: dict[str, FileRecord] = {}
        if turn.resumed is not None:
            for message in self._turn_messages():
                self._add_usage(message.usage if isinstance(message, AssistantMessage) else Usage())
            self._add_usage(turn.resumed.usage)
            self._add_files(turn.resumed.files)

    @property
    def rounds(self) -> int:
        """Responses of this turn, those before a crash included."""
        return sum(isinstance(message, AssistantMessage) for message in self._turn_messages())

    def _turn_messages(self) -> tuple[Message, ...]:
        return self.messages[question_index(self.messages) :]

    def start(self) -> MessageStart | RoundRestart:
        turn = self._turn
        if turn.resumed is not None:
            return RoundRestart(turn.resumed.blocks)
        return MessageStart(MessageHead(turn.message_id, "assistant", turn.run_id, turn.session_id, self._model.id))

    def interrupted_response(self) -> AssistantMessage | None:
        """The response after which a crash came, if it came before all its calls were answered."""
        responses = [message for message in self._turn_messages() if isinstance(message, AssistantMessage)]
        if not responses or (responses[-1].calls and not self.open_calls(responses[-1])):
            return None
        return responses[-1]

    def open_calls(self, message: AssistantMessage) -> tuple[ToolCall, ...]:
        """Those that no result is kept of."""
        answered = {said.tool_call_id for said in self._turn_messages() if isinstance(said, ToolResultMessage)}
        return tuple(call for call in message.calls if call.id not in answered)

    def append_message(self, message: AssistantMessage | ToolResultMessage, blocks: int) -> MessageCompleted:
        self.messages = (*self.messages, message)
        if isinstance(message, AssistantMessage):
            self._add_usage(message.usage)
        return MessageCompleted(message, blocks)

    def record_summary(self, summary: SummaryResult | None) -> Iterator[HistorySummarised]:
        """What a summary cost, if one was made, and the summary itself, if it is worth storing."""
        if summary is not None:
            self._add_usage(summary.usage)
            if summary.by_model:
                yield HistorySummarised(summary.summary)

    def _add_usage(self, usage: Usage) -> None:
        self._usage += usage
        price = self._model.profile.price
        if price is not None and self._cost is not None:
            self._cost += price.cost(usage)

    def append_results(self, calls: Calls, indexes: Indexes) -> Iterator[MessageCompleted]:
        """The results of a round, each of them one block, and their files."""
        before = indexes.count - len(calls.results)
        for number, message in enumerate(calls.messages, 1):
            yield self.append_message(message, before + number)
        for _, result in calls.results:
            if result.usage is not None:
                self._add_usage(result.usage)
        self._add_files(calls.files)

    def _add_files(self, files: Iterable[FileRecord]) -> None:
        """One path is one file: the last writing of it counts."""
        for file in files:
            self._files.pop(file.path, None)
            self._files[file.path] = file

    def end(self, reason: TurnStopReason, indexes: Indexes, context: ContextReport) -> Iterator[Event]:
        """The last events of the turn, in the order in which every turn ends."""
        if self._files:
            index = next(indexes)
            yield BlockStart(index, AttachmentsBlock(tuple(self._files.values())))
            yield BlockStop(index)
        answers = (message for message in reversed(self.messages) if isinstance(message, AssistantMessage))
        failure = next(answers).failure
        if reason == "error" and failure is not None:
            yield ErrorEvent(ErrorBody(failure.type, failure.message, failure.retryable))
        yield MessageDelta(Delta(reason), TurnUsage.of(self._usage, self._cost), context)
        yield MessageStop()
