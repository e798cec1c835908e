"""A pooler between replicas and PostgreSQL: its requirements are checked, and everything works through it."""

import asyncio
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import service_programs
from service_kinds import Postgres
from service_process import Service, free_ports, send_request

from bus.buses import SECONDS, bus_server
from footnote.db.engine import Database
from footnote.db.errors import DatabaseClosed
from postgresql.test_commits import increment, length

IGNORED = "default_transaction_read_only, idle_in_transaction_session_timeout, lock_timeout"
PROGRAM = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.skipif(PROGRAM is None, reason="pgbouncer is not installed on this machine"),
]


class PgBouncer(Service):
    name = "PgBouncer"
    stop_signal = signal.SIGINT

    def __init__(self, folder: Path, database: str, *settings: str) -> None:
        super().__init__(folder)
        [self.port] = free_ports(1)
        self._database = urlsplit(database)
        self._settings = settings
        self._user = service_programs.postgres_user()

    @property
    def url(self) -> str:
        to = self._database
        return f"postgresql://{to.username}:{to.password}@127.0.0.1:{self.port}{to.path}"

    def command(self) -> list[str]:
        to = self._database
        lines = [
            "[databases]",
            f"* = host=127.0.0.1 port={to.port} user={to.username} password={to.password}",
            "[pgbouncer]",
            f"listen_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =",
            f"auth_type = any\npool_mode = session\ndefault_pool_size = 60\npidfile = {self.folder / 'pid'}",
            *self._settings,
        ]
        settings = self.folder / "pgbouncer.ini"
        settings.write_text("\n".join(lines))
        if self._user is not None:
            shutil.chown(self.folder, self._user.pw_uid)
            shutil.chown(settings, self._user.pw_uid)
        return [str(PROGRAM), str(settings)]

    def options(self) -> Mapping[str, Any]:
        user = self._user
        return {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

    def answers(self) -> bool:
        return send_request(self.port, (8).to_bytes(4, "big") + (80_877_103).to_bytes(4, "big")) in (b"N", b"S")


@contextmanager
def pooled(postgres: Postgres, url: str, *settings: str) -> Iterator[str]:
    """The URL of a pooler for the database."""
    bouncer = PgBouncer(postgres.folder.parent / f"pooler-{free_ports(1)[0]}", url, *settings)
    bouncer.start()
    try:
        yield bouncer.url
    finally:
        bouncer.stop()


async def test_a_pooler_that_knows_less_than_postgresql_is_told_from_a_server_that_is_away(
    postgres: Postgres, url: str, tmp_path: Path
) -> None:
    with pooled(postgres, url) as address:
        async with Database.open(address, tmp_path) as database:
            with pytest.raises(DatabaseClosed) as found:
                await database.read(length("a"))
    assert "unsupported startup parameter" in found.value.message
    assert f"ignore_startup_parameters = {IGNORED}" in found.value.message
    assert not found.value.retryable


async def test_replicas_meet_behind_a_pooler(postgres: Postgres, url: str, tmp_path: Path) -> None:
    with pooled(postgres, url, f"ignore_startup_parameters = {IGNORED}") as address:
        async with Database.open(address, tmp_path) as one, Database.open(address, tmp_path) as two:
            found = await asyncio.gather(*(database.write(increment("a")) for database in (one, two) * 20))
            assert sorted(found) == list(range(1, 41))
            assert await one.read(length("a")) == await two.read(length("a")) == 40
        async with bus_server("postgresql:", tmp_path, address) as meeting:
            here, there = await meeting.open(), await meeting.open()
            listener = there.listen("run:a")
            assert await listener.wait_ready(SECONDS)
            here.publish("run:a", b"a word")
            message = await listener.next(SECONDS) or await listener.next(
                SECONDS
            )  # the first message may be the hint that some were missed
            assert message == b"a word"
            listener.close()
