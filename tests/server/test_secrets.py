"""No key, token or password is in any byte that leaves the server: responses, streams, logs."""

import json
import logging
from pathlib import Path

import pytest

from cli.process import CLOSED
from footnote.server.routes import ALL_ROUTES
from server.harness import LOCAL_TOKEN, PASSWORD, ServerHarness, open_server
from upstream import Upstream, reply, say, status, stop

SEARCH_KEY = "brave-key-that-nobody-may-see"
OTHER_KEY = "another-model-key-that-nobody-may-see"
ADDRESS_PASSWORD = "address-password-that-nobody-may-see"
SERVER_SECRET = "tool-server-secret-that-nobody-may-see"
INSTRUCTIONS = "These instructions are between the agent and its operator."


def write_settings(home: Path) -> None:
    """Secrets in every setting that may hold one."""
    home.mkdir()
    provider = {
        "type": "openai",
        "apiKey": OTHER_KEY,
        "baseUrl": f"http://user:{ADDRESS_PASSWORD}@127.0.0.1:1/v1",
    }
    config = {
        "tools": {
            "webSearch": {"defaultProvider": "brave", "providers": {"brave": {"apiKey": SEARCH_KEY, "baseUrl": CLOSED}}}
        },
        "models": {"providers": {"own": provider}},
    }
    (home / "config.json").write_text(json.dumps(config))
    server = {"command": "no-such-program-anywhere", "env": {"SECRET": "${TOOL_SECRET}"}}
    agents = [
        {"id": "plain", "systemPrompt": INSTRUCTIONS, "webSearch": {"enabled": True}},
        {"id": "own", "model": "own/model", "systemPrompt": INSTRUCTIONS},
        {"id": "tools", "mcpServers": {"tools": server}},
    ]
    (home / "agents.json").write_text(json.dumps({"agents": agents}))


@pytest.mark.slow
async def test_planted_secrets_stay_where_they_are(
    tmp_path: Path, upstream: Upstream, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    write_settings(tmp_path / ".footnote")
    echoed = f"Incorrect API key provided: {upstream.key}"
    upstream.script(reply(say("Because."), stop()), status(401, echoed), lambda _: status(400, echoed))
    async with open_server(tmp_path, upstream, TOOL_SECRET=SERVER_SECRET) as server:
        ann = await server.add_user("ann")
        await _request_everything(server)
        login = await server.app.accounts.create_login_token()
        issued = (await ann.request("POST", "/v2/tokens", {"name": "one"})).json["token"]
        server.responses.pop()  # the only response that contains it
        await server.request("GET", f"/login?token={login}x")
        await server.request("POST", "/v2/auth/login", body={"name": "ann", "password": f"{PASSWORD}x"})
        await server.request("POST", "/v2/auth/login", body={"name": "ann", "password": [PASSWORD]})
        await server.request("GET", "/v2/auth/me", token=f"{issued}x")
        await ann.request("POST", "/v2/auth/password", {"old_password": f"{PASSWORD}x", "password": "short"})
        secrets = (
            LOCAL_TOKEN, PASSWORD, SEARCH_KEY, OTHER_KEY, ADDRESS_PASSWORD, SERVER_SECRET, INSTRUCTIONS,
            str(upstream.key), ann.token, ann.cookie, issued, login, "$argon2",
        )  # fmt: skip
    sent = b"\n".join(response.body + repr(response.headers).encode() for response in server.responses)
    logged = "\n".join(record.getMessage() + str(record.exc_text) for record in caplog.records)
    assert {secret for secret in secrets if secret.encode() in sent} == set()
    assert {secret for secret in secrets if secret in logged} == set()


async def _request_everything(server: ServerHarness) -> None:
    """Every readable route, and questions that are answered, refused or invalid."""
    for route in ALL_ROUTES:
        if route.method == "GET" and "{" not in route.path:
            await server.local.request("GET", route.path)
            await server.request("GET", route.path)
    for agent in ("plain", "plain", "own", "tools"):
        session_id = await server.local.create_session(agent_id=agent)
        await server.local.request("POST", f"/v2/sessions/{session_id}/messages", {"content": "Why?"})
        await server.local.request("GET", f"/v2/sessions/{session_id}/history")
    session_id = await server.local.create_session()
    for model in ("brave/x", "anthropic/claude-sonnet-5-5"):
        body = {"content": "Why?", "model": model}
        await server.local.request("POST", f"/v2/sessions/{session_id}/messages", body)
