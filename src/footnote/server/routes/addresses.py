"""Files at the addresses that their records have: `workspace/USER/…` and `uploads/USER/FILE/…`."""

from typing import Annotated

from msgspec import Meta, Struct

from footnote.protocol.errors import Unknown, UsageError
from footnote.server.downloads import FileStream, is_known
from footnote.server.replies import Reply
from footnote.server.routes.views import ANYTHING, KEPT, etag_of, saved
from footnote.server.table import Call, Route
from footnote.workspace.files import Opened
from footnote.workspace.paths import UPLOADS, key_of


class SessionQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """`session`: that of the file, as its url names it."""

    session: Annotated[str, Meta(max_length=200)] | None = None


async def _generated(call: Call) -> Reply | FileStream:
    wanted: SessionQuery = call.query
    return await _file(call, _key(f"/{call.path['path']}"), wanted.session)


async def _upload(call: Call) -> Reply | FileStream:
    path = call.path
    return await _file(call, _key(f"{UPLOADS}{path['user_id']}/{path['file_id']}/{path['name']}"), None)


async def _file(call: Call, key: str, session_id: str | None) -> Reply | FileStream:
    """Whatever is in it, a browser saves it: here it comes from the origin of the page."""
    opened = await _opened(call, key, session_id)
    if is_known(call.headers, etag_of(opened)):
        return Reply(status=304, etag=etag_of(opened), cache_control=KEPT)
    return await saved(opened)


async def _opened(call: Call, key: str, session_id: str | None) -> Opened:
    """`Unknown` for whatever keeps it from being there, so that nobody learns what others have."""
    if call.path["user_id"] != call.user_id:
        raise _unknown()
    session_id = session_id or await call.app.sessions.session_with(call.user_id, key)
    if session_id is None:
        raise _unknown()
    head = await call.app.sessions.head(call.user_id, session_id)
    try:
        return await call.app.sessions.workspace(call.user_id, head.id).open(key)
    except UsageError:
        raise _unknown() from None


def _key(path: str) -> str:
    try:
        return key_of(path)
    except UsageError:
        raise _unknown() from None


def _unknown() -> Unknown:
    return Unknown("There is no such file.")


ROUTES = (
    Route(
        "GET",
        "/workspace/{user_id}/{path:path}",
        _generated,
        "A file, at the url of its record",
        query=SessionQuery,
        media_type=ANYTHING,
        also=(304,),
    ),
    Route(
        "GET",
        "/uploads/{user_id}/{file_id}/{name:path}",
        _upload,
        "An upload, at the url of its record",
        media_type=ANYTHING,
        also=(304,),
    ),
)
