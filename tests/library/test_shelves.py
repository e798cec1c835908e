"""One database, several users: each finds, lists, opens and removes only their own pages."""

import asyncio
import sqlite3
from importlib.resources import files
from pathlib import Path

import pytest
from msgspec.structs import replace

import engines
from footnote.accounts.accounts import Accounts
from footnote.db import accounts as db
from footnote.db.engine import Database
from footnote.library import Library, file_url
from footnote.protocol.sources import Snapshot
from library.samples import BATTLE, RECIPE, TREATY, TickingClock, cached_page

ANN, BOB = "user_ann", "user_bob"
DIARY = Snapshot(url=file_url("diary.md"), text="Glaciers melt in my garden.", title="Diary")


@pytest.fixture
async def people(database: Database, library: Library) -> tuple[Library, Library]:
    for user_id in (ANN, BOB):
        row = db.AccountRow(user_id, user_id, "user", disabled=False, created_at="", password=None)
        await database.write(db.add_account(row, user_id))
    return library.for_user(ANN), library.for_user(BOB)


async def urls(library: Library) -> list[str]:
    return [page.url for page in await library.list() if page.kind != "documentation"]


async def found_urls(library: Library, query: str) -> list[str]:
    return [hit.url for hit in await library.search(query, 5)]


async def sees_nothing(library: Library, *snapshots: Snapshot) -> None:
    """Neither in the list nor by search nor by URL."""
    assert await urls(library) == []
    for snapshot in snapshots:
        assert snapshot.url not in await found_urls(library, snapshot.text)
        assert await library.latest(snapshot.url) is None
        assert await library.remove(snapshot.url) is False


async def test_what_one_user_read_is_not_found_by_another(library: Library, people: tuple[Library, Library]) -> None:
    ann, bob = people
    await ann.store(TREATY)
    assert await urls(ann) == await found_urls(ann, "Treaty of Versailles") == [TREATY.url]
    await sees_nothing(bob, TREATY)
    await sees_nothing(library, TREATY)
    assert await ann.latest(TREATY.url) == TREATY


async def test_the_documentation_is_in_every_library(library: Library, people: tuple[Library, Library]) -> None:
    ann, bob = people
    for one in (ann, bob, library, library.for_user(None)):
        assert any(page.url == "footnote://docs/cli.md" for page in await one.list())
        assert any(url.startswith("footnote://") for url in await found_urls(one, "footnote library add"))
        assert await one.latest("footnote://docs/cli.md")
        assert await urls(one) == []


async def test_a_page_of_the_documentation_that_a_run_reads_stays_what_it_is(people: tuple[Library, Library]) -> None:
    ann, _ = people
    page = await ann.latest("footnote://docs/cli.md")
    assert page
    await ann.store(page)
    await ann.store(replace(page, text="Another edition.", links=()))
    assert await urls(ann) == []
    assert await ann.latest(page.url) == page


async def test_a_page_that_both_read_is_on_both_shelves_and_leaves_with_the_last(
    people: tuple[Library, Library], tmp_path: Path
) -> None:
    ann, bob = people
    await ann.store(TREATY)
    await bob.store(TREATY)
    await bob.store(RECIPE)
    assert await ann.remove(TREATY.url)
    await sees_nothing(ann, TREATY)
    assert await bob.latest(TREATY.url) == TREATY
    assert await found_urls(bob, "Treaty of Versailles") == [TREATY.url]
    assert await bob.remove(TREATY.url)
    assert await bob.snapshot(TREATY.id) is None
    assert await urls(bob) == [RECIPE.url]
    assert b"versailles" not in b"".join(path.read_bytes() for path in tmp_path.iterdir()).lower()


async def test_a_snippet_belongs_to_those_who_were_shown_it(people: tuple[Library, Library]) -> None:
    ann, bob = people
    await ann.store(TREATY, "snippet")
    assert not await bob.remove(TREATY.url)
    assert await ann.snapshot(TREATY.id) == TREATY
    assert await ann.remove(TREATY.url)
    assert await ann.snapshot(TREATY.id) is None


async def test_a_page_out_of_the_shared_cache_goes_on_the_shelf_of_who_reads_it(
    library: Library, people: tuple[Library, Library], clock: TickingClock
) -> None:
    ann, bob = people
    await ann.store_page(cached_page(TREATY, url="https://short.example", fresh_until=clock.time + 1000))
    await sees_nothing(bob, TREATY)
    assert (await bob.cached_page("https://short.example") or cached_page(RECIPE)).snapshot == TREATY
    assert await urls(bob) == [TREATY.url]
    assert await bob.latest("https://short.example") == TREATY
    await sees_nothing(library, TREATY)


async def test_a_stale_page_goes_on_the_shelf_when_it_is_known_not_to_have_changed(
    people: tuple[Library, Library], clock: TickingClock
) -> None:
    ann, bob = people
    await ann.store_page(cached_page(TREATY, fresh_until=clock.time - 1000))
    assert await bob.cached_page(TREATY.url)
    await sees_nothing(bob, TREATY)
    await bob.store_page(cached_page(TREATY, fresh_until=clock.time + 1000))
    assert await urls(bob) == [TREATY.url]


async def test_what_nobody_keeps_is_cached_and_on_no_shelf(library: Library, people: tuple[Library, Library]) -> None:
    ann, bob = people
    nobody = library.for_user(None)
    await nobody.store_page(cached_page(TREATY))
    assert await nobody.cached_page(TREATY.url) == cached_page(TREATY)
    for one in (library, ann, bob, nobody):
        assert await urls(one) == []
        assert TREATY.url not in await found_urls(one, "Treaty of Versailles")
    await ann.store(TREATY)
    assert await found_urls(ann, "Treaty of Versailles") == [TREATY.url]
    with pytest.raises(ValueError, match="no user"):
        await nobody.add(DIARY, "diary.md")
    with pytest.raises(ValueError, match="no user"):
        await nobody.remove(TREATY.url)


async def test_files_of_the_same_name_do_not_meet(library: Library, people: tuple[Library, Library]) -> None:
    ann, bob = people
    of_ann = await ann.add(DIARY, "diary.md")
    of_bob = await bob.add(replace(DIARY, text="Volcanoes erupt in my garden."), "diary.md")
    mine = await library.add(replace(DIARY, text="Tides rise in my garden."), "diary.md")
    assert (of_ann.url, of_bob.url, mine.url) == (
        "footnote://files/user_ann/diary.md",
        "footnote://files/user_bob/diary.md",
        "footnote://files/diary.md",
    )
    assert await found_urls(ann, "what happens in my garden") == [of_ann.url]
    assert await found_urls(bob, "what happens in my garden") == [of_bob.url]
    assert await found_urls(library, "what happens in my garden") == [mine.url]
    assert await ann.latest(of_bob.url) is None
    assert not await ann.remove(of_bob.url)
    assert not await library.remove(of_bob.url)
    assert await bob.latest(of_bob.url) == of_bob


async def test_a_users_own_second_file_gets_a_number_and_the_same_one_does_not(people: tuple[Library, Library]) -> None:
    ann, bob = people
    await bob.add(DIARY, "diary.md")
    added = [
        await ann.add(DIARY, "diary.md"),
        await ann.add(replace(DIARY, text="More of it."), "diary.md"),
        await ann.add(replace(DIARY, text="Another."), "elsewhere/diary.md"),
    ]
    assert [one.url.removeprefix("footnote://files/") for one in added] == [
        "user_ann/diary.md",
        "user_ann/diary.md",
        "user_ann/diary-2.md",
    ]


async def test_a_local_file_whose_name_looks_like_a_folder_of_a_user_is_not_in_it(
    library: Library, people: tuple[Library, Library]
) -> None:
    ann, _ = people
    named = replace(DIARY, url=file_url(f"{ANN}/diary.md"))
    mine = await library.add(named, "here")
    theirs = await ann.add(DIARY, "there")
    assert mine.url != theirs.url
    assert await library.latest(theirs.url) is None


async def test_the_same_text_does_not_lead_to_somebody_elses_file(people: tuple[Library, Library]) -> None:
    """The URL would reveal the name of the file and its owner."""
    ann, bob = people
    public = replace(DIARY, url="https://garden.example")
    await ann.store(public)
    secret = await bob.add(DIARY, "diary.md")
    assert await ann.snapshot(DIARY.id) == public
    assert await bob.snapshot(DIARY.id) == secret
    assert await found_urls(ann, "glaciers in my garden") == [public.url]
    assert await found_urls(bob, "glaciers in my garden") == [secret.url]
    await ann.remove(public.url)
    assert await ann.snapshot(DIARY.id) is None
    assert await bob.snapshot(DIARY.id) == secret
    assert await found_urls(bob, "glaciers in my garden") == [secret.url]


async def test_a_text_comes_with_the_address_where_its_reader_found_it(people: tuple[Library, Library]) -> None:
    ann, bob = people
    mirror = replace(TREATY, url="https://mirror.example")
    await ann.store(TREATY)
    await bob.store(mirror)
    assert await ann.snapshot(TREATY.id) == TREATY
    assert await bob.snapshot(TREATY.id) == mirror
    assert await found_urls(ann, "Treaty of Versailles") == [TREATY.url]
    assert await found_urls(bob, "Treaty of Versailles") == [mirror.url]


async def test_pages_of_others_do_not_push_ones_own_out_of_the_candidates(people: tuple[Library, Library]) -> None:
    ann, bob = people
    for number in range(150):
        await ann.store(
            Snapshot(url=f"https://{number}.example", text=f"Versailles treaty {number}.", title="Versailles")
        )
    await bob.store(TREATY)
    assert await found_urls(bob, "Treaty of Versailles") == [TREATY.url]


async def test_what_is_removed_while_another_user_reads_it_ends_whole(people: tuple[Library, Library]) -> None:
    """The user keeps the page with its text, or no page at all."""
    ann, bob = people
    for _ in range(10):
        await ann.store(TREATY)
        await asyncio.gather(ann.remove(TREATY.url), bob.store(TREATY))
        assert await bob.snapshot(TREATY.id) == await bob.latest(TREATY.url) == TREATY
        assert await urls(bob) == [TREATY.url]
        await bob.remove(TREATY.url)
        await sees_nothing(ann, TREATY)


async def test_a_user_who_leaves_takes_their_files_along(
    database: Database, people: tuple[Library, Library], tmp_path: Path
) -> None:
    ann, bob = people
    diary = await ann.add(replace(DIARY, text="Plantedword in my garden.", title="Plantedtitle"), "diary.md")
    await ann.store(TREATY)
    await ann.store(BATTLE)
    await bob.store(TREATY)
    of_bob = await bob.add(DIARY, "diary.md")
    await Accounts(database).remove(ANN)
    assert await bob.snapshot(diary.id) is None
    assert await urls(bob) == [of_bob.url, TREATY.url]
    assert b"planted" not in engines.contents(tmp_path).lower()
    await bob.store(BATTLE)
    assert await found_urls(bob, "Chiến dịch Điện Biên Phủ") == [BATTLE.url]


@pytest.mark.embedded
async def test_what_was_read_before_there_were_users_is_the_local_ones(tmp_path: Path, clock: TickingClock) -> None:
    connection = sqlite3.connect(tmp_path / "footnote.db")
    connection.executescript(
        (files("footnote.db") / "migrations" / "sqlite" / "0001_library.sql").read_text(encoding="utf-8")
    )
    connection.executescript(
        f"""
        INSERT INTO snapshot VALUES ('1', x'', 0), ('2', x'', 0), ('3', x'', 0);
        INSERT INTO reading VALUES
            ('https://read.example', '1', 'Read', null, null, null, null, null, '', '', x'', x'', 1),
            ('https://shown.example', '2', 'Shown', null, null, null, null, null, '', '', x'', x'', 1),
            ('footnote://docs/old.md', '3', 'Old', null, null, null, null, null, '', '', x'', x'', 1);
        INSERT INTO page VALUES
            ('https://read.example', '1', 'web', null), ('footnote://docs/old.md', '3', 'documentation', null);
        PRAGMA application_id = {0x466F6F74};
        PRAGMA user_version = 1;
        """
    )
    connection.close()
    async with Database.open("sqlite:footnote.db", tmp_path) as database:
        library = Library(database, clock=clock)
        assert await urls(library) == ["https://read.example"]
        assert await library.remove("https://shown.example")
        assert await library.remove("https://read.example")
        assert not await library.remove("https://read.example")
