"""One session of somebody, and the requests about its files."""

import hashlib
import io
import json
from typing import Any
from urllib.parse import quote

from server.house import Answer, Person


def hash_of(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


class Desk:
    def __init__(self, person: Person, session_id: str) -> None:
        self.person = person
        self.session_id = session_id
        self.path = f"/v2/sessions/{session_id}/files"

    async def request(self, method: str, path: str = "", body: Any = None, **query: object) -> Answer:
        fields = "&".join(f"{name.rstrip('_')}={quote(str(value), safe='')}" for name, value in query.items())
        return await self.person.request(method, f"{self.path}{path}{'?' if fields else ''}{fields}", body)

    async def write(self, path: str, content: str, base: str | None = None) -> Answer:
        edit = {"file_path": path, "content": content, "base_hash": None if base is None else hash_of(base)}
        data = io.BytesIO(json.dumps(edit).encode())
        return await self.person.house.request("PUT", f"{self.path}/content", token=self.person.token, data=data)

    async def names(self) -> list[str]:
        return sorted(one["filename"] for one in (await self.request("GET")).json["files"])
