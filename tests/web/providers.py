"""Search providers on loopback: each responds in the format of the real one, and refuses what the real one would
refuse.

    async with SearchServer("brave") as brave:
        brave.url                                    # goes into providers.brave.baseUrl
        brave.script(recorded_reply("brave_error_429.json", 429), hanging_reply(), results_reply("brave", HITS))
        brave.requests                               # the requests received, in order

Without a script it returns `hits`, a list or a function of the query. A request that the real API would refuse gets a
400, and fails the `async with` unless another exception leaves it.
"""

import asyncio
import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias
from urllib.parse import parse_qs, quote, urlsplit

Name: TypeAlias = Literal["duckduckgo", "brave", "serper", "tavily", "searxng"]
NAMES: tuple[Name, ...] = ("duckduckgo", "brave", "serper", "tavily", "searxng")
WITH_KEY: tuple[Name, ...] = ("brave", "serper", "tavily")
KEY = "key-0123456789+never/shown"
FIXTURES = Path(__file__).parents[1] / "fixtures" / "search"


@dataclass(frozen=True)
class Hit:
    """A result of a provider. `date`: YYYY-MM-DD."""

    title: str
    url: str
    text: str = ""
    date: str | None = None


HITS = (
    Hit("Oxygen", "https://en.example.org/Oxygen", "A chemical element with symbol O.", "2024-03-02"),
    Hit("Ôxy", "https://vi.example.org/Oxy", "Ôxy là nguyên tố hóa học & khí <không màu>."),
    Hit("氧", "https://zh.example.org/氧", "氧是一种化学元素。"),
)


@dataclass(frozen=True)
class ProviderRequest:
    """A request as it was received. `options`: the fields of the query, the form or the JSON."""

    method: str
    path: str
    headers: Mapping[str, str]
    options: Mapping[str, Any]


@dataclass(frozen=True)
class SearchReply:
    """`until`: the event to wait for. `length`: a wrong Content-Length; `stays_open`: without closing the
    connection."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    until: asyncio.Event | None = None
    length: int | None = None
    stays_open: bool = False


def recorded_reply(name: str, status: int = 200, headers: Mapping[str, str] | None = None) -> SearchReply:
    """A response as it was recorded."""
    return SearchReply(status, (FIXTURES / name).read_bytes(), headers or {})


def hanging_reply() -> SearchReply:
    """Receives the request and never responds."""
    return SearchReply(until=asyncio.Event())


def truncated_reply() -> SearchReply:
    """Ends in the middle of the body."""
    return SearchReply(body=b'{"results": [', length=1000)


def results_reply(provider: Name, hits: Sequence[Hit], until: asyncio.Event | None = None) -> SearchReply:
    """These hits, in the format of the provider."""
    return SearchReply(body=_FORMATS[provider](hits), until=until)


Answer: TypeAlias = SearchReply | Callable[[ProviderRequest], SearchReply]


class SearchServer:
    """One provider. `key`: the key that requests must have, if the real provider needs one."""

    def __init__(
        self,
        provider: Name,
        hits: Sequence[Hit] | Callable[[str], Sequence[Hit]] = HITS,
        *,
        key: str = KEY,
        prefix: str = "",
    ) -> None:
        self.provider: Name = provider
        self.key = key
        self.requests: list[ProviderRequest] = []
        self.problems: list[str] = []
        self.open = 0
        self.fails = False
        """Whether every request is answered with an error of the server."""
        self._hits = hits
        self._prefix = prefix
        self._script: list[Answer] = []
        self._port = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Condition()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}{self._prefix}"

    def script(self, *answers: Answer) -> None:
        """One answer for each of the next requests; after that the provider answers as without a script."""
        self._script += answers

    async def wait_received(self, count: int) -> None:
        """Waits until so many requests were received."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.requests) >= count)

    async def wait_closed(self) -> None:
        """Waits until no connection is open."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.open == 0)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._handle_connection, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()
        assert kind is not None or self.problems == [], f"{self.provider} would not accept this: {self.problems}"

    async def _handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        await self._count(1)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while (request := await _read(reader)) and await self._answer(request, reader, writer):
                    pass
        finally:
            writer.close()
            self._tasks.discard(task)
            await self._count(-1)

    async def _count(self, change: int) -> None:
        async with self._changed:
            self.open += change
            self._changed.notify_all()

    async def _answer(
        self, request: ProviderRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answers a request, and returns whether the connection stays open."""
        reply = self._reply(request)
        async with self._changed:
            self._changed.notify_all()
        if reply.until is not None and not await _wait_or_disconnect(reply.until, reader):
            return False
        length = len(reply.body) if reply.length is None else reply.length
        lines = [f"HTTP/1.1 {reply.status} {_phrase(reply.status)}", f"Content-Length: {length}"]
        lines += [f"{name}: {value}" for name, value in reply.headers.items()]
        writer.write("\r\n".join((*lines, "", "")).encode() + reply.body)
        await writer.drain()
        if reply.stays_open:
            await reader.read()
        return reply.length is None

    def _reply(self, request: ProviderRequest) -> SearchReply:
        self.requests.append(request)
        problems = _request_problems(self.provider, self._prefix, request)
        self.problems += problems
        if problems:
            return SearchReply(400, json.dumps({"message": "; ".join(problems)}).encode())
        if self.provider in WITH_KEY and _key_of(self.provider, request) != self.key:
            return recorded_reply(*_BAD_KEY[self.provider])
        if self.fails:
            return SearchReply(503)
        if self._script:
            answer = self._script.pop(0)
            return answer(request) if callable(answer) else answer
        query = request.options["query" if self.provider == "tavily" else "q"]
        return results_reply(self.provider, self._hits(query) if callable(self._hits) else self._hits)


async def _read(reader: asyncio.StreamReader) -> ProviderRequest | None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = (await reader.readexactly(int(headers.get("content-length", "0")))).decode()
    parts = urlsplit(target)
    if headers.get("content-type") == "application/json":
        return ProviderRequest(method, parts.path, headers, json.loads(body))
    pairs = parse_qs(body or parts.query, keep_blank_values=True, strict_parsing=True)
    return ProviderRequest(method, parts.path, headers, {name: ",".join(values) for name, values in pairs.items()})


async def _wait_or_disconnect(event: asyncio.Event, reader: asyncio.StreamReader) -> bool:
    """Waits for the event, or until the client closes the connection."""
    waiting = {asyncio.ensure_future(event.wait()), asyncio.ensure_future(reader.read(1))}
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
    return event.is_set()


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in set(HTTPStatus) else "Plan Limit"


# What the real providers accept.

_BAD_KEY = {
    "brave": ("brave_error_422_bad_key.json", 422),
    "serper": ("serper_error_403.json", 403),
    "tavily": ("tavily_error_401.json", 401),
}
_PATHS = {
    "duckduckgo": ("POST", "/html/"),
    "brave": ("GET", "/res/v1/web/search"),
    "serper": ("POST", "/search"),
    "tavily": ("POST", "/search"),
    "searxng": ("GET", "/search"),
}
_DAY = r"\d{4}-\d{2}-\d{2}"
_BRAVE_COUNTRIES = (
    "ALL|AR|AU|AT|BE|BR|CA|CL|DK|FI|FR|DE|HK|IN|ID|IT|JP|KR|MY|MX|NL|NZ|NO|CN|PL|PT|PH|RU|SA|ZA|ES|SE|CH|TW|TR|GB|US"
)
_BRAVE_LANGUAGES = (
    "ar|eu|bn|bg|ca|zh-hans|zh-hant|hr|cs|da|nl|en|en-gb|et|fi|fr|gl|de|gu|he|hi|hu|is|it|jp|kn|ko|lv|lt|ms|ml|mr|nb|pl|"
    "pt-br|pt-pt|pa|ro|ru|sr|sk|sl|es|sv|ta|te|th|tr|uk|vi"
)
_KL = (
    "wt-wt|ar-es|au-en|at-de|be-fr|be-nl|br-pt|bg-bg|ca-en|ca-fr|ct-ca|cl-es|cn-zh|co-es|hr-hr|cz-cs|dk-da|ee-et|fi-fi|"
    "fr-fr|de-de|gr-el|hk-tzh|hu-hu|is-is|in-en|id-en|ie-en|il-en|it-it|jp-jp|kr-kr|lv-lv|lt-lt|my-en|mx-es|nl-nl|nz-en|"
    "no-no|pk-en|pe-es|ph-en|pl-pl|pt-pt|ro-ro|ru-ru|xa-ar|sg-en|sk-sk|sl-sl|za-en|es-ca|es-es|se-sv|ch-de|ch-fr|tw-tzh|"
    "th-en|tr-tr|us-en|us-es|ua-uk|uk-en|vn-en"
)
_OPTIONS: dict[Name, dict[str, str]] = {
    "duckduckgo": {
        "q": r".{1,499}",
        "b": "",
        "kl": _KL,
        "df": rf"[dwmy]|{_DAY}\.\.{_DAY}",
        "kp": "1|-1|-2",
        "s": r"\d+",
    },
    "brave": {
        "q": r"(?=.{1,400}\Z)\S+(?:\s+\S+){0,49}",
        "country": _BRAVE_COUNTRIES,
        "search_lang": _BRAVE_LANGUAGES,
        "count": r"[1-9]|1\d|20",
        "offset": r"\d",
        "safesearch": "off|moderate|strict",
        "freshness": rf"p[dwmy]|{_DAY}to{_DAY}",
        "text_decorations": "true|false",
        "spellcheck": "true|false",
        "result_filter": r"(?:\b(?:discussions|faq|infobox|news|query|summarizer|videos|web|locations)\b,?)+",
        "extra_snippets": "true|false",
    },
    "serper": {
        "q": ".+",
        "gl": "[a-z]{2}",
        "hl": "[a-z]{2}(?:-[a-z]{2})?",
        "num": r"[1-9]\d?|100",
        "page": r"[1-9]\d*",
        "tbs": r"qdr:[hdwmy]|cdr:1,cd_min:\d{1,2}/\d{1,2}/\d{4},cd_max:\d{1,2}/\d{1,2}/\d{4}",
        "autocorrect": "True|False",
    },
    "tavily": {
        "query": ".{1,400}",
        "search_depth": "basic|advanced|fast|ultra-fast",
        "topic": "general",
        "max_results": r"\d|1\d|20",
        "time_range": "day|week|month|year",
        "start_date": _DAY,
        "end_date": _DAY,
        "include_answer": "False",
        "include_favicon": "True|False",
        "include_raw_content": "False",
        "country": "[a-z]{4,}(?: [a-z]+)*",
    },
    "searxng": {
        "q": ".+",
        "format": "json",
        "categories": "general|news|science|it",
        "language": "all|auto|[a-z]{2,3}(?:-[a-zA-Z]{2})?",
        "time_range": "day|month|year",
        "pageno": r"[1-9]\d*",
        "safesearch": "[012]",
    },
}


def _request_problems(provider: Name, prefix: str, request: ProviderRequest) -> list[str]:
    method, path = _PATHS[provider]
    known = _OPTIONS[provider]
    problems = [
        *([] if (request.method, request.path) == (method, prefix + path) else [f"{request.method} {request.path}"]),
        *(f"{name} is not known" for name in request.options.keys() - known.keys()),
        *(
            f"{name} cannot be {value!r}"
            for name, value in request.options.items()
            if name in known and not re.fullmatch(known[name], str(value), re.DOTALL)
        ),
    ]
    if not request.options.keys() & {"q", "query"}:
        problems.append("there is no query")
    if "time_range" in request.options and "start_date" in request.options:
        problems.append("time_range and start_date exclude each other")
    if provider not in WITH_KEY and any("key" in name or "Bearer" in value for name, value in request.headers.items()):
        problems.append("a key that nobody asked for")
    return problems


def _key_of(provider: Name, request: ProviderRequest) -> str | None:
    name = {"brave": "x-subscription-token", "serper": "x-api-key", "tavily": "authorization"}[provider]
    return request.headers.get(name, "").removeprefix("Bearer ")


# What the real providers send.


def _page(hits: Sequence[Hit]) -> bytes:
    blocks = "".join(
        f'<div class="result results_links results_links_deep web-result "><div class="links_main result__body">'
        f'<h2 class="result__title"><a rel="nofollow" class="result__a" '
        f'href="//duckduckgo.com/l/?uddg={quote(hit.url, safe="")}&amp;rut=0f">{html.escape(hit.title)}</a></h2>'
        f'<div class="result__extras"><div class="result__extras__url">'
        f'<a class="result__url" href="{html.escape(hit.url)}">{html.escape(hit.url)}</a>'
        f"{f'<span>&nbsp; {hit.date}T00:00:00.0000000</span>' if hit.date else ''}</div></div>"
        f'<a class="result__snippet" href="{html.escape(hit.url)}">{html.escape(hit.text)}</a></div></div>'
        for hit in hits
    )
    return f'<html><body><div id="links" class="results">{blocks or _NOTHING}</div></body></html>'.encode()


_NOTHING = '<div class="result result--no-result"><div class="no-results">No results.</div></div>'


def _rows(hits: Sequence[Hit], url: str, text: str, date: str | None) -> list[dict[str, Any]]:
    return [
        {"title": hit.title, url: hit.url, text: hit.text, **({date: hit.date} if date and hit.date else {})}
        for hit in hits
    ]


def _brave(hits: Sequence[Hit]) -> bytes:
    marked = [Hit(hit.title, hit.url, html.escape(hit.text), hit.date) for hit in hits]
    web = {"web": {"type": "search", "results": _rows(marked, "url", "description", "page_age")}} if hits else {}
    return json.dumps({"type": "search", "query": {"original": "…"}, **web}).encode()


def _serper(hits: Sequence[Hit]) -> bytes:
    organic = {"organic": _rows(hits, "link", "snippet", "date")} if hits else {}
    return json.dumps({"searchParameters": {"q": "…"}, "credits": 1, **organic}).encode()


def _tavily(hits: Sequence[Hit]) -> bytes:
    return json.dumps({"query": "…", "results": _rows(hits, "url", "content", None)}).encode()


def _searxng(hits: Sequence[Hit]) -> bytes:
    rows = _rows(hits, "url", "content", "publishedDate")
    return json.dumps({"query": "…", "number_of_results": 0, "results": rows, "unresponsive_engines": []}).encode()


_FORMATS: dict[Name, Callable[[Sequence[Hit]], bytes]] = {
    "duckduckgo": _page,
    "brave": _brave,
    "serper": _serper,
    "tavily": _tavily,
    "searxng": _searxng,
}
