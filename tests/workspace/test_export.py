import unicodedata
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from footnote.protocol.errors import UsageError
from footnote.protocol.files import FileRecord
from footnote.workspace.export import safe_name, save_to
from footnote.workspace.files import Workspace
from workspace.hostile import HOSTILE_NAMES
from workspace.in_memory import add_upload, in_memory_workspace


async def workspace_with(*paths: str) -> Workspace:
    workspace = in_memory_workspace()
    for path in paths:
        await workspace.write(path, path, message_id=None)
    return workspace


async def save_all(directory: Path, workspace: Workspace) -> dict[str, str]:
    return {record.path: path.relative_to(directory).as_posix() for record, path in await save_to(directory, workspace)}


async def test_files_are_saved_under_their_names(tmp_path: Path) -> None:
    workspace = await workspace_with("/report.md", "/images/một.png", "/报告.md")
    assert await save_all(tmp_path / "new", workspace) == {
        "/images/một.png": "images/một.png",
        "/report.md": "report.md",
        "/报告.md": "报告.md",
    }
    assert (tmp_path / "new" / "report.md").read_text() == "/report.md"


async def test_what_was_there_before_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("mine")
    (tmp_path / "images").write_text("a file, not a folder")
    workspace = await workspace_with("/report.md", "/images/a.png", "/images/b.png")
    assert await save_all(tmp_path, workspace) == {
        "/images/a.png": "images-2/a.png",
        "/images/b.png": "images-2/b.png",
        "/report.md": "report-2.md",
    }
    assert await save_all(tmp_path, await workspace_with("/report.md")) == {"/report.md": "report-3.md"}
    assert (tmp_path / "report.md").read_text() == "mine"


async def test_links_that_lead_elsewhere_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    target = tmp_path / "target"
    target.mkdir()
    (target / "folder").symlink_to(outside, target_is_directory=True)
    (target / "file.md").symlink_to(outside / "made.md")
    await save_to(target, await workspace_with("/folder/a.md", "/file.md"))
    assert list(outside.iterdir()) == []
    assert (target / "folder-2" / "a.md").read_text() == "/folder/a.md"
    assert (target / "file-2.md").read_text() == "/file.md"


async def test_uploads_and_large_results_are_not_saved(tmp_path: Path) -> None:
    workspace = await workspace_with("/large_tool_results/call.txt")
    await add_upload(workspace, "mine.pdf", b"")
    assert await save_all(tmp_path, workspace) == {}


async def test_two_names_that_come_out_alike_are_kept_apart(tmp_path: Path) -> None:
    workspace = await workspace_with("/a?.md", "/a*.md", "/a_.md")
    files = await save_to(tmp_path, workspace)
    assert sorted(path.name for _, path in files) == ["a_-2.md", "a_-3.md", "a_.md"]
    assert {path.read_text() for _, path in files} == {"/a?.md", "/a*.md", "/a_.md"}


async def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"The files could not be saved in .*file.*: .+\."):
        await save_to(tmp_path / "file" / "below", await workspace_with("/a"))


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (".bashrc", "bashrc"),
        ("-rf", "rf"),
        ("--", "_"),
        ("", "_"),
        ("...", "_"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("com¹.md", "_com¹.md"),
        ("a/b\\c", "a_b_c"),
        ("a\u202eb", "a_b"),
        ("x. ", "x"),
        ("C:", "C_"),
        ("日" * 100 + ".md", "日" * 39 + ".md"),
        ("a." + "b" * 300, "a." + "b" * 118),
    ],
)
def test_a_name_is_rebuilt_from_harmless_characters(part: str, name: str) -> None:
    assert safe_name(part) == name


def test_a_hostile_name_is_harmless_on_the_host() -> None:
    for name in HOSTILE_NAMES:
        assert_harmless(safe_name(name))


@given(st.text(st.characters(codec=None)))
def test_any_name_is_harmless_on_the_host(name: str) -> None:
    assert_harmless(safe_name(name))


async def test_all_hostile_names_together_land_inside_the_folder(tmp_path: Path) -> None:
    accepted = await hostile_workspace(HOSTILE_NAMES)
    files = await save_to(tmp_path / "target", accepted)
    assert len(files) == len(await accepted.list()) > 250
    assert_all_inside(tmp_path, files)


@given(st.lists(st.text("aA./é\u0301*? -", min_size=1, max_size=12), max_size=20))
@settings(max_examples=50, deadline=None)
async def test_any_names_together_land_inside_the_folder(names: list[str]) -> None:
    with TemporaryDirectory() as folder:
        accepted = await hostile_workspace(names)
        files = await save_to(Path(folder) / "target", accepted)
        assert len(files) == len(await accepted.list())
        assert_all_inside(Path(folder), files)


async def hostile_workspace(names: list[str]) -> Workspace:
    workspace = in_memory_workspace()
    for name in names:
        try:
            await workspace.write(name, name.encode(errors="replace"), message_id=None)
        except UsageError:
            continue
    return workspace


def assert_all_inside(folder: Path, files: list[tuple[FileRecord, Path]]) -> None:
    """Every exported file is where its report says, below the target, and no other file was created."""
    target = (folder / "target").resolve()
    assert all(path.resolve().is_relative_to(target) for _, path in files)
    assert {path for path in folder.rglob("*") if path.is_file()} == {path for _, path in files}
    assert list(folder.iterdir()) in ([folder / "target"], [])


def assert_harmless(name: str) -> None:
    assert name == name.strip(" ")
    assert name[0] not in ".-"
    assert not name.endswith(".")
    assert not set(name) & set('/\\:*?"<>|\0$`;&~%')
    assert not any(unicodedata.category(character).startswith(("C", "Z")) for character in name.replace(" ", ""))
    assert len(name.encode()) <= 121
    assert name.partition(".")[0].strip().upper() not in {"CON", "PRN", "AUX", "NUL", "COM1", "LPT9"}
