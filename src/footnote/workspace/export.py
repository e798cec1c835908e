"""The files of a workspace as real files below one folder of the host.

A model chose the names, so none of them becomes a path as it stands: each part is rebuilt from characters that
are harmless everywhere. A file is only ever created, never opened, so nothing that was there before is replaced
or followed.
"""

import asyncio
import stat
import unicodedata
from collections.abc import Callable
from functools import partial
from itertools import chain, count
from pathlib import Path

from footnote.protocol.errors import UsageError
from footnote.protocol.files import FileRecord
from footnote.workspace.files import Workspace
from footnote.workspace.paths import LARGE_RESULTS

_MAX_NAME_BYTES = 120
_MAX_FOLDERS = 4
_HARMLESS = frozenset(" ._-()+,")
_LETTERS = frozenset("LMN")
"""The first letter of the Unicode categories of letters, the marks upon them, and digits."""
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{device}{number}" for device in ("com", "lpt") for number in range(10)}
)


async def save_to(
    directory: Path, workspace: Workspace, *, message_id: str | None = None
) -> list[tuple[FileRecord, Path]]:
    """Write the generated files below `directory`; what a name was changed to stands beside its record.

    `message_id`: only those that this message made or changed. Where there are none, no folder is made.
    """
    records = await (workspace.list() if message_id is None else workspace.changed_files(message_id))
    wanted = [record for record in records if is_user_facing(record)]
    files = [(record, await workspace.read(record.path)) for record in wanted]
    return await asyncio.to_thread(_save_all, directory, files) if files else []


def is_user_facing(record: FileRecord) -> bool:
    """True of what the agent made on purpose, not of uploads and large tool results."""
    return record.source == "generated" and not record.path.startswith(LARGE_RESULTS)


def safe_name(part: str) -> str:
    """A name for the host, made from one part of a workspace path."""
    text = "".join(character if _is_harmless(character) else "_" for character in unicodedata.normalize("NFC", part))
    # Leading: hidden files and command-line options. Trailing: Windows drops dots and spaces there.
    text = text.lstrip(" .-").rstrip(" .")
    stem, dot, suffix = text.rpartition(".") if "." in text else (text, "", "")
    stem = _shorten(stem, _MAX_NAME_BYTES - len((dot + suffix).encode())) if len(suffix) <= 16 else ""
    text = stem + dot + suffix if stem else _shorten(text, _MAX_NAME_BYTES)
    # A device name stays one whatever follows its first dot, and in its compatibility forms too (COM¹).
    first = unicodedata.normalize("NFKC", text.partition(".")[0]).strip().casefold()
    return f"_{text}" if first in _DEVICES or not text else text


def _is_harmless(character: str) -> bool:
    return character in _HARMLESS or unicodedata.category(character)[0] in _LETTERS


def _shorten(text: str, size: int) -> str:
    return text.encode()[:size].decode(errors="ignore").rstrip(" .")


def _save_all(directory: Path, files: list[tuple[FileRecord, bytes]]) -> list[tuple[FileRecord, Path]]:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return [(record, _save(directory, record.path, content)) for record, content in files]
    except OSError as error:
        raise UsageError(f"The files could not be saved in {directory}: {error.strerror}.") from error


def _save(directory: Path, key: str, content: bytes) -> Path:
    *folders, filename = key.strip("/").split("/")
    folder = directory
    for name in folders[:_MAX_FOLDERS]:
        folder = _first(folder, safe_name(name), _ensure_folder)
    return _first(folder, safe_name(filename), partial(_create_file, content=content))


def _first(folder: Path, name: str, is_free: Callable[[Path], bool]) -> Path:
    """The first of `report.md`, `report-2.md`, `report-3.md`, … that fits."""
    stem, dot, suffix = name.rpartition(".") if "." in name else (name, "", "")
    numbered = (f"{stem}-{number}{dot}{suffix}" for number in count(2))
    return next(path for path in (folder / candidate for candidate in chain([name], numbered)) if is_free(path))


def _ensure_folder(path: Path) -> bool:
    """True if the folder was made just now, or is there and is no link to somewhere else."""
    try:
        path.mkdir()
    except FileExistsError:
        return stat.S_ISDIR(path.lstat().st_mode)
    return True


def _create_file(path: Path, content: bytes) -> bool:
    """True if the file was made just now; an exclusive creation replaces nothing and follows no link."""
    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        return False
    return True
