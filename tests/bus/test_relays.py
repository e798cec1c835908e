"""Runs of other replicas, as followers on this replica receive them: all through one relay."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from functools import partial
from pathlib import Path

import pytest
from service_kinds import Redis

from bus.buses import SECONDS
from bus.pair import event_ids
from footnote.app import App
from footnote.db.runs import EventRow, Lease, finish_run
from footnote.db.script import Steps, script, sql
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.events import BlockDelta, MessageStop, TextGrowth
from footnote.protocol.sessions import NewMessage
from footnote.sessions.bus_messages import cancel_message, cancelled_run_id, decode_events, encode_events, is_last_event
from footnote.sessions.event_log import IDS_PER_FENCE, RunLog
from footnote.sessions.follow import WINDOW_BYTES
from footnote.sessions.supervisor import is_dead, new_owner
from footnote.sessions.turns import RunRequest


@pytest.fixture(params=["local:", "redis"])
async def apps(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[App, App]]:
    """Two replicas in this process."""
    url = request.param
    if url == "redis":
        redis: Redis = request.getfixturevalue("redis")
        url = redis.url(6)
    environ = {
        "HOME": str(tmp_path),
        "FOOTNOTE_DATABASE_URL": f"sqlite:{tmp_path / 'shared.db'}",
        "FOOTNOTE_BUS_URL": url,
    }
    async with AsyncExitStack() as stack:
        first, second = [
            await stack.enter_async_context(App.open(home=tmp_path / name, environ=environ)) for name in ("one", "two")
        ]
        yield first, second


async def _start_run(app: App, fence: int = 0) -> RunLog:
    """A stored run whose events the test publishes."""
    session = await app.sessions.create(LOCAL_USER, "researcher")
    request = RunRequest("researcher", "footnote/reader", "en")
    submitted = await app.runner._submitter.submit(LOCAL_USER, session.id, NewMessage(content="Why?"), request)
    return RunLog(Lease(submitted.head.id, fence))


async def _end_run(app: App, log: RunLog) -> None:
    await app.runner.journal.write(log, partial(finish_run, log.lease, "done", b"{}", 1.0), MessageStop())


async def _follow(app: App, run_id: str, after: int = 0) -> bytes:
    async with asyncio.timeout(SECONDS), aclosing(app.runner.follow(run_id, after)) as pieces:
        return b"".join([piece async for piece in pieces])


@script
def _take_over(run_id: str) -> Steps[None]:
    yield sql("UPDATE run SET fence = fence + 1, owner = 'another' WHERE id = ?", run_id)


async def _wait_for_followers(app: App, followers: int) -> None:
    async with asyncio.timeout(SECONDS):
        while sum(relay.follower_count for relay in app.runner.remote_logs._remote_runs.values()) < followers:
            await asyncio.sleep(0.01)


async def test_all_followers_of_a_run_share_what_is_heard_of_it(apps: tuple[App, App]):
    here, there = apps
    log = await _start_run(here)
    following = [asyncio.create_task(_follow(there, log.lease.run_id)) for _ in range(200)]
    await _wait_for_followers(there, 200)
    assert len(there.runner.remote_logs) == 1
    for number in range(300):
        here.runner.journal.append(log, BlockDelta(0, TextGrowth(f"từ {number}")))
        await asyncio.sleep(0.001)
    await _end_run(here, log)
    streams = await asyncio.gather(*following)
    assert set(streams) == {log.frames_after(0)}
    assert len(there.runner.remote_logs) == 0


async def test_a_long_answer_is_not_held_in_memory_as_a_whole(apps: tuple[App, App]):
    here, there = apps
    log = await _start_run(here)
    run_id = log.lease.run_id
    quick = asyncio.create_task(_follow(there, run_id))
    await _wait_for_followers(there, 1)
    async with aclosing(there.runner.follow(run_id)) as pieces:
        slow = b""
        for number in range(10):
            here.runner.journal.append(log, BlockDelta(0, TextGrowth(f"{number} " + "x" * (WINDOW_BYTES // 3))))
            await here.runner.journal.write(log)
            if number == 0:
                slow += await anext(pieces)
        await _end_run(here, log)
        assert await quick == log.frames_after(0)
        async with asyncio.timeout(SECONDS):
            async for piece in pieces:
                slow += piece
    assert slow == log.frames_after(0)


async def test_who_begins_late_or_far_behind_gets_the_whole_of_it(apps: tuple[App, App]):
    here, there = apps
    log = await _start_run(here)
    run_id = log.lease.run_id
    for number in range(20):
        here.runner.journal.append(log, BlockDelta(0, TextGrowth(f"{number} ")))
        await here.runner.journal.write(log)
    following = [asyncio.create_task(_follow(there, run_id, after)) for after in (0, 7, 20)]
    await _wait_for_followers(there, 3)
    here.runner.journal.append(log, BlockDelta(0, TextGrowth("more")))
    await _end_run(here, log)
    assert await asyncio.gather(*following) == [log.frames_after(0), log.frames_after(7), log.frames_after(20)]


async def test_what_a_server_says_that_has_lost_its_lease_reaches_nobody(apps: tuple[App, App]):
    """A paused replica that does not yet know that another one has taken over its run."""
    here, there = apps
    lost = await _start_run(here)
    run_id = lost.lease.run_id
    following = asyncio.create_task(_follow(there, run_id))
    await _wait_for_followers(there, 1)
    here.runner.journal.append(lost, BlockDelta(0, TextGrowth("one")))
    await here.runner.journal.write(lost)
    await there.runner._database.write(_take_over(run_id))
    here.runner.journal.leases_valid_until = 0
    here.runner.journal.append(lost, BlockDelta(0, TextGrowth("never stored")))
    await here.runner.journal.close()
    found = RunLog(Lease(run_id, 1), 1)
    there.runner.journal.append(found, BlockDelta(0, TextGrowth("two")))
    await _end_run(there, found)
    heard_of = await following
    assert event_ids(heard_of) == [1, IDS_PER_FENCE + 2, IDS_PER_FENCE + 3]
    assert b"never stored" not in heard_of


def test_what_is_told_is_what_is_heard():
    row = EventRow("run_1", 7, 8, b'id: 7\nevent: ping\ndata: {}\n\nid: 8\nevent: message_stop\ndata: {"a":1}\n\n')
    assert decode_events("run_1", encode_events(row, 1000)) == row
    assert decode_events("run_1", encode_events(row, 10)) == EventRow("run_1", 7, 8, b"")
    assert is_last_event(row)
    assert not is_last_event(EventRow("run_1", 7, 7, b'id: 7\nevent: ping\ndata: {"a":"event: message_stop"}\n\n'))
    assert cancelled_run_id(cancel_message("run_1")) == "run_1"
    assert [decode_events("run_1", odd) for odd in (b"x", b"7\n", b"a b\nc", b"")] == [None] * 4


def test_only_a_process_of_the_same_namespace_is_known_to_be_dead():
    mine = new_owner()
    machine, _, _ = mine.rpartition("/")[0].rpartition("/")
    gone = 2**22 + 1
    assert is_dead(f"{machine}/{gone}/x", mine)
    assert is_dead(f"{machine}/{os.getpid()}/x", mine), "its number is ours now"
    assert not is_dead(mine, mine)
    assert not is_dead(f"{machine}/{os.getppid()}/x", mine)
    assert not is_dead(f"{machine.partition(' ')[0]}/{gone}/x", mine), "another container of the same name"


async def test_who_leaves_at_once_leaves_nothing_behind(apps: tuple[App, App]):
    here, there = apps
    log = await _start_run(here)
    relays = there.runner.remote_logs
    relays.leave(relays.join(log.lease.run_id))
    assert len(relays) == 0
    assert there.bus._subscriptions.names == []  # pyright: ignore[reportAttributeAccessIssue] - of either kind
