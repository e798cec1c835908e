"""What a search provider is: how a search becomes a request to it, and its response one of four outcomes.

A provider on the web is two pure functions in a `WebProvider`; the request itself is made here, for all of them.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, TypeAlias
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace

from footnote.models.wire import dumps
from footnote.net.client import ConnectionFailed, Net
from footnote.net.connector import user_agent
from footnote.protocol.receipts import SearchOutcome
from footnote.protocol.sources import SearchHit
from footnote.web_search.providers.rate import ProviderLimits, Rate
from footnote.web_search.providers.secrets import redact_secrets
from footnote.web_search.settings import ProviderAccess, SearchRequest

MAX_BODY_BYTES = 2_000_000
UNREACHABLE_REASON = "it could not be reached"
"""How the reason begins where there was no connection."""


Cause: TypeAlias = Literal["block", "errors", "key"]


class Outcome(Struct, frozen=True, kw_only=True):
    """How asking a provider ended; `skipped`: it was not asked. `reason` says, where it failed, what happened and
    what can be done about it.

    `retry_after`: seconds for which a block lasts, if that is known. `again`: it was only asked too fast, and answers
    after so many seconds. `key_refused`: it fails in the same way until there is another key. `cause`: of its being
    left alone.
    """

    kind: SearchOutcome | Literal["skipped"]
    hits: tuple[SearchHit, ...] = ()
    reason: str | None = None
    retry_after: float | None = None
    throttle_seconds: float | None = None
    key_refused: bool = False
    cause: Cause | None = None
    limits: ProviderLimits = ProviderLimits()

    @property
    def is_answer(self) -> bool:
        return self.kind in ("results", "empty")


def failed_outcome(reason: str, *, key_refused: bool = False) -> Outcome:
    return Outcome(kind="error", reason=reason, key_refused=key_refused)


def blocked_outcome(reason: str, *, retry_after: float | None = None, throttle_seconds: float | None = None) -> Outcome:
    return Outcome(kind="blocked", reason=reason, retry_after=retry_after, throttle_seconds=throttle_seconds)


def skipped_outcome(reason: str, cause: Cause | None = None) -> Outcome:
    return Outcome(kind="skipped", reason=reason, cause=cause)


class UnreadableResponse(Exception):
    """A response is not what this provider answers with; the message says what it is instead."""


class HttpRequest(Struct, frozen=True, kw_only=True):
    """`path` comes behind the base URL, with its query. `notes`: options that were mapped or left out.

    A key goes into `headers`: everything else decides about the answer, and is what the cache goes by.
    """

    method: Literal["GET", "POST"]
    path: str
    headers: Mapping[str, str] = {}
    body: bytes = b""
    notes: tuple[str, ...] = ()


def get_request(
    path: str, query: Mapping[str, str | None], headers: Mapping[str, str], notes: list[str]
) -> HttpRequest:
    """What is None is left out, here and in the two below."""
    return HttpRequest(method="GET", path=f"{path}?{_encode_query(query)}", headers=headers, notes=tuple(notes))


def form_request(path: str, form: Mapping[str, str | None], notes: list[str]) -> HttpRequest:
    """A form is what a page for people is asked with, and answered with a page."""
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": "text/html"}
    body = _encode_query(form).encode()
    return HttpRequest(method="POST", path=path, headers=headers, body=body, notes=tuple(notes))


def json_request(path: str, value: Mapping[str, Any], headers: Mapping[str, str], notes: list[str]) -> HttpRequest:
    headers = {"content-type": "application/json", **headers}
    body = dumps({name: part for name, part in value.items() if part is not None})
    return HttpRequest(method="POST", path=path, headers=headers, body=body, notes=tuple(notes))


def _encode_query(values: Mapping[str, str | None]) -> str:
    return urlencode({name: value for name, value in values.items() if value is not None}, errors="replace")


class HttpResponse(Struct, frozen=True, kw_only=True):
    """A whole response. Names of headers are in lower case; `received` is in seconds since 1970."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    received_at: float


class LibrarySearch(Protocol):
    """What was read before, and can be searched without any network."""

    async def search(self, query: str, count: int) -> tuple[SearchHit, ...]: ...


class ProviderContext(Struct, frozen=True):
    """What a provider has to work with."""

    net: Net
    library: LibrarySearch | None
    wall: Callable[[], float]


class RequestPlan(Struct, frozen=True):
    """What a search comes to with one provider: `signature` is the same for equal searches. None: not to be kept."""

    signature: str | None
    notes: tuple[str, ...]


class Provider(Struct, frozen=True, kw_only=True):
    """Anything that can be searched. `order`: who takes over earlier when others fail.

    `is_last_resort`: that it finds nothing is no answer, unless it was the one that was wanted.
    """

    id: str
    order: int
    rate: Rate | None = None
    is_last_resort: bool = False

    def missing_setting(self, access: ProviderAccess) -> str | None:  # noqa: ARG002 - for those that need something
        """What has to be set before it can be asked; None if nothing is missing."""
        return None

    def is_available(self, access: ProviderAccess) -> bool:
        return self.missing_setting(access) is None

    def plan(self, request: SearchRequest, access: ProviderAccess) -> RequestPlan:
        raise NotImplementedError

    async def search(self, request: SearchRequest, access: ProviderAccess, context: ProviderContext) -> Outcome:
        raise NotImplementedError


class WebProvider(Provider, frozen=True, kw_only=True):
    """A provider over HTTP: `ask` makes the request, `read` understands the response, both pure.

    `read` may raise `Unreadable`. `base_url`: where it usually is; None: only the operator knows. `key_name`: the
    variable that usually holds its key; None: it needs none. `limits`: what its headers say about its limits.
    """

    base_url: str | None
    build_request: Callable[[SearchRequest, ProviderAccess], HttpRequest]
    parse_response: Callable[[SearchRequest, HttpResponse], Outcome]
    key_name: str | None = None
    parse_limits: Callable[[Mapping[str, str]], ProviderLimits] = lambda _: ProviderLimits()

    def missing_setting(self, access: ProviderAccess) -> str | None:
        if self.key_name and not access.api_key:
            return f"it needs a key: set {self.key_name}"
        if not (access.base_url or self.base_url):
            return f"it needs the address of an instance: set tools.webSearch.providers.{self.id}.baseUrl"
        return None

    def plan(self, request: SearchRequest, access: ProviderAccess) -> RequestPlan:
        asked = self.build_request(request, access)
        sent = (asked.method, self._base_url(access), asked.path, asked.body.decode("utf-8", "replace"))
        return RequestPlan("\n".join(sent), asked.notes)

    async def search(self, request: SearchRequest, access: ProviderAccess, context: ProviderContext) -> Outcome:
        try:
            answer = await self._send(self.build_request(request, access), access, context)
        except ConnectionFailed as error:
            return failed_outcome(
                f"{UNREACHABLE_REASON}: {error.message}; check the network and {self._base_url_setting}"
            )
        if len(answer.body) > MAX_BODY_BYTES:
            return failed_outcome(
                f"it answered with more than {MAX_BODY_BYTES // 1_000_000} MB; check {self._base_url_setting}"
            )
        try:
            outcome = self.parse_response(request, answer)
        except UnreadableResponse as error:
            outcome = failed_outcome(f"{error}; check {self._base_url_setting}")
        return replace(outcome, limits=self.parse_limits(answer.headers))

    async def _send(self, request: HttpRequest, access: ProviderAccess, context: ProviderContext) -> HttpResponse:
        url = self._base_url(access) + request.path
        # Honest, in a form that those who let only browsers in may accept.
        agent = f"Mozilla/5.0 (compatible; {user_agent()})"
        headers = {"user-agent": agent, "accept": "application/json", **request.headers}
        if request.method == "GET":
            response = await context.net.get(url, headers=headers)
        else:
            response = await context.net.post(url, headers=headers, body=request.body)
        try:
            body = await response.read_all(MAX_BODY_BYTES + 1)
        finally:
            response.close()
        if response.status != 200:  # before any of it is quoted, and cut
            body = redact_secrets(body, access)
        lowered = {name.lower(): value for name, value in response.headers.items()}
        return HttpResponse(status=response.status, headers=lowered, body=body, received_at=context.wall())

    def _base_url(self, access: ProviderAccess) -> str:
        return (access.base_url or self.base_url or "").rstrip("/")

    @property
    def _base_url_setting(self) -> str:
        return f"tools.webSearch.providers.{self.id}.baseUrl"
