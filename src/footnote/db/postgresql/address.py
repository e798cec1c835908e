"""Where the database is: what the setting says, as it may be shown and as a connection is made from it."""

from urllib.parse import urlsplit

from msgspec import Struct


class Address(Struct, frozen=True):
    """`url` holds the password; `name` is for people."""

    url: str
    name: str


def address_of(url: str) -> Address:
    parts = urlsplit(url)
    place = (parts.hostname or "the local server") + (f":{parts.port}" if parts.port else "")
    return Address(url, f"The database {parts.path.strip('/') or 'of the user'} at {place}")
