"""The transactions of runs: from the question to the last event. Every write of an owner carries its fence."""

from collections.abc import Iterable, Sequence
from operator import itemgetter

from msgspec import Struct

from footnote.db.files import sync_files_to_branch
from footnote.db.leases import register
from footnote.db.script import (
    Either,
    Row,
    Script,
    Steps,
    lock,
    script,
    sql,
    sql_for_key_share,
    sql_for_update,
    sql_many,
)
from footnote.protocol.errors import FootnoteError, LimitReached, RunActive, Unknown

STATUS_BATCH = 100
"""Always as many: so there is one statement, and not one for each number of runs."""
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
    """Of those that there are."""
    found: dict[str, RunStatus] = {}
    for start in range(0, len(run_ids), STATUS_BATCH):
        some = list(run_ids[start : start + STATUS_BATCH])
        rows = yield sql(_RUN_STATUS, *some, *some[-1:] * (STATUS_BATCH - len(some)))
        found |= {run_id: RunStatus(bool(has_ended), last_id or 0) for run_id, has_ended, last_id in rows}
    return found


class LeaseLost(FootnoteError):
    """Another process has taken this run over, or its session was deleted: whatever this process still has to say
    about it counts for nothing."""

    type = "lease_lost"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"The run {run_id} was deleted, or is carried on by another process.")


class NewQuestion(Struct, frozen=True):
    """A question to be stored with its run. `body` and `attachments` are JSON.

    It follows the run that is shown last; `branches`: it follows `after_run` instead, beside what already does.
    """

    id: str
    body: bytes
    attachments: bytes
    created_at: str
    after_run: str | None = None
    is_branch: bool = False


class NewRun(Struct, frozen=True):
    """A run to be stored, of a question that is there already or comes with it."""

    id: str
    session_id: str
    user_id: str
    question_id: str
    message_id: str
    asked: bytes
    owner: str
    lease_seconds: float
    now: float


class RunRow(Struct, frozen=True):
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
    pruned_to: int
    cancel_wanted: int
    created_at: float
    ended_at: float | None


class EventRow(Struct, frozen=True):
    """Some events of a run in a row, as they were sent."""

    run_id: str
    first_id: int
    last_id: int
    frames: bytes


class Lease(Struct, frozen=True):
    """That this process owns a run."""

    run_id: str
    fence: int


class StoredMessage(Struct, frozen=True):
    ordinal: int
    blocks: int
    body: bytes


class InterruptedRun(Struct, frozen=True):
    """What is known of a run whose owner is gone. A call without a result was begun and not finished."""

    row: RunRow
    messages: tuple[StoredMessage, ...]
    calls: dict[str, bytes | None]
    last_id: int
    origin: str


_RUN = """
    SELECT id, session_id, user_id, question_id, message_id, state, asked, ending, fence, attempts, pruned_to,
        cancel_wanted, created_at, ended_at
    FROM run
"""


_APPEND = """
    INSERT INTO run_events (run, first_id, last_id, frames)
    SELECT number, ?, ?, ? FROM run WHERE id = ? AND fence = ? {hold}
    ON CONFLICT DO NOTHING
"""


# Beginning -------------------------------------------------------------------------------------------------


@script
def create_run(run: NewRun, question: NewQuestion | None, *, max_active: int) -> Steps[None]:
    """Stores the run, with its question if that is new, as the end of the branch that is shown.

    `RunActive`: the session has one already. `LimitReached`: the user has `max_active` of them. Checked in the same
    transaction, so that of two requests at once one is refused.
    """
    yield lock("user", run.user_id)
    owned = yield sql_for_key_share("SELECT 1 FROM session WHERE id = ? AND user_id = ?", run.session_id, run.user_id)
    if not owned:
        raise Unknown("There is no such session.")
    if (
        yield sql(
            "SELECT 1 FROM run WHERE session_id = ? AND state IN ('queued', 'running', 'waiting')", run.session_id
        )
    ):
        raise RunActive("This session is being answered already. Wait for the end of it, or cancel that run.")
    ((active,),) = yield sql(
        "SELECT count(*) FROM run WHERE user_id = ? AND state IN ('queued', 'running', 'waiting')", run.user_id
    )
    if active >= max_active:
        raise LimitReached(
            f"You have {active} questions being answered, which is as many as this server allows at once. Wait for one "
            "of them, or cancel it.",
            retry_after=5,
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
        INSERT INTO run (id, session_id, user_id, question_id, message_id, state, asked, owner, created_at)
        VALUES (?, ?, ?, ?, ?, 'queued', ?, ?, ?)
        """,
        run.id,
        run.session_id,
        run.user_id,
        run.question_id,
        run.message_id,
        run.asked,
        run.owner,
        run.now,
    )
    yield from register(run.owner, run.lease_seconds, run.now)
    yield sql("UPDATE session SET head = ?, changed_at = ? WHERE id = ?", run.id, run.now, run.session_id)
    if question is None or question.is_branch:
        yield from sync_files_to_branch(run.session_id)


@script
def record_turn(run: NewRun, question: NewQuestion, messages: Sequence[bytes], ending: bytes) -> Steps[None]:
    """A turn that was answered elsewhere, as if it had been answered here."""
    yield from create_run(run, question, max_active=1_000_000)
    for ordinal, body in enumerate(messages):
        yield sql(
            "INSERT INTO run_message (run_id, ordinal, blocks, body) VALUES (?, ?, ?, ?)", run.id, ordinal, 0, body
        )
    yield sql("UPDATE run SET state = 'done', ending = ?, ended_at = ? WHERE id = ?", ending, run.now, run.id)


# The owner's writes ----------------------------------------------------------------------------------------


@script
def _check_lease(lease: Lease) -> Steps[None]:
    if not (yield sql_for_update("SELECT 1 FROM run WHERE id = ? AND fence = ?", lease.run_id, lease.fence)):
        raise LeaseLost(lease.run_id)


@script
def append_events(events: Iterable[tuple[EventRow, int]]) -> Steps[None]:
    """Events of any number of runs, each with the fence of its owner. What is there already stays as it is."""
    # In the order of the runs: two who wait for each other's would wait for ever.
    rows: list[Row] = sorted(
        ((row.first_id, row.last_id, row.frames, row.run_id, fence) for row, fence in events), key=itemgetter(3, 0)
    )
    # In PostgreSQL it also holds the run: whoever takes that over waits until these are there, and finds them.
    yield Either(sql_many(_APPEND.format(hold=""), rows), sql_many(_APPEND.format(hold="FOR SHARE"), rows))


@script
def append_events_and(lease: Lease, events: Sequence[EventRow], then: Script[None] | None = None) -> Steps[None]:
    """Events together with what they lead to: both are kept, or neither."""
    yield from _check_lease(lease)
    yield from append_events((row, lease.fence) for row in events)
    if then is not None:
        yield from then


@script
def acquire_slot(lease: Lease, max_running: int) -> Steps[bool]:
    """Whether the run may begin: of all replicas together `most` are carried on, and the oldest go first. One that was
    begun before has its turn already."""
    yield lock("turns", "all")
    yield from _check_lease(lease)
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
    """How often the run was taken over since it last got on, this time included. Stored before anything else is done
    with the run: whatever ends the process after that is counted."""
    yield from _check_lease(lease)
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
    yield sql(
        """
        INSERT INTO digest (run_id, messages, text) VALUES (?, ?, ?)
        ON CONFLICT (run_id) DO UPDATE SET messages = excluded.messages, text = excluded.text
        """,
        lease.run_id,
        messages,
        text,
    )


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
    rows = yield sql(f"{_RUN} WHERE id = ?", run_id)
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
    """Rows with events after an id, `most` of them."""
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
    """The summary that was made in the last of these runs that made one."""
    for run_id in run_ids:
        rows = yield sql("SELECT messages, text FROM digest WHERE run_id = ?", run_id)
        if rows:
            return rows[0]
    return None


# Keeping it small ------------------------------------------------------------------------------------------


@script
def prune_events(ended_before: float) -> Steps[int]:
    """Of runs that ended long ago, only their last events are kept: the messages are stored by themselves."""
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
