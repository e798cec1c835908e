"""Measurements: operations with their times as histograms, and as spans where traces are collected.

    CALLS = Operation("tool_call", "Calls of tools.", "tool", span="execute_tool")

    with CALLS(tool.name) as span:
        result = await tool.run(…)
        span.outcome = "error" if result.is_error else "ok"

Each process counts for itself, and only on its event loop. A label has few possible values, and never a text of a user,
a model or a page.
"""

import asyncio
import logging
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from time import monotonic, perf_counter
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias

from msgspec import Struct

from footnote.cancel import Cancelled

FAST_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SLOW_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""Upper bounds of the buckets of a histogram, in seconds."""
MAX_SERIES = 200
"""The number of label combinations of an operation; those beyond it are counted together, as `other`."""
OTHER = "other"
RECOVERY_SECONDS = 5.0
"""The time without a failure after which a service is logged as recovered."""

log = logging.getLogger(__name__)
# A command reports errors itself. A server, which runs unattended, enables these warnings.
log.setLevel(logging.ERROR)

Attribute: TypeAlias = str | int | float | bool | Sequence[str]


class TraceOrigin(Struct, frozen=True):
    """The run of a trace, and the attempt at it. `caller`: the `traceparent` of the request that started the run."""

    run_id: str
    session_id: str
    fence: int = 0
    caller: str | None = None


class Tracer(Protocol):
    """Collects spans. Its methods may neither raise nor block."""

    def begin(self, span: "TraceSpan", parent: "TraceSpan | None") -> Any:
        """A handle for the span; None if it is not collected."""
        ...

    def end(self, span: "TraceSpan", error: str | None) -> None:
        """`error`: the type of the exception that ended it."""
        ...

    def trace_id(self, handle: Any) -> str: ...


class Histogram:
    """How many operations took how long."""

    __slots__ = ("counts", "seconds")

    def __init__(self, bucket_count: int) -> None:
        self.counts = [0] * (bucket_count + 1)
        self.seconds = 0.0


class HealthLog:
    """Logs once when an external service begins to fail, and once when it has recovered."""

    def __init__(self, subject: str, recovery_seconds: float = RECOVERY_SECONDS) -> None:
        self._subject = subject
        self._recovery_seconds = recovery_seconds
        self._failing_since: float | None = None
        self._last_failure = 0.0

    def report(self, error: BaseException | None) -> None:
        now = monotonic()
        if error is not None:
            self._last_failure = now
            if self._failing_since is None:
                self._failing_since = now
                log.warning("%s fails: %s", self._subject, error, extra={"error": type(error).__name__})
        elif self._failing_since is not None and now - self._last_failure >= self._recovery_seconds:
            log.warning(
                "%s works again, %.0f seconds after it began to fail.", self._subject, now - self._failing_since
            )
            self._failing_since = None


class Operation:
    """A kind of work. `labels` are those of its histograms, beside the outcome. `span` is its name in traces; without
    one it has no spans. An error that is not among `failures` is a regular result. `health` logs failures."""

    def __init__(
        self,
        name: str,
        description: str,
        *labels: str,
        span: str | None = None,
        buckets: tuple[float, ...] = FAST_BUCKETS,
        failures: tuple[type[BaseException], ...] = (Exception,),
        health: HealthLog | None = None,
    ) -> None:
        self.name = name
        self.description = description
        self.labels = labels
        self.span = span
        self.buckets = buckets
        self.failures = failures
        self.health = health
        self.histograms: dict[tuple[str, ...], Histogram] = {}
        """By the values of the labels, and the outcome."""
        if health is not None and not labels:
            self._new_histogram(("ok",))
            self._new_histogram(("error",))
        ALL_OPERATIONS[name] = self

    def __call__(self, *values: str, origin: TraceOrigin | None = None) -> "TraceSpan":
        """`origin` is given where a trace begins."""
        return TraceSpan(self, values, origin)

    def observe(self, seconds: float, *values: str, outcome: str = "ok") -> None:
        self.observe_key(seconds, (*values, outcome))

    def observe_key(self, seconds: float, key: tuple[str, ...]) -> None:
        histogram = self.histograms.get(key)
        if histogram is None:
            histogram = self._new_histogram(key)
        histogram.counts[bisect_left(self.buckets, seconds)] += 1
        histogram.seconds += seconds

    def _new_histogram(self, key: tuple[str, ...]) -> Histogram:
        if len(self.histograms) >= MAX_SERIES:
            key = (*(OTHER for _ in self.labels), key[-1])
        return self.histograms.setdefault(key, Histogram(len(self.buckets)))


class EventCounter:
    """A number that only grows."""

    def __init__(self, name: str, description: str, *labels: str) -> None:
        self.name = name
        self.description = description
        self.labels = labels
        self.values: dict[tuple[str, ...], float] = {} if labels else {(): 0}
        """Zero from the start if there are no labels: Prometheus does not see the first increase of a new series."""
        ALL_COUNTERS[name] = self

    def add(self, amount: float = 1, *labels: str) -> None:
        if labels not in self.values and len(self.values) >= MAX_SERIES:
            labels = tuple(OTHER for _ in labels)
        self.values[labels] = self.values.get(labels, 0) + amount


class TraceSpan:
    """One operation in progress. An `outcome` that is left empty follows from the exception that ends the block."""

    __slots__ = (
        "_parent",
        "_started_at",
        "attributes",
        "handle",
        "has_ended",
        "operation",
        "origin",
        "outcome",
        "values",
    )

    def __init__(self, operation: Operation, values: tuple[str, ...], origin: TraceOrigin | None) -> None:
        self.operation = operation
        self.values = values
        self.origin = origin
        self.outcome = ""
        self.handle: Any = None
        self.attributes: dict[str, Attribute] | None = None
        self._parent: TraceSpan | None = None
        self.has_ended = False

    @property
    def name(self) -> str:
        return " ".join((self.operation.span or self.operation.name, *self.values))

    def set_attributes(self, attributes: Mapping[str, Attribute]) -> None:
        """For the trace: ids, names of models and tools, sizes, states, but no text of a user, a model or a page."""
        if self.handle is not None:
            self.attributes = {**(self.attributes or {}), **attributes}

    def __enter__(self) -> Self:
        if self.operation.span is not None:
            parent = _current.get()
            while parent is not None and parent.has_ended:  # a generator was abandoned before its end
                parent = parent._parent  # noqa: SLF001 - of the same class
            self._parent = parent
            if self.origin is None and parent is not None:
                self.origin = parent.origin
            _current.set(self)
            if _tracers:
                self.handle = _tracers[-1].begin(self, parent)
        self._started_at = perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        seconds = perf_counter() - self._started_at
        operation = self.operation
        if not self.outcome:
            self.outcome = "ok" if error is None else _outcome(error, operation)
        failure = error if self.outcome == "error" else None
        operation.observe_key(seconds, (*self.values, self.outcome))
        if operation.health is not None and self.outcome not in ("cancelled", "refused"):
            operation.health.report(failure)
        if operation.span is not None:
            self.has_ended = True
            _current.set(self._parent)
            if self.handle is not None and _tracers:
                _tracers[-1].end(self, None if failure is None else type(failure).__name__)


def _outcome(error: BaseException, operation: Operation) -> str:
    if isinstance(error, asyncio.CancelledError | Cancelled | GeneratorExit | KeyboardInterrupt):
        return "cancelled"
    return "error" if isinstance(error, operation.failures) else "refused"


ALL_OPERATIONS: dict[str, Operation] = {}
ALL_COUNTERS: dict[str, EventCounter] = {}
"""Everything that is measured, by name."""

_current: ContextVar[TraceSpan | None] = ContextVar("footnote_span", default=None)
_caller: ContextVar[str | None] = ContextVar("footnote_caller", default=None)
_tracers: list[Tracer] = []


def install(tracer: Tracer) -> None:
    """Collects spans from now on."""
    _tracers.append(tracer)


def uninstall(tracer: Tracer) -> None:
    if tracer in _tracers:
        _tracers.remove(tracer)


def set_caller(traceparent: str | None) -> None:
    """Remembers the `traceparent` (W3C Trace Context) of the current request."""
    _caller.set(traceparent)


def caller() -> str | None:
    return _caller.get()


def log_fields() -> dict[str, str]:
    """The ids of the current run and its trace, for the log."""
    span = _current.get()
    # A task that was started in a run may outlive it.
    if span is None or span.origin is None or span.has_ended:
        return {}
    fields = {"run_id": span.origin.run_id, "session_id": span.origin.session_id}
    if span.handle is not None and _tracers:
        fields["trace_id"] = _tracers[-1].trace_id(span.handle)
    return fields
