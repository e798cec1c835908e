"""The process in which documents are taken apart: a hostile one may hang, crash or eat memory here, and nowhere else.

It reads jobs from its input and writes answers to its output, each with its length in front, until the input ends.
Started by `pool`; run as `worker MODULE:FUNCTION`, where the function does the work of `extract`.
"""

import contextlib
import importlib
import math
import os
import signal
import sys
from collections.abc import Callable
from typing import BinaryIO

import msgspec
from msgspec import Struct

from footnote.documents.extract.document import Extracted, Unreadable
from footnote.protocol.receipts import PageFailure

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None

MEMORY = 1_500_000_000
"""Of address space: a large PDF needs a fifth of it."""

GRACE = 2
"""Seconds after which a job ends by itself if nobody is there any more to end it."""

LENGTH = 4
READER = "footnote.documents.extract:extract"

Read = Callable[[bytes, str, str], Extracted]


class Job(Struct, frozen=True):
    body: bytes
    content_type: str
    url: str
    seconds: float


class Answer(Struct, frozen=True, kw_only=True):
    """Either `extracted`, or why not. `fault` is for the log: a document that showed a mistake of ours."""

    extracted: Extracted | None = None
    failure: PageFailure = "unreadable"
    reason: str = ""
    fault: str = ""


def framed(message: Job | Answer) -> bytes:
    data = msgspec.msgpack.encode(message)
    return len(data).to_bytes(LENGTH, "big") + data


def main(reader: str) -> None:
    _limit()
    module, _, function = reader.partition(":")
    read: Read = getattr(importlib.import_module(module), function)
    # What a library prints goes to the error output, never between two answers.
    with open(os.dup(1), "wb") as answers, open(os.dup(0), "rb") as jobs:  # noqa: PTH123 - descriptors, not paths
        os.dup2(2, 1)
        _serve(read, jobs, answers)


def _serve(read: Read, jobs: BinaryIO, answers: BinaryIO) -> None:
    decoder = msgspec.msgpack.Decoder(Job)
    while len(head := jobs.read(LENGTH)) == LENGTH:
        data = jobs.read(int.from_bytes(head, "big"))
        job = decoder.decode(data)
        _alarm(job.seconds + GRACE)
        answer = framed(_answer(read, job))
        _alarm(0)
        try:
            answers.write(answer)
            answers.flush()
        except BrokenPipeError:
            os._exit(0)


def _answer(read: Read, job: Job) -> Answer:
    try:
        return Answer(extracted=read(job.body, job.content_type, job.url))
    except Unreadable as error:
        return Answer(failure=error.failure, reason=error.reason)
    except MemoryError:
        # What is left of the memory is not worth going on with.
        os._exit(1)
    except Exception as error:  # noqa: BLE001 - a mistake of ours costs one document, and is told
        return Answer(reason="it could not be taken apart", fault=f"{type(error).__name__}: {error}")


def _limit() -> None:
    # Ctrl-C is for the program that asked; it ends this one when it wants to.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if resource is None:
        return
    for limit, value in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        # macOS refuses the first, and a system may have set it lower.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, value))


def _alarm(seconds: float) -> None:
    """Kills this process after that time, also in the middle of C code. A parent that was killed cannot do it."""
    if hasattr(signal, "alarm"):
        signal.alarm(math.ceil(seconds))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else READER)
