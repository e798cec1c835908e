"""Files follow the branch of the conversation that is shown."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.desk import Desk
from server.house import House, Person, open_house
from upstream import Upstream, call, reply, say, stop


@pytest.fixture
async def house(tmp_path: Path, upstream: Upstream) -> AsyncIterator[House]:
    async with open_house(tmp_path, upstream) as opened:
        yield opened


async def _history(person: Person, session_id: str) -> dict[str, Any]:
    return (await person.request("GET", f"/v2/sessions/{session_id}/history?turns=true")).json


async def _write_file(person: Person, session_id: str, path: str, content: str, upstream: Upstream) -> None:
    """Asks, and the agent answers by writing this file."""
    upstream.script(
        reply(call("write_file", {"file_path": path, "content": content}), stop("tool_calls")),
        reply(say("Written."), stop()),
    )
    await person.ask_for_events(session_id, f"Write {content}.")


async def test_files_follow_the_branch_that_is_shown(house: House, upstream: Upstream):
    person = house.local
    session_id = await person.create_session()
    desk = Desk(person, session_id)

    async def shown() -> dict[str, str]:
        files = (await desk.request("GET")).json["files"]
        assert files == (await _history(person, session_id))["workspace"]["workspace_files"]
        return {
            file["path"]: (await desk.request("GET", "/content", file_path=file["path"])).json["content"]
            for file in files
        }

    await _write_file(person, session_id, "/a.md", "one", upstream)
    await _write_file(person, session_id, "/a.md", "two", upstream)
    await desk.write("/a.md", "two, by hand", base="two")
    await _write_file(person, session_id, "/b.md", "bee", upstream)
    old_head = (await _history(person, session_id))["messages"][-1]["id"]
    assert await shown() == {"/a.md": "two, by hand", "/b.md": "bee"}

    second = (await _history(person, session_id))["turns"][1]["question_id"]
    upstream.script(
        reply(call("read_file", {"file_path": "/a.md"}), stop("tool_calls")),
        reply(call("write_file", {"file_path": "/b.md", "content": "another"}), stop("tool_calls")),
        reply(say("Done."), stop()),
    )
    await person.request("POST", f"/v2/sessions/{session_id}/messages/{second}/edit", {"content": "Another?"})
    [read] = [one for one in (await _history(person, session_id))["messages"] if one.get("name") == "read_file"]
    assert "one" in read["content"], "the agent has the files of its branch before it"
    assert await shown() == {"/a.md": "one", "/b.md": "another"}
    new_head = (await _history(person, session_id))["messages"][-1]["id"]
    versions = (await desk.request("GET", "/versions", file_path="/b.md")).json["versions"]
    assert [one["number"] for one in versions] == [2], "a version of another branch is not one of this"
    assert (await desk.request("GET", "/diff", file_path="/b.md")).status == 200

    await person.request("PATCH", f"/v2/sessions/{session_id}", {"head": old_head})
    assert await shown() == {"/a.md": "two, by hand", "/b.md": "bee"}
    numbers = [one["number"] for one in (await desk.request("GET", "/versions", file_path="/a.md")).json["versions"]]
    assert numbers == [3, 2, 1]
    await desk.write("/a.md", "again by hand", base="two, by hand")
    await person.request("PATCH", f"/v2/sessions/{session_id}", {"head": new_head})
    assert await shown() == {"/a.md": "one", "/b.md": "another"}
    await desk.write("/a.md", "three", base="one")
    assert await shown() == {"/a.md": "three", "/b.md": "another"}
    await person.request("PATCH", f"/v2/sessions/{session_id}", {"head": old_head})
    assert await shown() == {"/a.md": "again by hand", "/b.md": "bee"}


async def test_a_retry_begins_with_the_files_of_before(house: House, upstream: Upstream):
    person = house.local
    session_id = await person.create_session()
    await _write_file(person, session_id, "/a.md", "first try", upstream)
    message = (await _history(person, session_id))["messages"][-1]["id"]
    upstream.script(reply(say("No file this time."), stop()))
    await person.request("POST", f"/v2/sessions/{session_id}/messages/{message}/retry", {})
    assert (await Desk(person, session_id).request("GET")).json["files"] == []
    await person.request("PATCH", f"/v2/sessions/{session_id}", {"head": message})
    assert await Desk(person, session_id).names() == ["a.md"]
