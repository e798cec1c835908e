"""`footnote serve`: the server, until Ctrl-C. It prints one address, which logs in whoever opens it first."""

import argparse
import logging
import sys
from socket import socket
from typing import TYPE_CHECKING, Any

from footnote.cli import Exit
from footnote.cli.interrupts import Interrupts
from footnote.config.load import load
from footnote.protocol.errors import ConfigError

if TYPE_CHECKING:
    from footnote.app import App

ADVICE = "Open this address in a browser: it logs you in, once. Ctrl-C ends the server; runs go on at its next start."
OPEN_TO_OTHERS = (
    "Other machines can reach this server, and nobody can log in from there yet: add people with "
    "`footnote users add NAME`."
)


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
    settings = load(arguments.home, arguments.config_file).settings.server
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    with Interrupts() as interrupts:
        try:
            from footnote.server.serving import listen, run  # noqa: PLC0415 - slow to import
        except ModuleNotFoundError as error:
            raise ConfigError(
                f'The server needs {error.name}. Install it with: pip install "footnote[server]"'
            ) from error
        host = arguments.host or settings.host
        with listen(host, settings.port if arguments.port is None else arguments.port) as listener:
            return run(_serve(arguments, listener, interrupts))


async def _serve(arguments: argparse.Namespace, listener: socket, interrupts: Interrupts) -> int:
    from footnote.app import App  # noqa: PLC0415 - slow to import
    from footnote.server.serving import Serving  # noqa: PLC0415 - slow to import

    async with App.open(home=arguments.home, config=arguments.config_file, lasting=True) as app:
        serving = Serving(app, listener)
        interrupts.stop_with(serving.stop)
        await serving.run(lambda: _announce(app, listener))
    return Exit.OK


async def _announce(app: "App", listener: socket) -> None:
    from footnote.server.serving import address_of, is_open_to_others  # noqa: PLC0415 - slow to import

    token = await app.accounts.mint_login()
    print(f"{address_of(listener, app.configuration.settings.server)}/login?token={token}", flush=True)
    print(ADVICE, file=sys.stderr, flush=True)
    if await is_open_to_others(app, listener):
        print(OPEN_TO_OTHERS, file=sys.stderr, flush=True)
