"""The only place where a path that a user or a model wrote becomes a key of the workspace.

A key is a label, never a path of the host: `/folder/name`, NFC, with no part that any file system could read as
a step upwards. The key of an upload is `uploads/USER/FILE/name`: without a slash before it, so that no written
file can have it. A file of an unpacked archive keeps its folders there: `uploads/USER/FILE/folder/name`.
A path that cannot be stored unchanged is refused with a message that says what to write instead; nothing is silently
renamed, because the writer would look for the name that it gave.
"""

import re
import unicodedata

from footnote.protocol.errors import UsageError

LARGE_RESULTS = "/large_tool_results/"
"""The folder of tool results that are too large for a model. They can be read like any file; only the program writes
them."""

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 1024
MAX_DEPTH = 32

UPLOADS = "uploads/"
_UPLOAD = re.compile(
    r"(?:(?:local|s3)://(?:[^/]+/)*?|/?)uploads/(?P<user>[^/]+)/"
    r"(?P<file>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/(?P<name>[^/]+(?:/[^/]+)*)"
)
"""The address of an upload, or its key."""
_DRIVE = re.compile(r"[A-Za-z]:")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Unicode categories count these as letters, marks and symbols, but they are invisible."""
_JOINERS = frozenset("\u200c\u200d")
_EMOJI_STYLES = frozenset("\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
"""Characters that may follow the first one of an emoji: the variation selector and the skin tones."""
_VIRAMA = 9
"""The combining class of the virama, which joins letters in Indic scripts."""


class PathRefused(UsageError):
    """The path cannot be a key of the workspace; the message says why and what to write instead."""

    type = "invalid_path"


def key_of(path: str) -> str:
    """The key of `path`: a leading slash, single slashes, no `.` parts, NFC; or that of an upload, by its address."""
    if upload := _UPLOAD.fullmatch(path):
        return upload_key(upload["user"], upload["file"], upload["name"])
    _reject_foreign_paths(path)
    text = unicodedata.normalize("NFC", path)
    parts = [part for part in text.split("/") if part not in {"", "."}]
    if not parts or text.endswith("/"):
        raise PathRefused(
            f"{_quote_path(path)} names no file. Write a path such as /report.md.", code="path_without_name"
        )
    if len(parts) > MAX_DEPTH:
        raise PathRefused(
            f"The path has {len(parts)} parts; at most {MAX_DEPTH} are allowed. Use fewer folders.",
            code="path_too_deep",
            parts=len(parts),
            max=MAX_DEPTH,
        )
    for part in parts:
        _check_part(part, path)
    key = "/" + "/".join(parts)
    if (size := len(key.encode())) > MAX_PATH_BYTES:
        raise PathRefused(
            f"The path has {size} bytes; at most {MAX_PATH_BYTES} are allowed. Choose a shorter one.",
            code="path_too_long",
            size=size,
            max=MAX_PATH_BYTES,
        )
    return key


def writable_key_of(path: str) -> str:
    """The key of a file that a user or a model wants to write."""
    key = key_of(path)
    if key.startswith(LARGE_RESULTS):
        raise PathRefused(
            f"{LARGE_RESULTS} is kept for tool results. Write the file somewhere else.",
            code="path_reserved",
            path=LARGE_RESULTS,
        )
    if key.startswith(UPLOADS):
        name = filename_of(key)
        raise PathRefused(
            f"{name} was uploaded, and is kept as it came. Write what you make of it elsewhere: /{name}.",
            code="path_of_upload",
            name=name,
        )
    return key


def upload_key(user_id: str, file_id: str, name: str) -> str:
    return f"{UPLOADS}{user_id}/{file_id}{key_of(f'/{name}')}"


def upload_name(key: str) -> str:
    """The name of an upload with its folders: what follows `uploads/USER/FILE/`."""
    return key.split("/", 3)[-1]


def filename_of(key: str) -> str:
    return key.rpartition("/")[2]


def _reject_foreign_paths(path: str) -> None:
    if _ADDRESS.match(path):
        raise PathRefused(
            f"{_quote_path(path)} is an address, not a workspace path. Write a path such as /report.md.",
            code="path_is_url",
        )
    if _DRIVE.match(path.lstrip("/")):
        raise PathRefused(
            f"{_quote_path(path)} has a drive letter. Workspace paths start with a slash: /report.md.",
            code="path_drive_letter",
        )
    if path.lstrip("/").startswith("~"):
        raise PathRefused(
            f"{_quote_path(path)} starts with ~, but a workspace has no home folder. Write /report.md.",
            code="path_home_folder",
        )
    if "\\" in path:
        raise PathRefused(
            f"{_quote_path(path)} has a backslash. Separate folders with a forward slash.", code="path_backslash"
        )


def _check_part(part: str, path: str) -> None:
    if not part.strip(". "):
        raise PathRefused(
            f"{_quote_path(path)} has the part {part!r}. Write the whole path from the root: /folder/name.md.",
            code="path_relative",
            part=part,
        )
    for at, character in enumerate(part):
        is_unseen = unicodedata.category(character) in _UNSEEN or character in _BLANK
        if is_unseen and not _joins(part, at):
            raise PathRefused(
                f"{_quote_path(path)} has the invisible character U+{ord(character):04X}. Leave it out.",
                code="path_invisible_character",
                character=f"U+{ord(character):04X}",
            )
    if part != part.strip():
        raise PathRefused(
            f"{_quote_path(path)} has a name that starts or ends with a space. Leave the space out.",
            code="path_name_space",
        )
    if (size := len(part.encode())) > MAX_NAME_BYTES:
        raise PathRefused(
            f"A name of {size} bytes is too long; at most {MAX_NAME_BYTES}. Choose a shorter one.",
            code="path_name_too_long",
            size=size,
            max=MAX_NAME_BYTES,
        )


def _joins(part: str, at: int) -> bool:
    """True of a joiner where a script needs it: in Persian and related scripts, in Indic scripts, in emoji."""
    before, after = part[:at][-1:], part[at + 1 :][:1]
    if part[at] not in _JOINERS or not before:
        return False
    if unicodedata.combining(before) == _VIRAMA:
        return True
    if not after:
        return False
    arabic = unicodedata.bidirectional(before) in {"AL", "NSM"} and unicodedata.bidirectional(after) == "AL"
    emoji = (unicodedata.category(before) == "So" or before in _EMOJI_STYLES) and unicodedata.category(after) == "So"
    return arabic or emoji or unicodedata.combining(after) == _VIRAMA


def _quote_path(path: str) -> str:
    """The path for a message: shortened, and escaped so that no control character reaches a terminal."""
    return repr(path if len(path) <= 80 else path[:80] + "…")
