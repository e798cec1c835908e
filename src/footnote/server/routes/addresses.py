"""Files at the addresses that their records have: `workspace/USER/…` and `uploads/USER/FILE/…`."""

from typing import Annotated

from msgspec import Meta, Struct

from footnote.protocol.errors import Unknown, UsageError
from footnote.server.downloads import FileStream, is_not_modified
from footnote.server.responses import Reply
from footnote.server.route import Route, RouteCall
from footnote.server.routes.views import ANYTHING, REVALIDATE, download_response, etag_of
from footnote.workspace.files import OpenedFile
from footnote.workspace.paths import UPLOADS, key_of


class FileAddressQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """`session`: that of the file, as its url names it."""

    session: Annotated[str, Meta(max_length=200)] | None = None


async def _workspace_file(call: RouteCall) -> Reply | FileStream:
    wanted: FileAddressQuery = call.query
    return await _file_response(call, _key(f"/{call.path['path']}"), wanted.session)


async def _upload(call: RouteCall) -> Reply | FileStream:
    path = call.path
    return await _file_response(call, _key(f"{UPLOADS}{path['user_id']}/{path['file_id']}/{path['name']}"), None)


async def _file_response(call: RouteCall, key: str, session_id: str | None) -> Reply | FileStream:
    """Whatever is in it, a browser saves it: here it comes from the origin of the page."""
    opened = await _open_file(call, key, session_id)
    if is_not_modified(call.headers, etag_of(opened)):
        return Reply(status=304, etag=etag_of(opened), cache_control=REVALIDATE)
    return await download_response(opened)


async def _open_file(call: RouteCall, key: str, session_id: str | None) -> OpenedFile:
    """`Unknown` for whatever keeps it from being there, so that nobody learns what others have."""
    if call.path["user_id"] != call.user_id:
        raise _not_found()
    session_id = session_id or await call.app.sessions.session_with_file(call.user_id, key)
    if session_id is None:
        raise _not_found()
    head = await call.app.sessions.head(call.user_id, session_id)
    try:
        return await call.app.sessions.workspace(call.user_id, head.id).open(key)
    except UsageError:
        raise _not_found() from None


def _key(path: str) -> str:
    try:
        return key_of(path)
    except UsageError:
        raise _not_found() from None


def _not_found() -> Unknown:
    return Unknown("There is no such file.")


ROUTES = (
    Route(
        "GET",
        "/workspace/{user_id}/{path:path}",
        _workspace_file,
        "A file, at the url of its record",
        query=FileAddressQuery,
        media_type=ANYTHING,
        other_statuses=(304,),
    ),
    Route(
        "GET",
        "/uploads/{user_id}/{file_id}/{name:path}",
        _upload,
        "An upload, at the url of its record",
        media_type=ANYTHING,
        other_statuses=(304,),
    ),
)
