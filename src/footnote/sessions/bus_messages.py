"""What replicas say to each other about runs: topics and messages, in and out. Pure.

A message about events is a line with their first and last id, and then the events themselves, or nothing: then it only
says that they can be found in the database.
"""

from footnote.db.runs import EventRow

SUPERVISORS_TOPIC = "keepers"
"""What those who look after runs should look at now."""
ORPHANS_MESSAGE = b"orphans"
"""There are runs that nobody carries on."""
_CANCEL_PREFIX = b"cancel "
_DECISION_PREFIX = b"decided "
_LAST_EVENT = b"\nevent: message_stop\n"


def run_topic(run_id: str) -> str:
    return f"run:{run_id}"


def encode_events(row: EventRow, max_bytes: int) -> bytes:
    """That these events are stored; with them, if that makes no more than `most` bytes."""
    head = b"%d %d\n" % (row.first_id, row.last_id)
    return head + row.frames if len(head) + len(row.frames) <= max_bytes else head


def decode_events(run_id: str, message: bytes) -> EventRow | None:
    """None: nothing that we understand. Without `frames`, it is only known that there are events."""
    head, _, frames = message.partition(b"\n")
    first, _, last = head.partition(b" ")
    if not (first.isdigit() and last.isdigit()):
        return None
    return EventRow(run_id, int(first), int(last), frames)


def is_last_event(row: EventRow) -> bool:
    """Whether the run ends with it. Its last event is stored together with its end."""
    return _LAST_EVENT in row.frames[-200:]


def cancel_message(run_id: str) -> bytes:
    return _CANCEL_PREFIX + run_id.encode()


def cancelled_run_id(message: bytes) -> str | None:
    """The run that somebody wants to be cancelled."""
    return message.removeprefix(_CANCEL_PREFIX).decode(errors="replace") if message.startswith(_CANCEL_PREFIX) else None


def decision_message(run_id: str) -> bytes:
    return _DECISION_PREFIX + run_id.encode()


def decided_run_id(message: bytes) -> str | None:
    """The run in which somebody decided on a call."""
    return (
        message.removeprefix(_DECISION_PREFIX).decode(errors="replace")
        if message.startswith(_DECISION_PREFIX)
        else None
    )
