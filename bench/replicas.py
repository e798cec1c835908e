"""The cost and the benefit of a second machine: the same load on one embedded process and on two replicas, in one run.

    .venv/bin/python bench/replicas.py             about ten minutes
    .venv/bin/python bench/replicas.py --quick     fewer streams, about three minutes

Two replicas on PostgreSQL, Redis and an S3 server behind a TCP balancer, all on loopback. Every event of every stream
is counted and compared with the stored events. bench/README.md has the figures.
"""

import sys
from collections.abc import Callable

import uvloop
from measure import Figures
from processes import footnote
from replicas_load import Load, LoadTarget, run_load
from replicas_processes import Services, cluster
from replicas_report import tables
from running import run
from services import missing

import upstream


def _log(progress: str) -> None:
    print(f"{progress} …", file=sys.stderr, flush=True)


def embedded(port: int, load: Load) -> Figures:
    """The reference: the load on one process with a file and a folder."""
    with footnote(port) as server:
        target = LoadTarget([server], lambda _owner, _number: server.port, lambda: {"replicas": server.cpu()})
        return uvloop.run(run_load(target, load))


def replicas(
    services: Services, port: int, load: Load, *, bus: str | None = None, through: str = "balancer"
) -> Figures:
    """`through`: where followers connect: to the balancer, to the replica that executes the run (`own`) or to the other
    one (`other`)."""
    with cluster(services, port, bus=bus) as found:
        ports = [server.port for server in found.servers]
        ways: dict[str, Callable[[int, int], int]] = {
            "balancer": lambda _owner, _number: found.port,
            "own": lambda owner, _number: ports[owner],
            "other": lambda owner, _number: ports[1 - owner],
        }
        target = LoadTarget(found.servers, ways[through], found.cpu)
        return uvloop.run(run_load(target, load))


def measure(*, quick: bool) -> Figures:
    streams = (200, 400) if quick else (2000, 4000)
    few = 200 if quick else 600
    seconds = 4.0 if quick else 10.0
    figures: Figures = {}
    if unavailable := missing():
        print("\n".join(["Replicas were not measured:", *unavailable]))
        sys.exit()
    with Services() as services, upstream.run_upstream(on_uvloop=True) as port:
        _log(f"one embedded process, {streams[0]} streams")
        figures["embedded"] = embedded(port, Load(streams[0], seconds))
        figures["replicas"] = []
        for count in streams:
            _log(f"two replicas, {count} streams")
            figures["replicas"].append(replicas(services, port, Load(count, seconds)))
        _log(f"kill -9 of one of two replicas, {streams[0]} streams")
        figures["killed"] = replicas(services, port, Load(streams[0], seconds, kills=True))
        figures["ways"] = {}
        for way in ("own", "other"):
            _log(f"followers on the {way} replica, {few} streams")
            figures["ways"][way] = replicas(services, port, Load(few, seconds), through=way)
        figures["buses"] = {"redis": figures["ways"]["other"]}
        for name, address in (("postgresql", "postgresql:"), ("none", "local:")):
            _log(f"followers on the other replica, the bus is {address}")
            figures["buses"][name] = replicas(services, port, Load(few, seconds), bus=address, through="other")
    return figures


def main() -> None:
    run(__doc__, "fewer streams", measure, tables)


if __name__ == "__main__":
    main()
