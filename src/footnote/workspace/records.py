"""What clients see of a file, made from its key.

Its `url` is relative to the server, which answers there: `workspace/USER/report.md`, or the key of an upload. Two
sessions of a user may have a file of the same path: the first has the plain url, the url of the others names their
session in its query (`workspace/USER/report.md?session=ID`).
"""

import re

from footnote.protocol.files import FileOrigin, FileRecord
from footnote.workspace.icons import icon_of
from footnote.workspace.paths import UPLOADS, filename_of

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
