"""Files of a workspace, as clients see them."""

from typing import Literal, TypeAlias

from msgspec import Struct

IconType: TypeAlias = Literal[
    "md",
    "pdf",
    "code",
    "image",
    "csv",
    "xlsx",
    "docx",
    "pptx",
    "json",
    "txt",
    "archive",
    "audio",
    "video",
    "file",
]
FileOrigin: TypeAlias = Literal["generated", "upload"]


class FileRecord(Struct, frozen=True):
    id: str
    path: str
    filename: str
    icon_type: IconType
    source: FileOrigin
    created_at: str
    url: str
    message_id: str | None = None
