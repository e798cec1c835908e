"""One tree of errors, split by who must act.

FootnoteError
├─ UsageError      the caller must change the request        4xx
│  ├─ Unknown            the resource does not exist, or not for this caller
│  ├─ Conflict           the state of the resource does not allow it now
│  │  ├─ RunActive       the session has an active run already
│  │  └─ FileChanged     the file has a newer version than the one that the writer read
│  ├─ TooLarge           the body or a file is larger than allowed
│  ├─ WrongKind          the media type or kind of file is not accepted
│  ├─ UnprocessableFile  the file is damaged, malicious or too large for what was requested
│  ├─ NotLoggedIn        the request is not authenticated
│  └─ NotAllowed         the user is known and has no permission
├─ ConfigError     the operator must change settings         at start, never in the middle of a run
├─ UpstreamError   another service failed                    502/503
├─ LimitReached    a limit or budget is used up              history kept
└─ ToolFailed      the model must choose another way         an error result for the model, not for the user
   ├─ InvalidArguments   the arguments violate the tool's schema
   └─ TransientFailure   may pass: an idempotent tool is retried

Every message is a sentence that a person can act on; none of them contains a key. Beside the message an error has a
`code` that names the reason, and `params`, the variable parts of the message. A client in another language than English
makes its own sentence of these. docs/errors.md lists the codes.
"""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

ErrorParam: TypeAlias = str | int | float


class FileRefusal(NamedTuple):
    """A file of a request that was refused, and why. No `Struct`: the command line starts without msgspec."""

    name: str
    message: str
    code: str
    params: Mapping[str, ErrorParam]


class StatementRefusal(NamedTuple):
    """A statement for which a document is refused, with its verdict: the offsets of it in the text, the numbers of the
    sources that it cites, what they do not say, and the quotation that comes nearest."""

    statement: str
    verdict: str
    start: int
    end: int
    numbers: tuple[int, ...]
    missing: str | None
    quote: str | None


class FootnoteError(Exception):
    """Anything that Footnote itself raises. `type` is the name of the class that clients see, `code` that of the
    reason; without one of its own, the code is the type. `params` go to every client: they hold no secret and no path
    of the server."""

    type = "internal_error"
    retryable = False
    public: str | None = None
    """The message for users who do not run the server, if `message` is meant for the operator."""
    refused_files: tuple[FileRefusal, ...] = ()
    """Of a request with several files, those that were refused."""
    refused_statements: tuple[StatementRefusal, ...] = ()
    """Of a document that is refused for what it says, the statements that its sources do not support."""

    def __init__(self, message: str, *, code: str | None = None, **params: ErrorParam) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.type
        self.params: Mapping[str, ErrorParam] = params

    @property
    def public_message(self) -> str:
        """The message for readers who do not run the server, models among them."""
        return self.public or self.message


class UsageError(FootnoteError):
    type = "invalid_request"


class Unknown(UsageError):
    """The resource does not exist. Also raised for resources of other users, so that their existence stays hidden."""

    type = "not_found"


class Conflict(UsageError):
    type = "conflict"


class RunActive(Conflict):
    type = "run_active"
    retryable = True


class FileChanged(Conflict):
    type = "file_changed"


class TooLarge(UsageError):
    type = "too_large"


class WrongKind(UsageError):
    type = "unsupported_media_type"


class UnprocessableFile(UsageError):
    """Too large or too damaged to be converted, read or unpacked; the message says which, and what to do."""

    type = "unprocessable"


class NotLoggedIn(UsageError):
    type = "not_logged_in"


class NotAllowed(UsageError):
    type = "not_allowed"


class ConfigError(FootnoteError):
    """A setting is wrong. The message names the file or variable, the place in it and the remedy."""

    type = "config_error"


class UpstreamError(FootnoteError):
    """Another service failed; `status` is the status of its response, if there was one."""

    type = "upstream_error"
    retryable = True

    def __init__(
        self, message: str, *, status: int | None = None, code: str | None = None, **params: ErrorParam
    ) -> None:
        super().__init__(message, code=code, **params)
        self.status = status


class LimitReached(FootnoteError):
    """`retry_after`: seconds until a retry may succeed, where that is known."""

    type = "limit_reached"

    def __init__(
        self, message: str, *, retry_after: float | None = None, code: str | None = None, **params: ErrorParam
    ) -> None:
        super().__init__(message, code=code, **params)
        self.retry_after = retry_after
        self.retryable = retry_after is not None


class ToolFailed(FootnoteError):
    """A tool could not do its work; the model reads the message and chooses another way."""

    type = "tool_failed"


class InvalidArguments(ToolFailed):
    """The arguments of a call break the tool's schema; the message spells out where."""

    type = "invalid_arguments"


class TransientFailure(ToolFailed):
    """A failure that may pass: a tool marked idempotent is retried."""

    type = "transient_failure"
    retryable = True
