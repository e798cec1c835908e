"""A session of one user, and requests to its files."""

import hashlib
import io
import json
from typing import Any
from urllib.parse import quote

from server.harness import ApiClient, ApiResponse


def hash_of(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


class SessionFiles:
    def __init__(self, client: ApiClient, session_id: str) -> None:
        self.client = client
        self.session_id = session_id
        self.path = f"/v2/sessions/{session_id}/files"

    async def request(self, method: str, path: str = "", body: Any = None, **query: object) -> ApiResponse:
        fields = "&".join(f"{name.rstrip('_')}={quote(str(value), safe='')}" for name, value in query.items())
        return await self.client.request(method, f"{self.path}{path}{'?' if fields else ''}{fields}", body)

    async def write(self, path: str, content: str, base: str | None = None) -> ApiResponse:
        edit = {"file_path": path, "content": content, "base_hash": None if base is None else hash_of(base)}
        data = io.BytesIO(json.dumps(edit).encode())
        return await self.client.server.request("PUT", f"{self.path}/content", token=self.client.token, data=data)

    async def names(self) -> list[str]:
        return sorted(one["filename"] for one in (await self.request("GET")).json["files"])
