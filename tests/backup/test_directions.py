"""From either kind of database and storage into either kind, with a session that uses every feature."""

import pytest

from backup.conftest import NewInstallation
from backup.installations import BINARY, EMBEDDED, SERVICES, Installation, add_sample_session, without_storage_places
from bundles.sample_session import LARGE
from footnote.library import Library
from footnote.sessions.store import Sessions
from footnote.workspace.blobs import Blobs

pytestmark = pytest.mark.embedded  # these tests name both kinds of engine themselves

KINDS = (EMBEDDED, SERVICES)
BOTH = [
    pytest.param(source, target, marks=() if source == target == EMBEDDED else pytest.mark.slow)
    for source in KINDS
    for target in KINDS
]

NEEDED = (
    *("passage_terms", "session_terms", "run_events", "run_message", "run_progress", "upload_text", "file_version"),
    *("shelf", "blob"),
)
"""Tables that must have rows, so that the comparison means something."""


async def user_view(installation: Installation, session_id: str) -> tuple[object, ...]:
    """What the user sees: files with their versions, the conversation, and search results."""
    async with installation.open_stores() as (database, storage):
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


@pytest.mark.parametrize(("source_kind", "target_kind"), BOTH)
async def test_every_row_and_every_content_arrives(
    new_installation: NewInstallation, source_kind: str, target_kind: str
) -> None:
    source, target = await new_installation(source_kind, "source"), await new_installation(target_kind, "target")
    sample = await add_sample_session(source)
    checked = await target.restore_backup(await source.backup())
    rows = await source.rows()
    assert without_storage_places(await target.rows()) == without_storage_places(rows)
    assert [name for name in NEEDED if not rows[name]] == []
    assert sorted((await target.contents()).values()) == sorted([LARGE, BINARY])
    assert checked.end.rows == {name: len(found) for name, found in rows.items()}
    assert await user_view(target, sample.session_id) == await user_view(source, sample.session_id)
