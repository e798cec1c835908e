"""What operators watch, in the words of Prometheus.

Whatever takes time is counted where it is done (`footnote.tracing`); all else is looked up when it is asked for.
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
from footnote.tracing import ALL_COUNTERS, ALL_OPERATIONS, EventCounter, Histogram, Operation

PREFIX = "footnote_"


class Metrics(Collector):
    """`requests` counts them by route and status; `streams` are those that are open."""

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
        about = GaugeMetricFamily("footnote_info", "Which Footnote this is.", labels=["version"])
        about.add_metric([__version__], 1)
        yield about
        requests = CounterMetricFamily(
            "footnote_requests", "Answered, by route and status.", labels=["route", "status"]
        )
        for (route, status), count in self._requests.items():
            requests.add_metric([route, str(status)], count)
        yield requests
        yield GaugeMetricFamily("footnote_followers", "Event streams that are open.", len(self._streams))
        yield from self._runs()
        yield from _bus(self._app.bus.state)
        yield _connections(*self._app.connections)
        yield from (_histogram(work) for work in ALL_OPERATIONS.values())
        yield from (_counter(count) for count in ALL_COUNTERS.values())

    def _runs(self) -> Iterator[Metric]:
        carrier, journal = self._app.runner.executor, self._app.runner.journal
        runs = CounterMetricFamily("footnote_runs", "Runs that ended here, by how.", labels=["state"])
        for state, count in carrier.outcome_counts.items():
            runs.add_metric([state], count)
        yield runs
        waiting = sum(not run.has_slot for run in carrier.live_runs.values())
        yield GaugeMetricFamily("footnote_active_runs", "Runs that are carried on here.", len(carrier.live_runs))
        yield GaugeMetricFamily("footnote_waiting_runs", "Those of them that wait their turn.", waiting)
        yield GaugeMetricFamily(
            "footnote_unsettled_runs", "Runs that ended here and could not be stored yet.", len(carrier.pending_endings)
        )
        yield CounterMetricFamily("footnote_events", "Events of runs.", journal.event_count)


def _bus(state: BusState) -> Iterator[Metric]:
    connected = GaugeMetricFamily("footnote_bus_connected", "Whether the bus is there, by its kind.", labels=["kind"])
    connected.add_metric([state.kind], state.is_connected)
    yield connected
    messages = CounterMetricFamily(
        "footnote_bus_messages", "Messages of the bus, by what came of them.", labels=["what"]
    )
    for what in ("published", "received", "dropped"):
        messages.add_metric([what], getattr(state, what))
    yield messages
    yield CounterMetricFamily("footnote_bus_reconnects", "Connections to the bus after the first.", state.reconnects)


def _connections(total: int, busy: int) -> Metric:
    family = GaugeMetricFamily("footnote_database_connections", "To the database server.", labels=["state"])
    family.add_metric(["busy"], busy)
    family.add_metric(["idle"], total - busy)
    return family


def _histogram(work: Operation) -> Metric:
    family = HistogramMetricFamily(f"{PREFIX}{work.name}_seconds", work.description, labels=[*work.labels, "outcome"])
    for values, tally in tuple(work.histograms.items()):
        family.add_metric(values, _buckets(work, tally), tally.seconds)
    return family


def _buckets(work: Operation, tally: Histogram) -> list[tuple[str, float]]:
    """Prometheus counts in each class all that took less as well."""
    ends = [*(str(end) for end in work.buckets), "+Inf"]
    return list(zip(ends, accumulate(tally.counts), strict=True))


def _counter(count: EventCounter) -> Metric:
    family = CounterMetricFamily(f"{PREFIX}{count.name}", count.description, labels=count.labels)
    for values, amount in tuple(count.values.items()):
        family.add_metric(values, amount)
    return family
