"""The permissions of every route for every kind of client. A route without a row here fails the suite."""

import asyncio
import hashlib
import io
import itertools
import zipfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cli.process import with_tool_server
from cli.small_web import small_web
from footnote.protocol.accounts import Login, NewToken, NewUser
from footnote.server.routes import ALL_ROUTES
from server.forms import CONTENT_TYPE, form, upload_files
from server.harness import PASSWORD, SECONDS, ApiClient, ServerHarness, open_server
from server.images import PNG, picture
from upstream import ModelRequest, Upstream, call, reply, say, stop

PUBLIC_URL = "http://footnote.example"
FOREIGN = "https://evil.example"
FILES = "/v2/sessions/{session_id}/files"
NOTES = "?file_path=/notes.md"
READS = "What does the page say?"


@dataclass(frozen=True)
class Row:
    """The statuses of a route for permitted clients. `theirs`: the resource belongs to the owner, and does not exist
    for any other user. None: the status of `owner`."""

    owner: int
    body: Any = None
    theirs: bool = False
    admin: int | None = None
    anonymous: int = 401
    """The status for a client without credentials."""
    query: str = ""
    raw: str = ""
    """The kind of a body that is not JSON: `form` or `bundle`."""


ROWS = {
    "POST /v2/sessions": Row(201, {}),
    "GET /v2/sessions": Row(200),
    "GET /v2/sessions/{session_id}": Row(200, theirs=True),
    "PATCH /v2/sessions/{session_id}": Row(200, {"title": "New"}, theirs=True),
    "DELETE /v2/sessions/{session_id}": Row(204, theirs=True),
    "GET /v2/sessions/{session_id}/history": Row(200, theirs=True),
    "GET /v2/sessions/{session_id}/sources/{number:int}": Row(200, theirs=True),
    "GET /v2/sessions/{session_id}/export": Row(200, theirs=True),
    "POST /v2/bundles": Row(201, raw="bundle"),
    f"GET {FILES}": Row(200, theirs=True),
    f"POST {FILES}": Row(201, theirs=True, raw="form"),
    f"DELETE {FILES}": Row(204, theirs=True, query=NOTES),
    f"GET {FILES}/content": Row(200, theirs=True, query=NOTES),
    f"PUT {FILES}/content": Row(201, {"file_path": "/new.md", "content": "x", "base_hash": None}, theirs=True),
    f"GET {FILES}/citations": Row(200, theirs=True, query=NOTES),
    f"GET {FILES}/versions": Row(200, theirs=True, query=NOTES),
    f"GET {FILES}/diff": Row(200, theirs=True, query=NOTES),
    f"GET {FILES}/versions/diff": Row(200, theirs=True, query=NOTES),
    f"POST {FILES}/restore": Row(200, {"file_path": "/notes.md", "version": 1}, theirs=True),
    f"POST {FILES}/versions/restore": Row(200, {"file_path": "/notes.md", "version": 1}, theirs=True),
    f"POST {FILES}/convert": Row(200, {"file_path": "/notes.md", "convert_type": "md"}, theirs=True),
    f"POST {FILES}/unpack": Row(201, {"file_path": "papers.zip"}, theirs=True),
    f"GET {FILES}/table": Row(200, theirs=True, query="?file_path=/table.csv"),
    f"GET {FILES}/text": Row(200, theirs=True, query=NOTES),
    f"GET {FILES}/frame": Row(200, theirs=True, query="?file_path=/page.html"),
    f"GET {FILES}/raw": Row(200, theirs=True, query=NOTES),
    f"GET {FILES}/archive": Row(200, theirs=True),
    "GET /v2/downloads/{token}/{filename}": Row(200, theirs=True, anonymous=200),
    "GET /workspace/{user_id}/{path:path}": Row(200, theirs=True),
    "GET /uploads/{user_id}/{file_id}/{name:path}": Row(200, theirs=True),
    "POST /v2/sessions/{session_id}/messages": Row(202, {"content": "Why?"}, theirs=True),
    "POST /v2/sessions/{session_id}/messages/{message_id}/retry": Row(202, {}, theirs=True),
    "POST /v2/sessions/{session_id}/messages/{message_id}/edit": Row(202, {"content": "How?"}, theirs=True),
    "POST /v2/clarifications": Row(200, {"content": "What is tea?"}),
    "GET /v2/research/templates": Row(200),
    "POST /v2/checks": Row(202, {"text": "Tea is hot."}),
    "GET /v2/runs/{run_id}": Row(200, theirs=True),
    "GET /v2/runs/{run_id}/events": Row(200, theirs=True),
    "POST /v2/runs/{run_id}/cancel": Row(200, theirs=True),
    "POST /v2/runs/{run_id}/approvals/{tool_use_id}": Row(200, {"decision": "deny"}, theirs=True),
    "POST /v2/runs/{run_id}/finish": Row(200, theirs=True),
    "GET /v2/runs/{run_id}/plan": Row(409, theirs=True),
    "PATCH /v2/runs/{run_id}/plan": Row(409, {"items": []}, theirs=True),
    "POST /v2/runs/{run_id}/steer": Row(409, {"content": "Be brief."}, theirs=True),
    "GET /v2/favicons/{domain}": Row(200, theirs=True),
    "POST /v2/images": Row(200, {"url": "{image}"}),
    "GET /v2/agents": Row(200),
    "GET /v2/models": Row(200),
    "GET /v2/tools": Row(200),
    "POST /v2/auth/login": Row(401, {"name": "nobody", "password": "wrong password"}),
    "POST /v2/auth/logout": Row(204),
    "GET /v2/auth/me": Row(200),
    "POST /v2/auth/password": Row(400, {"old_password": "wrong password", "password": "a new password"}),
    "GET /login": Row(401),
    "GET /v2/users": Row(403, admin=200),
    "POST /v2/users": Row(403, {"name": "{fresh}", "password": "a new password"}, admin=201),
    "GET /v2/users/{user_id}": Row(403, admin=200),
    "PATCH /v2/users/{user_id}": Row(403, {"role": "user"}, admin=200),
    "DELETE /v2/users/{user_id}": Row(403, admin=204),
    "GET /v2/tokens": Row(200),
    "POST /v2/tokens": Row(201, {"name": "new"}),
    "DELETE /v2/tokens/{token_id}": Row(204, theirs=True),
    "POST /v1/messages": Row(
        200, {"model": "researcher", "max_tokens": 99, "messages": [{"role": "user", "content": "Why?"}]}
    ),
    "POST /v1/chat/completions": Row(200, {"model": "researcher", "messages": [{"role": "user", "content": "Why?"}]}),
    "GET /v1/models": Row(200),
    "GET /healthz": Row(200, anonymous=200),
    "GET /readyz": Row(200, anonymous=200),
    "GET /metrics": Row(403, admin=200),
    "GET /openapi.json": Row(200, anonymous=200),
    "GET /v2/events/schema": Row(200),
    "GET /": Row(200, anonymous=200),
    "GET /s/{session_id}": Row(200, anonymous=200),
    "GET /static/{path:path}": Row(200, anonymous=200),
    "GET /v2/about": Row(200),
}


def test_every_route_has_its_row_and_every_row_its_route():
    assert sorted(route.name for route in ALL_ROUTES) == sorted(ROWS)


@dataclass
class Actors:
    """Clients of every kind, and the resources of the owner."""

    server: ServerHarness
    owner: ApiClient
    other: ApiClient
    admin: ApiClient
    disabled: ApiClient
    image: str
    """The URL of an image on the web."""
    numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    async def path_parameters(self, path: str) -> dict[str, str]:
        """Values for the parameters of a path, created for each request because some requests delete them."""
        parameters = {"path:path": "login.css", "number:int": "1"}
        accounts = self.server.app.accounts
        if "{session_id}" in path or "{run_id}" in path:
            parameters["session_id"] = await self.owner.create_session()
            question = READS if "{number:int}" in path else "Why?"
            message = (await self.owner.ask_for_events(parameters["session_id"], question))[0]["message"]
            parameters |= {"run_id": message["run_id"], "message_id": message["id"]}
        if "{tool_use_id}" in path:
            parameters |= await self._waiting_call()
        if "{domain}" in path:
            await self.owner.ask_for_events(await self.owner.create_session(), READS)
            parameters["domain"] = "127.0.0.1"
        if "/files" in path or "{token}" in path:
            parameters |= await self._files(parameters.get("session_id") or await self.owner.create_session())
        if "GET /workspace/" in path or "GET /uploads/" in path:
            parameters |= await self._files(await self.owner.create_session())
            parameters |= {"user_id": self.owner.id, "path:path": "notes.md", "name:path": "papers.zip"}
        elif "{user_id}" in path:
            parameters["user_id"] = (await accounts.add(NewUser(f"victim {next(self.numbers)}", PASSWORD))).id
        if "{token_id}" in path:
            parameters["token_id"] = (await accounts.issue(self.owner.id, NewToken("one"))).id
        return parameters

    async def _waiting_call(self) -> dict[str, str]:
        run_id = await self.owner.start_run(await self.owner.create_session(), "Shout")
        async with asyncio.timeout(SECONDS):
            while (await self.owner.request("GET", f"/v2/runs/{run_id}")).json["state"] != "waiting":
                await asyncio.sleep(0.02)
        return {"run_id": run_id, "tool_use_id": "call_1"}

    async def _files(self, session_id: str) -> dict[str, str]:
        """Files in a session of the owner, and the download URL of one of them."""
        app = self.server.app
        workspace = app.sessions.workspace(self.owner.id, session_id)
        for path, text in {"/notes.md": "Notes.", "/table.csv": "a,b", "/page.html": "<p>Hello"}.items():
            await workspace.write(path, text, message_id=None)
        upload = await upload_files(self.owner, session_id, ("papers.zip", _zip_file()))
        assert upload.status == 201
        content_hash = hashlib.sha256(b"Notes.").hexdigest()
        url = await app.downloads.create_url(self.owner.id, session_id, content_hash, "notes.md")
        _, _, token, filename = url.strip("/").split("/")
        [file] = upload.json["files"]
        return {"token": token, "filename": filename, "file_id": file["id"]}

    async def raw(self, kind: str) -> tuple[bytes, str]:
        """A body that is not JSON, and its content type."""
        if kind == "form":
            return form(("notes.txt", b"Notes.")), CONTENT_TYPE
        session_id = await self.owner.create_session()
        return (await self.owner.request("GET", f"/v2/sessions/{session_id}/export")).body, "application/zip"

    async def visit(self, client: ApiClient) -> str:
        """Logs in, and returns a new cookie."""
        accounts = self.server.app.accounts
        _, cookie = await accounts.log_in(Login(token=await accounts.create_login_token(client.id)))
        return cookie


def _zip_file() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("paper.txt", "A paper.")
    return buffer.getvalue()


@pytest.mark.slow
async def test_each_route_answers_each_of_them_as_it_should(tmp_path: Path, upstream: Upstream):
    with_tool_server(tmp_path, approval=True, id="researcher", webSearch={"enabled": True})
    async with small_web() as web:

        def answer(request: ModelRequest) -> Any:
            messages = request.body["messages"]
            has_tools = any(one["role"] == "tool" for one in messages)
            if not has_tools and "Shout" in str(messages[-1]["content"]):
                return reply(call("mcp__tools__shout", {"text": "hello"}), stop("toolUse"))
            if has_tools or "page" not in str(messages[-1]["content"]):
                return reply(say("Because."), stop())
            return reply(call("read_page", {"url": web.url("/oxygen")}), stop("toolUse"))

        upstream.script(answer)
        web.put("/favicon.ico", picture(PNG))
        prefix = "FOOTNOTE_TOOLS_WEB_SEARCH_"
        settings = {
            "FOOTNOTE_SERVER_PUBLIC_URL": PUBLIC_URL,
            "FOOTNOTE_LIMITS_REQUESTS_PER_MINUTE": "100000",
            f"{prefix}ALLOW_PRIVATE_HOSTS": web.host,
        }
        async with open_server(tmp_path, upstream, **settings) as server:
            actors = Actors(
                server,
                await server.add_user("owner"),
                await server.add_user("other"),
                await server.add_user("admin", role="admin"),
                await server.add_user("disabled", disabled=True),
                web.url("/favicon.ico"),
            )
            wrong = {
                f"{route.name}, {who}": (expected, status)
                for route in ALL_ROUTES
                for who, expected, status in await _all_of(actors, route.name)
                if expected != status
            }
    assert wrong == {}


async def _all_of(actors: Actors, name: str) -> list[tuple[str, int, int]]:
    """The client, the expected status and the actual one. The owner comes last, because some requests delete the
    resource."""
    row, method = ROWS[name], name.partition(" ")[0]
    anyone = row.anonymous == 200 or name in ("POST /v2/auth/login", "GET /login")
    known = 404 if row.theirs else row.owner
    refused = 403 if method != "GET" else row.owner
    anonymous = row.owner if anyone else 401
    expectations: list[tuple[str, int, Callable[[], Awaitable[dict[str, str]]]]] = [
        ("no credentials", anonymous, _with_credentials()),
        ("a wrong token", anonymous, _with_credentials(token="fn_wrong")),
        ("a wrong key", anonymous, _with_credentials(key="fn_wrong")),
        ("a wrong cookie", anonymous, _with_credentials(cookie="fnc_wrong")),
        ("a disabled user", anonymous, _with_credentials(token=actors.disabled.token)),
        ("a disabled user with a key", anonymous, _with_credentials(key=actors.disabled.token)),
        ("a disabled user's browser", anonymous, _with_credentials(cookie=actors.disabled.cookie)),
        (
            "a wrong token beside a good cookie",
            anonymous,
            _with_credentials(token="fn_wrong", cookie=actors.owner.cookie),
        ),
        ("another user", known, _with_credentials(token=actors.other.token)),
        ("an admin", row.admin or known, _with_credentials(token=actors.admin.token)),
        ("the owner's browser on another site", refused, _visiting(actors, origin=FOREIGN)),
        ("the owner's browser on a page of nowhere", refused, _visiting(actors, origin="null")),
        ("the owner's browser, with no origin said", refused, _visiting(actors, site="cross-site")),
        ("the owner's browser on the page", row.owner, _visiting(actors, origin=PUBLIC_URL)),
        ("the owner with a key", row.owner, _with_credentials(key=actors.owner.token)),
        ("the owner", row.owner, _with_credentials(token=actors.owner.token)),
    ]
    path_parameters = await actors.path_parameters(name)
    found: list[tuple[str, int, int]] = []
    for who, expected, headers in expectations:
        found.append((who, expected, await _status(actors, name, path_parameters, await headers())))
        if "owner" in who and row.theirs:
            path_parameters = await actors.path_parameters(name)
    return found


def _with_credentials(*, token: str = "", key: str = "", cookie: str = "") -> Callable[[], Awaitable[dict[str, str]]]:
    async def headers() -> dict[str, str]:
        sent = {
            "authorization": f"Bearer {token}" if token else "",
            "x_api_key": key,
            "cookie": cookie,
        }
        return {name: value for name, value in sent.items() if value}

    return headers


def _visiting(actors: Actors, *, origin: str = "", site: str = "") -> Callable[[], Awaitable[dict[str, str]]]:
    async def headers() -> dict[str, str]:
        origin_headers = {"origin": origin} if origin else {"sec_fetch_site": site}
        return {"cookie": await actors.visit(actors.owner), **origin_headers}

    return headers


async def _status(actors: Actors, name: str, path_parameters: dict[str, str], headers: dict[str, str]) -> int:
    row = ROWS[name]
    method, path = name.split(" ")
    for key, value in path_parameters.items():
        path = path.replace(f"{{{key}}}", value)
    number = next(actors.numbers)
    body = (
        {
            key: {"{fresh}": f"person {number}", "{image}": actors.image}.get(str(value), value)
            for key, value in row.body.items()
        }
        if row.body is not None
        else None
    )
    # Each request comes from another address, so that no limit per address applies.
    address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    accept = "application/json" if row.owner == 202 else "*/*"
    data, kind = await actors.raw(row.raw) if row.raw else (None, "application/json")
    sent = {"accept": accept, "x_forwarded_for": address, "content_type": kind, **headers}
    response = await actors.server.request(method, path + row.query, body=body, data=data, **sent)
    if response.status == 202:
        await actors.owner.request("GET", f"/v2/runs/{response.json['run_id']}/events")
    return response.status


async def test_ids_in_bodies_are_held_against_the_owner_too(server: ServerHarness):
    ann, bob = await server.add_user("ann"), await server.add_user("bob")
    hers, his = await ann.create_session(), await bob.create_session()
    events = await ann.ask_for_events(hers)
    await bob.ask_for_events(his)
    run = events[0]["message"]
    workspace = server.app.sessions.workspace(ann.id, hers)
    await workspace.write("/notes.md", "hers alone", message_id=run["id"])

    tries = {
        "her message as his head": await bob.request("PATCH", f"/v2/sessions/{his}", {"head": run["id"]}),
        "her message again in his session": await bob.request(
            "POST", f"/v2/sessions/{his}/messages/{run['id']}/retry", {}
        ),
        "her message changed in his session": await bob.request(
            "POST", f"/v2/sessions/{his}/messages/{run['id']}/edit", {"content": "Why?"}
        ),
        "her file with his message": await bob.request(
            "POST", f"/v2/sessions/{his}/messages", {"content": "Why?", "attachments": ["/notes.md"]}
        ),
    }

    assert {what: response.status for what, response in tries.items()} == dict.fromkeys(tries, 404)
    assert all(b"hers alone" not in response.body for response in server.responses)


async def test_a_model_or_an_agent_that_is_not_there_is_the_callers_mistake(server: ServerHarness):
    ann = await server.add_user("ann")
    session_id = await ann.create_session()

    tries = [
        await ann.request("POST", "/v2/sessions", {"agent_id": "nobody"}),
        await ann.request("POST", f"/v2/sessions/{session_id}/messages", {"content": "Why?", "model": "no/such"}),
        await ann.request("POST", f"/v2/sessions/{session_id}/messages", {"content": "Why?", "model": "nonsense"}),
    ]

    assert [(response.status, response.error) for response in tries] == [(400, "invalid_request")] * 3
