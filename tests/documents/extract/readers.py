"""What a document may do to the process that takes it apart. The URL says it; a FIFO as body tells that it began,
and by its end that the process is gone."""

import os
import signal
import sys
from pathlib import Path

from footnote.documents.extract import Extracted, Unreadable

_held: list[int] = []


def read(body: bytes, content_type: str, url: str) -> Extracted:
    if body.startswith(b"/"):
        _held.append(os.open(Path(os.fsdecode(body)), os.O_WRONLY))
        os.write(_held[-1], b"begun\n")
    match url:
        case "hang":
            while True:
                pass
        case "abort":
            os.abort()
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "memory":
            bytearray(8_000_000_000)
        case "mistake":
            raise ValueError("of ours")
        case "unreadable":
            raise Unreadable("consent_wall", "it asks for consent first")
        case "print":
            sys.stdout.write("noise")
            sys.stdout.flush()
            os.write(1, b"more noise")
        case "environment":
            return Extracted(text="\n".join(sorted(os.environ)))
        case _:
            pass
    return Extracted(text=f"{url} {len(body)}", title=str(os.getpid()))
