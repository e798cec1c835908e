"""A collector of traces on loopback: receives what the exporter sends over HTTP, and resolves the parents of spans."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

TIMEOUT_SECONDS = 60.0
"""Timeout of everything that a test waits for."""


@dataclass
class TraceCollector:
    """`hang`: requests are received and never answered. `status`: the status of the other responses."""

    url: str = ""
    hang: bool = False
    status: int = 200
    requests: int = 0
    bodies: list[bytes] = field(default_factory=list[bytes])
    spans: list[Span] = field(default_factory=list[Span])
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    over: asyncio.Event = field(default_factory=asyncio.Event)
    news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def handle_request(self, request: web.Request) -> web.Response:
        body = await request.read()
        async with self.news:
            self.requests += 1
            self.news.notify_all()
        if self.hang:
            await self.over.wait()
        if self.status == 200:
            self.record_spans(body)
        async with self.news:
            self.news.notify_all()
        return web.Response(status=self.status, content_type="application/x-protobuf")

    def record_spans(self, body: bytes) -> None:
        self.bodies.append(body)
        message = ExportTraceServiceRequest()
        message.ParseFromString(body)
        for resource in message.resource_spans:
            self.facts |= attributes(resource.resource)
            for scope in resource.scope_spans:
                self.spans.extend(scope.spans)

    async def wait_for_spans(self, name: str, times: int = 1) -> None:
        """Waits for that many spans of this name, and for all that ended before them."""
        async with asyncio.timeout(TIMEOUT_SECONDS), self.news:
            await self.news.wait_for(lambda: len(self.spans_named(name)) >= times)

    async def wait_for_request(self) -> None:
        async with asyncio.timeout(TIMEOUT_SECONDS), self.news:
            await self.news.wait_for(lambda: self.requests > 0)

    def spans_named(self, name: str) -> list[Span]:
        return sorted((span for span in self.spans if span.name == name), key=lambda span: span.start_time_unix_nano)

    def span_path(self, span: Span) -> list[str]:
        """The names of a span and of its ancestors."""
        above = {one.span_id: one for one in self.spans}.get(span.parent_span_id)
        return [span.name, *(self.span_path(above) if above is not None else [])]


def attributes(holder: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in holder.attributes:
        kind = pair.value.WhichOneof("value")
        value = getattr(pair.value, kind)
        found[pair.key] = [one.string_value for one in value.values] if kind == "array_value" else value
    return found


@asynccontextmanager
async def run_collector(**facts: Any) -> AsyncIterator[TraceCollector]:
    collector = TraceCollector(**facts)
    app = web.Application()
    app.router.add_post("/v1/traces", collector.handle_request)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    collector.url = f"http://{host}:{port}"
    try:
        yield collector
    finally:
        collector.over.set()
        await runner.cleanup()
