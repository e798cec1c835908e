"""Authentication, the check of `Origin`, and which requests come from this machine."""

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from footnote.accounts.accounts import Accounts
from footnote.accounts.credentials import MAX_SECRET_LENGTH
from footnote.protocol.accounts import Principal
from footnote.protocol.errors import NotAllowed

COOKIE = "footnote_session"
SAFE_METHODS = frozenset({"GET", "HEAD"})
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


async def authenticate(headers: Headers, accounts: Accounts) -> Principal | None:
    """The user whose token or cookie the request carries, or None.

    A cookie does not make up for an invalid token: a program whose token was revoked must not continue as the user who
    is logged in.
    """
    token = token_of(headers)
    if token is not None:
        return await accounts.principal(token, "token") if 0 < len(token) <= MAX_SECRET_LENGTH else None
    if secret := cookie_of(headers):
        return await accounts.principal(secret, "cookie") if len(secret) <= MAX_SECRET_LENGTH else None
    return None


def token_of(headers: Headers) -> str | None:
    """The token of a program: `Authorization: Bearer …`, or `x-api-key`, which clients of Anthropic send."""
    authorization = headers.get("authorization")
    if authorization is None:
        return headers.get("x-api-key")
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else authorization


def cookie_of(headers: Headers) -> str | None:
    """The cookie of a browser. If it sends two of this name, which no Footnote server sets, neither counts."""
    lines = headers.getlist("cookie")
    cookies = [cookie for line in lines for cookie in line.split(";") if cookie.strip().startswith(f"{COOKIE}=")]
    return cookie_parser(cookies[0]).get(COOKIE) if len(cookies) == 1 else None


def check_origin(method: str, headers: Headers, public_url: str | None) -> None:
    """Raises `NotAllowed` for a request that could change something and was sent by the page of another site (CSRF).

    Browsers name the origin of a request. Programs do not, but they have no cookie that another site could use.
    """
    if method in SAFE_METHODS or token_of(headers) is not None:
        return
    origin = headers.get("origin")
    if origin is not None:
        same = _is_same_origin(origin, headers.get("host", ""), public_url)
    else:
        same = headers.get("sec-fetch-site", "none") in ("same-origin", "none")
    if not same:
        raise NotAllowed(
            "This request comes from the page of another site. Send it from Footnote's own page.", code="cross_site"
        )


def _is_same_origin(origin: str, host: str, public_url: str | None) -> bool:
    try:
        parts = urlsplit(origin)
        public = urlsplit(public_url or "")
    except ValueError:
        return False
    if not parts.netloc:
        return False
    if public_url and (parts.scheme, parts.netloc.lower()) == (public.scheme, public.netloc.lower()):
        return True
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


def is_local_request(address: str, headers: Headers) -> bool:
    """Whether the request comes from this machine, and not through a proxy or from a web page.

    A page that reaches this server by DNS rebinding sends its own name as the host.
    """
    host = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
    return is_loopback(address) and is_loopback(host.strip("[]")) and not any(name in headers for name in _FORWARDED)


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
