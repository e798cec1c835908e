"""The transactions of ownership: which process carries on which runs, and who takes over from whom."""

from collections.abc import Iterable

from footnote.db.script import Script, sql


def beat(owner: str, until: float) -> Script[list[tuple[str, int, bool]]]:
    """Holds on to all runs of an owner. Returns them, with their fences and whether somebody wants them cancelled."""
    rows = yield sql(
        """
        UPDATE run SET lease_until = ? WHERE owner = ? AND state IN ('queued', 'running')
        RETURNING id, fence, cancel_wanted
        """,
        until,
        owner,
    )
    return [(run_id, fence, bool(wanted)) for run_id, fence, wanted in rows]


def owners() -> Script[list[str | None]]:
    """Of all runs that are not finished."""
    rows = yield sql("SELECT DISTINCT owner FROM run WHERE state IN ('queued', 'running')")
    return [owner for (owner,) in rows]


def claim(owner: str, dead: Iterable[str | None], now: float, until: float) -> Script[list[str]]:
    """Takes over the runs of dead owners, and those whose lease has run out."""
    claimed: list[str] = []
    for gone in dead:
        rows = yield sql(
            """
            UPDATE run SET owner = ?, lease_until = ?, fence = fence + 1
            WHERE state IN ('queued', 'running') AND owner IS ? RETURNING id
            """,
            owner,
            until,
            gone,
        )
        claimed += [run_id for (run_id,) in rows]
    rows = yield sql(
        """
        UPDATE run SET owner = ?, lease_until = ?, fence = fence + 1
        WHERE state IN ('queued', 'running') AND owner IS NOT ? AND lease_until < ? RETURNING id
        """,
        owner,
        until,
        owner,
        now,
    )
    claimed += [run_id for (run_id,) in rows]
    return claimed


def release(owner: str) -> Script[None]:
    """Leaves all runs of an owner to whoever comes next."""
    yield sql(
        """
        UPDATE run SET owner = NULL, lease_until = 0, attempts = 0
        WHERE owner = ? AND state IN ('queued', 'running')
        """,
        owner,
    )


def want_cancel(run_id: str) -> Script[None]:
    yield sql("UPDATE run SET cancel_wanted = 1 WHERE id = ?", run_id)
