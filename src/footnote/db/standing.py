"""How runs stand that other processes carry on, many at once."""

from collections.abc import Sequence

from msgspec import Struct

from footnote.db.script import Steps, script, sql

AT_ONCE = 100
"""Always as many: so there is one statement, and not one for each number of runs."""
_STANDING = f"""
    SELECT id, ended_at IS NOT NULL,
        (SELECT last_id FROM run_events WHERE run_events.run = run.number ORDER BY first_id DESC LIMIT 1)
    FROM run WHERE id IN ({", ".join("?" * AT_ONCE)})
"""  # noqa: S608 - of question marks alone


class Standing(Struct, frozen=True):
    has_ended: bool
    last_id: int


@script
def standing(run_ids: Sequence[str]) -> Steps[dict[str, Standing]]:
    """Of those that there are."""
    found: dict[str, Standing] = {}
    for start in range(0, len(run_ids), AT_ONCE):
        some = list(run_ids[start : start + AT_ONCE])
        rows = yield sql(_STANDING, *some, *some[-1:] * (AT_ONCE - len(some)))
        found |= {run_id: Standing(bool(has_ended), last_id or 0) for run_id, has_ended, last_id in rows}
    return found
