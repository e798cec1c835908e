"""Who carries a run on: a process, by a name that tells others on the same machine whether it still lives."""

import os
import platform
import secrets
from contextlib import suppress
from functools import cache
from pathlib import Path

LEASE_SECONDS = 15.0
"""A run whose owner has not been heard of for so long is taken over."""
SHARED_LEASE_SECONDS = 6.0
"""The same, where replicas share a database: there nobody but the lease tells that one of them is gone."""


def new_owner() -> str:
    """`machine/pid/random`."""
    return f"{_machine()}/{os.getpid()}/{secrets.token_hex(4)}"


def is_dead(owner: str, mine: str) -> bool:
    """For certain: a process of this machine that is gone, or whose number is ours now. Of others the lease tells."""
    machine, _, rest = owner.rpartition("/")[0].rpartition("/")
    if owner == mine or machine != _machine() or not rest.isdecimal():
        return False
    return int(rest) == os.getpid() or not _lives(int(rest))


def _lives(pid: int) -> bool:
    if os.name == "nt":  # there, asking a process whether it lives ends it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@cache
def _machine() -> str:
    """Where a number stands for one process and no other: containers may share the name of a machine and not its
    processes, machines a name and the number of their first namespace."""
    parts = [platform.node() or "here"]
    with suppress(OSError):
        parts += [
            Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(),
            str(Path("/proc/self/ns/pid").readlink()),
        ]
    return " ".join(parts)
