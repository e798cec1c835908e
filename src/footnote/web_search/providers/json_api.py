"""What most JSON APIs have in common: their answers, and how they say no."""

from collections.abc import Iterator
from typing import Any, TypeAlias, cast

from footnote.models import wire
from footnote.models.retry import retry_after_seconds
from footnote.web_search.boundary import quote_external
from footnote.web_search.providers.base import (
    HttpResponse,
    Outcome,
    UnreadableResponse,
    blocked_outcome,
    failed_outcome,
)
from footnote.web_search.providers.results import clean_text

QUOTA_RETRY_SECONDS = 600.0
"""A used-up quota comes back at the end of a day or month, or when somebody pays: this is how often that is tried."""
MAX_QUOTE_LENGTH = 200

Fields: TypeAlias = dict[str, Any]


def json_object(response: HttpResponse) -> Fields:
    """The JSON object of an answer; `Unreadable` for anything else."""
    try:
        value = wire.loads(response.body.decode("utf-8-sig", "replace"))
    except wire.MalformedJson:
        kind = "a web page" if response.body.lstrip()[:1] == b"<" else "something"
        raise UnreadableResponse(f"it answered with {kind} that is not JSON (status {response.status})") from None
    if not isinstance(value, dict):
        raise UnreadableResponse(f"it answered with JSON of another shape than its API has (status {response.status})")
    return cast("Fields", value)


def object_fields(value: Any) -> Fields:
    """An object inside an answer; whatever is none has no fields."""
    return cast("Fields", value) if isinstance(value, dict) else {}


def object_rows(value: Any, name: str) -> Iterator[Fields]:
    """The objects of a list; `Unreadable` if there is no list."""
    if not isinstance(value, list):
        raise UnreadableResponse(f"its answer has no list of {name}")
    return (cast("Fields", row) for row in cast("list[Any]", value) if isinstance(row, dict))


def error_fields(response: HttpResponse) -> Fields:
    """The innermost object of an error, in whichever of the usual wrappers it comes; empty if there is none."""
    try:
        found = json_object(response)
    except UnreadableResponse:
        return {}
    for name in ("error", "errors", "detail"):
        inner = found.get(name)
        if isinstance(inner, list) and inner:
            inner = cast("list[Any]", inner)[0]
        if isinstance(inner, dict):
            return cast("Fields", inner)
    return found


def error_detail(response: HttpResponse) -> str:
    """The status and, if the provider says more, that in its own words: `(status 429: “Slow down”)`."""
    found = error_fields(response)
    words = (clean_text(found.get(name), MAX_QUOTE_LENGTH) for name in ("detail", "message", "error", "msg"))
    parts = (next(filter(None, words), "").rstrip("."), clean_text(_invalid_option(found), MAX_QUOTE_LENGTH))
    return f"(status {': '.join((str(response.status), *map(quote_external, filter(None, parts))))})"


def _invalid_option(error: Fields) -> Any:
    """The option that a validation stumbled over."""
    inner = object_fields(error.get("meta")).get("errors")
    first = object_fields(cast("list[Any]", inner)[0]) if isinstance(inner, list) and inner else error
    place = first.get("loc")
    return cast("list[Any]", place)[-1] if isinstance(place, list) and place else None


def retry_after(response: HttpResponse) -> float | None:
    """The seconds that the provider asks us to wait, if it does."""
    return retry_after_seconds(response.headers, response.received_at)


def key_refused_outcome(response: HttpResponse, key_name: str) -> Outcome:
    return failed_outcome(f"it did not accept the key {error_detail(response)}: check {key_name}", key_refused=True)


def quota_outcome(response: HttpResponse, quota_name: str) -> Outcome:
    reason = f"{quota_name} is used up {error_detail(response)}: raise it with the provider, or wait"
    return blocked_outcome(reason, retry_after=retry_after(response) or QUOTA_RETRY_SECONDS)


def rate_limit_outcome(response: HttpResponse, throttle_seconds: float | None = None) -> Outcome:
    reason = f"it wants fewer requests {error_detail(response)}: wait a little"
    return blocked_outcome(reason, retry_after=retry_after(response), throttle_seconds=throttle_seconds)


def status_outcome(response: HttpResponse, key_name: str | None = None) -> Outcome:
    """What a status other than 200 means where the provider has no meaning of its own for it."""
    status = response.status
    if status == 401 or (status == 403 and key_name and error_fields(response)):
        return key_refused_outcome(response, key_name or "the password in its baseUrl")
    if status == 429:
        return rate_limit_outcome(response)
    if status == 403:
        return blocked_outcome("it refuses requests from here (status 403): a firewall or a proxy may stand in between")
    if status >= 500 or status == 408:
        return failed_outcome(f"it has a problem of its own {error_detail(response)}: try again later")
    if 300 <= status < 400:
        raise UnreadableResponse(f"it sends the request elsewhere (status {status}), where it is not followed")
    if status == 404:
        raise UnreadableResponse(f"there is nothing at its address {error_detail(response)}")
    return failed_outcome(f"it did not accept the request {error_detail(response)}")
