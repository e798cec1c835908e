"""The page's own files: found by their names alone, kept as long as they may be, sent packed."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from footnote.server.assets import Assets
from server.house import House, open_house

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


# Nobody here changes anything: one server answers all of them.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def built(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with _built(tmp_path_factory.mktemp("page")) as house:
        yield house


@asynccontextmanager
async def _built(tmp_path: Path) -> AsyncIterator[House]:
    """A server whose page has these files, beside one that is none of them."""
    folder = tmp_path / "static"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (tmp_path / "secret.css").write_bytes(b"secret")
    async with open_house(tmp_path / "home") as house:
        house.site.assets = Assets(folder)
        yield house


@pytest.mark.parametrize("path", ["/", "/s/session_of_somebody", "/s/session_of_somebody?source=3&passage=2"])
async def test_every_address_of_the_page_is_the_page_for_anybody(built: House, path: str):
    answer = await built.request("GET", path)
    assert (answer.status, answer.body) == (200, FILES["index.html"])
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    again = await built.request("GET", path, if_none_match=answer.headers["etag"])
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", answer.headers["etag"])


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
async def test_a_file_is_of_its_kind_however_deep_it_lies(built: House, name: str, kind: str):
    answer = await built.request("GET", f"/static/{name}")
    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, FILES[name], kind)


async def test_what_changes_its_name_with_its_content_is_kept_for_ever(built: House):
    kept = {name: (await built.request("GET", f"/static/{name}")).headers["cache-control"] for name in KINDS}
    for_ever = {name for name, control in kept.items() if control == "public, max-age=31536000, immutable"}
    assert for_ever == {name for name in KINDS if name.startswith("assets/")}
    assert set(kept.values()) == {"public, max-age=31536000, immutable", "public, max-age=300"}


async def test_a_file_that_the_browser_has_is_not_sent_again(built: House):
    first = await built.request("GET", "/static/theme.js")
    again = await built.request("GET", "/static/theme.js", if_none_match=f'"other", {first.headers["etag"]}')
    assert (again.status, again.body) == (304, b"")
    changed = await built.request("GET", "/static/theme.js", if_none_match='"other"')
    assert changed.status == 200


@pytest.mark.parametrize("taken", ["gzip", "br, gzip;q=0.8", "*"])
async def test_it_comes_packed_to_who_takes_that(built: House, taken: str):
    async with built.http.get(
        f"{built.url}/static/assets/index-1a2b.js", headers={"accept-encoding": taken}, auto_decompress=False
    ) as answer:
        body = await answer.read()
    assert (answer.headers["content-encoding"], answer.headers["vary"]) == ("gzip", "accept-encoding")
    assert int(answer.headers["content-length"]) == len(body) < len(SCRIPT) / 10
    assert gzip.decompress(body) == SCRIPT


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("assets/index-1a2b.js", "identity"),
        ("assets/index-1a2b.js", "gzip;q=0"),
        ("assets/index-1a2b.js", "br"),
        ("assets/serif-4d.woff2", "gzip"),
    ],
)
async def test_it_comes_as_it_is_to_others_and_where_packing_saves_nothing(built: House, name: str, taken: str):
    answer = await built.request("GET", f"/static/{name}", accept_encoding=taken)
    assert "content-encoding" not in answer.headers
    assert (answer.body, answer.headers["vary"]) == (FILES[name], "accept-encoding")


@pytest.mark.parametrize(
    "name",
    [
        *("nothing.js", "index.html", "login.html", "assets", "assets/", "", "/", "assets//index-1a2b.js"),
        *("../secret.css", "..%2Fsecret.css", "assets/../../secret.css", "%2e%2e/secret.css", "%252e%252e/secret.css"),
        *("assets/%2e%2e/theme.js", "..%5Csecret.css", "theme.js%00", "theme.js%00.css"),
    ],
)
async def test_no_other_file_is_served(built: House, name: str):
    # With a path as it is: the client of the tests would tidy it up.
    reader, writer = await _connection(built)
    writer.write(f"GET /static/{name} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    assert answer.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400"))
    assert b"secret" not in answer.partition(b"\r\n\r\n")[2]


async def _connection(house: House):
    host, _, port = house.url.removeprefix("http://").partition(":")
    return await asyncio.open_connection(host, int(port))


async def test_a_file_that_was_built_away_is_missing_and_no_failure(tmp_path: Path):
    async with _built(tmp_path) as built:
        assert (await built.request("GET", "/static/theme.js")).status == 200
        (tmp_path / "static" / "icon.svg").unlink()
        answer = await built.request("GET", "/static/icon.svg")
        assert (answer.status, answer.error) == (404, "not_found")


async def test_without_a_page_the_server_runs_and_says_how_to_build_it(tmp_path: Path):
    async with open_house(tmp_path) as house:
        house.site.assets = Assets(tmp_path / "nowhere")
        answer = await house.request("GET", "/")
        assert (answer.status, answer.headers["cache-control"]) == (200, "no-store")
        assert b"make page" in answer.body
        refused = await house.request("GET", "/login?token=used")
        assert refused.status == 401
        assert b"{{" not in refused.body
        assert (await house.request("GET", "/v2/agents", token=house.local.token)).status == 200


async def test_the_browsers_own_wish_for_an_icon_is_no_trouble(built: House):
    assert (await built.request("GET", "/favicon.ico")).status == 404


async def test_the_page_may_talk_to_nobody_but_its_server(built: House):
    policy = (await built.request("GET", "/")).headers["content-security-policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        **dict.fromkeys(("script-src", "style-src", "font-src", "connect-src", "frame-src"), "'self'"),
        **dict.fromkeys(("worker-src", "manifest-src", "form-action"), "'self'"),
        "img-src": "'self' data: blob:",
        **dict.fromkeys(("base-uri", "frame-ancestors"), "'none'"),
    }
