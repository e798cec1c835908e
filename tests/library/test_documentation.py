"""Footnote's own documentation is in every library: the same pages, once, in their current version."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import engines
from footnote.db.engine import Database
from footnote.db.library import store_page
from footnote.library import Library
from footnote.library.documentation import load_documentation
from footnote.library.snapshots import pack
from library.samples import page

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)


def test_every_page_of_the_repository_is_there() -> None:
    files = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md"]
    assert {one.url for one in load_documentation().pages} == {f"footnote://{file.relative_to(ROOT)}" for file in files}


def test_a_page_has_its_heading_for_a_title() -> None:
    named = {one.url: (one.title, one.site_name, one.media_type) for one in load_documentation().pages}
    assert named["footnote://docs/cli.md"] == ("Command line", "Footnote", "text/markdown")
    assert named["footnote://README.md"] == ("Footnote", "Footnote", "text/markdown")


def test_links_stand_beside_the_text_and_lead_to_pages_that_are_there() -> None:
    pages = {one.url: one for one in load_documentation().pages}
    contents = pages["footnote://docs/README.md"]
    leading = {contents.text[link.start : link.end]: link.url for link in contents.links}
    assert leading["Command line"] == "footnote://docs/cli.md"
    assert leading["README"] == "footnote://README.md"
    assert "footnote://docs/cli.md#footnote-ask" in {link.url for link in pages["footnote://docs/cli.md"].links}
    for one in pages.values():
        assert "](" not in CODE.sub("", one.text), one.url
        inside = [link.url.partition("#")[0] for link in one.links if link.url.startswith("footnote://docs/")]
        assert [url for url in inside if url.endswith(".md") and url not in pages] == [], one.url


async def test_what_stands_in_a_fence_is_read_but_not_found(tmp_path: Path) -> None:
    async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
        library = Library(database)
        readme = await library.latest("footnote://README.md")
        assert readme is not None
        assert "Who discovered oxygen?" in readme.text
        assert await library.search("Who discovered oxygen?", 5) == ()
        hits = await library.search("How do I add a Brave search key?", 5)
        assert "footnote://docs/configuration.md" in [hit.url for hit in hits]
        assert not any("```" in hit.description or "brave.py" in hit.description for hit in hits)


def indexed_ids(home: Path) -> set[str]:
    return {snapshot_id for (snapshot_id,) in engines.rows(home, "SELECT snapshot_id FROM passage")}


def stored_times(home: Path) -> list[float]:
    return [time for (time,) in engines.rows(home, "SELECT DISTINCT kept_at FROM reading")]


@pytest.mark.embedded
async def test_a_look_into_an_empty_library_makes_no_file(tmp_path: Path) -> None:
    async with Database.open("sqlite:footnote.db", tmp_path) as database:
        assert await Library(database).latest("https://web.example") is None
        assert list(tmp_path.iterdir()) == []


async def test_it_is_indexed_when_first_needed_and_not_at_the_next_start(tmp_path: Path) -> None:
    async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
        library = Library(database, clock=lambda: 1.0)
        assert await library.latest("https://web.example") is None
        assert await library.latest("footnote://docs/cli.md") is not None
    async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
        library = Library(database, clock=lambda: 2.0)
        assert [hit.url for hit in await library.search("Brave API key", 1)] == ["footnote://docs/configuration.md"]
    assert stored_times(tmp_path) == [1.0]


async def test_another_edition_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    gone = page("footnote://docs/gone.md", "About obsidian.", "Gone")
    changed = page("footnote://docs/cli.md", "About obsidian commands.", "Command line")
    async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
        for old in (gone, changed):
            await database.write(store_page(pack(old), "documentation", 1.0))
        library = Library(database)
        listed = {one.url for one in await library.list()}
        assert listed == {one.url for one in load_documentation().pages}
        assert await library.search("obsidian", 5) == ()
        assert gone.id not in indexed_ids(tmp_path)
        assert await library.snapshots([gone.id, changed.id]) == {gone.id: gone, changed.id: changed}


@pytest.mark.embedded
async def test_without_room_for_it_all_else_can_still_be_searched(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with Database.open("sqlite:footnote.db", tmp_path) as database:
        await Library(database).store(page("https://a.example", "About obsidian.", "Stones"))
        connection = sqlite3.connect(tmp_path / "footnote.db")
        connection.execute(
            "CREATE TRIGGER no_room BEFORE INSERT ON library_fact BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
        connection.close()
        hits = await Library(database).search("obsidian", 5)
    assert [hit.url for hit in hits] == ["https://a.example"]
    (record,) = (record for record in caplog.records if record.name.startswith("footnote.library"))
    assert record.message == (
        f"Footnote's own documentation cannot be searched: {tmp_path}/footnote.db could not be used: full. "
        "`footnote doctor` looks at disk and folder."
    )


@pytest.mark.slow
def test_a_wheel_has_the_same_pages(tmp_path: Path) -> None:
    copy, wheels, installed = tmp_path / "copy", tmp_path / "wheels", tmp_path / "installed"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "docs", copy / "docs")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    build = ["hatchling", "build", "--target", "wheel", "--directory", wheels]
    subprocess.run([sys.executable, "-m", *build], cwd=copy, check=True, capture_output=True)
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    assert not [*installed.rglob("*.webp")]
    program = "import footnote.library.documentation as it; print(it.__file__, it.load_documentation().edition)"
    environ = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run([sys.executable, "-c", program], env=environ, check=True, capture_output=True, text=True)
    assert done.stdout.split() == [
        str(installed / "footnote" / "library" / "documentation.py"),
        load_documentation().edition,
    ]
