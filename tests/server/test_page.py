"""The static files of the page: found by name only, cached as long as possible, sent compressed."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from footnote.server.assets import Assets
from server.harness import ServerHarness, open_server

SCRIPT = b"export const answer = 42;\n" * 200
FILES = {
    "index.html": b'<!doctype html><script type="module" src="/static/assets/index-1a2b.js"></script>',
    "login.html": b"<p>{{reason}}</p>",
    "login.css": b"p {}",
    "theme.js": b"document.documentElement.dataset.theme = 'dark'",
    "icon.svg": b"<svg/>",
    "assets/index-1a2b.js": SCRIPT,
    "assets/pdf.worker-3c.mjs": SCRIPT,
    "assets/index-1a2b.css": b"p {}",
    "assets/serif-4d.woff2": b"wOF2",
    "pdf/cmaps/UniGB-UTF16-H.bcmap": b"\0\1\2",
    "pdf/standard_fonts/Foxit.pfb": b"\0\1\2",
    "pdf/wasm/openjpeg.wasm": b"\0asm",
    "site.webmanifest": b"{}",
}
KINDS = {
    "theme.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "assets/pdf.worker-3c.mjs": "text/javascript; charset=utf-8",
    "assets/index-1a2b.css": "text/css; charset=utf-8",
    "assets/serif-4d.woff2": "font/woff2",
    "pdf/cmaps/UniGB-UTF16-H.bcmap": "application/octet-stream",
    "pdf/standard_fonts/Foxit.pfb": "application/octet-stream",
    "pdf/wasm/openjpeg.wasm": "application/wasm",
    "site.webmanifest": "application/manifest+json",
}


# No test here changes anything, so that one server serves all of them.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def page_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServerHarness]:
    async with _open_page_server(tmp_path_factory.mktemp("page")) as server:
        yield server


@asynccontextmanager
async def _open_page_server(tmp_path: Path) -> AsyncIterator[ServerHarness]:
    """A server with these static files, and a secret file outside of their folder."""
    folder = tmp_path / "static"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (tmp_path / "secret.css").write_bytes(b"secret")
    async with open_server(tmp_path / "home") as server:
        server.site.assets = Assets(folder)
        yield server


@pytest.mark.parametrize("path", ["/", "/s/session_of_somebody", "/s/session_of_somebody?source=3&passage=2"])
async def test_every_address_of_the_page_is_the_page_for_anybody(page_server: ServerHarness, path: str):
    response = await page_server.request("GET", path)
    assert (response.status, response.body) == (200, FILES["index.html"])
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["cache-control"] == "no-cache"
    again = await page_server.request("GET", path, if_none_match=response.headers["etag"])
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", response.headers["etag"])


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
async def test_a_file_is_of_its_kind_however_deep_it_lies(page_server: ServerHarness, name: str, kind: str):
    response = await page_server.request("GET", f"/static/{name}")
    assert (response.status, response.body, response.headers["content-type"]) == (200, FILES[name], kind)


async def test_what_changes_its_name_with_its_content_is_kept_for_ever(page_server: ServerHarness):
    cache_control = {
        name: (await page_server.request("GET", f"/static/{name}")).headers["cache-control"] for name in KINDS
    }
    for_ever = {name for name, control in cache_control.items() if control == "public, max-age=31536000, immutable"}
    assert for_ever == {name for name in KINDS if name.startswith("assets/")}
    assert set(cache_control.values()) == {"public, max-age=31536000, immutable", "public, max-age=300"}


async def test_a_file_that_the_browser_has_is_not_sent_again(page_server: ServerHarness):
    first = await page_server.request("GET", "/static/theme.js")
    again = await page_server.request("GET", "/static/theme.js", if_none_match=f'"other", {first.headers["etag"]}')
    assert (again.status, again.body) == (304, b"")
    changed = await page_server.request("GET", "/static/theme.js", if_none_match='"other"')
    assert changed.status == 200


@pytest.mark.parametrize("encodings", ["gzip", "br, gzip;q=0.8", "*"])
async def test_it_comes_packed_to_who_takes_that(page_server: ServerHarness, encodings: str):
    async with page_server.http.get(
        f"{page_server.url}/static/assets/index-1a2b.js", headers={"accept-encoding": encodings}, auto_decompress=False
    ) as response:
        body = await response.read()
    assert (response.headers["content-encoding"], response.headers["vary"]) == ("gzip", "accept-encoding")
    assert int(response.headers["content-length"]) == len(body) < len(SCRIPT) / 10
    assert gzip.decompress(body) == SCRIPT


@pytest.mark.parametrize(
    ("name", "encodings"),
    [
        ("assets/index-1a2b.js", "identity"),
        ("assets/index-1a2b.js", "gzip;q=0"),
        ("assets/index-1a2b.js", "br"),
        ("assets/serif-4d.woff2", "gzip"),
    ],
)
async def test_it_comes_as_it_is_to_others_and_where_packing_saves_nothing(
    page_server: ServerHarness, name: str, encodings: str
):
    response = await page_server.request("GET", f"/static/{name}", accept_encoding=encodings)
    assert "content-encoding" not in response.headers
    assert (response.body, response.headers["vary"]) == (FILES[name], "accept-encoding")


@pytest.mark.parametrize(
    "name",
    [
        *("nothing.js", "index.html", "login.html", "assets", "assets/", "", "/", "assets//index-1a2b.js"),
        *("../secret.css", "..%2Fsecret.css", "assets/../../secret.css", "%2e%2e/secret.css", "%252e%252e/secret.css"),
        *("assets/%2e%2e/theme.js", "..%5Csecret.css", "theme.js%00", "theme.js%00.css"),
    ],
)
async def test_no_other_file_is_served(page_server: ServerHarness, name: str):
    # The raw path, which an HTTP client would normalise.
    reader, writer = await _connection(page_server)
    writer.write(f"GET /static/{name} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    response = await reader.read()
    writer.close()
    assert response.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400"))
    assert b"secret" not in response.partition(b"\r\n\r\n")[2]


async def _connection(server: ServerHarness):
    host, _, port = server.url.removeprefix("http://").partition(":")
    return await asyncio.open_connection(host, int(port))


async def test_a_file_that_was_built_away_is_missing_and_no_failure(tmp_path: Path):
    async with _open_page_server(tmp_path) as page_server:
        assert (await page_server.request("GET", "/static/theme.js")).status == 200
        (tmp_path / "static" / "icon.svg").unlink()
        response = await page_server.request("GET", "/static/icon.svg")
        assert (response.status, response.error) == (404, "not_found")


async def test_without_a_page_the_server_runs_and_says_how_to_build_it(tmp_path: Path):
    async with open_server(tmp_path) as server:
        server.site.assets = Assets(tmp_path / "nowhere")
        response = await server.request("GET", "/")
        assert (response.status, response.headers["cache-control"]) == (200, "no-store")
        assert b"make page" in response.body
        refused = await server.request("GET", "/login?token=used")
        assert refused.status == 401
        assert b"{{" not in refused.body
        assert (await server.request("GET", "/v2/agents", token=server.local.token)).status == 200


async def test_the_browsers_own_wish_for_an_icon_is_no_trouble(page_server: ServerHarness):
    assert (await page_server.request("GET", "/favicon.ico")).status == 404


async def test_the_page_may_talk_to_nobody_but_its_server(page_server: ServerHarness):
    policy = (await page_server.request("GET", "/")).headers["content-security-policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        **dict.fromkeys(("script-src", "style-src", "font-src", "connect-src", "frame-src"), "'self'"),
        **dict.fromkeys(("worker-src", "manifest-src", "form-action"), "'self'"),
        "img-src": "'self' data: blob:",
        **dict.fromkeys(("base-uri", "frame-ancestors"), "'none'"),
    }
