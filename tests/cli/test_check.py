"""`footnote check`: a text or a page, here and on a server, with its exit codes and its JSON."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cli.process import environment, run_footnote
from cli.small_web import FACT, article, env_for, small_web
from documents.office import docx
from server.harness import LOCAL_TOKEN, open_server
from web import PageReply, Web
from web.pdf import pdf

CLAIM = "Oxygen was isolated by Carl Wilhelm Scheele in Uppsala"
WRONG = "Napoleon paid for it with nine golden harpsichords"


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with small_web() as opened:
        opened.put("/gone", PageReply(status=404, body=b"gone"))
        yield opened


def _report(web: Web, *, is_right: bool = True) -> str:
    right = f"{CLAIM} ({web.url('/oxygen')}).\n"
    return right if is_right else f"{right}\n{WRONG} ({web.url('/oxygen')}).\n\nIt is heavy, see {web.url('/gone')}.\n"


async def test_a_text_whose_pages_say_what_it_says_passes(web: Web, tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    report.write_text(_report(web), "utf-8")
    code, out, err = await run_footnote("check", str(report), env=env_for(tmp_path, web))
    assert code == 0, err
    assert out == f"✓ supported: {CLAIM}. [1]\n\n1 statement: 1 supported\n"
    assert "reading 1/1" in err
    assert "To see it with its sources: footnote sessions show " in err


async def test_a_statement_that_its_page_does_not_support_fails_and_one_that_could_not_be_read_does_not(
    web: Web, tmp_path: Path
) -> None:
    env = env_for(tmp_path, web)
    code, out, _ = await run_footnote("check", "-", env=env, stdin=_report(web, is_right=False).encode())
    assert code == 1
    assert f"✗ not supported: {WRONG}. [1]\n" in out
    assert "? not read: It is heavy. [2]\n    HTTP 404\n" in out
    assert "3 statements: 1 supported, 1 not supported, 1 whose source could not be read" in out
    code, out, err = await run_footnote(
        "check", "-", "--quiet", "--locale", "vi", env=env, stdin=f"It is heavy, see {web.url('/gone')}.\n".encode()
    )
    assert (code, err) == (0, "")
    assert out.startswith("? không đọc được nguồn: ")


async def test_as_json_every_statement_is_there_with_its_sources(web: Web, tmp_path: Path) -> None:
    env = env_for(tmp_path, web)
    saved = tmp_path / "checked.md"
    stdin = _report(web, is_right=False).encode()
    arguments = ("check", "-", "--json", "--output", str(saved))
    code, out, err = await run_footnote(*arguments, env=env, stdin=stdin)
    assert (code, err) == (1, "")
    found = json.loads(out)
    assert list(found) == ["session_id", "run_id", "counts", "statements", "sources", "text"]
    assert [(one["verdict"], one["sources"]) for one in found["statements"]] == [
        ("supported", [1]),
        ("unsupported", [1]),
        ("unread", [2]),
    ]
    assert [(one["number"], one["status"], one["reason"]) for one in found["sources"]] == [
        (1, "read", None),
        (2, "failed", "HTTP 404"),
    ]
    first = found["statements"][0]
    assert found["text"][first["start"] : first["end"]].startswith(CLAIM)
    assert first["citations"][0]["quote"] == FACT
    assert saved.read_text("utf-8") == found["text"]
    code, _, err = await run_footnote(*arguments, env=env, stdin=stdin)
    assert code == 2
    assert "already exists" in err


async def test_on_a_server_it_is_the_same(web: Web, tmp_path: Path) -> None:
    settings = {"FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]'}
    async with open_server(tmp_path / "server", **settings) as server:
        env = environment(tmp_path, FOOTNOTE_TOKEN=LOCAL_TOKEN)
        code, out, err = await run_footnote("check", "-", "--server", server.url, env=env, stdin=_report(web).encode())
    assert code == 0, err
    assert out == f"✓ supported: {CLAIM}. [1]\n\n1 statement: 1 supported\n"


async def test_a_page_and_documents_are_checked_by_their_links(web: Web, tmp_path: Path) -> None:
    env = env_for(tmp_path, web)
    link = f'<a href="{web.url("/oxygen")}">{CLAIM}</a>.'
    web.put("/story", article("A story", link, "There is nothing else to be said about it here."))
    code, out, _ = await run_footnote("check", web.url("/story"), env=env)
    assert (code, out.splitlines()[0]) == (0, f"✓ supported: {CLAIM}. [1]")
    page, document = tmp_path / "story.html", tmp_path / "story.pdf"
    page.write_text(f"<html><body><article><h1>Story</h1><p>{link}</p></article></body></html>", "utf-8")
    document.write_bytes(pdf(f"{CLAIM} {web.url('/oxygen')}"))
    for file in (page, document):
        code, out, err = await run_footnote("check", str(file), env=env)
        assert (code, out.splitlines()[:1]) == (0, [f"✓ supported: {CLAIM}{'.' if file is page else ''} [1]"]), err


@pytest.mark.parametrize("name", ["missing.md", "latin.md", "empty.md", "picture.png"])
async def test_what_cannot_be_read_is_wrong_usage(web: Web, tmp_path: Path, name: str) -> None:
    (tmp_path / "latin.md").write_bytes(b"\xff\xfe\xe9")
    (tmp_path / "empty.md").write_bytes(b"\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(60))
    code, out, err = await run_footnote("check", str(tmp_path / name), env=env_for(tmp_path, web))
    assert (code, out) == (2, "")
    assert name in err


async def test_a_page_that_cannot_be_read_is_named_with_the_reason(web: Web, tmp_path: Path) -> None:
    code, out, err = await run_footnote("check", web.url("/gone"), "--quiet", env=env_for(tmp_path, web))
    assert (code, out) == (2, "")
    assert f"Error: {web.url('/gone')} could not be read: HTTP 404." in err


async def test_a_source_that_cannot_be_read_is_cited_by_its_own_statement_alone(web: Web, tmp_path: Path) -> None:
    web.put("/gone", PageReply(404))
    text = f"The tower is 300 metres tall now [source]({web.url('/gone')}).\n\nIt was built in 1999.\n"
    _, out, _ = await run_footnote("check", "-", env=env_for(tmp_path, web), stdin=text.encode())
    assert "The tower is 300 metres tall now. [1]" in out
    assert "no source: It was built in 1999.\n" in out


async def test_a_text_without_links_has_nothing_to_check(web: Web, tmp_path: Path) -> None:
    code, out, _ = await run_footnote("check", "-", env=env_for(tmp_path, web), stdin=b"Tea was drunk in 1662.")
    assert (code, out) == (0, "Nothing to check. The text has no statement with a link or a footnote.\n")


async def test_links_and_footnotes_of_a_word_file_are_citations(web: Web, tmp_path: Path) -> None:
    body = (
        f'<w:p><w:hyperlink r:id="rId1"><w:r><w:t>{CLAIM}</w:t></w:r></w:hyperlink><w:r><w:t> then.</w:t></w:r></w:p>'
        f'<w:p><w:r><w:t>{WRONG}.</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    )
    note = f'<w:footnote w:id="2"><w:p><w:r><w:t>{web.url("/oxygen")}</w:t></w:r></w:p></w:footnote>'
    notes = f'<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">{note}</w:footnotes>'
    links = (("rId1", "hyperlink", web.url("/oxygen")), ("rId2", "footnotes", "footnotes.xml"))
    report = tmp_path / "report.docx"
    report.write_bytes(docx(body, *links, footnotes=notes))
    code, out, err = await run_footnote("check", str(report), "--json", env=env_for(tmp_path, web))
    assert code == 1, err
    assert [(one["verdict"], one["sources"]) for one in json.loads(out)["statements"]] == [
        ("supported", [1]),
        ("unsupported", [1]),
    ]


async def test_the_bundle_of_a_check_can_be_verified(web: Web, tmp_path: Path) -> None:
    env = env_for(tmp_path, web)
    await run_footnote("check", "-", env=env, stdin=_report(web, is_right=False).encode())
    bundle = tmp_path / "check.zip"
    code, _, err = await run_footnote("sessions", "export", "last", "--output", str(bundle), env=env)
    assert code == 0, err
    code, out, err = await run_footnote("bundle", "verify", str(bundle), env=env)
    assert code == 0, (out, err)
