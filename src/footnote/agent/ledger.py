"""What a turn adds up to: its messages, its tokens and cost, its files, and how it ended."""

from collections.abc import Iterator

from footnote.agent.calls import Calls
from footnote.agent.context import question_at
from footnote.agent.digest import Summarised
from footnote.agent.turn import Digested, Kept, Turn
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
    TurnStopReason,
    TurnUsage,
)
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, Message, ToolResultMessage, Usage


class Ledger:
    """One per turn. `messages` grows by what is kept; the session's own history is not touched."""

    def __init__(self, turn: Turn, model: Model) -> None:
        self.messages: tuple[Message, ...] = turn.messages
        self._turn = turn
        self._model = model
        self._usage = Usage()
        self._cost: float | None = None if model.profile.price is None else 0.0
        self._files: dict[str, FileRecord] = {}

    @property
    def rounds(self) -> int:
        """Responses of this turn, those before a crash included."""
        turn = self.messages[question_at(self.messages) :]
        return sum(isinstance(message, AssistantMessage) for message in turn)

    def start(self) -> MessageStart:
        turn = self._turn
        return MessageStart(MessageHead(turn.message_id, "assistant", turn.run_id, turn.session_id, self._model.id))

    def keep(self, message: AssistantMessage | ToolResultMessage) -> Kept:
        self.messages = (*self.messages, message)
        if isinstance(message, AssistantMessage):
            self._spend(message.usage)
        return Kept(message)

    def keep_summary(self, summary: Summarised | None) -> Iterator[Digested]:
        """What a summary cost, if one was made, and the summary itself, if it is worth storing."""
        if summary is not None:
            self._spend(summary.usage)
            if summary.by_model:
                yield Digested(summary.digest)

    def _spend(self, usage: Usage) -> None:
        self._usage += usage
        price = self._model.profile.price
        if price is not None and self._cost is not None:
            self._cost += price.of(usage)

    def keep_answers(self, calls: Calls) -> Iterator[Kept]:
        """The results of a round and their files. One path is one file: the last writing of it counts."""
        for message in calls.messages:
            yield self.keep(message)
        for _, result in calls.results:
            if result.usage is not None:
                self._spend(result.usage)
        for file in calls.files:
            self._files.pop(file.path, None)
            self._files[file.path] = file

    def end(self, reason: TurnStopReason, numbering: Iterator[int], context: ContextReport) -> Iterator[Event]:
        """The last events of the turn, in the order in which every turn ends."""
        if self._files:
            index = next(numbering)
            yield BlockStart(index, AttachmentsBlock(tuple(self._files.values())))
            yield BlockStop(index)
        answers = (message for message in reversed(self.messages) if isinstance(message, AssistantMessage))
        failure = next(answers).failure
        if reason == "error" and failure is not None:
            yield ErrorEvent(ErrorBody(failure.type, failure.message, failure.retryable))
        spent = self._usage
        usage = TurnUsage(spent.input, spent.output, spent.cache_read, spent.cache_write, spent.reasoning, self._cost)
        yield MessageDelta(Delta(reason), usage, context)
        yield MessageStop()
