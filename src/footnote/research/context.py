"""What the steps of one research run share, and what is stored of it so far."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import chain

from msgspec import UNSET

from footnote.agent.budget import RunBudget
from footnote.agent.turn_state import TurnState
from footnote.agent.window import Window
from footnote.cancel import CancelScope
from footnote.models.base import Model, Options
from footnote.models.completion import Completion, complete
from footnote.models.reader import ReaderModel
from footnote.protocol.messages import AssistantMessage, Message, Plan, ToolCall, call_ids
from footnote.protocol.tools import Locale
from footnote.research.findings import Finding
from footnote.research.plan import PlanBoard
from footnote.research.reader import CallIds
from footnote.research.records import ItemRecords
from footnote.research.run_plan import RunPlan
from footnote.research.templates import Template
from footnote.tools.approval import Approver
from footnote.tools.base import Abilities
from footnote.tools.registry import Toolbox

WRITE_TOOL = "write_file"
MAX_REPLY_TOKENS = 2_000
REPLY_SECONDS = 60.0
"""A plan, or a look for gaps, that takes longer is made by rule, or left out."""
CLOSING_SHARE = 0.9
"""The share of the time of a run after which nothing is written or repaired by a model."""


@dataclass(frozen=True, slots=True)
class ResearchSetup:
    """What a research run has beside what any turn has. `item_messages` and `progress` were stored before a crash."""

    question: str
    board: PlanBoard
    budget: RunBudget
    template: Template
    max_questions: int
    at_once: int
    item_messages: Mapping[str, tuple[Message, ...]] = field(default_factory=dict[str, tuple[Message, ...]])
    progress: bytes | None = None


class ResearchContext:
    """One per run. `state` is that of its turn: the question, the plan, the report and the answer; `records` are the
    messages of the items."""

    def __init__(
        self,
        state: TurnState,
        model: Model,
        toolbox: Toolbox,
        abilities: Abilities,
        cancel: CancelScope,
        approver: Approver,
        setup: ResearchSetup,
    ) -> None:
        self.state = state
        self.model = model
        self.toolbox = toolbox
        self.abilities = abilities
        self.cancel = cancel
        self.approver = approver
        self.setup = setup
        self.budget = setup.budget
        self.locale: Locale = state.turn.locale
        self.window = Window(state.turn, model)
        self.plan = RunPlan(setup.board, state.indexes, model.id)
        self.records = ItemRecords(setup.item_messages)
        self.report = ""
        """The report that was written in this process, before it was repaired."""
        self.call_ids = CallIds(_stored_call_ids(setup.item_messages.values(), state))

    async def ask(self, system: str, prompt: str) -> Completion:
        """A request about the plan, within the budget. The message of the plan says what it used."""
        model = self.budget.model(self.model)
        options = Options(max_tokens=min(MAX_REPLY_TOKENS, model.profile.max_output))
        reply = await complete(model, system, prompt, options, self.cancel, REPLY_SECONDS)
        self.plan.usage += reply.usage
        self.state.record_usage(reply.usage, reply.cost)
        return reply

    def findings(self) -> tuple[Finding, ...]:
        return self.records.findings(self.plan.state.items, self.abilities.sources, is_quoted=self.is_by_rule)

    @property
    def is_by_rule(self) -> bool:
        """Whether there is no model, or one that is too small to plan."""
        return isinstance(self.model, ReaderModel) or self.model.profile.is_small

    @property
    def is_out_of_time(self) -> bool:
        return self.seconds_left <= 0

    @property
    def seconds_left(self) -> float:
        """Until models write nothing more."""
        limit = self.budget.limits.seconds
        return float("inf") if limit is UNSET else CLOSING_SHARE * limit - self.budget.spent.seconds

    @property
    def today(self) -> date:
        return date.today()  # noqa: DTZ011 - the local date is meant

    # What is stored ----------------------------------------------------------------------------------------

    @property
    def plan_message(self) -> AssistantMessage | None:
        return next((response for response in self.state.responses if _is_plan(response)), None)

    @property
    def write_call(self) -> ToolCall | None:
        """The call that writes the report."""
        calls = chain.from_iterable(response.calls for response in self.state.responses)
        return next((call for call in calls if call.name == WRITE_TOOL), None)

    @property
    def has_answered(self) -> bool:
        last = self.state.responses[-1] if self.state.responses else None
        return last is not None and not last.calls and not _is_plan(last) and bool(last.text.strip())


def _is_plan(message: AssistantMessage) -> bool:
    return any(isinstance(block, Plan) for block in message.content)


def _stored_call_ids(items: Iterable[Sequence[Message]], state: TurnState) -> Iterator[str]:
    """The ids of all calls that were made before a crash."""
    yield from call_ids((*chain.from_iterable(items), *state.messages))
    if state.turn.resumed is not None:
        yield from state.turn.resumed.started_calls
        yield from state.turn.resumed.results
