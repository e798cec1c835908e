"""Who may do what: every route of the table by everybody who may ask. A route without a row here fails the suite."""

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
from cli.searching import small_web
from footnote.protocol.accounts import Login, NewToken, NewUser
from footnote.server.routes import ALL_ROUTES
from server.forms import CONTENT_TYPE, form, upload_files
from server.house import PASSWORD, SECONDS, House, Person, open_house
from server.images import PNG, picture
from upstream import Request, Upstream, call, reply, say, stop

PUBLIC_URL = "http://footnote.example"
FOREIGN = "https://evil.example"
FILES = "/v2/sessions/{session_id}/files"
NOTES = "?file_path=/notes.md"
READS = "What does the page say?"


@dataclass(frozen=True)
class Row:
    """What a route answers to those who are let in. `theirs`: what is asked for belongs to the owner, so that for
    everybody else it does not exist. None stands for what `owner` gets."""

    owner: int
    body: Any = None
    theirs: bool = False
    admin: int | None = None
    nobody: int = 401
    """To whoever proves nothing."""
    query: str = ""
    raw: str = ""
    """What is sent where it is not JSON: `form` or `bundle`."""


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
    "GET /v2/downloads/{token}/{filename}": Row(200, theirs=True, nobody=200),
    "GET /workspace/{user_id}/{path:path}": Row(200, theirs=True),
    "GET /uploads/{user_id}/{file_id}/{name:path}": Row(200, theirs=True),
    "POST /v2/sessions/{session_id}/messages": Row(202, {"content": "Why?"}, theirs=True),
    "POST /v2/sessions/{session_id}/messages/{message_id}/retry": Row(202, {}, theirs=True),
    "POST /v2/sessions/{session_id}/messages/{message_id}/edit": Row(202, {"content": "How?"}, theirs=True),
    "GET /v2/runs/{run_id}": Row(200, theirs=True),
    "GET /v2/runs/{run_id}/events": Row(200, theirs=True),
    "POST /v2/runs/{run_id}/cancel": Row(200, theirs=True),
    "POST /v2/runs/{run_id}/approvals/{tool_use_id}": Row(200, {"decision": "deny"}, theirs=True),
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
    "GET /healthz": Row(200, nobody=200),
    "GET /readyz": Row(200, nobody=200),
    "GET /metrics": Row(403, admin=200),
    "GET /openapi.json": Row(200, nobody=200),
    "GET /v2/events/schema": Row(200),
    "GET /": Row(200, nobody=200),
    "GET /s/{session_id}": Row(200, nobody=200),
    "GET /static/{path:path}": Row(200, nobody=200),
    "GET /v2/about": Row(200),
}


def test_every_route_has_its_row_and_every_row_its_route():
    assert sorted(route.name for route in ALL_ROUTES) == sorted(ROWS)


@dataclass
class Cast:
    """Everybody who may ask, and what the owner has."""

    house: House
    owner: Person
    other: Person
    admin: Person
    disabled: Person
    image: str
    """The address of one on the web."""
    numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    async def things(self, path: str) -> dict[str, str]:
        """What stands in a path: made anew, since some requests delete it."""
        things = {"path:path": "login.css", "number:int": "1"}
        accounts = self.house.app.accounts
        if "{session_id}" in path or "{run_id}" in path:
            things["session_id"] = await self.owner.create_session()
            question = READS if "{number:int}" in path else "Why?"
            message = (await self.owner.ask_for_events(things["session_id"], question))[0]["message"]
            things |= {"run_id": message["run_id"], "message_id": message["id"]}
        if "{tool_use_id}" in path:
            things |= await self._waiting_call()
        if "{domain}" in path:
            await self.owner.ask_for_events(await self.owner.create_session(), READS)
            things["domain"] = "127.0.0.1"
        if "/files" in path or "{token}" in path:
            things |= await self._files(things.get("session_id") or await self.owner.create_session())
        if "GET /workspace/" in path or "GET /uploads/" in path:
            things |= await self._files(await self.owner.create_session())
            things |= {"user_id": self.owner.id, "path:path": "notes.md", "name:path": "papers.zip"}
        elif "{user_id}" in path:
            things["user_id"] = (await accounts.add(NewUser(f"victim {next(self.numbers)}", PASSWORD))).id
        if "{token_id}" in path:
            things["token_id"] = (await accounts.issue(self.owner.id, NewToken("one"))).id
        return things

    async def _waiting_call(self) -> dict[str, str]:
        path = f"/v2/sessions/{await self.owner.create_session()}/messages"
        run_id = (await self.owner.request("POST", path, {"content": "Shout"}, accept="application/json")).json[
            "run_id"
        ]
        async with asyncio.timeout(SECONDS):
            while (await self.owner.request("GET", f"/v2/runs/{run_id}")).json["state"] != "waiting":
                await asyncio.sleep(0.02)
        return {"run_id": run_id, "tool_use_id": "call_1"}

    async def _files(self, session_id: str) -> dict[str, str]:
        """Files in a session of the owner, and an address of one of them."""
        app = self.house.app
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
        """A body that is not JSON, and its type."""
        if kind == "form":
            return form(("notes.txt", b"Notes.")), CONTENT_TYPE
        session_id = await self.owner.create_session()
        return (await self.owner.request("GET", f"/v2/sessions/{session_id}/export")).body, "application/zip"

    async def visit(self, person: Person) -> str:
        """A new cookie."""
        accounts = self.house.app.accounts
        _, cookie = await accounts.log_in(Login(token=await accounts.create_login_token(person.id)))
        return cookie


def _zip_file() -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("paper.txt", "A paper.")
    return written.getvalue()


@pytest.mark.slow
async def test_each_route_answers_each_of_them_as_it_should(tmp_path: Path, upstream: Upstream):
    with_tool_server(tmp_path, approval=True, id="researcher", webSearch={"enabled": True})
    async with small_web() as web:

        def answer(request: Request) -> Any:
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
        async with open_house(tmp_path, upstream, **settings) as house:
            cast = Cast(
                house,
                await house.add_user("owner"),
                await house.add_user("other"),
                await house.add_user("admin", role="admin"),
                await house.add_user("disabled", disabled=True),
                web.url("/favicon.ico"),
            )
            wrong = {
                f"{route.name}, {who}": (expected, answered)
                for route in ALL_ROUTES
                for who, expected, answered in await _all_of(cast, route.name)
                if expected != answered
            }
    assert wrong == {}


async def _all_of(cast: Cast, name: str) -> list[tuple[str, int, int]]:
    """Who asked, what they should get, and what they got. The owner comes last: that may be the end of it."""
    row, method = ROWS[name], name.partition(" ")[0]
    anyone = row.nobody == 200 or name in ("POST /v2/auth/login", "GET /login")
    known = 404 if row.theirs else row.owner
    refused = 403 if method != "GET" else row.owner
    nobody = row.owner if anyone else 401
    expectations: list[tuple[str, int, Callable[[], Awaitable[dict[str, str]]]]] = [
        ("nobody", nobody, _with()),
        ("a wrong token", nobody, _with(token="fn_wrong")),
        ("a wrong key", nobody, _with(key="fn_wrong")),
        ("a wrong cookie", nobody, _with(cookie="fnc_wrong")),
        ("a disabled user", nobody, _with(token=cast.disabled.token)),
        ("a disabled user with a key", nobody, _with(key=cast.disabled.token)),
        ("a disabled user's browser", nobody, _with(cookie=cast.disabled.cookie)),
        ("a wrong token beside a good cookie", nobody, _with(token="fn_wrong", cookie=cast.owner.cookie)),
        ("another user", known, _with(token=cast.other.token)),
        ("an admin", row.admin or known, _with(token=cast.admin.token)),
        ("the owner's browser on another site", refused, _visiting(cast, origin=FOREIGN)),
        ("the owner's browser on a page of nowhere", refused, _visiting(cast, origin="null")),
        ("the owner's browser, with no origin said", refused, _visiting(cast, site="cross-site")),
        ("the owner's browser on the page", row.owner, _visiting(cast, origin=PUBLIC_URL)),
        ("the owner with a key", row.owner, _with(key=cast.owner.token)),
        ("the owner", row.owner, _with(token=cast.owner.token)),
    ]
    things = await cast.things(name)
    found: list[tuple[str, int, int]] = []
    for who, expected, headers in expectations:
        found.append((who, expected, await _status(cast, name, things, await headers())))
        if "owner" in who and row.theirs:
            things = await cast.things(name)
    return found


def _with(*, token: str = "", key: str = "", cookie: str = "") -> Callable[[], Awaitable[dict[str, str]]]:
    async def headers() -> dict[str, str]:
        sent = {
            "authorization": f"Bearer {token}" if token else "",
            "x_api_key": key,
            "cookie": cookie,
        }
        return {name: value for name, value in sent.items() if value}

    return headers


def _visiting(cast: Cast, *, origin: str = "", site: str = "") -> Callable[[], Awaitable[dict[str, str]]]:
    async def headers() -> dict[str, str]:
        said = {"origin": origin} if origin else {"sec_fetch_site": site}
        return {"cookie": await cast.visit(cast.owner), **said}

    return headers


async def _status(cast: Cast, name: str, things: dict[str, str], headers: dict[str, str]) -> int:
    row = ROWS[name]
    method, path = name.split(" ")
    for key, value in things.items():
        path = path.replace(f"{{{key}}}", value)
    number = next(cast.numbers)
    body = (
        {
            key: {"{fresh}": f"person {number}", "{image}": cast.image}.get(str(value), value)
            for key, value in row.body.items()
        }
        if row.body is not None
        else None
    )
    # Each comes from an address of its own, so that no limit of an address is in the way.
    address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    accept = "application/json" if row.owner == 202 else "*/*"
    data, kind = await cast.raw(row.raw) if row.raw else (None, "application/json")
    sent = {"accept": accept, "x_forwarded_for": address, "content_type": kind, **headers}
    answer = await cast.house.request(method, path + row.query, body=body, data=data, **sent)
    if answer.status == 202:
        await cast.owner.request("GET", f"/v2/runs/{answer.json['run_id']}/events")
    return answer.status


async def test_ids_in_bodies_are_held_against_the_owner_too(house: House):
    ann, bob = await house.add_user("ann"), await house.add_user("bob")
    hers, his = await ann.create_session(), await bob.create_session()
    told = await ann.ask_for_events(hers)
    await bob.ask_for_events(his)
    run = told[0]["message"]
    workspace = house.app.sessions.workspace(ann.id, hers)
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

    assert {what: answer.status for what, answer in tries.items()} == dict.fromkeys(tries, 404)
    assert all(b"hers alone" not in answer.body for answer in house.responses)


async def test_a_model_or_an_agent_that_is_not_there_is_the_callers_mistake(house: House):
    ann = await house.add_user("ann")
    session_id = await ann.create_session()

    tries = [
        await ann.request("POST", "/v2/sessions", {"agent_id": "nobody"}),
        await ann.request("POST", f"/v2/sessions/{session_id}/messages", {"content": "Why?", "model": "no/such"}),
        await ann.request("POST", f"/v2/sessions/{session_id}/messages", {"content": "Why?", "model": "nonsense"}),
    ]

    assert [(answer.status, answer.error) for answer in tries] == [(400, "invalid_request")] * 3
