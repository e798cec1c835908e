"""The icons of sites that providers know."""

import json
from typing import Any

import pytest
from msgspec import UNSET

from web.providers import Name
from web_search.test_providers_answers import parse


@pytest.mark.parametrize(
    ("provider", "row"),
    [
        ("brave", {"profile": {"img": "{icon}"}}),
        ("brave", {"meta_url": {"favicon": "{icon}"}}),
        ("tavily", {"favicon": "{icon}"}),
        ("searxng", {"favicon": "{icon}"}),
    ],
)
@pytest.mark.parametrize(
    ("icon", "accepted"),
    [
        ("https://example.org/icon.png", True),
        ("data:image/png;base64,AAAA", False),
        ("javascript:alert(1)", False),
        ("/icon.png", False),
        ("https://example.org/" + "x" * 2000, False),
        ("", False),
    ],
)
def test_an_icon_of_a_provider_is_an_address_of_the_web(provider: Name, row: dict[str, Any], icon: str, accepted: bool):
    filled = json.loads(json.dumps(row).replace("{icon}", icon))
    found_row = {"title": "A", "url": "https://example.org/", "description": "", "content": "", **filled}
    body = {"results": [found_row]} if provider != "brave" else {"type": "search", "web": {"results": [found_row]}}
    [hit] = parse(provider, json.dumps(body).encode()).hits
    assert hit.favicon == (icon if accepted else UNSET)
