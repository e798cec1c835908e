"""The HTTP server of a process: its socket, start and graceful shutdown."""

import asyncio
import errno
import logging
import os
import socket
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import nullcontext, suppress
from typing import Any

import uvicorn

from footnote.app import App
from footnote.config.settings import ServerSettings
from footnote.db.errors import DatabaseFailed
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import UsageError
from footnote.server.access import is_loopback
from footnote.server.dispatch import Dispatcher
from footnote.server.limits import bounded_protocol
from footnote.server.route import Route
from footnote.server.routes import ALL_ROUTES
from footnote.server.site import Site

GRACE_SECONDS = 3
"""How long responses may take to end after the server was told to stop."""
DATABASE_WAIT_SECONDS = 60.0
"""How long the start waits for a database that cannot be reached."""
CLOSE_TIMEOUT_SECONDS = 8.0
KEEP_ALIVE_SECONDS = 30
TICK_SECONDS = 1.0
_WILDCARD_HOSTS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - the addresses that mean all interfaces

log = logging.getLogger(__name__)


def listen(host: str, port: int) -> socket.socket:
    """A bound socket that does not listen yet: connections before the server runs are refused. Raises `UsageError` with
    advice if the address cannot be used."""
    other = "Choose another one with --port, or with server.port in config.json; --port 0 takes any that is free."
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        # A name such as localhost may have both an IPv4 and an IPv6 address; most clients try IPv4.
        family, kind, protocol, _, address = min(found, key=lambda info: info[0] != socket.AF_INET)
    except OSError as error:
        raise UsageError(f"There is no address {host!r} on this machine. Choose another one with --host.") from error
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere this option lets two programs share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except PermissionError as error:
        listener.close()
        raise UsageError(f"Port {port} is not yours to use. {other}") from error
    except OSError as error:
        listener.close()
        raise UsageError(f"Port {port} of {host} cannot be used: {error.strerror}. {other}") from error
    listener.setblocking(False)  # noqa: FBT003 - the signature of the standard library
    return listener


def address_of(listener: socket.socket, settings: ServerSettings) -> str:
    """The URL of the server for browsers, without a trailing slash."""
    if settings.public_url:
        return settings.public_url.rstrip("/")
    name: tuple[str, int] = listener.getsockname()[:2]
    host, port = name
    host = _WILDCARD_HOSTS.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def is_exposed_without_users(app: App, listener: socket.socket) -> bool:
    """Whether other machines can reach the server although it has no accounts but that of the local user."""
    if is_loopback(listener.getsockname()[0]):
        return False
    return not any(user.id != LOCAL_USER and not user.disabled for user in await app.accounts.users())


class HttpServer:
    """`await server.run(on_started)` answers requests until `stop()` is called."""

    def __init__(self, app: App, listener: socket.socket, routes: Iterable[Route] = ALL_ROUTES) -> None:
        dispatcher = Dispatcher(app, routes)
        # A server with a public URL is behind a proxy, which sends the address of the client in a header.
        settings = app.configuration.settings.server
        behind_proxy = settings.public_url is not None
        config = uvicorn.Config(
            dispatcher,
            http=bounded_protocol(),
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,  # the URL of a login holds its token
            server_header=False,
            proxy_headers=behind_proxy,
            forwarded_allow_ips=list(settings.trusted_proxies),
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        self.site = dispatcher.site
        self._app = app
        self._listener = listener
        self._server = _UvicornServer(config, dispatcher.site)

    async def run(self, on_started: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """`on_started` is awaited once, when the server answers requests."""
        await self._recover()
        self._server.on_started = on_started
        try:
            await self._server.serve(sockets=[self._listener])
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise UsageError("Another program that was started at the same moment has this port.") from error
        finally:
            await self._close()
            log.info("The server has stopped.")

    async def _recover(self) -> None:
        """The first access to the database. One that is still starting is waited for."""
        deadline = time.monotonic() + DATABASE_WAIT_SECONDS
        while not self._server.should_exit:
            try:
                await self._app.runner.adopt()
                await self._app.share_token()
                await self._app.uploads.resume()
            except DatabaseFailed as error:
                left = deadline - time.monotonic()
                if left < 0 or not error.retryable:
                    raise
                log.warning("Waiting for the database, %d seconds more: %s", left, error.message)
                await asyncio.sleep(1)
            else:
                return

    async def _close(self) -> None:
        """With a timeout, because the database may be gone: other replicas or the next start adopt what is left."""
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                await self._app.runner.close()
                await self._app.accounts.close()
        except TimeoutError:
            log.warning("The shutdown took too long. Other replicas adopt unfinished runs when their leases expire.")

    def stop(self) -> None:
        """Refuses new requests and ends streams; unfinished runs are left to the next start."""
        log.info(
            "The server is being stopped. Runs that are not finished: %d.", len(self._app.runner.executor.live_runs)
        )
        self._server.stop()


class _UvicornServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self._site = site
        self._stopping = asyncio.Event()
        self.on_started: Callable[[], Coroutine[Any, Any, None]] | None = None

    def stop(self) -> None:
        self.should_exit = True
        self._stopping.set()

    def capture_signals(self) -> nullcontext[None]:  # pyright: ignore[reportIncompatibleMethodOverride] - only entered
        """Does nothing: the command handles signals."""
        return nullcontext()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.on_started is not None:
            await self.on_started()

    async def main_loop(self) -> None:
        """Wakes at `stop()`, and every second to update the `Date` header of responses."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await self._stopping.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._site.close_streams()
        abort_timer = asyncio.get_running_loop().call_later(GRACE_SECONDS - 1, self._abort_connections)
        await super().shutdown(sockets)
        abort_timer.cancel()

    def _abort_connections(self) -> None:
        """The connections of clients that do not read their responses."""
        for connection in tuple(self.server_state.connections):
            connection.transport.abort()


def run(main: Coroutine[Any, Any, int]) -> int:
    """Uses uvloop, which is faster, if it is installed."""
    try:
        import uvloop  # noqa: PLC0415 - not available on Windows
    except ImportError:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)
