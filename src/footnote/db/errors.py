"""The errors of a database, one for each thing that an operator can do about it.

DatabaseFailed
├─ DatabaseLocked      another process holds it: wait
├─ DatabaseFull        the disk is full: free some space
├─ DatabaseUnwritable  no right to write there: grant it, or choose another place
├─ DatabaseBroken      not a database, or damaged: move it away, or bring back a copy
├─ DatabaseForeign     another program's, or a newer Footnote's: choose another file, or upgrade
├─ DatabaseAway        no answer from the server that has it: wait, or see to the server
├─ DatabaseClosed      that server does not let us in: check the address, and the rights of its user
└─ DatabaseRefused     it does not take what was to be written, and never will

A write that fails leaves the database as it was before it.
"""

from footnote.protocol.errors import FootnoteError

OTHER_PLACE_HINT = "or choose another place with FOOTNOTE_HOME or with database.url in config.json"


class DatabaseFailed(FootnoteError):
    type = "database_error"
    public = "The database cannot be used now, so nothing was changed. Who runs the server finds out why in its log."


class DatabaseLocked(DatabaseFailed):
    type = "database_locked"
    retryable = True

    def __init__(self, name: str, seconds: float) -> None:
        super().__init__(
            f"{name} was held by another program for more than {seconds:g} seconds, so nothing was written. Try again "
            "when that program is done, or end it."
        )


class DatabaseFull(DatabaseFailed):
    type = "database_full"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is no space left for {name}, so the last change was not written; all before it is kept. Free some "
            f"space, {OTHER_PLACE_HINT}."
        )


class DatabaseUnwritable(DatabaseFailed):
    type = "database_unwritable"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            f"{name} cannot be written ({reason}). Give yourself write access to it and its folder, {OTHER_PLACE_HINT}."
        )


class DatabaseBroken(DatabaseFailed):
    type = "database_broken"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            f"{name} cannot be read ({reason}), and was left as it is. Bring back a copy of it, or move it away: "
            "Footnote then begins a new one."
        )


class DatabaseForeign(DatabaseFailed):
    type = "database_foreign"


class DatabaseAway(DatabaseFailed):
    type = "database_away"
    retryable = True

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            f"{name} does not answer ({reason}), so nothing was read or written. Try again in a moment; if that does "
            "not help, see that the database server runs and can be reached from here."
        )


class DatabaseClosed(DatabaseFailed):
    type = "database_closed"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} does not let Footnote in: {reason}. Check database.url, and the rights of its user.")


class DatabaseRefused(DatabaseFailed):
    type = "database_refused"
