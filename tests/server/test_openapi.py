"""The document at `/openapi.json` describes how every route answers odd requests."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import jsonschema
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import CheckFunction

from cli.process import environment
from footnote.protocol.events import event_schemas
from footnote.server.openapi import openapi_json
from footnote.server.routes import ALL_ROUTES
from server.harness import LOCAL_TOKEN, ServerHarness, parse_events

DOCUMENT: dict[str, Any] = json.loads(openapi_json(ALL_ROUTES))
schema = schemathesis.openapi.from_dict(DOCUMENT)
JSON = "application/json"
CHECKS: list[CheckFunction] = [
    schemathesis.checks.not_a_server_error,
    schemathesis.specs.openapi.checks.status_code_conformance,
    schemathesis.specs.openapi.checks.content_type_conformance,
    schemathesis.specs.openapi.checks.response_schema_conformance,
]


@schemathesis.serializer("application/zip")
def _as_it_is(_: schemathesis.SerializationContext, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


@pytest.fixture(scope="module")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server in a process of its own, with only the reader as model and without a web."""
    env = environment(tmp_path_factory.mktemp("home"), FOOTNOTE_TOKEN=LOCAL_TOKEN)
    env["FOOTNOTE_LIMITS_REQUESTS_PER_MINUTE"] = "1000000"
    command = [sys.executable, "-m", "footnote", "serve", "--port", "0"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().partition("/login")[0]
        assert process.poll() is None, "the server did not live to the end"
        process.terminate()
        assert process.wait(60) == 0


@pytest.mark.slow
@schema.parametrize()
@settings(
    max_examples=8,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_a_route_answers_whatever_its_schema_allows_as_the_document_says(case: schemathesis.Case, server_url: str):
    headers = {"authorization": f"Bearer {LOCAL_TOKEN}"}
    case.call_and_validate(base_url=server_url, headers=headers, checks=CHECKS, timeout=60)


async def test_the_document_is_served_to_everybody_and_describes_every_route(server: ServerHarness):
    response = await server.request("GET", "/openapi.json")
    assert response.json == DOCUMENT
    described = {f"{method.upper()} {path}" for path, one in response.json["paths"].items() for method in one}
    assert described == {re.sub(r":\w+}", "}", route.name) for route in ALL_ROUTES}


async def test_what_is_answered_fits_the_schema_of_its_route(server: ServerHarness):
    local = server.local
    session_id = await local.create_session(title="Reasons")
    head = (await local.ask_for_events(session_id))[0]["message"]
    started = await local.request("POST", f"/v2/sessions/{session_id}/messages", {"content": "And?"}, accept=JSON)
    token = (await local.request("POST", "/v2/tokens", {"name": "one", "expires_in_days": 1})).json
    user = (await local.request("POST", "/v2/users", {"name": "ann", "password": "a good password"})).json
    answers = {
        ("/v2/sessions/{session_id}/messages", "post", "202"): started,
        ("/v2/sessions", "post", "201"): await local.request("POST", "/v2/sessions", {}),
        ("/v2/sessions", "get", "200"): await local.request("GET", "/v2/sessions?query=reasons"),
        ("/v2/sessions/{session_id}", "get", "200"): await local.request("GET", f"/v2/sessions/{session_id}"),
        ("/v2/sessions/{session_id}/history", "get", "200"): await local.request(
            "GET", f"/v2/sessions/{session_id}/history"
        ),
        ("/v2/runs/{run_id}", "get", "200"): await local.request("GET", f"/v2/runs/{head['run_id']}"),
        ("/v2/runs/{run_id}/cancel", "post", "200"): await local.request("POST", f"/v2/runs/{head['run_id']}/cancel"),
        ("/v2/agents", "get", "200"): await local.request("GET", "/v2/agents"),
        ("/v2/models", "get", "200"): await local.request("GET", "/v2/models"),
        ("/v2/tools", "get", "200"): await local.request("GET", "/v2/tools"),
        ("/v2/auth/me", "get", "200"): await local.request("GET", "/v2/auth/me"),
        ("/v2/users", "get", "200"): await local.request("GET", "/v2/users"),
        ("/v2/users/{user_id}", "patch", "200"): await local.request(
            "PATCH", f"/v2/users/{user['id']}", {"role": "admin"}
        ),
        ("/v2/tokens", "get", "200"): await local.request("GET", "/v2/tokens"),
        ("/v2/sessions", "get", "401"): await server.request("GET", "/v2/sessions"),
        ("/v2/runs/{run_id}", "get", "404"): await local.request("GET", "/v2/runs/none"),
    }
    assert token["expires_at"]
    for (path, method, status), response in answers.items():
        assert str(response.status) == status, (path, response)
        response_schema = DOCUMENT["paths"][path][method]["responses"][status]["content"][JSON]["schema"]
        jsonschema.validate(response.json, {**response_schema, "components": DOCUMENT["components"]})
    for event in parse_events((await local.request("GET", f"/v2/runs/{head['run_id']}/events")).body):
        event_schema = {"$ref": "#/components/schemas/Event", "components": DOCUMENT["components"]}
        jsonschema.validate({name: value for name, value in event.items() if name != "id"}, event_schema)


def test_every_reference_of_the_document_leads_somewhere():
    found: set[str] = set()

    def look(value: Any) -> None:
        if isinstance(value, dict):
            found.update(one for key, one in value.items() if key == "$ref")
            for one in value.values():
                look(one)
        elif isinstance(value, list):
            for one in value:
                look(one)

    look(DOCUMENT)
    schemas = DOCUMENT["components"]["schemas"]
    assert {one.removeprefix("#/components/schemas/") for one in found} <= set(schemas)
    assert all(jsonschema.Draft202012Validator.check_schema(one) is None for one in schemas.values())


def test_operations_have_names_of_their_own():
    names = [operation["operationId"] for path in DOCUMENT["paths"].values() for operation in path.values()]
    assert len(names) == len(set(names)) == len(ALL_ROUTES)


async def test_the_schema_of_events_is_published(server: ServerHarness):
    assert (await server.local.request("GET", "/v2/events/schema")).json == json.loads(
        msgspec.json.encode(event_schemas())
    )
