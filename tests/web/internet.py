"""Host names and public addresses that lead to servers on loopback.

Only the connection itself is redirected: the product resolves the name, checks the address and creates a socket for it
as on the real internet.
"""

import socket
from collections.abc import Sequence
from typing import Any

import pytest

from web.server import Trap, Web

SITE = "93.184.215.14"
"""An arbitrary public address."""


class Internet:
    """`serve_at` puts a server at an address; `add_name` says what a name resolves to."""

    def __init__(self) -> None:
        self.resolved: list[str] = []
        """The names that were resolved, in order."""
        self.connected: list[tuple[str, int]] = []
        """The public addresses and ports that were connected to, in order."""
        self._servers: dict[str, Web | Trap] = {}
        self._answers: dict[str, list[Sequence[str]]] = {}

    def serve_at(self, address: str, server: Web | Trap) -> None:
        self._servers[address] = server

    def add_name(self, name: str, *answers: Sequence[str]) -> None:
        """`answers` are returned one after the other, the last one repeatedly."""
        self._answers[name] = list(answers)

    async def resolve_host(self, host: str) -> Sequence[str]:
        self.resolved.append(host)
        answers = self._answers.get(host)
        if not answers:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Redirects connections to the addresses of added servers from now on."""
        connect = socket.socket.connect

        def redirected_connect(sock: socket.socket, address: Any) -> None:
            server = self._servers.get(address[0]) if isinstance(address, tuple) else None
            if server is None:
                connect(sock, address)
            else:
                self.connected.append(address[:2])
                connect(sock, (server.address, server.port))

        monkeypatch.setattr(socket.socket, "connect", redirected_connect)
