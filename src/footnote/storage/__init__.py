"""Storage of file contents: a local folder, or a bucket of an S3-compatible service.

The program makes the keys: no text of a user or a model is ever part of one.
"""

import re
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import NoReturn
from urllib.parse import parse_qsl, urlsplit

from footnote.net.client import Net
from footnote.protocol.errors import ConfigError
from footnote.storage.base import Storage
from footnote.storage.local import LocalStorage
from footnote.storage.s3 import Bucket, Credentials, S3Storage, Signer

FIELDS = ("endpoint", "region", "style", "downloads")
STYLES = ("path", "host")
DOWNLOAD_MODES = ("direct", "server")
EXAMPLE = "s3://BUCKET?endpoint=https://s3.example.org&region=us-east-1"
_bucket_name = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_prefix = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9._-]*/)*")
_region = re.compile(r"[a-z0-9-]{1,64}")


def open_storage(url: str, home: Path, environ: Mapping[str, str], net: Net) -> Storage:
    """`local:FOLDER`, below `home` unless it is absolute, or `s3://BUCKET/PREFIX?endpoint=…&region=…`.

    Nothing is requested or written yet. A `ConfigError` says what is wrong with the URL and never contains a key.
    """
    scheme, _, rest = url.partition(":")
    if scheme == "local" and rest:
        return LocalStorage(home / Path(rest).expanduser())
    if scheme != "s3":
        _refuse(f"it starts with neither local: nor s3:. Write local:files, or {EXAMPLE}")
    region, bucket = _bucket(url, environ)
    return S3Storage(bucket, Signer(_credentials(environ), region), net)


def _bucket(url: str, environ: Mapping[str, str]) -> tuple[str, Bucket]:
    parts = urlsplit(url)
    if "@" in parts.netloc:
        _refuse("no key belongs into it. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
    if not _bucket_name.fullmatch(parts.netloc):
        _refuse("a bucket's name has 3 to 63 small letters, digits, dots and hyphens")
    prefix = f"{parts.path.strip('/')}/".lstrip("/")
    if not _prefix.fullmatch(prefix):
        _refuse("the path behind the bucket may hold letters, digits, '.', '_', '-' and '/'")
    fields = _fields(parts.query)
    region = fields.get("region") or environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    if not _region.fullmatch(region):
        _refuse("`region` has small letters, digits and hyphens, such as us-east-1")
    custom = fields.get("endpoint")
    endpoint = _endpoint(custom) if custom else f"https://s3.{region}.amazonaws.com"
    # A certificate for *.s3… does not match bucket names with dots.
    style = fields.get("style", "path" if custom or "." in parts.netloc else "host")
    if style == "host" and _is_ip_address(endpoint):
        _refuse("`style=host` needs an endpoint with a name; leave it out, or write style=path")
    # A client of the server may not be able to reach a plain http endpoint of the server's network, and a page over
    # https may not link to it.
    downloads = fields.get("downloads", "direct" if endpoint.startswith("https:") else "server")
    return region, Bucket(parts.netloc, endpoint, prefix, by_path=style == "path", direct=downloads == "direct")


def _fields(query: str) -> dict[str, str]:
    fields = dict(parse_qsl(query, keep_blank_values=True))
    for name in fields:
        if name not in FIELDS:
            _refuse(f"{name[:40]!r} is not known there; it takes {', '.join(FIELDS)}")
    for name, choices in (("style", STYLES), ("downloads", DOWNLOAD_MODES)):
        if fields.get(name, choices[0]) not in choices:
            _refuse(f"`{name}` is {' or '.join(choices)}")
    return fields


def _endpoint(text: str) -> str:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    is_origin = not (parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc)
    if parts.scheme not in ("http", "https") or not host or not is_origin or not host.isascii():
        _refuse("`endpoint` is the address of a server, such as https://s3.example.org or http://127.0.0.1:8333")
    host = f"[{host}]" if ":" in host else host
    default_port = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + ("" if port in (None, default_port) else f":{port}")


def _is_ip_address(endpoint: str) -> bool:
    try:
        ip_address(urlsplit(endpoint).hostname or "")
    except ValueError:
        return False
    return True


def _credentials(environ: Mapping[str, str]) -> Credentials:
    access_key = environ.get("AWS_ACCESS_KEY_ID", "").strip()
    secret_key = environ.get("AWS_SECRET_ACCESS_KEY", "").strip()
    named = (("AWS_ACCESS_KEY_ID", access_key), ("AWS_SECRET_ACCESS_KEY", secret_key))
    if missing := [name for name, value in named if not value]:
        verb = "is" if len(missing) == 1 else "are"
        raise ConfigError(
            f"storage.url names a bucket, but {' and '.join(missing)} {verb} not set. Set what the bucket is used with "
            "in the environment, or set storage.url to local:files."
        )
    return Credentials(access_key, secret_key, environ.get("AWS_SESSION_TOKEN", "").strip() or None)


def _refuse(reason: str) -> NoReturn:
    raise ConfigError(f"storage.url cannot be used: {reason}.")
