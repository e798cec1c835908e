"""Login and logout over HTTP: cookies, links for one login, other origins, limits."""

import asyncio
from http.cookies import SimpleCookie
from pathlib import Path

import pytest

from server.harness import LOCAL_TOKEN, PASSWORD, ApiResponse, ServerHarness, open_server

LOGIN = "/v2/auth/login"


def parse_cookie(response: ApiResponse) -> SimpleCookie:
    return SimpleCookie(response.headers["set-cookie"])


async def log_in(server: ServerHarness, name: str = "ann") -> str:
    response = await server.request("POST", LOGIN, body={"name": name, "password": PASSWORD})
    assert response.status == 200, response
    return parse_cookie(response)["footnote_session"].value


async def test_a_password_gets_a_cookie_that_only_the_page_of_ours_can_use(server: ServerHarness):
    ann = await server.add_user("ann")
    response = await server.request("POST", LOGIN, body={"name": "ann", "password": PASSWORD})
    cookie = parse_cookie(response)["footnote_session"]

    assert response.json == {"user_id": ann.id, "name": "ann", "role": "user", "by": "cookie"}
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["secure"]) == (True, "strict", "/", "")
    me = await server.request("GET", "/v2/auth/me", cookie=cookie.value)
    assert me.json == response.json


async def test_the_cookie_stays_with_tls_where_there_is_tls(tmp_path: Path):
    async with open_server(tmp_path, FOOTNOTE_SERVER_PUBLIC_URL="https://footnote.example") as server:
        await server.add_user("ann")
        response = await server.request("POST", LOGIN, body={"name": "ann", "password": PASSWORD})
        assert parse_cookie(response)["footnote_session"]["secure"] is True


@pytest.mark.parametrize(
    "body",
    [
        {"name": "ann", "password": "wrong password"},
        {"name": "nobody", "password": PASSWORD},
        {"name": "local", "password": ""},
        {"token": "fnl_wrong"},
        {"token": LOCAL_TOKEN},
    ],
)
async def test_a_wrong_login_is_a_401_without_a_cookie(server: ServerHarness, body: dict[str, str]):
    await server.add_user("ann")
    response = await server.request("POST", LOGIN, body=body)
    assert (response.status, response.error) == (401, "not_logged_in")
    assert "set-cookie" not in response.headers


async def test_logging_out_ends_the_visit(server: ServerHarness):
    await server.add_user("ann")
    cookie = await log_in(server)
    out = await server.request("POST", "/v2/auth/logout", cookie=cookie)
    assert out.status == 204
    assert parse_cookie(out)["footnote_session"].value == ""
    assert (await server.request("GET", "/v2/auth/me", cookie=cookie)).status == 401


async def test_a_link_lets_in_whoever_opens_it_first_and_nobody_after(server: ServerHarness):
    token = await server.app.accounts.create_login_token()
    first = await server.request("GET", f"/login?token={token}")
    second = await server.request("GET", f"/login?token={token}")

    assert (first.status, first.headers["location"], first.body) == (303, "/", b"")
    cookie = parse_cookie(first)["footnote_session"].value
    assert (await server.request("GET", "/v2/auth/me", cookie=cookie)).json["user_id"] == "local"
    assert (second.status, "set-cookie" in second.headers) == (401, False)
    assert second.headers["content-type"] == "text/html; charset=utf-8"
    assert b"footnote serve" in second.body


async def test_of_many_who_open_a_link_at_once_one_is_let_in(server: ServerHarness):
    token = await server.app.accounts.create_login_token()
    answers = await asyncio.gather(*(server.request("GET", f"/login?token={token}") for _ in range(15)))
    assert sorted(response.status for response in answers) == [303] + [401] * 14


async def test_looking_at_a_link_does_not_use_it_up(server: ServerHarness):
    token = await server.app.accounts.create_login_token()
    head = await server.request("HEAD", f"/login?token={token}")
    assert (head.status, head.headers["allow"]) == (405, "GET")
    assert (await server.request("GET", f"/login?token={token}")).status == 303


@pytest.mark.parametrize("query", ["", "?token=", "?token=%3Cscript%3E", "?token=fnl_x%22onload"])
async def test_a_wrong_link_says_what_to_do_and_repeats_nothing(server: ServerHarness, query: str):
    response = await server.request("GET", f"/login{query}")
    assert response.status == 401
    assert b"<script" not in response.body
    assert b"onload" not in response.body


async def test_a_page_of_another_site_cannot_log_anybody_in(server: ServerHarness):
    await server.add_user("ann")
    body = {"name": "ann", "password": PASSWORD}
    response = await server.request("POST", LOGIN, body=body, origin="https://evil.example")
    assert (response.status, response.error) == (403, "not_allowed")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 201),
        ({"origin": "{url}"}, 201),
        ({"sec_fetch_site": "same-origin"}, 201),
        ({"sec_fetch_site": "none"}, 201),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"origin": "https://evil.example", "sec_fetch_site": "same-origin"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"origin": "http://[broken"}, 403),
        ({"origin": "{url}.evil.example"}, 403),
    ],
)
async def test_a_cookie_changes_something_only_from_a_page_of_ours(
    server: ServerHarness, headers: dict[str, str], status: int
):
    await server.add_user("ann")
    cookie = await log_in(server)
    sent = {name: value.replace("{url}", server.url) for name, value in headers.items()}
    assert (await server.request("POST", "/v2/sessions", cookie=cookie, body={}, **sent)).status == status


async def test_a_token_is_no_matter_of_sites(server: ServerHarness):
    response = await server.request("POST", "/v2/sessions", token=LOCAL_TOKEN, body={}, origin="https://evil.example")
    assert response.status == 201


async def test_two_cookies_of_the_name_are_none(server: ServerHarness):
    await server.add_user("ann")
    cookie = await log_in(server)
    response = await server.request("GET", "/v2/auth/me", cookie=f"{cookie}; footnote_session=fnc_other")
    assert response.status == 401


async def test_guessing_at_a_password_is_slowed_down_and_says_for_how_long(server: ServerHarness):
    await server.add_user("ann")
    body = {"name": "ann", "password": "wrong password"}
    answers = [await server.request("POST", LOGIN, body=body) for _ in range(7)]
    assert [response.status for response in answers[:5]] == [401] * 5
    assert (answers[-1].status, answers[-1].error) == (429, "limit_reached")
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 12


async def test_one_changes_ones_own_password_with_the_old_one_alone(server: ServerHarness):
    ann = await server.add_user("ann")
    wrong = {"old_password": "wrong password", "password": "another password"}
    right = {"old_password": PASSWORD, "password": "another password"}

    assert (await ann.request("POST", "/v2/auth/password", wrong)).error == "invalid_request"
    changed = await server.request("POST", "/v2/auth/password", cookie=ann.cookie, body=right)
    assert changed.status == 204
    assert (await server.request("GET", "/v2/auth/me", cookie=ann.cookie)).status == 401
    cookie = parse_cookie(changed)["footnote_session"].value
    assert (await server.request("GET", "/v2/auth/me", cookie=cookie)).status == 200
    again = await server.request("POST", LOGIN, body={"name": "ann", "password": "another password"})
    assert again.status == 200


async def test_a_token_is_shown_once_and_works_until_it_is_revoked(server: ServerHarness):
    ann = await server.add_user("ann")
    issued = (await ann.request("POST", "/v2/tokens", {"name": "my program"})).json
    listed = await ann.request("GET", "/v2/tokens")

    assert [one["name"] for one in listed.json["tokens"]] == ["my program", "test"]
    assert issued["token"].encode() not in listed.body
    assert (await server.request("GET", "/v2/auth/me", token=issued["token"])).json["name"] == "ann"
    assert (await ann.request("DELETE", f"/v2/tokens/{issued['id']}")).status == 204
    assert (await server.request("GET", "/v2/auth/me", token=issued["token"])).status == 401


async def test_an_admin_adds_changes_and_removes_people(server: ServerHarness):
    local = server.local
    response = await local.request("POST", "/v2/users", {"name": "bob", "password": PASSWORD})
    path = f"/v2/users/{response.json['id']}"

    assert response.status == 201
    assert (await local.request("POST", "/v2/users", {"name": "BOB", "password": PASSWORD})).error == "conflict"
    assert (await local.request("PATCH", path, {"role": "admin"})).json["role"] == "admin"
    cookie = await log_in(server, "bob")
    assert (await local.request("PATCH", path, {"disabled": True})).json["disabled"] is True
    assert (await server.request("GET", "/v2/auth/me", cookie=cookie)).status == 401
    assert (await local.request("DELETE", path)).status == 204
    assert (await local.request("GET", path)).error == "not_found"
    assert (await local.request("DELETE", "/v2/users/local")).error == "not_allowed"


async def test_requests_of_a_user_are_limited_and_those_of_others_go_on(tmp_path: Path):
    async with open_server(tmp_path, FOOTNOTE_LIMITS_REQUESTS_PER_MINUTE="5") as server:
        ann, bob = await server.add_user("ann"), await server.add_user("bob")
        statuses = [(await ann.request("GET", "/v2/agents")).status for _ in range(6)]
        refused = await ann.request("GET", "/v2/agents")
        assert statuses[:5] == [200] * 5
        assert (refused.status, refused.error) == (429, "limit_reached")
        assert int(refused.headers["retry-after"]) >= 1
        assert (await bob.request("GET", "/v2/agents")).status == 200
        assert [(await server.request("GET", "/openapi.json")).status for _ in range(6)][-1] == 429
