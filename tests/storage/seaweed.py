"""A real S3-compatible server on loopback: SeaweedFS, from its package."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import Struct
from service_kinds import BUCKET, S3
from service_process import free_ports
from service_programs import MissingProgram

from footnote.storage.s3 import Credentials

__all__ = ["BUCKET", "DOMAIN", "OWNER", "READER", "Seaweed", "environ_of", "seaweed"]

DOMAIN = "files.example"
"""The domain of virtual-hosted buckets, which only a test resolves."""
OWNER = Credentials("AKIAFOOTNOTETESTOWNER", "owner-secret-that-nobody-may-see")
READER = Credentials("AKIAFOOTNOTETESTREADER", "reader-secret-that-nobody-may-see")


class Seaweed(Struct, frozen=True):
    """The bucket exists. `OWNER` has all permissions for it, `READER` may only read."""

    port: int

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The value of `storage.url`. Downloads are redirected to the bucket, although it speaks plain HTTP."""
        return f"s3://{BUCKET}?endpoint={self.endpoint}&region=us-east-1&downloads=direct"

    @property
    def environ(self) -> dict[str, str]:
        return environ_of(OWNER)


def environ_of(credentials: Credentials) -> dict[str, str]:
    return {"AWS_ACCESS_KEY_ID": credentials.access_key, "AWS_SECRET_ACCESS_KEY": credentials.secret_key}


@contextmanager
def seaweed(folder: Path) -> Iterator[Seaweed]:
    """Runs until the block ends, with its files in `folder`."""
    try:
        server = S3(folder, free_ports(S3.PORTS), OWNER, READER, DOMAIN)
    except MissingProgram as missing:
        pytest.skip(str(missing))
    server.start()
    try:
        yield Seaweed(server.port)
    finally:
        server.stop()
