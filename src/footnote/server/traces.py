"""Traces of runs, for a collector that speaks OTLP over HTTP. The one module that knows OpenTelemetry.

The ids of a trace are made from the run's, so that whoever carries a run on adds to the same trace without asking.
What is collected goes out in a thread of its own: a collector that is slow or gone costs spans, and no run waits.
"""

import asyncio
import hashlib
import logging
import threading
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import (
    Link,
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from footnote import __version__, tracing
from footnote.server.logs import replica
from footnote.tracing import HealthLog, TraceOrigin, TraceSpan

FLUSH_SECONDS = 3.0
"""How long the end of the server waits for the last spans to be delivered."""
_CLIENT_SPANS = frozenset({"chat", "search", "page", "storage"})
"""Spans of work that somebody else does."""


class Traces:
    """What `tracing` tells of, in the words of OpenTelemetry."""

    def __init__(self, exporter: SpanExporter, environ: Mapping[str, str]) -> None:
        self._ids = _IdGenerator()
        self._provider = TracerProvider(
            resource=Resource.create(_resource(environ)), id_generator=self._ids, shutdown_on_exit=False
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("footnote", __version__)

    def begin(self, span: TraceSpan, parent: TraceSpan | None) -> Any:
        """A trace is one of a run: work outside of any is only counted."""
        origin = span.origin
        if origin is None or (parent is not None and parent.origin is origin):
            if parent is None or parent.handle is None:
                return None
            kind = SpanKind.CLIENT if span.operation.span in _CLIENT_SPANS else SpanKind.INTERNAL
            return self._tracer.start_span(span.name, context=set_span_in_context(parent.handle, Context()), kind=kind)
        self._ids.forced_ids = (_trace_id(origin.run_id), _span_id(origin.run_id, origin.fence))
        return self._tracer.start_span(span.name, context=Context(), links=_links(origin))

    def end(self, span: TraceSpan, error: str | None) -> None:
        span.handle.set_attributes({**(span.attributes or {}), "footnote.outcome": span.outcome})
        if span.outcome == "error":
            span.handle.set_status(StatusCode.ERROR)
        if error is not None:
            span.handle.set_attribute("error.type", error)
        span.handle.end()

    def trace_id(self, traced: Any) -> str:
        return f"{traced.get_span_context().trace_id:032x}"

    def close(self) -> None:
        """Delivers what is left. May take as long as the collector does."""
        self._provider.shutdown()


class _IdGenerator(RandomIdGenerator):
    """Random ones, but for the span that a trace begins with."""

    def __init__(self) -> None:
        self.forced_ids: tuple[int, int] | None = None

    def generate_trace_id(self) -> int:
        return self.forced_ids[0] if self.forced_ids is not None else super().generate_trace_id()

    def generate_span_id(self) -> int:
        wanted, self.forced_ids = self.forced_ids, None
        return wanted[1] if wanted is not None else super().generate_span_id()

    def is_trace_id_random(self) -> bool:
        """The last bytes of a hash are as good as random ones."""
        return True


class _LoggingExporter(SpanExporter):
    """Says once that the collector is gone, and once that it is back, where the exporter would with every batch."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._standing = HealthLog("The collector of traces")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        try:
            result = self._exporter.export(spans)
        except Exception as error:  # noqa: BLE001 - a thread of ours must live on, whatever a collector answers
            self._standing.report(error)
            return SpanExportResult.FAILURE
        delivered = result is SpanExportResult.SUCCESS
        self._standing.report(None if delivered else ConnectionError(f"{len(spans)} spans were not delivered"))
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


@asynccontextmanager
async def export_traces(environ: Mapping[str, str]) -> AsyncGenerator[None, None]:
    """Spans of all that is done inside go to the collector that the environment names."""
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # see _Delivery
    traces = Traces(_LoggingExporter(OTLPSpanExporter()), environ)
    tracing.install(traces)
    try:
        yield
    finally:
        tracing.uninstall(traces)
        await _close(traces)


async def _close(traces: Traces) -> None:
    """In a thread that nobody waits for at the end of the process, as they would for one of a pool."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()

    def close() -> None:
        traces.close()
        loop.call_soon_threadsafe(done.set)

    threading.Thread(target=close, name="footnote-traces", daemon=True).start()
    try:
        async with asyncio.timeout(FLUSH_SECONDS):
            await done.wait()
    except TimeoutError:
        logging.getLogger(__name__).warning("The last spans could not be delivered within %g seconds.", FLUSH_SECONDS)


def _resource(environ: Mapping[str, str]) -> dict[str, str]:
    facts = {"service.version": __version__, "service.instance.id": replica()}
    if not environ.get("OTEL_SERVICE_NAME") and "service.name=" not in environ.get("OTEL_RESOURCE_ATTRIBUTES", ""):
        facts["service.name"] = "footnote"
    return facts


def _links(origin: TraceOrigin) -> list[Link]:
    """To who asked, and to the attempt that this one goes on from."""
    found: list[Link] = []
    if origin.caller is not None:
        carried = TraceContextTextMapPropagator().extract({"traceparent": origin.caller}, Context())
        found.append(Link(get_current_span(carried).get_span_context()))
    if origin.fence > 0:
        earlier = _span_id(origin.run_id, origin.fence - 1)
        flags = TraceFlags(TraceFlags.SAMPLED)
        found.append(Link(SpanContext(_trace_id(origin.run_id), earlier, is_remote=True, trace_flags=flags)))
    return [link for link in found if link.context.is_valid]


def _trace_id(run_id: str) -> int:
    return int.from_bytes(hashlib.sha256(f"trace of {run_id}".encode()).digest()[-16:], "big")


def _span_id(run_id: str, fence: int) -> int:
    return int.from_bytes(hashlib.sha256(f"attempt {fence} at {run_id}".encode()).digest()[-8:], "big")
