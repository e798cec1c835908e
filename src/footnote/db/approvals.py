"""The transactions of approvals: calls that wait for the user, decisions on them, and tools that are always allowed.
A decision is stored before the call goes on, so that it survives the process that waits for it."""

from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.db.runs import Lease
from footnote.db.script import Steps, script, sql, sql_for_update
from footnote.protocol.errors import Conflict, Unknown
from footnote.protocol.sessions import ACTIVE, ApprovalDecision

Outcome: TypeAlias = Literal["once", "session", "always", "deny", "expired"]


class CallKey(Struct, frozen=True):
    """A call, with everything that a decision may cover."""

    run_id: str
    session_id: str
    user_id: str
    agent_id: str
    call_id: str
    tool: str


class ApprovalStatus(Struct, frozen=True):
    """`asked_at`: None if the user was not asked yet. `is_stored`: `outcome` was decided for this call; otherwise for
    all calls of the tool."""

    outcome: Outcome | None = None
    note: str | None = None
    asked_at: float | None = None
    is_stored: bool = False


@script
def require_approval(lease: Lease, call_id: str, tool: str, now: float) -> Steps[None]:
    """Marks the call as waiting, unless it was before a crash. The attempts of the run are reset: a run that gets this
    far does not crash its process."""
    yield sql(
        "INSERT INTO approval (run_id, call_id, tool, asked_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        lease.run_id,
        call_id,
        tool,
        now,
    )
    yield sql(
        """
        UPDATE run SET state = 'waiting', attempts = 0 WHERE id = ? AND state IN ('queued', 'running')
            AND EXISTS (SELECT 1 FROM approval WHERE run_id = run.id AND decision IS NULL)
        """,
        lease.run_id,
    )


@script
def approval_status(call: CallKey) -> Steps[ApprovalStatus]:
    rows = yield sql(
        "SELECT decision, note, asked_at FROM approval WHERE run_id = ? AND call_id = ?", call.run_id, call.call_id
    )
    decision, note, asked_at = rows[0] if rows else (None, None, None)
    if decision is not None:
        return ApprovalStatus(decision, note, asked_at, is_stored=True)
    in_session = yield sql(
        """
        SELECT 1 FROM approval JOIN run ON run.id = approval.run_id
        WHERE run.session_id = ? AND approval.tool = ? AND approval.decision = 'session' LIMIT 1
        """,
        call.session_id,
        call.tool,
    )
    if in_session:
        return ApprovalStatus("session", None, asked_at)
    always = yield sql(
        "SELECT 1 FROM standing_approval WHERE user_id = ? AND agent_id = ? AND tool = ?",
        call.user_id,
        call.agent_id,
        call.tool,
    )
    return ApprovalStatus("always" if always else None, None, asked_at)


@script
def store_outcome(run_id: str, call_id: str, outcome: Outcome, now: float) -> Steps[None]:
    """Stores the outcome of a call, unless the user has decided on it meanwhile."""
    yield sql_for_update("SELECT 1 FROM run WHERE id = ?", run_id)
    yield from _store(run_id, call_id, outcome, None, now)


@script
def store_decision(
    user_id: str, run_id: str, call_id: str, decision: ApprovalDecision, note: str | None, now: float
) -> Steps[None]:
    """`Unknown`: the user has no such run, or it has no such call. `Conflict`: something else was decided, or the run
    has ended."""
    rows = yield sql_for_update("SELECT state, session_id FROM run WHERE id = ? AND user_id = ?", run_id, user_id)
    if not rows:
        raise Unknown("There is no such run.", code="run_not_found")
    ((state, session_id),) = rows
    calls = yield sql("SELECT decision, tool FROM approval WHERE run_id = ? AND call_id = ?", run_id, call_id)
    if not calls:
        raise Unknown("There is no such call that waits for approval in this run.", code="approval_not_found")
    ((decided, tool),) = calls
    if decided == decision:
        return
    if decided == "expired":
        raise Conflict("Nobody decided on this call in time, so it was not made.", code="approval_expired")
    if decided is not None:
        raise Conflict(f"This call was decided on already: {decided}.", code="approval_decided", decision=decided)
    if state not in ACTIVE:
        raise Conflict("The run has ended, so this call waits no longer.", code="approval_run_ended")
    yield from _store(run_id, call_id, decision, note, now)
    if decision == "always":
        yield sql(
            """
            INSERT INTO standing_approval (user_id, agent_id, tool, created_at)
            SELECT ?, agent_id, ?, ? FROM session WHERE id = ? ON CONFLICT DO NOTHING
            """,
            user_id,
            tool,
            now,
            session_id,
        )


@script
def _store(run_id: str, call_id: str, outcome: Outcome, note: str | None, now: float) -> Steps[None]:
    """The run becomes active again, unless another of its calls still waits."""
    yield sql(
        """
        UPDATE approval SET decision = ?, note = ?, decided_at = ?
        WHERE run_id = ? AND call_id = ? AND decision IS NULL
        """,
        outcome,
        note,
        now,
        run_id,
        call_id,
    )
    yield sql(
        """
        UPDATE run SET state = 'running' WHERE id = ? AND state = 'waiting'
            AND NOT EXISTS (SELECT 1 FROM approval WHERE run_id = run.id AND decision IS NULL)
        """,
        run_id,
    )
