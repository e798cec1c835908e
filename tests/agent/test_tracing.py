"""Spans and metrics of a turn: their names, parents and outcomes, and the limit of series."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress
from typing import Any

import pytest

from footnote import tracing
from footnote.cancel import Cancelled
from footnote.tracing import MAX_SERIES, EventCounter, Operation, TraceOrigin, TraceSpan


class SpanRecorder:
    """Records spans as `name < name of the parent: outcome`."""

    def __init__(self) -> None:
        self.spans: list[str] = []

    def begin(self, span: TraceSpan, parent: TraceSpan | None) -> Any:
        return f"{span.name} < {parent.name}" if parent else span.name

    def end(self, span: TraceSpan, error: str | None) -> None:
        self.spans.append(f"{span.handle}: {span.outcome}{f' {error}' if error else ''}")

    def trace_id(self, traced: Any) -> str:
        return f"trace of {traced}"


@pytest.fixture
def recorder() -> Iterator[SpanRecorder]:
    recorder = SpanRecorder()
    tracing.install(recorder)
    yield recorder
    tracing.uninstall(recorder)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    works, counts = dict(tracing.ALL_OPERATIONS), dict(tracing.ALL_COUNTERS)
    yield
    for registry, before in ((tracing.ALL_OPERATIONS, works), (tracing.ALL_COUNTERS, counts)):
        registry.clear()
        registry.update(before)


def outcomes(work: Operation) -> dict[tuple[str, ...], int]:
    return {values: sum(tally.counts) for values, tally in work.histograms.items()}


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (None, "ok"),
        (KeyError("no"), "error"),
        (ValueError("an answer"), "refused"),
        (asyncio.CancelledError(), "cancelled"),
        (Cancelled(), "cancelled"),
    ],
)
def test_how_work_ends_is_what_it_counts_as(error: BaseException | None, outcome: str):
    work = Operation("test", "Of a test.", "tool", failures=(KeyError,))
    with suppress(type(error) if error else ()), work("one"):
        if error is not None:
            raise error
    assert outcomes(work) == {("one", outcome): 1}


def test_what_the_work_says_of_itself_holds():
    work = Operation("test", "Of a test.")
    with suppress(KeyError), work() as span:
        span.outcome = "empty"
        raise KeyError
    assert outcomes(work) == {("empty",): 1}


def test_times_are_sorted_into_classes():
    work = Operation("test", "Of a test.", buckets=(0.1, 1.0))
    for seconds in (0.05, 0.1, 0.5, 7.0):
        work.observe(seconds)
    [tally] = work.histograms.values()
    assert (tally.counts, tally.seconds) == ([2, 1, 1], 7.65)


def test_a_label_has_so_many_values_and_no_more():
    work, count = Operation("test", "Of a test.", "model"), EventCounter("test", "Of a test.", "model")
    for number in range(MAX_SERIES + 50):
        work.observe(0.0, f"model {number}")
        count.add(2, f"model {number}")
    assert (len(work.histograms), len(count.values)) == (MAX_SERIES + 1, MAX_SERIES + 1)
    assert outcomes(work)["other", "ok"] == 50
    assert count.values["other",] == 100


async def test_a_span_belongs_to_the_one_around_it_in_tasks_too(recorder: SpanRecorder):
    run, page = Operation("run", "A run.", span="run"), Operation("page", "A page.", "host", span="page")

    async def read(host: str) -> None:
        with page(host):
            await asyncio.sleep(0)

    with run(origin=TraceOrigin("run_1", "session_1")):
        await asyncio.gather(read("a"), read("b"))
        place = tracing.log_fields()
    assert sorted(recorder.spans) == ["page a < run: ok", "page b < run: ok", "run: ok"]
    assert place == {"run_id": "run_1", "session_id": "session_1", "trace_id": "trace of run"}
    assert tracing.log_fields() == {}


async def test_a_generator_that_is_left_half_way_leaves_nothing_behind(recorder: SpanRecorder):
    outer, inner = Operation("outer", "Outer.", span="outer"), Operation("inner", "Inner.", span="inner")

    async def steps() -> AsyncGenerator[int, None]:
        with outer():
            yield 1
            yield 2

    async with aclosing(steps()) as left:
        await anext(left)
        with inner():
            await left.aclose()
    with inner():
        pass
    assert recorder.spans == ["outer: cancelled", "inner < outer: ok", "inner: ok"]


def test_without_a_tracer_nothing_is_noted():
    work = Operation("test", "Of a test.", span="test")
    with work() as span:
        span.set_attributes({"footnote.round": 1})
    assert (span.attributes, span.handle) == (None, None)
