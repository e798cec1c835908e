"""A run on one replica, its clients on another: followed, cancelled, deleted, taken over."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from service_kinds import Postgres, Redis

from bus.buses import SECONDS, running_service
from bus.pair import PairedReplica, event_ids, open_pair, without_pings
from cli.process import with_tool_server
from cli.test_ask_approval import SHOUT
from replicas.fault_injection import ALL
from runs.fold import FoldedTurn, blocks_of_history
from upstream import Upstream, pause, reply, say, stall, stop

pytestmark = pytest.mark.slow

CONFIGURATIONS = ["file and no bus", "postgresql and redis", *(["file and redis", "postgresql alone"] if ALL else [])]
"""The simplest and the most common configuration; `make faults` runs all."""


@pytest.fixture(params=CONFIGURATIONS)
def shared_services(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    return settings_of(request, tmp_path, request.param)


def settings_of(request: pytest.FixtureRequest, tmp_path: Path, name: str) -> dict[str, str]:
    found = {"FOOTNOTE_DATABASE_URL": f"sqlite:{tmp_path / 'shared.db'}", "FOOTNOTE_BUS_URL": "local:"}
    if "postgresql" in name:
        postgres: Postgres = request.getfixturevalue("postgres")
        found = {"FOOTNOTE_DATABASE_URL": postgres.url(), "FOOTNOTE_BUS_URL": "postgresql:"}
    if "redis" in name:
        redis: Redis = request.getfixturevalue("redis")
        found["FOOTNOTE_BUS_URL"] = redis.url(4)
    return {**found, "FOOTNOTE_STORAGE_URL": f"local:{tmp_path / 'files'}"}


WORD = b"text_delta"


def _slowly(count: int, seconds: float = 0.03) -> Any:
    return reply(*(step for number in range(count) for step in (say(f"từ{number} "), pause(seconds))), stop())


def _follow(replica: PairedReplica, run_id: str) -> tuple[asyncio.Task[bytes], bytearray]:
    """A follower, and what it has received so far."""
    received = bytearray()
    return asyncio.create_task(replica.stream(run_id, received=received)), received


async def _wait_for_words(count: int, *streams: bytearray) -> None:
    async with asyncio.timeout(SECONDS):
        while any(stream.count(WORD) < count for stream in streams):
            await asyncio.sleep(0.01)


async def _start_run(replica: PairedReplica, upstream: Upstream) -> tuple[str, str]:
    """A session with a run that has called the model."""
    session_id = await replica.client.session()
    requests = len(upstream.requests)
    run_id = await replica.client.start(session_id)
    await upstream.wait_received(requests + 1)
    return session_id, run_id


async def test_whoever_follows_elsewhere_gets_every_byte(
    upstream: Upstream, tmp_path: Path, shared_services: dict[str, str]
):
    upstream.script(_slowly(60))
    async with open_pair(tmp_path, upstream, **shared_services) as (one, two):
        session_id, run_id = await _start_run(one, upstream)
        streams = await asyncio.gather(one.stream(run_id), two.stream(run_id), two.stream(run_id))
        whole = without_pings(streams[0])
        folded = FoldedTurn()
        folded.feed(whole)
        assert folded.ended
        assert [without_pings(stream) for stream in streams] == [whole] * 3
        for after in event_ids(whole)[::9]:
            assert (
                without_pings(await two.stream(run_id, after))
                == whole[whole.index(b"id: %d\n" % after) :].split(b"\n\n", 1)[1]
            )
        history = await two.client.json("GET", f"/v2/sessions/{session_id}/history")
        assert blocks_of_history(history, folded.message_id or "") == folded.shown["blocks"]


async def test_who_comes_back_elsewhere_in_the_middle_misses_nothing(
    upstream: Upstream, tmp_path: Path, shared_services: dict[str, str]
):
    upstream.script(_slowly(60))
    async with open_pair(tmp_path, upstream, **shared_services) as (one, two):
        _, run_id = await _start_run(one, upstream)
        whole = asyncio.create_task(one.stream(run_id))
        received = b""
        for replica in (two, one, two, one, two):
            headers = {"last-event-id": str(event_ids(received)[-1])} if event_ids(received) else {}
            async with replica.client.http.get(f"/v2/runs/{run_id}/events", headers=headers) as response:
                rest = b""
                async for piece in response.content.iter_any():
                    rest += piece
                    if rest.count(b"\n\n") >= 9:
                        break
            whole_frames, mark, _ = rest.rpartition(b"\n\n")  # no id, if all events were received before
            received += without_pings(whole_frames + mark)
        received += without_pings(await two.stream(run_id, event_ids(received)[-1]))
        assert received == without_pings(await whole)


async def test_cancelling_elsewhere_reaches_the_run_at_once(
    upstream: Upstream, tmp_path: Path, request: pytest.FixtureRequest
):
    """Without a message on the bus the heartbeat would notice it only after five seconds, after the timeout of the
    caller."""
    upstream.script(*[reply(say("One "), stall())] * 3)
    shared_services = settings_of(request, tmp_path, "file and redis")
    async with open_pair(tmp_path, upstream, **shared_services) as (one, two):
        for _ in range(3):
            _, run_id = await _start_run(one, upstream)
            following = asyncio.create_task(two.stream(run_id))
            assert (await two.client.json("POST", f"/v2/runs/{run_id}/cancel"))["state"] == "cancelled"
            async with asyncio.timeout(SECONDS):
                await upstream.requests[-1].connection.closed.wait()
                assert b"message_stop" in await following


async def test_a_session_is_deleted_elsewhere_with_the_run_that_answers_it(
    upstream: Upstream, tmp_path: Path, shared_services: dict[str, str]
):
    upstream.script(reply(say("One "), stall()))
    async with open_pair(tmp_path, upstream, **shared_services) as (one, two):
        session_id, run_id = await _start_run(one, upstream)
        (here, received_here), (there, received_there) = _follow(one, run_id), _follow(two, run_id)
        await _wait_for_words(1, received_here, received_there)
        await two.client.json("DELETE", f"/v2/sessions/{session_id}", status=204)
        async with asyncio.timeout(SECONDS):
            await upstream.requests[-1].connection.closed.wait()
            await asyncio.gather(here, there)
        await one.client.json("GET", f"/v2/runs/{run_id}", status=404)


@pytest.mark.parametrize("ending", ["stopped", "killed"])
async def test_a_run_goes_on_elsewhere_when_its_server_ends(
    upstream: Upstream, tmp_path: Path, shared_services: dict[str, str], ending: str
):
    upstream.script(reply(say("One ", "two "), stall()), _slowly(20))
    async with open_pair(tmp_path, upstream, **shared_services) as (one, two):
        _, run_id = await _start_run(one, upstream)
        following = asyncio.create_task(two.stream(run_id))
        if ending == "stopped":
            assert await one.process.stop() == 0
        else:
            await one.process.kill()
        async with asyncio.timeout(SECONDS):
            received = await following
        folded = FoldedTurn()
        folded.feed(received)
        assert folded.ended
        assert folded.shown["stop_reason"] == "stop"
        replayed = FoldedTurn()
        replayed.feed(await two.stream(run_id))
        assert replayed.shown == folded.shown


async def test_a_server_that_slept_through_its_lease_hands_its_followers_on(
    upstream: Upstream, tmp_path: Path, request: pytest.FixtureRequest
):
    upstream.script(reply(say("One ", "two "), stall()), _slowly(20))
    shared_services = settings_of(request, tmp_path, "postgresql and redis")
    async with open_pair(tmp_path, upstream, **shared_services) as (one, two):
        _, run_id = await _start_run(one, upstream)
        (here, received_here), (there, received_there) = _follow(one, run_id), _follow(two, run_id)
        await _wait_for_words(1, received_here, received_there)
        one.process.pause()
        async with asyncio.timeout(SECONDS):
            heard_there = await there
            one.resume()
            heard_here = await here
        assert (await two.client.json("GET", f"/v2/runs/{run_id}"))["state"] == "done"
        stored = await two.stream(run_id)
    shown: list[dict[str, Any]] = []
    for stream in (heard_here, heard_there, stored):
        folded = FoldedTurn()
        folded.feed(stream)
        assert folded.ended
        shown.append(folded.shown)
    assert shown[0] == shown[1] == shown[2]
    assert without_pings(heard_there) == without_pings(stored)


async def test_a_bus_that_is_killed_in_the_middle_of_a_stream_loses_nothing(
    upstream: Upstream, tmp_path: Path, request: pytest.FixtureRequest
):
    upstream.script(_slowly(150))
    with running_service(Redis) as bus:
        assert isinstance(bus, Redis)
        shared_services = {**settings_of(request, tmp_path, "file and no bus"), "FOOTNOTE_BUS_URL": bus.url()}
        async with open_pair(tmp_path, upstream, **shared_services) as (one, two):
            _, run_id = await _start_run(one, upstream)
            (here, received_here), (there, received_there) = _follow(one, run_id), _follow(two, run_id)
            await _wait_for_words(1, received_here, received_there)
            bus.kill()
            async with asyncio.timeout(SECONDS):
                while (ready := await two.client.json("GET", "/readyz"))["bus"] != "bus_down":
                    await asyncio.sleep(0.05)
            assert ready["ready"]
            # Some more of the answer arrives without the bus.
            await _wait_for_words(received_here.count(WORD) + 10, received_here)
            bus.start()
            async with asyncio.timeout(SECONDS):
                assert without_pings(await here) == without_pings(await there)
            async with asyncio.timeout(SECONDS):
                while (await two.client.json("GET", "/readyz"))["bus"] != "ok":
                    await asyncio.sleep(0.05)


async def test_limits_are_counted_over_both(upstream: Upstream, tmp_path: Path, request: pytest.FixtureRequest):
    shared_services = {
        **settings_of(request, tmp_path, "postgresql alone"),
        "FOOTNOTE_LIMITS_REQUESTS_PER_MINUTE": "20",
    }
    for bus in (shared_services["FOOTNOTE_BUS_URL"], request.getfixturevalue("redis").url(5)):
        folder = tmp_path / bus.partition(":")[0]
        folder.mkdir()
        async with open_pair(folder, upstream, **{**shared_services, "FOOTNOTE_BUS_URL": bus}) as (one, two):
            for replica in (one, two):
                async with asyncio.timeout(SECONDS):
                    while (await replica.client.json("GET", "/readyz"))["bus"] != "ok":
                        await asyncio.sleep(0.05)
            statuses: list[int] = []
            began = time.monotonic()
            for _ in range(25):
                for replica in (one, two):
                    async with replica.client.http.get("/v2/auth/me") as response:
                        statuses.append(response.status)
            took = time.monotonic() - began
        assert set(statuses) == {200, 429}
        assert 20 <= statuses.count(200) <= 21 + took / 3, "20, and one for each three seconds that it took"


async def test_runs_of_both_wait_for_each_other(upstream: Upstream, tmp_path: Path, request: pytest.FixtureRequest):
    """One replica runs as many as it has slots for; the runs of the other wait."""
    shared_services = settings_of(request, tmp_path, "postgresql and redis")
    upstream.script(reply(say("One "), stall()), reply(say("Two."), stop()))
    async with open_pair(tmp_path, upstream, FOOTNOTE_LIMITS_RUNS_AT_ONCE="1", **shared_services) as (one, two):
        _, first = await _start_run(one, upstream)
        second = await two.client.start(await two.client.session())
        following = asyncio.create_task(one.stream(second))
        await asyncio.sleep(2)
        assert (await one.client.json("GET", f"/v2/runs/{second}"))["state"] == "queued"
        await two.client.json("POST", f"/v2/runs/{first}/cancel")
        async with asyncio.timeout(SECONDS):
            assert b"Two." in await following
        assert (await one.client.json("GET", f"/v2/runs/{second}"))["state"] == "done"


async def test_who_claims_to_have_more_than_was_said_is_told_elsewhere_too(
    upstream: Upstream, tmp_path: Path, request: pytest.FixtureRequest
):
    upstream.script(_slowly(40))
    shared_services = settings_of(request, tmp_path, "postgresql and redis")
    async with open_pair(tmp_path, upstream, **shared_services) as (one, two):
        _, run_id = await _start_run(one, upstream)
        replayed = without_pings(await two.stream(run_id, 5_000_000_000))
        whole = without_pings(await one.stream(run_id))
        assert b"round_restart" in replayed.partition(b"\n\n")[0]
        assert replayed.partition(b"\n\n")[2] == whole


async def test_a_call_that_waits_on_one_replica_is_decided_on_at_the_other(
    upstream: Upstream, tmp_path: Path, shared_services: dict[str, str]
):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with_tool_server(tmp_path / name, approval=True)
    upstream.script(reply(SHOUT, stop("toolUse")), reply(say("Done."), stop()))
    async with open_pair(tmp_path, upstream, **shared_services) as (one, two):
        run_id = await one.client.start(await one.client.session())
        async with asyncio.timeout(SECONDS):
            while (await two.client.json("GET", f"/v2/runs/{run_id}"))["state"] != "waiting":
                await asyncio.sleep(0.05)
            await two.client.json("POST", f"/v2/runs/{run_id}/approvals/call_1", {"decision": "once"})
            stream = await one.stream(run_id)
    assert b"HELLO" in stream


async def test_a_run_is_finished_at_the_other_replica_at_once(
    upstream: Upstream, tmp_path: Path, request: pytest.FixtureRequest
):
    """Without a message on the bus the run would notice it only after five seconds."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with_tool_server(tmp_path / name, approval=True)
    upstream.script(*[step for _ in range(3) for step in (reply(SHOUT, stop("toolUse")), reply(say("So."), stop()))])
    shared_services = settings_of(request, tmp_path, "postgresql and redis")
    took: list[float] = []
    async with open_pair(tmp_path, upstream, **shared_services) as (one, two):
        for _ in range(3):
            run_id = await one.client.start(await one.client.session())
            async with asyncio.timeout(SECONDS):
                while (await two.client.json("GET", f"/v2/runs/{run_id}"))["state"] != "waiting":
                    await asyncio.sleep(0.05)
                following = asyncio.create_task(one.stream(run_id))
                began = time.monotonic()
                await two.client.json("POST", f"/v2/runs/{run_id}/finish")
                assert b"So." in await following
            took.append(time.monotonic() - began)
    assert min(took) < 4
