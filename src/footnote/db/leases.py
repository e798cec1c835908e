"""The transactions of ownership: which processes live, which of them carries on which runs, and who takes over.

An owner holds on to itself with a lease, and by that to all its runs. Where replicas on several machines share a
database, the time is the database's: their own clocks may differ by more than a lease.
"""

from collections.abc import Iterable

from footnote.db.script import Either, Steps, lock, script, sql

OWNER_RETENTION_SECONDS = 3600.0
"""Owners that have not been heard of for so long are forgotten."""

_INSERT_OWNER = "INSERT INTO owner (name, lease_until) VALUES (?, ?) ON CONFLICT (name)"
_REGISTER = f"{_INSERT_OWNER} DO NOTHING"
_RENEW = f"{_INSERT_OWNER} DO UPDATE SET lease_until = excluded.lease_until"


@script
def heartbeat(owner: str, seconds: float, now: float) -> Steps[list[tuple[str, int, bool]]]:
    """Holds on to an owner and its runs. Returns them, with their fences and whether somebody wants them cancelled."""
    yield from renew(owner, seconds, now)
    rows = yield sql(
        "SELECT id, fence, cancel_wanted FROM run WHERE owner = ? AND state IN ('queued', 'running', 'waiting')", owner
    )
    return [(run_id, fence, bool(wanted)) for run_id, fence, wanted in rows]


@script
def renew(owner: str, seconds: float, now: float) -> Steps[None]:
    """The owner lives, and will be heard of again within so many seconds."""
    yield sql(_RENEW, owner, (yield from current_time(now)) + seconds)


@script
def register(owner: str, seconds: float, now: float) -> Steps[None]:
    """The same, with the beginning of a run. Where replicas share the database, an owner that is known holds on to
    itself already, and its runs do not begin one after the other for the sake of that row."""
    values = owner, (yield from current_time(now)) + seconds
    yield Either(sql(_RENEW, *values), sql(_REGISTER, *values))


@script
def owners(now: float) -> Steps[dict[str | None, bool]]:
    """Of all runs that are not finished, and whether their lease still holds."""
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
    """Takes over the runs of dead owners, of those whose lease has run out, and of nobody: the oldest `max_runs`."""
    # One after the other: each sees whom the one before has made the owner, and that it lives.
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
    """Leaves all runs of an owner to whoever comes next."""
    yield sql(
        "UPDATE run SET owner = NULL, attempts = 0 WHERE owner = ? AND state IN ('queued', 'running', 'waiting')", owner
    )
    yield sql("DELETE FROM owner WHERE name = ?", owner)


@script
def request_cancel(run_id: str) -> Steps[None]:
    yield sql("UPDATE run SET cancel_wanted = 1 WHERE id = ?", run_id)


@script
def current_time(now: float) -> Steps[float]:
    """Seconds since 1970: `now`, or what all replicas go by."""
    rows = yield Either(None, sql("SELECT CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"))
    return rows[0][0] if rows else now
