"""The head of a request has a size and a time that are enough for everybody, and not more."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD_BYTES = 65_536
HEAD_SECONDS = 60.0
"""How long the head of a request may take to come, from the first moment of the connection on."""
_WHOLE = -1


class BoundedProtocol(HttpToolsProtocol):
    """Refuses a request whose head does not end: the parser beneath would keep it all in memory, and wait for ever."""

    # A slot, since one attribute more would make the dict of every connection a kilobyte larger.
    __slots__ = ("_head_bytes", "_late")

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._head_bytes = 0
        self._late: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        self._expect_nothing()
        self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _expect_nothing(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head_bytes != _WHOLE:
            self._head_bytes += len(data)
            if self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        self._head_bytes = 0
        self._expect_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_bytes = _WHOLE
        self._expect_nothing()
        super().on_headers_complete()
