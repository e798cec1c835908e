"""Names of things. Sortable by time where it helps a reader of the database: the first part is milliseconds."""

import secrets
import time


def new_id(kind: str) -> str:
    """`run_019a8c2f41b3` + randomness: a kind, the time in milliseconds and 64 random bits."""
    return f"{kind}_{time.time_ns() // 1_000_000:012x}{secrets.token_hex(8)}"
