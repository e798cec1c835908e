"""Files of a session over HTTP: upload, read, edit, compare, convert, delete."""

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from footnote.db.blobs import has_blob
from server.forms import CONTENT_TYPE, END, part, upload_files
from server.harness import ServerHarness, open_server
from server.session_files import SessionFiles, hash_of


@pytest.fixture
async def session_files(server: ServerHarness) -> SessionFiles:
    return SessionFiles(server.local, await server.local.create_session(title="Báo cáo: các nguồn"))


async def test_an_upload_is_listed_with_a_record_as_clients_know_it(session_files: SessionFiles):
    response = await upload_files(
        session_files.client, session_files.session_id, ("notes.txt", b"hello"), ("số liệu.csv", b"a,b\n1,2\n")
    )
    assert response.status == 201
    first, second = response.json["files"]
    assert {**first, "id": "", "path": "", "url": "", "created_at": ""} == {
        "id": "",
        "path": "",
        "filename": "notes.txt",
        "icon_type": "txt",
        "source": "upload",
        "created_at": "",
        "url": "",
        "message_id": None,
    }
    assert first["url"] == f"uploads/local/{first['id']}/notes.txt"
    assert first["path"] == f"{session_files.client.server.app.storage.address}{first['url']}"
    assert (second["filename"], second["icon_type"]) == ("số liệu.csv", "csv")
    listed = (await session_files.request("GET")).json["files"]
    assert sorted(listed, key=lambda one: one["filename"]) == [first, second]


async def test_the_same_file_again_is_the_one_that_is_there(session_files: SessionFiles):
    first = await upload_files(session_files.client, session_files.session_id, ("notes.txt", b"hello"))
    again = await upload_files(session_files.client, session_files.session_id, ("notes.txt", b"hello"))
    assert again.json == first.json
    assert await session_files.names() == ["notes.txt"]


async def test_fields_beside_the_files_are_passed_over(session_files: SessionFiles):
    body = part(None, b"x", name="title") + part("a.txt", b"a", name="whatever") + part("", b"") + END
    response = await session_files.client.server.request(
        "POST", session_files.path, token=session_files.client.token, data=body, content_type=CONTENT_TYPE
    )
    assert (response.status, [one["filename"] for one in response.json["files"]]) == (201, ["a.txt"])


async def test_a_form_without_a_file_is_the_senders_mistake(session_files: SessionFiles):
    response = await upload_files(session_files.client, session_files.session_id)
    assert (response.status, response.error) == (400, "invalid_request")
    assert "no file in it" in response.json["error"]["message"]


async def test_one_file_of_several_that_is_refused_is_named_and_the_others_are_kept(session_files: SessionFiles):
    response = await upload_files(
        session_files.client,
        session_files.session_id,
        ("a.txt", b"a"),
        ("lying.pdf", b"no PDF at all"),
        ("b.txt", b"b"),
    )
    assert response.status == 415
    message = response.json["error"]["message"]
    assert message.startswith("lying.pdf was not taken: ")
    assert message.endswith(" 2 other files were taken.")
    assert await session_files.names() == ["a.txt", "b.txt"]


async def test_a_file_larger_than_the_limit_is_too_large_and_those_before_it_stay(tmp_path: Path):
    async with open_server(tmp_path, FOOTNOTE_LIMITS_UPLOAD_BYTES="1000") as server:
        session_files = SessionFiles(server.local, await server.local.create_session())
        response = await upload_files(
            server.local, session_files.session_id, ("a.txt", b"a" * 1000), ("b.txt", b"b" * 1001), ("c.txt", b"c")
        )
        assert (response.status, response.error) == (413, "too_large")
        assert response.json["error"]["message"].startswith(
            "b.txt was not taken: The file is larger than 1,000 bytes, "
        )
        assert response.json["error"]["message"].endswith("1 other file was taken.")
        assert await session_files.names() == ["a.txt"]
        assert list((tmp_path / ".footnote" / "spool").iterdir()) == []


async def test_a_user_who_has_no_room_left_is_told_so(tmp_path: Path):
    async with open_server(tmp_path, FOOTNOTE_LIMITS_STORAGE_BYTES_PER_USER="1500") as server:
        session_files = SessionFiles(server.local, await server.local.create_session())
        first = await upload_files(server.local, session_files.session_id, ("a.txt", b"a" * 1000))
        second = await upload_files(server.local, session_files.session_id, ("b.txt", b"b" * 1000))
        assert (first.status, second.status, second.error) == (201, 429, "limit_reached")
        assert await session_files.names() == ["a.txt"]


async def test_a_text_is_shown_exactly_as_it_was_written(session_files: SessionFiles):
    text = "\ufeffZeile 1\r\nchữ Việt 中文 🎉\n\n\u2028 end"
    response = await session_files.write("/notes/báo cáo.md", text)
    shown = await session_files.request("GET", "/content", file_path="/notes/báo cáo.md")
    assert (response.status, shown.status) == (201, 200)
    assert shown.json == {
        "content": text,
        "filename": "báo cáo.md",
        "file_path": "/notes/báo cáo.md",
        "download_url": None,
    }
    assert response.headers["etag"] == shown.headers["etag"] == f'"{hash_of(text)}"'


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.txt", "Größe und Maß, 100 °C\n".encode("latin-1") * 3, "Größe und Maß, 100 °C\n" * 3),
        ("a.csv", "Tên,Giá\nGạo,1\n".encode("utf-16"), "Tên,Giá\nGạo,1\n"),
        ("a.md", "plain letters\n".encode("utf-16-le"), "plain letters\n"),
        (
            "a.txt",
            ("人人生而自由，在尊严和权利上一律平等。" * 5).encode("gb18030"),
            "人人生而自由，在尊严和权利上一律平等。" * 5,
        ),
    ],
)
async def test_a_text_in_another_encoding_is_shown_as_a_text(
    session_files: SessionFiles, name: str, content: bytes, text: str
):
    path = (await upload_files(session_files.client, session_files.session_id, (name, content))).json["files"][0][
        "path"
    ]
    shown = (await session_files.request("GET", "/content", file_path=path)).json
    assert shown == {"content": text, "filename": name, "file_path": path, "download_url": None}


@pytest.mark.parametrize(
    ("name", "content", "icon"),
    [
        ("a.pdf", b"%PDF-1.4 fake", "pdf"),
        ("a.docx", b"PK\x03\x04" + b"junk" * 50, "docx"),
        ("b.zip", b"PK\x03\x04 junk", "archive"),
        ("a.bin", bytes(range(256)) * 4, "file"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c" + bytes(20), "archive"),
    ],
)
async def test_what_cannot_be_read_is_kept_and_can_be_fetched(
    session_files: SessionFiles, name: str, content: bytes, icon: str
):
    upload = await upload_files(session_files.client, session_files.session_id, (name, content))
    assert (upload.status, [one["icon_type"] for one in upload.json["files"]]) == (201, [icon])
    path = upload.json["files"][0]["path"]
    shown = (await session_files.request("GET", "/content", file_path=path)).json
    assert shown["content"] is None
    assert (await session_files.client.server.request("GET", shown["download_url"])).body == content
    response = await session_files.request("GET", "/text", file_path=path)
    assert (response.status, response.error) == (422, "unprocessable")
    assert response.json["error"]["message"].startswith(f"{name} has no text to be read: it is ")


async def test_what_is_no_text_is_fetched_from_an_address(session_files: SessionFiles, picture: bytes):
    path = (await upload_files(session_files.client, session_files.session_id, ("ảnh.png", picture))).json["files"][0][
        "path"
    ]
    shown = (await session_files.request("GET", "/content", file_path=path)).json
    assert {**shown, "download_url": ""} == {
        "content": None,
        "filename": "ảnh.png",
        "file_path": path,
        "download_url": "",
    }
    assert shown["download_url"].startswith("/v2/downloads/")
    assert (await session_files.client.server.request("GET", shown["download_url"])).body == picture


async def test_a_text_that_is_too_long_to_be_shown_is_fetched_from_an_address(session_files: SessionFiles):
    text = "Một dòng.\n" * 250_000
    await session_files.write("/long.txt", text)
    shown = (await session_files.request("GET", "/content", file_path="/long.txt")).json
    assert shown["content"] is None
    assert (await session_files.client.server.request("GET", shown["download_url"])).body == text.encode()


async def test_an_address_is_whole_where_people_see_another_server(tmp_path: Path, picture: bytes):
    async with open_server(tmp_path, FOOTNOTE_SERVER_PUBLIC_URL="https://footnote.example/") as server:
        session_files = SessionFiles(server.local, await server.local.create_session())
        await upload_files(server.local, session_files.session_id, ("a.png", picture))
        shown = (await session_files.request("GET", "/content", file_path="a.png")).json
        await session_files.write("/a.md", "# A")
        converted = (await session_files.request("POST", "/convert", {"file_path": "/a.md", "convert_type": "md"})).json
    assert shown["download_url"].startswith("https://footnote.example/v2/downloads/")
    assert converted["download_url"].startswith("https://footnote.example/v2/downloads/")


@pytest.mark.parametrize(
    ("method", "path", "query", "body"),
    [
        ("GET", "/content", {"file_path": "/no.md"}, None),
        ("GET", "/content", {"file_path": "/a.md", "version": 9}, None),
        ("GET", "/versions", {"file_path": "/no.md"}, None),
        ("GET", "/diff", {"file_path": "/no.md"}, None),
        ("GET", "/diff", {"file_path": "/a.md", "from_": 7, "to": 1}, None),
        ("POST", "/restore", {}, {"file_path": "/no.md", "version": 1}),
        ("POST", "/restore", {}, {"file_path": "/a.md", "version": 9}),
        ("POST", "/convert", {}, {"file_path": "/no.md", "convert_type": "md"}),
        ("POST", "/unpack", {}, {"file_path": "/no.zip"}),
        ("DELETE", "", {"file_path": "/no.md"}, None),
    ],
)
async def test_a_file_or_a_version_that_is_not_there_is_a_404(
    session_files: SessionFiles, method: str, path: str, query: dict[str, Any], body: Any
):
    await session_files.write("/a.md", "one")
    response = await session_files.request(method, path, body, **query)
    assert (response.status, response.error) == (404, "file_not_found")


@pytest.mark.parametrize("path", ["", "/..", "/a/../../etc/passwd", "C:\\x", "a\u202eb", "/" + "x" * 5000])
async def test_a_path_that_is_none_is_the_callers_mistake(session_files: SessionFiles, path: str):
    assert (await session_files.request("GET", "/content", file_path=path)).status == 400
    assert (await session_files.write(path, "x")).status == 400


async def test_a_deleted_file_is_gone(session_files: SessionFiles):
    await session_files.write("/a.md", "one")
    assert (await session_files.request("DELETE", file_path="/a.md")).status == 204
    assert await session_files.names() == []
    assert (await session_files.request("GET", "/content", file_path="/a.md")).status == 404


async def test_a_file_is_converted_to_a_document_at_an_address(session_files: SessionFiles):
    await session_files.write("/báo cáo.md", "# Tiêu đề\n\nMột đoạn.\n")
    answers = {
        kind: (await session_files.request("POST", "/convert", {"file_path": "/báo cáo.md", "convert_type": kind})).json
        for kind in ("md", "pdf", "docx")
    }
    bodies = {
        kind: (await session_files.client.server.request("GET", one["download_url"])).body
        for kind, one in answers.items()
    }
    assert answers == {
        kind: {"download_url": one["download_url"], "filename": f"báo cáo.{kind}"} for kind, one in answers.items()
    }
    assert bodies["md"].decode() == "# Tiêu đề\n\nMột đoạn.\n"
    assert bodies["pdf"].startswith(b"%PDF-")
    assert "word/document.xml" in zipfile.ZipFile(io.BytesIO(bodies["docx"])).namelist()


async def test_the_files_of_a_zip_file_become_uploads(session_files: SessionFiles):
    await upload_files(
        session_files.client, session_files.session_id, ("papers.zip", _zip(**{"a.txt": b"a", "folder/b.txt": b"b"}))
    )
    response = await session_files.request("POST", "/unpack", {"file_path": "papers.zip"})
    assert (response.status, [one["filename"] for one in response.json["files"]]) == (201, ["a.txt", "b.txt"])
    assert await session_files.names() == ["a.txt", "b.txt", "papers.zip"]


async def test_what_is_no_zip_file_is_not_unpacked(session_files: SessionFiles):
    await upload_files(session_files.client, session_files.session_id, ("a.txt", b"a"))
    response = await session_files.request("POST", "/unpack", {"file_path": "a.txt"})
    assert (response.status, response.error) == (415, "unsupported_media_type")


async def test_everything_comes_as_one_zip_file_named_after_the_session(session_files: SessionFiles, picture: bytes):
    await session_files.write("/report.md", "# Report")
    await session_files.write("/data/a.csv", "a,b")
    await upload_files(session_files.client, session_files.session_id, ("ảnh.png", picture))
    response = await session_files.request("GET", "/archive")
    with zipfile.ZipFile(io.BytesIO(response.body)) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    assert response.headers["content-type"] == "application/zip"
    assert response.headers["content-disposition"] == (
        'attachment; filename="B_o c_o_ c_c ngu_n.zip"; '
        "filename*=UTF-8''B%C3%A1o%20c%C3%A1o_%20c%C3%A1c%20ngu%E1%BB%93n.zip"
    )
    assert response.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert found == {"report.md": b"# Report", "data/a.csv": b"a,b", "uploads/ảnh.png": picture}


async def test_no_answer_tells_where_files_are_on_the_host(session_files: SessionFiles, tmp_path: Path):
    await session_files.write("/a.md", "x" * 100_000)
    await upload_files(session_files.client, session_files.session_id, ("b.txt", b"b" * 100_000), ("c.pdf", b"no PDF"))
    for method, path, query in (("GET", "", {}), ("GET", "/content", {"file_path": "/../x"})):
        await session_files.request(method, path, **query)
    for kind in ("pdf", "md"):
        await session_files.request("POST", "/convert", {"file_path": "/a.md", "convert_type": kind})
    assert [one for one in session_files.client.server.responses if str(tmp_path).encode() in one.body] == []


async def test_a_session_goes_out_as_a_bundle_and_comes_back_as_another(session_files: SessionFiles):
    await session_files.client.ask_for_events(session_files.session_id)
    await session_files.write("/report.md", "# Report")
    bundle = await session_files.client.request("GET", f"/v2/sessions/{session_files.session_id}/export")
    assert (bundle.status, bundle.headers["content-type"]) == (200, "application/zip")

    imported = await session_files.client.server.request(
        "POST", "/v2/bundles", token=session_files.client.token, data=bundle.body, content_type="application/zip"
    )

    assert imported.status == 201, imported
    assert imported.json["id"] != session_files.session_id
    assert imported.json["title"] == "Báo cáo: các nguồn"
    other = SessionFiles(session_files.client, imported.json["id"])
    assert (await other.request("GET", "/content", file_path="/report.md")).json["content"] == "# Report"


@pytest.mark.parametrize(("kind", "status"), [("application/zip", 422), ("application/json", 415), ("text/plain", 415)])
async def test_what_is_no_bundle_is_not_taken(server: ServerHarness, kind: str, status: int):
    response = await server.request(
        "POST", "/v2/bundles", token=server.local.token, data=b"no bundle", content_type=kind
    )
    assert response.status in (status, 400)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("GET", "/content?file_path=/a.md"),
        ("GET", "/versions?file_path=/a.md"),
        ("GET", "/diff?file_path=/a.md"),
        ("GET", "/archive"),
        ("DELETE", "?file_path=/a.md"),
    ],
)
async def test_the_files_of_somebody_else_are_not_there(server: ServerHarness, method: str, path: str):
    ann, bob = await server.add_user("ann"), await server.add_user("bob")
    hers = SessionFiles(ann, await ann.create_session())
    await hers.write("/a.md", "hers alone")
    theirs = await bob.request(method, hers.path + path)
    nowhere = await bob.request(method, f"/v2/sessions/nowhere/files{path}")
    assert (theirs.status, theirs.body) == (404, nowhere.body)
    assert (await hers.request("GET", "/content", file_path="/a.md")).json["content"] == "hers alone"


async def test_nobody_uploads_into_the_session_of_somebody_else(server: ServerHarness):
    ann, bob = await server.add_user("ann"), await server.add_user("bob")
    session_id = await ann.create_session()
    assert (await upload_files(bob, session_id, ("a.txt", b"a"))).status == 404
    assert await SessionFiles(ann, session_id).names() == []


def _zip(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture
def picture() -> bytes:
    """A PNG of one red pixel."""
    return bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100"
        "c9fe92ef0000000049454e44ae426082"
    )


async def test_a_converted_copy_goes_with_its_file(session_files: SessionFiles):
    for path in ("/a.md", "/b.txt", "/same as b.txt"):
        await session_files.write(path, f"# {path[:2]}\n" + "word " * 20_000)
    addresses = [
        (await session_files.request("POST", "/convert", {"file_path": path, "convert_type": kind})).json[
            "download_url"
        ]
        for path in ("/a.md", "/b.txt")
        for kind in ("pdf", "docx")
    ]
    await session_files.request("POST", "/convert", {"file_path": "/same as b.txt", "convert_type": "pdf"})
    copies = [(await session_files.client.request("GET", address)).body for address in addresses]
    app = session_files.client.server.app

    async def stored() -> list[bool]:
        """In the database, where small files are, or in the folder."""
        await app.blobs.sweep()
        folder = {file.read_bytes() for file in (app.configuration.home / "files").rglob("*") if file.is_file()}
        return [
            copy in folder or await app._database.read(has_blob(hashlib.sha256(copy).hexdigest())) for copy in copies
        ]

    assert await stored() == [True] * 4
    for path in ("/a.md", "/same as b.txt"):
        await session_files.request("DELETE", file_path=path)
    assert await stored() == [False, False, True, True]
    assert [(await session_files.client.request("GET", address)).status for address in addresses] == [
        404,
        404,
        200,
        200,
    ]


async def test_a_document_is_refused_with_the_statements_that_its_sources_do_not_support(session_files: SessionFiles):
    await session_files.write("/report.md", "It weighs 12 tonnes [1].\n")
    body = {"file_path": "/report.md", "convert_type": "pdf", "proof": "refuse"}
    response = await session_files.request("POST", "/convert", body)
    error = response.json["error"]
    assert (response.status, error["type"], error["code"]) == (422, "unprocessable", "convert_unsupported")
    assert error["params"] == {"name": "report.md", "count": 1, "statements": 1}
    assert [(one["statement"], one["start"], one["end"], one["numbers"]) for one in error["statements"]] == [
        ("It weighs 12 tonnes [1].", 0, 24, [1])
    ]
    for proof in ("mark", "plain"):
        assert (await session_files.request("POST", "/convert", {**body, "proof": proof})).status == 200


async def test_an_unknown_kind_of_proof_is_the_callers_mistake(session_files: SessionFiles):
    await session_files.write("/report.md", "# A\n")
    body = {"file_path": "/report.md", "convert_type": "pdf", "proof": "stamp"}
    response = await session_files.request("POST", "/convert", body)
    assert (response.status, response.error) == (400, "invalid_request")
    assert "proof" in response.json["error"]["message"]
