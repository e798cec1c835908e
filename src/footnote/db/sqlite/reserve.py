"""Room that is kept free for deleting.

SQLite writes every change into its log before it counts, a deletion too. On a full disk nothing could be deleted, so
that no room could be made. While a disk is nearly full, a file of some megabytes stands beside the database; it is
given up for a deletion that finds no room, and made again in what is then free, before anything else is written there.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path

RESERVE_BYTES = 16 * 1024 * 1024
_LOW_SPACE_BYTES = 256 * 1024 * 1024
"""Free bytes of a disk below which the reserve is made. Above four times as much it is removed again."""
_MARGIN_BYTES = 2 * 1024 * 1024
"""Bytes that a reserve leaves to everything else: what a deletion made free inside the database is written to again, by
way of its log."""
_MIN_RESERVE_BYTES = 2 * 1024 * 1024
_OPENING_BYTES = 256 * 1024
"""Without so many free bytes a database cannot be opened: SQLite makes files beside it."""


class Reserve:
    """Used by the thread that writes alone. No error of the disk leaves it: there is a reserve, or there is none."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}-reserve")

    def maintain(self) -> None:
        """Makes or removes it, as the disk has room. Called after each commit, and costs a microsecond."""
        with suppress(OSError):
            free = shutil.disk_usage(self._path.parent).free
            if free > 4 * _LOW_SPACE_BYTES:
                self._path.unlink(missing_ok=True)
            elif free < _LOW_SPACE_BYTES and not self._path.exists():
                size = min(RESERVE_BYTES, free - _MARGIN_BYTES)
                if size >= _MIN_RESERVE_BYTES:
                    self._allocate(size)

    def release_to_open(self) -> bool:
        """A database on a full disk can be opened then, and something deleted. False: there is room, or no reserve."""
        with suppress(OSError):
            return shutil.disk_usage(self._path.parent).free < _OPENING_BYTES and self.release()
        return False

    def release(self) -> bool:
        """Frees its room. False: there was none."""
        with suppress(OSError):
            self._path.unlink()
            return True
        return False

    def _allocate(self, size: int) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            # Written, because not every system can allocate room without that.
            for _ in range(size // len(_CHUNK)):
                os.write(descriptor, _CHUNK)
        finally:
            os.close(descriptor)


_CHUNK = bytes(1024 * 1024)
