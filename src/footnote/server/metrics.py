"""What operators watch, in the words of Prometheus. Counted per request; all else is looked up when it is asked for."""

from collections import Counter
from collections.abc import Iterator, Sized

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from footnote import __version__
from footnote.sessions.runner import Runner


class Metrics(Collector):
    """`requests` counts them by route and status."""

    def __init__(self, requests: Counter[tuple[str, int]], runner: Runner, streams: Sized) -> None:
        self._requests = requests
        self._runner = runner
        self._streams = streams
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def text(self) -> bytes:
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        runner, journal = self._runner, self._runner.journal
        about = GaugeMetricFamily("footnote_info", "Which Footnote this is.", labels=["version"])
        about.add_metric([__version__], 1)
        yield about
        requests = CounterMetricFamily(
            "footnote_requests", "Answered, by route and status.", labels=["route", "status"]
        )
        for (route, status), count in self._requests.items():
            requests.add_metric([route, str(status)], count)
        yield requests
        runs = CounterMetricFamily("footnote_runs", "Runs that ended here, by how.", labels=["state"])
        for state, count in runner.carrier.ended.items():
            runs.add_metric([state], count)
        yield runs
        yield GaugeMetricFamily("footnote_active_runs", "Runs that are carried on here.", len(runner.carrier.live))
        yield GaugeMetricFamily("footnote_followers", "Event streams that are open.", len(self._streams))
        yield CounterMetricFamily("footnote_events", "Events of runs.", journal.events)
        yield CounterMetricFamily("footnote_flushes", "Batches of events that were stored.", journal.flushes)
        yield CounterMetricFamily("footnote_flush_seconds", "Time that storing them took.", journal.flush_seconds)
