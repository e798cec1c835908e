"""The only place where a path that a user or a model wrote becomes a key of the workspace.

A key is a label, never a path of the host: `/folder/name`, NFC, with no part that any file system could read as
a step upwards. The key of an upload is `uploads/USER/FILE/name`: without a slash before it, so that no file that
somebody writes can have it. A file of an unpacked archive keeps its folders there: `uploads/USER/FILE/folder/name`.
What cannot be kept as it stands is refused with a sentence that says what to write instead; nothing is silently
renamed, because the writer would look for the name that it gave.
"""

import re
import unicodedata

from footnote.protocol.errors import UsageError

LARGE_RESULTS = "/large_tool_results/"
"""Where tool results go that are too large for a model. Readable like any file; only the program writes there."""

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
"""Unicode counts them as letters, marks and signs, but nothing is seen of them."""
_JOINERS = frozenset("\u200c\u200d")
_EMOJI_STYLES = frozenset("\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
"""What may follow the first sign of an emoji: that it is one, or the tone of a skin."""
_VIRAMA = 9
"""The combining class of the sign that joins letters in the scripts of India."""


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
        raise PathRefused(f"{_quote_path(path)} names no file. Write a path such as /report.md.")
    if len(parts) > MAX_DEPTH:
        raise PathRefused(f"The path has {len(parts)} parts; at most {MAX_DEPTH} are allowed. Use fewer folders.")
    for part in parts:
        _check_part(part, path)
    key = "/" + "/".join(parts)
    if (size := len(key.encode())) > MAX_PATH_BYTES:
        raise PathRefused(f"The path has {size} bytes; at most {MAX_PATH_BYTES} are allowed. Choose a shorter one.")
    return key


def writable_key_of(path: str) -> str:
    """The key of a file that a user or a model wants to write."""
    key = key_of(path)
    if key.startswith(LARGE_RESULTS):
        raise PathRefused(f"{LARGE_RESULTS} is kept for tool results. Write the file somewhere else.")
    if key.startswith(UPLOADS):
        name = filename_of(key)
        raise PathRefused(f"{name} was uploaded, and is kept as it came. Write what you make of it elsewhere: /{name}.")
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
        raise PathRefused(f"{_quote_path(path)} is an address, not a workspace path. Write a path such as /report.md.")
    if _DRIVE.match(path.lstrip("/")):
        raise PathRefused(f"{_quote_path(path)} has a drive letter. Workspace paths start with a slash: /report.md.")
    if path.lstrip("/").startswith("~"):
        raise PathRefused(f"{_quote_path(path)} starts with ~, but a workspace has no home folder. Write /report.md.")
    if "\\" in path:
        raise PathRefused(f"{_quote_path(path)} has a backslash. Separate folders with a forward slash.")


def _check_part(part: str, path: str) -> None:
    if not part.strip(". "):
        raise PathRefused(
            f"{_quote_path(path)} has the part {part!r}. Write the whole path from the root: /folder/name.md."
        )
    for at, character in enumerate(part):
        is_unseen = unicodedata.category(character) in _UNSEEN or character in _BLANK
        if is_unseen and not _joins(part, at):
            raise PathRefused(f"{_quote_path(path)} has the invisible character U+{ord(character):04X}. Leave it out.")
    if part != part.strip():
        raise PathRefused(f"{_quote_path(path)} has a name that starts or ends with a space. Leave the space out.")
    if (size := len(part.encode())) > MAX_NAME_BYTES:
        raise PathRefused(f"A name of {size} bytes is too long; at most {MAX_NAME_BYTES}. Choose a shorter one.")


def _joins(part: str, at: int) -> bool:
    """True of a joiner where writing needs it: in Persian and its kin, in the scripts of India, in emoji."""
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
    """The path as it can stand in a message: short, and escaped so that nothing in it acts on a terminal."""
    return repr(path if len(path) <= 80 else path[:80] + "…")
