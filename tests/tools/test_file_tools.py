from typing import Any

import pytest

from documents.samples import png
from footnote.protocol.errors import InvalidArguments, ToolFailed
from footnote.protocol.files import ToolImage
from footnote.protocol.messages import Image, Text
from footnote.protocol.tools import ToolResult, error_result, text_result
from footnote.tools.base import artifact_of
from footnote.tools.registry import Toolbox, builtin_tools
from footnote.tools.wrappers import wrap_tool
from footnote.workspace.files import Workspace
from tools.calls import context, run_for_result
from workspace.in_memory import add_upload, in_memory_workspace

TOOLS = Toolbox(builtin_tools())
REPORT = {"path": "/report.md", "filename": "report.md", "icon_type": "md", "source": "generated"}


@pytest.fixture
def workspace() -> Workspace:
    return in_memory_workspace()


async def call(workspace: Workspace | None, name: str, call_id: str = "c1", **arguments: Any) -> ToolResult:
    tool = TOOLS.get(name)
    assert tool is not None
    return await run_for_result(wrap_tool(tool), arguments, context(workspace, call_id=call_id))


async def write_file(workspace: Workspace, content: str | bytes, path: str = "/report.md") -> None:
    await workspace.write(path, content, message_id="earlier")


async def test_a_written_file_is_in_the_workspace_and_in_the_result(workspace: Workspace) -> None:
    result = await call(workspace, "write_file", file_path="report.md", content="# Title\n\ntext")
    record = await workspace.record("/report.md")
    assert result == text_result("Wrote /report.md (13 characters, 3 lines).", artifact=REPORT, files=(record,))
    assert record.message_id == "msg_1"
    assert await workspace.read_text("/report.md") == "# Title\n\ntext"


async def test_writing_again_replaces_the_file(workspace: Workspace) -> None:
    await write_file(workspace, "old")
    result = await call(workspace, "write_file", file_path="/report.md", content="")
    assert result.text == "Replaced /report.md (0 characters, 0 lines)."
    assert await workspace.read("/report.md") == b""


async def test_a_missing_content_is_not_an_empty_one() -> None:
    tool = TOOLS.get("write_file")
    assert tool is not None
    with pytest.raises(InvalidArguments) as invalid:
        tool.parse({"file_path": "/report.md"})
    assert invalid.value.message == (
        "The arguments do not fit the tool's parameters:\n"
        "- content: required, but missing. A missing content is not an empty one: if the text was too long for one"
        " answer and was cut off by the output limit, write a first part now and add the rest with edit_file.\n"
        'Received: {"file_path":"/report.md"}\n'
        "Call the tool again with all of this corrected."
    )


async def test_a_path_out_of_the_workspace_is_an_error_result(workspace: Workspace) -> None:
    result = await call(workspace, "write_file", file_path="../x", content="")
    assert result == error_result("'../x' has the part '..'. Write the whole path from the root: /folder/name.md.")


@pytest.mark.parametrize("name", ["write_file", "edit_file"])
async def test_the_folder_of_large_results_cannot_be_written(workspace: Workspace, name: str) -> None:
    text = {"content": ""} if name == "write_file" else {"old_string": "a", "new_string": "b"}
    result = await call(workspace, name, file_path="/large_tool_results/a.txt", **text)
    assert result == error_result("/large_tool_results/ is kept for tool results. Write the file somewhere else.")


async def test_an_edit_changes_the_file(workspace: Workspace) -> None:
    await write_file(workspace, "\ufeffone\r\ntwo\r\n")
    result = await call(workspace, "edit_file", file_path="/report.md", old_string="one\ntwo", new_string="1\n2")
    record = await workspace.record("/report.md")
    assert result == text_result("Changed /report.md in 1 place.", artifact=REPORT, files=(record,))
    assert (await workspace.versions("/report.md"))[0].message_id == "msg_1"
    assert await workspace.read_text("/report.md") == "\ufeff1\r\n2\r\n"


async def test_an_edit_can_change_every_place(workspace: Workspace) -> None:
    await write_file(workspace, "a a a")
    arguments = {"file_path": "/report.md", "old_string": "a", "new_string": "b"}
    refused = await call(workspace, "edit_file", **arguments)
    assert refused.text.startswith("old_string occurs 3 times")
    result = await call(workspace, "edit_file", **arguments, replace_all=True)
    assert result.text == "Changed /report.md in 3 places."
    assert await workspace.read_text("/report.md") == "b b b"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("", "x", "old_string is empty."),
        ("text", "text", "old_string and new_string are equal"),
        ("absent", "x", "old_string was not found."),
    ],
)
async def test_an_edit_that_does_not_fit_leaves_the_file_alone(
    workspace: Workspace, old: str, new: str, reason: str
) -> None:
    await write_file(workspace, "text")
    result = await call(workspace, "edit_file", file_path="/report.md", old_string=old, new_string=new)
    assert result.is_error
    assert result.text.startswith(reason)
    assert (await workspace.record("/report.md")).message_id == "earlier"


@pytest.mark.parametrize("name", ["edit_file", "read_file"])
async def test_a_file_that_is_not_there_is_an_error_result(workspace: Workspace, name: str) -> None:
    edit = {"old_string": "a", "new_string": "b"} if name == "edit_file" else {}
    result = await call(workspace, name, file_path="/report.md", **edit)
    assert result == error_result("There is no file /report.md in the workspace.")


async def test_a_file_is_read_with_line_numbers(workspace: Workspace) -> None:
    await write_file(workspace, "\ufeffone\r\ntwo\u2028still two\r\n")
    result = await call(workspace, "read_file", file_path="report.md")
    assert result == text_result("     1  one\n     2  two\u2028still two", artifact=REPORT)


async def test_reading_goes_on_where_the_answer_says(workspace: Workspace) -> None:
    await write_file(workspace, "".join(f"{number}\n" for number in range(1, 251)))
    first = await call(workspace, "read_file", file_path="/report.md")
    assert first.text.endswith("   100  100\n[150 more lines. Go on with offset=100.]")
    second = await call(workspace, "read_file", file_path="/report.md", offset=100, limit=200)
    assert second.text.startswith("   101  101\n")
    assert second.text.endswith("   250  250")


async def test_reading_past_the_end_says_where_the_end_is(workspace: Workspace) -> None:
    await write_file(workspace, "a\nb\n")
    result = await call(workspace, "read_file", file_path="/report.md", offset=2)
    assert result == error_result("/report.md has 2 lines, so offset 2 is past its end. The last line has offset 1.")


async def test_an_empty_file_says_that_it_is_empty(workspace: Workspace) -> None:
    await write_file(workspace, "")
    result = await call(workspace, "read_file", file_path="/report.md", offset=5)
    assert result == text_result("/report.md exists, but it is empty.", artifact=REPORT)


async def test_an_endless_line_is_read_in_parts(workspace: Workspace) -> None:
    await write_file(workspace, "a" * 50_001 + "\nb\n")
    result = await call(workspace, "read_file", file_path="/report.md")
    assert result.text.endswith(
        "[Line 1 goes on for 1 more character. Go on with offset=0, column=50000.]\n[1 more line. Go on with offset=1.]"
    )
    result = await call(workspace, "read_file", file_path="/report.md", offset=0, column=50_000)
    assert result == text_result("  1.25  a\n     2  b", artifact=REPORT)


async def test_reading_past_the_end_of_a_line_says_where_its_end_is(workspace: Workspace) -> None:
    await write_file(workspace, "a\nbc\n")
    result = await call(workspace, "read_file", file_path="/report.md", offset=1, column=2)
    assert result == error_result("Line 2 has 2 characters, so column 2 is past its end.")


async def test_a_binary_file_is_not_shown(workspace: Workspace) -> None:
    await write_file(workspace, b"\xff\xd8", "/data.bin")
    result = await call(workspace, "read_file", file_path="/data.bin")
    assert result == error_result("/data.bin is not a text file, so it cannot be read as text.")


async def test_an_image_is_shown_to_the_model(workspace: Workspace) -> None:
    image = png(30, 7)
    await write_file(workspace, image, "/chart.png")
    artifact = {"path": "/chart.png", "filename": "chart.png", "icon_type": "image", "source": "generated"}
    assert await call(workspace, "read_file", file_path="/chart.png") == ToolResult(
        (Text("/chart.png is this image:"), Image("image/png", image)),
        artifact=artifact,
        images=(ToolImage("/chart.png", "image/png", 30, 7),),
    )


async def test_an_image_of_a_kind_that_no_model_knows_is_not_shown(workspace: Workspace) -> None:
    await write_file(workspace, b"BM....", "/chart.bmp")
    result = await call(workspace, "read_file", file_path="/chart.bmp")
    assert result == error_result("chart.bmp is not an image that models can look at; PNG, JPEG, GIF and WebP are.")


async def test_what_a_user_changed_is_not_overwritten_unseen(workspace: Workspace) -> None:
    await call(workspace, "write_file", call_id="c1", file_path="/report.md", content="one\ntwo")
    (newest,) = await workspace.versions("/report.md")
    await workspace.put("/report.md", "one\ntwo\nmine", base_hash=newest.hash)
    edit = {"file_path": "/report.md", "old_string": "one", "new_string": "1"}
    assert not (await call(workspace, "edit_file", call_id="c2", **edit)).is_error
    refused = await call(workspace, "write_file", call_id="c3", file_path="/report.md", content="all mine")
    assert refused == error_result(
        "The user has changed /report.md since you last read it. Read it with read_file, so that their changes are not"
        " lost, and write it then."
    )
    assert "mine" in (await call(workspace, "read_file", call_id="c4", file_path="/report.md")).text
    assert not (await call(workspace, "write_file", call_id="c5", file_path="/report.md", content="2")).is_error
    assert [version.author for version in await workspace.versions("/report.md")] == ["agent", "agent", "user", "agent"]


async def test_uploads_are_read_by_their_address_their_key_and_their_name_and_never_written(
    workspace: Workspace,
) -> None:
    record = await add_upload(workspace, "data.csv", b"a,b\n1,2\n")
    for path in (record.path, record.url, "data.csv", "/data.csv"):
        result = await call(workspace, "read_file", file_path=path)
        assert result.text == "     1  a,b\n     2  1,2"
        assert result.artifact == artifact_of(record)
    for path in (record.path, record.url):
        refused = await call(workspace, "write_file", file_path=path, content="x")
        assert refused == error_result(
            "data.csv was uploaded, and is kept as it came. Write what you make of it elsewhere: /data.csv."
        )
    other = await add_upload(workspace, "data.csv", b"other")
    refused = await call(workspace, "read_file", file_path="data.csv")
    assert refused.text.startswith("2 uploads are named data.csv. Give the whole path of one: local://uploads/local/")
    assert record.path in refused.text
    assert other.path in refused.text


async def test_files_are_listed_with_size_and_origin(workspace: Workspace) -> None:
    await write_file(workspace, "é")
    record = await add_upload(workspace, "data.csv", b"a,b")
    assert await call(workspace, "list_files") == text_result(
        f"/report.md  2 bytes, generated\n{record.path}  3 bytes, upload",
        artifact={"files": [REPORT, artifact_of(record)]},
    )


async def test_an_empty_workspace_says_so(workspace: Workspace) -> None:
    assert await call(workspace, "list_files") == text_result("The workspace is empty.", artifact={"files": []})


async def test_a_very_long_list_is_cut(workspace: Workspace) -> None:
    for number in range(502):
        await write_file(workspace, "", f"/{number:03}.md")
    result = await call(workspace, "list_files")
    assert result.text.endswith(
        "/499.md  0 bytes, generated\n[2 more files are not listed; find them with search_files.]"
    )


async def test_a_search_finds_lines_and_names(workspace: Workspace) -> None:
    await write_file(workspace, "Giá cổ phiếu\nkhông\n  giá vàng  \n")
    await write_file(workspace, "nothing", "/giá.txt")
    await write_file(workspace, b"\xffgi\xc3\xa1", "/binary.bin")
    name = {"path": "/giá.txt", "filename": "giá.txt", "icon_type": "txt", "source": "generated"}
    assert await call(workspace, "search_files", query="GIÁ") == text_result(
        "/giá.txt\n/report.md:1: Giá cổ phiếu\n/report.md:3: giá vàng", artifact={"files": [name, REPORT]}
    )


async def test_a_search_can_tell_cases_apart_and_keep_to_some_files(workspace: Workspace) -> None:
    await write_file(workspace, "Word\nword\n", "/notes/a.md")
    await write_file(workspace, "word\n", "/b.txt")
    result = await call(workspace, "search_files", query="word", files="notes/*", case_sensitive=True)
    assert result.text == "/notes/a.md:2: word"
    result = await call(workspace, "search_files", query="word", files="*.txt")
    assert result.text == "/b.txt:1: word"


async def test_a_search_shows_as_many_hits_as_it_was_asked_for(workspace: Workspace) -> None:
    await write_file(workspace, "a\na\n", "/1.md")
    await write_file(workspace, "a\na\n", "/2.md")
    result = await call(workspace, "search_files", query="a", limit=3)
    assert (
        result.text == "/1.md:1: a\n/1.md:2: a\n/2.md:1: a\n[There are more. Make the query or the files more exact.]"
    )
    result = await call(workspace, "search_files", query="a", limit=4)
    assert result.text == "/1.md:1: a\n/1.md:2: a\n/2.md:1: a\n/2.md:2: a"


async def test_a_long_line_is_shown_around_the_hit(workspace: Workspace) -> None:
    await write_file(workspace, "x" * 500 + "here" + "y" * 500)
    result = await call(workspace, "search_files", query="here")
    assert result.text == "/report.md:1: … " + "x" * 100 + "here" + "y" * 96 + " …"


async def test_a_search_without_files_says_that_there_are_none(workspace: Workspace) -> None:
    result = await call(workspace, "search_files", query="x", files="*.md")
    assert result == text_result("Nothing was found: the workspace has no files.", artifact={"files": []})


async def test_a_search_without_hits_says_what_it_looked_for(workspace: Workspace) -> None:
    await write_file(workspace, "y")
    result = await call(workspace, "search_files", query="x", files="*.md")
    assert result == text_result("Nothing was found for 'x' in the files that match *.md.", artifact={"files": []})


async def test_without_a_workspace_a_call_is_an_error() -> None:
    with pytest.raises(ToolFailed, match="This agent has no workspace"):
        await run_for_result(TOOLS.get("list_files"), {}, context(None))  # pyright: ignore[reportArgumentType] - it is there


def test_tools_that_change_files_run_alone_and_tools_that_read_may_be_tried_again() -> None:
    files = [tool for tool in TOOLS if tool.name.endswith(("_file", "_files"))]
    assert {tool.name for tool in files if tool.exclusive} == {"write_file", "edit_file"}
    assert all(tool.idempotent for tool in files)
    assert {tool.name for tool in files if tool.bounded} == {"read_file", "list_files", "search_files"}
