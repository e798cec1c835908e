"""The message bus between replicas: notifications that save polling, and rate limits that all replicas share."""

import re
from importlib.util import find_spec
from typing import NoReturn
from urllib.parse import parse_qsl, urlsplit

from footnote.bus.base import Bus, LocalBus
from footnote.bus.remote import RemoteBus
from footnote.db.engine import Database
from footnote.protocol.errors import ConfigError

TLS_FIELDS = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs", "ssl_check_hostname")
_POSTGRESQL = ("postgresql://", "postgres://")


def open_bus(url: str, database_url: str, database: Database) -> Bus:
    """`local:`; `redis://` or `rediss://`; `postgresql:` for the application's own database, or the URL of another one.

    Nothing is connected yet. A `ConfigError` says what is wrong with the URL and never contains the password.
    """
    if url == "local:":
        return LocalBus()
    if url.startswith(("redis://", "rediss://")):
        return _redis(url)
    is_shared = database_url.startswith(_POSTGRESQL)
    if url == "postgresql:":
        if not is_shared:
            _refuse("postgresql: is the database itself, and database.url names none of PostgreSQL")
        url = database_url
    if not url.startswith(_POSTGRESQL):
        _refuse("write local:, redis://HOST:PORT, postgresql: for the database itself, or postgresql://HOST/NAME")
    return _postgresql(url, database if is_shared else None)


# The Redis client takes many milliseconds to import, which a single-machine installation need not spend.
def _redis(url: str) -> Bus:
    parts = urlsplit(url)
    if not re.fullmatch(r"/?[0-9]{0,5}", parts.path):
        _refuse("the path of a redis address is the number of a database, such as redis://localhost:6379/1")
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if name not in TLS_FIELDS or parts.scheme != "rediss":
            _refuse(f"{name[:40]!r} is not known there; a rediss address takes {', '.join(TLS_FIELDS)}")
    try:
        from footnote.bus.redis import RedisConnection  # noqa: PLC0415 - see above
    except ImportError as error:
        raise ConfigError("bus.url names Redis: install footnote[replicas] to use it.") from error
    try:
        return RemoteBus(RedisConnection(url))
    except ValueError:
        _refuse("a value behind its `?` is not what it should be")


def _postgresql(url: str, database: Database | None) -> Bus:
    if find_spec("asyncpg") is None:
        raise ConfigError("bus.url names PostgreSQL: install footnote[replicas] to use it.")
    from footnote.bus.postgresql import PostgresqlConnection  # noqa: PLC0415 - see above

    return RemoteBus(PostgresqlConnection(url, database))


def _refuse(reason: str) -> NoReturn:
    raise ConfigError(f"bus.url cannot be used: {reason}.")
