"""What hostile documents are tried with: a server that nobody may talk to, a file that nobody may read, pictures."""

import asyncio
import struct
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

CANARY = "canary-4f1d7c"


class Trap:
    """A server that nobody may talk to."""

    connections = 0
    url = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        writer.close()


@asynccontextmanager
async def run_trap() -> AsyncIterator[Trap]:
    trap = Trap()
    server = await asyncio.start_server(trap.answer, "127.0.0.1", 0)
    async with server:
        trap.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield trap
    assert trap.connections == 0


def plant_canary(folder: Path) -> Path:
    """A text that must not come out anywhere, with pictures of it beside it."""
    path = folder / "secret.txt"
    path.write_text(CANARY)
    path.with_suffix(".png").write_bytes(png(4, 4, text=CANARY))
    path.with_suffix(".svg").write_text(f"<svg xmlns='http://www.w3.org/2000/svg'><text>{CANARY}</text></svg>")
    return path


def png(width: int, height: int, text: str = "") -> bytes:
    """As large as it says only up to a few pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = zlib.compress((b"\0" + b"\xff" * 3 * width) * height) if width * height < 10_000 else b""
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
            chunk(b"tEXt", b"Comment\0" + text.encode()) if text else b"",
            chunk(b"IDAT", pixels),
            chunk(b"IEND", b""),
        )
    )


def svg(content: str, beginning: str = "") -> bytes:
    space = "xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='100' height='100'"
    return f"{beginning}<svg {space}>{content}</svg>".encode()
