"""A small web for the tests of `footnote search`, and the settings that point the command to it."""

import re
from pathlib import Path

from cli.process import environment
from upstream import Upstream
from upstream.server import Api
from web import PageReply, Web
from web.providers import KEY, Hit, SearchServer

FACT = "Oxygen was isolated by Carl Wilhelm Scheele in Uppsala, before 1772."


def small_web() -> Web:
    web = Web()
    web.put("/oxygen", article("Oxygen", FACT))
    web.put("/oxy", article("Ôxy", "Ôxy được phát hiện bởi Carl Wilhelm Scheele."))
    return web


def article(title: str, *paragraphs: str, **headers: str) -> PageReply:
    """A page that has only its article. Headers are written with underscores: `Cache_Control="no-store"`."""
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    body = f"<!doctype html><html><title>{title}</title><body><article><h1>{title}</h1>{text}</article></body></html>"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return PageReply(headers={"Content-Type": "text/html; charset=utf-8", **named}, body=body.encode())


def env_for(
    home: Path, web: Web, *servers: SearchServer, upstream: Upstream | None = None, api: Api = "openai", **more: str
) -> dict[str, str]:
    """Settings that point to these providers, and allow pages of the small web to be read. A scripted model takes no
    second look at its answers."""
    prefix = "FOOTNOTE_TOOLS_WEB_SEARCH_"
    places = {f"{prefix}PROVIDERS_{one.provider.upper()}_BASE_URL": one.url for one in servers}
    keys = {f"{one.provider.upper()}_API_KEY": KEY for one in servers if one.provider == "brave"}
    facts = {
        f"{prefix}ALLOW_PRIVATE_HOSTS": web.host,
        f"{prefix}TIMEOUT_SECONDS": "30",
        "FOOTNOTE_CITATIONS_MODEL": "off",
    }
    return environment(home, upstream, api, **{**facts, **places, **keys, **more})


def hits(web: Web, *paths: str) -> list[Hit]:
    return [Hit(f"Title of {path}", web.url(path), f"Snippet of {path}.", "2024-03-02") for path in paths]


def without_times(text: str) -> str:
    return re.sub(r"\d+\.\d s", "… s", re.sub(r"\d+ k?B\b", "… B", text))
