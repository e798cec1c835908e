"""Runs PostgreSQL, Redis and an S3 server on loopback until Ctrl-C: the services that replicas share.

    python scripts/services.py                 # `make services`: starts all three, prints the settings for them
    python scripts/services.py --keep data     # keeps their data in the folder `data`, for the next time
    python scripts/services.py --check         # only prints which programs would be used, and what is missing

It needs no root, no containers and no installation: `service_programs` finds the programs. Tests import
`Services`, and break one of the three after the other.
"""

import argparse
import secrets
import shlex
import shutil
import signal
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

import msgspec
import service_programs
from service_kinds import S3, Postgres, Redis
from service_process import Service, ServiceNotStarted, free_ports
from service_programs import MissingProgram

from footnote.storage.s3 import Credentials

__all__ = ["MissingProgram", "ServiceNotStarted", "Services", "missing"]


class Identity(msgspec.Struct, frozen=True):
    """Ports and credentials of a folder of services: the same after every start."""

    postgres_port: int
    redis_port: int
    s3_ports: list[int]
    password: str
    access_key: str
    secret_key: str

    @classmethod
    def new(cls) -> Self:
        postgres, redis, *s3 = free_ports(2 + S3.PORTS)
        return cls(postgres, redis, s3, secrets.token_urlsafe(18), secrets.token_hex(10), secrets.token_urlsafe(30))

    @classmethod
    def of(cls, folder: Path) -> Self:
        """The identity of the folder, created if it has none."""
        path = folder / "services.json"
        if path.exists():
            return msgspec.json.decode(path.read_bytes(), type=cls)
        made = cls.new()
        path.touch(mode=0o600)
        path.write_bytes(msgspec.json.encode(made))
        return made


class Services:
    """`with Services() as services`: all three run, in a folder that is removed afterwards.

    Each can be started, stopped, killed and paused alone: `services.postgres.kill()`, then `.start()`, with its old
    port and data.
    """

    def __init__(self, folder: Path | None = None, *, durable: bool = True) -> None:
        """`folder` is kept; without one a temporary folder is used. `durable=False` does not wait for the disk."""
        self._removes = folder is None
        self.folder = Path(tempfile.mkdtemp(prefix="footnote-services-")) if folder is None else folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        # PostgreSQL may run as another user, who must be able to enter its folder in here.
        self.folder.chmod(0o711)
        known = Identity.of(self.folder)
        keys = Credentials(known.access_key, known.secret_key)
        self.postgres = Postgres(self.folder / "postgresql", known.postgres_port, known.password, durable=durable)
        self.redis = Redis(self.folder / "redis", known.redis_port, known.password)
        self.s3 = S3(self.folder / "s3", known.s3_ports, keys)

    @property
    def all(self) -> tuple[Service, ...]:
        return (self.postgres, self.redis, self.s3)

    @property
    def environ(self) -> dict[str, str]:
        """The settings with which Footnote uses them."""
        return {
            "FOOTNOTE_DATABASE_URL": self.postgres.url(),
            "FOOTNOTE_BUS_URL": self.redis.url(),
            "FOOTNOTE_STORAGE_URL": self.s3.url(),
            **self.s3.environ,
        }

    def start(self) -> None:
        """Starts all of them, or none."""
        try:
            with ThreadPoolExecutor(len(self.all)) as pool:
                for one in [pool.submit(service.start) for service in self.all]:
                    one.result()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for service in self.all:
            service.stop()
        if self._removes:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def missing() -> list[str]:
    """One message for each missing program, with the remedy."""
    return [found for found in _programs() if isinstance(found, str)]


def _programs() -> list[Path | str]:
    found: list[Path | str] = []
    for search in (service_programs.find_postgres, service_programs.find_redis, service_programs.find_weed):
        try:
            found.append(search())
        except MissingProgram as lacking:
            found.append(str(lacking))
    return found


def _check() -> int:
    for found in _programs():
        print(found if isinstance(found, str) else f"found {found}")
    return 1 if missing() else 0


def _run(folder: Path | None) -> None:
    asked_to_end = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: asked_to_end.set())
    print("Starting PostgreSQL, Redis and SeaweedFS …", flush=True)
    with Services(folder) as services:
        print(f"They run, with their files in {services.folder}. Footnote uses them with these settings:\n")
        for name, value in services.environ.items():
            print(f"export {name}={shlex.quote(value)}")
        print("\nCtrl-C ends them" + (" and removes what they hold." if folder is None else "."), flush=True)
        asked_to_end.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keep", metavar="DIR", type=Path, help="keep what they hold in this folder")
    parser.add_argument("--check", action="store_true", help="only say which programs would be used")
    chosen = parser.parse_args()
    if chosen.check:
        return _check()
    try:
        _run(chosen.keep)
    except (MissingProgram, ServiceNotStarted) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
