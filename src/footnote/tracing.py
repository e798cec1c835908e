"""What takes time is measured where it is done, once: as figures that operators watch, and as a span where traces are
collected.

    CALLS = Work("tool_call", "Calls of tools.", "tool", span="execute_tool")

    with CALLS(tool.name) as span:
        result = await tool.run(…)
        span.outcome = "error" if result.is_error else "ok"

Figures are those of the process. They are counted on its event loop alone. The value of a label is one of a few: what
a user, a model or a page wrote is none.
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

QUICK = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SLOW = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""Upper ends of the classes that times are sorted into, in seconds."""
MOST_SERIES = 200
"""Of one kind of work: what comes after is counted together."""
OTHER = "other"
CALM_SECONDS = 5.0
"""What has failed within so long is not yet said to be back."""

log = logging.getLogger(__name__)
# A command says itself what went wrong. A server, which is there when nobody looks, lets this be heard.
log.setLevel(logging.ERROR)

Attribute: TypeAlias = str | int | float | bool | Sequence[str]


class Origin(Struct, frozen=True):
    """The run that a trace is about, and this attempt at it. `caller`: the `traceparent` of who asked for it."""

    run_id: str
    session_id: str
    fence: int = 0
    caller: str | None = None


class Tracer(Protocol):
    """Who collects spans. Neither of these may raise, or wait for anything."""

    def begin(self, span: "Span", parent: "Span | None") -> Any:
        """What stands for the span from now on; None: it is not collected."""
        ...

    def end(self, span: "Span", error: str | None) -> None:
        """`error`: the type of what ended it."""
        ...

    def trace_id(self, traced: Any) -> str: ...


class Tally:
    """How many took how long."""

    __slots__ = ("counts", "seconds")

    def __init__(self, classes: int) -> None:
        self.counts = [0] * (classes + 1)
        self.seconds = 0.0


class Standing:
    """Whether something outside works: said once when it begins to fail, and once when it is back."""

    def __init__(self, what: str, calm: float = CALM_SECONDS) -> None:
        self._what = what
        self._calm = calm
        self._since: float | None = None
        self._last = 0.0

    def see(self, error: BaseException | None) -> None:
        now = monotonic()
        if error is not None:
            self._last = now
            if self._since is None:
                self._since = now
                log.warning("%s fails: %s", self._what, error, extra={"error": type(error).__name__})
        elif self._since is not None and now - self._last >= self._calm:
            log.warning("%s works again, %.0f seconds after it began to fail.", self._what, now - self._since)
            self._since = None


class Work:
    """A kind of work. `labels` are what it is counted by, beside its outcome; `span` is what a trace calls it, None: it
    is in none. An error that is no `failure` is an answer. `standing`: of what does the work."""

    def __init__(
        self,
        name: str,
        meaning: str,
        *labels: str,
        span: str | None = None,
        classes: tuple[float, ...] = QUICK,
        failures: tuple[type[BaseException], ...] = (Exception,),
        standing: Standing | None = None,
    ) -> None:
        self.name = name
        self.meaning = meaning
        self.labels = labels
        self.span = span
        self.classes = classes
        self.failures = failures
        self.standing = standing
        self.tallies: dict[tuple[str, ...], Tally] = {}
        """By the values of the labels and the outcome."""
        if standing is not None and not labels:
            self._new(("ok",))
            self._new(("error",))
        WORKS[name] = self

    def __call__(self, *values: str, origin: Origin | None = None) -> "Span":
        """`origin`: a trace begins here."""
        return Span(self, values, origin)

    def took(self, seconds: float, *values: str, outcome: str = "ok") -> None:
        self.count(seconds, (*values, outcome))

    def count(self, seconds: float, key: tuple[str, ...]) -> None:
        tally = self.tallies.get(key)
        if tally is None:
            tally = self._new(key)
        tally.counts[bisect_left(self.classes, seconds)] += 1
        tally.seconds += seconds

    def _new(self, key: tuple[str, ...]) -> Tally:
        if len(self.tallies) >= MOST_SERIES:
            key = (*(OTHER for _ in self.labels), key[-1])
        return self.tallies.setdefault(key, Tally(len(self.classes)))


class Count:
    """Something that only grows."""

    def __init__(self, name: str, meaning: str, *labels: str) -> None:
        self.name = name
        self.meaning = meaning
        self.labels = labels
        self.values: dict[tuple[str, ...], float] = {} if labels else {(): 0}
        """From the beginning, where that is possible: Prometheus does not see how something grew that was not there."""
        COUNTS[name] = self

    def add(self, amount: float = 1, *labels: str) -> None:
        if labels not in self.values and len(self.values) >= MOST_SERIES:
            labels = tuple(OTHER for _ in labels)
        self.values[labels] = self.values.get(labels, 0) + amount


class Span:
    """One piece of work, while it is done. `outcome` is what it counts as; who leaves it empty leaves it to the way in
    which the work ends."""

    __slots__ = ("_began", "_parent", "attributes", "ended", "origin", "outcome", "traced", "values", "work")

    def __init__(self, work: Work, values: tuple[str, ...], origin: Origin | None) -> None:
        self.work = work
        self.values = values
        self.origin = origin
        self.outcome = ""
        self.traced: Any = None
        self.attributes: dict[str, Attribute] | None = None
        self._parent: Span | None = None
        self.ended = False

    @property
    def name(self) -> str:
        return " ".join((self.work.span or self.work.name, *self.values))

    def note(self, attributes: Mapping[str, Attribute]) -> None:
        """Facts for the trace. Never what somebody wrote: ids, names of models and tools, sizes, states."""
        if self.traced is not None:
            self.attributes = {**(self.attributes or {}), **attributes}

    def __enter__(self) -> Self:
        if self.work.span is not None:
            parent = _current.get()
            while parent is not None and parent.ended:  # a generator was left half-way
                parent = parent._parent  # noqa: SLF001 - one of us
            self._parent = parent
            if self.origin is None and parent is not None:
                self.origin = parent.origin
            _current.set(self)
            if _tracers:
                self.traced = _tracers[-1].begin(self, parent)
        self._began = perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        seconds = perf_counter() - self._began
        work = self.work
        if not self.outcome:
            self.outcome = "ok" if error is None else _outcome(error, work)
        failure = error if self.outcome == "error" else None
        work.count(seconds, (*self.values, self.outcome))
        if work.standing is not None and self.outcome not in ("cancelled", "refused"):
            work.standing.see(failure)
        if work.span is not None:
            self.ended = True
            _current.set(self._parent)
            if self.traced is not None and _tracers:
                _tracers[-1].end(self, None if failure is None else type(failure).__name__)


def _outcome(error: BaseException, work: Work) -> str:
    if isinstance(error, asyncio.CancelledError | Cancelled | GeneratorExit | KeyboardInterrupt):
        return "cancelled"
    return "error" if isinstance(error, work.failures) else "refused"


WORKS: dict[str, Work] = {}
COUNTS: dict[str, Count] = {}
"""All that is measured, by name."""

_current: ContextVar[Span | None] = ContextVar("footnote_span", default=None)
_caller: ContextVar[str | None] = ContextVar("footnote_caller", default=None)
_tracers: list[Tracer] = []


def install(tracer: Tracer) -> None:
    """From now on spans are collected."""
    _tracers.append(tracer)


def uninstall(tracer: Tracer) -> None:
    if tracer in _tracers:
        _tracers.remove(tracer)


def asked_by(traceparent: str | None) -> None:
    """Who asks for what is begun from here on, in the words of W3C Trace Context."""
    _caller.set(traceparent)


def caller() -> str | None:
    return _caller.get()


def place() -> dict[str, str]:
    """The run that is worked on here, and its trace, for the log."""
    span = _current.get()
    # Tasks that outlive a run may have been started in one.
    if span is None or span.origin is None or span.ended:
        return {}
    found = {"run_id": span.origin.run_id, "session_id": span.origin.session_id}
    if span.traced is not None and _tracers:
        found["trace_id"] = _tracers[-1].trace_id(span.traced)
    return found
