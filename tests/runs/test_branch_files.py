"""Files follow the branch of the conversation that is shown."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.harness import ApiClient, ServerHarness, open_server
from server.session_files import SessionFiles
from upstream import Upstream, call, reply, say, stop


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    async with open_server(tmp_path, upstream) as opened:
        yield opened


async def _write_file(client: ApiClient, session_id: str, path: str, content: str, upstream: Upstream) -> None:
    """Asks, and the agent answers by writing this file."""
    upstream.script(
        reply(call("write_file", {"file_path": path, "content": content}), stop("tool_calls")),
        reply(say("Written."), stop()),
    )
    await client.ask_for_events(session_id, f"Write {content}.")


async def test_files_follow_the_branch_that_is_shown(server: ServerHarness, upstream: Upstream):
    client = server.local
    session_id = await client.create_session()
    session_files = SessionFiles(client, session_id)

    async def shown_files() -> dict[str, str]:
        files = (await session_files.request("GET")).json["files"]
        assert files == (await client.history(session_id))["workspace"]["workspace_files"]
        return {
            file["path"]: (await session_files.request("GET", "/content", file_path=file["path"])).json["content"]
            for file in files
        }

    await _write_file(client, session_id, "/a.md", "one", upstream)
    await _write_file(client, session_id, "/a.md", "two", upstream)
    await session_files.write("/a.md", "two, by hand", base="two")
    await _write_file(client, session_id, "/b.md", "bee", upstream)
    old_head = (await client.history(session_id))["messages"][-1]["id"]
    assert await shown_files() == {"/a.md": "two, by hand", "/b.md": "bee"}

    second = (await client.history(session_id))["turns"][1]["question_id"]
    upstream.script(
        reply(call("read_file", {"file_path": "/a.md"}), stop("tool_calls")),
        reply(call("write_file", {"file_path": "/b.md", "content": "another"}), stop("tool_calls")),
        reply(say("Done."), stop()),
    )
    await client.request("POST", f"/v2/sessions/{session_id}/messages/{second}/edit", {"content": "Another?"})
    [read] = [one for one in (await client.history(session_id))["messages"] if one.get("name") == "read_file"]
    assert "one" in read["content"], "the agent has the files of its branch before it"
    assert await shown_files() == {"/a.md": "one", "/b.md": "another"}
    new_head = (await client.history(session_id))["messages"][-1]["id"]
    versions = (await session_files.request("GET", "/versions", file_path="/b.md")).json["versions"]
    assert [one["number"] for one in versions] == [2], "a version of another branch is not one of this"
    assert (await session_files.request("GET", "/diff", file_path="/b.md")).status == 200

    await client.request("PATCH", f"/v2/sessions/{session_id}", {"head": old_head})
    assert await shown_files() == {"/a.md": "two, by hand", "/b.md": "bee"}
    numbers = [
        one["number"] for one in (await session_files.request("GET", "/versions", file_path="/a.md")).json["versions"]
    ]
    assert numbers == [3, 2, 1]
    await session_files.write("/a.md", "again by hand", base="two, by hand")
    await client.request("PATCH", f"/v2/sessions/{session_id}", {"head": new_head})
    assert await shown_files() == {"/a.md": "one", "/b.md": "another"}
    await session_files.write("/a.md", "three", base="one")
    assert await shown_files() == {"/a.md": "three", "/b.md": "another"}
    await client.request("PATCH", f"/v2/sessions/{session_id}", {"head": old_head})
    assert await shown_files() == {"/a.md": "again by hand", "/b.md": "bee"}


async def test_a_retry_begins_with_the_files_of_before(server: ServerHarness, upstream: Upstream):
    client = server.local
    session_id = await client.create_session()
    await _write_file(client, session_id, "/a.md", "first try", upstream)
    message = (await client.history(session_id))["messages"][-1]["id"]
    upstream.script(reply(say("No file this time."), stop()))
    await client.request("POST", f"/v2/sessions/{session_id}/messages/{message}/retry", {})
    assert (await SessionFiles(client, session_id).request("GET")).json["files"] == []
    await client.request("PATCH", f"/v2/sessions/{session_id}", {"head": message})
    assert await SessionFiles(client, session_id).names() == ["a.md"]
