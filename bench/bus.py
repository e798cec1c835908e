"""What followers on other replicas cost: CPU per event with and without a bus, and the latency of a delta.

    python bench/bus.py

Two replicas in one process, with real servers. Each run sends a word twenty times a second, at first without and then
with one follower on the other replica. The latency is from the moment in which a delta is produced to the moment in
which the follower on the other replica receives it, including the 80 ms for which events are batched.
"""

import argparse
import asyncio
import re
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

from service_kinds import Postgres, Redis
from service_process import free_ports
from services import missing

from footnote.app import App
from footnote.db.runs import Lease
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.events import BlockDelta, MessageStop, TextGrowth
from footnote.protocol.sessions import NewMessage
from footnote.sessions.event_log import RunLog
from footnote.sessions.turns import RunRequest

PACE = 0.05
_SENT_AT = re.compile(rb'"text":"(\d+\.\d+)')


async def run_ids(app: App, count: int) -> list[str]:
    found: list[str] = []
    for _ in range(count):
        session = await app.sessions.create(LOCAL_USER, "researcher")
        request = RunRequest("researcher", "footnote/reader", "en")
        submitter = app.runner._submitter  # noqa: SLF001 - a run that no executor starts
        head = await submitter.submit(LOCAL_USER, session.id, NewMessage(content="Why?"), request)
        found.append(head.id)
    return found


async def follow(app: App, run_id: str, late: list[float]) -> None:
    async for piece in app.runner.follow(run_id):
        now = time.monotonic()
        late += [now - float(sent_at) for sent_at in _SENT_AT.findall(piece)]


async def publish(app: App, logs: list[RunLog], events: int) -> None:
    for _ in range(events):
        began = time.monotonic()
        for log in logs:
            app.runner.journal.append(log, BlockDelta(0, TextGrowth(f"{time.monotonic():.6f} some words")))
        await asyncio.sleep(max(0, began + PACE - time.monotonic()))
    for log in logs:
        app.runner.journal.append(log, MessageStop())
    await asyncio.sleep(0.3)


async def measure(settings: dict[str, str], runs: int, events: int, *, followed: bool) -> tuple[float, list[float]]:
    """CPU in µs per event, and the latency of each."""
    late: list[float] = []
    with tempfile.TemporaryDirectory() as home:
        environ = {"HOME": home, "FOOTNOTE_LIMITS_RUNS_PER_USER": "100000", **settings}
        for name, value in environ.items():
            environ[name] = value.replace("{home}", home)
        async with AsyncExitStack() as stack:
            here, there = [
                await stack.enter_async_context(App.open(home=Path(home) / name, environ=environ)) for name in "ab"
            ]
            logs = [RunLog(Lease(run_id, 0)) for run_id in await run_ids(here, runs)]
            here.bus.publish("warm", b"up")
            followers = [asyncio.create_task(follow(there, log.lease.run_id, late)) for log in logs if followed]
            await asyncio.sleep(1.5)
            began = time.process_time()
            await publish(here, logs, events)
            cpu = time.process_time() - began
            async with asyncio.timeout(30):
                await asyncio.gather(*followers)
            print("   ", there.bus.state if followed else here.bus.state, flush=True)
    return cpu / (runs * events) * 1e6, late


async def main(runs: int, events: int) -> None:
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # noqa: ASYNC240 - nothing else happens yet
        ports = free_ports(2)
        postgres, redis = Postgres(folder / "pg", ports[0], "secret"), Redis(folder / "redis", ports[1], "secret")
        postgres.start()
        redis.start()
        file = "sqlite:{home}/shared.db"
        kinds = {
            "SQLite, no bus": (file, "local:"),
            "SQLite, Redis": (file, redis.url()),
            "PostgreSQL, no bus": (postgres.url(), "local:"),
            "PostgreSQL, NOTIFY": (postgres.url(), "postgresql:"),
            "PostgreSQL, Redis": (postgres.url(), redis.url()),
        }
        try:
            for kind, (database, bus) in kinds.items():
                settings = {"FOOTNOTE_DATABASE_URL": database, "FOOTNOTE_BUS_URL": bus}
                for followed in (False, True):
                    cpu, late = await measure(settings, runs, events, followed=followed)
                    line = f"{kind:20} {'followed' if followed else 'alone   '}  {cpu:7.1f} µs an event"
                    if late:
                        late.sort()
                        p99 = late[int(len(late) * 0.99)]
                        line += f"   late: p50 {statistics.median(late) * 1e3:.0f} ms, p99 {p99 * 1e3:.0f} ms"
                        line += f"   ({len(late)} events)"
                    print(line, flush=True)
        finally:
            redis.stop()
            postgres.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--events", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="a tenth of the runs")
    chosen = parser.parse_args()
    if unavailable := missing():
        print("\n".join(["The bus was not measured:", *unavailable]))
        sys.exit()
    asyncio.run(main(chosen.runs // 10 if chosen.quick else chosen.runs, chosen.events))
