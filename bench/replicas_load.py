"""One load: runs that are carried on, streams that follow them, and what that cost while all of them were live."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from followers import Ask, follow_all
from measure import Figures
from processes import AUTHORISED, Server
from replicas_followers import Count, Delays, RunFollower, connect_all

import upstream

FOLLOWERS_PER_RUN = 4
EVENTS_PER_SECOND = 5000
"""Of all streams together: what two replicas, two services, a balancer and the clients have room for on two cores."""
CONCURRENCY = 25
STARTS_PER_SECOND = 120
"""How many sessions, runs and streams are begun in a second, on a busy machine."""
END_SECONDS = 240.0


@dataclass(frozen=True)
class Load:
    """`streams` that are live for `seconds`. `kills`: the first replica is killed in the middle of that."""

    streams: int
    seconds: float
    kills: bool = False

    @property
    def runs(self) -> int:
        return self.streams // FOLLOWERS_PER_RUN

    @property
    def pace_ms(self) -> int:
        """Between two events of a stream."""
        return max(400, self.streams * 1000 // EVENTS_PER_SECOND)

    @property
    def deltas(self) -> int:
        """So many that no run ends before all are measured."""
        beginning = (2 * self.runs + self.streams) / STARTS_PER_SECOND
        return int((beginning + self.seconds + 8) * 1000 / self.pace_ms)


@dataclass(frozen=True)
class Place:
    """Servers that take turns in carrying on runs; `way`: the port for a follower, by the number of the server that
    carries the run on and its own; `cpu`: seconds spent so far, by part."""

    servers: list[Server]
    way: Callable[[int, int], int]
    cpu: Callable[[], dict[str, float]]


async def run_load(place: Place, load: Load) -> Figures:
    """The figures of a load. `SystemExit`: it could not be carried."""
    runs = await _start(place, load)
    memory = await asyncio.to_thread(_memory, place)
    followers: list[RunFollower] = []
    for at, (owner, run_id) in enumerate(runs):
        for number in range(FOLLOWERS_PER_RUN):
            port = place.way(owner, at * FOLLOWERS_PER_RUN + number)
            followers.append(RunFollower(run_id, lambda port=port: port))
    await connect_all(followers, at_once=CONCURRENCY)
    await _wait_all([follower.started for follower in followers], 120, "begun")
    grown = await asyncio.to_thread(_memory, place) - memory
    figures = await _watch(place, load, followers)
    await _wait_all([follower.ended for follower in followers], END_SECONDS, "ended")
    count = await _count(place, followers)
    return {
        **figures,
        "streams": load.streams,
        "runs": load.runs,
        "stream_kb": grown / load.streams / 1e3,
        **vars(count),
    }


async def _wait_all(these: list[asyncio.Future[None]], seconds: float, what: str) -> None:
    _, missing = await asyncio.wait(these, timeout=seconds)
    if missing:
        raise SystemExit(f"{len(missing)} of {len(these)} streams had not {what} after {seconds:g} s.")


async def _watch(place: Place, load: Load, followers: list[RunFollower]) -> Figures:
    """What the parts spend while all streams are live."""
    began, before = time.monotonic(), place.cpu()
    await asyncio.sleep(load.seconds)
    until, after = time.monotonic(), place.cpu()
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
        place.servers[0].kill()
        figures |= await _measure_recovery(followers)
    return figures


async def _measure_recovery(followers: list[RunFollower]) -> Figures:
    """Seconds from the kill until the first, half and the last of the streams whose run was lost go on."""
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


async def _start(place: Place, load: Load) -> list[tuple[int, str]]:
    """The runs, each with the number of the server that carries it on."""
    model = f"bench/{upstream.model_name(load.deltas, load.pace_ms, 'clock')}"
    owners = [number % len(place.servers) for number in range(load.runs)]
    sessions = await _send_all(place, owners, [Ask("POST", "/v2/sessions", b"{}", AUTHORISED)] * load.runs)
    body = json.dumps({"content": "What is a footnote for?", "model": model}).encode()
    asks = [Ask("POST", f"/v2/sessions/{session['id']}/messages", body, AUTHORISED) for session in sessions]
    return [(owner, run["run_id"]) for owner, run in zip(owners, await _send_all(place, owners, asks), strict=True)]


async def _send_all(place: Place, owners: list[int], asks: list[Ask]) -> list[Figures]:
    """The answers to requests, each to its server, some at once."""
    answers: list[Figures] = [{}] * len(asks)

    async def some(first: int) -> None:
        for at in range(first, len(asks), CONCURRENCY):
            [answer] = await follow_all(place.servers[owners[at]].port, [asks[at]], seconds=60)
            if not 200 <= answer.status < 300:
                raise SystemExit(f"{asks[at].path}: {answer.received[:500].decode(errors='replace')}")
            answers[at] = json.loads(answer.body)

    await asyncio.gather(*(some(first) for first in range(CONCURRENCY)))
    return answers


def _memory(place: Place) -> float:
    return sum(server.memory() for server in place.servers)


async def _count(place: Place, followers: list[RunFollower]) -> Count:
    """Each stream against a replay of its run by a server that lives."""
    server = next(server for server in place.servers if server.is_alive)
    count = Count()
    for at in range(0, len(followers), FOLLOWERS_PER_RUN):
        replay = RunFollower(followers[at].run_id, lambda: server.port)
        await replay.connect()
        async with asyncio.timeout(30):
            await replay.ended
        for follower in followers[at : at + FOLLOWERS_PER_RUN]:
            count.add(follower, replay.frames)
    return count
