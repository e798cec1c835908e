"""The OpenAPI 3.1 document, made from the table of routes and their types."""

import re
from collections.abc import Iterable
from typing import Any, cast, get_args

import msgspec
from msgspec import Struct

from footnote import __version__
from footnote.protocol.events import Event
from footnote.server.requests import can_be_omitted
from footnote.server.responses import JSON
from footnote.server.route import Route, RouteRefusal, format_refusal

_PARAMETER = re.compile(r"\{(\w+)(?::(\w+))?\}")
_REFERENCE = "#/components/schemas/{name}"
EVENTS = "text/event-stream"
EVENT_SCHEMA = "Event"
_RAW = {
    "multipart/form-data": {
        "type": "object",
        "properties": {"files": {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}}},
        "required": ["files"],
    },
    "application/zip": {"type": "string", "format": "binary"},
}
"""Bodies that are not JSON."""
_REDIRECTS = {304: "The client has the current version.", 307: "Download it from the storage."}
ABOUT = (
    "Ask a research agent, follow its answer as it is written, and open every source that it read. "
    "Runs belong to the server: a stream that breaks off is resumed with `Last-Event-ID`."
)


def openapi_json(routes: Iterable[Route]) -> bytes:
    return msgspec.json.encode(build_openapi(tuple(routes)))


def build_openapi(routes: tuple[Route, ...]) -> dict[str, Any]:
    types = list(dict.fromkeys(part for route in routes for part in (route.body, route.response) if part is not None))
    events = list(cast("tuple[type[Struct], ...]", get_args(Event)))
    references, components = msgspec.json.schema_components([*types, RouteRefusal, *events], ref_template=_REFERENCE)
    schemas = dict(zip([*types, RouteRefusal, *events], references, strict=True))
    components[EVENT_SCHEMA] = {
        "description": "The `data` of one server-sent event.",
        "oneOf": [schemas[event] for event in events],
    }
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        operations = paths.setdefault(_PARAMETER.sub(r"{\1}", route.path), {})
        operations[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Footnote",
            "version": __version__,
            "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "footnote_session"},
            },
        },
    }


def _operation(route: Route, schemas: dict[type[Struct], dict[str, Any]]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": _operation_id(route),
        "summary": route.summary,
        "tags": [_tag(route)],
        "parameters": [*_path_parameters(route), *_query_parameters(route), *_headers(route)],
        "responses": {str(status): response for status, response in _responses(route, schemas).items()},
        "security": [] if route.access == "anyone" else [{"bearer": []}, {"key": []}, {"cookie": []}],
    }
    if route.body is not None:
        operation["requestBody"] = {
            "required": not can_be_omitted(route.body),
            "content": {JSON: {"schema": schemas[route.body]}},
        }
    if route.raw_media_type is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {route.raw_media_type: {"schema": _RAW[route.raw_media_type]}},
        }
    return operation


def _operation_id(route: Route) -> str:
    return re.sub(r"\W+", "_", route.method.lower() + _PARAMETER.sub(r"\1", route.path)).strip("_")


def _tag(route: Route) -> str:
    parts = [part for part in route.path.split("/") if part]
    return parts[1] if len(parts) > 1 and parts[0] == "v2" else "server" if route.path.count("/") == 1 else parts[0]


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "integer", "minimum": 0} if kind == "int" else {"type": "string", "minLength": 1},
        }
        for name, kind in _PARAMETER.findall(route.path)
    ]


def _query_parameters(route: Route) -> list[dict[str, Any]]:
    if route.query is None:
        return []
    schema = msgspec.json.schema_components([route.query])[1][route.query.__name__]
    required: list[str] = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _without_null(field)}
        for name, field in schema["properties"].items()
    ]


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """An optional field of a query is left out, and never null."""
    types = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
    return types[0] if len(types) == 1 else schema


def _headers(route: Route) -> list[dict[str, Any]]:
    if not route.streams or route.method != "GET":
        return []
    return [
        {
            "name": "Last-Event-ID",
            "in": "header",
            "required": False,
            "description": "Only the events after the one with this id.",
            "schema": {"type": "string", "pattern": "^[0-9]{1,18}$"},
        }
    ]


def _responses(route: Route, schemas: dict[type[Struct], dict[str, Any]]) -> dict[int, dict[str, Any]]:
    responses: dict[int, dict[str, Any]] = {}
    if route.error_format is not format_refusal:  # a compatible endpoint, whose API has a document of its own
        return {
            200: {"description": "The response of that API.", "content": {JSON: {}, EVENTS: {}}},
            **_compat_errors(route),
        }
    if route.streams:
        schema = {"$ref": _REFERENCE.format(name=EVENT_SCHEMA)}
        responses[200] = {"description": "The events of the run.", "content": {EVENTS: {"schema": schema}}}
    if route.response is not None:
        responses[route.status] = {"description": "Done.", "content": {JSON: {"schema": schemas[route.response]}}}
    elif not route.streams:
        content: dict[str, Any] = {} if route.status == 204 else {"content": {route.media_type: {}}}
        responses[route.status] = {"description": "Done.", **content}
    for status in route.other_statuses:
        responses[status] = responses[route.status] if status < 300 else {"description": _REDIRECTS[status]}
    for status, reason in _error_reasons(route).items():
        responses[status] = {"description": reason, "content": {JSON: {"schema": schemas[RouteRefusal]}}}
    if not route.is_safe:  # a link that people open, whose errors are pages
        for status in (401, 429):
            responses[status] = {"description": "The login failed.", "content": {JSON: {}, route.media_type: {}}}
    return responses


def _compat_errors(route: Route) -> dict[int, dict[str, Any]]:
    return {status: {"description": reason, "content": {JSON: {}}} for status, reason in _error_reasons(route).items()}


def _error_reasons(route: Route) -> dict[int, str]:
    reasons = {400: "The request cannot be used.", 429: "Too many requests, or too much at once.", 500: "A failure."}
    if route.access != "anyone":
        reasons |= {401: "No valid token or cookie.", 403: "Not allowed.", 503: "The database cannot be used now."}
    if "{" in route.path or route.body is not None:
        reasons |= {404: "It does not exist, or belongs to another user."}
    if route.method != "GET":
        reasons |= {403: "Not allowed.", 409: "It conflicts with the current state.", 507: "The disk is full."}
    if route.streams and route.method != "GET":
        reasons |= {502: "The model's provider failed."}
    if route.body is not None:
        reasons |= {401: "No valid token or cookie.", 413: "The body is too large.", 415: "The body is not JSON."}
    if route.raw_media_type is not None:
        reasons |= {413: "It is too large.", 415: "Files of this kind are refused."}
    if route.raw_media_type is not None or "/files" in route.path:
        reasons |= {422: "It cannot be done with this file."}
    if route.fetches_remote:
        reasons |= {422: "Its address is refused, or it is too large.", 502: "The other site failed."}
    if 206 in route.other_statuses:
        reasons |= {416: "The range is outside of the file.", 503: "The storage cannot be used now."}
    return dict(sorted(reasons.items()))
