"""The three servers that replicas share: how each is set up, started, and checked."""

import hashlib
import json
import shutil
import signal
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import service_programs
from service_process import HOST, Service, ServiceNotStarted, send_request

from footnote.storage.s3 import Credentials, Signer

DATABASE = "footnote"
BUCKET = "footnote"
REGION = "us-east-1"
REDIS_DATABASES = 10_000
"""More than the home folders of a test run; an empty database costs some hundred bytes."""


class Postgres(Service):
    """`durable=False`: a commit does not wait for the disk. A killed process still keeps what was committed."""

    name = "PostgreSQL"
    # SIGINT ends open connections; SIGTERM would wait for them.
    stop_signal = signal.SIGINT

    def __init__(self, folder: Path, port: int, password: str, *, durable: bool = True) -> None:
        super().__init__(folder)
        self.port = port
        self._password = password
        self._durable = durable
        self._user = service_programs.postgres_user()
        self._found = service_programs.find_postgres()
        self._data = folder / "data"

    def url(self, database: str = DATABASE) -> str:
        return f"postgresql://footnote:{self._password}@{HOST}:{self.port}/{database}"

    @property
    def programs(self) -> Path:
        """The folder with this server's `psql`, `pg_dump` and so on, where they are installed."""
        return self._found

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self._data / "PG_VERSION").exists():
            self._create()
        super().start()

    def command(self) -> list[str]:
        settings = {
            "port": self.port,
            "listen_addresses": HOST,
            "unix_socket_directories": "",
            "max_connections": 200,
            # A killed server leaves nothing outside its folder.
            "dynamic_shared_memory_type": "mmap",
        }
        if not self._durable:
            settings |= {"fsync": "off", "full_page_writes": "off"}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [str(self._programs() / "postgres"), "-D", str(self._data), *options]

    def options(self) -> Mapping[str, Any]:
        return {"env": {"LANG": "C", "TZ": "UTC"}, **self._rights()}

    def answers(self) -> bool:
        """The server asks for a password; while it recovers, it would answer with an error."""
        fields = b"user\0footnote\0database\0" + DATABASE.encode() + b"\0\0"
        head = (8 + len(fields)).to_bytes(4, "big") + (196_608).to_bytes(4, "big")
        return send_request(self.port, head + fields).startswith(b"R")

    def _create(self) -> None:
        shutil.rmtree(self._data, ignore_errors=True)  # of a start that did not finish
        if self._user is not None:
            shutil.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        word = self.folder / "password"
        word.write_text(self._password)
        word.chmod(0o600)
        if self._user is not None:
            shutil.chown(word, self._user.pw_uid)
        made = [str(self._programs() / "initdb"), "-D", str(self._data), "-U", "footnote", f"--pwfile={word}"]
        made += ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"]
        self._run(made)
        word.unlink()
        # The server binary itself in single-user mode: no client program is needed.
        alone = [str(self._programs() / "postgres"), "--single", "-D", str(self._data), "postgres"]
        self._run(alone, f"CREATE DATABASE {DATABASE};\n".encode())

    def _run(self, command: list[str], stdin: bytes = b"") -> None:
        with self.log.open("ab") as log:
            done = subprocess.run(
                command, input=stdin, stdout=log, stderr=log, cwd=self.folder, check=False, **self.options()
            )
        if done.returncode:
            shutil.rmtree(self._data, ignore_errors=True)
            raise ServiceNotStarted(f"{command[0]} failed:\n{self.log.read_text(errors='replace')[-3000:]}")

    def _programs(self) -> Path:
        return service_programs.make_reachable(self._found, self._user, self.folder / "programs")

    def _rights(self) -> dict[str, Any]:
        user = self._user
        return {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class Redis(Service):
    """Without persistence: a restarted bus has forgotten everything, which must not hurt replicas."""

    name = "Redis"

    def __init__(self, folder: Path, port: int, password: str) -> None:
        super().__init__(folder)
        self.port = port
        self._password = password
        self._program = service_programs.find_redis()

    def url(self, number: int = 0) -> str:
        return f"redis://:{self._password}@{HOST}:{self.port}/{number}"

    def command(self) -> list[str]:
        settings = self.folder / "redis.conf"
        lines = [f"port {self.port}", f"bind {HOST}", f"requirepass {self._password}", "appendonly no", 'save ""']
        lines += [f"databases {REDIS_DATABASES}", f"dir {json.dumps(str(self.folder))}"]
        settings.write_text("\n".join(lines))
        settings.chmod(0o600)
        return [str(self._program), str(settings)]

    def answers(self) -> bool:
        return send_request(self.port, f"AUTH {self._password}\r\n".encode()).startswith(b"+OK")


class S3(Service):
    """SeaweedFS with one bucket. `owner` has all permissions for it; `reader`, if there is one, may only read."""

    name = "SeaweedFS"
    PORTS = 8

    def __init__(
        self,
        folder: Path,
        ports: list[int],
        owner: Credentials,
        reader: Credentials | None = None,
        domain: str | None = None,
    ) -> None:
        """`domain`: the domain of virtual-hosted buckets. The first port is that of S3."""
        super().__init__(folder)
        self.owner = owner
        self.port = ports[0]
        names = [f"{part}.port{kind}" for part in ("s3", "filer", "volume", "master") for kind in ("", ".grpc")]
        self._ports = dict(zip(names, ports, strict=True))
        self._reader = reader
        self._domain = domain
        self._program = service_programs.find_weed()

    @property
    def endpoint(self) -> str:
        return f"http://{HOST}:{self.port}"

    def url(self, prefix: str = "") -> str:
        return f"s3://{BUCKET}{f'/{prefix}' if prefix else ''}?endpoint={self.endpoint}&region={REGION}"

    @property
    def environ(self) -> dict[str, str]:
        return {"AWS_ACCESS_KEY_ID": self.owner.access_key, "AWS_SECRET_ACCESS_KEY": self.owner.secret_key}

    def command(self) -> list[str]:
        settings = self.folder / "s3.json"
        settings.write_text(json.dumps({"identities": list(self._identities())}))
        settings.chmod(0o600)
        # A limit of its total size, so that it cannot fill a disk.
        size = ["-master.volumeSizeLimitMB=512", "-volume.max=40"]
        # The only master: with the usual timeout a second start would wait for others to elect a leader with.
        alone = ["-master.electionTimeout=500ms"] if (self.folder / "filerldb2").exists() else []
        command = [
            str(self._program),
            "-logtostderr",
            "server",
            f"-dir={self.folder}",
            f"-ip={HOST}",
            f"-ip.bind={HOST}",
        ]
        command += [
            *size,
            *alone,
            "-master.telemetry=false",
            "-filer",
            "-s3",
            f"-s3.config={settings}",
            "-s3.iam=false",
        ]
        command += ["-s3.autoCreateBucket=false", "-s3.port.iceberg=0", "-s3.port.lance=0"]
        command += [f"-s3.domainName={self._domain}"] if self._domain else []
        return [*command, *(f"-{name}={port}" for name, port in self._ports.items())]

    def options(self) -> Mapping[str, Any]:
        return {"env": {"HOME": str(self.folder)}}

    def answers(self) -> bool:
        """The bucket exists and accepts an object, which takes longer than opening the port."""
        made = self._request_status("PUT", f"/{BUCKET}")
        return made in (b"200", b"409") and self._request_status("PUT", f"/{BUCKET}/.ready", b"ready") == b"200"

    def stop(self) -> None:
        # A graceful stop takes more than twenty seconds, and the data is on disk already.
        self.kill()

    def kill(self) -> None:
        super().kill()
        for port in self._ports.values():
            for left in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                left.unlink(missing_ok=True)

    def _identities(self) -> list[dict[str, object]]:
        def one(name: str, keys: Credentials, *actions: str) -> dict[str, object]:
            pair = {"accessKey": keys.access_key, "secretKey": keys.secret_key}
            return {"name": name, "credentials": [pair], "actions": actions}

        reader = [one("reader", self._reader, "Read")] if self._reader else []
        return [one("owner", self.owner, "Admin", "Read", "Write", "List"), *reader]

    def _request_status(self, method: str, path: str, body: bytes = b"") -> bytes:
        """The status of the response to a signed request; empty where there is none."""
        host = f"{HOST}:{self.port}"
        signer = Signer(self.owner, REGION)
        headers = signer.headers(method, host, path, sha256=hashlib.sha256(body).hexdigest(), moment=datetime.now(UTC))
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        length = f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        request = f"{method} {path} HTTP/1.1\r\nhost: {host}\r\n{head}{length}".encode() + body
        return send_request(self.port, request).partition(b" ")[2][:3]
