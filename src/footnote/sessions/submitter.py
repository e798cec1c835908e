"""Stores questions with their runs, which have a lease of this process from the start."""

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from footnote.db import files as db_files
from footnote.db import runs as db
from footnote.db import sessions as index
from footnote.db.engine import Database
from footnote.db.runs import TurnRow, turns
from footnote.db.script import Script, Steps, script
from footnote.protocol import format_time, new_id
from footnote.protocol.errors import Unknown, UsageError
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, user_message
from footnote.protocol.sessions import NewMessage
from footnote.sessions.run import RunHead
from footnote.sessions.titles import title_of
from footnote.sessions.turns import RunEnding, RunRequest, encode, find_turn
from footnote.text.search_terms import index_terms, terms_of

_BATCH_TURNS = 100


class SubmittedRun(Struct, frozen=True):
    """A stored run. Unless `is_new`, an earlier request with the same `client_id` created it, and it is already
    executed."""

    head: RunHead
    is_new: bool = True


class RunSubmitter:
    """Stores questions with their runs, which have a lease of `owner` from the start: a new question, one that is asked
    again, one that was changed."""

    def __init__(
        self, database: Database, owner: str, *, max_active: int, lease_seconds: float, clock: Callable[[], float]
    ) -> None:
        self._database = database
        self._owner = owner
        self._max_active = max_active
        self._lease_seconds = lease_seconds
        self._clock = clock

    async def submit(
        self,
        user_id: str,
        session_id: str,
        new: NewMessage,
        asked: RunRequest,
        *,
        files: Sequence[FileRecord] = (),
        instead_of: TurnRow | None = None,
    ) -> SubmittedRun:
        """`instead_of`: the turn whose question is changed; the new turn is a branch beside it."""
        if not new.content.strip():
            raise UsageError("The question is empty.", code="question_empty")
        question_id, now = new_id("msg"), self._clock()
        question = db.NewQuestion(
            question_id,
            encode(user_message(new.content)),
            encode([_with_message_id(file, question_id) for file in files]),
            format_time(now),
            after_run=instead_of.after_run if instead_of else None,
            is_branch=instead_of is not None,
        )
        run = self._new_run(user_id, session_id, question.id, asked, now, new.client_id)
        title = title_of(new.content)
        uploads = [file.id for file in files if file.source == "upload"]
        words = _QuestionText(title, terms_of(title), await index_terms(new.content))
        same = await self._database.write(self._create_run(run, question, words, uploads))
        # A transaction whose commit was not confirmed is repeated, and finds the run that it has created itself.
        if same is not None and same.id != run.id:
            return SubmittedRun(RunHead.from_row(same), is_new=False)
        return SubmittedRun(_head(run, asked))

    async def find_submitted(self, user_id: str, session_id: str, client_id: str | None) -> RunHead | None:
        """The run of the message that the client has already submitted with this id."""
        if client_id is None:
            return None
        same = await self._database.read(db.run_by_client_id(session_id, client_id))
        return RunHead.from_row(same) if same is not None and same.user_id == user_id else None

    async def resubmit(self, user_id: str, session_id: str, turn: TurnRow, request: RunRequest) -> SubmittedRun:
        """Stores another run for the question of a turn."""
        run = self._new_run(user_id, session_id, turn.question_id, request, self._clock())
        await self._database.write(db.create_run(run, None, max_active=self._max_active))
        return SubmittedRun(_head(run, request))

    async def record(
        self,
        user_id: str,
        session_id: str,
        answered: Sequence[tuple[str, Sequence[AssistantMessage]]],
        asked: RunRequest,
    ) -> None:
        """Stores turns that were answered elsewhere, in batches, so that other writers get their turn in between."""
        for first in range(0, len(answered), _BATCH_TURNS):
            some = answered[first : first + _BATCH_TURNS]
            await self._database.write(
                self._record_all([self._record_turn(user_id, session_id, *one, asked) for one in some])
            )

    def _record_turn(
        self, user_id: str, session_id: str, question: str, answer: Sequence[AssistantMessage], asked: RunRequest
    ) -> Script[None]:
        now = self._clock()
        asked_then = db.NewQuestion(new_id("msg"), encode(user_message(question)), b"[]", format_time(now))
        run = self._new_run(user_id, session_id, asked_then.id, asked, now)
        return db.record_turn(
            run, asked_then, [encode(message) for message in answer], encode(RunEnding(stop_reason="stop"))
        )

    @script
    def _record_all(self, turns: Sequence[Script[None]]) -> Steps[None]:
        for turn in turns:
            yield from turn

    async def find_turn(self, user_id: str, session_id: str, message_id: str) -> TurnRow:
        """The turn of a message of this session. `Unknown`: there is no such message."""
        if await self._database.read(db.owns_session(user_id, session_id)):
            turn = find_turn(await self._database.read(turns(session_id)), message_id)
            if turn is not None:
                return turn
        raise Unknown("There is no such message in this session.", code="message_not_found")

    @script
    def _create_run(
        self, run: db.NewRun, question: db.NewQuestion, words: "_QuestionText", uploads: Sequence[str]
    ) -> Steps[db.RunRow | None]:
        same = yield from db.create_run(run, question, max_active=self._max_active)
        if same is not None:
            return same
        yield from index.set_title(run.session_id, words.title, words.title_terms)
        yield from index.index_part(run.session_id, question.id, words.terms)
        yield from db_files.attach(run.session_id, uploads, question.id)
        return None

    def _new_run(
        self,
        user_id: str,
        session_id: str,
        question_id: str,
        request: RunRequest,
        now: float,
        client_id: str | None = None,
    ) -> db.NewRun:
        return db.NewRun(
            id=new_id("run"),
            session_id=session_id,
            user_id=user_id,
            question_id=question_id,
            message_id=new_id("msg"),
            asked=encode(request),
            owner=self._owner,
            lease_seconds=self._lease_seconds,
            now=now,
            client_id=client_id,
        )


def _with_message_id(file: FileRecord, question_id: str) -> FileRecord:
    """An upload belongs to the first message that it is attached to."""
    return replace(file, message_id=question_id) if file.source == "upload" and file.message_id is None else file


class _QuestionText(Struct, frozen=True):
    """The title and the search terms that a session gets from a question."""

    title: str
    title_terms: str
    terms: str


def _head(run: db.NewRun, request: RunRequest) -> RunHead:
    return RunHead(run.id, run.session_id, run.user_id, run.question_id, run.message_id, request, run.now)
