"""Where sessions are: in the home folder of this machine, or on a server. Commands treat both alike."""

import argparse
import ipaddress
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

import msgspec

from footnote.cli.filing import FileBackend, LocalFiles, RemoteFiles
from footnote.config.environment import environ_text
from footnote.config.load import home_folder
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import NotLoggedIn, UsageError
from footnote.protocol.events import Event
from footnote.protocol.frames import EventDecoder
from footnote.protocol.history import History, SessionHead
from footnote.protocol.sessions import (
    Approval,
    ApprovalDecision,
    FoundSession,
    NewMessage,
    NewSession,
    SessionPage,
    SourceView,
    StartedRun,
)
from footnote.tools.approval import Approve, make_approver
from footnote.workspace.files import Workspace

if TYPE_CHECKING:
    from footnote.app import App
    from footnote.client.api import ServerApi

TOKEN_VARIABLE = "FOOTNOTE_TOKEN"  # noqa: S105 - the name of a variable
TOKEN_FILE = "token"  # noqa: S105 - the name of a file
MAX_SUGGESTIONS = 5
LAST = "last"
_SESSION_ID = re.compile(r"session_[0-9a-f]{28}")


class SessionBackend(Protocol):
    """Sessions, and the runs in them. `forgets`: they are gone when the command ends."""

    @property
    def is_ephemeral(self) -> bool: ...

    async def create(self, agent_id: str | None) -> SessionHead: ...

    async def sessions(self, query: str | None, cursor: str | None) -> SessionPage: ...

    async def history(self, session_id: str) -> History: ...

    async def source(self, session_id: str, number: int) -> SourceView: ...

    async def delete(self, session_id: str) -> None: ...

    async def start(self, session_id: str, new: NewMessage, approve: Approve | None) -> StartedRun:
        """`approve` is asked before calls that need the person's word, where the run is in this process."""
        ...

    def follow(self, run_id: str) -> AsyncGenerator[Event, None]: ...

    async def cancel(self, run_id: str) -> None: ...

    async def decide(self, run_id: str, call_id: str, decision: ApprovalDecision) -> None:
        """What the user says to a call that waits, of which an event told."""
        ...

    def workspace(self, session_id: str) -> Workspace | None:
        """The files of a session, or none: they are not here."""
        ...

    @property
    def files(self) -> FileBackend: ...


class LocalBackend:
    """The sessions of the person at this machine."""

    def __init__(self, app: "App") -> None:
        self.is_ephemeral = app.is_ephemeral
        self.files = LocalFiles(app)
        self._app = app

    async def create(self, agent_id: str | None) -> SessionHead:
        agent = self._app.configuration.agent(agent_id)
        return await self._app.sessions.create(LOCAL_USER, agent.id)

    async def sessions(self, query: str | None, cursor: str | None) -> SessionPage:
        return await self._app.sessions.list(LOCAL_USER, query=query, cursor=cursor)

    async def history(self, session_id: str) -> History:
        """As a client of a server gets it, with all JSON read."""
        history = await self._app.sessions.history(LOCAL_USER, session_id)
        return msgspec.json.decode(msgspec.json.encode(history), type=History)

    async def source(self, session_id: str, number: int) -> SourceView:
        return await self._app.sessions.source(LOCAL_USER, session_id, number)

    async def delete(self, session_id: str) -> None:
        await self._app.runner.stop_session(LOCAL_USER, session_id)
        await self._app.sessions.delete(LOCAL_USER, session_id)

    async def start(self, session_id: str, new: NewMessage, approve: Approve | None) -> StartedRun:
        return await self._app.runner.start(LOCAL_USER, session_id, new, approver=make_approver(approve))

    async def follow(self, run_id: str) -> AsyncGenerator[Event, None]:
        decoder = EventDecoder()
        async with aclosing(self._app.runner.follow(run_id)) as pieces:
            async for piece in pieces:
                for _, event in decoder.push(piece):
                    yield event

    async def cancel(self, run_id: str) -> None:
        await self._app.runner.cancel(LOCAL_USER, run_id)

    async def decide(self, run_id: str, call_id: str, decision: ApprovalDecision) -> None:
        await self._app.runner.decide(LOCAL_USER, run_id, call_id, Approval(decision))

    def workspace(self, session_id: str) -> Workspace | None:
        return self._app.sessions.workspace(LOCAL_USER, session_id)


class RemoteBackend:
    """The sessions of whoever the token stands for, on a server."""

    is_ephemeral = False

    def __init__(self, api: "ServerApi") -> None:
        self.files = RemoteFiles(api.files)
        self._api = api

    async def create(self, agent_id: str | None) -> SessionHead:
        return await self._api.create_session(NewSession(agent_id=agent_id))

    async def sessions(self, query: str | None, cursor: str | None) -> SessionPage:
        return await self._api.sessions(query, cursor)

    async def history(self, session_id: str) -> History:
        return await self._api.history(session_id)

    async def source(self, session_id: str, number: int) -> SourceView:
        return await self._api.source(session_id, number)

    async def delete(self, session_id: str) -> None:
        await self._api.delete_session(session_id)

    async def start(self, session_id: str, new: NewMessage, approve: Approve | None) -> StartedRun:  # noqa: ARG002 - a server asks by an event
        return await self._api.start(session_id, new)

    async def follow(self, run_id: str) -> AsyncGenerator[Event, None]:
        async with aclosing(self._api.follow(run_id)) as events:
            async for _, event in events:
                yield event

    async def cancel(self, run_id: str) -> None:
        await self._api.cancel(run_id)

    async def decide(self, run_id: str, call_id: str, decision: ApprovalDecision) -> None:
        await self._api.decide(run_id, call_id, Approval(decision))

    def workspace(self, session_id: str) -> Workspace | None:  # noqa: ARG002 - whichever session it is
        return None


@asynccontextmanager
async def open_backend(
    arguments: argparse.Namespace, environ: Mapping[str, str], *, must_persist: bool = True
) -> AsyncGenerator[SessionBackend, None]:
    """The place that `--server` names, or the home folder. What each needs is slow to import, and Ctrl-C must work
    meanwhile. `must_persist`: a home folder that cannot be written is an error, not an empty one in memory."""
    if arguments.server is not None:
        from footnote.client.api import STALL_SECONDS, ServerApi  # noqa: PLC0415 - see above
        from footnote.client.transport import parse_server_url  # noqa: PLC0415 - see above
        from footnote.net.client import Net  # noqa: PLC0415 - see above
        from footnote.net.proxies import Proxies  # noqa: PLC0415 - see above

        url = parse_server_url(arguments.server)
        token = token_for(url, arguments.home or home_folder(environ), environ)
        async with Net(Proxies.from_environment(environ), idle_timeout=STALL_SECONDS) as net:
            yield RemoteBackend(ServerApi(net, url, token))
    else:
        from footnote.app import App  # noqa: PLC0415 - see above

        async with App.open(
            home=arguments.home, config=arguments.config_file, environ=environ, lasting=must_persist
        ) as app:
            yield LocalBackend(app)


def add_server_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--server", metavar="URL", help=f"on a server, with the token in ${TOKEN_VARIABLE} (default: in this process)"
    )


def token_for(url: str, home: Path, environ: Mapping[str, str]) -> str:
    """The token of the environment; the one of the home folder is for a server on this machine alone."""
    if given := environ_text(environ, TOKEN_VARIABLE):
        return _validate_token(given, TOKEN_VARIABLE)
    path = home / TOKEN_FILE
    if _is_loopback(urlsplit(url).hostname or ""):
        try:
            kept = path.read_text("utf-8", "replace").strip()
        except OSError:
            kept = ""
        if kept:
            return _validate_token(kept, str(path))
    raise NotLoggedIn(
        f"There is no token for {url}. Set {TOKEN_VARIABLE} to one of that server: one that was made for you there, or "
        f"what stands in the file `{TOKEN_FILE}` of its home folder."
    )


def _validate_token(token: str, source_name: str) -> str:
    """A token that a header can carry."""
    if not all("!" <= one <= "~" for one in token):
        raise UsageError(f"{source_name} holds no token: it has spaces, or signs that are not ASCII.")
    return token


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def short_id(session_id: str) -> str:
    """The end of an id, which is random: enough to name the session."""
    return session_id[-8:]


async def resolve_session(backend: SessionBackend, text: str) -> str:
    """The id that is meant by an id, or by a beginning or an end that no other has; `last` is the session that was used
    last."""
    wanted = text.strip()
    if _SESSION_ID.fullmatch(wanted):
        return wanted
    if wanted == LAST:
        newest = (await backend.sessions(None, None)).sessions
        if not newest:
            raise UsageError("There is no session yet.")
        return newest[0].id
    known = [head.id async for head in iter_sessions(backend)] if wanted else []
    found = [one for one in known if _matches_id(one, wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        some = ", ".join(found[:MAX_SUGGESTIONS]) + ", …" * (len(found) > MAX_SUGGESTIONS)
        raise UsageError(f"{len(found)} sessions begin or end with {wanted}. Say more of one of them: {some}")
    raise UsageError(f"There is no session {wanted!r}. `footnote sessions list` shows what there is.")


def _matches_id(session_id: str, fragment: str) -> bool:
    """By its beginning or its end, or by the beginning of the short form that lists show."""
    begins = session_id.startswith((fragment, f"session_{fragment}")) or short_id(session_id).startswith(fragment)
    return begins or session_id.endswith(fragment)


async def iter_sessions(backend: SessionBackend, query: str | None = None) -> AsyncGenerator[FoundSession, None]:
    """All of them, page by page, newest first."""
    cursor: str | None = None
    while True:
        page = await backend.sessions(query, cursor)
        for one in page.sessions:
            yield one
        cursor = page.next_cursor
        if cursor is None:
            return
