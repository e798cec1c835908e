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

from footnote.cli.filing import Files, FilesHere, FilesThere
from footnote.config.environment import text_of
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
    Started,
)
from footnote.tools.approval import Approve, approver_of
from footnote.workspace.files import Workspace

if TYPE_CHECKING:
    from footnote.app import App
    from footnote.client.api import Api

TOKEN_VARIABLE = "FOOTNOTE_TOKEN"  # noqa: S105 - the name of a variable
TOKEN_FILE = "token"  # noqa: S105 - the name of a file
MOST_NAMED = 5
LAST = "last"
_WHOLE_ID = re.compile(r"session_[0-9a-f]{28}")


class Place(Protocol):
    """Sessions, and the runs in them. `forgets`: they are gone when the command ends."""

    @property
    def forgets(self) -> bool: ...

    async def create(self, agent_id: str | None) -> SessionHead: ...

    async def sessions(self, query: str | None, cursor: str | None) -> SessionPage: ...

    async def history(self, session_id: str) -> History: ...

    async def source(self, session_id: str, number: int) -> SourceView: ...

    async def delete(self, session_id: str) -> None: ...

    async def start(self, session_id: str, new: NewMessage, approve: Approve | None) -> Started:
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
    def files(self) -> Files: ...


class Here:
    """The sessions of the person at this machine."""

    def __init__(self, app: "App") -> None:
        self.forgets = app.forgets
        self.files = FilesHere(app)
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

    async def start(self, session_id: str, new: NewMessage, approve: Approve | None) -> Started:
        return await self._app.runner.start(LOCAL_USER, session_id, new, approver=approver_of(approve))

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


class There:
    """The sessions of whoever the token stands for, on a server."""

    forgets = False

    def __init__(self, api: "Api") -> None:
        self.files = FilesThere(api.files)
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

    async def start(self, session_id: str, new: NewMessage, approve: Approve | None) -> Started:  # noqa: ARG002 - a server asks by an event
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
async def opened(
    arguments: argparse.Namespace, environ: Mapping[str, str], *, lasting: bool = True
) -> AsyncGenerator[Place, None]:
    """The place that `--server` names, or the home folder. What each needs is slow to import, and Ctrl-C must work
    meanwhile. `lasting`: a home folder that cannot be written is an error, not an empty one in memory."""
    if arguments.server is not None:
        from footnote.client.api import STALL_SECONDS, Api  # noqa: PLC0415 - see above
        from footnote.client.door import server_url  # noqa: PLC0415 - see above
        from footnote.net.client import Net  # noqa: PLC0415 - see above
        from footnote.net.proxies import Proxies  # noqa: PLC0415 - see above

        url = server_url(arguments.server)
        token = token_for(url, arguments.home or home_folder(environ), environ)
        async with Net(Proxies.of(environ), stall=STALL_SECONDS) as net:
            yield There(Api(net, url, token))
    else:
        from footnote.app import App  # noqa: PLC0415 - see above

        async with App.open(home=arguments.home, config=arguments.config_file, environ=environ, lasting=lasting) as app:
            yield Here(app)


def add_server_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--server", metavar="URL", help=f"on a server, with the token in ${TOKEN_VARIABLE} (default: in this process)"
    )


def token_for(url: str, home: Path, environ: Mapping[str, str]) -> str:
    """The token of the environment; the one of the home folder is for a server on this machine alone."""
    if given := text_of(environ, TOKEN_VARIABLE):
        return _fit(given, TOKEN_VARIABLE)
    path = home / TOKEN_FILE
    if _is_this_machine(urlsplit(url).hostname or ""):
        try:
            kept = path.read_text("utf-8", "replace").strip()
        except OSError:
            kept = ""
        if kept:
            return _fit(kept, str(path))
    raise NotLoggedIn(
        f"There is no token for {url}. Set {TOKEN_VARIABLE} to one of that server: one that was made for you there, or "
        f"what stands in the file `{TOKEN_FILE}` of its home folder."
    )


def _fit(token: str, place: str) -> str:
    """A token that a header can carry."""
    if not all("!" <= one <= "~" for one in token):
        raise UsageError(f"{place} holds no token: it has spaces, or signs that are not ASCII.")
    return token


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def short_id(session_id: str) -> str:
    """The end of an id, which is random: enough to name the session."""
    return session_id[-8:]


async def session_named(place: Place, text: str) -> str:
    """The id that is meant by an id, or by a beginning or an end that no other has; `last` is the session that was used
    last."""
    wanted = text.strip()
    if _WHOLE_ID.fullmatch(wanted):
        return wanted
    if wanted == LAST:
        newest = (await place.sessions(None, None)).sessions
        if not newest:
            raise UsageError("There is no session yet.")
        return newest[0].id
    known = [head.id async for head in every_session(place)] if wanted else []
    found = [one for one in known if _is_meant(one, wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        some = ", ".join(found[:MOST_NAMED]) + ", …" * (len(found) > MOST_NAMED)
        raise UsageError(f"{len(found)} sessions begin or end with {wanted}. Say more of one of them: {some}")
    raise UsageError(f"There is no session {wanted!r}. `footnote sessions list` shows what there is.")


def _is_meant(session_id: str, wanted: str) -> bool:
    """By its beginning or its end, or by the beginning of the short form that lists show."""
    begins = session_id.startswith((wanted, f"session_{wanted}")) or short_id(session_id).startswith(wanted)
    return begins or session_id.endswith(wanted)


async def every_session(place: Place, query: str | None = None) -> AsyncGenerator[FoundSession, None]:
    """All of them, page by page, newest first."""
    cursor: str | None = None
    while True:
        page = await place.sessions(query, cursor)
        for one in page.sessions:
            yield one
        cursor = page.next_cursor
        if cursor is None:
            return
