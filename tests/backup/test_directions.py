"""From either kind of database and storage into either, with all that a session can have."""

import pytest

from backup.conftest import NewPlace
from backup.places import BINARY, EMBEDDED, SERVICES, Place, add_sample_session, without_places
from bundles.shelf import LARGE
from footnote.library import Library
from footnote.sessions.store import Sessions
from footnote.workspace.blobs import Blobs

pytestmark = pytest.mark.embedded  # both kinds are named here, whatever the others run on

KINDS = (EMBEDDED, SERVICES)
BOTH = [
    pytest.param(source, target, marks=() if source == target == EMBEDDED else pytest.mark.slow)
    for source in KINDS
    for target in KINDS
]

NEEDED = ("passage_terms", "session_terms", "run_events", "run_message", "upload_text", "file_version", "shelf", "blob")
"""What must not be empty, or nothing is tested."""


async def user_view(place: Place, session_id: str) -> tuple[object, ...]:
    """As its user sees it: files with their versions, the conversation, what is found."""
    async with place.open_stores() as (database, storage):
        library = Library(database)
        sessions = Sessions(database, library, Blobs(database, storage))
        workspace = sessions.workspace("ann", session_id)
        records = await workspace.list()
        return (
            [await workspace.versions(record.path) for record in records],
            [await workspace.read(record.path) for record in records],
            await sessions.source("ann", session_id, 1),
            await sessions.list("ann", query="treaty"),
            await library.for_user("ann").search("treaty signed mirrors", 5),
        )


@pytest.mark.parametrize(("source", "target"), BOTH)
async def test_every_row_and_every_content_arrives(place_of: NewPlace, source: str, target: str) -> None:
    here, there = await place_of(source, "here"), await place_of(target, "there")
    study = await add_sample_session(here)
    checked = await there.restore_backup(await here.backup())
    rows = await here.rows()
    assert without_places(await there.rows()) == without_places(rows)
    assert [name for name in NEEDED if not rows[name]] == []
    assert sorted((await there.contents()).values()) == sorted([LARGE, BINARY])
    assert checked.end.rows == {name: len(found) for name, found in rows.items()}
    assert await user_view(there, study.session_id) == await user_view(here, study.session_id)
