"""Files as the page shows them, and what a browser may do with them."""

import pytest

from documents.office import cells, docx, paragraph, xlsx
from server.desk import Desk
from server.forms import upload_files
from server.house import Answer, House
from server.images import GIF, JPEG, PNG, SVG, WEBP

PAGE = "<!doctype html><p>Xin chào</p><script>fetch('/v2/auth/me')</script>"


@pytest.fixture
async def desk(house: House) -> Desk:
    return Desk(house.local, await house.local.create_session())


async def fetch_view(desk: Desk, view: str, path: str, wanted: str = "", **headers: str) -> Answer:
    sent = {**({"sec_fetch_dest": wanted} if wanted else {}), **headers}
    return await desk.person.request("GET", f"{desk.path}/{view}?file_path={path}", **sent)


def policy_rules(answer: Answer) -> dict[str, str]:
    return dict((*rule.split(" ", 1), "")[:2] for rule in answer.headers["content-security-policy"].split("; "))


async def upload(desk: Desk, *files: tuple[str, bytes]) -> None:
    assert (await upload_files(desk.person, desk.session_id, *files)).status == 201


# Tables -------------------------------------------------------------------------------------------------------


async def test_a_table_comes_in_pieces(desk: Desk):
    await desk.write("/data.csv", "name;n\n" + "".join(f"row {number};{number}\n" for number in range(2_500)))
    first = await desk.request("GET", "/table", file_path="/data.csv", limit=2)
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
    across = (await desk.request("GET", "/table", file_path="/data.csv", offset=900, limit=1_000)).json["rows"]
    assert [row[0] for row in across] == [f"row {number}" for number in range(899, 1_899)]
    last = (await desk.request("GET", "/table", file_path="/data.csv", offset=2_499)).json
    assert (last["rows"], last["offset"]) == ([["row 2498", "2498"], ["row 2499", "2499"]], 2_499)
    assert (await desk.request("GET", "/table", file_path="/data.csv", offset=9_999)).json["rows"] == []


async def test_pieces_that_were_looked_at_are_not_read_again(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    await desk.write("/data.csv", "a,b\n" * 1_500)
    done: list[int] = []
    run = desk.person.house.app.sandbox.run
    monkeypatch.setattr(
        desk.person.house.app.sandbox,
        "run",
        lambda job, seconds, **options: done.append(job.offset) or run(job, seconds, **options),
    )
    for offset in (0, 200, 900, 0, 1_200):
        assert (await desk.request("GET", "/table", file_path="/data.csv", offset=offset)).status == 200
    assert done == [0, 1_000]
    await desk.write("/data.csv", "c,d\n", base="a,b\n" * 1_500)
    assert (await desk.request("GET", "/table", file_path="/data.csv")).json["rows"] == [["c", "d"]]
    assert (await desk.request("GET", "/table", file_path="/data.csv", version=1, limit=1)).json["total"] == 1_500


async def test_a_workbook_is_shown_sheet_by_sheet(desk: Desk):
    await upload(desk, ("book.xlsx", xlsx({"One": cells(1, "a", 1.5), "Two": cells(1, "b")})))
    one = (await desk.request("GET", "/table", file_path="book.xlsx")).json
    assert (one["sheets"], one["sheet"], one["rows"]) == (["One", "Two"], "One", [["a", 1.5]])
    two = (await desk.request("GET", "/table", file_path="book.xlsx", sheet="Two")).json
    assert (two["sheet"], two["rows"]) == ("Two", [["b"]])
    none = await desk.request("GET", "/table", file_path="book.xlsx", sheet="Three")
    assert (none.status, none.error) == (422, "unprocessable")


async def test_a_workbook_with_a_password_is_not_called_damaged(desk: Desk):
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "EncryptedPackage\0".encode("utf-16-le") + bytes(500)
    await upload(desk, ("locked.xlsx", ole))
    answer = await desk.request("GET", "/table", file_path="locked.xlsx")
    assert (answer.status, answer.json["error"]["message"]) == (
        422,
        "locked.xlsx is protected by a password: save it without one.",
    )


async def test_what_is_no_table_is_refused_with_a_sentence(desk: Desk):
    await desk.write("/notes.md", "Notes.")
    await desk.write("/lying.xlsx", "no workbook")
    answers = {
        (415, "unsupported_media_type"): await desk.request("GET", "/table", file_path="/notes.md"),
        (422, "unprocessable"): await desk.request("GET", "/table", file_path="/lying.xlsx"),
        (404, "file_not_found"): await desk.request("GET", "/table", file_path="/none.csv"),
        (400, "invalid_request"): await desk.request("GET", "/table", file_path="/notes.md", limit=1_001),
    }
    assert {(answer.status, answer.error) for answer in answers.values()} == set(answers)


# Texts --------------------------------------------------------------------------------------------------------


async def test_a_document_is_shown_as_the_agent_reads_it(desk: Desk):
    await upload(desk, ("paper.docx", docx(paragraph("Kết luận", '<w:pStyle w:val="Heading1"/>') + paragraph("Đúng."))))
    answer = await desk.request("GET", "/text", file_path="paper.docx")
    assert answer.status == 200
    assert answer.json["filename"] == "paper.docx"
    assert answer.json["file_path"].endswith("/paper.docx")
    assert "Kết luận" in answer.json["text"]
    assert "Đúng." in answer.json["text"]


async def test_a_file_that_says_nothing_says_why(desk: Desk):
    await upload(desk, ("dot.png", PNG))
    answer = await desk.request("GET", "/text", file_path="dot.png")
    assert (answer.status, answer.error) == (422, "unprocessable")
    assert answer.json["error"]["message"] == "dot.png has no text to be read: it is an image."
    assert (await desk.request("GET", "/text", file_path="none.docx")).status == 404


# Frames -------------------------------------------------------------------------------------------------------


async def test_a_page_is_shown_in_a_frame_with_an_origin_of_its_own_and_nobody_to_talk_to(desk: Desk):
    await desk.write("/page.html", PAGE)
    answer = await fetch_view(desk, "frame", "/page.html", "iframe")
    assert (answer.status, answer.body.decode()) == (200, PAGE)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-disposition"] == "inline"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert policy_rules(answer) == {
        "sandbox": "",
        "default-src": "'none'",
        "script-src": "'none'",
        "style-src": "'unsafe-inline'",
        **dict.fromkeys(("img-src", "media-src"), "data: blob:"),
        "font-src": "data:",
        **dict.fromkeys(("connect-src", "form-action", "base-uri"), "'none'"),
        "frame-ancestors": "'self'",
    }
    assert len(answer.headers.getall("content-security-policy")) == 1


async def test_the_scripts_of_a_page_run_where_that_is_asked_for(desk: Desk):
    await desk.write("/page.html", PAGE)
    still = policy_rules(await fetch_view(desk, "frame", "/page.html", "iframe"))
    alive = policy_rules(await fetch_view(desk, "frame", "/page.html&scripts=true", "iframe"))
    assert alive == {**still, "sandbox": "allow-scripts", "script-src": "'unsafe-inline'"}
    assert policy_rules(await fetch_view(desk, "frame", "/page.html&scripts=false", "iframe")) == still
    refused = await fetch_view(desk, "frame", "/page.html&scripts=perhaps", "iframe")
    assert (refused.status, refused.error) == (400, "invalid_request")
    alone = await fetch_view(desk, "frame", "/page.html&scripts=true", "document")
    assert alone.headers["content-security-policy"] == "sandbox; default-src 'none'"


@pytest.mark.parametrize("asked", ["", "&scripts=true"])
async def test_nothing_runs_in_a_drawing(desk: Desk, asked: str):
    await desk.write("/drawing.svg", SVG.decode())
    answer = await fetch_view(desk, "frame", f"/drawing.svg{asked}", "iframe")
    assert (answer.status, answer.headers["content-type"]) == (200, "image/svg+xml; charset=utf-8")
    rules = policy_rules(answer)
    assert (rules["sandbox"], rules["default-src"], rules["script-src"]) == ("", "'none'", "'none'")


@pytest.mark.parametrize("wanted", ["document", "empty", "image", "object", "embed", "frame", "script", ""])
async def test_a_page_that_is_not_in_a_frame_is_saved(desk: Desk, wanted: str):
    await desk.write("/page.html", PAGE)
    answer = await fetch_view(desk, "frame", "/page.html", wanted)
    assert answer.status == 200
    assert answer.headers["content-disposition"] == 'attachment; filename="page.html"'
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"


async def test_a_browser_that_does_not_say_what_it_wants_is_known_by_its_cookie(desk: Desk, house: House):
    ann = await house.add_user("ann")
    hers = Desk(ann, await ann.create_session())
    await hers.write("/page.html", PAGE)
    await hers.write("/drawing.svg", SVG.decode())
    frame = await house.request("GET", f"{hers.path}/frame?file_path=/page.html", cookie=ann.cookie)
    image = await house.request("GET", f"{hers.path}/raw?file_path=/drawing.svg", cookie=ann.cookie)
    assert [one.headers["content-disposition"] for one in (frame, image)] == ["inline", "inline"]
    assert all(one.headers["content-security-policy"].startswith("sandbox") for one in (frame, image))


async def test_an_encoding_that_a_page_names_itself_is_left_to_it(desk: Desk):
    content = '<!doctype html><meta charset="gb18030"><p>天气'.encode("gb18030")
    await upload(desk, ("page.html", content))
    answer = await fetch_view(desk, "frame", "page.html", "iframe")
    assert (answer.headers["content-type"], answer.body) == ("text/html", content)


async def test_other_kinds_are_not_framed(desk: Desk):
    await desk.write("/notes.md", "<script>")
    answer = await fetch_view(desk, "frame", "/notes.md", "iframe")
    assert (answer.status, answer.error) == (415, "unsupported_media_type")


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
async def test_an_image_is_shown_where_an_image_stands(desk: Desk, name: str, content: bytes, kind: str):
    await upload(desk, (name, content))
    for wanted in ("image", "empty"):
        answer = await fetch_view(desk, "raw", name, wanted)
        assert (answer.status, answer.body, answer.headers["content-type"]) == (200, content, kind)
        assert answer.headers["content-disposition"] == "inline"
        assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
    again = await fetch_view(desk, "raw", name, "image", if_none_match=answer.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    alone = await fetch_view(desk, "raw", name, "document")
    assert alone.headers["content-disposition"] == f'attachment; filename="{name}"'


async def test_a_drawing_is_an_image_and_nothing_else(desk: Desk):
    await desk.write("/chart.svg", SVG.decode())
    answer = await fetch_view(desk, "raw", "/chart.svg", "image")
    assert (answer.body, answer.headers["content-type"]) == (SVG, "image/svg+xml")
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'; style-src 'unsafe-inline'"
    for wanted in ("document", "iframe", "object", "embed"):
        saved = await fetch_view(desk, "raw", "/chart.svg", wanted)
        assert saved.headers["content-disposition"].startswith("attachment")
        assert saved.headers["content-type"] == "application/octet-stream"


@pytest.mark.parametrize("name", ["page.html", "lying.png.txt", "notes.md"])
async def test_what_is_no_image_is_saved(desk: Desk, name: str):
    await desk.write(f"/{name}", PAGE)
    answer = await fetch_view(desk, "raw", f"/{name}", "image")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/octet-stream")
    assert answer.headers["content-disposition"].startswith("attachment")


async def test_an_earlier_version_can_be_shown(desk: Desk):
    await desk.write("/page.html", "one")
    await desk.write("/page.html", "two", base="one")
    first = await fetch_view(desk, "frame", "/page.html", "iframe")
    earlier = await desk.person.request(
        "GET", f"{desk.path}/frame?file_path=/page.html&version=1", sec_fetch_dest="iframe"
    )
    assert (first.body, earlier.body) == (b"two", b"one")
    assert (await desk.request("GET", "/raw", file_path="/page.html", version=3)).status == 404
