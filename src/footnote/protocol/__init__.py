"""The vocabulary of the product: frozen values that every layer uses, importing nothing of ours.

- `messages`  the messages of a conversation, and the blocks inside them
- `stream`    the twelve events of one model response
- `events`    the events of a whole turn, as clients follow it, and their JSON Schema
- `tools`     a tool as a model sees it, its progress, its result
- `sources`, `files`   the pages of a search and how they were found, the files of a workspace
- `history`   a session as it is shown after a reload
- `sessions`, `accounts`   the requests of clients and their answers
- `errors`    one tree, split by who must act
- `sse`       how events travel

Ids and timestamps are made here.
"""

import secrets
import time
from datetime import UTC, datetime

__version__ = "0.1.0"


def new_id(kind: str) -> str:
    """`run_019a8c2f41b3` + randomness: a kind, the time in milliseconds and 64 random bits. The ids of a kind sort by
    time, for people who read the database."""
    return f"{kind}_{time.time_ns() // 1_000_000:012x}{secrets.token_hex(8)}"


def format_time(seconds: float) -> str:
    """`2024-03-17T10:00:00Z`, from seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(timestamp: str) -> float:
    """Seconds since 1970, from a timestamp of `format_time`."""
    return datetime.strptime(timestamp, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
