"""Attachments of a question: the model gets their names and the images, and the history lists them."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from footnote.models.reader.messages import MESSAGES
from footnote.protocol.files import FileRecord
from footnote.protocol.tools import Locale
from server.harness import ServerHarness, answer_text, open_server, parse_events
from upstream import Upstream, call, reply, say, stop

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    async with open_server(tmp_path, upstream) as opened:
        yield opened


async def upload(server: ServerHarness, session_id: str, name: str, content: bytes) -> FileRecord:
    async def pieces() -> AsyncIterator[bytes]:
        yield content

    async with server.app.uploads.spool(pieces()) as spooled:
        return await server.app.uploads.accept("local", session_id, name, spooled)


async def test_a_model_that_sees_is_shown_the_images_and_told_the_names(server: ServerHarness, upstream: Upstream):
    upstream.script(reply(say("A dot."), stop()), reply(say("Still a dot."), stop()))
    session_id = await server.local.create_session()
    picture = await upload(server, session_id, "dot.png", PNG)
    table = await upload(server, session_id, "bảng.csv", b"a,b\n1,2\n")
    assert (picture.source, picture.icon_type, picture.message_id) == ("upload", "image", None)
    assert picture.path == f"{server.app.storage.address}uploads/local/{picture.id}/dot.png"
    assert picture.url == f"uploads/local/{picture.id}/dot.png"
    body = {"content": "What is it?", "attachments": [picture.path, "bảng.csv"]}
    assert (await server.local.request("POST", f"/v2/sessions/{session_id}/messages", body)).status == 200
    await server.local.ask_for_events(session_id, "And now?")
    for request in upstream.requests:
        first = next(message for message in request.body["messages"] if message["role"] == "user")
        assert first["content"] == [
            {"type": "text", "text": "What is it?"},
            {
                "type": "text",
                "text": f"Files that come with this message:\n- {picture.path}\n"
                f"- {table.path} (to cite it: read_page footnote://files/bảng.csv)",
            },
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(PNG).decode()}"}},
        ]
    history = (await server.local.request("GET", f"/v2/sessions/{session_id}/history")).json
    question = history["messages"][0]
    assert [(file["path"], file["message_id"]) for file in question["attachments"]] == [
        (picture.path, question["id"]),
        (table.path, question["id"]),
    ]
    assert {file["path"]: file["message_id"] for file in history["workspace"]["workspace_files"]} == {
        picture.path: question["id"],
        table.path: question["id"],
    }


async def test_history_has_both_kinds_of_files_and_the_attachments_of_the_answer(
    server: ServerHarness, upstream: Upstream
):
    upstream.script(
        reply(call("write_file", {"file_path": "/report.md", "content": "# Report"}, id="toolu_1"), stop("tool_use")),
        reply(call("read_file", {"file_path": "data.csv"}, id="toolu_2"), stop("tool_use")),
        reply(say("Done."), stop()),
    )
    session_id = await server.local.create_session()
    data = await upload(server, session_id, "data.csv", "tên,giá\ngạo,1\n".encode())
    events = await server.local.ask_for_events(session_id, "Write a report on data.csv")
    blocks = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    (attachments,) = [block for block in blocks if block["type"] == "attachments"]
    assert [file["path"] for file in attachments["files"]] == ["/report.md"]
    (read,) = [block for block in blocks if block["type"] == "tool_result" and block["name"] == "read_file"]
    assert "tên,giá" in read["content"]
    history = (await server.local.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert history["messages"][-1]["attachments"] == attachments["files"]
    files = {file["path"]: file["source"] for file in history["workspace"]["workspace_files"]}
    assert files == {"/report.md": "generated", data.path: "upload"}
    assert "/v2/downloads/" not in str(history)


async def test_a_changed_question_keeps_its_files_unless_it_says_otherwise(server: ServerHarness, upstream: Upstream):
    upstream.script(lambda _: reply(say("So it is."), stop()))
    session_id = await server.local.create_session()
    first, second, other = [await upload(server, session_id, f"{name}.txt", name.encode()) for name in "abc"]
    path = f"/v2/sessions/{session_id}/messages"
    body = {"content": "What is it?", "attachments": [first.path, second.path]}
    question_id = parse_events((await server.local.request("POST", path, body)).body)[0]["message"]["id"]

    async def attached(**fields: object) -> list[str]:
        body = {"content": "And what is it now?", **fields}
        assert (await server.local.request("POST", f"{path}/{question_id}/edit", body)).status == 200
        history = (await server.local.request("GET", f"/v2/sessions/{session_id}/history")).json
        return [file["path"] for file in history["messages"][0]["attachments"]]

    assert await attached() == [first.path, second.path]
    assert await attached(attachments=None) == [first.path, second.path]
    assert await attached(attachments=[]) == []
    assert await attached(attachments=[other.path]) == [other.path]
    await server.app.sessions.workspace("local", session_id).delete(first.path)
    assert await attached() == [second.path], "what is gone cannot come along"


async def test_a_file_of_somebody_else_cannot_come_with_a_question(server: ServerHarness, upstream: Upstream):
    ann = await server.add_user("ann")
    session_id = await server.local.create_session()
    secret = await upload(server, session_id, "secret.txt", b"secret")
    theirs = await ann.create_session()
    body = {"content": "What?", "attachments": [secret.path]}
    assert (await ann.request("POST", f"/v2/sessions/{theirs}/messages", body)).error == "file_not_found"
    assert upstream.requests == []


async def test_an_upload_that_is_deleted_is_gone_from_the_library_too(server: ServerHarness):
    session_id = await server.local.create_session()
    text = "The quokka is a small macropod about the size of a domestic cat. " * 3
    record = await upload(server, session_id, "quokka.txt", text.encode())
    assert [hit.title for hit in await server.app.library.search("quokka macropod", 3)] == ["quokka.txt"]
    await server.app.sessions.workspace("local", session_id).delete(record.path)
    assert await server.app.library.search("quokka macropod", 3) == ()
    await upload(server, session_id, "quokka.txt", text.encode())
    assert (await server.local.request("DELETE", f"/v2/sessions/{session_id}")).status == 204
    assert await server.app.library.search("quokka macropod", 3) == ()


async def test_without_a_key_the_file_is_quoted_with_a_footnote_that_opens_it(tmp_path: Path):
    async with open_server(tmp_path) as server:
        session_id = await server.local.create_session()
        text = (
            "The quokka (Setonix brachyurus) is a small macropod about the size of a domestic cat.\n\n"
            "It lives on Rottnest Island, near Perth, and on Bald Island.\n"
        )
        record = await upload(server, session_id, "quokka.md", text.encode())
        body = {"content": "Where does the quokka live?", "attachments": [record.path]}
        response = await server.local.request("POST", f"/v2/sessions/{session_id}/messages", body)
        blocks = [
            event["content_block"] for event in parse_events(response.body) if event["type"] == "content_block_start"
        ]
        assert [block["name"] for block in blocks if block["type"] == "tool_use"] == ["read_page"]
        assert "Rottnest Island" in answer_text(parse_events(response.body))
        source = (await server.local.request("GET", f"/v2/sessions/{session_id}/sources/1")).json
        assert source["url"] == "footnote://files/quokka.md"
        (snapshot,) = source["snapshots"]
        quotes = [snapshot["text"][quote["start"] : quote["end"]] for quote in snapshot["quotes"]]
        assert any("Rottnest Island" in quote for quote in quotes)


@pytest.mark.parametrize(("question", "locale"), [("What does it say?", "en"), ("Tệp này nói gì?", "vi")])
async def test_without_a_key_a_file_that_cannot_be_read_is_said_to_be_so(tmp_path: Path, question: str, locale: Locale):
    async with open_server(tmp_path) as server:
        session_id = await server.local.create_session()
        broken = await upload(server, session_id, "broken.docx", b"PK\x03\x04 junk")
        notes = await upload(server, session_id, "notes.txt", b"It says that water boils at 100 degrees.")
        body = {"content": question, "attachments": [broken.path]}
        response = await server.local.request("POST", f"/v2/sessions/{session_id}/messages", body)
        assert answer_text(parse_events(response.body)).startswith(
            MESSAGES[locale].only_unread.format(files="`broken.docx`")
        )
        assert b"tool_use" not in response.body, "it does not search for something else"
        body = {"content": question, "attachments": [broken.path, notes.path]}
        response = await server.local.request("POST", f"/v2/sessions/{session_id}/messages", body)
        text = answer_text(parse_events(response.body))
        assert text.startswith(MESSAGES[locale].unread.format(files="`broken.docx`"))
        assert "water boils at 100 degrees" in text
