"""Errors of PostgreSQL in our words, and which of them pass by themselves."""

import asyncpg  # pyright: ignore[reportMissingTypeStubs] - it has none

from footnote.db.errors import (
    DatabaseAway,
    DatabaseClosed,
    DatabaseFailed,
    DatabaseForeign,
    DatabaseFull,
    DatabaseLocked,
    DatabaseRefused,
)

LOCK_SECONDS = 10.0

_UNAVAILABLE = (
    OSError,  # refused, reset, no such host; also its TimeoutError
    asyncpg.InterfaceError,  # the connection was closed under us
    asyncpg.InternalClientError,  # or ended by the server while we were speaking
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.ReadOnlySQLTransactionError,  # a standby, until it is promoted
)
_REFUSED = (asyncpg.DataError, asyncpg.IntegrityConstraintViolationError, asyncpg.ProgramLimitExceededError)
_RETRYABLE = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.InvalidCachedStatementError,  # another version has changed the tables
    asyncpg.OutdatedSchemaCacheError,
)
_POOLER_HINT = (
    "PgBouncer has to have `ignore_startup_parameters = default_transaction_read_only, "
    "idle_in_transaction_session_timeout, lock_timeout`, and docs/scale.md says what else"
)


def is_unavailable(error: BaseException) -> bool:
    """The server, or the way to it: another connection, in a moment, may do better."""
    if isinstance(error, ValueError) or _is_pooler_error(error):  # a value of the wrong kind, or for good
        return False
    return isinstance(error, _UNAVAILABLE)


def _is_pooler_error(error: BaseException) -> bool:
    """PostgreSQL itself knows all that we ask of a connection."""
    return isinstance(error, asyncpg.ProtocolViolationError) and "startup parameter" in str(error)


def is_read_only_violation(error: BaseException) -> bool:
    """What only reads was about to write."""
    return isinstance(error, asyncpg.ReadOnlySQLTransactionError)


def is_retryable(error: BaseException) -> bool:
    """Nothing was done, and the same may work if it is done again."""
    return isinstance(error, _RETRYABLE) or is_unavailable(error)


def translate_error(error: Exception, name: str) -> DatabaseFailed:
    """`name` is for those who run the server, as is every message here; `told` is for everybody else."""
    match error:
        case asyncpg.DiskFullError():
            found = DatabaseFull(name)
        case asyncpg.LockNotAvailableError() | asyncpg.QueryCanceledError() | asyncpg.DeadlockDetectedError():
            found = DatabaseLocked(name, LOCK_SECONDS)
        case asyncpg.InvalidPasswordError() | asyncpg.InvalidAuthorizationSpecificationError():
            found = DatabaseClosed(name, "it refuses the user or the password")
        case asyncpg.InvalidCatalogNameError():
            found = DatabaseClosed(name, "there is no such database; `createdb` makes one")
        case _ if _is_pooler_error(error):
            found = DatabaseClosed(name, f"a pooler before it says `{_reason(error)}`; {_POOLER_HINT}")
        case asyncpg.InsufficientPrivilegeError():
            found = DatabaseClosed(name, _reason(error))
        case asyncpg.UndefinedTableError() | asyncpg.UndefinedColumnError():
            found = DatabaseForeign(f"{name} is not as this Footnote knows it ({_reason(error)}). Upgrade Footnote.")
        case _ if isinstance(error, _REFUSED):
            found = DatabaseRefused(f"{name} does not take what was to be written: {_reason(error)}.")
        case _ if is_unavailable(error):
            found = DatabaseAway(name, _reason(error))
        case _:
            found = DatabaseFailed(f"{name} could not be used: {_reason(error)}. `footnote doctor` looks at it.")
    return found


def _reason(error: Exception) -> str:
    """One line, without what was being written: an error about a value quotes it."""
    if isinstance(error, TimeoutError):
        return "it took too long"
    if isinstance(error, asyncpg.DataError | ValueError):
        return type(error).__name__
    return (str(error).splitlines() or [type(error).__name__])[0] or type(error).__name__
