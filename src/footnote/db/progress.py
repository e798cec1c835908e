"""The transactions of plans and budgets: what a run has planned, done and spent so far.

The plan is changed by the owner of the run and by its user, on any replica; each change reads it and writes it in one
transaction.
"""

from collections.abc import Callable
from functools import partial

from msgspec import Struct

from footnote.db.runs import Lease, RunRow, StoredMessage, check_lease, run
from footnote.db.schema import RUN_PROGRESS
from footnote.db.script import Steps, script, sql, sql_for_update
from footnote.protocol.errors import Unknown


class ProgressRow(Struct, frozen=True):
    """A row of the table `run_progress`, without the key. Its values are JSON."""

    plan: bytes | None = None
    progress: bytes | None = None
    spent: bytes | None = None


@script
def run_progress(run_id: str) -> Steps[ProgressRow]:
    rows = yield RUN_PROGRESS.select(ProgressRow, "WHERE run_id = ?", run_id)
    return ProgressRow(*rows[0]) if rows else ProgressRow()


@script
def run_with_plan(run_id: str) -> Steps[tuple[RunRow | None, bytes | None]]:
    return (yield from run(run_id)), (yield from run_progress(run_id)).plan


@script
def run_with_spent(run_id: str) -> Steps[tuple[RunRow | None, bytes | None]]:
    return (yield from run(run_id)), (yield from run_progress(run_id)).spent


@script
def change_plan(lease: Lease, change: Callable[[bytes | None], bytes]) -> Steps[bytes]:
    """A change by the owner of the run. Returns the plan after it."""
    yield from check_lease(lease)
    return (yield from _change_plan(lease.run_id, change))


@script
def change_plan_for(user_id: str, run_id: str, change: Callable[[RunRow, bytes | None], bytes]) -> Steps[bytes]:
    """A change by the user of the run. Returns the plan after it. `change` may raise an error, and then nothing is
    stored. `Unknown`: the user has no such run."""
    yield sql_for_update("SELECT 1 FROM run WHERE id = ?", run_id)
    row = yield from run(run_id)
    if row is None or row.user_id != user_id:
        raise Unknown("There is no such run.", code="run_not_found")
    return (yield from _change_plan(run_id, partial(change, row)))


@script
def _change_plan(run_id: str, change: Callable[[bytes | None], bytes]) -> Steps[bytes]:
    before = (yield from run_progress(run_id)).plan
    plan = change(before)
    if plan != before:
        yield from _set(run_id, "plan", plan)
    return plan


@script
def store_progress(lease: Lease, progress: bytes) -> Steps[None]:
    yield from _set(lease.run_id, "progress", progress)
    yield sql("UPDATE run SET attempts = 0 WHERE id = ? AND attempts > 0", lease.run_id)


@script
def store_spent(lease: Lease, spent: bytes) -> Steps[None]:
    yield from _set(lease.run_id, "spent", spent)


@script
def replace_message(lease: Lease, message: StoredMessage) -> Steps[None]:
    """Stores a message that changes while its run goes on: the plan, as it is shown in the history."""
    yield sql(
        """
        INSERT INTO run_message (run_id, ordinal, blocks, body) VALUES (?, ?, ?, ?)
        ON CONFLICT (run_id, ordinal) DO UPDATE SET blocks = excluded.blocks, body = excluded.body
        """,
        lease.run_id,
        message.ordinal,
        message.blocks,
        message.body,
    )


@script
def _set(run_id: str, column: str, value: bytes) -> Steps[None]:
    yield sql(
        f"INSERT INTO run_progress (run_id, {column}) VALUES (?, ?) "  # noqa: S608 - a column named in this module
        f"ON CONFLICT (run_id) DO UPDATE SET {column} = excluded.{column}",
        run_id,
        value,
    )
