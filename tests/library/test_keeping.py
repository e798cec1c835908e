"""Snapshots can be opened again unchanged, until they are removed."""

from pathlib import Path

import pytest
from msgspec.structs import replace

import engines
from footnote.db.engine import Database
from footnote.library import Library
from footnote.protocol.errors import UsageError
from footnote.protocol.sources import Snapshot
from library.samples import BATTLE, RECIPE, TREATY, cached_page, page


def table(home: Path, name: str) -> list[tuple[object, ...]]:
    return engines.rows(home, f"SELECT * FROM {name}")


def indexed_ids(home: Path) -> list[object]:
    """The ids of the indexed texts, once for each passage."""
    passages = table(home, "passage")
    assert len(passages) == len(table(home, "passage_terms"))
    return sorted(str(row[1]) for row in passages)


async def urls(library: Library, kind: str = "web") -> list[str]:
    return [one.url for one in await library.list() if one.kind == kind]


async def test_a_snapshot_comes_back_as_it_was(library: Library) -> None:
    await library.store(TREATY)
    assert await library.snapshot(TREATY.id) == TREATY
    assert await library.latest(TREATY.url) == TREATY
    assert await library.snapshots([TREATY.id, "0" * 32]) == {TREATY.id: TREATY}


async def test_it_is_still_there_for_the_next_process(tmp_path: Path) -> None:
    for _ in range(2):
        async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
            await Library(database).store(TREATY)
    async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
        assert await Library(database).snapshot(TREATY.id) == TREATY


async def test_what_was_never_read_is_not_there(library: Library) -> None:
    assert await library.snapshot("0" * 32) is None
    assert await library.latest("https://nowhere.example") is None
    assert await library.snapshots([]) == {}


async def test_the_same_text_of_two_pages_is_stored_once(library: Library, tmp_path: Path) -> None:
    mirror = replace(TREATY, url="https://mirror.example", title="Mirror", links=())
    await library.store(TREATY)
    await library.store(mirror)
    assert [row[0] for row in table(tmp_path, "snapshot")] == [TREATY.id]
    assert indexed_ids(tmp_path) == [TREATY.id]
    assert await library.latest(TREATY.url) == TREATY
    assert await library.latest(mirror.url) == mirror
    assert await library.snapshot(TREATY.id) == mirror, "as it was read last"


async def test_a_page_that_changed_has_its_new_text_and_the_old_one_can_be_opened(
    library: Library, tmp_path: Path
) -> None:
    changed = replace(TREATY, text="It was signed in 1919.", links=(), pages=())
    await library.store(TREATY)
    await library.store(changed)
    assert indexed_ids(tmp_path) == [changed.id]
    assert await library.latest(TREATY.url) == changed
    assert await library.snapshots([TREATY.id, changed.id]) == {TREATY.id: TREATY, changed.id: changed}
    await library.store(TREATY)
    assert await library.latest(TREATY.url) == TREATY


async def test_a_snippet_can_be_opened_but_takes_no_place(library: Library) -> None:
    snippet = replace(TREATY, text="Signed on 28 June 1919 in the Hall of Mirrors …", links=(), pages=())
    await library.store(snippet, kind="snippet")
    assert await library.snapshot(snippet.id) == snippet
    assert await library.latest(TREATY.url) is None
    assert await library.search("Hall of Mirrors", 5) == ()
    await library.store(TREATY)
    await library.store(snippet, kind="snippet")
    assert await library.latest(TREATY.url) == TREATY


async def test_what_is_known_already_is_not_written_again(library: Library, tmp_path: Path) -> None:
    await library.store(TREATY)
    before = table(tmp_path, "reading")
    await library.store(TREATY)
    assert table(tmp_path, "reading") == before
    await library.store(replace(TREATY, fetched_at="2026-02-02T00:00:00+00:00"))
    assert table(tmp_path, "reading") != before


@pytest.mark.parametrize(
    "text", ["", "\ud83d half", "nul \0 inside", "e\u0301 and \U0001f600", "x" * 300_000, '"*" OR NEAR(', "中" * 5000]
)
async def test_any_text_can_be_kept(library: Library, text: str) -> None:
    odd = page("https://odd.example", text)
    await library.store(odd)
    assert await library.snapshot(odd.id) == odd


async def test_facts_that_no_database_takes_are_mended(library: Library) -> None:
    await library.store(page("https://odd.example/\ud83d", "text", "half \ud83d and nul \0"))
    stored = await library.latest("https://odd.example/\ud83d")
    assert stored == page("https://odd.example/?", "text", "half ? and nul ")


async def test_pages_are_listed_with_the_last_read_first(library: Library) -> None:
    await library.store(TREATY)
    await library.store(RECIPE)
    await library.store(replace(TREATY, fetched_at="later"))
    assert await urls(library) == [TREATY.url, RECIPE.url]
    listed = (await library.list())[0]
    assert (listed.kind, listed.title, listed.site_name, listed.fetched_at, listed.characters, listed.snapshot_id) == (
        "web",
        "Treaty of Versailles",
        "History",
        "later",
        len(TREATY.text),
        TREATY.id,
    )


async def test_a_removed_page_is_gone_from_everywhere(library: Library) -> None:
    changed = replace(TREATY, text="It was signed in 1919.", links=(), pages=())
    await library.store(TREATY)
    await library.store(RECIPE)
    await library.store_page(cached_page(changed, url="https://short.example"))
    assert await library.remove(TREATY.url)
    assert await library.snapshots([TREATY.id, changed.id]) == {}
    assert await library.latest(TREATY.url) is None
    assert await library.cached_page("https://short.example") is None
    assert await library.search("Treaty of Versailles", 5) == ()
    assert await urls(library) == [RECIPE.url]
    assert await library.snapshot(RECIPE.id) == RECIPE


async def test_a_page_can_be_removed_by_the_address_that_led_to_it(library: Library) -> None:
    await library.store_page(cached_page(TREATY, url="https://short.example"))
    assert await library.latest("https://short.example") == TREATY
    assert await library.remove("https://short.example")
    assert await library.snapshot(TREATY.id) is None


async def test_removing_what_is_not_there_removes_nothing(library: Library) -> None:
    await library.store(TREATY)
    assert not await library.remove("https://history.example/")
    assert await library.latest(TREATY.url) == TREATY


async def test_a_text_that_another_page_has_too_outlives_the_removed_one(library: Library) -> None:
    mirror = replace(TREATY, url="https://mirror.example")
    await library.store(mirror)
    await library.store(TREATY)
    assert await library.remove(TREATY.url)
    assert await library.snapshot(TREATY.id) == mirror
    assert [hit.url for hit in await library.search("Treaty of Versailles", 5)] == [mirror.url]


async def test_no_word_of_a_removed_page_is_left_on_the_disk(library: Library, tmp_path: Path) -> None:
    secret = Snapshot(url="https://planted.example", text="Plantedword " * 50, title="Plantedtitle")
    await library.store(TREATY)
    await library.store_page(cached_page(secret))
    await library.store(BATTLE)
    assert [hit.url for hit in await library.search("plantedword", 5)] == [secret.url]
    await library.remove(secret.url)
    content = engines.contents(tmp_path).lower()
    assert b"planted" not in content
    assert b"versailles" in content


async def test_the_documentation_cannot_be_removed(library: Library) -> None:
    with pytest.raises(UsageError) as refused:
        await library.remove("footnote://docs/cli.md")
    assert refused.value.message == "footnote://docs/cli.md is part of Footnote and cannot be removed."


async def test_a_file_of_ones_own_is_kept_under_its_name(library: Library) -> None:
    report = page("footnote://files/report.md", "A report about glaciers.", "Report")
    assert await library.add(report, "/home/me/report.md") == report
    assert await library.latest(report.url) == report
    assert await urls(library, "upload") == [report.url]


async def test_the_same_file_again_replaces_what_it_was(library: Library) -> None:
    first = page("footnote://files/report.md", "A report about glaciers.")
    second = replace(first, text="A report about currents.")
    await library.add(first, "/home/me/report.md")
    assert await library.add(second, "/home/me/report.md") == second
    assert await urls(library, "upload") == [first.url]
    assert await library.search("glaciers", 5) == ()
    assert await library.snapshot(first.id) == first


async def test_another_file_of_the_same_name_gets_a_number(library: Library) -> None:
    named = "footnote://files/report.md"
    texts = ["About tides.", "About currents.", "About waves."]
    snapshots = [await library.add(page(named, text), f"/home/{text}/report.md") for text in texts]
    assert [one.url for one in snapshots] == [
        "footnote://files/report.md",
        "footnote://files/report-2.md",
        "footnote://files/report-3.md",
    ]
    assert [(await library.latest(one.url)) for one in snapshots] == snapshots
    moved = await library.add(page(named, texts[0]), "/moved/report.md")
    assert moved.url == named, "the same text is the same file, wherever it lies"
