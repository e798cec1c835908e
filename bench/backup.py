"""What a backup and a restore cost, on either kind of database and storage, compared with a plain copy of the same
data.

    python bench/backup.py                       # 2,000 sessions, 200 MB of files
    python bench/backup.py --sessions 200 --files 40

Wall time, because the disk is half of it; the copies use the same disk in the same run. Memory is the peak of the
process, as the system reports it. Without the programs of PostgreSQL and S3 their half is left out with a message.
"""

import argparse
import asyncio
import hashlib
import json
import os
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))
from services import Services, missing

from footnote.db import backup as db
from footnote.db.engine import Database
from footnote.db.script import Row, Steps, script
from footnote.net.client import Net
from footnote.storage import open_storage

TABLES = {table.name: table for table in db.TABLES}
FILE_BYTES = 500_000
EVENTS = 8
WORDS = ("the", "treaty", "was", "signed", "in", "a", "hall", "of", "mirrors", "on", "one", "day", "of", "a", "june")
EMBEDDED = {"FOOTNOTE_DATABASE_URL": "sqlite:footnote.db", "FOOTNOTE_STORAGE_URL": "local:files"}


class Cost(NamedTuple):
    seconds: float
    peak: int


def measure(*command: str, env: dict[str, str]) -> Cost:
    start = time.perf_counter()
    peak = 0
    with tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=stderr)
        while process.poll() is None:
            peak = max(peak, _peak_memory(process.pid))
            time.sleep(0.005)
        seconds = time.perf_counter() - start
        stderr.seek(0)
        if process.returncode:
            raise SystemExit(f"{command} failed: {stderr.read().decode()}")
    return Cost(seconds, peak)


def _peak_memory(pid: int) -> int:
    """The peak memory of this process. That of `wait4` would begin with the memory of the parent."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


# Data ------------------------------------------------------------------------------------------------------


def text(rng: random.Random, size: int) -> str:
    return " ".join(rng.choices(WORDS, k=size // 5))


def session_rows(rng: random.Random, number: int) -> Iterator[tuple[str, Row]]:
    """One turn with its events, and a small file."""
    session, run, question = (f"{kind}_{number:028x}" for kind in ("session", "run", "msg"))
    message = json.dumps({"role": "assistant", "content": [{"type": "text", "text": text(rng, 4000)}]}).encode()
    moment = 1.8e9 + number
    yield "session", (session, "local", "researcher", f"Session {number}", 0, "page", run, "2026-01-01", moment)
    yield "question", (question, session, None, b'{"content": "Why?"}', b"[]", "2026-01-01")
    question_row = (b"{}", b"{}", None, 1, 0, 0, 0, moment, moment, None)
    yield "run", (number, run, session, "local", question, f"answer_{number}", "done", *question_row)
    yield "run_message", (run, 0, 1, message)
    for event in range(EVENTS):
        frames = f"event: content_block_delta\ndata: {text(rng, 1500)}\n\n".encode()
        yield "run_events", (number * EVENTS + event, number, event * 10, event * 10 + 9, frames)
    yield "session_entry", (number, session, "title")
    yield "session_terms", (number, text(rng, 2000))
    content = text(rng, 3000).encode()
    yield from file_rows(session, number, content, None)


def file_rows(session: str, number: int, content: bytes, place: str | None) -> Iterator[tuple[str, Row]]:
    digest = hashlib.sha256(content).hexdigest()
    file_id = f"file_{session}_{number}"
    yield "blob", (digest, len(content), place, None if place else content)
    yield "workspace_file", (session, f"/{number}.md", file_id, "agent", "2026-01-01", None, 1, 1, 0)
    yield "file_version", (file_id, 1, digest, "agent", None, None, "", "2026-01-01", None)


@script
def insert_rows(rows: list[tuple[str, Row]]) -> Steps[None]:
    for name, table in TABLES.items():
        some = [row for kind, row in rows if kind == name]
        if some:
            yield db.insert(table, table.backup_columns, some)


async def fill(home: Path, sessions: int, files: int) -> None:
    rng = random.Random(1)
    async with Net() as net, Database.open(EMBEDDED["FOOTNOTE_DATABASE_URL"], home) as database:
        storage = open_storage(EMBEDDED["FOOTNOTE_STORAGE_URL"], home, {}, net)
        for first in range(1, sessions + 1, 100):
            numbers = range(first, min(first + 100, sessions + 1))
            await database.write(insert_rows([row for number in numbers for row in session_rows(rng, number)]))
        for number in range(files):
            # One half is text, the other incompressible like images and PDFs.
            content = rng.randbytes(FILE_BYTES) if number % 2 else text(rng, FILE_BYTES).encode()
            digest = hashlib.sha256(content).hexdigest()
            place = f"{digest[:2]}/{digest}.{secrets.token_hex(4)}"
            await storage.put(place, content, digest)
            session = f"session_{number % sessions + 1:028x}"
            await database.write(insert_rows(list(file_rows(session, sessions + 1 + number, content, place))))


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


# Measuring -------------------------------------------------------------------------------------------------


def settings(home: Path, more: dict[str, str]) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "FOOTNOTE_HOME": str(home), **more}


def footnote(home: Path, more: dict[str, str], *arguments: str) -> Cost:
    return measure(sys.executable, "-m", "footnote", *arguments, env=settings(home, more))


def measure_embedded(folder: Path, home: Path) -> Iterator[tuple[str, Cost, int]]:
    env = {"PATH": os.environ["PATH"]}
    backup = folder / "embedded.backup"
    yield "cp -r of the home folder", measure("cp", "-r", str(home), str(folder / "copy"), env=env), size_of(home)
    packed = folder / "home.tar.gz"
    yield "tar with gzip -1", measure("tar", "-I", "gzip -1", "-cf", str(packed), str(home), env=env), size_of(home)
    yield "backup, SQLite and folder", footnote(home, EMBEDDED, "backup", str(backup)), size_of(home)
    yield "  verify", footnote(home, EMBEDDED, "backup", "--verify", str(backup)), size_of(home)
    other = folder / "other"
    yield "  restore, SQLite and folder", footnote(other, EMBEDDED, "restore", str(backup)), size_of(home)
    print(f"home {size_of(home):,} bytes · backup {backup.stat().st_size:,} · tar.gz {packed.stat().st_size:,}")


def measure_services(folder: Path, home: Path, services: Services) -> Iterator[tuple[str, Cost, int]]:
    more = {"FOOTNOTE_DATABASE_URL": services.postgres.url(), "FOOTNOTE_STORAGE_URL": services.s3.url()}
    more |= services.s3.environ
    size = size_of(home)
    yield "  restore, PostgreSQL and S3", footnote(folder, more, "restore", str(folder / "embedded.backup")), size
    dump = services.postgres.programs / "pg_dump"
    if dump.exists():
        command = (str(dump), "-Fc", "-Z1", f"--file={folder / 'pg.dump'}", services.postgres.url())
        database = (home / "footnote.db").stat().st_size
        yield "pg_dump -Fc -Z1, the database alone", measure(*command, env={}), database
    backup = folder / "services.backup"
    yield "backup, PostgreSQL and S3", footnote(folder, more, "backup", str(backup)), size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--files", type=int, default=400, help="of 500 kB each")
    parser.add_argument("--quick", action="store_true", help="a twentieth of both")
    options = parser.parse_args()
    if options.quick:
        options.sessions, options.files = options.sessions // 20, options.files // 20
    folder = Path(tempfile.mkdtemp(prefix="footnote-bench-"))
    home = folder / "home"
    home.mkdir()
    try:
        asyncio.run(fill(home, options.sessions, options.files))
        with ExitStack() as stack:
            rows = list(measure_embedded(folder, home))
            if unavailable := missing():
                print("\n".join(unavailable))
            else:
                rows += measure_services(folder, home, stack.enter_context(Services()))
        for name, cost, size in rows:
            speed = size / cost.seconds / 1e6
            print(f"{name:<36} {cost.seconds:6.2f} s {speed:7.0f} MB/s {cost.peak / 1e6:6.0f} MB at most")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
