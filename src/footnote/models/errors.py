"""What a failed request means: the provider, the status, the next step. Never the key."""

import re
from typing import Any, cast

from footnote.models.base import Endpoint
from footnote.models.retry import is_retryable
from footnote.models.wire import MalformedJson, loads
from footnote.protocol.messages import Failure

CONTEXT_OVERFLOW = "context_overflow"
TOOLS_UNSUPPORTED = "tools_unsupported"

_PARTIAL_KEPT = "What came before it is kept."
_TRY_AGAIN = "Try again, or choose another model."

_OVERFLOW_PHRASES = (
    "context length",
    "context_length",
    "context window",
    "context size",
    "context limit",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "request_too_large",
    "too many tokens",
    "exceeds the available context",
    "reduce the length of the messages",
    "input token count",
    "prompt token count",
    "model token limit",
    "maximum prompt length",
)
_NO_TOOLS_PHRASES = (
    "does not support tools",
    "does not support function calling",
    "tools are not supported",
    "tool use is not supported",
    "tools param requires",
)
_CLAUSE = re.compile(r"(?<=[.!?。])\s+|[;\n]+")
_IMAGES = r"(?<![\w-])(?:(?:(?:input_)?images?(?:_url)?|multi-?modal(?:ity)?|mmproj)(?![\w-])|vision(?!\w))"
"""Not in the name of something else: a tool may be called `image-resize`, a model `llama-vision`."""
_OBJECTION = (
    r"(?:(?:\bno[tn]?\b|n't\b|\bcannot\b|\bonly\b).{0,40}?(?:support|accept|allow|permit|capab|enabled|available"
    r"|process|provide|valid|recogni|decode|download|load|read|identif)"
    r"|\bunsupported|\bunable|\binvalid|\bmalformed|\bfail|corrupt|truncated|unknown variant|missing|\bat most\b"
    r"|too (?:large|big|small|many)|exceed|safety)"
)
_IMAGE_ERROR = re.compile(
    rf"{_IMAGES}.{{0,40}}?{_OBJECTION}|{_OBJECTION}.{{0,40}}?{_IMAGES}|\bnot?(?: an?)? {_IMAGES}", re.IGNORECASE
)
_TOOL_PATH = re.compile(r"\b(?:tools?|functions?)(?:\.|\[)\d", re.IGNORECASE)
_SINGLE_IMAGE_ERROR = re.compile(
    r"too (?:large|big|small|many)|exceed|dimension|pixel|corrupt|truncated|malformed|base64|media.?type|mime|safety"
    r"|(?:process|load|decode|read|identify|download|fetch) (?:\w+ ){0,2}image(?!s| input)|at most [1-9]"
    r"|valid (?:input )?image(?!_url| input)|image\b.{0,20} not valid|unsupported image(?!s|_url| input| content)",
    re.IGNORECASE,
)
"""What is said of a picture that the model would look at if it were another one."""
_REFUSAL_STATUSES = frozenset({None, 400, 403, 404, 415, 422, 500, 501})
"""Some local servers refuse with status 500; inside a stream there often is none."""
_OTHER_CAUSES = frozenset({CONTEXT_OVERFLOW, "refusal", "connection_error", "truncated"})


def from_status(endpoint: Endpoint, status: int, body: bytes) -> Failure:
    """The failure behind a response that is not a 2xx."""
    kind, said = _parse_error_body(body)
    said = endpoint.redact(said)
    if status == 413 or (status in (400, 422) and _contains_any(_OVERFLOW_PHRASES, f"{kind} {said}")):
        kind = CONTEXT_OVERFLOW
    elif _contains_any(_NO_TOOLS_PHRASES, said):
        kind = TOOLS_UNSUPPORTED
    sentence = f"{endpoint.provider} answered with status {status}"
    if said:
        sentence += f": {said}"
    return Failure(
        kind or _type_of_status(status),
        f"{_end_sentence(sentence)} {_next_step(endpoint, status)}",
        is_retryable(status),
        status,
    )


def refuses_images(failure: Failure) -> bool:
    """Whether a request was refused because of images in it: of any, or of one that is damaged or too large."""
    if failure.status not in _REFUSAL_STATUSES or failure.type in _OTHER_CAUSES:
        return False
    return any(
        _IMAGE_ERROR.search(clause) and not _TOOL_PATH.search(clause)
        for clause in _CLAUSE.split(_provider_message(failure))
    )


def refuses_every_image(failure: Failure) -> bool:
    """Whether it would have been so with any other picture: the model cannot see."""
    return refuses_images(failure) and not _SINGLE_IMAGE_ERROR.search(_provider_message(failure))


def _provider_message(failure: Failure) -> str:
    """Without the name of the provider, which may be any word."""
    return failure.message.partition(": ")[2]


def not_a_stream(endpoint: Endpoint, body: bytes) -> Failure:
    """The failure behind a 2xx that is a JSON document: some gateways report their errors so."""
    _, said = _parse_error_body(body)
    sentence = f"{endpoint.provider} answered without a stream" + (f": {endpoint.redact(said)}" if said else "")
    return Failure("invalid_response", f"{_end_sentence(sentence)} Check the baseUrl of {endpoint.provider}.")


def from_event(endpoint: Endpoint, error: Any) -> Failure:
    """The failure behind an error that arrives inside a stream. Some routers give the status of whoever stands behind
    them."""
    kind, said = _parse_error(error)
    status = _error_status(error)
    sentence = f"{endpoint.provider} broke off the answer" + (f" with status {status}" if status else "")
    if said:
        sentence += f": {endpoint.redact(said)}"
    if kind.isdigit():
        kind = _type_of_status(status or 500)
    retryable = kind in _TRANSIENT_TYPES if status is None else is_retryable(status)
    step = _next_step(endpoint, status or _STATUSES.get(kind, 500))
    kind = CONTEXT_OVERFLOW if _contains_any(_OVERFLOW_PHRASES, f"{kind} {said}") else kind or "stream_error"
    return Failure(kind, f"{_end_sentence(sentence)} {_PARTIAL_KEPT} {step}", retryable, status)


def unreachable(endpoint: Endpoint, reason: str, *, retryable: bool) -> Failure:
    sentence = f"{endpoint.provider} could not be reached: {reason}."
    step = "Check the network and the provider's baseUrl."
    return Failure("connection_error", f"{sentence} {step}", retryable)


def empty_response(endpoint: Endpoint) -> Failure:
    sentence = f"{endpoint.provider} answered with nothing."
    return Failure("truncated", f"{sentence} Check the baseUrl of {endpoint.provider}, or try again.", retryable=True)


def connection_broken(endpoint: Endpoint, reason: str) -> Failure:
    sentence = f"The answer of {endpoint.provider} broke off: {reason}. {_PARTIAL_KEPT} {_TRY_AGAIN}"
    return Failure("connection_error", sentence, retryable=True)


def stream_truncated(endpoint: Endpoint) -> Failure:
    sentence = f"{endpoint.provider} ended the stream without ending the answer. {_PARTIAL_KEPT} {_TRY_AGAIN}"
    return Failure("truncated", sentence, retryable=True)


def refusal(endpoint: Endpoint, reason: str | None) -> Failure:
    sentence = f"{endpoint.provider} refused to answer" + (f": {endpoint.redact(reason)}" if reason else "")
    return Failure("refusal", f"{_end_sentence(sentence)} Ask in another way, or choose another model.")


_TRANSIENT_TYPES = ("overloaded_error", "rate_limit_error", "api_error", "server_error", "timeout_error")

ABORTED = Failure("aborted", f"Stopped on request. {_PARTIAL_KEPT}")


def _contains_any(signs: tuple[str, ...], text: str) -> bool:
    lowered = text.lower()
    return any(sign in lowered for sign in signs)


def _parse_error_body(body: bytes) -> tuple[str, str]:
    try:
        value = loads(body)
    except MalformedJson:
        # A proxy's HTML page helps nobody; a short plain sentence may.
        text = body.decode("utf-8", "replace").strip()
        return "", "" if text.startswith("<") else text[:500]
    return _parse_error(value)


def _parse_error(value: Any) -> tuple[str, str]:
    """Type and message of an error in any of the shapes that servers use."""
    if isinstance(value, str):
        return "", value[:2000]
    if not isinstance(value, dict):
        return "", ""
    fields = cast("dict[str, Any]", value)
    if fields.get("error"):
        kind, said = _parse_error(fields["error"])
        return kind, said or str(fields.get("message") or "")[:2000]
    kind = fields.get("type") or fields.get("code") or ""
    said = fields.get("message") or fields.get("detail") or ""
    return str(kind), str(said)[:2000]


_STATUSES = {
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "invalid_request_error": 400,
}


def _type_of_status(status: int) -> str:
    named = (kind for kind, code in _STATUSES.items() if code == status)
    return next(named, "invalid_request_error" if status < 500 else "api_error")


def _error_status(error: Any) -> int | None:
    """The status that an error inside a stream names, as a number or as digits."""
    if not isinstance(error, dict):
        return None
    fields = cast("dict[str, Any]", error)
    codes = [str(fields.get(name)) for name in ("status", "code")]
    named = (int(code) for code in codes if code.isdecimal() and 400 <= int(code[:9]) < 600)
    return next(named, None) or _error_status(fields.get("error"))


def _next_step(endpoint: Endpoint, status: int) -> str:
    key = endpoint.key_name or f"the apiKey of models.providers.{endpoint.provider}"
    match status:
        case 401 | 403:
            return f"Check {key}."
        case _ if 300 <= status < 400:
            return f"The address leads elsewhere: set the baseUrl of {endpoint.provider} to where it leads."
        case 404:
            return f"Check the model's name and the baseUrl of {endpoint.provider}."
        case 402 | 429:
            cause = "has no credit left: add some" if status == 402 else "has reached its limit: wait a little"
            return f"The account {cause}, or choose another model."
        case _ if status >= 500:
            return "The provider has a problem: try again later, or choose another model."
        case _:
            return "The request was not accepted: choose another model, or ask in a new session."


def _end_sentence(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", "。")) else sentence + "."
