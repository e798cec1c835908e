"""Errors as responses: the status of each class, and the message that the client may see."""

import logging
import math

from footnote.db.errors import DatabaseFailed, DatabaseFull
from footnote.protocol import new_id
from footnote.protocol.errors import (
    ConfigError,
    Conflict,
    FootnoteError,
    LimitReached,
    NotAllowed,
    NotLoggedIn,
    TooLarge,
    Unknown,
    UnprocessableFile,
    UpstreamError,
    UsageError,
    WrongKind,
)
from footnote.protocol.events import ErrorBody
from footnote.server.responses import Reply, json_response
from footnote.server.route import ErrorFormatter, format_refusal
from footnote.storage.base import StorageFailed, StorageFull
from footnote.workspace.files import FileMissing

log = logging.getLogger(__name__)


class WrongMethod(UsageError):
    type = "method_not_allowed"

    def __init__(self, message: str, allowed: str) -> None:
        super().__init__(message)
        self.allowed = allowed


STATUSES: tuple[tuple[type[FootnoteError], int], ...] = (
    (TooLarge, 413),
    (WrongKind, 415),
    (UnprocessableFile, 422),
    (WrongMethod, 405),
    (Unknown, 404),
    (FileMissing, 404),
    (Conflict, 409),
    (NotLoggedIn, 401),
    (NotAllowed, 403),
    (UsageError, 400),
    (LimitReached, 429),
    (UpstreamError, 502),
    (DatabaseFull, 507),
    (DatabaseFailed, 503),
    (StorageFull, 507),
    (StorageFailed, 503),
    (FootnoteError, 500),
)
"""The first match counts."""


def status_of(error: FootnoteError) -> int:
    return next(status for error_class, status in STATUSES if isinstance(error, error_class))


def error_response(
    error: Exception, error_format: ErrorFormatter = format_refusal, *, is_operator: bool = False
) -> Reply:
    """The response to a request that failed. An unexpected error reveals only an id that is also in the log.

    `is_operator`: the client may see messages that name files and settings of the server.
    """
    if not isinstance(error, FootnoteError):
        request_id = new_id("req")
        log.error("The request %s failed.", request_id, exc_info=error)
        message = f"Something failed inside Footnote. Its log says more about {request_id}."
        body = ErrorBody(
            "internal_error", message, retryable=False, code="internal_error", params={"request_id": request_id}
        )
        return json_response(error_format(body, 500), 500)
    status = status_of(error)
    headers: dict[str, str] = {}
    if isinstance(error, LimitReached) and error.retry_after is not None:
        headers["retry_after"] = str(max(1, math.ceil(error.retry_after)))
    if isinstance(error, NotLoggedIn):
        headers["www_authenticate"] = "Bearer"
    if isinstance(error, WrongMethod):
        headers["allow"] = error.allowed
    message = error.message if is_operator else _public_message(error)
    return json_response(error_format(ErrorBody.from_error(error, message), status), status, **headers)


def _public_message(error: FootnoteError) -> str:
    if isinstance(error, ConfigError):
        log.error("%s", error.message)
        return "The server is not set up for this. Its operator finds the reason in the log."
    if error.public is not None:  # HealthLog reports a failing database or storage once, not for each request
        log.debug("%s", error.message)
    return error.public_message
