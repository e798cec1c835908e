"""The transactions of leases: which processes are alive, which runs each of them owns, and who adopts orphaned runs.

A process renews one lease for all its runs. Where replicas on several machines share a database, leases go by the
clock of the database, because the clocks of the machines may differ by more than a lease.
"""

from collections.abc import Iterable

from footnote.db.script import Either, Steps, lock, script, sql

OWNER_RETENTION_SECONDS = 3600.0
"""An owner whose lease expired this long ago is deleted."""

_INSERT_OWNER = "INSERT INTO owner (name, lease_until) VALUES (?, ?) ON CONFLICT (name)"
_REGISTER = f"{_INSERT_OWNER} DO NOTHING"
_RENEW = f"{_INSERT_OWNER} DO UPDATE SET lease_until = excluded.lease_until"


@script
def heartbeat(owner: str, seconds: float, now: float) -> Steps[list[tuple[str, int, bool]]]:
    """Renews the lease of an owner. Returns its runs, with their fences and whether they are to be cancelled."""
    yield from renew(owner, seconds, now)
    rows = yield sql(
        "SELECT id, fence, cancel_wanted FROM run WHERE owner = ? AND state IN ('queued', 'running', 'waiting')", owner
    )
    return [(run_id, fence, bool(wanted)) for run_id, fence, wanted in rows]


@script
def renew(owner: str, seconds: float, now: float) -> Steps[None]:
    """Renews the lease of an owner for so many seconds."""
    yield sql(_RENEW, owner, (yield from current_time(now)) + seconds)


@script
def register(owner: str, seconds: float, now: float) -> Steps[None]:
    """Creates the lease of an owner when it starts a run. On PostgreSQL an existing lease is left to the heartbeat:
    updating it would make concurrent starts of runs wait for each other."""
    values = owner, (yield from current_time(now)) + seconds
    yield Either(sql(_RENEW, *values), sql(_REGISTER, *values))


@script
def owners(now: float) -> Steps[dict[str | None, bool]]:
    """The owners of all unfinished runs, and whether their leases are valid."""
    moment = yield from current_time(now)
    rows = yield sql(
        """
        SELECT DISTINCT run.owner,
            EXISTS (SELECT 1 FROM owner AS living WHERE living.name = run.owner AND living.lease_until >= ?)
        FROM run WHERE run.state IN ('queued', 'running', 'waiting')
        """,
        moment,
    )
    return {owner: bool(lives) for owner, lives in rows}


@script
def claim(
    owner: str, dead_owners: Iterable[str], seconds: float, now: float, *, max_runs: int = 1_000_000
) -> Steps[list[str]]:
    """Adopts the oldest `max_runs` runs that have no owner, a dead one, or one whose lease has expired."""
    # The lock serialises claims, so that each sees the owners that the one before has set.
    yield lock("claims", "all")
    yield from renew(owner, seconds, now)
    moment = yield from current_time(now)
    for gone in dead_owners:
        yield sql("DELETE FROM owner WHERE name = ? AND name <> ?", gone, owner)
    rows = yield sql(
        """
        UPDATE run SET owner = ?, fence = fence + 1
        WHERE number IN (
            SELECT orphan.number FROM run AS orphan
            WHERE orphan.state IN ('queued', 'running', 'waiting') AND (orphan.owner IS NULL OR orphan.owner <> ?)
                AND NOT EXISTS (
                    SELECT 1 FROM owner AS living WHERE living.name = orphan.owner AND living.lease_until >= ?
                )
            ORDER BY orphan.number LIMIT ?
        )
        RETURNING id
        """,
        owner,
        owner,
        moment,
        max_runs,
    )
    yield sql("DELETE FROM owner WHERE lease_until < ?", moment - OWNER_RETENTION_SECONDS)
    return [run_id for (run_id,) in rows]


@script
def release(owner: str) -> Steps[None]:
    """Removes the owner of its runs, so that another process adopts them."""
    yield sql(
        "UPDATE run SET owner = NULL, attempts = 0 WHERE owner = ? AND state IN ('queued', 'running', 'waiting')", owner
    )
    yield sql("DELETE FROM owner WHERE name = ?", owner)


@script
def request_cancel(run_id: str) -> Steps[None]:
    yield sql("UPDATE run SET cancel_wanted = 1 WHERE id = ?", run_id)


@script
def current_time(now: float) -> Steps[float]:
    """Seconds since 1970: `now`, or on PostgreSQL the clock of the server."""
    rows = yield Either(None, sql("SELECT CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"))
    return rows[0][0] if rows else now
