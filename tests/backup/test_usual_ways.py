"""The ways of the engines themselves, as docs/backup.md shows them."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from services import Services

from backup.conftest import NewPlace
from backup.places import SERVICES, Place, add_sample_session, run_program

pytestmark = pytest.mark.embedded  # both kinds are named here, whatever the others run on


async def test_a_copy_by_sqlite_and_a_copy_of_the_folder_are_a_home(here: Place, there: Place) -> None:
    await add_sample_session(here)
    with closing(sqlite3.connect(here.home / "footnote.db")) as connection:
        connection.execute("VACUUM INTO ?", (str(there.home / "footnote.db"),))
    shutil.copytree(here.home / "files", there.home / "files")
    assert await there.rows() == await here.rows()
    assert await there.contents() == await here.contents()


@pytest.mark.slow
async def test_pg_dump_and_a_copy_of_the_bucket_are_a_footnote(
    place_of: NewPlace, services: Services, tmp_path: Path
) -> None:
    programs = services.postgres.programs
    if not (programs / "pg_dump").exists():
        pytest.skip("there is no pg_dump beside this PostgreSQL")
    here, there = await place_of(SERVICES, "here"), await place_of(SERVICES, "there")
    await add_sample_session(here)
    dump = str(tmp_path / "footnote.dump")
    database, other = (place.environ["FOOTNOTE_DATABASE_URL"] for place in (here, there))
    code, _, said = await run_program(str(programs / "pg_dump"), "-Fc", f"--file={dump}", database, env={})
    assert code == 0, said
    code, _, said = await run_program(str(programs / "pg_restore"), "--no-owner", f"--dbname={other}", dump, env={})
    assert code == 0, said
    await _copy_bucket(here, there)
    assert await there.rows() == await here.rows()
    assert await there.contents() == await here.contents()


async def _copy_bucket(here: Place, there: Place) -> None:
    """As `aws s3 sync` does."""
    contents = await here.contents()
    async with there.open_stores() as (_, storage):
        for hash_, _, place, _ in (await here.rows())["blob"]:
            if place is not None:
                await storage.put(place, contents[hash_], hash_)
