"""The transactions of accounts: users, and the hashes of their credentials."""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from footnote.db.library import clear_shelf
from footnote.db.schema import ACCOUNT, CREDENTIAL
from footnote.db.script import Either, Steps, lock, script, sql
from footnote.protocol.accounts import Role

CredentialKind: TypeAlias = Literal["token", "cookie", "login"]


class AccountRow(Struct, frozen=True):
    """`password` is a hash; None: the user cannot log in with a password."""

    id: str
    name: str
    role: Role
    disabled: bool
    created_at: str
    password: str | None


class CredentialRow(Struct, frozen=True):
    """Times are seconds since 1970."""

    id: str
    user_id: str
    kind: CredentialKind
    name: str
    created_at: float
    used_at: float | None
    expires_at: float | None


class Owner(Struct, frozen=True):
    """A credential with its user."""

    credential_id: str
    user_id: str
    name: str
    role: Role
    used_at: float | None


@script
def accounts() -> Steps[list[AccountRow]]:
    rows = yield ACCOUNT.select(AccountRow, "ORDER BY created_at, id")
    return [_account(row) for row in rows]


@script
def account(user_id: str) -> Steps[AccountRow | None]:
    rows = yield ACCOUNT.select(AccountRow, "WHERE id = ?", user_id)
    return _account(rows[0]) if rows else None


@script
def account_by_name(name_key: str) -> Steps[AccountRow | None]:
    rows = yield ACCOUNT.select(AccountRow, "WHERE name_key = ?", name_key)
    return _account(rows[0]) if rows else None


@script
def add_account(row: AccountRow, name_key: str) -> Steps[bool]:
    """False: the name is taken."""
    added = yield sql(
        """
        INSERT INTO account (id, name, name_key, password, role, disabled, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (name_key) DO NOTHING RETURNING id
        """,
        row.id,
        row.name,
        name_key,
        row.password,
        row.role,
        row.disabled,
        row.created_at,
    )
    return bool(added)


@script
def has_another_admin(user_id: str) -> Steps[bool]:
    """Whether there is another enabled admin. The lock keeps that true until the transaction ends."""
    yield lock("admins", "all")
    rows = yield sql("SELECT 1 FROM account WHERE role = 'admin' AND disabled = 0 AND id <> ? LIMIT 1", user_id)
    return bool(rows)


@script
def set_password(user_id: str, password: str) -> Steps[None]:
    yield sql("UPDATE account SET password = ? WHERE id = ?", password, user_id)


@script
def set_role(user_id: str, role: Role) -> Steps[None]:
    yield sql("UPDATE account SET role = ? WHERE id = ?", role, user_id)


@script
def set_disabled(user_id: str, *, disabled: bool) -> Steps[None]:
    """The active runs of a disabled user are cancelled, by the processes that own them."""
    yield sql("UPDATE account SET disabled = ? WHERE id = ?", disabled, user_id)
    if disabled:
        yield sql(
            "UPDATE run SET cancel_wanted = 1 WHERE user_id = ? AND state IN ('queued', 'running', 'waiting')", user_id
        )


@script
def delete_account(user_id: str) -> Steps[None]:
    """Also deletes what foreign keys do not reach. To be written with `erase`."""
    yield from clear_shelf(user_id)
    yield sql("DELETE FROM standing_approval WHERE user_id = ?", user_id)
    yield sql("DELETE FROM account WHERE id = ?", user_id)
    yield sql("DELETE FROM search_cache")  # it holds what was searched for
    # The index only marks the terms of the deleted sessions; they are removed when it is optimised.
    yield Either(sql("INSERT INTO session_terms (session_terms) VALUES ('optimize')"), None)


@script
def add_credential(row: CredentialRow, secret_hash: str) -> Steps[None]:
    """Also deletes the expired credentials of all users."""
    yield sql("DELETE FROM credential WHERE expires_at <= ?", row.created_at)
    yield CREDENTIAL.insert(row, hash=secret_hash)


@script
def credential_owner(secret_hash: str, kind: CredentialKind, now: float) -> Steps[Owner | None]:
    """None: there is no such credential, it has expired, or the user is disabled."""
    rows = yield sql(
        """
        SELECT credential.id, account.id, account.name, account.role, credential.used_at
        FROM credential JOIN account ON account.id = credential.user_id
        WHERE credential.hash = ? AND credential.kind = ? AND account.disabled = 0
            AND (credential.expires_at IS NULL OR credential.expires_at > ?)
        """,
        secret_hash,
        kind,
        now,
    )
    return Owner(*rows[0]) if rows else None


@script
def touch_credential(credential_id: str, now: float, expires_at: float | None) -> Steps[None]:
    """Records a use. `expires_at`: the new expiry; None: it stays as it is."""
    yield sql(
        "UPDATE credential SET used_at = ?, expires_at = coalesce(?, expires_at) WHERE id = ?",
        now,
        expires_at,
        credential_id,
    )


@script
def consume_credential(secret_hash: str, kind: CredentialKind, now: float) -> Steps[str | None]:
    """Deletes a one-time credential and returns the id of its user. Of several requests, one gets it; the others get
    None."""
    rows = yield sql(
        "DELETE FROM credential WHERE hash = ? AND kind = ? RETURNING user_id, expires_at", secret_hash, kind
    )
    return rows[0][0] if rows and (rows[0][1] is None or rows[0][1] > now) else None


@script
def credentials(user_id: str, kind: CredentialKind, now: float) -> Steps[list[CredentialRow]]:
    """Those that have not expired, the newest first."""
    rows = yield CREDENTIAL.select(
        CredentialRow,
        "WHERE user_id = ? AND kind = ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY created_at DESC, id DESC",
        user_id,
        kind,
        now,
    )
    return [CredentialRow(*row) for row in rows]


@script
def revoke_credential(user_id: str, credential_id: str, kind: CredentialKind) -> Steps[bool]:
    rows = yield sql(
        "DELETE FROM credential WHERE id = ? AND user_id = ? AND kind = ? RETURNING id", credential_id, user_id, kind
    )
    return bool(rows)


@script
def revoke_logins(user_id: str) -> Steps[None]:
    """Deletes the cookies and the login tokens of a user."""
    yield sql("DELETE FROM credential WHERE user_id = ? AND kind IN ('cookie', 'login')", user_id)


def _account(row: tuple[Any, ...]) -> AccountRow:
    return AccountRow(row[0], row[1], row[2], bool(row[3]), row[4], row[5])
