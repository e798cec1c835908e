"""The behaviour of every bus."""

import asyncio

import pytest

from bus.buses import SECONDS, BusServer, next_message, wait_for_state, wait_live
from footnote.bus.base import MAX_WAITING

pytestmark = pytest.mark.usefixtures("patient")


async def test_a_message_reaches_all_who_listen_to_its_topic_and_nobody_else(meeting: BusServer):
    here, there = await meeting.open(), await meeting.open()
    with here.listen("run:a") as first, there.listen("run:a") as second, there.listen("run:b") as other:
        for listener in (first, second, other):
            await wait_live(listener)
        here.publish("run:a", b"one")
        there.publish("run:a", b"two")
        assert {await next_message(first), await next_message(first)} == {b"one", b"two"}
        assert {await next_message(second), await next_message(second)} == {b"one", b"two"}
        here.publish("run:b", b"three")
        assert await next_message(other) == b"three"


async def test_messages_of_one_replica_come_in_order_and_as_they_were_sent(meeting: BusServer):
    here, there = await meeting.open(), await meeting.open()
    sent = [b"%d \x00\xff\n \xe2\x80\xa8" % number for number in range(200)]
    with there.listen("run:a") as listener:
        await wait_live(listener)
        for message in sent:
            here.publish("run:a", message)
        assert [await next_message(listener) for _ in sent] == sent


async def test_who_has_left_hears_nothing_and_who_comes_later_hears_what_comes_then(meeting: BusServer):
    here, there = await meeting.open(), await meeting.open()
    with there.listen("run:a") as early:
        await wait_live(early)
        with there.listen("run:a") as gone:
            await wait_live(gone)
        here.publish("run:a", b"one")
        assert await next_message(early) == b"one"
        assert await gone.next(0.05) is None
        with there.listen("run:a") as late:
            await wait_live(late)
            here.publish("run:a", b"two")
            assert (await next_message(early), await next_message(late)) == (b"two", b"two")


async def test_listening_again_after_the_last_one_left_works_every_time(meeting: BusServer):
    here, there = await meeting.open(), await meeting.open()
    for number in range(20):
        with there.listen("run:a") as listener:
            await wait_live(listener)
            here.publish("run:a", b"%d" % number)
            assert await next_message(listener) == b"%d" % number


async def test_who_is_too_far_behind_is_told_to_look(meeting: BusServer):
    here, there = await meeting.open(), await meeting.open()
    with there.listen("run:a") as slow, there.listen("run:a") as quick:
        await wait_live(slow)
        await wait_live(quick)
        for number in range(MAX_WAITING + 10):
            here.publish("run:a", b"%d" % number)
            await next_message(quick)
        messages = [await slow.next(1) for _ in range(10)]
    assert messages == [b"", *(b"%d" % number for number in range(MAX_WAITING + 1, MAX_WAITING + 10))]


async def test_it_counts_what_it_carried(meeting: BusServer):
    here, there = await meeting.open(), await meeting.open()
    with there.listen("run:a") as listener:
        await wait_live(listener)
        before = here.state.published, there.state.received
        for _ in range(3):
            here.publish("run:a", b"x")
            await next_message(listener)
        state = await wait_for_state(here, lambda state: state.published == before[0] + 3)
    assert (state.is_connected, state.dropped, state.reconnects) == (True, 0, 0)
    assert there.state.received == before[1] + 3


async def test_a_bucket_is_one_for_all_replicas(meeting: BusServer):
    here, there = await meeting.open(), await meeting.open()
    for bus in (here, there):
        with bus.listen("run:a") as listener:
            await wait_live(listener)
    acquired = [await bus.acquire_token("requests of ann", 6, 0.6) for _ in range(3) for bus in (here, there)]
    assert acquired == [0.0] * 6
    for bus in (here, there):
        assert await bus.acquire_token("requests of ann", 6, 0.6) == pytest.approx(100, abs=15)
        assert await bus.acquire_token("requests of bob", 6, 0.6) == 0


async def test_a_bucket_fills_again_with_time(meeting: BusServer):
    here, there = await meeting.open(), await meeting.open()
    for bus in (here, there):
        with bus.listen("run:a") as listener:
            await wait_live(listener)
    assert await here.acquire_token("key", 2, 600) == 0
    assert await there.acquire_token("key", 2, 600) == 0
    async with asyncio.timeout(SECONDS):
        while wait := await there.acquire_token("key", 2, 600):
            assert 0 < wait <= 0.1
            await asyncio.sleep(wait)


async def test_it_can_be_closed_before_it_was_used_and_after(meeting: BusServer):
    unused, used = await meeting.open(), await meeting.open()
    await unused.close()
    used.publish("run:a", b"x")
    await used.close()


async def test_what_was_published_right_before_the_end_is_still_sent(meeting: BusServer):
    here, there = await meeting.open(), await meeting.open()
    with there.listen("keepers") as listener:
        await wait_live(listener)
        here.publish("keepers", b"orphans")
        await here.close()
        assert await next_message(listener) == b"orphans"
