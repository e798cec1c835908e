"""The server itself: health, metrics, its version and limits, and the documents of its API."""

import msgspec
from msgspec import Struct

from footnote import __version__
from footnote.config.providers import BUILTIN_PROVIDER, READER_MODEL
from footnote.config.resolve import choose_search_provider
from footnote.protocol.errors import NotAllowed, NotLoggedIn
from footnote.protocol.events import event_schemas
from footnote.server.access import is_local_request
from footnote.server.responses import JSON, Reply, json_response
from footnote.server.route import Route, RouteCall
from footnote.server.routes.catalog import default_model
from footnote.server.site import Readiness

METRICS = "text/plain; version=0.0.4"


class StorageView(Struct, frozen=True):
    """In bytes."""

    used: int
    limit: int


class About(Struct, frozen=True, kw_only=True):
    """What the page needs to know of the server. `search_provider`: that of the first agent; null: it does not search.
    `keyless`: the default model is the built-in reader, which only quotes and needs no key."""

    version: str
    search_provider: str | None
    upload_bytes: int
    storage: StorageView
    keyless: bool


class Health(Struct, frozen=True):
    status: str


async def _about(call: RouteCall) -> About:
    settings = call.app.configuration.settings
    search = call.app.configuration.agent().web_search
    return About(
        version=__version__,
        search_provider=choose_search_provider(settings, search.provider).provider if search.enabled else None,
        upload_bytes=settings.limits.upload_bytes,
        storage=StorageView(await call.app.uploads.used_bytes(call.user_id), settings.limits.storage_bytes_per_user),
        keyless=await default_model(call.app) == f"{BUILTIN_PROVIDER}/{READER_MODEL}",
    )


async def _alive(_: RouteCall) -> Health:
    return Health("ok")


async def _ready(call: RouteCall) -> Reply:
    readiness = await call.site.probe.check()
    return json_response(readiness, 200 if readiness.ready else 503)


async def _metrics(call: RouteCall) -> Reply:
    if call.principal is None:
        # Behind a proxy, every request may seem to come from this machine.
        is_behind_proxy = call.app.configuration.settings.server.public_url is not None
        if is_behind_proxy or not is_local_request(call.address, call.headers):
            raise NotLoggedIn("Send the token of an admin: `Authorization: Bearer TOKEN`.")
    elif call.principal.role != "admin":
        raise NotAllowed("Only an admin of this server may read its metrics.", code="admin_only")
    return Reply(call.site.metrics.text(), media_type=METRICS)


async def _openapi(call: RouteCall) -> Reply:
    return Reply(call.site.openapi_json(), media_type=JSON)


async def _schema(_: RouteCall) -> Reply:
    return Reply(msgspec.json.encode(event_schemas()), media_type=JSON)


ROUTES = (
    Route(
        "GET",
        "/healthz",
        _alive,
        "Whether the server is alive",
        access="anyone",
        response=Health,
        is_rate_limited=False,
    ),
    Route(
        "GET",
        "/readyz",
        _ready,
        "Whether the server can handle requests",
        access="anyone",
        response=Readiness,
        is_rate_limited=False,
    ),
    Route("GET", "/metrics", _metrics, "Metrics for Prometheus", access="anyone", media_type="text/plain"),
    Route("GET", "/openapi.json", _openapi, "This document", access="anyone"),
    Route("GET", "/v2/about", _about, "Version and limits of this server", response=About),
    Route("GET", "/v2/events/schema", _schema, "JSON Schema of every event"),
)
