"""What the tests of `footnote search` have in common: a small web, and the way of the program to it."""

import re
from pathlib import Path

from cli.process import environment
from upstream import Upstream
from upstream.server import Api
from web import Reply, Web
from web.providers import KEY, Hit, SearchServer

FACT = "Oxygen was isolated by Carl Wilhelm Scheele in Uppsala, before 1772."


def small_web() -> Web:
    web = Web()
    web.put("/oxygen", article("Oxygen", FACT))
    web.put("/oxy", article("Ôxy", "Ôxy được phát hiện bởi Carl Wilhelm Scheele."))
    return web


def article(title: str, *paragraphs: str, **headers: str) -> Reply:
    """A page with nothing around its text. Headers are written with underscores: `Cache_Control="no-store"`."""
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    body = f"<!doctype html><html><title>{title}</title><body><article><h1>{title}</h1>{text}</article></body></html>"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(headers={"Content-Type": "text/html; charset=utf-8", **named}, body=body.encode())


def env_for(
    home: Path, web: Web, *servers: SearchServer, upstream: Upstream | None = None, api: Api = "openai", **more: str
) -> dict[str, str]:
    """The way to these providers, and leave to read the pages of the small web."""
    prefix = "FOOTNOTE_TOOLS_WEB_SEARCH_"
    places = {f"{prefix}PROVIDERS_{one.provider.upper()}_BASE_URL": one.url for one in servers}
    keys = {f"{one.provider.upper()}_API_KEY": KEY for one in servers if one.provider == "brave"}
    facts = {f"{prefix}ALLOW_PRIVATE_HOSTS": web.host, f"{prefix}TIMEOUT_SECONDS": "30"}
    return environment(home, upstream, api, **{**facts, **places, **keys, **more})


def hits(web: Web, *paths: str) -> list[Hit]:
    return [Hit(f"Title of {path}", web.url(path), f"Snippet of {path}.", "2024-03-02") for path in paths]


def without_times(text: str) -> str:
    return re.sub(r"\d+\.\d s", "… s", re.sub(r"\d+ k?B\b", "… B", text))
