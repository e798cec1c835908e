"""Metrics in the format of Prometheus.

Operations are measured where they happen (`footnote.tracing`); everything else is read when the metrics are collected.
"""

from collections import Counter
from collections.abc import Iterator, Sized
from itertools import accumulate

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from footnote import __version__
from footnote.app import App
from footnote.bus.base import BusState
from footnote.sessions.run import RunPhase
from footnote.tracing import ALL_COUNTERS, ALL_OPERATIONS, EventCounter, Histogram, Operation

PREFIX = "footnote_"


class Metrics(Collector):
    """`requests`: their number by route and status. `streams`: those that are open."""

    def __init__(self, app: App, requests: Counter[tuple[str, int]], streams: Sized) -> None:
        self._app = app
        self._requests = requests
        self._streams = streams
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def text(self) -> bytes:
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        info = GaugeMetricFamily("footnote_info", "The version of Footnote.", labels=["version"])
        info.add_metric([__version__], 1)
        yield info
        requests = CounterMetricFamily(
            "footnote_requests", "Answered requests, by route and status.", labels=["route", "status"]
        )
        for (route, status), count in self._requests.items():
            requests.add_metric([route, str(status)], count)
        yield requests
        yield GaugeMetricFamily("footnote_followers", "Open event streams.", len(self._streams))
        yield from self._runs()
        yield from _bus(self._app.bus.state)
        yield _connections(*self._app.connections)
        yield from (_histogram(operation) for operation in ALL_OPERATIONS.values())
        yield from (_counter(counter) for counter in ALL_COUNTERS.values())

    def _runs(self) -> Iterator[Metric]:
        executor, journal = self._app.runner.executor, self._app.runner.journal
        runs = CounterMetricFamily("footnote_runs", "Runs that ended in this process, by state.", labels=["state"])
        for state, count in executor.outcome_counts.items():
            runs.add_metric([state], count)
        yield runs
        waiting = sum(run.phase is RunPhase.QUEUED for run in executor.live_runs.values())
        yield GaugeMetricFamily("footnote_active_runs", "Active runs of this process.", len(executor.live_runs))
        yield GaugeMetricFamily("footnote_waiting_runs", "Active runs that wait for a slot.", waiting)
        yield GaugeMetricFamily(
            "footnote_unsettled_runs", "Runs that ended here and are not stored yet.", len(executor.pending_endings)
        )
        yield CounterMetricFamily("footnote_events", "Events of runs.", journal.event_count)


def _bus(state: BusState) -> Iterator[Metric]:
    connected = GaugeMetricFamily("footnote_bus_connected", "Whether the bus is connected, by kind.", labels=["kind"])
    connected.add_metric([state.kind], state.is_connected)
    yield connected
    messages = CounterMetricFamily(
        "footnote_bus_messages", "Messages of the bus, by what happened to them.", labels=["what"]
    )
    for what in ("published", "received", "dropped"):
        messages.add_metric([what], getattr(state, what))
    yield messages
    yield CounterMetricFamily("footnote_bus_reconnects", "Reconnections to the bus.", state.reconnects)


def _connections(total: int, busy: int) -> Metric:
    family = GaugeMetricFamily("footnote_database_connections", "Connections to the database server.", labels=["state"])
    family.add_metric(["busy"], busy)
    family.add_metric(["idle"], total - busy)
    return family


def _histogram(operation: Operation) -> Metric:
    labels = [*operation.labels, "outcome"]
    family = HistogramMetricFamily(f"{PREFIX}{operation.name}_seconds", operation.description, labels=labels)
    for values, histogram in tuple(operation.histograms.items()):
        family.add_metric(values, _buckets(operation, histogram), histogram.seconds)
    return family


def _buckets(operation: Operation, histogram: Histogram) -> list[tuple[str, float]]:
    """Buckets of Prometheus are cumulative."""
    ends = [*(str(end) for end in operation.buckets), "+Inf"]
    return list(zip(ends, accumulate(histogram.counts), strict=True))


def _counter(counter: EventCounter) -> Metric:
    family = CounterMetricFamily(f"{PREFIX}{counter.name}", counter.description, labels=counter.labels)
    for values, amount in tuple(counter.values.items()):
        family.add_metric(values, amount)
    return family
