"""A server in this process, on loopback, with clients for its users."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from accounts.users import CountingHasher
from cli.process import environment
from footnote.accounts.accounts import Accounts
from footnote.accounts.credentials import Passwords
from footnote.app import App
from footnote.protocol.accounts import Login, NewToken, NewUser, UserChanges
from footnote.server.http_server import HttpServer, listen
from footnote.server.route import Route
from footnote.server.routes import ALL_ROUTES
from footnote.server.site import Site
from footnote.sessions import runner
from upstream import Upstream, reply, say, stop

SECONDS = 60
"""Timeout of a request; generous, because the machine may be busy."""
LOCAL_TOKEN = "local-token-that-nobody-may-see-0123456789"
PASSWORD = "correct horse battery staple"


@dataclass(frozen=True)
class ApiResponse:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str | None:
        """The type of the error; None if there is none."""
        return self.json["error"]["type"] if self.status >= 400 else None


@dataclass
class ServerHarness:
    """`responses`: all responses received, so that a test can search every byte of them."""

    app: App
    url: str
    serving: HttpServer
    http: aiohttp.ClientSession
    running: asyncio.Task[None]
    responses: list[ApiResponse] = field(default_factory=list[ApiResponse])

    async def request(
        self,
        method: str,
        path: str,
        *,
        token: str | None = None,
        cookie: str | None = None,
        body: Any = None,
        data: bytes | BytesIO | None = None,
        **headers: str,
    ) -> ApiResponse:
        """`body` is sent as JSON, `data` unchanged. Headers are written with underscores."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        if cookie is not None:
            sent["cookie"] = f"footnote_session={cookie}"
        if body is not None:
            data = json.dumps(body).encode()
        if data is not None:
            sent.setdefault("content-type", "application/json")
        request = self.http.request(method, self.url + path, data=data, headers=sent, allow_redirects=False)
        async with request as response:
            received = ApiResponse(response.status, response.headers.copy(), await response.read())
        self.responses.append(received)
        return received

    async def add_user(self, name: str, **changes: Any) -> "ApiClient":
        """Adds a user with a password, a token and a cookie, and then applies `changes`."""
        user = await self.app.accounts.add(NewUser(name, PASSWORD))
        token = (await self.app.accounts.issue(user.id, NewToken("test"))).token
        _, cookie = await self.app.accounts.log_in(Login(name=name, password=PASSWORD))
        if changes:
            await self.app.accounts.change(user.id, UserChanges(**changes))
        return ApiClient(self, user.id, name, token, cookie)

    @property
    def site(self) -> Site:
        return self.serving.site

    @property
    def local(self) -> "ApiClient":
        return ApiClient(self, "local", "local", LOCAL_TOKEN, "")


@dataclass(frozen=True)
class ApiClient:
    """Sends requests with the token of one user."""

    server: ServerHarness
    id: str
    name: str
    token: str
    cookie: str

    async def request(self, method: str, path: str, body: Any = None, **headers: str) -> ApiResponse:
        return await self.server.request(method, path, token=self.token, body=body, **headers)

    async def create_session(self, **fields: Any) -> str:
        """Creates a session, and returns its id."""
        response = await self.request("POST", "/v2/sessions", fields)
        assert response.status == 201, response
        return response.json["id"]

    async def ask_for_events(self, session_id: str, question: str = "Why?") -> list[dict[str, Any]]:
        """Asks a question, and returns the events of the answer to its end."""
        response = await self.request("POST", f"/v2/sessions/{session_id}/messages", {"content": question})
        assert response.status == 200, response
        return parse_events(response.body)

    async def start_run(self, session_id: str, question: str = "Why?") -> str:
        """Asks a question without waiting for the answer, and returns the id of the run."""
        path = f"/v2/sessions/{session_id}/messages"
        started = await self.request("POST", path, {"content": question}, accept="application/json")
        assert started.status == 202, started
        return started.json["run_id"]

    async def run_events(self, run_id: str, after: int | None = None) -> bytes:
        """The raw event stream of a run to its end. `after`: the last event id that the client has."""
        headers = {} if after is None else {"last_event_id": str(after)}
        response = await self.request("GET", f"/v2/runs/{run_id}/events", **headers)
        assert response.status == 200, response
        return response.body

    async def history(self, session_id: str) -> dict[str, Any]:
        return (await self.request("GET", f"/v2/sessions/{session_id}/history?turns=true")).json


def parse_events(body: bytes) -> list[dict[str, Any]]:
    """The data of server-sent events, each with its `id` where it has one."""
    found: list[dict[str, Any]] = []
    for frame in body.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in frame.split("\n") if ": " in line)
        if "data" in fields:
            found.append({**json.loads(fields["data"]), **({"id": int(fields["id"])} if "id" in fields else {})})
    return found


async def wait_for_bus(server: ServerHarness) -> None:
    """Waits until the bus is connected, which the start of the server does not wait for."""
    async with asyncio.timeout(SECONDS):
        while not server.app.bus.state.is_connected:
            await asyncio.sleep(0.01)


async def run_maintenance(server: ServerHarness) -> None:
    """Runs once what the supervisor does every few seconds."""
    supervisor = server.app.runner._supervisor
    await supervisor._renew_leases()
    await supervisor._maintain()


def answer_text(events: list[dict[str, Any]]) -> str:
    return "".join(one["delta"].get("text", "") for one in events if one["type"] == "content_block_delta")


@asynccontextmanager
async def open_server(
    home: Path, upstream: Upstream | None = None, *, routes: Iterable[Route] = ALL_ROUTES, **environ: str
) -> AsyncIterator[ServerHarness]:
    """Serves until the block ends, and then stops gracefully. Passwords are hashed with the lowest cost."""
    settings = {**environment(home, upstream), "FOOTNOTE_TOKEN": LOCAL_TOKEN, **environ}
    with pytest.MonkeyPatch.context() as patch:
        # A request that cancels a run waits for its end, also on a busy machine.
        patch.setattr(runner, "CANCEL_SECONDS", SECONDS)
        async with _serve(home, settings, routes) as server:
            yield server


@asynccontextmanager
async def _serve(home: Path, settings: dict[str, str], routes: Iterable[Route]) -> AsyncIterator[ServerHarness]:
    async with App.open(home=home / ".footnote", environ=settings) as app:
        app.accounts = Accounts(app._database, local_token=LOCAL_TOKEN, passwords=Passwords(CountingHasher()))
        listener = listen("127.0.0.1", 0)
        serving = HttpServer(app, listener, routes)
        started = asyncio.Event()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"

        async def note() -> None:
            started.set()

        running = asyncio.create_task(serving.run(note))
        waiting = asyncio.create_task(started.wait())
        await asyncio.wait((running, waiting), return_when=asyncio.FIRST_COMPLETED)
        if not started.is_set():
            waiting.cancel()
            await running
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(SECONDS)) as http:
            try:
                yield ServerHarness(app, url, serving, http, running)
            finally:
                serving.stop()
                await running


def script_answer(upstream: Upstream, text: str = "Because.") -> None:
    """Answers every question with this text from now on."""
    upstream.script(lambda _: reply(say(text), stop()))
