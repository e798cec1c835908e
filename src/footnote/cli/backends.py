"""Where sessions are: in the home folder of this machine, or on a server.

`LocalBackend` and the client's `ServerApi` have the same methods, so that commands do not know which one they use.
"""

import argparse
import asyncio
import ipaddress
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

import msgspec

from footnote.client import DownloadableDocument, read_chunks
from footnote.config.environment import environ_text
from footnote.config.load import home_folder
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import NotLoggedIn, UsageError
from footnote.protocol.events import Event
from footnote.protocol.files import ConvertType, FileDiff, FileRecord, FileVersion, ProofOption
from footnote.protocol.history import History, SessionHead
from footnote.protocol.sessions import (
    Approval,
    FoundSession,
    ImportedSession,
    NewCheck,
    NewMessage,
    NewSession,
    SessionPage,
    StartedRun,
)
from footnote.protocol.sse import EventDecoder
from footnote.tools.approval import Approve, make_approver
from footnote.workspace.files import Workspace
from footnote.workspace.text import make_diff

if TYPE_CHECKING:
    from footnote.app import App
    from footnote.client.api import ServerApi

TOKEN_VARIABLE = "FOOTNOTE_TOKEN"  # noqa: S105 - the name of a variable
TOKEN_FILE = "token"  # noqa: S105 - the name of a file
MAX_SUGGESTIONS = 5
LAST = "last"
_SESSION_ID = re.compile(r"session_[0-9a-f]{28}")

SessionBackend: TypeAlias = "LocalBackend | ServerApi"


class LocalBackend:
    """The sessions of the local user, in the home folder. `approve` is asked before tool calls that need approval."""

    def __init__(self, app: "App", approve: Approve | None = None) -> None:
        self.is_ephemeral = app.is_ephemeral
        self.files = LocalFiles(app)
        self._app = app
        self._approver = make_approver(approve)

    async def create_session(self, new: NewSession) -> SessionHead:
        agent = self._app.configuration.agent(new.agent_id)
        return await self._app.sessions.create(LOCAL_USER, agent.id)

    async def sessions(self, query: str | None = None, cursor: str | None = None) -> SessionPage:
        return await self._app.sessions.list(LOCAL_USER, query=query, cursor=cursor)

    async def history(self, session_id: str) -> History:
        """As a client of a server gets it: artifacts and arguments are decoded JSON."""
        history = await self._app.sessions.history(LOCAL_USER, session_id)
        return msgspec.json.decode(msgspec.json.encode(history), type=History)

    async def delete_session(self, session_id: str) -> None:
        await self._app.runner.stop_session(LOCAL_USER, session_id)
        await self._app.sessions.delete(LOCAL_USER, session_id)

    async def start(self, session_id: str, new: NewMessage) -> StartedRun:
        return await self._app.runner.start(LOCAL_USER, session_id, new, approver=self._approver)

    async def check(self, new: NewCheck) -> StartedRun:
        return await self._app.check(LOCAL_USER, new)

    async def follow(self, run_id: str) -> AsyncGenerator[tuple[int, Event], None]:
        decoder = EventDecoder()
        async with aclosing(self._app.runner.follow(run_id)) as frames:
            async for frame in frames:
                for numbered in decoder.push(frame):
                    yield numbered

    async def cancel(self, run_id: str) -> None:
        await self._app.runner.cancel(LOCAL_USER, run_id)

    async def finish(self, run_id: str) -> None:
        await self._app.runner.finish(LOCAL_USER, run_id)

    async def decide(self, run_id: str, call_id: str, approval: Approval) -> None:
        await self._app.runner.decide(LOCAL_USER, run_id, call_id, approval)

    def workspace(self, session_id: str) -> Workspace:
        """The files of a session, to be saved on this machine."""
        return self._app.sessions.workspace(LOCAL_USER, session_id)


class LocalFiles:
    """The files of the local user's sessions, and sessions as bundles."""

    def __init__(self, app: "App") -> None:
        self._app = app

    async def list(self, session_id: str) -> tuple[FileRecord, ...]:
        return await (await self._workspace(session_id)).list_visible()

    async def content(self, session_id: str, path: str, version: int | None = None) -> AsyncGenerator[bytes, None]:
        opened = await (await self._workspace(session_id)).open(path, version)
        async with aclosing(opened.read(0, None)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def upload(self, session_id: str, file: Path) -> FileRecord:
        uploads = self._app.uploads
        async with aclosing(read_chunks(file)) as chunks, uploads.spool(chunks) as spooled:
            return await uploads.accept(LOCAL_USER, session_id, file.name, spooled)

    async def put(self, session_id: str, path: str, content: str, base_hash: str | None) -> FileRecord:
        return await (await self._workspace(session_id)).put(path, content, base_hash=base_hash)

    async def versions(self, session_id: str, path: str) -> tuple[FileVersion, ...]:
        return await (await self._workspace(session_id)).versions(path)

    async def diff(self, session_id: str, path: str, older: int | None, newer: int | None) -> FileDiff:
        workspace = await self._workspace(session_id)
        after = await workspace.open(path, newer)
        before = await workspace.open(path, older or max(1, after.version.number - 1))
        old, new = [(file.version, await workspace.read(path, file.version.number)) for file in (before, after)]
        return await asyncio.to_thread(make_diff, after.record, old, new)

    async def restore(self, session_id: str, path: str, number: int) -> FileRecord:
        return await (await self._workspace(session_id)).restore(path, number)

    async def delete(self, session_id: str, path: str) -> None:
        await (await self._workspace(session_id)).delete(path)

    async def unpack(self, session_id: str, path: str) -> tuple[FileRecord, ...]:
        return await self._app.uploads.unpack(LOCAL_USER, session_id, path)

    async def convert(
        self, session_id: str, path: str, target: ConvertType, proof: ProofOption = "mark"
    ) -> DownloadableDocument:
        await self._workspace(session_id)
        made = await self._app.renditions.convert(LOCAL_USER, session_id, path, target, proof)
        return DownloadableDocument(made.filename, made.notes, self._app.blobs.stream(made.hash))

    def export(self, session_id: str) -> AsyncGenerator[bytes, None]:
        return self._app.bundles.export(LOCAL_USER, session_id)

    async def import_bundle(self, file: Path) -> ImportedSession:
        return await self._app.bundles.import_bundle(LOCAL_USER, file)

    async def _workspace(self, session_id: str) -> Workspace:
        """`Unknown`: there is no such session."""
        head = await self._app.sessions.head(LOCAL_USER, session_id)
        return self._app.sessions.workspace(LOCAL_USER, head.id)


@asynccontextmanager
async def open_backend(
    arguments: argparse.Namespace,
    environ: Mapping[str, str],
    *,
    must_persist: bool = True,
    approve: Approve | None = None,
) -> AsyncGenerator[SessionBackend, None]:
    """The server that `--server` names, or the home folder. Both are slow to import, and Ctrl-C must work meanwhile.

    `must_persist`: a home folder that cannot be written is an error; otherwise an empty database in memory takes its
    place. `approve`: for runs in this process; a server asks with an event instead."""
    if arguments.server is not None:
        from footnote.client.api import STALL_SECONDS, ServerApi  # noqa: PLC0415 - see above
        from footnote.client.transport import parse_server_url  # noqa: PLC0415 - see above
        from footnote.net.client import Net  # noqa: PLC0415 - see above
        from footnote.net.proxies import Proxies  # noqa: PLC0415 - see above

        url = parse_server_url(arguments.server)
        token = token_for(url, arguments.home or home_folder(environ), environ)
        async with Net(Proxies.from_environment(environ), idle_timeout=STALL_SECONDS) as net:
            yield ServerApi(net, url, token)
    else:
        from footnote.app import App  # noqa: PLC0415 - see above

        async with App.open(
            home=arguments.home, config=arguments.config_file, environ=environ, lasting=must_persist
        ) as app:
            yield LocalBackend(app, approve)


def add_server_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--server", metavar="URL", help=f"on a server, with the token in ${TOKEN_VARIABLE} (default: in this process)"
    )


def token_for(url: str, home: Path, environ: Mapping[str, str]) -> str:
    """The token of the environment, else that of the home folder, which is only sent to a server on this machine."""
    if given := environ_text(environ, TOKEN_VARIABLE):
        return _validate_token(given, TOKEN_VARIABLE)
    path = home / TOKEN_FILE
    if _is_loopback(urlsplit(url).hostname or ""):
        try:
            stored = path.read_text("utf-8", "replace").strip()
        except OSError:
            stored = ""
        if stored:
            return _validate_token(stored, str(path))
    raise NotLoggedIn(
        f"There is no token for {url}. Set {TOKEN_VARIABLE} to a token of that server: one that was created for you "
        f"there, or the content of the file `{TOKEN_FILE}` in its home folder."
    )


def _validate_token(token: str, source_name: str) -> str:
    """Only printable ASCII can be sent in a header."""
    if not all("!" <= character <= "~" for character in token):
        raise UsageError(f"{source_name} is not a token: it contains spaces or characters outside ASCII.")
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
    """The session with this id, or the only one whose id begins or ends with it; `last` is the one used last."""
    wanted = text.strip()
    if _SESSION_ID.fullmatch(wanted):
        return wanted
    if wanted == LAST:
        newest = (await backend.sessions()).sessions
        if not newest:
            raise UsageError("There is no session yet.")
        return newest[0].id
    known = [session.id async for session in iter_sessions(backend)] if wanted else []
    found = [session_id for session_id in known if _matches_id(session_id, wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        some = ", ".join(found[:MAX_SUGGESTIONS]) + ", …" * (len(found) > MAX_SUGGESTIONS)
        raise UsageError(f"{len(found)} sessions begin or end with {wanted}. Give more of the id: {some}")
    raise UsageError(f"There is no session {wanted!r}. `footnote sessions list` shows all sessions.")


def _matches_id(session_id: str, fragment: str) -> bool:
    """By its beginning or its end, or by the beginning of the short form that lists show."""
    begins = session_id.startswith((fragment, f"session_{fragment}")) or short_id(session_id).startswith(fragment)
    return begins or session_id.endswith(fragment)


async def iter_sessions(backend: SessionBackend, query: str | None = None) -> AsyncGenerator[FoundSession, None]:
    """All sessions, the last used first, fetched page by page."""
    cursor: str | None = None
    while True:
        page = await backend.sessions(query, cursor)
        for session in page.sessions:
            yield session
        cursor = page.next_cursor
        if cursor is None:
            return
