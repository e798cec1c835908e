"""Sessions and runs, as clients ask for them and see them."""

import re
from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from footnote.protocol.events import ErrorBody, TurnStopReason, TurnUsage
from footnote.protocol.history import SessionHead
from footnote.protocol.plans import Budget, Spent
from footnote.protocol.sources import Link, Quote, SourceStatus
from footnote.protocol.tools import LOCALES, Locale

MAX_TITLE_LENGTH = 200
MAX_QUESTION_LENGTH = 1_000_000
MAX_ATTACHMENTS = 100
MAX_NOTE_LENGTH = 2000
MAX_CLIENT_ID_LENGTH = 100

Title: TypeAlias = Annotated[str, Meta(min_length=1, max_length=MAX_TITLE_LENGTH)]
Content: TypeAlias = Annotated[str, Meta(min_length=1, max_length=MAX_QUESTION_LENGTH)]
LanguageTag: TypeAlias = Annotated[
    str, Meta(max_length=60, pattern=r"^([A-Za-z]{1,8}([-_.@][A-Za-z0-9]{1,8})*)?$(?!\n)")
]
"""Such as `vi`, `vi-VN`, `zh-Hans-CN` or, from a shell, `vi_VN.UTF-8`; an empty tag names no language."""
ClientId: TypeAlias = Annotated[str, Meta(max_length=MAX_CLIENT_ID_LENGTH, pattern=r"^[A-Za-z0-9._:-]+$(?!\n)")]
"""Made by the client, for instance a UUID."""
Attachments: TypeAlias = Annotated[tuple[str, ...], Meta(max_length=MAX_ATTACHMENTS)]

Origin: TypeAlias = Literal["page", "api"]
"""`api`: one call of a compatible API."""
RunMode: TypeAlias = Literal["answer", "check", "research"]
"""`check`: the statements of a text are compared with the pages that it links to, without a model. `research`: a plan,
readers for its items side by side, and a report."""
QuestionMode: TypeAlias = Literal["answer", "research"]
TemplateName: TypeAlias = Annotated[str, Meta(max_length=64, pattern=r"^[A-Za-z0-9_ -]+$(?!\n)")]
"""Of a report: `fact-sheet`, which may be written `Fact sheet` or `fact_sheet`."""
RunState: TypeAlias = Literal["queued", "running", "waiting", "done", "failed", "cancelled"]
"""`queued → running → done | failed | cancelled`; `waiting`: from `running` and back, while a call waits for the user's
approval. A run in one of the first three states is active."""
ACTIVE: frozenset[RunState] = frozenset({"queued", "running", "waiting"})
ApprovalDecision: TypeAlias = Literal["once", "session", "always", "deny"]
"""`once`: this call; `session`: all calls of this tool in this session; `always`: all calls of this tool in all
sessions that the user has with this agent."""


class NewSession(Struct, frozen=True, forbid_unknown_fields=True):
    agent_id: str | None = None
    title: Title | None = None


class SessionChanges(Struct, frozen=True, forbid_unknown_fields=True):
    """`head`: a message of the branch to show from now on."""

    title: Title | UnsetType = UNSET
    head: str | UnsetType = UNSET


class FoundSession(SessionHead, frozen=True, kw_only=True):
    """A session in a list. `excerpt`: the text around the first match of the search, on one line and without marks;
    null without a search. `message_id` or `path`: the message or the file with the match; both null: it is in the
    title."""

    updated_at: str
    active_run_id: str | None = None
    excerpt: str | None = None
    message_id: str | None = None
    path: str | None = None


class BundleCheck(Struct, frozen=True):
    """What was verified of a bundle before its import, all of which is valid. `entries`: those whose hash was compared.
    `verdicts`: those that were judged again. `otherwise`: how many of these another version of Footnote gave, and this
    one would give differently. `notes`: what could not be verified."""

    entries: int
    quotations: int
    verdicts: int
    otherwise: int
    seal: str
    notes: tuple[str, ...] = ()


class ImportedSession(SessionHead, frozen=True, kw_only=True):
    """A session that was imported from a bundle."""

    checked: BundleCheck


class SessionPage(Struct, frozen=True):
    """Newest first. `next_cursor` leads to the next page; null: there is none."""

    sessions: tuple[FoundSession, ...]
    next_cursor: str | None = None


class NewMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """A question. `attachments` are paths of files of the session; left out: none or, for an edited question, those of
    the original. `locale`: the language for the titles of tool calls, if it is one of ours; otherwise that of
    `Accept-Language`, or else of the question. `client_id`: an id that the client makes for this message. A request
    with an id that the session already has is answered with the run of the first request with it, whatever else the
    request contains: a client that lost the response can safely send it again. `mode`: `research` makes a plan and a
    report. `budget`: what the run may use, instead of the limits of the agent. `template`: that of the report; left
    out: the template of the agent, or one that fits the question."""

    content: Content
    attachments: Attachments | None = None
    model: str | None = None
    locale: LanguageTag | None = None
    client_id: ClientId | None = None
    mode: QuestionMode | None = None
    budget: Budget | None = None
    template: TemplateName | None = None


class NewCheck(Struct, frozen=True, forbid_unknown_fields=True):
    """A text, or the address of a page, whose statements are compared with the pages that it links to: one of the two.
    `locale`: the language of the report; otherwise that of `Accept-Language`, or else of the text. `client_id`: an id
    that the client makes for this check, as in a question: the same id again is answered with the same check."""

    text: Content | None = None
    url: Content | None = None
    locale: LanguageTag | None = None
    client_id: ClientId | None = None


class ClarifyRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A question that is going to be researched. `model`: that of the run; left out: the model of the agent."""

    content: Content
    agent_id: str | None = None
    model: str | None = None
    locale: LanguageTag | None = None


class RetryRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Asks for another answer to a question."""

    model: str | None = None
    locale: LanguageTag | None = None


class StartedRun(Struct, frozen=True):
    """`message_id` is the id of the answer, `question_id` that of the question. `timestamp`: the start of the run,
    ISO 8601 in UTC."""

    run_id: str
    session_id: str
    message_id: str
    question_id: str
    timestamp: str | UnsetType = UNSET


class RunView(Struct, frozen=True, kw_only=True):
    """The state of a run. `usage` and `stop_reason` are known when it has ended, `error` when it failed. `budget` and
    `spent`: of a run with a budget."""

    run_id: str
    session_id: str
    message_id: str
    state: RunState
    model: str
    created_at: str
    ended_at: str | None = None
    stop_reason: TurnStopReason | None = None
    usage: TurnUsage | None = None
    error: ErrorBody | None = None
    mode: RunMode = "answer"
    budget: Budget | UnsetType = UNSET
    spent: Spent | UnsetType = UNSET


class Approval(Struct, frozen=True, forbid_unknown_fields=True):
    """The user's decision on a waiting call. `note`: what the model reads with a `deny`."""

    decision: ApprovalDecision
    note: Annotated[str, Meta(max_length=MAX_NOTE_LENGTH)] | None = None


class SourceSnapshot(Struct, frozen=True, kw_only=True):
    """A text that was read from a source. `quotes` are the passages of it that searches and answers rest on, in order.
    They and `links` have offsets in `text`, which count code points; `pages` are the offsets at which the pages of a
    PDF begin."""

    id: str
    title: str
    text: str
    media_type: str
    fetched_at: str
    links: tuple[Link, ...] = ()
    pages: tuple[int, ...] = ()
    quotes: tuple[Quote, ...] = ()


class SourceView(Struct, frozen=True, kw_only=True):
    """The source of a footnote. `snapshots`: all texts that were read from it in this session, the latest first; empty
    if nothing could be read."""

    number: int
    url: str
    title: str
    domain: str
    status: SourceStatus | None = None
    published: str | None = None
    fetched_at: str | None = None
    snapshots: tuple[SourceSnapshot, ...] = ()


def parse_locale(tag: str | None) -> Locale | None:
    """The language of a tag, if it is one of ours."""
    language = re.split(r"[-_.@]", (tag or "").lower())[0]
    return next((locale for locale in LOCALES if locale == language), None)
