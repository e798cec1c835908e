"""Versions and edits over HTTP: no change is lost, and none overwrites an unseen one."""

from collections.abc import AsyncIterator

import pytest

from server.forms import upload_files
from server.session_files import SessionFiles, hash_of


async def test_an_edit_of_what_the_user_saw_is_a_new_version(session_files: SessionFiles):
    await session_files.write("/a.md", "one\n")
    response = await session_files.write("/a.md", "two\n", base="one\n")
    versions = (await session_files.request("GET", "/versions", file_path="/a.md")).json
    assert response.status == 200
    assert [(one["number"], one["hash"], one["size"], one["author"]) for one in versions["versions"]] == [
        (2, hash_of("two\n"), 4, "user"),
        (1, hash_of("one\n"), 4, "user"),
    ]
    assert (versions["file_path"], versions["filename"]) == ("/a.md", "a.md")


@pytest.mark.parametrize("base", [None, "something else"])
async def test_an_edit_of_anything_else_overwrites_nothing(session_files: SessionFiles, base: str | None):
    await session_files.write("/a.md", "theirs")
    response = await session_files.write("/a.md", "mine", base=base)
    assert (response.status, response.error) == (409, "file_changed")
    assert (await session_files.request("GET", "/content", file_path="/a.md")).json["content"] == "theirs"


async def test_an_edit_of_a_file_that_is_gone_is_a_conflict(session_files: SessionFiles):
    assert (await session_files.write("/a.md", "x", base="y")).status == 409


async def test_an_upload_is_kept_as_it_came(session_files: SessionFiles):
    path = (await upload_files(session_files.client, session_files.session_id, ("a.txt", b"a"))).json["files"][0][
        "path"
    ]
    assert (await session_files.write(path, "b", base="a")).status == 400
    assert (await session_files.write("/a.txt", "b")).status == 201


async def test_an_earlier_version_is_shown_compared_and_brought_back(session_files: SessionFiles):
    first = "one\ntwo\n"
    await session_files.write("/a.md", first)
    await session_files.write("/a.md", "one\n2\n", base=first)
    await session_files.write("/a.md", "1\n2\n", base="one\n2\n")

    earlier = await session_files.request("GET", "/content", file_path="/a.md", version=1)
    last = (await session_files.request("GET", "/diff", file_path="/a.md")).json
    all_of_it = (await session_files.request("GET", "/versions/diff", file_path="/a.md", from_=1, to=3)).json
    back = await session_files.request("POST", "/restore", {"file_path": "/a.md", "version": 1})
    forth = await session_files.request("POST", "/versions/restore", {"file_path": "/a.md", "version": 3})

    assert (earlier.json["content"], earlier.headers["etag"]) == (first, f'"{hash_of(first)}"')
    assert last == {
        "file_path": "/a.md",
        "from": 2,
        "to": 3,
        "diff": "--- a.md (version 2)\n+++ a.md (version 3)\n@@ -1,2 +1,2 @@\n-one\n+1\n 2\n",
        "added": 1,
        "removed": 1,
    }
    assert (all_of_it["from"], all_of_it["to"], all_of_it["added"], all_of_it["removed"]) == (1, 3, 2, 2)
    assert (back.status, back.json["path"], forth.status) == (200, "/a.md", 200)
    numbers = [
        one["number"] for one in (await session_files.request("GET", "/versions", file_path="/a.md")).json["versions"]
    ]
    assert numbers == [5, 4, 3, 2, 1]


async def test_what_is_brought_back_may_be_named_in_the_query(session_files: SessionFiles):
    await session_files.write("/a.md", "one")
    await session_files.write("/a.md", "two", base="one")
    named = await session_files.request("POST", "/restore", file_path="/a.md", version=1)
    in_both = await session_files.request(
        "POST", "/versions/restore", {"file_path": "/a.md", "version": 2}, file_path="/a.md"
    )
    otherwise = await session_files.request(
        "POST", "/restore", {"file_path": "a.md", "version": 2}, file_path="/./a.md"
    )
    assert (named.status, in_both.status, otherwise.status) == (200, 200, 200)
    assert (await session_files.request("GET", "/content", file_path="/a.md")).json["content"] == "two"
    for body, query in (
        ({"version": 2}, {"file_path": "/a.md", "version": 1}),
        ({"file_path": "/b.md"}, {"file_path": "/a.md", "version": 1}),
        ({"version": 1}, {}),
        (None, {"file_path": "/a.md"}),
    ):
        response = await session_files.request("POST", "/restore", body, **query)
        assert (response.status, response.error) == (400, "invalid_request")


async def test_the_only_version_differs_in_nothing_from_itself(session_files: SessionFiles):
    await session_files.write("/a.md", "one\n")
    assert (await session_files.request("GET", "/diff", file_path="/a.md")).json == {
        "file_path": "/a.md",
        "from": 1,
        "to": 1,
        "diff": "",
        "added": 0,
        "removed": 0,
    }


async def test_a_large_upload_is_not_compared(session_files: SessionFiles):
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(21):
            yield b"x" * 1_000_000

    async with session_files.client.server.app.uploads.spool(pieces()) as file:
        await session_files.client.server.app.uploads.accept("local", session_files.session_id, "large.txt", file)
    response = await session_files.request("GET", "/diff", file_path="large.txt")
    assert (response.status, response.json["diff"], response.json["from"], response.json["to"]) == (200, None, 1, 1)


async def test_restoring_what_the_user_did_not_see_is_a_conflict(session_files: SessionFiles):
    await session_files.write("/a.md", "one")
    await session_files.write("/a.md", "two", base="one")
    body = {"file_path": "/a.md", "version": 1, "base_hash": hash_of("one")}
    assert (await session_files.request("POST", "/restore", body)).status == 409
