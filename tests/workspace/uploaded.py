"""Files of users in a workspace, without the machinery that takes them."""

from uuid import uuid4

from footnote.protocol.files import FileRecord
from footnote.workspace.files import FileWrite, Workspace
from footnote.workspace.paths import upload_key


async def add_upload(workspace: Workspace, name: str, content: bytes) -> FileRecord:
    key = upload_key("local", str(uuid4()), name)
    writing = FileWrite(content=content, author="user", source="upload", created_at="2024-03-17T10:00:00Z")
    return (await workspace._files.add(key, writing, None)).record
