"""`footnote library`: listing, opening and removing pages in the terminal."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import engines
from cli.process import environment, run_footnote
from footnote.cli import Exit, main
from footnote.db.engine import Database
from footnote.library import Library
from footnote.protocol.sources import Link, Snapshot

TREATY = Snapshot(
    url="https://history.example/versailles",
    text="# The Treaty of Versailles\n\nIt was signed on 28 June 1919 in the Hall of Mirrors.",
    title="Treaty of Versailles",
    author="A. Historian",
    published="2024-03-17",
    language="en",
    site_name="History",
    fetched_at="2026-01-02T03:04:05+00:00",
    links=(Link("https://history.example/mirrors", 64, 79),),
)
PALACE = Snapshot(
    url="https://zh.example/gugong", text="故宫位于北京。", title="故宫" * 30, fetched_at="2026-01-03T00:00:00+00:00"
)
HOSTILE = Snapshot(
    url="https://evil.example/\x1b[2J",
    text="A\x1b]0;title\x07B\u202ectext\ud83d",
    title="T\x1b[31m\nitle",
    author="\x1b[0mX",
)


def store_snapshots(home: Path, *snapshots: Snapshot) -> None:
    async def keeping() -> None:
        async with Database.open(engines.database_url(home), home) as database:
            for snapshot in snapshots:
                await Library(database).store(snapshot)

    asyncio.run(keeping())


def library(capsys: pytest.CaptureFixture[str], *arguments: str, code: Exit = Exit.OK) -> str:
    assert main(["library", *arguments]) == code
    return capsys.readouterr().out


def run_refused(capsys: pytest.CaptureFixture[str], *arguments: str, code: Exit = Exit.USAGE) -> str:
    assert main(["library", *arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def list_pages(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[Any]:
    return json.loads(library(capsys, "list", "--json", *arguments))


def test_pages_are_listed_with_the_last_read_first(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store_snapshots(home, TREATY, PALACE)
    assert library(capsys, "list", "--kind", "web").splitlines() == [
        "KIND  READ        CHARACTERS  TITLE" + " " * 36 + "URL",
        "web   2026-01-03           7  " + "故宫" * 9 + "故…  https://zh.example/gugong",
        "web   2026-01-02          81  Treaty of Versailles" + " " * 21 + "https://history.example/versailles",
    ]


def test_the_list_has_all_that_a_program_needs(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store_snapshots(home, TREATY)
    assert list_pages(capsys, "--kind", "web") == [
        {
            "url": TREATY.url,
            "kind": "web",
            "title": "Treaty of Versailles",
            "site_name": "History",
            "fetched_at": TREATY.fetched_at,
            "characters": 81,
            "snapshot_id": TREATY.id,
        }
    ]
    assert {page["kind"] for page in list_pages(capsys)} == {"web", "documentation"}
    assert list_pages(capsys, "--kind", "upload") == []


@pytest.mark.parametrize("what", [TREATY.id, TREATY.url, TREATY.id[:8], "https://history"])
def test_a_text_is_shown_by_its_id_its_url_or_the_beginning_of_one(
    home: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    store_snapshots(home, TREATY, PALACE)
    assert main(["library", "show", what]) == Exit.OK
    captured = capsys.readouterr()
    assert captured.out == TREATY.text + "\n"
    assert captured.err.splitlines() == [
        "Title:     Treaty of Versailles",
        "URL:       https://history.example/versailles",
        "Site:      History",
        "Author:    A. Historian",
        "Published: 2024-03-17",
        "Language:  en",
        "Type:      text/html",
        "Read:      2026-01-02T03:04:05+00:00",
        f"Snapshot:  {TREATY.id} (81 characters)",
        "",
    ]


def test_a_text_that_its_page_no_longer_has_is_shown_by_its_id(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store_snapshots(home, TREATY, Snapshot(url=TREATY.url, text="Gone."))
    assert library(capsys, "show", TREATY.id) == TREATY.text + "\n"
    assert library(capsys, "show", TREATY.url) == "Gone.\n"


def test_a_beginning_that_fits_several_pages_is_refused_with_their_names(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urls = [f"https://many.example/{number}" for number in range(7)]
    store_snapshots(home, *(Snapshot(url=url, text=url) for url in urls))
    shown = ", ".join(reversed(urls[2:]))
    assert run_refused(capsys, "show", "https://many") == (
        f"footnote: 7 pages begin with https://many. Give more of it: {shown}, …\n"
    )


@pytest.mark.parametrize("command", ["show", "remove"])
def test_what_is_not_there_is_wrong_usage(home: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert run_refused(capsys, command, "https://nowhere.example") == (
        "footnote: The library has no https://nowhere.example. `footnote library list` shows all pages.\n"
    )


def test_a_passage_is_marked_where_it_stands(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store_snapshots(home, TREATY)
    start = TREATY.text.index("28 June")
    out = library(capsys, "show", TREATY.id, "--from", str(start), "--to", str(start + 12))
    assert out == "# The Treaty of Versailles\n\nIt was signed on >>>28 June 1919<<< in the Hall of Mirrors.\n"


def test_around_a_passage_of_a_long_text_some_whole_words_are_shown(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "before " * 200 + "PASSAGE" + " after" * 200
    store_snapshots(home, Snapshot(url="https://long.example", text=text))
    out = library(capsys, "show", "https://long.example", "--from", "1400", "--to", "1407")
    assert out == "… " + "before " * 42 + ">>>PASSAGE<<<" + " after" * 49 + " …\n"


@pytest.mark.parametrize(
    ("arguments", "passage"),
    [(["--from", "73"], "Mirrors."), (["--to", "5"], "# The"), (["--from", "0", "--to", "81"], TREATY.text)],
)
def test_a_passage_reaches_to_the_end_of_the_text_where_none_is_given(
    home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], passage: str
) -> None:
    store_snapshots(home, TREATY)
    assert f">>>{passage}<<<" in library(capsys, "show", TREATY.id, *arguments)


@pytest.mark.parametrize(("start", "end"), [("5", "5"), ("9", "5"), ("-1", "5"), ("0", "82"), ("81", "90")])
def test_a_passage_outside_the_text_is_wrong_usage(
    home: Path, capsys: pytest.CaptureFixture[str], start: str, end: str
) -> None:
    store_snapshots(home, TREATY)
    assert run_refused(capsys, "show", TREATY.id, f"--from={start}", f"--to={end}") == (
        "footnote: The text has 81 characters; --from and --to must be inside it, --from before --to.\n"
    )


def test_everything_about_a_text_is_shown_as_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store_snapshots(home, TREATY)
    shown = json.loads(library(capsys, "show", TREATY.url, "--json", "--from", "2", "--to", "12"))
    assert shown == {
        "id": TREATY.id,
        "url": TREATY.url,
        "text": TREATY.text,
        "title": TREATY.title,
        "author": "A. Historian",
        "published": "2024-03-17",
        "language": "en",
        "site_name": "History",
        "canonical_url": None,
        "media_type": "text/html",
        "fetched_at": TREATY.fetched_at,
        "links": [{"url": "https://history.example/mirrors", "start": 64, "end": 79}],
        "pages": [],
        "icon": None,
        "passage": {"start": 2, "end": 12, "text": "The Treaty", "before": "# ", "after": TREATY.text[12:]},
    }
    assert json.loads(library(capsys, "show", TREATY.url, "--json"))["passage"] is None


def test_text_of_a_page_cannot_steer_the_terminal(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store_snapshots(home, HOSTILE)
    assert main(["library", "list"]) == Exit.OK
    assert main(["library", "show", HOSTILE.id]) == Exit.OK
    assert main(["library", "show", HOSTILE.id, "--from", "0", "--to", "3"]) == Exit.OK
    captured = capsys.readouterr()
    assert "AB" in captured.out
    assert "T itle" in captured.err
    assert not {"\x1b", "\x07", "\u202e"} & set(captured.out + captured.err)
    assert main(["library", "remove", "https://evil.example/\x1b[2J"]) == Exit.OK


def test_a_removed_page_is_gone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store_snapshots(home, TREATY, PALACE)
    assert library(capsys, "remove", TREATY.url, PALACE.url) == ""
    assert list_pages(capsys, "--kind", "web") == []
    run_refused(capsys, "show", TREATY.id)


def test_what_can_be_removed_is_removed_though_something_else_is_missing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store_snapshots(home, TREATY)
    run_refused(capsys, "remove", "https://nowhere.example", TREATY.url)
    assert list_pages(capsys, "--kind", "web") == []


def test_a_place_that_cannot_be_written_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config.json").write_text('{"database": {"url": "sqlite:config.json/library.db"}}')
    message = run_refused(capsys, "list", code=Exit.FAILURE)
    reason = f"{home}/config.json is not a folder"
    assert message.startswith(f"footnote: {home}/config.json/library.db cannot be written ({reason}). Give yourself")


def test_the_configured_database_is_used(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config.json").write_text('{"database": {"url": "sqlite:elsewhere.db"}}')
    library(capsys, "list")
    assert sorted(path.name for path in home.iterdir()) == ["config.json", "elsewhere.db"]


@pytest.mark.parametrize(
    "arguments", [["library"], ["library", "show"], ["library", "add"], ["library", "list", "--kind", "x"]]
)
def test_wrong_arguments_are_wrong_usage(home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert main(arguments) == Exit.USAGE


@pytest.mark.parametrize("action", ["list", "show", "add", "remove"])
def test_every_action_explains_itself(capsys: pytest.CaptureFixture[str], action: str) -> None:
    assert main(["library", action, "--help"]) == Exit.OK
    assert capsys.readouterr().out.startswith(f"usage: footnote library {action} ")


async def test_the_text_alone_goes_into_a_pipe(tmp_path: Path) -> None:
    code, out, err = await run_footnote("library", "show", "footnote://docs/cli.md", env=environment(tmp_path))
    assert (code, out.splitlines()[0]) == (0, "# Command line")
    assert "Title:     Command line\n" in err
