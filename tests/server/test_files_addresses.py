"""The `url` of a file record serves the file to its owner, and to no other user."""

from urllib.parse import unquote

import pytest

from server.forms import upload_files
from server.harness import ApiClient, ServerHarness

NAMES = ["report.md", "folder/báo cáo 1.md", "100% sure?.md", "a#b.md", "页.html"]


async def write_file(client: ApiClient, session_id: str, path: str, content: str) -> str:
    """The url of a file that the agent writes."""
    workspace = client.server.app.sessions.workspace(client.id, session_id)
    return (await workspace.write(path, content, message_id=None)).url


@pytest.mark.parametrize("name", NAMES)
async def test_the_url_of_a_file_that_was_written_leads_to_it(server: ServerHarness, name: str):
    ann = await server.add_user("ann")
    session_id = await ann.create_session()
    await write_file(ann, session_id, f"/{name}", "What it holds.")
    [record] = (await ann.request("GET", f"/v2/sessions/{session_id}/files")).json["files"]
    assert unquote(record["url"]) == f"workspace/{ann.id}/{name}"
    response = await ann.request("GET", f"/{record['url']}")
    assert (response.status, response.body) == (200, b"What it holds.")
    assert response.headers["content-disposition"].startswith("attachment")
    again = await ann.request("GET", f"/{record['url']}", if_none_match=response.headers["etag"])
    assert again.status == 304


@pytest.mark.parametrize("name", ["notes.txt", "báo cáo #1.txt"])
async def test_the_url_of_an_upload_leads_to_it(server: ServerHarness, name: str):
    ann = await server.add_user("ann")
    [record] = (await upload_files(ann, await ann.create_session(), (name, b"Brought."))).json["files"]
    assert record["url"].startswith(f"uploads/{ann.id}/{record['id']}/")
    response = await ann.request("GET", f"/{record['url']}")
    assert (response.status, response.body) == (200, b"Brought.")


async def test_files_of_one_path_in_two_sessions_have_urls_of_their_own(server: ServerHarness):
    ann = await server.add_user("ann")
    first, second = await ann.create_session(), await ann.create_session()
    urls = [await write_file(ann, one, "/report.md", text) for one, text in ((first, "First."), (second, "Second."))]
    assert [(await ann.request("GET", f"/{url}")).body for url in urls] == [b"First.", b"Second."]
    plain = f"workspace/{ann.id}/report.md"
    assert urls == [plain, f"{plain}?session={second}"]
    await ann.request("DELETE", f"/v2/sessions/{first}")
    assert (await ann.request("GET", f"/{plain}")).status == 404
    assert (await ann.request("GET", f"/{urls[1]}")).body == b"Second."
    third = await ann.create_session()
    assert await write_file(ann, third, "/report.md", "Third.") == plain
    assert (await ann.request("GET", f"/{plain}")).body == b"Third."


async def test_what_belongs_to_somebody_else_or_is_gone_does_not_exist(server: ServerHarness):
    ann, ben = await server.add_user("ann"), await server.add_user("ben")
    session_id, own = await ann.create_session(), await ben.create_session()
    url = await write_file(ann, session_id, "/report.md", "Secret.")
    [record] = (await upload_files(ann, session_id, ("a.txt", b"Secret."))).json["files"]
    swapped = f"workspace/{ben.id}/report.md?session={session_id}"
    for path in (url, url.partition("?")[0], record["url"], swapped, f"workspace/{ben.id}/report.md"):
        assert (await ben.request("GET", f"/{path}")).status == 404, path
        assert (await server.request("GET", f"/{path}")).status == 401, path
    for path in (
        f"workspace/{ann.id}/none.md",
        f"workspace/{ann.id}/report.md?session={own}",
        f"workspace/{ann.id}/..%2Freport.md",
    ):
        assert (await ann.request("GET", f"/{path}")).status == 404, path
    await ann.request("DELETE", f"/v2/sessions/{session_id}/files?file_path=/report.md")
    assert (await ann.request("GET", f"/{url}")).status == 404
