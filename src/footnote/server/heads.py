"""The head of a request has a size that is enough for everybody, and not more."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD_BYTES = 65_536
_WHOLE = -1


class BoundedProtocol(HttpToolsProtocol):
    """Refuses a request whose head does not end. The parser beneath would keep it all in memory."""

    # A slot, since one attribute more would make the dict of every connection a kilobyte larger.
    __slots__ = ("_head_bytes",)

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._head_bytes = 0
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head_bytes != _WHOLE:
            self._head_bytes += len(data)
            if self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        self._head_bytes = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_bytes = _WHOLE
        super().on_headers_complete()
