"""Users and their credentials, as clients send and see them."""

from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

Role: TypeAlias = Literal["user", "admin"]
LOCAL_USER = "local"
"""The id of the user of this machine: it always exists, is an admin and has no password."""

UserName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64)]
Password: TypeAlias = Annotated[str, Meta(min_length=8, max_length=1024)]
TokenName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=100)]


class Principal(Struct, frozen=True):
    """The authenticated user of a request. `by`: what the request was authenticated with."""

    user_id: str
    name: str
    role: Role
    by: Literal["token", "cookie"]


class User(Struct, frozen=True):
    id: str
    name: str
    role: Role
    disabled: bool
    created_at: str


class NewUser(Struct, frozen=True, forbid_unknown_fields=True):
    name: UserName
    password: Password
    role: Role = "user"


class UserChanges(Struct, frozen=True, forbid_unknown_fields=True):
    password: Password | UnsetType = UNSET
    role: Role | UnsetType = UNSET
    disabled: bool | UnsetType = UNSET


class Login(Struct, frozen=True, forbid_unknown_fields=True):
    """A name and its password, or a token that is valid for one login."""

    name: str | None = None
    password: str | None = None
    token: str | None = None


class TokenHead(Struct, frozen=True):
    """An API token, without the token itself: that is shown only when it is issued."""

    id: str
    name: str
    created_at: str
    used_at: str | None = None
    expires_at: str | None = None


class NewToken(Struct, frozen=True, forbid_unknown_fields=True):
    name: TokenName
    expires_in_days: Annotated[int, Meta(ge=1, le=3650)] | None = None


class IssuedToken(TokenHead, frozen=True, kw_only=True):
    """A new API token. No other response contains the token itself."""

    token: str
