"""The failures of requests: the provider, the status, and the next step for the user. Never the key."""

import re
from typing import Any, cast

from footnote.models.base import Endpoint
from footnote.models.retry import is_retryable
from footnote.models.wire import MalformedJson, loads
from footnote.net import ConnectionFailed
from footnote.protocol.errors import ErrorParam
from footnote.protocol.messages import Failure

CONTEXT_OVERFLOW = "context_overflow"
TOOLS_UNSUPPORTED = "tools_unsupported"
_CODES = {CONTEXT_OVERFLOW: "model_context_overflow", TOOLS_UNSUPPORTED: "model_without_tools"}
"""The codes of types that are more precise than the status."""

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
_OLLAMA_PORT = re.compile(r":11434(?!\d)")
_CLAUSE = re.compile(r"(?<=[.!?。])\s+|[;\n]+")
_IMAGES = r"(?<![\w-])(?:(?:(?:input_)?images?(?:_url)?|multi-?modal(?:ity)?|mmproj)(?![\w-])|vision(?!\w))"
"""Not as a part of a name: a tool may be called `image-resize`, a model `llama-vision`."""
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
"""Objections to one image, of which the model may well accept others."""
_CITATION_ERROR = re.compile(r"search[_ -]?results?\b|\bcitations?\b", re.IGNORECASE)
_BLOCK_ERROR = re.compile(
    r"(?:content|block) (?:block |part |item )?types?\b|unsupported content|unknown variant|input tag|valid string"
    r"|expected (?:a )?string|discriminator|tool_?results?\b.{0,60}?\b(?:support|only|must be)",
    re.IGNORECASE,
)
"""Objections to some block of a message, by servers that do not say to which."""
_REFUSAL_STATUSES = frozenset({None, 400, 403, 404, 415, 422, 500, 501})
"""Some local servers refuse with status 500; inside a stream there often is none."""
_OTHER_CAUSES = frozenset({CONTEXT_OVERFLOW, "refusal", "connection_error", "truncated"})


def from_status(endpoint: Endpoint, status: int, body: bytes, model: str = "") -> Failure:
    """The failure behind a response that is not a 2xx, for a request to `model`."""
    kind, detail = _parse_error_body(body)
    detail = endpoint.redact(detail)
    if status == 413 or (status in (400, 422) and _contains_any(_OVERFLOW_PHRASES, f"{kind} {detail}")):
        kind = CONTEXT_OVERFLOW
    elif _contains_any(_NO_TOOLS_PHRASES, detail):
        kind = TOOLS_UNSUPPORTED
    sentence = f"{endpoint.provider} answered with status {status}"
    if detail:
        sentence += f": {detail}"
    code, step = _next_step(endpoint, status)
    params: dict[str, ErrorParam] = {"provider": endpoint.provider, "status": status, "detail": detail}
    if status == 404 and _is_ollama(endpoint) and "not found" in detail:
        code, step = "ollama_model_missing", f"Pull the model: `ollama pull {model}`."
        params["model"] = model
    return Failure(
        kind or _type_of_status(status),
        f"{_end_sentence(sentence)} {step}",
        is_retryable(status),
        status,
        _CODES.get(kind, code),
        params,
    )


def is_loading(failure: Failure) -> bool:
    """Whether a server has not finished loading the model yet."""
    return failure.status == 503 and "loading" in str(failure.params.get("detail", "")).lower()


def refuses_images(failure: Failure) -> bool:
    """Whether a request was refused because of images in it: of any, or of one that is damaged or too large."""
    if failure.status not in _REFUSAL_STATUSES or failure.type in _OTHER_CAUSES:
        return False
    return any(
        _IMAGE_ERROR.search(clause) and not _TOOL_PATH.search(clause)
        for clause in _CLAUSE.split(str(failure.params.get("detail", "")))
    )


def refuses_every_image(failure: Failure) -> bool:
    """Whether the request would have been refused with any image: the model cannot see."""
    return refuses_images(failure) and not _SINGLE_IMAGE_ERROR.search(str(failure.params.get("detail", "")))


def refuses_citations(failure: Failure, *, with_images: bool) -> bool:
    """Whether a request was refused because of passages in it that the API is asked to cite. `with_images`: it had
    images, too, which may be the reason as well."""
    if failure.status not in _REFUSAL_STATUSES or failure.type in _OTHER_CAUSES:
        return False
    detail = str(failure.params.get("detail", ""))
    if _CITATION_ERROR.search(detail):
        return True
    return _BLOCK_ERROR.search(detail) is not None and not (with_images and refuses_images(failure))


def not_a_stream(endpoint: Endpoint, body: bytes) -> Failure:
    """The failure behind a 2xx that is a JSON document, in which some gateways report their errors."""
    detail = endpoint.redact(_parse_error_body(body)[1])
    sentence = f"{endpoint.provider} answered without a stream" + (f": {detail}" if detail else "")
    return Failure(
        "invalid_response",
        f"{_end_sentence(sentence)} Check the baseUrl of {endpoint.provider}.",
        code="model_no_stream",
        params={"provider": endpoint.provider, "detail": detail},
    )


def from_event(endpoint: Endpoint, error: Any) -> Failure:
    """The failure behind an error that arrives inside a stream. Some routers pass on the status of the provider behind
    them."""
    kind, detail = _parse_error(error)
    detail = endpoint.redact(detail)
    status = _error_status(error)
    sentence = f"{endpoint.provider} broke off the answer" + (f" with status {status}" if status else "")
    if detail:
        sentence += f": {detail}"
    if kind.isdigit():
        kind = _type_of_status(status or 500)
    retryable = kind in _TRANSIENT_TYPES if status is None else is_retryable(status)
    code, step = _next_step(endpoint, status or _STATUSES.get(kind, 500))
    kind = CONTEXT_OVERFLOW if _contains_any(_OVERFLOW_PHRASES, f"{kind} {detail}") else kind or "stream_error"
    params: dict[str, ErrorParam] = {"provider": endpoint.provider, "detail": detail}
    if status is not None:
        params["status"] = status
    message = f"{_end_sentence(sentence)} {_PARTIAL_KEPT} {step}"
    return Failure(kind, message, retryable, status, _CODES.get(kind, code), params)


def unreachable(endpoint: Endpoint, error: ConnectionFailed) -> Failure:
    sentence = f"{endpoint.provider} could not be reached: {error.message}."
    is_refused = not error.was_connected and error.kind == "connection"
    if is_refused and _is_ollama(endpoint):
        return Failure(
            "connection_error",
            f"{sentence} Start Ollama: `ollama serve`.",
            code="ollama_stopped",
            params={"provider": endpoint.provider, "detail": error.message},
            is_unsent=True,
        )
    step, retryable = "Check the network and the provider's baseUrl.", error.retryable
    if endpoint.is_self_hosted and is_refused:
        retryable = False  # a server that does not run is not there a second later either
        step = f"Start its server, or correct models.providers.{endpoint.provider}.baseUrl."
    elif endpoint.is_self_hosted and error.was_connected and error.kind == "timeout":
        step = "Its machine may be too slow for this model: choose a smaller one, or a longer timeoutSeconds."
    return Failure(
        "connection_error",
        f"{sentence} {step}",
        retryable,
        code="model_unreachable",
        params={"provider": endpoint.provider, "detail": error.message},
        is_unsent=not error.was_connected,
    )


def _is_ollama(endpoint: Endpoint) -> bool:
    return endpoint.is_self_hosted and (
        endpoint.provider == "ollama" or _OLLAMA_PORT.search(endpoint.base_url) is not None
    )


def empty_response(endpoint: Endpoint) -> Failure:
    sentence = f"{endpoint.provider} answered with nothing."
    return Failure(
        "truncated",
        f"{sentence} Check the baseUrl of {endpoint.provider}, or try again.",
        retryable=True,
        code="model_empty_response",
        params={"provider": endpoint.provider},
    )


def connection_broken(endpoint: Endpoint, reason: str) -> Failure:
    sentence = f"The answer of {endpoint.provider} broke off: {reason}. {_PARTIAL_KEPT} {_TRY_AGAIN}"
    return Failure(
        "connection_error",
        sentence,
        retryable=True,
        code="model_connection_lost",
        params={"provider": endpoint.provider, "detail": reason},
    )


def stream_truncated(endpoint: Endpoint) -> Failure:
    sentence = f"{endpoint.provider} ended the stream without ending the answer. {_PARTIAL_KEPT} {_TRY_AGAIN}"
    return Failure(
        "truncated", sentence, retryable=True, code="model_stream_truncated", params={"provider": endpoint.provider}
    )


def refusal(endpoint: Endpoint, reason: str | None) -> Failure:
    detail = endpoint.redact(reason or "")
    sentence = f"{endpoint.provider} refused to answer" + (f": {detail}" if detail else "")
    return Failure(
        "refusal",
        f"{_end_sentence(sentence)} Ask in another way, or choose another model.",
        code="model_refused",
        params={"provider": endpoint.provider, "detail": detail},
    )


_TRANSIENT_TYPES = ("overloaded_error", "rate_limit_error", "api_error", "server_error", "timeout_error")

ABORTED = Failure("aborted", f"Stopped on request. {_PARTIAL_KEPT}", code="aborted")


def _contains_any(phrases: tuple[str, ...], text: str) -> bool:
    lowered = text.lower()
    return any(phrase in lowered for phrase in phrases)


def _parse_error_body(body: bytes) -> tuple[str, str]:
    try:
        value = loads(body)
    except MalformedJson:
        # The HTML page of a proxy is of no use in a message; a short plain sentence may be.
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
        kind, detail = _parse_error(fields["error"])
        return kind, detail or str(fields.get("message") or "")[:2000]
    kind = fields.get("type") or fields.get("code") or ""
    detail = fields.get("message") or fields.get("detail") or ""
    return str(kind), str(detail)[:2000]


_STATUSES = {
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "invalid_request_error": 400,
}


def _type_of_status(status: int) -> str:
    kinds = (kind for kind, code in _STATUSES.items() if code == status)
    return next(kinds, "invalid_request_error" if status < 500 else "api_error")


def _error_status(error: Any) -> int | None:
    """The status in an error inside a stream, as a number or as digits."""
    if not isinstance(error, dict):
        return None
    fields = cast("dict[str, Any]", error)
    codes = [str(fields.get(name)) for name in ("status", "code")]
    statuses = (int(code) for code in codes if code.isdecimal() and 400 <= int(code[:9]) < 600)
    return next(statuses, None) or _error_status(fields.get("error"))


def _next_step(endpoint: Endpoint, status: int) -> tuple[str, str]:
    """The code of a failure with this status, and what the user can do about it."""
    key = endpoint.key_name or f"the apiKey of models.providers.{endpoint.provider}"
    match status:
        case 401 | 403:
            code, step = "model_key_refused", f"Check {key}."
        case _ if 300 <= status < 400:
            code = "model_redirected"
            step = f"The address leads elsewhere: set the baseUrl of {endpoint.provider} to where it leads."
        case 404:
            code, step = "model_not_found", f"Check the model's name and the baseUrl of {endpoint.provider}."
        case 402:
            code, step = "model_without_credit", "The account has no credit left: add some, or choose another model."
        case 429:
            code = "model_rate_limited"
            step = "The account has reached its limit: wait a little, or choose another model."
        case _ if status >= 500:
            code = "model_provider_failed"
            step = "The provider has a problem: try again later, or choose another model."
        case _:
            code = "model_request_rejected"
            step = "The request was not accepted: choose another model, or ask in a new session."
    return code, step


def _end_sentence(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", "。")) else sentence + "."
