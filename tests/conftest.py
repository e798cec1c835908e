"""What holds for every test: no network but loopback, no settings of the user who runs them, one scripted provider."""

import gc
import ipaddress
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from services import missing

import engines
from footnote.db.engine import Database
from footnote.net.client import Net
from sandbox.hang_monitor import HangMonitor
from upstream import Upstream

pytest_plugins = ["file_scheduling"]

_LEAKING_PREFIXES = ("FOOTNOTE_", "ANTHROPIC_", "OPENAI_", "AWS_", "OTEL_")
_LEAKING_SUFFIXES = ("_API_KEY", "_PROXY")

# Deadlines of Hypothesis would fail on a busy machine. Examples are the same in every run, so that a change is not
# refused for a failure elsewhere; `--hypothesis-profile=searching` searches for new ones.
settings.register_profile("searching", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("footnote", settings.get_profile("searching"), derandomize=True)
settings.load_profile("footnote")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engines", choices=engines.NAMES, default="embedded", help="what the tests run on")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "embedded: about SQLite or files of the home folder; skipped on services")
    chosen = config.getoption("--engines")
    if chosen == "services" and (unavailable := missing()):
        raise pytest.UsageError("\n".join(unavailable))
    engines.select_engine(chosen)
    if chosen == "services":
        # A time limit ends the tests by SIGTERM; as KeyboardInterrupt it lets the servers be stopped.
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--engines") == "services":
        skipped = pytest.mark.skip(reason="about SQLite or files of the home folder")
        for item in items:
            if item.get_closest_marker("embedded"):
                item.add_marker(skipped)
        # Engines are chosen by home folder: a test without one would run the same a second time.
        config.hook.pytest_deselected(items=[item for item in items if not _has_home(item)])
        items[:] = filter(_has_home, items)


def _has_home(item: pytest.Item) -> bool:
    return "tmp_path" in getattr(item, "fixturenames", ())


def pytest_collection_finish() -> None:
    """Thousands of collected tests are so many objects that a garbage collection stops the process for a second, in
    the middle of some test. They live to the end anyway, so they are excluded from collections."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    engines.close()


@pytest.fixture(autouse=True)
def _homes_end_with_their_test() -> Iterator[None]:
    with engines.released_at_exit():
        yield


@pytest.fixture(scope="session", autouse=True)
def _clean_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Removes keys, proxies and the home folder of the user who runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in _leaking_variables(os.environ):
            patch.delenv(name)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(autouse=True)
def _nothing_leaks() -> Iterator[None]:
    """A test that sets a variable must reset it, so that the next test does not see it."""
    yield
    assert _leaking_variables(os.environ) == [], "use monkeypatch.setenv, which gives the variable back"


@pytest.fixture
def leaking_variables() -> Callable[[Mapping[str, str]], list[str]]:
    """The variables of an environment that would change how Footnote behaves."""
    return _leaking_variables


def _leaking_variables(environment: Mapping[str, str]) -> list[str]:
    return sorted(
        name
        for name in environment
        if name.upper().startswith(_LEAKING_PREFIXES) or name.upper().endswith(_LEAKING_SUFFIXES)
    )


@pytest.fixture(autouse=True)
def outside_calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A connection to another machine fails the test, even if the code under test swallows the error."""
    attempts: list[str] = []
    connect, connect_ex, resolve = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guard(host: Any) -> None:
        if not _is_local(host):
            attempts.append(str(host))
            raise AssertionError(f"a test tried to reach {host}")

    def guarded_connect(self: socket.socket, address: Any) -> None:
        guard(_host(self, address))
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        guard(_host(self, address))
        return connect_ex(self, address)

    def guarded_resolve(host: Any, *arguments: Any, **named: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name is not None and str(name).endswith(".invalid"):  # reserved: no resolver knows the name
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        guard(name)
        return resolve(host, *arguments, **named)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_resolve)
    yield attempts
    assert attempts == [], "a test tried to leave the machine"


def _host(sock: socket.socket, address: Any) -> Any:
    return address[0] if sock.family in (socket.AF_INET, socket.AF_INET6) else "localhost"


def _is_local(host: Any) -> bool:
    if host in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """An empty database of the engine that the tests run on."""
    async with Database.open(engines.database_url(tmp_path), tmp_path) as opened:
        yield opened


@pytest.fixture
async def net() -> AsyncIterator[Net]:
    async with Net() as opened:
        yield opened


@pytest.fixture
async def hang_monitor(tmp_path: Path) -> AsyncIterator[HangMonitor]:
    monitor = HangMonitor(tmp_path)
    yield monitor
    monitor.close()


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    """The scripted provider. A request that the real API would refuse fails the test."""
    async with Upstream() as provider:
        yield provider
    assert provider.problems == []


@pytest.fixture
def wire_fixtures() -> Path:
    """The folder with streams recorded from real servers."""
    return Path(__file__).parent / "fixtures" / "wire"
