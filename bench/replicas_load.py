"""A load: runs in progress, streams that follow them, and the cost while all of them were live."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from followers import HttpRequest, follow_all
from measure import Figures
from processes import AUTHORISED, Server
from replicas_followers import Delays, FollowerTotals, RunFollower, connect_all

import upstream

FOLLOWERS_PER_RUN = 4
EVENTS_PER_SECOND = 5000
"""Events per second of all streams: what two replicas, the services, a balancer and the clients can handle on two
cores."""
CONCURRENCY = 25
STARTS_PER_SECOND = 120
"""How many sessions, runs and streams are started per second, on a busy machine."""
END_SECONDS = 240.0


@dataclass(frozen=True)
class Load:
    """`streams` that are live for `seconds`. `kills`: the first replica is killed in the middle."""

    streams: int
    seconds: float
    kills: bool = False

    @property
    def runs(self) -> int:
        return self.streams // FOLLOWERS_PER_RUN

    @property
    def pace_ms(self) -> int:
        """Milliseconds between two events of a stream."""
        return max(400, self.streams * 1000 // EVENTS_PER_SECOND)

    @property
    def deltas(self) -> int:
        """So many that no run ends before all are measured."""
        beginning = (2 * self.runs + self.streams) / STARTS_PER_SECOND
        return int((beginning + self.seconds + 8) * 1000 / self.pace_ms)


@dataclass(frozen=True)
class LoadTarget:
    """Servers that start runs in turn; `way`: the port for a follower, by the number of the server that executes the
    run and its own; `cpu`: seconds spent so far, by part."""

    servers: list[Server]
    way: Callable[[int, int], int]
    cpu: Callable[[], dict[str, float]]


async def run_load(target: LoadTarget, load: Load) -> Figures:
    """The figures of a load. Raises `SystemExit` if the machine cannot carry it."""
    runs = await _start(target, load)
    memory = await asyncio.to_thread(_memory, target)
    followers: list[RunFollower] = []
    for at, (owner, run_id) in enumerate(runs):
        for number in range(FOLLOWERS_PER_RUN):
            port = target.way(owner, at * FOLLOWERS_PER_RUN + number)
            followers.append(RunFollower(run_id, lambda port=port: port))
    await connect_all(followers, at_once=CONCURRENCY)
    await _wait_all([follower.started for follower in followers], 120, "begun")
    grown = await asyncio.to_thread(_memory, target) - memory
    figures = await _watch(target, load, followers)
    await _wait_all([follower.ended for follower in followers], END_SECONDS, "ended")
    totals = await _count(target, followers)
    return {
        **figures,
        "streams": load.streams,
        "runs": load.runs,
        "stream_kb": grown / load.streams / 1e3,
        **vars(totals),
    }


async def _wait_all(these: list[asyncio.Future[None]], seconds: float, what: str) -> None:
    _, missing = await asyncio.wait(these, timeout=seconds)
    if missing:
        raise SystemExit(f"{len(missing)} of {len(these)} streams had not {what} after {seconds:g} s.")


async def _watch(target: LoadTarget, load: Load, followers: list[RunFollower]) -> Figures:
    """What the parts spend while all streams are live."""
    began, before = time.monotonic(), target.cpu()
    await asyncio.sleep(load.seconds)
    until, after = time.monotonic(), target.cpu()
    if any(follower.ended.done() for follower in followers):
        raise SystemExit("The machine is too busy: runs had ended before they were measured.")
    delays = Delays([delay for one in followers for arrived, delay in one.delays if began <= arrived < until])
    figures: Figures = {
        "delivered": len(delays.seconds) / (load.streams * (until - began) * 1000 / load.pace_ms),
        "event_us": {part: (after[part] - before[part]) / max(1, len(delays.seconds)) * 1e6 for part in after},
        "share": {part: (after[part] - before[part]) / (until - began) for part in after},
        "p50_ms": delays.at(0.5),
        "p99_ms": delays.at(0.99),
    }
    if load.kills:
        target.servers[0].kill()
        figures |= await _measure_recovery(followers)
    return figures


async def _measure_recovery(followers: list[RunFollower]) -> Figures:
    """Seconds from the kill until the first, half and the last of the interrupted streams continue."""
    killed = time.monotonic()
    had = {follower: len(follower.delays) for follower in followers}
    orphans = [follower for number, follower in enumerate(followers) if _owner(number) == 0]
    back: list[float] = []
    waiting = set(orphans)
    async with asyncio.timeout(90):
        while waiting:
            await asyncio.sleep(0.05)
            now = time.monotonic()
            done = {one for one in waiting if len(one.delays) > had[one] and one.delays[-1][0] > killed + 0.5}
            back += [now - killed] * len(done)
            waiting -= done
    return {
        "orphans": len(orphans),
        "back_first_s": back[0],
        "back_half_s": back[len(back) // 2],
        "back_all_s": back[-1],
    }


def _owner(number: int) -> int:
    return (number // FOLLOWERS_PER_RUN) % 2


async def _start(target: LoadTarget, load: Load) -> list[tuple[int, str]]:
    """The runs, each with the number of the server that executes it."""
    model = f"bench/{upstream.model_name(load.deltas, load.pace_ms, 'clock')}"
    owners = [number % len(target.servers) for number in range(load.runs)]
    sessions = await _send_all(target, owners, [HttpRequest("POST", "/v2/sessions", b"{}", AUTHORISED)] * load.runs)
    body = json.dumps({"content": "What is a footnote for?", "model": model}).encode()
    requests = [HttpRequest("POST", f"/v2/sessions/{session['id']}/messages", body, AUTHORISED) for session in sessions]
    return [
        (owner, run["run_id"]) for owner, run in zip(owners, await _send_all(target, owners, requests), strict=True)
    ]


async def _send_all(target: LoadTarget, owners: list[int], requests: list[HttpRequest]) -> list[Figures]:
    """The responses to the requests, each sent to its server, some of them concurrently."""
    answers: list[Figures] = [{}] * len(requests)

    async def some(first: int) -> None:
        for at in range(first, len(requests), CONCURRENCY):
            [answer] = await follow_all(target.servers[owners[at]].port, [requests[at]], seconds=60)
            if not 200 <= answer.status < 300:
                raise SystemExit(f"{requests[at].path}: {answer.received[:500].decode(errors='replace')}")
            answers[at] = json.loads(answer.body)

    await asyncio.gather(*(some(first) for first in range(CONCURRENCY)))
    return answers


def _memory(target: LoadTarget) -> float:
    return sum(server.memory() for server in target.servers)


async def _count(target: LoadTarget, followers: list[RunFollower]) -> FollowerTotals:
    """Compares each stream with a replay of its run by a living server."""
    server = next(server for server in target.servers if server.is_alive)
    totals = FollowerTotals()
    for at in range(0, len(followers), FOLLOWERS_PER_RUN):
        replay = RunFollower(followers[at].run_id, lambda: server.port)
        await replay.connect()
        async with asyncio.timeout(30):
            await replay.ended
        for follower in followers[at : at + FOLLOWERS_PER_RUN]:
            totals.add(follower, replay.frames)
    return totals
