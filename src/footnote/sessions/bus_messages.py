"""The messages of replicas about runs: topics, encoding and decoding. Pure.

A message about events is a line with their first and last id, followed by the events themselves, or by nothing: the
receiver then reads them from the database.
"""

from footnote.db.runs import EventRow

SUPERVISORS_TOPIC = "keepers"
"""Messages for the supervisors of runs."""
ORPHANS_MESSAGE = b"orphans"
"""There are runs without an owner, to be adopted."""
_CANCEL_PREFIX = b"cancel "
_DECISION_PREFIX = b"decided "
_PLAN_PREFIX = b"planned "
_LAST_EVENT = b"\nevent: message_stop\n"


def run_topic(run_id: str) -> str:
    return f"run:{run_id}"


def encode_events(row: EventRow, max_bytes: int) -> bytes:
    """A message that these events are stored, with the events themselves if it has at most `max_bytes` then."""
    head = b"%d %d\n" % (row.first_id, row.last_id)
    return head + row.frames if len(head) + len(row.frames) <= max_bytes else head


def decode_events(run_id: str, message: bytes) -> EventRow | None:
    """None: the message is of no known form. Without `frames`, the events are in the database only."""
    head, _, frames = message.partition(b"\n")
    first, _, last = head.partition(b" ")
    if not (first.isdigit() and last.isdigit()):
        return None
    return EventRow(run_id, int(first), int(last), frames)


def is_last_event(row: EventRow) -> bool:
    """Whether the row has the last event of its run, which is stored together with the end of the run."""
    return _LAST_EVENT in row.frames[-200:]


def cancel_message(run_id: str) -> bytes:
    return _CANCEL_PREFIX + run_id.encode()


def cancelled_run_id(message: bytes) -> str | None:
    """The run that a user wants to cancel; None: another message."""
    return _run_id_after(_CANCEL_PREFIX, message)


def decision_message(run_id: str) -> bytes:
    return _DECISION_PREFIX + run_id.encode()


def decided_run_id(message: bytes) -> str | None:
    """The run in which a user decided on a call; None: another message."""
    return _run_id_after(_DECISION_PREFIX, message)


def plan_message(run_id: str) -> bytes:
    return _PLAN_PREFIX + run_id.encode()


def planned_run_id(message: bytes) -> str | None:
    """The run whose plan a user changed; None: another message."""
    return _run_id_after(_PLAN_PREFIX, message)


def _run_id_after(prefix: bytes, message: bytes) -> str | None:
    return message.removeprefix(prefix).decode(errors="replace") if message.startswith(prefix) else None
