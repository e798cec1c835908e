"""From an error to its status on the wire."""

import logging
import math

from footnote.db.errors import DatabaseFailed, DatabaseFull
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
from footnote.protocol.ids import new_id
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
"""The first that fits."""


def status_of(error: FootnoteError) -> int:
    return next(status for kind, status in STATUSES if isinstance(error, kind))


def error_response(error: Exception, form: ErrorFormatter = format_refusal, *, is_operator: bool = False) -> Reply:
    """The answer to a request that failed. Nothing is told of an error that is not ours but its place in the log.

    `operator`: whoever asks runs the server, and may read where its files and settings are.
    """
    if not isinstance(error, FootnoteError):
        request_id = new_id("req")
        log.error("The request %s failed.", request_id, exc_info=error)
        message = f"Something failed inside Footnote. Its log says more about {request_id}."
        return json_response(form(ErrorBody("internal_error", message, retryable=False), 500), 500)
    status = status_of(error)
    headers: dict[str, str] = {}
    if isinstance(error, LimitReached) and error.retry_after is not None:
        headers["retry_after"] = str(max(1, math.ceil(error.retry_after)))
    if isinstance(error, NotLoggedIn):
        headers["www_authenticate"] = "Bearer"
    if isinstance(error, WrongMethod):
        headers["allow"] = error.allowed
    message = error.message if is_operator else _public_message(error)
    return json_response(form(ErrorBody(error.type, message, error.retryable), status), status, **headers)


def _public_message(error: FootnoteError) -> str:
    if isinstance(error, ConfigError):
        log.error("%s", error.message)
        return "The server is not set up for this. Who runs it finds the reason in its log."
    if error.public is not None:  # that the database or the storage fails is told once, and not by everybody who asks
        log.debug("%s", error.message)
    return error.public_message
