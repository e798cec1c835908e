"""Views of files in the page, and their restrictions in a browser."""

import pytest

from documents.office import cells, docx, paragraph, xlsx
from server.forms import upload_files
from server.harness import ApiResponse, ServerHarness
from server.images import GIF, JPEG, PNG, SVG, WEBP
from server.session_files import SessionFiles

PAGE = "<!doctype html><p>Xin chào</p><script>fetch('/v2/auth/me')</script>"


async def fetch_view(
    session_files: SessionFiles, view: str, path: str, destination: str = "", **headers: str
) -> ApiResponse:
    sent = {**({"sec_fetch_dest": destination} if destination else {}), **headers}
    return await session_files.client.request("GET", f"{session_files.path}/{view}?file_path={path}", **sent)


def policy_rules(response: ApiResponse) -> dict[str, str]:
    return dict((*rule.split(" ", 1), "")[:2] for rule in response.headers["content-security-policy"].split("; "))


async def upload(session_files: SessionFiles, *files: tuple[str, bytes]) -> None:
    assert (await upload_files(session_files.client, session_files.session_id, *files)).status == 201


# Tables -------------------------------------------------------------------------------------------------------


async def test_a_table_comes_in_pieces(session_files: SessionFiles):
    await session_files.write("/data.csv", "name;n\n" + "".join(f"row {number};{number}\n" for number in range(2_500)))
    first = await session_files.request("GET", "/table", file_path="/data.csv", limit=2)
    assert first.json == {
        "file_path": "/data.csv",
        "filename": "data.csv",
        "sheets": [],
        "sheet": "",
        "columns": 2,
        "left_out": 0,
        "rows": [["name", "n"], ["row 0", "0"]],
        "offset": 0,
        "total": 2_501,
    }
    across = (await session_files.request("GET", "/table", file_path="/data.csv", offset=900, limit=1_000)).json["rows"]
    assert [row[0] for row in across] == [f"row {number}" for number in range(899, 1_899)]
    last = (await session_files.request("GET", "/table", file_path="/data.csv", offset=2_499)).json
    assert (last["rows"], last["offset"]) == ([["row 2498", "2498"], ["row 2499", "2499"]], 2_499)
    assert (await session_files.request("GET", "/table", file_path="/data.csv", offset=9_999)).json["rows"] == []


async def test_pieces_that_were_looked_at_are_not_read_again(
    session_files: SessionFiles, monkeypatch: pytest.MonkeyPatch
):
    await session_files.write("/data.csv", "a,b\n" * 1_500)
    done: list[int] = []
    run = session_files.client.server.app.sandbox.run
    monkeypatch.setattr(
        session_files.client.server.app.sandbox,
        "run",
        lambda job, seconds, **options: done.append(job.offset) or run(job, seconds, **options),
    )
    for offset in (0, 200, 900, 0, 1_200):
        assert (await session_files.request("GET", "/table", file_path="/data.csv", offset=offset)).status == 200
    assert done == [0, 1_000]
    await session_files.write("/data.csv", "c,d\n", base="a,b\n" * 1_500)
    assert (await session_files.request("GET", "/table", file_path="/data.csv")).json["rows"] == [["c", "d"]]
    assert (await session_files.request("GET", "/table", file_path="/data.csv", version=1, limit=1)).json[
        "total"
    ] == 1_500


async def test_a_workbook_is_shown_sheet_by_sheet(session_files: SessionFiles):
    await upload(session_files, ("book.xlsx", xlsx({"One": cells(1, "a", 1.5), "Two": cells(1, "b")})))
    one = (await session_files.request("GET", "/table", file_path="book.xlsx")).json
    assert (one["sheets"], one["sheet"], one["rows"]) == (["One", "Two"], "One", [["a", 1.5]])
    two = (await session_files.request("GET", "/table", file_path="book.xlsx", sheet="Two")).json
    assert (two["sheet"], two["rows"]) == ("Two", [["b"]])
    none = await session_files.request("GET", "/table", file_path="book.xlsx", sheet="Three")
    assert (none.status, none.error) == (422, "unprocessable")


async def test_a_workbook_with_a_password_is_not_called_damaged(session_files: SessionFiles):
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "EncryptedPackage\0".encode("utf-16-le") + bytes(500)
    await upload(session_files, ("locked.xlsx", ole))
    response = await session_files.request("GET", "/table", file_path="locked.xlsx")
    assert (response.status, response.json["error"]["message"]) == (
        422,
        "locked.xlsx is protected by a password: save it without one.",
    )


async def test_what_is_no_table_is_refused_with_a_sentence(session_files: SessionFiles):
    await session_files.write("/notes.md", "Notes.")
    await session_files.write("/lying.xlsx", "no workbook")
    responses = {
        (415, "unsupported_media_type"): await session_files.request("GET", "/table", file_path="/notes.md"),
        (422, "unprocessable"): await session_files.request("GET", "/table", file_path="/lying.xlsx"),
        (404, "file_not_found"): await session_files.request("GET", "/table", file_path="/none.csv"),
        (400, "invalid_request"): await session_files.request("GET", "/table", file_path="/notes.md", limit=1_001),
    }
    assert {(response.status, response.error) for response in responses.values()} == set(responses)


# Texts --------------------------------------------------------------------------------------------------------


async def test_a_document_is_shown_as_the_agent_reads_it(session_files: SessionFiles):
    await upload(
        session_files, ("paper.docx", docx(paragraph("Kết luận", '<w:pStyle w:val="Heading1"/>') + paragraph("Đúng.")))
    )
    response = await session_files.request("GET", "/text", file_path="paper.docx")
    assert response.status == 200
    assert response.json["filename"] == "paper.docx"
    assert response.json["file_path"].endswith("/paper.docx")
    assert "Kết luận" in response.json["text"]
    assert "Đúng." in response.json["text"]


async def test_a_file_that_says_nothing_says_why(session_files: SessionFiles):
    await upload(session_files, ("dot.png", PNG))
    response = await session_files.request("GET", "/text", file_path="dot.png")
    assert (response.status, response.error) == (422, "unprocessable")
    assert response.json["error"]["message"] == "dot.png has no text to be read: it is an image."
    assert (await session_files.request("GET", "/text", file_path="none.docx")).status == 404


# Frames -------------------------------------------------------------------------------------------------------


async def test_a_page_is_shown_in_a_frame_with_an_origin_of_its_own_and_nobody_to_talk_to(session_files: SessionFiles):
    await session_files.write("/page.html", PAGE)
    response = await fetch_view(session_files, "frame", "/page.html", "iframe")
    assert (response.status, response.body.decode()) == (200, PAGE)
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["content-disposition"] == "inline"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["cross-origin-resource-policy"] == "same-origin"
    assert policy_rules(response) == {
        "sandbox": "",
        "default-src": "'none'",
        "script-src": "'none'",
        "style-src": "'unsafe-inline'",
        **dict.fromkeys(("img-src", "media-src"), "data: blob:"),
        "font-src": "data:",
        **dict.fromkeys(("connect-src", "form-action", "base-uri"), "'none'"),
        "frame-ancestors": "'self'",
    }
    assert len(response.headers.getall("content-security-policy")) == 1


async def test_the_scripts_of_a_page_run_where_that_is_asked_for(session_files: SessionFiles):
    await session_files.write("/page.html", PAGE)
    still = policy_rules(await fetch_view(session_files, "frame", "/page.html", "iframe"))
    alive = policy_rules(await fetch_view(session_files, "frame", "/page.html&scripts=true", "iframe"))
    assert alive == {**still, "sandbox": "allow-scripts", "script-src": "'unsafe-inline'"}
    assert policy_rules(await fetch_view(session_files, "frame", "/page.html&scripts=false", "iframe")) == still
    refused = await fetch_view(session_files, "frame", "/page.html&scripts=perhaps", "iframe")
    assert (refused.status, refused.error) == (400, "invalid_request")
    alone = await fetch_view(session_files, "frame", "/page.html&scripts=true", "document")
    assert alone.headers["content-security-policy"] == "sandbox; default-src 'none'"


@pytest.mark.parametrize("query", ["", "&scripts=true"])
async def test_nothing_runs_in_a_drawing(session_files: SessionFiles, query: str):
    await session_files.write("/drawing.svg", SVG.decode())
    response = await fetch_view(session_files, "frame", f"/drawing.svg{query}", "iframe")
    assert (response.status, response.headers["content-type"]) == (200, "image/svg+xml; charset=utf-8")
    rules = policy_rules(response)
    assert (rules["sandbox"], rules["default-src"], rules["script-src"]) == ("", "'none'", "'none'")


@pytest.mark.parametrize("destination", ["document", "empty", "image", "object", "embed", "frame", "script", ""])
async def test_a_page_that_is_not_in_a_frame_is_saved(session_files: SessionFiles, destination: str):
    await session_files.write("/page.html", PAGE)
    response = await fetch_view(session_files, "frame", "/page.html", destination)
    assert response.status == 200
    assert response.headers["content-disposition"] == 'attachment; filename="page.html"'
    assert response.headers["content-type"] == "application/octet-stream"
    assert response.headers["content-security-policy"] == "sandbox; default-src 'none'"


async def test_a_browser_that_does_not_say_what_it_wants_is_known_by_its_cookie(
    session_files: SessionFiles, server: ServerHarness
):
    ann = await server.add_user("ann")
    hers = SessionFiles(ann, await ann.create_session())
    await hers.write("/page.html", PAGE)
    await hers.write("/drawing.svg", SVG.decode())
    frame = await server.request("GET", f"{hers.path}/frame?file_path=/page.html", cookie=ann.cookie)
    image = await server.request("GET", f"{hers.path}/raw?file_path=/drawing.svg", cookie=ann.cookie)
    assert [one.headers["content-disposition"] for one in (frame, image)] == ["inline", "inline"]
    assert all(one.headers["content-security-policy"].startswith("sandbox") for one in (frame, image))


async def test_an_encoding_that_a_page_names_itself_is_left_to_it(session_files: SessionFiles):
    content = '<!doctype html><meta charset="gb18030"><p>天气'.encode("gb18030")
    await upload(session_files, ("page.html", content))
    response = await fetch_view(session_files, "frame", "page.html", "iframe")
    assert (response.headers["content-type"], response.body) == ("text/html", content)


async def test_other_kinds_are_not_framed(session_files: SessionFiles):
    await session_files.write("/notes.md", "<script>")
    response = await fetch_view(session_files, "frame", "/notes.md", "iframe")
    assert (response.status, response.error) == (415, "unsupported_media_type")


# Images -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.png", PNG, "image/png"),
        ("a.jpg", JPEG, "image/jpeg"),
        ("a.gif", GIF, "image/gif"),
        ("a.webp", WEBP, "image/webp"),
    ],
)
async def test_an_image_is_shown_where_an_image_stands(
    session_files: SessionFiles, name: str, content: bytes, kind: str
):
    await upload(session_files, (name, content))
    for destination in ("image", "empty"):
        response = await fetch_view(session_files, "raw", name, destination)
        assert (response.status, response.body, response.headers["content-type"]) == (200, content, kind)
        assert response.headers["content-disposition"] == "inline"
        assert response.headers["content-security-policy"] == "sandbox; default-src 'none'"
    again = await fetch_view(session_files, "raw", name, "image", if_none_match=response.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    alone = await fetch_view(session_files, "raw", name, "document")
    assert alone.headers["content-disposition"] == f'attachment; filename="{name}"'


async def test_a_drawing_is_an_image_and_nothing_else(session_files: SessionFiles):
    await session_files.write("/chart.svg", SVG.decode())
    response = await fetch_view(session_files, "raw", "/chart.svg", "image")
    assert (response.body, response.headers["content-type"]) == (SVG, "image/svg+xml")
    assert response.headers["content-security-policy"] == "sandbox; default-src 'none'; style-src 'unsafe-inline'"
    for destination in ("document", "iframe", "object", "embed"):
        saved = await fetch_view(session_files, "raw", "/chart.svg", destination)
        assert saved.headers["content-disposition"].startswith("attachment")
        assert saved.headers["content-type"] == "application/octet-stream"


@pytest.mark.parametrize("name", ["page.html", "lying.png.txt", "notes.md"])
async def test_what_is_no_image_is_saved(session_files: SessionFiles, name: str):
    await session_files.write(f"/{name}", PAGE)
    response = await fetch_view(session_files, "raw", f"/{name}", "image")
    assert (response.status, response.headers["content-type"]) == (200, "application/octet-stream")
    assert response.headers["content-disposition"].startswith("attachment")


async def test_an_earlier_version_can_be_shown(session_files: SessionFiles):
    await session_files.write("/page.html", "one")
    await session_files.write("/page.html", "two", base="one")
    first = await fetch_view(session_files, "frame", "/page.html", "iframe")
    earlier = await session_files.client.request(
        "GET", f"{session_files.path}/frame?file_path=/page.html&version=1", sec_fetch_dest="iframe"
    )
    assert (first.body, earlier.body) == (b"two", b"one")
    assert (await session_files.request("GET", "/raw", file_path="/page.html", version=3)).status == 404
