"""`GET /v2/sessions?query=` over files."""

from server.forms import upload_files
from server.harness import ServerHarness
from server.session_files import SessionFiles


async def test_the_text_of_an_upload_and_of_an_edit_is_found_until_the_file_is_deleted(server: ServerHarness):
    ann = await server.add_user("ann")
    session_id = await ann.create_session(title="Animals")
    [record] = (await upload_files(ann, session_id, ("marsupials.txt", b"A kangaroo hops."))).json["files"]
    session_files = SessionFiles(ann, session_id)
    await session_files.write("/notes.md", "The wallaby hops, too.")

    found = (await ann.request("GET", "/v2/sessions?query=kangaroo")).json["sessions"]
    assert [(one["id"], one["path"], one["message_id"], one["excerpt"]) for one in found] == [
        (session_id, record["path"], None, "A kangaroo hops.")
    ]
    found = (await ann.request("GET", "/v2/sessions?query=wallaby")).json["sessions"]
    assert [one["path"] for one in found] == ["/notes.md"]
    assert (await (await server.add_user("ben")).request("GET", "/v2/sessions?query=wallaby")).json["sessions"] == []

    for path, word in ((record["path"], "kangaroo"), ("/notes.md", "wallaby")):
        await session_files.request("DELETE", file_path=path)
        assert (await ann.request("GET", f"/v2/sessions?query={word}")).json["sessions"] == []
