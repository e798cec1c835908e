"""Parts of hostile documents: a server that must not be contacted, a file that must not be read, images."""

import struct
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from web import Trap

CANARY = "canary-4f1d7c"


@asynccontextmanager
async def run_trap() -> AsyncIterator[Trap]:
    """A server that no converter or parser may connect to."""
    async with Trap() as trap:
        yield trap
    assert trap.connections == 0


def plant_canary(folder: Path) -> Path:
    """A text file whose content must appear in no output, and images that contain the same text."""
    path = folder / "secret.txt"
    path.write_text(CANARY)
    path.with_suffix(".png").write_bytes(png(4, 4, text=CANARY))
    path.with_suffix(".svg").write_text(f"<svg xmlns='http://www.w3.org/2000/svg'><text>{CANARY}</text></svg>")
    return path


def png(width: int, height: int, text: str = "") -> bytes:
    """Has its pixel data only up to 10,000 pixels: a larger one claims a size that it does not have."""

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


def svg(content: str, prolog: str = "") -> bytes:
    space = "xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='100' height='100'"
    return f"{prolog}<svg {space}>{content}</svg>".encode()
