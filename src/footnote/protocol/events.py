"""The events of a whole turn, as clients follow it.

`index` counts blocks through the whole turn, over all its rounds. Every block is opened and closed; `tool_use`,
`tool_result`, `attachments` and `plan` are complete in their `content_block_start`. In a research run, the events of an
item of the plan have its id as `parent`.
"""

from collections.abc import Mapping
from typing import Any, Literal, Self, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from footnote.protocol.errors import ErrorParam, FootnoteError
from footnote.protocol.files import FileRecord, ToolImage
from footnote.protocol.messages import Failure, Usage
from footnote.protocol.plans import Budget, PlanItem, Spent
from footnote.protocol.sources import Citation

TurnStopReason: TypeAlias = Literal["stop", "length", "tool_use", "error", "aborted", "max_rounds"]
CallStatus: TypeAlias = Literal["pending", "running", "done", "error"]


class TextBlock(Struct, frozen=True, tag="text"):
    text: str = ""


class ThinkingBlock(Struct, frozen=True, tag="thinking"):
    thinking: str = ""


class ToolUseBlock(Struct, frozen=True, tag="tool_use"):
    """`tool_content_message` is a short title of the call in the user's language."""

    id: str
    name: str
    tool_content_message: str
    input: dict[str, Any]


class ToolResultBlock(Struct, frozen=True, tag="tool_result"):
    """`images`: those that the tool returned, if any."""

    tool_use_id: str
    name: str
    status: Literal["success", "error"]
    content: str
    artifact: dict[str, Any] | None = None
    images: tuple[ToolImage, ...] | UnsetType = UNSET


class AttachmentsBlock(Struct, frozen=True, tag="attachments"):
    files: tuple[FileRecord, ...]


class PlanBlock(Struct, frozen=True, tag="plan"):
    """The plan of a research run. Later states come as `plan_update`. `steering`: what the user said while the run went
    on."""

    items: tuple[PlanItem, ...]
    steering: tuple[str, ...] | UnsetType = UNSET


ContentBlock: TypeAlias = TextBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock | AttachmentsBlock | PlanBlock


class TextGrowth(Struct, frozen=True, tag="text_delta", gc=False):
    text: str


class ThinkingGrowth(Struct, frozen=True, tag="thinking_delta", gc=False):
    thinking: str


class CitationsGrowth(Struct, frozen=True, tag="citations_delta"):
    citations: tuple[Citation, ...]


Growth: TypeAlias = TextGrowth | ThinkingGrowth | CitationsGrowth


class MessageHead(Struct, frozen=True):
    id: str
    role: Literal["assistant"]
    run_id: str
    session_id: str
    model: str


class MessageStart(Struct, frozen=True, tag="message_start"):
    message: MessageHead


class BlockStart(Struct, frozen=True, tag="content_block_start"):
    index: int
    content_block: ContentBlock
    parent: str | UnsetType = UNSET


class BlockDelta(Struct, frozen=True, tag="content_block_delta", gc=False):
    index: int
    delta: Growth
    parent: str | UnsetType = UNSET


class BlockStop(Struct, frozen=True, tag="content_block_stop", gc=False):
    index: int
    parent: str | UnsetType = UNSET


class ToolStatus(Struct, frozen=True, tag="tool_status"):
    tool_use_id: str
    status: CallStatus
    parent: str | UnsetType = UNSET


class ToolProgress(Struct, frozen=True, tag="tool_progress"):
    """`done` of `total` (null: unknown). `stage` and `label` are the tool's own words: `reading`, `simplize.vn`."""

    tool_use_id: str
    stage: str
    done: int
    total: int | None
    label: str
    parent: str | UnsetType = UNSET


class ApprovalReason(Struct, frozen=True):
    """Why a call needs approval. `setting`: its tool is configured so. `number` and `quote`: the source from which a
    part of the call comes, if that is the reason."""

    kind: Literal["setting"]
    number: int | UnsetType = UNSET
    quote: str | UnsetType = UNSET


class ApprovalRequired(Struct, frozen=True, tag="approval_required"):
    """The call waits for the user. Once the user has decided, its `tool_status` becomes `running`."""

    tool_use_id: str
    name: str
    input: dict[str, Any]
    reasons: tuple[ApprovalReason, ...]
    parent: str | UnsetType = UNSET


class PlanUpdate(Struct, frozen=True, tag="plan_update"):
    """The plan in the block `index` as it is now."""

    index: int
    items: tuple[PlanItem, ...]
    steering: tuple[str, ...] | UnsetType = UNSET


class BudgetUpdate(Struct, frozen=True, tag="budget_update"):
    """What a run with a budget has used so far."""

    budget: Budget
    spent: Spent


class TurnUsage(Struct, frozen=True):
    """Tokens of all rounds together. `cost` is in US dollars, null if the price is not known."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    cost: float | None = None

    @classmethod
    def of(cls, usage: Usage, cost: float | None) -> "TurnUsage":
        return cls(usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning, cost)


class ContextReport(Struct, frozen=True):
    """How full the model's context window was in the last round, and what was left out of the request to fit.

    The user's history keeps all of it. `tokens` is an estimate made before the request.
    """

    tokens: int
    window: int
    shortened_results: int = 0
    shortened_texts: int = 0
    summarised_turns: int = 0


class Delta(Struct, frozen=True):
    """`unsourced`: the answer states facts, and nothing was looked up for it. Left out otherwise."""

    stop_reason: TurnStopReason
    unsourced: bool | UnsetType = UNSET


class MessageDelta(Struct, frozen=True, tag="message_delta"):
    """`timestamp`: when the turn ended, ISO 8601 in UTC, the same as in the history. Only a stored run has one."""

    delta: Delta
    usage: TurnUsage
    context: ContextReport
    timestamp: str | UnsetType = UNSET


class RoundRestart(Struct, frozen=True, tag="round_restart"):
    from_index: int


class Gap(Struct, frozen=True, tag="gap"):
    """The events between these two ids were deleted: their content is in the history of the session."""

    after: int
    before: int


class MessageStop(Struct, frozen=True, tag="message_stop"):
    pass


class RefusedFile(Struct, frozen=True):
    """A file of a request that was refused, and why."""

    name: str
    message: str
    code: str
    params: Mapping[str, ErrorParam]


class RefusedStatement(Struct, frozen=True):
    """A statement for which a document was refused. `numbers` are those of the sources that it cites, `missing` is what
    they do not say, `quote` the passage of a page that comes nearest."""

    statement: str
    verdict: str
    start: int
    end: int
    numbers: tuple[int, ...]
    missing: str | None = None
    quote: str | None = None


class ErrorBody(Struct, frozen=True):
    """`code` names the reason, and `params` are the variable parts of the message, so that a client can show it in the
    language of its user. `files`: of a request with several files, those that were refused. `statements`: of a document
    that was refused for what it says, the statements that its sources do not support. Events that were stored by older
    versions have none of these."""

    type: str
    message: str
    retryable: bool
    code: str | UnsetType = UNSET
    params: Mapping[str, ErrorParam] | UnsetType = UNSET
    files: tuple[RefusedFile, ...] | UnsetType = UNSET
    statements: tuple[RefusedStatement, ...] | UnsetType = UNSET

    @classmethod
    def from_error(cls, error: FootnoteError, message: str | None = None) -> Self:
        """`message` replaces that of the error, for example by the one for users who do not run the server."""
        return cls(
            error.type,
            error.message if message is None else message,
            error.retryable,
            error.code,
            error.params or UNSET,
            tuple(RefusedFile(*refusal) for refusal in error.refused_files) or UNSET,
            tuple(RefusedStatement(*refusal) for refusal in error.refused_statements) or UNSET,
        )

    @classmethod
    def from_failure(cls, failure: Failure) -> Self:
        facts = (failure.code or UNSET, failure.params or UNSET)
        return cls(failure.type, failure.message, failure.retryable, *facts)


class ErrorEvent(Struct, frozen=True, tag="error"):
    error: ErrorBody


class Ping(Struct, frozen=True, tag="ping"):
    pass


Event: TypeAlias = (
    MessageStart
    | BlockStart
    | BlockDelta
    | BlockStop
    | ToolStatus
    | ToolProgress
    | ApprovalRequired
    | PlanUpdate
    | BudgetUpdate
    | MessageDelta
    | RoundRestart
    | Gap
    | MessageStop
    | ErrorEvent
    | Ping
)


def item_of(event: Event) -> str | None:
    """The item of the plan of a research run to which an event belongs; None: it is an event of the run itself."""
    parent = getattr(event, "parent", UNSET)
    return parent if isinstance(parent, str) else None


def event_schemas() -> dict[str, Any]:
    """The JSON Schema of each event by its `type`, with the shared `$defs` in each."""
    return {str(kind.__struct_config__.tag): msgspec.json.schema(kind) for kind in get_args(Event)}
