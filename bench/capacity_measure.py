"""The cost of a run, an event, a page and a file on PostgreSQL, Redis and S3: CPU, transactions, messages and bytes."""

import asyncio
import io
import json
import random
import re
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import redis
import uvloop
import venvs
from followers import HttpRequest, connect, follow_all
from measure import Figures
from processes import AUTHORISED, FOLLOWING, Server
from replicas_processes import Cluster, Services, cluster

import upstream

RUNS = 100
DELTAS = 251
SEARCHES = 30
FILES = 40
FILE_BYTES = 1_000_000
FOLLOWS = 400
ORPHANS = 100
IDLE_SECONDS = 10.0
MARK = "----capacity"
_REQUEST = re.compile(rb"^(?:GET|PUT|HEAD|POST|DELETE) ")
_TABLES = """
    SELECT c.relname, pg_total_relation_size(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'public' AND c.relkind = 'r'
"""
_DONE = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"


@dataclass
class Requests:
    """Counts the requests to a port, and forwards them."""

    to: int
    port: int = 0
    count: int = 0
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)

    @contextmanager
    def counting(self) -> Iterator[None]:
        ready = threading.Event()

        async def serve() -> None:
            server = await asyncio.start_server(self._proxy_connection, "127.0.0.1", 0)
            self.port = server.sockets[0].getsockname()[1]
            ready.set()

        self._loop.create_task(serve())
        thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        thread.start()
        ready.wait()
        yield
        self._loop.call_soon_threadsafe(self._loop.stop)
        thread.join()

    async def _proxy_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, other = await asyncio.open_connection("127.0.0.1", self.to)
        await asyncio.gather(self._forward(reader, other, count=True), self._forward(there, writer, count=False))

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, count: bool) -> None:
        try:
            while data := await reader.read(1 << 16):
                self.count += count and bool(_REQUEST.match(data))
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        writer.close()


class Meter:
    """All counters of a cluster; `spent` returns what some work added to them."""

    def __init__(self, found: Cluster, requests: Requests) -> None:
        self._cluster = found
        self._requests = requests
        self._redis = redis.Redis.from_url(found.services.redis.url())

    def read(self) -> Figures:
        stats = self._redis.info("stats")
        tables = {str(name): int(str(size)) for name, size in self._cluster.sql(_TABLES)}
        return {
            **{f"{part}_s": seconds for part, seconds in self._cluster.cpu().items()},
            "transactions": int(str(self._cluster.sql(_DONE)[0][0])),
            "wal_bytes": float(str(self._cluster.sql("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")[0][0])),
            "bus_commands": int(stats["total_commands_processed"]),
            "bus_in_bytes": int(stats["total_net_input_bytes"]),
            "bus_out_bytes": int(stats["total_net_output_bytes"]),
            "s3_requests": self._requests.count,
            "database_bytes": sum(tables.values()),
            "tables": tables,
        }

    def measure_cost(self, work: Callable[[], object], times: int) -> Figures:
        """The cost of one of `times` pieces of work. PostgreSQL updates its counters with a delay."""
        time.sleep(1.5)
        before = self.read()
        began = time.monotonic()
        work()
        time.sleep(1.5)
        after = self.read()
        tables = {name: (size - before["tables"].get(name, 0)) / times for name, size in after.pop("tables").items()}
        del before["tables"]
        figures: Figures = {name: (value - before[name]) / times for name, value in after.items()}
        return {
            **figures,
            "tables": {name: size for name, size in tables.items() if size},
            "wall_s": time.monotonic() - began,
        }


def _sessions(server: Server, count: int) -> list[str]:
    return [one["id"] for one in server.ask_all([HttpRequest("POST", "/v2/sessions", b"{}", AUTHORISED)] * count)]


def _message(session: str, model: str, question: str = "What is a footnote for?") -> HttpRequest:
    body = json.dumps({"content": question, "model": model}).encode()
    return HttpRequest("POST", f"/v2/sessions/{session}/messages", body, FOLLOWING)


def _runs(server: Server, deltas: int, count: int = RUNS) -> Callable[[], object]:
    model = f"bench/{upstream.model_name(deltas, 25 if deltas > 1 else 0, 'text')}"
    asks = [_message(session, model) for session in _sessions(server, count)]

    def work() -> None:
        for follower in uvloop.run(follow_all(server.port, asks, seconds=180)):
            follower.check(deltas)

    return work


def _searches(server: Server) -> Callable[[], object]:
    asks = [
        _message(session, "footnote/reader", f"What is known about kamintel number {at}?")
        for at, session in enumerate(_sessions(server, SEARCHES))
    ]

    def work() -> None:
        for at in range(0, len(asks), 3):
            for follower in uvloop.run(follow_all(server.port, asks[at : at + 3], seconds=180)):
                if follower.received.count(b'"status": "read"') + follower.received.count(b'"status":"read"') < 1:
                    raise SystemExit(f"nothing was read: {follower.received[-1500:].decode(errors='replace')}")

    return work


def _packed(content: bytes) -> bytes:
    """A file without searchable text."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("content", content)
    return made.getvalue()


class Upload(HttpRequest):
    def encode(self) -> bytes:
        return super().encode().replace(b"application/json", f"multipart/form-data; boundary={MARK}".encode(), 1)


def _files(server: Server) -> Callable[[], object]:
    [session] = _sessions(server, 1)
    asks: list[HttpRequest] = []
    for at in range(FILES):
        content = _packed(random.Random(at).randbytes(FILE_BYTES))
        head = f'--{MARK}\r\ncontent-disposition: form-data; name="f"; filename="{at}.zip"\r\n\r\n'.encode()
        body = head + content + f"\r\n--{MARK}--\r\n".encode()
        asks.append(Upload("POST", f"/v2/sessions/{session}/files", body, AUTHORISED))

    def work() -> None:
        for ask in asks:
            [answer] = uvloop.run(follow_all(server.port, [ask], seconds=60))
            if answer.status != 201:
                raise SystemExit(f"no upload: {answer.received[:500].decode(errors='replace')}")

    return work


def _follows(owner: Server, other: Server) -> Callable[[], object]:
    """A client that reconnects to an idle run on the other replica, and leaves as soon as the stream has begun."""
    [session] = _sessions(owner, 1)
    model = f"bench/{upstream.model_name(10, 600_000, 'text')}"
    run = owner.ask("POST", f"/v2/sessions/{session}/messages", {"content": "…", "model": model})["run_id"]
    ask = HttpRequest("GET", f"/v2/runs/{run}/events", headers=FOLLOWING)

    async def some() -> None:
        for _ in range(FOLLOWS // 20):
            found = [await connect(other.port, ask) for _ in range(20)]
            async with asyncio.timeout(30):
                await asyncio.gather(*(one.started for one in found))
            for one in found:
                one.abort()

    return lambda: uvloop.run(some())


def _orphans(found: Cluster) -> Figures:
    """The replica of idle runs dies: what the other one spends until it has adopted them all."""
    victim, heir = found.servers
    model = f"bench/{upstream.model_name(10, 600_000, 'text')}"
    for session in _sessions(victim, ORPHANS):
        victim.ask("POST", f"/v2/sessions/{session}/messages", {"content": "…", "model": model})
    time.sleep(2)
    idle = _idle(found, heir)
    before, killed = (heir.cpu(), found.cpu()["postgresql"]), time.monotonic()
    victim.kill()
    query = "SELECT count(DISTINCT run) FROM run_events WHERE first_id > 1000000000"
    while int(str(found.sql(query)[0][0])) < ORPHANS:
        if time.monotonic() - killed > 90:
            raise SystemExit("orphans were not adopted")
        time.sleep(0.25)
    seconds = time.monotonic() - killed
    spent = (
        heir.cpu() - before[0] - idle["replica"] * seconds,
        found.cpu()["postgresql"] - before[1] - idle["postgresql"] * seconds,
    )
    return {
        "replicas_s": spent[0] / ORPHANS,
        "postgresql_s": spent[1] / ORPHANS,
        "seconds": seconds,
        "orphans": ORPHANS,
    }


def _idle(found: Cluster, server: Server) -> Figures:
    """The load of an idle cluster, as shares of a processor."""
    before = server.cpu(), found.cpu()
    time.sleep(IDLE_SECONDS)
    after = server.cpu(), found.cpu()
    return {
        "replica": (after[0] - before[0]) / IDLE_SECONDS,
        **{part: (after[1][part] - before[1][part]) / IDLE_SECONDS for part in ("postgresql", "redis", "s3")},
    }


@contextmanager
def _web() -> Iterator[dict[str, str]]:
    command = [sys.executable, str(venvs.BENCH / "capacity_web.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.kill()


def measure(say: Callable[[str], None]) -> Figures:
    prefix = "FOOTNOTE_TOOLS_WEB_SEARCH_"
    with Services() as services, upstream.run_upstream(on_uvloop=True) as port, _web() as web:
        requests = Requests(services.s3.port)
        settings = {
            f"{prefix}DEFAULT_PROVIDER": "searxng",
            f"{prefix}PROVIDERS_SEARXNG_BASE_URL": web["search"],
            f"{prefix}ALLOW_PRIVATE_HOSTS": web["host"],
        }
        with requests.counting():
            storage = services.s3.url("capacity").replace(f":{services.s3.port}", f":{requests.port}")
            with cluster(services, port, FOOTNOTE_STORAGE_URL=storage, **settings) as found:
                meter = Meter(found, requests)
                first, second = found.servers
                uvloop.run(follow_all(first.port, [HttpRequest("GET", "/readyz")], seconds=30))
                _runs(first, 1, 10)()
                say("idle")
                figures: Figures = {"idle": _idle(found, second), "page_text_bytes": web["text"]}
                for name, work, times in (
                    ("run", _runs(first, 1), RUNS),
                    ("long_run", _runs(first, DELTAS), RUNS),
                    ("search", _searches(first), SEARCHES),
                    ("file", _files(first), FILES),
                    ("follow", _follows(first, second), FOLLOWS),
                ):
                    say(name)
                    figures[name] = meter.measure_cost(work, times)
                say("adoption")
                figures["adoption"] = _orphans(found)
    return figures
