"""docs/server.md lists every route, and no other."""

import re

import pytest

from footnote.server.errors import STATUSES
from footnote.server.routes import ALL_ROUTES
from shape.tree import ROOT

PAGE = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
ROUTE = re.compile(r"^\| `((?:GET|POST|PATCH|PUT|DELETE) \S+)` \| (.*) \|$", re.MULTILINE)


def _plain(name: str) -> str:
    return re.sub(r":\w+}", "}", name)


def test_the_page_names_every_route_and_no_other():
    assert sorted(name for name, _ in ROUTE.findall(PAGE)) == sorted(_plain(route.name) for route in ALL_ROUTES)


def test_the_page_says_for_whom_each_route_is():
    marks = {"*open*": "anyone", "*admin*": "admin"}
    documented = {
        name: next((marks[mark] for mark in marks if mark in text), "user") for name, text in ROUTE.findall(PAGE)
    }
    # Metrics are for admins and for the local token, for which the table has no mark.
    assert documented | {"GET /metrics": "anyone"} == {_plain(route.name): route.access for route in ALL_ROUTES}


def test_the_page_names_every_error_of_the_server():
    below = PAGE.split("\n## Errors\n")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| (\d{3}) \| (.*) \|$", below, re.MULTILINE))
    assert {str(status) for _, status in STATUSES} <= set(rows)
    assert all(f"`{kind.type}`" in rows[str(status)] for kind, status in STATUSES if "database_error" not in kind.type)


@pytest.mark.parametrize("block", re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))
def test_the_commands_on_the_page_name_routes_that_there_are(block: str):
    paths = {re.sub(r"\$(session|run)", r"{\1_id}", path) for path in re.findall(r"\$api(/\S+)", block)}
    assert paths <= {route.path.removeprefix("/v2") for route in ALL_ROUTES}
