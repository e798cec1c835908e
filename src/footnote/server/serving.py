"""The process: a socket, the app behind it, and an end in good order."""

import asyncio
import errno
import logging
import os
import socket
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import nullcontext, suppress
from typing import Any, Literal

import uvicorn

from footnote.app import App
from footnote.config.settings import ServerSettings
from footnote.db.errors import DatabaseFailed
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import UsageError
from footnote.server.access import is_loopback
from footnote.server.dispatch import Dispatcher
from footnote.server.route import Route
from footnote.server.routes import ALL_ROUTES
from footnote.server.site import Site

GRACE_SECONDS = 3
"""How long answers may take to end once the server is being stopped."""
DATABASE_WAIT_SECONDS = 60.0
"""How long a database that does not answer is waited for before anything begins."""
CLOSE_TIMEOUT_SECONDS = 8.0
KEEP_ALIVE_SECONDS = 30
TICK_SECONDS = 1.0
_WILDCARD_HOSTS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - what it means to listen everywhere

log = logging.getLogger(__name__)


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address that is ours; who connects before the server runs is refused. `UsageError`: it cannot be
    had, and what to do."""
    other = "Choose another one with --port, or with server.port in config.json; --port 0 takes any that is free."
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        # A name such as localhost may stand for both kinds; most programs try the older one.
        family, kind, protocol, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    except OSError as error:
        raise UsageError(f"There is no address {host!r} on this machine. Choose another one with --host.") from error
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere it lets two programs have one port
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
    """Where a browser finds the server, without a slash at its end."""
    if settings.public_url:
        return settings.public_url.rstrip("/")
    name: tuple[str, int] = listener.getsockname()[:2]
    host, port = name
    host = _WILDCARD_HOSTS.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def is_exposed_without_users(app: App, listener: socket.socket) -> bool:
    """Whether other machines reach a server on which nobody but the person at this one can log in."""
    if is_loopback(listener.getsockname()[0]):
        return False
    return not any(user.id != LOCAL_USER and not user.disabled for user in await app.accounts.users())


class HttpServer:
    """`await serving.run()` answers requests until `stop()` is called."""

    def __init__(self, app: App, listener: socket.socket, routes: Iterable[Route] = ALL_ROUTES) -> None:
        dispatcher = Dispatcher(app, routes)
        # A proxy stands before a server that has a public address, and says there who asks.
        settings = app.configuration.settings.server
        behind_proxy = settings.public_url is not None
        config = uvicorn.Config(
            dispatcher,
            http=_protocol(),
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,  # the address of a login has its token in it
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
        """`started` is awaited once, when requests are answered."""
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
        """With the first word from the database. One that is still being started is waited for."""
        last = time.monotonic() + DATABASE_WAIT_SECONDS
        while not self._server.should_exit:
            try:
                await self._app.runner.adopt()
                await self._app.share_token()
                await self._app.uploads.resume()
            except DatabaseFailed as error:
                left = last - time.monotonic()
                if left < 0 or not error.retryable:
                    raise
                log.warning("Waiting for the database, %d seconds more: %s", left, error.message)
                await asyncio.sleep(1)
            else:
                return

    async def _close(self) -> None:
        """What is left is found by others, or by the next start; nobody waits long for a database that is away."""
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                await self._app.runner.close()
                await self._app.accounts.close()
        except TimeoutError:
            log.warning("Not everything could be put away in time. Others take the runs over when their leases end.")

    def stop(self) -> None:
        """Takes no more requests, ends the streams; runs are left for the next start."""
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
        """Signals are the business of the command."""
        return nullcontext()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.on_started is not None:
            await self.on_started()

    async def main_loop(self) -> None:
        """Wakes when it is to stop, and now and then to keep the date that answers carry."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await self._stopping.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._site.close_streams()
        dropping = asyncio.get_running_loop().call_later(GRACE_SECONDS - 1, self._drop_connections)
        await super().shutdown(sockets)
        dropping.cancel()

    def _drop_connections(self) -> None:
        """Those that are left belong to clients that do not take what they asked for."""
        for connection in tuple(self.server_state.connections):
            connection.transport.abort()


def _protocol() -> type[asyncio.Protocol] | Literal["h11"]:
    try:
        from footnote.server.connection_limits import bounded_protocol  # noqa: PLC0415 - its parser is not on every system
    except ImportError:
        return "h11"  # has a limit of its own
    return bounded_protocol()


def run(main: Coroutine[Any, Any, int]) -> int:
    """On the faster event loop, where there is one for this system."""
    try:
        import uvloop  # noqa: PLC0415 - not on every system
    except ImportError:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)
