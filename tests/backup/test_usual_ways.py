"""Copies made with the tools of the engines, as docs/backup.md shows them."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from services import Services

from backup.conftest import NewInstallation
from backup.installations import SERVICES, Installation, add_sample_session, run_program

pytestmark = pytest.mark.embedded  # these tests name both kinds of engine themselves


async def test_a_copy_by_sqlite_and_a_copy_of_the_folder_are_a_home(source: Installation, target: Installation) -> None:
    await add_sample_session(source)
    with closing(sqlite3.connect(source.home / "footnote.db")) as connection:
        connection.execute("VACUUM INTO ?", (str(target.home / "footnote.db"),))
    shutil.copytree(source.home / "files", target.home / "files")
    assert await target.rows() == await source.rows()
    assert await target.contents() == await source.contents()


@pytest.mark.slow
async def test_pg_dump_and_a_copy_of_the_bucket_are_a_footnote(
    new_installation: NewInstallation, services: Services, tmp_path: Path
) -> None:
    programs = services.postgres.programs
    if not (programs / "pg_dump").exists():
        pytest.skip("there is no pg_dump beside this PostgreSQL")
    source, target = await new_installation(SERVICES, "source"), await new_installation(SERVICES, "target")
    await add_sample_session(source)
    dump = str(tmp_path / "footnote.dump")
    database, other = (installation.environ["FOOTNOTE_DATABASE_URL"] for installation in (source, target))
    code, _, err = await run_program(str(programs / "pg_dump"), "-Fc", f"--file={dump}", database, env={})
    assert code == 0, err
    code, _, err = await run_program(str(programs / "pg_restore"), "--no-owner", f"--dbname={other}", dump, env={})
    assert code == 0, err
    await _copy_bucket(source, target)
    assert await target.rows() == await source.rows()
    assert await target.contents() == await source.contents()


async def _copy_bucket(source: Installation, target: Installation) -> None:
    """Copies the bucket as `aws s3 sync` does."""
    contents = await source.contents()
    async with target.open_stores() as (_, storage):
        for hash_, _, installation, _ in (await source.rows())["blob"]:
            if installation is not None:
                await storage.put(installation, contents[hash_], hash_)
