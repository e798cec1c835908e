"""Traces of runs, exported to a collector by OTLP over HTTP. The only module that imports OpenTelemetry.

The ids of a trace are derived from the id of the run, so that a replica that adopts a run adds to the same trace.
Spans are exported in a thread: if the collector is slow or gone, spans are lost, but no run waits.
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
"""How long the shutdown waits for the delivery of the last spans."""
_CLIENT_SPANS = frozenset({"chat", "search", "page", "storage"})
"""Spans of requests to other services."""


class Traces:
    """A `tracing.Tracer` that makes spans of OpenTelemetry."""

    def __init__(self, exporter: SpanExporter, environ: Mapping[str, str]) -> None:
        self._ids = _IdGenerator()
        self._provider = TracerProvider(
            resource=Resource.create(_resource(environ)), id_generator=self._ids, shutdown_on_exit=False
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("footnote", __version__)

    def begin(self, span: TraceSpan, parent: TraceSpan | None) -> Any:
        """Only runs have traces: an operation outside of a run is measured, but has no span."""
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

    def trace_id(self, handle: Any) -> str:
        return f"{handle.get_span_context().trace_id:032x}"

    def close(self) -> None:
        """Delivers the last spans. This may take as long as the collector does."""
        self._provider.shutdown()


class _IdGenerator(RandomIdGenerator):
    """Random ids, except for the first span of a trace."""

    def __init__(self) -> None:
        self.forced_ids: tuple[int, int] | None = None

    def generate_trace_id(self) -> int:
        return self.forced_ids[0] if self.forced_ids is not None else super().generate_trace_id()

    def generate_span_id(self) -> int:
        forced, self.forced_ids = self.forced_ids, None
        return forced[1] if forced is not None else super().generate_span_id()

    def is_trace_id_random(self) -> bool:
        """The last bytes of a hash are as good as random bytes."""
        return True


class _LoggingExporter(SpanExporter):
    """Logs a failing collector once, and its recovery once. The wrapped exporter would log every batch."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._health = HealthLog("The collector of traces")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        try:
            result = self._exporter.export(spans)
        except Exception as error:  # noqa: BLE001 - the export thread must survive any response of the collector
            self._health.report(error)
            return SpanExportResult.FAILURE
        delivered = result is SpanExportResult.SUCCESS
        self._health.report(None if delivered else ConnectionError(f"{len(spans)} spans were not delivered"))
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


@asynccontextmanager
async def export_traces(environ: Mapping[str, str]) -> AsyncGenerator[None, None]:
    """Exports the spans of everything inside the block to the collector that the environment names."""
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # see _LoggingExporter
    traces = Traces(_LoggingExporter(OTLPSpanExporter()), environ)
    tracing.install(traces)
    try:
        yield
    finally:
        tracing.uninstall(traces)
        await _close(traces)


async def _close(traces: Traces) -> None:
    """In a daemon thread, so that it does not delay the exit of the process; that of a pool would be joined."""
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
    attributes = {"service.version": __version__, "service.instance.id": replica()}
    if not environ.get("OTEL_SERVICE_NAME") and "service.name=" not in environ.get("OTEL_RESOURCE_ATTRIBUTES", ""):
        attributes["service.name"] = "footnote"
    return attributes


def _links(origin: TraceOrigin) -> list[Link]:
    """Links to the span of the client, and to the attempt that this one continues."""
    links: list[Link] = []
    if origin.caller is not None:
        context = TraceContextTextMapPropagator().extract({"traceparent": origin.caller}, Context())
        links.append(Link(get_current_span(context).get_span_context()))
    if origin.fence > 0:
        earlier = _span_id(origin.run_id, origin.fence - 1)
        flags = TraceFlags(TraceFlags.SAMPLED)
        links.append(Link(SpanContext(_trace_id(origin.run_id), earlier, is_remote=True, trace_flags=flags)))
    return [link for link in links if link.context.is_valid]


def _trace_id(run_id: str) -> int:
    return int.from_bytes(hashlib.sha256(f"trace of {run_id}".encode()).digest()[-16:], "big")


def _span_id(run_id: str, fence: int) -> int:
    return int.from_bytes(hashlib.sha256(f"attempt {fence} at {run_id}".encode()).digest()[-8:], "big")
