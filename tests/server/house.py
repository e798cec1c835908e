"""A server in this process, on loopback, with the people who ask it."""

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

from accounts.people import CountingHasher
from cli.process import environment
from footnote.accounts.accounts import Accounts
from footnote.accounts.passwords import Passwords
from footnote.app import App
from footnote.protocol.accounts import Login, NewToken, NewUser, UserChanges
from footnote.server.route import Route
from footnote.server.routes import ALL_ROUTES
from footnote.server.serving import HttpServer, listen
from footnote.server.site import Site
from footnote.sessions import runner
from upstream import Upstream, reply, say, stop

SECONDS = 60
"""For an answer: a busy machine takes its time, and whoever waits for longer waits for nothing."""
LOCAL_TOKEN = "local-token-that-nobody-may-see-0123456789"
PASSWORD = "correct horse battery staple"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str | None:
        """The type of the error, None where there is none."""
        return self.json["error"]["type"] if self.status >= 400 else None


@dataclass
class House:
    """`answers` are all that came, so that a test can look through every byte of them."""

    app: App
    url: str
    serving: HttpServer
    http: aiohttp.ClientSession
    running: asyncio.Task[None]
    responses: list[Answer] = field(default_factory=list[Answer])

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
    ) -> Answer:
        """`body` is sent as JSON, `data` as it is. Headers are written with underscores."""
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
            answer = Answer(response.status, response.headers.copy(), await response.read())
        self.responses.append(answer)
        return answer

    async def add_user(self, name: str, **changes: Any) -> "Person":
        """A user with a password, a token and a cookie; then changed, if anything is to be."""
        user = await self.app.accounts.add(NewUser(name, PASSWORD))
        token = (await self.app.accounts.issue(user.id, NewToken("test"))).token
        _, cookie = await self.app.accounts.log_in(Login(name=name, password=PASSWORD))
        if changes:
            await self.app.accounts.change(user.id, UserChanges(**changes))
        return Person(self, user.id, name, token, cookie)

    @property
    def site(self) -> Site:
        return self.serving.site

    @property
    def local(self) -> "Person":
        return Person(self, "local", "local", LOCAL_TOKEN, "")


@dataclass(frozen=True)
class Person:
    """Somebody who asks with a token of theirs."""

    house: House
    id: str
    name: str
    token: str
    cookie: str

    async def request(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        return await self.house.request(method, path, token=self.token, body=body, **headers)

    async def create_session(self, **fields: Any) -> str:
        """The id of a new session."""
        made = await self.request("POST", "/v2/sessions", fields)
        assert made.status == 201, made
        return made.json["id"]

    async def ask_for_events(self, session_id: str, question: str = "Why?") -> list[dict[str, Any]]:
        """The events of the answer to a question, to its end."""
        answer = await self.request("POST", f"/v2/sessions/{session_id}/messages", {"content": question})
        assert answer.status == 200, answer
        return parse_events(answer.body)


def parse_events(body: bytes) -> list[dict[str, Any]]:
    """The data of server-sent events, each with its `id` where it has one."""
    found: list[dict[str, Any]] = []
    for frame in body.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in frame.split("\n") if ": " in line)
        if "data" in fields:
            found.append({**json.loads(fields["data"]), **({"id": int(fields["id"])} if "id" in fields else {})})
    return found


async def wait_for_bus(house: House) -> None:
    """Returns when the bus is reached, which nobody waits for at the start."""
    async with asyncio.timeout(SECONDS):
        while not house.app.bus.state.is_connected:
            await asyncio.sleep(0.01)


async def run_maintenance(house: House) -> None:
    """What the server does by itself every few seconds."""
    keeper = house.app.runner._supervisor
    await keeper._renew_leases()
    await keeper._maintain()


def answer_text(events: list[dict[str, Any]]) -> str:
    return "".join(one["delta"].get("text", "") for one in events if one["type"] == "content_block_delta")


@asynccontextmanager
async def open_house(
    home: Path, upstream: Upstream | None = None, *, routes: Iterable[Route] = ALL_ROUTES, **environ: str
) -> AsyncIterator[House]:
    """Serves until the block ends, and then stops in good order. Passwords are hashed fast and badly."""
    settings = {**environment(home, upstream), "FOOTNOTE_TOKEN": LOCAL_TOKEN, **environ}
    with pytest.MonkeyPatch.context() as patch:
        # Who cancels a run is to learn how it ended, also when that takes a moment.
        patch.setattr(runner, "CANCEL_SECONDS", SECONDS)
        async with _serve(home, settings, routes) as house:
            yield house


@asynccontextmanager
async def _serve(home: Path, settings: dict[str, str], routes: Iterable[Route]) -> AsyncIterator[House]:
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
                yield House(app, url, serving, http, running)
            finally:
                serving.stop()
                await running


def script_answer(upstream: Upstream, text: str = "Because.") -> None:
    """From now on every question is answered with this."""
    upstream.script(lambda _: reply(say(text), stop()))
