"""What clients see of a file, made from its key."""

from footnote.protocol.files import FileOrigin, FileRecord
from footnote.workspace.icons import icon_of
from footnote.workspace.paths import UPLOADS, filename_of


def record_of(
    user_id: str,
    key: str,
    *,
    file_id: str,
    source: FileOrigin,
    created_at: str,
    message_id: str | None,
    address: str,
) -> FileRecord:
    """`address`: what stands before the key of an upload, that of the storage."""
    filename = filename_of(key)
    is_upload = key.startswith(UPLOADS)
    return FileRecord(
        id=file_id,
        path=address + key if is_upload else key,
        filename=filename,
        icon_type=icon_of(filename),
        source=source,
        created_at=created_at,
        url=key if is_upload else f"workspace/{user_id}{key}",
        message_id=message_id,
    )
