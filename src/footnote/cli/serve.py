"""`footnote serve`: the server, until Ctrl-C. It prints a login link, which works once."""

import argparse
import gc
import logging
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from socket import socket
from typing import TYPE_CHECKING, Any

from footnote import __version__
from footnote.cli import Exit
from footnote.cli.output import Interrupts
from footnote.config.environment import environ_text, process_environment
from footnote.config.formats import mask_url
from footnote.config.load import collect_secrets, load
from footnote.protocol.errors import ConfigError
from footnote.server import logs

if TYPE_CHECKING:
    from footnote.app import App

try:
    import resource
except ImportError:  # Windows
    resource = None

LOGIN_HINT = (
    "Open this address in a browser: it logs you in, once. Ctrl-C stops the server; unfinished runs continue at its "
    "next start."
)
MAX_FILE_DESCRIPTORS = 65_536
GC_ALLOCATIONS = 10_000
OTLP_VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
EXPOSED_WARNING = (
    "Other machines can reach this server, but nobody can log in from there yet: add users with "
    "`footnote users add NAME`."
)


log = logging.getLogger(__name__)


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "serve",
        help="the server with its page and its API",
        description="Answers requests until Ctrl-C. Prints one address, which logs you in once.",
    )
    parser.add_argument("--host", metavar="ADDRESS", help="listen at this address (else server.host: 127.0.0.1)")
    parser.add_argument(
        "--port", type=_port, metavar="N", help="listen at this port (else server.port: 8484); 0 takes any"
    )
    parser.set_defaults(run=run)


def _port(text: str) -> int:
    if not (text.isdecimal() and int(text) <= 65_535):
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    configured = load(arguments.home, arguments.config_file).settings
    settings = configured.server
    logs.configure_logging(configured.logs, collect_secrets(configured, process_environment()))
    _raise_descriptor_limit()
    with Interrupts() as interrupts:
        try:
            from footnote.server.http_server import listen, run  # noqa: PLC0415 - slow to import
        except ModuleNotFoundError as error:
            raise ConfigError(
                f'The server needs {error.name}. Install it with: pip install "footnote[server]"'
            ) from error
        host = arguments.host or settings.host
        with listen(host, settings.port if arguments.port is None else arguments.port) as listener:
            return run(_serve(arguments, listener, interrupts))


def _raise_descriptor_limit() -> None:
    """The usual soft limit is a thousand descriptors, and each event stream takes one; the hard limit is higher."""
    if resource is not None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = MAX_FILE_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_FILE_DESCRIPTORS)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _tune_garbage_collector() -> None:
    """Modules and settings live as long as the process, so they are excluded from full collections. Events and rows are
    short-lived and rarely part of a cycle, so collections are less frequent."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_ALLOCATIONS)


async def _serve(arguments: argparse.Namespace, listener: socket, interrupts: Interrupts) -> int:
    from footnote.app import App  # noqa: PLC0415 - slow to import
    from footnote.server.http_server import HttpServer  # noqa: PLC0415 - slow to import

    async with (
        _with_tracing(process_environment()),
        App.open(home=arguments.home, config=arguments.config_file, lasting=True) as app,
    ):
        serving = HttpServer(app, listener)
        interrupts.on_interrupt(serving.stop)
        _tune_garbage_collector()
        await serving.run(lambda: _announce(app, listener))
    return Exit.OK


@asynccontextmanager
async def _with_tracing(environ: Mapping[str, str]) -> AsyncGenerator[None, None]:
    """Exports traces to the collector that the environment names, if any."""
    if not any(environ_text(environ, name) for name in OTLP_VARIABLES):
        yield
        return
    try:
        from footnote.server.traces import export_traces  # noqa: PLC0415 - an optional extra
    except ModuleNotFoundError:
        log.warning('Traces cannot be exported without OpenTelemetry: pip install "footnote[telemetry]".')
        yield
        return
    async with export_traces(environ):
        yield


async def _announce(app: "App", listener: socket) -> None:
    """The login link is printed only with log format `text`: JSON logs are stored, and a link must not be."""
    from footnote.server.http_server import address_of, is_exposed_without_users  # noqa: PLC0415 - slow to import

    settings = app.configuration.settings
    address = address_of(listener, settings.server)
    if settings.logs.format == "text":
        token = await app.accounts.create_login_token()
        print(f"{address}/login?token={token}", flush=True)
        print(LOGIN_HINT, file=sys.stderr, flush=True)
    places = [mask_url(place.url) for place in (settings.database, settings.storage, settings.bus)]
    log.info("Footnote %s answers at %s, with database %s, storage %s, bus %s.", __version__, address, *places)
    if await is_exposed_without_users(app, listener):
        log.warning(EXPOSED_WARNING)
