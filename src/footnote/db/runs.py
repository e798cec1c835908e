"""The transactions of runs: from the question to the last event. Every write of an owner carries its fence."""

from collections.abc import Iterable, Sequence
from operator import itemgetter

from msgspec import Struct

from footnote.db.files import sync_files_to_branch
from footnote.db.leases import register
from footnote.db.schema import DIGEST, RUN
from footnote.db.script import (
    Either,
    Row,
    Script,
    Steps,
    in_batches,
    lock,
    script,
    sql,
    sql_for_key_share,
    sql_for_update,
    sql_many,
)
from footnote.protocol.errors import FootnoteError, LimitReached, RunActive, Unknown

STATUS_BATCH = 100
"""A fixed number of placeholders, so that the server prepares one statement instead of one per number of runs."""
_RUN_STATUS = f"""
    SELECT id, ended_at IS NOT NULL,
        (SELECT last_id FROM run_events WHERE run_events.run = run.number ORDER BY first_id DESC LIMIT 1)
    FROM run WHERE id IN ({", ".join("?" * STATUS_BATCH)})
"""  # noqa: S608 - of question marks alone


class RunStatus(Struct, frozen=True):
    has_ended: bool
    last_id: int


@script
def run_statuses(run_ids: Sequence[str]) -> Steps[dict[str, RunStatus]]:
    """The status of each run that exists."""
    found: dict[str, RunStatus] = {}
    for start in range(0, len(run_ids), STATUS_BATCH):
        some = list(run_ids[start : start + STATUS_BATCH])
        rows = yield sql(_RUN_STATUS, *some, *some[-1:] * (STATUS_BATCH - len(some)))
        found |= {run_id: RunStatus(bool(has_ended), last_id or 0) for run_id, has_ended, last_id in rows}
    return found


class LeaseLost(FootnoteError):
    """Another process has adopted this run, or its session was deleted: writes of this process are refused."""

    type = "lease_lost"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"The run {run_id} was deleted, or is carried on by another process.")


class NewQuestion(Struct, frozen=True):
    """A question to be stored with its run. `body` and `attachments` are JSON.

    It follows the head of the session; `is_branch`: it follows `after_run` instead, and begins a new branch.
    """

    id: str
    body: bytes
    attachments: bytes
    created_at: str
    after_run: str | None = None
    is_branch: bool = False


class NewRun(Struct, frozen=True):
    """A run to be stored, for an existing question or a new one."""

    id: str
    session_id: str
    user_id: str
    question_id: str
    message_id: str
    asked: bytes
    owner: str
    lease_seconds: float
    now: float
    client_id: str | None = None
    """The id that the client gave its message; unique in the session."""


class RunRow(Struct, frozen=True):
    """A row of the table `run`, without what only its owner and `run_by_client_id` need."""

    id: str
    session_id: str
    user_id: str
    question_id: str
    message_id: str
    state: str
    asked: bytes
    ending: bytes | None
    fence: int
    attempts: int
    cancel_wanted: int
    pruned_to: int
    created_at: float
    ended_at: float | None


class EventRow(Struct, frozen=True):
    """Consecutive events of a run, encoded as server-sent events."""

    run_id: str
    first_id: int
    last_id: int
    frames: bytes


class Lease(Struct, frozen=True):
    """The ownership of a run by this process; `fence` grows with every new owner."""

    run_id: str
    fence: int


class StoredMessage(Struct, frozen=True):
    ordinal: int
    blocks: int
    body: bytes


class SummaryRow(Struct, frozen=True):
    """A row of the table `digest`: the summary that a run made of the first `messages` messages of its branch."""

    run_id: str
    messages: int
    text: str


class InterruptedRun(Struct, frozen=True):
    """The stored state of a run whose owner is dead. A call whose result is None was started and not finished."""

    row: RunRow
    messages: tuple[StoredMessage, ...]
    calls: dict[str, bytes | None]
    last_id: int
    origin: str


_APPEND = """
    INSERT INTO run_events (run, first_id, last_id, frames)
    SELECT number, ?, ?, ? FROM run WHERE id = ? AND fence = ? {hold}
    ON CONFLICT DO NOTHING
"""


# Beginning -------------------------------------------------------------------------------------------------


@script
def create_run(run: NewRun, question: NewQuestion | None, *, max_active: int) -> Steps[RunRow | None]:
    """Stores the run, with its question if that is new, as the end of the branch that is shown. Where the session
    already has a run with the same `client_id`, nothing is stored and that run is returned.

    `RunActive`: the session has an active run. `LimitReached`: the user has `max_active` of them. All of this is
    checked in the same transaction, so that of two concurrent requests only one creates a run.
    """
    yield lock("user", run.user_id)
    owned = yield sql_for_key_share("SELECT 1 FROM session WHERE id = ? AND user_id = ?", run.session_id, run.user_id)
    if not owned:
        raise Unknown("There is no such session.", code="session_not_found")
    if (same := (yield from run_by_client_id(run.session_id, run.client_id))) is not None:
        return same
    if (yield from active_run(run.session_id)) is not None:
        raise RunActive("This session is being answered already. Wait for the end of it, or cancel that run.")
    ((active,),) = yield sql(
        "SELECT count(*) FROM run WHERE user_id = ? AND state IN ('queued', 'running', 'waiting')", run.user_id
    )
    if active >= max_active:
        raise LimitReached(
            f"You have {active} questions being answered, which is as many as this server allows at once. Wait for one "
            "of them, or cancel it.",
            retry_after=5,
            code="too_many_runs",
            active=active,
        )
    if question is not None:
        yield sql(
            """
            INSERT INTO question (id, session_id, after_run, body, attachments, created_at)
            SELECT ?, id, CASE WHEN ? THEN ? ELSE head END, ?, ?, ? FROM session WHERE id = ?
            """,
            question.id,
            question.is_branch,
            question.after_run,
            question.body,
            question.attachments,
            question.created_at,
            run.session_id,
        )
    yield sql(
        """
        INSERT INTO run (id, session_id, user_id, question_id, message_id, state, asked, owner, created_at, client_id)
        VALUES (?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?)
        """,
        run.id,
        run.session_id,
        run.user_id,
        run.question_id,
        run.message_id,
        run.asked,
        run.owner,
        run.now,
        run.client_id,
    )
    yield from register(run.owner, run.lease_seconds, run.now)
    yield sql("UPDATE session SET head = ?, changed_at = ? WHERE id = ?", run.id, run.now, run.session_id)
    if question is None or question.is_branch:
        yield from sync_files_to_branch(run.session_id)
    return None


@script
def record_turn(run: NewRun, question: NewQuestion, messages: Sequence[bytes], ending: bytes) -> Steps[None]:
    """Stores a finished turn that another agent answered."""
    yield from create_run(run, question, max_active=1_000_000)
    for ordinal, body in enumerate(messages):
        yield sql(
            "INSERT INTO run_message (run_id, ordinal, blocks, body) VALUES (?, ?, ?, ?)", run.id, ordinal, 0, body
        )
    yield sql("UPDATE run SET state = 'done', ending = ?, ended_at = ? WHERE id = ?", ending, run.now, run.id)


# The owner's writes ----------------------------------------------------------------------------------------


@script
def check_lease(lease: Lease) -> Steps[None]:
    """Locks the run until the end of the transaction. `LeaseLost`: it is not this process's any more."""
    if not (yield sql_for_update("SELECT 1 FROM run WHERE id = ? AND fence = ?", lease.run_id, lease.fence)):
        raise LeaseLost(lease.run_id)


@script
def append_events(events: Iterable[tuple[EventRow, int]]) -> Steps[None]:
    """Events of any number of runs, each with the fence of its owner. Existing events are left as they are."""
    # Sorted by run, so that two transactions cannot deadlock.
    rows: list[Row] = sorted(
        ((row.first_id, row.last_id, row.frames, row.run_id, fence) for row, fence in events), key=itemgetter(3, 0)
    )
    # On PostgreSQL it also locks the run, so that a process that adopts it waits for these events and sees them.
    yield Either(sql_many(_APPEND.format(hold=""), rows), sql_many(_APPEND.format(hold="FOR SHARE"), rows))


@script
def append_events_and(lease: Lease, events: Sequence[EventRow], then: Script[None] | None = None) -> Steps[None]:
    """Events together with a script `then`, in one transaction."""
    yield from check_lease(lease)
    yield from append_events((row, lease.fence) for row in events)
    if then is not None:
        yield from then


@script
def acquire_slot(lease: Lease, max_running: int) -> Steps[bool]:
    """Whether the run may start: all replicas together execute at most `max_running` runs, the oldest first. A run that
    was started before keeps its slot."""
    yield lock("turns", "all")
    yield from check_lease(lease)
    ((number, state),) = yield sql("SELECT number, state FROM run WHERE id = ?", lease.run_id)
    if state != "queued":
        return True
    ((ahead,),) = yield sql(
        "SELECT count(*) FROM run WHERE state = 'running' OR (state = 'queued' AND number < ?)", number
    )
    if ahead >= max_running:
        return False
    yield sql("UPDATE run SET state = 'running' WHERE id = ?", lease.run_id)
    return True


@script
def set_running(lease: Lease) -> Steps[None]:
    yield sql("UPDATE run SET state = 'running' WHERE id = ?", lease.run_id)


@script
def count_adoption(lease: Lease) -> Steps[int]:
    """The number of adoptions since the run last made progress, including this one. Stored before the run is executed,
    so that a crash of the process is counted."""
    yield from check_lease(lease)
    yield sql("UPDATE run SET attempts = attempts + 1 WHERE id = ?", lease.run_id)
    ((adoptions,),) = yield sql("SELECT attempts FROM run WHERE id = ?", lease.run_id)
    return adoptions


@script
def _reset_attempts(lease: Lease) -> Steps[None]:
    yield sql("UPDATE run SET attempts = 0 WHERE id = ? AND attempts > 0", lease.run_id)


@script
def store_message(lease: Lease, message: StoredMessage) -> Steps[None]:
    yield sql(
        "INSERT INTO run_message (run_id, ordinal, blocks, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        lease.run_id,
        message.ordinal,
        message.blocks,
        message.body,
    )
    yield from _reset_attempts(lease)


@script
def start_call(lease: Lease, call_id: str) -> Steps[None]:
    yield sql("INSERT INTO run_call (run_id, call_id) VALUES (?, ?) ON CONFLICT DO NOTHING", lease.run_id, call_id)


@script
def store_call_result(lease: Lease, call_id: str, result: bytes) -> Steps[None]:
    yield from start_call(lease, call_id)
    yield sql("UPDATE run_call SET result = ? WHERE run_id = ? AND call_id = ?", result, lease.run_id, call_id)
    yield from _reset_attempts(lease)


@script
def store_summary(lease: Lease, messages: int, text: str) -> Steps[None]:
    yield DIGEST.upsert(SummaryRow(lease.run_id, messages, text))


@script
def finish_run(lease: Lease, state: str, ending: bytes, now: float) -> Steps[None]:
    yield sql(
        "UPDATE run SET state = ?, ending = ?, ended_at = ?, owner = NULL WHERE id = ?",
        state,
        ending,
        now,
        lease.run_id,
    )
    yield sql("DELETE FROM run_call WHERE run_id = ?", lease.run_id)
    yield sql(
        "UPDATE session SET changed_at = ? WHERE id = (SELECT session_id FROM run WHERE id = ?)", now, lease.run_id
    )


# Reading ---------------------------------------------------------------------------------------------------


@script
def run(run_id: str) -> Steps[RunRow | None]:
    rows = yield RUN.select(RunRow, "WHERE id = ?", run_id)
    return RunRow(*rows[0]) if rows else None


@script
def run_by_client_id(session_id: str, client_id: str | None) -> Steps[RunRow | None]:
    """The run of the message with this `client_id`; None without an id."""
    if client_id is None:
        return None
    rows = yield RUN.select(RunRow, "WHERE session_id = ? AND client_id = ?", session_id, client_id)
    return RunRow(*rows[0]) if rows else None


@script
def active_run(session_id: str) -> Steps[str | None]:
    rows = yield sql(
        "SELECT id FROM run WHERE session_id = ? AND state IN ('queued', 'running', 'waiting')", session_id
    )
    return rows[0][0] if rows else None


@script
def active_runs(user_id: str) -> Steps[list[str]]:
    rows = yield sql("SELECT id FROM run WHERE user_id = ? AND state IN ('queued', 'running', 'waiting')", user_id)
    return [run_id for (run_id,) in rows]


@script
def owns_session(user_id: str, session_id: str) -> Steps[bool]:
    return bool((yield sql("SELECT 1 FROM session WHERE id = ? AND user_id = ?", session_id, user_id)))


@script
def last_event_id(run_id: str) -> Steps[int]:
    ((last_id,),) = yield sql(
        "SELECT coalesce(max(last_id), 0) FROM run_events WHERE run = (SELECT number FROM run WHERE id = ?)", run_id
    )
    return last_id


@script
def interrupted_run(run_id: str) -> Steps[InterruptedRun | None]:
    row = yield from run(run_id)
    if row is None:
        return None
    messages = yield sql("SELECT ordinal, blocks, body FROM run_message WHERE run_id = ? ORDER BY ordinal", run_id)
    calls = yield sql("SELECT call_id, result FROM run_call WHERE run_id = ?", run_id)
    last_id = yield from last_event_id(run_id)
    ((origin,),) = yield sql("SELECT origin FROM session WHERE id = ?", row.session_id)
    return InterruptedRun(row, tuple(StoredMessage(*message) for message in messages), dict(calls), last_id, origin)


@script
def event_rows(run_id: str, after: int, limit: int) -> Steps[list[EventRow]]:
    """At most `limit` rows with events after an id."""
    rows = yield sql(
        """
        SELECT run.id, run_events.first_id, run_events.last_id, run_events.frames
        FROM run_events JOIN run ON run.number = run_events.run
        WHERE run.id = ? AND run_events.last_id > ? ORDER BY run_events.first_id LIMIT ?
        """,
        run_id,
        after,
        limit,
    )
    return [EventRow(*row) for row in rows]


@script
def latest_summary(run_ids: Iterable[str]) -> Steps[tuple[int, str] | None]:
    """The number of messages and the text of the first summary that these runs, the newest first, made."""
    ids = list(run_ids)
    for marks, some in in_batches(ids):
        rows = yield sql(f"SELECT run_id, messages, text FROM digest WHERE run_id IN ({marks})", *some)  # noqa: S608 - marks
        if rows:
            _, messages, text = min(rows, key=lambda row: ids.index(row[0]))
            return messages, text
    return None


# Keeping it small ------------------------------------------------------------------------------------------


@script
def prune_events(ended_before: float) -> Steps[int]:
    """Deletes all but the last events of runs that ended long ago: their messages are stored separately."""
    rows = yield sql(
        """
        SELECT number, (SELECT max(last_id) FROM run_events
            WHERE run = number AND first_id < (SELECT max(first_id) FROM run_events WHERE run = number))
        FROM run WHERE ended_at < ? AND pruned_to = 0
        """,
        ended_before,
    )
    for number, last_id in rows:
        yield sql("DELETE FROM run_events WHERE run = ? AND last_id <= ?", number, last_id or 0)
        yield sql("UPDATE run SET pruned_to = ? WHERE number = ?", last_id or -1, number)
    return len(rows)


# The turns of a session ----------------------------------------------------------------------------------


class TurnRow(Struct, frozen=True):
    """One run and its question. `question`, `attachments`, `asked` and `ending` are JSON. `asked_at` is when the
    question was asked; `began_at` and `ended_at` are those of the run, in seconds since 1970."""

    run_id: str
    question_id: str
    message_id: str
    after_run: str | None
    state: str
    asked: bytes
    ending: bytes | None
    question: bytes
    attachments: bytes
    asked_at: str
    began_at: float
    ended_at: float | None


@script
def turns(session_id: str) -> Steps[list[TurnRow]]:
    """The turns of all branches, the oldest first."""
    rows = yield sql(
        """
        SELECT run.id, question.id, run.message_id, question.after_run, run.state, run.asked, run.ending,
            question.body, question.attachments, question.created_at, run.created_at, run.ended_at
        FROM run JOIN question ON question.id = run.question_id
        WHERE run.session_id = ? ORDER BY run.id
        """,
        session_id,
    )
    return [TurnRow(*row) for row in rows]


@script
def messages_by_run(run_ids: Iterable[str]) -> Steps[dict[str, list[bytes]]]:
    """The messages of each of these runs, in order, as JSON."""
    messages: dict[str, list[bytes]] = {run_id: [] for run_id in run_ids}
    for marks, some in in_batches(list(messages)):
        rows = yield sql(
            f"SELECT run_id, body FROM run_message WHERE run_id IN ({marks}) ORDER BY run_id, ordinal",  # noqa: S608 - marks
            *some,
        )
        for run_id, body in rows:
            messages[run_id].append(body)
    return messages
