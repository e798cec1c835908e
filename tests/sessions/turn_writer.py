"""Sessions with turns, stored as a run stores them, without running one."""

from collections.abc import Sequence
from dataclasses import dataclass

from footnote.db import runs
from footnote.db import sessions as db
from footnote.db.engine import Database
from footnote.db.script import Steps, script, sql
from footnote.protocol import new_id
from footnote.protocol.events import ErrorBody, TurnStopReason
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, Message, Text, ToolCall, ToolResultMessage, user_message
from footnote.protocol.sessions import RunMode
from footnote.protocol.sources import Citation
from footnote.protocol.tools import Locale
from footnote.sessions.store import Sessions
from footnote.sessions.titles import title_of
from footnote.sessions.turns import RunEnding, RunRequest, encode
from footnote.text.search_terms import terms_of
from library.samples import TickingClock

DONE = "done"


@script
def add_user(user_id: str) -> Steps[None]:
    yield sql(
        "INSERT INTO account (id, name, name_key, role, created_at) VALUES (?, ?, ?, 'user', '')",
        user_id,
        user_id,
        user_id,
    )


def answer(text: str, *citations: Citation) -> AssistantMessage:
    return AssistantMessage((Text(text, citations),), "stop", "footnote/test")


def tool_calls(*calls: ToolCall) -> AssistantMessage:
    return AssistantMessage(calls, "toolUse", "footnote/test")


def tool_result(call_id: str, text: str, artifact: dict[str, object] | None = None) -> ToolResultMessage:
    return ToolResultMessage(call_id, "web_search", (Text(text),), artifact=artifact)


@dataclass
class StoredTurn:
    """The ids of a turn."""

    run_id: str
    question_id: str
    message_id: str


@dataclass
class TurnWriter:
    """Stores turns directly in the database."""

    database: Database
    sessions: Sessions
    clock: TickingClock

    async def session(self, *questions: str, user_id: str = "ann", title: str | None = None) -> str:
        """A session with these questions, each with an answer."""
        head = await self.sessions.create(user_id, "researcher", title=title)
        for question in questions:
            await self.turn(head.id, question, answer("Said."), user_id=user_id)
        return head.id

    async def turn(
        self,
        session_id: str,
        question: str,
        *messages: Message,
        user_id: str = "ann",
        state: str = DONE,
        reason: TurnStopReason = "stop",
        error: ErrorBody | None = None,
        locale: Locale = "en",
        attached: Sequence[FileRecord] = (),
        attachments: tuple[FileRecord, ...] = (),
        instead_of: "StoredTurn | None" = None,
        message_id: str | None = None,
        mode: RunMode = "answer",
        lease_seconds: float = 0.0,
    ) -> StoredTurn:
        """`instead_of`: the turn whose question is edited; this turn is another branch beside it. `lease_seconds`: of
        the process that carries on an active run."""
        new_question = runs.NewQuestion(
            new_id("msg"),
            encode(user_message(question)),
            encode(attached),
            "2026-01-01T00:00:00Z",
            after_run=await self._run_before(instead_of) if instead_of else None,
            is_branch=instead_of is not None,
        )
        asked = RunRequest("researcher", "footnote/test", locale, mode)
        turn = await self._create_run(
            session_id, new_question.id, user_id, asked, message_id, new_question, lease_seconds=lease_seconds
        )
        title = title_of(question)
        await self.database.write(db.set_title(session_id, title, terms_of(title)))
        await self.database.write(db.index_part(session_id, new_question.id, terms_of(question)))
        await self._finish_run(
            session_id, turn, messages, state, RunEnding(stop_reason=reason, error=error, attachments=attachments)
        )
        return turn

    async def retry(self, session_id: str, turn: StoredTurn, *messages: Message, user_id: str = "ann") -> StoredTurn:
        """Another answer to the same question."""
        asked = RunRequest("researcher", "footnote/test", "en")
        retried = await self._create_run(session_id, turn.question_id, user_id, asked, None, None)
        await self._finish_run(session_id, retried, messages, DONE, RunEnding(stop_reason="stop"))
        return retried

    async def _create_run(
        self,
        session_id: str,
        question_id: str,
        user_id: str,
        asked: RunRequest,
        message_id: str | None,
        question: runs.NewQuestion | None,
        *,
        lease_seconds: float = 0.0,
    ) -> StoredTurn:
        run = runs.NewRun(
            id=new_id("run"),
            session_id=session_id,
            user_id=user_id,
            question_id=question_id,
            message_id=message_id or new_id("msg"),
            asked=encode(asked),
            owner="me",
            lease_seconds=lease_seconds,
            now=self.clock(),
        )
        await self.database.write(runs.create_run(run, question, max_active=1_000))
        return StoredTurn(run.id, question_id, run.message_id)

    async def _finish_run(
        self, session_id: str, turn: StoredTurn, messages: Sequence[Message], state: str, ending: RunEnding
    ) -> None:
        lease = runs.Lease(turn.run_id, 0)
        for ordinal, message in enumerate(messages):
            await self.database.write(runs.store_message(lease, runs.StoredMessage(ordinal, 0, encode(message))))
        own = [message for message in messages if isinstance(message, AssistantMessage) and message.parent is None]
        text = "\n\n".join(message.text for message in own)
        await self.database.write(db.index_part(session_id, turn.message_id, terms_of(text)))
        if state in ("queued", "running"):
            await self.database.write(runs.set_running(lease))
        else:
            await self.database.write(runs.finish_run(lease, state, encode(ending), self.clock()))

    async def _run_before(self, turn: StoredTurn) -> str | None:
        return await self.database.read(_after_run(turn.question_id))


@script
def _after_run(question_id: str) -> Steps[str | None]:
    rows = yield sql("SELECT after_run FROM question WHERE id = ?", question_id)
    return rows[0][0]
