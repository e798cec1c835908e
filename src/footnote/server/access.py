"""Who asks. `principal_of` is the only place where a request becomes somebody."""

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from footnote.accounts.accounts import Accounts
from footnote.protocol.accounts import Principal
from footnote.protocol.errors import NotAllowed

COOKIE = "footnote_session"
SAFE_METHODS = frozenset({"GET", "HEAD"})
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")
MAX_SECRET_LENGTH = 512


async def authenticate(headers: Headers, accounts: Accounts) -> Principal | None:
    """Whoever the request proves to be from, or None.

    A header that proves nothing is not made good by a cookie beside it: a program that was cut off must not go on as
    whoever is logged in.
    """
    token = token_of(headers)
    if token is not None:
        return await accounts.principal(token, "token") if 0 < len(token) <= MAX_SECRET_LENGTH else None
    if secret := cookie_of(headers):
        return await accounts.principal(secret, "cookie") if len(secret) <= MAX_SECRET_LENGTH else None
    return None


def token_of(headers: Headers) -> str | None:
    """What a program sends: `Authorization: Bearer …`, or `x-api-key`, as clients of Anthropic do."""
    authorization = headers.get("authorization")
    if authorization is None:
        return headers.get("x-api-key")
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else authorization


def cookie_of(headers: Headers) -> str | None:
    """What a browser sends. Of two cookies with the name, which no server of ours sets, none counts."""
    lines = headers.getlist("cookie")
    pieces = [piece for line in lines for piece in line.split(";") if piece.strip().startswith(f"{COOKIE}=")]
    return cookie_parser(pieces[0]).get(COOKIE) if len(pieces) == 1 else None


def check_origin(method: str, headers: Headers, public_url: str | None) -> None:
    """`NotAllowed`: another site's page made the browser send this, and it would change something.

    Browsers say where a request comes from; programs say nothing, and have no cookie that somebody else could use.
    """
    if method in SAFE_METHODS or token_of(headers) is not None:
        return
    origin = headers.get("origin")
    if origin is not None:
        same = _is_same_origin(origin, headers.get("host", ""), public_url)
    else:
        same = headers.get("sec-fetch-site", "none") in ("same-origin", "none")
    if not same:
        raise NotAllowed("This request comes from the page of another site. Send it from Footnote's own page.")


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
    """Whether somebody at the machine itself asks, and no proxy or web page on behalf of somebody else.

    A page whose name was made to lead here (DNS rebinding) gives that name as the host.
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
