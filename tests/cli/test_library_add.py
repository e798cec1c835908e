"""`footnote library add`: files of the user are searchable like pages."""

import json
from pathlib import Path

import pytest

from footnote.cli import Exit, main


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FOOTNOTE_HOME", str(tmp_path / "home"))
    return tmp_path


def test_a_file_is_added_under_its_name_and_can_be_opened(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / "my report.md"
    file.write_text("# Obsidian\n\nIt is volcanic glass.\n", encoding="utf-8")
    assert main(["library", "add", str(file)]) == Exit.OK
    assert capsys.readouterr() == ("footnote://files/my%20report.md\n", "")
    assert main(["library", "show", "footnote://files/my%20report.md"]) == Exit.OK
    captured = capsys.readouterr()
    assert "It is volcanic glass." in captured.out
    assert "Title:     Obsidian\n" in captured.err


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.md", "# Tides\n\nThe **moon** pulls.", "moon"),
        ("a.txt", "The moon pulls.", "The moon pulls."),
        (
            "a.html",
            "<title>Tides</title><article><p>" + "The moon pulls the water. " * 20 + "</p></article>",
            "The moon pulls",
        ),
        ("a.csv", "body,pull\nmoon,strong\n", "moon"),
        ("a.json", '{"body": "moon"}', "moon"),
        ("BÁO CÁO.TXT", "Mặt trăng.", "Mặt trăng."),
    ],
)
def test_every_kind_of_file_is_read(
    home: Path, capsys: pytest.CaptureFixture[str], name: str, content: str, says: str
) -> None:
    (home / name).write_text(content, encoding="utf-8")
    assert main(["library", "add", "--json", str(home / name)]) == Exit.OK
    (added,) = json.loads(capsys.readouterr().out)
    assert added["file"] == str(home / name)
    assert main(["library", "show", added["snapshot_id"]]) == Exit.OK
    text = capsys.readouterr().out
    assert says in text
    assert len(text) == added["characters"] + 1


def test_files_of_the_same_name_are_told_apart_and_a_changed_file_replaces_itself(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("a", "b"):
        (home / folder).mkdir()
        (home / folder / "note.txt").write_text(f"This is the note of {folder}.")
    assert main(["library", "add", str(home / "a/note.txt"), str(home / "b/note.txt")]) == Exit.OK
    (home / "a" / "note.txt").write_text("This note has changed.")
    assert main(["library", "add", str(home / "a/note.txt")]) == Exit.OK
    assert capsys.readouterr().out.splitlines() == [
        "footnote://files/note.txt",
        "footnote://files/note-2.txt",
        "footnote://files/note.txt",
    ]
    assert main(["library", "show", "footnote://files/note.txt"]) == Exit.OK
    assert capsys.readouterr().out == "This note has changed.\n"


def test_what_cannot_be_read_is_said_and_the_rest_is_added(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "good.txt").write_text("The moon pulls.")
    (home / "song.mp3").write_bytes(b"\xff\xfb")
    (home / "broken.pdf").write_bytes(b"%PDF-1.7 nothing more")
    (home / "folder.txt").mkdir()
    names = ["missing.md", "song.mp3", "broken.pdf", "folder.txt", "good.txt"]
    assert main(["library", "add", *(str(home / name) for name in names)]) == Exit.FAILURE
    captured = capsys.readouterr()
    assert captured.out == "footnote://files/good.txt\n"
    missing, song, broken, folder = captured.err.splitlines()
    assert missing == f"footnote: {home}/missing.md: No such file or directory"
    assert song == (
        f"footnote: {home}/song.mp3: this type of file cannot be read; supported are .csv, .htm, .html, .json, "
        ".markdown, .md, .pdf, .txt"
    )
    assert broken.startswith(f"footnote: {home}/broken.pdf: ")
    assert folder == f"footnote: {home}/folder.txt: Is a directory"


def test_a_file_that_is_too_large_is_said_with_the_setting(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "home").mkdir()
    (home / "home" / "config.json").write_text('{"limits": {"uploadBytes": 10}}')
    (home / "large.txt").write_text("x" * 11)
    assert main(["library", "add", str(home / "large.txt")]) == Exit.FAILURE
    assert capsys.readouterr() == (
        "",
        f"footnote: {home}/large.txt: it is larger than 10 bytes (limits.uploadBytes in config.json)\n",
    )
