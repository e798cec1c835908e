"""What most JSON APIs have in common: their answers, and how they say no."""

from collections.abc import Iterator
from typing import Any, TypeAlias, cast

from footnote.models import wire
from footnote.models.retry import asked_delay
from footnote.web_search.boundary import quotation
from footnote.web_search.providers.base import HttpAnswer, Outcome, Unreadable, blocked, failed
from footnote.web_search.providers.hits import clean

QUOTA_SECONDS = 600.0
"""A used-up quota comes back at the end of a day or month, or when somebody pays: this is how often that is tried."""
QUOTE_LENGTH = 200

Fields: TypeAlias = dict[str, Any]


def json_object(answer: HttpAnswer) -> Fields:
    """The JSON object of an answer; `Unreadable` for anything else."""
    try:
        value = wire.loads(answer.body.decode("utf-8-sig", "replace"))
    except wire.Unreadable:
        kind = "a web page" if answer.body.lstrip()[:1] == b"<" else "something"
        raise Unreadable(f"it answered with {kind} that is not JSON (status {answer.status})") from None
    if not isinstance(value, dict):
        raise Unreadable(f"it answered with JSON of another shape than its API has (status {answer.status})")
    return cast("Fields", value)


def fields(value: Any) -> Fields:
    """An object inside an answer; whatever is none has no fields."""
    return cast("Fields", value) if isinstance(value, dict) else {}


def rows(value: Any, name: str) -> Iterator[Fields]:
    """The objects of a list; `Unreadable` if there is no list."""
    if not isinstance(value, list):
        raise Unreadable(f"its answer has no list of {name}")
    return (cast("Fields", row) for row in cast("list[Any]", value) if isinstance(row, dict))


def error_fields(answer: HttpAnswer) -> Fields:
    """The innermost object of an error, in whichever of the usual wrappers it comes; empty if there is none."""
    try:
        found = json_object(answer)
    except Unreadable:
        return {}
    for name in ("error", "errors", "detail"):
        inner = found.get(name)
        if isinstance(inner, list) and inner:
            inner = cast("list[Any]", inner)[0]
        if isinstance(inner, dict):
            return cast("Fields", inner)
    return found


def said(answer: HttpAnswer) -> str:
    """The status and, if the provider says more, that in its own words: `(status 429: “Slow down”)`."""
    found = error_fields(answer)
    words = (clean(found.get(name), QUOTE_LENGTH) for name in ("detail", "message", "error", "msg"))
    parts = (next(filter(None, words), "").rstrip("."), clean(_place(found), QUOTE_LENGTH))
    return f"(status {': '.join((str(answer.status), *map(quotation, filter(None, parts))))})"


def _place(error: Fields) -> Any:
    """The option that a validation stumbled over."""
    inner = fields(error.get("meta")).get("errors")
    first = fields(cast("list[Any]", inner)[0]) if isinstance(inner, list) and inner else error
    place = first.get("loc")
    return cast("list[Any]", place)[-1] if isinstance(place, list) and place else None


def retry_after(answer: HttpAnswer) -> float | None:
    """The seconds that the provider asks us to wait, if it does."""
    return asked_delay(answer.headers, answer.received)


def refused_key(answer: HttpAnswer, key_name: str) -> Outcome:
    return failed(f"it did not accept the key {said(answer)}: check {key_name}", key_refused=True)


def out_of_quota(answer: HttpAnswer, what: str) -> Outcome:
    reason = f"{what} is used up {said(answer)}: raise it with the provider, or wait"
    return blocked(reason, retry_after=retry_after(answer) or QUOTA_SECONDS)


def too_fast(answer: HttpAnswer, again: float | None = None) -> Outcome:
    reason = f"it wants fewer requests {said(answer)}: wait a little"
    return blocked(reason, retry_after=retry_after(answer), again=again)


def refusal(answer: HttpAnswer, key_name: str | None = None) -> Outcome:
    """What a status other than 200 means where the provider has no meaning of its own for it."""
    status = answer.status
    if status == 401 or (status == 403 and key_name and error_fields(answer)):
        return refused_key(answer, key_name or "the password in its baseUrl")
    if status == 429:
        return too_fast(answer)
    if status == 403:
        return blocked("it refuses requests from here (status 403): a firewall or a proxy may stand in between")
    if status >= 500 or status == 408:
        return failed(f"it has a problem of its own {said(answer)}: try again later")
    if 300 <= status < 400:
        raise Unreadable(f"it sends the request elsewhere (status {status}), where it is not followed")
    if status == 404:
        raise Unreadable(f"there is nothing at its address {said(answer)}")
    return failed(f"it did not accept the request {said(answer)}")
