"""All files of a workspace as one zip file."""

import zipfile
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from urllib.parse import unquote

from footnote.protocol.files import FileVersion
from footnote.workspace.files import FileMissing, Workspace
from footnote.workspace.zipping import OLDEST, HarmlessNames, Moment, OutgoingZip


async def zipped(workspace: Workspace) -> AsyncGenerator[bytes, None]:
    """What the agent made and what was uploaded, under `uploads/`; not large tool results, which nobody asked for."""
    archive, names = OutgoingZip(), HarmlessNames()
    for record in await workspace.shown():
        try:
            opened = await workspace.open(record.path)
        except FileMissing:  # deleted meanwhile
            continue
        large = opened.version.size > zipfile.ZIP64_LIMIT
        name = names.of(unquote(record.url) if record.source == "upload" else record.path)
        adding = archive.add(name, opened.read(0, None), moment=_moment(opened.version), large=large)
        async with aclosing(adding) as pieces:
            async for piece in pieces:
                yield piece
    yield await archive.end()


def _moment(version: FileVersion) -> Moment:
    return max(OLDEST, datetime.fromisoformat(version.created_at).timetuple()[:6])
