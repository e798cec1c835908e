"""One tree of errors, split by who must act.

FootnoteError
├─ UsageError      the caller must change the request        4xx
│  ├─ Unknown            there is no such thing, or not for this caller
│  ├─ Conflict           not now: something else is in the way
│  │  ├─ RunActive       the session is being answered already
│  │  └─ FileChanged     the file is no longer what the writer saw
│  ├─ TooLarge           it is more than may be sent at once
│  ├─ WrongKind          it is of a kind that is not taken
│  ├─ UnprocessableFile         it was understood, but cannot be done with what was sent
│  ├─ NotLoggedIn        nothing proves who asks
│  └─ NotAllowed         it is known who asks, and they may not
├─ ConfigError     the operator must change settings         at start, never in the middle of a run
├─ UpstreamError   someone else failed                       502/503
├─ LimitReached    a budget ended the work                   history kept
└─ ToolFailed      the model must choose another way         an error result for the model, not for the user
   ├─ InvalidArguments   the arguments break the tool's schema
   └─ TransientFailure   may pass: an idempotent tool is tried again

Every message is a sentence that a person can act on; none of them carries a key.
"""


class FootnoteError(Exception):
    """Anything that Footnote itself raises. `type` is the name that clients see."""

    type = "internal_error"
    retryable = False
    public: str | None = None
    """What those are told who do not run the server, where the message is not for them."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @property
    def public_message(self) -> str:
        """What anybody may read, models among them."""
        return self.public or self.message


class UsageError(FootnoteError):
    type = "invalid_request"


class Unknown(UsageError):
    """There is no such thing; also said of things of other users, so that nobody learns of them."""

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
    """Too large or too damaged to be converted, read or unpacked; the message says which and what to do."""

    type = "unprocessable"


class NotLoggedIn(UsageError):
    type = "not_logged_in"


class NotAllowed(UsageError):
    type = "not_allowed"


class ConfigError(FootnoteError):
    """A setting is wrong. The message names the file or variable, the place in it and the remedy."""

    type = "config_error"


class UpstreamError(FootnoteError):
    """Someone else failed; `status` is what they answered with, if they did."""

    type = "upstream_error"
    retryable = True

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class LimitReached(FootnoteError):
    """`retry_after`: seconds until it is worth another try, where that is known."""

    type = "limit_reached"

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.retryable = retry_after is not None


class ToolFailed(FootnoteError):
    """A tool could not do its work; the model reads the message and chooses another way."""

    type = "tool_failed"


class InvalidArguments(ToolFailed):
    """The arguments of a call break the tool's schema; the message spells out where."""

    type = "invalid_arguments"


class TransientFailure(ToolFailed):
    """A failure that may pass: a tool marked idempotent is tried again."""

    type = "transient_failure"
    retryable = True
