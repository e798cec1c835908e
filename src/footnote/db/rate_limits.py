"""Limits that replicas count together, where PostgreSQL is all they have in common."""

from footnote.db.script import Steps, script, sql

BUCKET_RETENTION_SECONDS = 3600.0
"""A bucket that nobody took from for so long is full again: no limit is wider than an hour."""

# One statement, by the clock of the server. What is left after a refusal is kept less one, and so below zero: that
# tells a refusal from a last one that was taken, and can be undone by whoever comes next.
_ACQUIRE = """
    INSERT INTO bucket AS b (key, tokens, at)
    VALUES (?, CAST(? AS double precision) - 1, extract(epoch FROM clock_timestamp()))
    ON CONFLICT (key) DO UPDATE SET
        tokens = least(
            CAST(? AS double precision),
            CASE WHEN b.tokens < 0 THEN b.tokens + 1 ELSE b.tokens END
                + greatest(0, excluded.at - b.at) * CAST(? AS double precision)
        ) - 1,
        at = greatest(b.at, excluded.at)
    RETURNING tokens
"""


@script
def acquire_token(key: str, size: float, per_minute: float) -> Steps[float]:
    """Takes one. Returns 0, or how many seconds it takes until there is one."""
    per_second = per_minute / 60
    ((left,),) = yield sql(_ACQUIRE, key, size, size, per_second)
    return -left / per_second if left < 0 else 0.0


@script
def delete_full_buckets() -> Steps[None]:
    """Those that are full again."""
    yield sql(
        "DELETE FROM bucket WHERE at < extract(epoch FROM clock_timestamp()) - CAST(? AS double precision)",
        BUCKET_RETENTION_SECONDS,
    )
