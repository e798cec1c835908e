"""The cost of the server, compared with a bare relay and the bare database driver in the same run, on loopback.

    .venv/bin/python bench/server.py             about six minutes
    .venv/bin/python bench/server.py --quick     fewer repetitions, under two minutes

Server, relay, model API and clients are processes of their own. All figures but one are CPU time or memory of the
server's process, as the system reports them; bench/README.md says what each of them means.
"""

import asyncio
import gc
import json
import statistics
import sys
import time

import uvloop
from followers import Follower, HttpRequest, connect, follow_all
from measure import Figures
from processes import AUTHORISED, FOLLOWING, MeasuredProcess, Server, footnote, relay
from running import run
from server_report import CLIENTS_PER_RUN, IN_TIME, LONG, LONG_RUNS, MESSAGES, RATE, RUNS, SHORT, tables

import upstream

DELTAS, PACE_MS = 250, 25
LONG_PACE_MS = 2
FOLLOWERS = 1000
STARTS_PER_SECOND = 100
STEPS = 250, 500, 750
SHARED_STREAMS = 1000
ANSWER = 120


def _log(progress: str) -> None:
    print(f"{progress} …", file=sys.stderr, flush=True)


def _sessions(server: Server, count: int) -> list[str]:
    made = server.ask_all([HttpRequest("POST", "/v2/sessions", b"{}", AUTHORISED)] * count)
    return [session["id"] for session in made]


def _message(session: str, model: str) -> HttpRequest:
    body = json.dumps({"content": "What is a footnote for?", "model": f"bench/{model}"}).encode()
    return HttpRequest("POST", f"/v2/sessions/{session}/messages", body, FOLLOWING)


def _relay_request(path: str, port: int, model: str) -> HttpRequest:
    return HttpRequest("POST", path, json.dumps({"port": port, "model": model}).encode())


# Deltas ----------------------------------------------------------------------------------------------------------


class DeltaPath:
    """One way from the model API to a client."""

    def __init__(self, watched: MeasuredProcess, upstream_port: int, path: str = "") -> None:
        self._watched = watched
        self._upstream = upstream_port
        self._path = path

    def _asks(self, runs: int, model: str) -> list[HttpRequest]:
        if isinstance(self._watched, Server):
            return [_message(session, model) for session in _sessions(self._watched, runs)]
        return [_relay_request(self._path, self._upstream, model) for _ in range(runs)]

    def cpu_seconds(self, deltas: int, runs: int = RUNS, pace_ms: int = PACE_MS) -> float:
        """CPU seconds of all runs, without their start."""
        asks = self._asks(runs, upstream.model_name(deltas, pace_ms if deltas > 1 else 0, "text"))
        gc.collect()
        before = self._watched.cpu()
        followers = uvloop.run(follow_all(self._watched.port, asks, seconds=120))
        time.sleep(0.3)
        spent = self._watched.cpu() - before
        for follower in followers:
            follower.check(deltas)
        return spent

    def sample(self) -> Figures:
        short, long = self.cpu_seconds(1), self.cpu_seconds(DELTAS)
        return {"delta_us": (long - short) / RUNS / (DELTAS - 1) * 1e6, "run_ms": short / RUNS * 1e3}


def deltas(server: Server, reference: MeasuredProcess, upstream_port: int, *, reps: int) -> Figures:
    delta_paths = {
        "relay": DeltaPath(reference, upstream_port, "/relay"),
        "engine": DeltaPath(reference, upstream_port, "/engine"),
        "footnote": DeltaPath(server, upstream_port),
    }
    for delta_path in delta_paths.values():
        delta_path.cpu_seconds(1)
    samples: dict[str, list[Figures]] = {name: [] for name in delta_paths}
    for rep in range(reps):
        for name in list(delta_paths)[:: -1 if rep % 2 else 1]:
            samples[name].append(delta_paths[name].sample())
    figures: Figures = {}
    for name, found in samples.items():
        ratios = [one["delta_us"] / floor["delta_us"] for one, floor in zip(found, samples["relay"], strict=True)]
        figures[name] = {
            **{key: statistics.median(one[key] for one in found) for key in ("delta_us", "run_ms")},
            "ratio": statistics.median(ratios),
            "low": min(ratios),
            "high": max(ratios),
        }
    return figures


def long_answer(server: Server, upstream_port: int, *, reps: int) -> Figures:
    """The cost of a delta in a long answer and in a short one, both without the cost of a run without deltas."""
    delta_path = DeltaPath(server, upstream_port)
    found: list[tuple[float, float]] = []
    for _ in range(reps):
        empty, short, long = (delta_path.cpu_seconds(count, LONG_RUNS, LONG_PACE_MS) for count in (1, SHORT, LONG))
        found.append(((long - empty) / LONG_RUNS / (LONG - 1), (short - empty) / LONG_RUNS / (SHORT - 1)))
    ratios = [in_long / in_short for in_long, in_short in found]
    return {
        "long_us": statistics.median(one[0] for one in found) * 1e6,
        "short_us": statistics.median(one[1] for one in found) * 1e6,
        "ratio": statistics.median(ratios),
        "low": min(ratios),
        "high": max(ratios),
    }


# Streams ---------------------------------------------------------------------------------------------------------


async def _streams(watched: MeasuredProcess, asks: list[HttpRequest], seconds: float) -> Figures | None:
    """Starts streams one after the other, so that their deltas are not synchronous, and measures while all are live.
    None: the machine is too busy, and some had ended by then."""
    followers: list[Follower] = []
    began = time.monotonic()
    for number, ask in enumerate(asks):
        followers.append(await connect(watched.port, ask))
        await asyncio.sleep(max(0.0, began + number / STARTS_PER_SECOND - time.monotonic()))
    async with asyncio.timeout(60):
        await asyncio.gather(*(follower.started for follower in followers))
    await asyncio.sleep(0.5)
    start, cpu = time.monotonic(), watched.cpu()
    await asyncio.sleep(seconds)
    until, spent = time.monotonic(), watched.cpu() - cpu
    too_busy = any(follower.ended.done() for follower in followers)
    async with asyncio.timeout(120):
        await asyncio.gather(*(follower.ended for follower in followers))
    if too_busy:
        return None
    delays = sorted(delay for follower in followers for delay in follower.delays(start, until))
    return {
        "streams": len(asks),
        "event_us": spent / max(1, len(delays)) * 1e6,
        "share": spent / (until - start),
        "delivered": len(delays) / (len(asks) * RATE * (until - start)),
        "p50_ms": delays[len(delays) // 2] * 1e3,
        "p99_ms": delays[len(delays) * 99 // 100] * 1e3,
    }


def streams(
    server: Server, reference: MeasuredProcess, upstream_port: int, *, steps: tuple[int, ...], seconds: float
) -> Figures:
    found: Figures = {"relay": [], "footnote": []}
    for count in steps:
        _log(f"{count} streams")
        length = seconds + 6 + 2.5 * count / STARTS_PER_SECOND
        model = upstream.model_name(int(length * RATE), 1000 // RATE, "clock")
        bare = [_relay_request("/relay", upstream_port, model)] * count
        asks = [_message(session, model) for session in _sessions(server, count)]
        theirs = uvloop.run(_streams(reference, bare, seconds))
        ours = uvloop.run(_streams(server, asks, seconds))
        if theirs is None or ours is None:
            break
        found["relay"].append(theirs)
        found["footnote"].append(ours)
        if ours["delivered"] < IN_TIME:
            break
    return found


async def _shared(server: Server, sessions: list[str], model: str, count: int, seconds: float) -> Figures | None:
    """The same number of streams of fewer runs, each with several followers."""
    body = json.dumps({"content": "What is a footnote for?", "model": f"bench/{model}"}).encode()
    asks = [HttpRequest("POST", f"/v2/sessions/{session}/messages", body, AUTHORISED) for session in sessions]
    runs = [json.loads(answer.body)["run_id"] for answer in await follow_all(server.port, asks, seconds=60)]
    following = [HttpRequest("GET", f"/v2/runs/{run}/events", headers=FOLLOWING) for run in runs]
    return await _streams(server, [following[number % len(runs)] for number in range(count)], seconds)


def shared_streams(server: Server, *, count: int, seconds: float) -> Figures | None:
    _log(f"{count} streams, {CLIENTS_PER_RUN} of each run")
    length = seconds + 6 + 2.5 * count / STARTS_PER_SECOND
    model = upstream.model_name(int(length * RATE), 1000 // RATE, "clock")
    return uvloop.run(_shared(server, _sessions(server, count // CLIENTS_PER_RUN), model, count, seconds))


# Followers -------------------------------------------------------------------------------------------------------


async def _memory_growth(server: Server, ask: HttpRequest, first: int, more: int) -> float:
    followers = [await connect(server.port, ask) for _ in range(first)]
    await asyncio.gather(*(follower.started for follower in followers))
    before = await asyncio.to_thread(server.settled_memory)
    added = [await connect(server.port, ask) for _ in range(more)]
    await asyncio.gather(*(follower.started for follower in added))
    grown = await asyncio.to_thread(server.settled_memory) - before
    followers += added
    if any(follower.ended.done() for follower in followers):
        raise SystemExit("a follower was let go")
    for follower in followers:
        follower.abort()
    await asyncio.gather(*(follower.ended for follower in followers))
    return grown / more


def idle_follower(server: Server, count: int) -> float:
    """Kilobytes per additional follower of an idle run."""
    [session] = _sessions(server, 1)
    model = f"bench/{upstream.model_name(10, 600_000, 'text')}"
    run = server.ask("POST", f"/v2/sessions/{session}/messages", {"content": "…", "model": model})["run_id"]
    ask = HttpRequest("GET", f"/v2/runs/{run}/events", headers=FOLLOWING)
    grown = uvloop.run(_memory_growth(server, ask, 100, count))
    server.ask("POST", f"/v2/runs/{run}/cancel", {})
    return grown / 1e3


# History ---------------------------------------------------------------------------------------------------------


def _long_session(server: Server) -> str:
    [session] = _sessions(server, 1)
    ask = _message(session, upstream.model_name(ANSWER, 0, "text"))
    for _ in range(MESSAGES // 2):
        [follower] = uvloop.run(follow_all(server.port, [ask], seconds=60))
        follower.check(ANSWER)
    return session


def history(server: Server, reference: MeasuredProcess, *, reps: int, times: int) -> Figures:
    session = _long_session(server)
    messages = server.ask("GET", f"/v2/sessions/{session}/history")["messages"]
    if len(messages) != MESSAGES:
        raise SystemExit(f"the history has {len(messages)} messages")
    arguments = {"database": str(server.home / "footnote.db"), "session": session}
    ours = HttpRequest("GET", f"/v2/sessions/{session}/history", headers=AUTHORISED)
    theirs = HttpRequest("POST", "/history", json.dumps(arguments).encode())

    def spent(watched: MeasuredProcess, ask: HttpRequest) -> tuple[float, int]:
        before = watched.cpu()
        for _ in range(times):
            [follower] = uvloop.run(follow_all(watched.port, [ask], seconds=60))
        return (watched.cpu() - before) / times, len(follower.received)

    spent(server, ours)
    spent(reference, theirs)
    pairs = [(spent(server, ours), spent(reference, theirs)) for _ in range(reps)]
    ratios = [mine[0] / other[0] for mine, other in pairs]
    return {
        "ours_ms": statistics.median(mine[0] for mine, _ in pairs) * 1e3,
        "theirs_ms": statistics.median(other[0] for _, other in pairs) * 1e3,
        "ours_kb": pairs[0][0][1] / 1e3,
        "theirs_kb": pairs[0][1][1] / 1e3,
        "ratio": statistics.median(ratios),
        "low": min(ratios),
        "high": max(ratios),
    }


# Start -----------------------------------------------------------------------------------------------------------


def start(upstream_port: int, *, reps: int) -> Figures:
    """With an empty home folder, so that the database is created as well."""
    ready: list[float] = []
    memory: list[float] = []
    for _ in range(reps):
        with footnote(upstream_port) as server:
            ready.append(server.cpu())
            memory.append(server.settled_memory())
    return {"ready_s": statistics.median(ready), "idle_mb": statistics.median(memory) / 1e6}


def measure(*, quick: bool) -> Figures:
    with upstream.run_upstream(on_uvloop=True) as port:
        _log("starts")
        started = start(port, reps=2 if quick else 5)
        with relay() as reference:
            with footnote(port) as server:
                _log("idle followers")
                follower = idle_follower(server, 300 if quick else FOLLOWERS)
            with footnote(port) as server:
                _log("deltas")
                cost = deltas(server, reference, port, reps=2 if quick else 5)
                _log("a long answer")
                long = long_answer(server, port, reps=1 if quick else 3)
                _log("history")
                opened = history(server, reference, reps=3 if quick else 9, times=20)
            with footnote(port) as server:
                dense = streams(server, reference, port, steps=STEPS[:1] if quick else STEPS, seconds=3 if quick else 5)
                dense["shared"] = shared_streams(server, count=STEPS[0] if quick else SHARED_STREAMS, seconds=5)
    return {
        "start": started,
        "follower_kb": follower,
        "deltas": cost,
        "long": long,
        "history": opened,
        "streams": dense,
    }


def main() -> None:
    run(__doc__, "fewer repetitions", measure, tables)


if __name__ == "__main__":
    main()
