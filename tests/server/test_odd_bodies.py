"""Values of wrong types in every field of every body and query of every route."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from footnote.server.routes import ALL_ROUTES
from server.harness import ServerHarness, open_server, script_answer
from server.test_access_matrix import ROWS
from upstream import Upstream

ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**63,
    10**400,
    1.5,
    1e308,
    "",
    " ",
    "x" * 10_000,
    "\N{GRINNING FACE}\u202e\u2028\ufeff",
    "../../etc/passwd",
    "'; DROP TABLE session; --",
    [],
    [None],
    [[]],
    ["/nothing"] * 1000,
    {},
    {"": {}},
    {"type": "x", "id": 1, "$ref": "#"},
)
FIXED_PARAMETERS = {
    "session_id": "session_nothing",
    "message_id": "msg_nothing",
    "run_id": "run_nothing",
    "user_id": "user_nothing",
    "token_id": "token_nothing",
    "number:int": "1",
    "path:path": "login.css",
    "domain": "nothing.example",
}


def odd_bodies(kind: type[msgspec.Struct], usual: dict[str, Any]) -> Iterator[Any]:
    """A valid body with one field missing, unknown or of another type; and bodies that are no objects."""
    yield from (odd for odd in ODD if not isinstance(odd, dict))
    for field in msgspec.structs.fields(kind):
        name = field.encode_name
        yield {key: value for key, value in usual.items() if key != name}
        yield from ({**usual, name: odd} for odd in ODD)
    yield {**usual, "unheard_of": 1}


@pytest.mark.slow
async def test_no_odd_request_is_more_than_the_callers_mistake(tmp_path: Path, upstream: Upstream):
    script_answer(upstream)
    async with open_server(tmp_path, upstream, FOOTNOTE_LIMITS_REQUESTS_PER_MINUTE="1000000") as server:
        session_id = await server.local.create_session()
        events = await server.local.ask_for_events(session_id)
        there = FIXED_PARAMETERS | {"session_id": session_id, "message_id": events[0]["message"]["id"]}
        failed = [
            (route.name, sent)
            for route in ALL_ROUTES
            for parameters in (there, FIXED_PARAMETERS)
            async for sent, status in _send_odd_bodies(server, route.name, parameters)
            if not 200 <= status < 500
        ]
        alive = await server.request("GET", "/healthz")
    assert failed == []
    assert alive.status == 200


async def _send_odd_bodies(server: ServerHarness, name: str, parameters: dict[str, str]) -> Any:
    route = next(route for route in ALL_ROUTES if route.name == name)
    path = route.path
    for key, value in parameters.items():
        path = path.replace(f"{{{key}}}", value)
    bodies = [] if route.body is None else list(odd_bodies(route.body, ROWS[name].body or {}))
    for body in bodies:
        sent = json.dumps(body, ensure_ascii=False)
        response = await server.local.request(route.method, path, body, accept="application/json")
        yield sent[:200], response.status
    fields = msgspec.structs.fields(route.query) if route.query is not None else ()
    for field in fields:
        for odd in ("", "x", "-1", "1.5", "null", "true", "[]", "9" * 5000, "\0", "\u2028", "x" * 5000):
            query = f"?{field.encode_name}={quote(odd)}"
            yield query[:200], (await server.local.request(route.method, path + query)).status
