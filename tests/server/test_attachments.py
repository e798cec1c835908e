"""Files that come with a question: the model reads their names, sees the images among them, and history has them."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from footnote.models.reader.messages import MESSAGES
from footnote.protocol.files import FileRecord
from footnote.protocol.tools import Locale
from server.house import House, answer_text, open_house, parse_events
from upstream import Upstream, call, reply, say, stop

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


@pytest.fixture
async def house(tmp_path: Path, upstream: Upstream) -> AsyncIterator[House]:
    async with open_house(tmp_path, upstream) as opened:
        yield opened


async def upload(house: House, session_id: str, name: str, content: bytes) -> FileRecord:
    async def pieces() -> AsyncIterator[bytes]:
        yield content

    async with house.app.uploads.spool(pieces()) as spooled:
        return await house.app.uploads.accept("local", session_id, name, spooled)


async def test_a_model_that_sees_is_shown_the_images_and_told_the_names(house: House, upstream: Upstream):
    upstream.script(reply(say("A dot."), stop()), reply(say("Still a dot."), stop()))
    session_id = await house.local.create_session()
    picture = await upload(house, session_id, "dot.png", PNG)
    table = await upload(house, session_id, "bảng.csv", b"a,b\n1,2\n")
    assert (picture.source, picture.icon_type, picture.message_id) == ("upload", "image", None)
    assert picture.path == f"{house.app.storage.address}uploads/local/{picture.id}/dot.png"
    assert picture.url == f"uploads/local/{picture.id}/dot.png"
    ask = {"content": "What is it?", "attachments": [picture.path, "bảng.csv"]}
    assert (await house.local.request("POST", f"/v2/sessions/{session_id}/messages", ask)).status == 200
    await house.local.ask_for_events(session_id, "And now?")
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
    history = (await house.local.request("GET", f"/v2/sessions/{session_id}/history")).json
    question = history["messages"][0]
    assert [(file["path"], file["message_id"]) for file in question["attachments"]] == [
        (picture.path, question["id"]),
        (table.path, question["id"]),
    ]
    assert {file["path"]: file["message_id"] for file in history["workspace"]["workspace_files"]} == {
        picture.path: question["id"],
        table.path: question["id"],
    }


async def test_history_has_both_kinds_of_files_and_the_attachments_of_the_answer(house: House, upstream: Upstream):
    upstream.script(
        reply(call("write_file", {"file_path": "/report.md", "content": "# Report"}, id="toolu_1"), stop("tool_use")),
        reply(call("read_file", {"file_path": "data.csv"}, id="toolu_2"), stop("tool_use")),
        reply(say("Done."), stop()),
    )
    session_id = await house.local.create_session()
    data = await upload(house, session_id, "data.csv", "tên,giá\ngạo,1\n".encode())
    told = await house.local.ask_for_events(session_id, "Write a report on data.csv")
    blocks = [event["content_block"] for event in told if event["type"] == "content_block_start"]
    (attachments,) = [block for block in blocks if block["type"] == "attachments"]
    assert [file["path"] for file in attachments["files"]] == ["/report.md"]
    (read,) = [block for block in blocks if block["type"] == "tool_result" and block["name"] == "read_file"]
    assert "tên,giá" in read["content"]
    history = (await house.local.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert history["messages"][-1]["attachments"] == attachments["files"]
    files = {file["path"]: file["source"] for file in history["workspace"]["workspace_files"]}
    assert files == {"/report.md": "generated", data.path: "upload"}
    assert "/v2/downloads/" not in str(history)


async def test_a_changed_question_keeps_its_files_unless_it_says_otherwise(house: House, upstream: Upstream):
    upstream.script(lambda _: reply(say("So it is."), stop()))
    session_id = await house.local.create_session()
    first, second, other = [await upload(house, session_id, f"{name}.txt", name.encode()) for name in "abc"]
    path = f"/v2/sessions/{session_id}/messages"
    ask = {"content": "What is it?", "attachments": [first.path, second.path]}
    question_id = parse_events((await house.local.request("POST", path, ask)).body)[0]["message"]["id"]

    async def attached(**fields: object) -> list[str]:
        body = {"content": "And what is it now?", **fields}
        assert (await house.local.request("POST", f"{path}/{question_id}/edit", body)).status == 200
        history = (await house.local.request("GET", f"/v2/sessions/{session_id}/history")).json
        return [file["path"] for file in history["messages"][0]["attachments"]]

    assert await attached() == [first.path, second.path]
    assert await attached(attachments=None) == [first.path, second.path]
    assert await attached(attachments=[]) == []
    assert await attached(attachments=[other.path]) == [other.path]
    await house.app.sessions.workspace("local", session_id).delete(first.path)
    assert await attached() == [second.path], "what is gone cannot come along"


async def test_a_file_of_somebody_else_cannot_come_with_a_question(house: House, upstream: Upstream):
    ann = await house.add_user("ann")
    session_id = await house.local.create_session()
    secret = await upload(house, session_id, "secret.txt", b"secret")
    theirs = await ann.create_session()
    ask = {"content": "What?", "attachments": [secret.path]}
    assert (await ann.request("POST", f"/v2/sessions/{theirs}/messages", ask)).error == "file_not_found"
    assert upstream.requests == []


async def test_an_upload_that_is_deleted_is_gone_from_the_library_too(house: House):
    session_id = await house.local.create_session()
    text = "The quokka is a small macropod about the size of a domestic cat. " * 3
    record = await upload(house, session_id, "quokka.txt", text.encode())
    assert [hit.title for hit in await house.app.library.search("quokka macropod", 3)] == ["quokka.txt"]
    await house.app.sessions.workspace("local", session_id).delete(record.path)
    assert await house.app.library.search("quokka macropod", 3) == ()
    await upload(house, session_id, "quokka.txt", text.encode())
    assert (await house.local.request("DELETE", f"/v2/sessions/{session_id}")).status == 204
    assert await house.app.library.search("quokka macropod", 3) == ()


async def test_without_a_key_the_file_is_quoted_with_a_footnote_that_opens_it(tmp_path: Path):
    async with open_house(tmp_path) as house:
        session_id = await house.local.create_session()
        text = (
            "The quokka (Setonix brachyurus) is a small macropod about the size of a domestic cat.\n\n"
            "It lives on Rottnest Island, near Perth, and on Bald Island.\n"
        )
        record = await upload(house, session_id, "quokka.md", text.encode())
        ask = {"content": "Where does the quokka live?", "attachments": [record.path]}
        answer = await house.local.request("POST", f"/v2/sessions/{session_id}/messages", ask)
        blocks = [
            event["content_block"] for event in parse_events(answer.body) if event["type"] == "content_block_start"
        ]
        assert [block["name"] for block in blocks if block["type"] == "tool_use"] == ["read_page"]
        assert "Rottnest Island" in answer_text(parse_events(answer.body))
        source = (await house.local.request("GET", f"/v2/sessions/{session_id}/sources/1")).json
        assert source["url"] == "footnote://files/quokka.md"
        (snapshot,) = source["snapshots"]
        quotes = [snapshot["text"][quote["start"] : quote["end"]] for quote in snapshot["quotes"]]
        assert any("Rottnest Island" in quote for quote in quotes)


@pytest.mark.parametrize(("question", "said"), [("What does it say?", "en"), ("Tệp này nói gì?", "vi")])
async def test_without_a_key_a_file_that_cannot_be_read_is_said_to_be_so(tmp_path: Path, question: str, said: Locale):
    async with open_house(tmp_path) as house:
        session_id = await house.local.create_session()
        broken = await upload(house, session_id, "broken.docx", b"PK\x03\x04 junk")
        notes = await upload(house, session_id, "notes.txt", b"It says that water boils at 100 degrees.")
        ask = {"content": question, "attachments": [broken.path]}
        answer = await house.local.request("POST", f"/v2/sessions/{session_id}/messages", ask)
        assert answer_text(parse_events(answer.body)).startswith(
            MESSAGES[said].only_unread.format(files="`broken.docx`")
        )
        assert b"tool_use" not in answer.body, "it does not search for something else"
        ask = {"content": question, "attachments": [broken.path, notes.path]}
        answer = await house.local.request("POST", f"/v2/sessions/{session_id}/messages", ask)
        text = answer_text(parse_events(answer.body))
        assert text.startswith(MESSAGES[said].unread.format(files="`broken.docx`"))
        assert "water boils at 100 degrees" in text
