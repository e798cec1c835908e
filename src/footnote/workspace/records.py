"""What clients see of a file, made from its key.

Its `url` is relative to the server, which answers there: `workspace/USER/report.md`, or the key of an upload. Two
sessions of a user may have a file of the same path: the first has the plain url, the url of the others names their
session in its query (`workspace/USER/report.md?session=ID`).
"""

import re

from footnote.protocol.files import FileOrigin, FileRecord, IconType
from footnote.workspace.paths import UPLOADS, filename_of

_SUFFIXES: dict[IconType, str] = {
    "md": "md markdown mdx",
    "pdf": "pdf",
    "code": (
        "py pyi ipynb js mjs cjs jsx ts tsx html htm css scss less java kt kts scala groovy c h cc cpp cxx hpp cs go"
        " rs swift rb php pl lua r jl m sql sh bash zsh fish ps1 bat cmd vue svelte dart ex exs erl hs clj ml fs nim"
        " zig asm yaml yml toml ini cfg conf env xml xsl xsd proto graphql tf diff patch tex bib"
    ),
    "image": "png jpg jpeg gif webp bmp tif tiff ico svg heic heif avif",
    "csv": "csv tsv",
    "xlsx": "xlsx xlsm xls ods numbers",
    "docx": "docx docm doc odt rtf pages",
    "pptx": "pptx pptm ppt odp key",
    "json": "json jsonl ndjson json5 geojson",
    "txt": "txt text log rst adoc org srt vtt",
    "archive": "zip tar gz tgz bz2 xz zst 7z rar jar war",
    "audio": "mp3 wav ogg oga opus flac m4a aac wma aiff mid midi",
    "video": "mp4 m4v mov mkv webm avi wmv mpg mpeg ogv",
}
_BY_SUFFIX: dict[str, IconType] = {suffix: icon for icon, words in _SUFFIXES.items() for suffix in words.split()}
_BY_NAME: dict[str, IconType] = {
    "makefile": "code",
    "dockerfile": "code",
    "license": "txt",
    "readme": "txt",
    "changelog": "txt",
}


def icon_of(filename: str) -> IconType:
    """The icon by the last suffix, or by the whole name where there is none."""
    _, dot, suffix = filename.lower().rpartition(".")
    return (_BY_SUFFIX if dot else _BY_NAME).get(suffix, "file")


GENERATED = "workspace/"
_NOT_IN_A_PATH = re.compile(r"[%?#]")


def url_of(user_id: str, session_id: str | None, key: str) -> str:
    """Letters of any script stay as they are, as in the key; only what would end the path is escaped."""
    path = _NOT_IN_A_PATH.sub(lambda found: f"%{ord(found[0]):02X}", key)
    if key.startswith(UPLOADS):
        return path
    return f"{GENERATED}{user_id}{path}" + ("" if session_id is None else f"?session={session_id}")


def record_of(
    user_id: str,
    session_id: str | None,
    key: str,
    *,
    file_id: str,
    source: FileOrigin,
    created_at: str,
    message_id: str | None,
    address: str,
) -> FileRecord:
    """`address`: what stands before the key of an upload, that of the storage. `session_id` None: the url
    of the file is plain."""
    filename = filename_of(key)
    is_upload = key.startswith(UPLOADS)
    return FileRecord(
        id=file_id,
        path=address + key if is_upload else key,
        filename=filename,
        icon_type=icon_of(filename),
        source=source,
        created_at=created_at,
        url=url_of(user_id, session_id, key),
        message_id=message_id,
    )
