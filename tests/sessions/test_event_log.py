"""The log of a run gives every follower the same bytes, wherever it stands and whenever the rows are stored."""

import asyncio

import pytest

from footnote.db.runs import EventRow, Lease
from footnote.protocol.events import BlockDelta, BlockStop, Event, TextGrowth
from footnote.protocol.sse import frame
from footnote.sessions.event_log import RunLog, events_after

FLOOR = 3_000_000_004
"""The last id before a log of the third owner, who found four events."""


def new_log() -> RunLog:
    return RunLog(Lease("run_1", 3), 4)


def growths(*texts: str) -> list[Event]:
    return [BlockDelta(0, TextGrowth(text)) for text in texts]


def frames_of(events: list[Event], first_id: int = FLOOR + 1) -> bytes:
    return b"".join(frame(first_id + number, event) for number, event in enumerate(events))


def append_all(log: RunLog, events: list[Event]) -> None:
    for event in events:
        log.append(event)


def test_events_that_came_together_are_one_piece_each_with_its_id():
    log, events = new_log(), growths("one", "two\u2028", "三")

    append_all(log, events)

    assert log.frames_after(0) == log.frames_after(FLOOR) == frames_of(events)
    assert log.last_id == FLOOR + 3


def test_an_empty_log_has_nothing_for_a_follower_of_an_earlier_owner():
    log = new_log()

    assert log.is_empty
    assert log.frames_after(2_000_000_007) == b""


def test_a_follower_reads_on_from_wherever_it_is_before_and_after_the_rows_are_stored():
    log, events = new_log(), growths(*"abcdefgh")
    for at, event in enumerate(events):
        log.append(event)
        if at in (1, 2, 5):
            log.frames_after(log.last_id - 1)  # another follower has these in pieces
        if at in (3, 6):
            log.mark_stored(log.unstored_rows())

    for seen in range(len(events) + 1):
        assert log.frames_after(FLOOR + seen) == frames_of(events[seen:], FLOOR + 1 + seen)
    log.unstored_rows()
    for seen in range(len(events) + 1):
        assert log.frames_after(FLOOR + seen) == frames_of(events[seen:], FLOOR + 1 + seen)


def test_what_followers_read_piece_by_piece_is_one_row_in_the_database():
    log, events = new_log(), growths("a", "b", "c")
    for event in events:
        log.append(event)
        log.frames_after(log.last_id - 1)

    assert log.unstored_rows() == (EventRow("run_1", FLOOR + 1, FLOOR + 3, frames_of(events)),)


def test_a_row_that_could_not_be_stored_is_given_again_unchanged():
    log, events = new_log(), growths("a", "b")
    append_all(log, events)
    first = log.unstored_rows()
    log.append(events[0])
    second = log.unstored_rows(BlockStop(0))

    assert second[:1] == first
    assert [(row.first_id - FLOOR, row.last_id - FLOOR) for row in second] == [(1, 2), (3, 3), (4, 4)]
    assert log.last_id == FLOOR + 3  # an event that is not stored yet is not sent

    log.mark_stored(second)
    log.append_stored(BlockStop(0))
    assert log.unstored_rows() == ()
    assert log.frames_after(FLOOR + 3) == second[-1].frames


def test_an_event_that_cannot_be_encoded_takes_no_id():
    log = new_log()

    with pytest.raises(UnicodeEncodeError):
        log.append(BlockDelta(0, TextGrowth("\ud83d")))
    append_all(log, growths("a"))

    assert log.frames_after(0) == frames_of(growths("a"))


def test_a_row_can_be_read_from_its_middle():
    row = EventRow("run_1", 11, 13, frames_of(growths("a", "b", "c"), 11))

    assert [events_after(row, after) for after in (10, 11, 12)] == [
        frames_of(growths("a", "b", "c"), 11),
        frames_of(growths("b", "c"), 12),
        frames_of(growths("c"), 13),
    ]


async def test_one_wake_is_enough_for_all_events_that_come_before_the_follower_looks():
    log, events = new_log(), growths("a", "b", "c")
    waiting = asyncio.create_task(log.wait_for_events(None))
    await asyncio.sleep(0)

    append_all(log, events)

    assert await waiting
    assert log.frames_after(FLOOR) == frames_of(events)
