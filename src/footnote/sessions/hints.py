"""What replicas say to each other about runs: topics and messages, in and out. Pure.

A message about events is a line with their first and last id, and then the events themselves, or nothing: then it only
says that they can be found in the database.
"""

from footnote.db.runs import EventRow

KEEPERS = "keepers"
"""What those who look after runs should look at now."""
ORPHANS = b"orphans"
"""There are runs that nobody carries on."""
_CANCEL = b"cancel "
_DECIDED = b"decided "
_LAST_EVENT = b"\nevent: message_stop\n"


def topic_of(run_id: str) -> str:
    return f"run:{run_id}"


def told(row: EventRow, most: int) -> bytes:
    """That these events are stored; with them, if that makes no more than `most` bytes."""
    head = b"%d %d\n" % (row.first_id, row.last_id)
    return head + row.frames if len(head) + len(row.frames) <= most else head


def heard(run_id: str, message: bytes) -> EventRow | None:
    """None: nothing that we understand. Without `frames`, it is only known that there are events."""
    head, _, frames = message.partition(b"\n")
    first, _, last = head.partition(b" ")
    if not (first.isdigit() and last.isdigit()):
        return None
    return EventRow(run_id, int(first), int(last), frames)


def is_last(row: EventRow) -> bool:
    """Whether the run ends with it. Its last event is stored together with its end."""
    return _LAST_EVENT in row.frames[-200:]


def cancelling(run_id: str) -> bytes:
    return _CANCEL + run_id.encode()


def cancelled_by(message: bytes) -> str | None:
    """The run that somebody wants to be cancelled."""
    return message.removeprefix(_CANCEL).decode(errors="replace") if message.startswith(_CANCEL) else None


def deciding(run_id: str) -> bytes:
    return _DECIDED + run_id.encode()


def decided_in(message: bytes) -> str | None:
    """The run in which somebody decided on a call."""
    return message.removeprefix(_DECIDED).decode(errors="replace") if message.startswith(_DECIDED) else None
