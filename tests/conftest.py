"""What holds for every test: no network but loopback, no settings of the person who runs them, one upstream."""

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
from upstream import Upstream

pytest_plugins = ["spreading"]

_LEAKING_PREFIXES = ("FOOTNOTE_", "ANTHROPIC_", "OPENAI_", "AWS_", "OTEL_")
_LEAKING_SUFFIXES = ("_API_KEY", "_PROXY")

# How long an example takes is for a busy machine to say, and says nothing about what is tried with it. The examples are
# the same in every run, so that nobody's change is refused for what it did not touch; `--hypothesis-profile=searching`
# looks further.
settings.register_profile("searching", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("footnote", settings.get_profile("searching"), derandomize=True)
settings.load_profile("footnote")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engines", choices=engines.NAMES, default="embedded", help="what the tests run on")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "embedded: about SQLite or files of the home folder; skipped on services")
    chosen = config.getoption("--engines")
    if chosen == "services" and (lacking := missing()):
        raise pytest.UsageError("\n".join(lacking))
    engines.select_engine(chosen)
    if chosen == "services":
        # Whoever ends the tests, by a time limit or so, ends the servers with them.
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--engines") == "services":
        skipped = pytest.mark.skip(reason="about SQLite or files of the home folder")
        for item in items:
            if item.get_closest_marker("embedded"):
                item.add_marker(skipped)
        # An engine belongs to a home folder: what has none runs on none, and would be the same test again.
        config.hook.pytest_deselected(items=[item for item in items if not _has_home(item)])
        items[:] = filter(_has_home, items)


def _has_home(item: pytest.Item) -> bool:
    return "tmp_path" in getattr(item, "fixturenames", ())


def pytest_collection_finish() -> None:
    """All tests together are so many objects that to look through them for garbage stops everything for a second, in
    the middle of whatever test that comes upon. They stay to the end, so there is nothing to look for."""
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
    """Keys, proxies and the home folder of whoever runs the tests are nobody's business here."""
    with pytest.MonkeyPatch.context() as patch:
        for name in _leaking_variables(os.environ):
            patch.delenv(name)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(autouse=True)
def _nothing_leaks() -> Iterator[None]:
    """A test that sets a variable gives it back, so that the next one does not see it."""
    yield
    assert _leaking_variables(os.environ) == [], "use monkeypatch.setenv, which gives the variable back"


@pytest.fixture
def leaking() -> Callable[[Mapping[str, str]], list[str]]:
    """Which variables of an environment would change how Footnote behaves."""
    return _leaking_variables


def _leaking_variables(environment: Mapping[str, str]) -> list[str]:
    return sorted(
        name
        for name in environment
        if name.upper().startswith(_LEAKING_PREFIXES) or name.upper().endswith(_LEAKING_SUFFIXES)
    )


@pytest.fixture(autouse=True)
def outside_calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Any attempt to leave the machine fails the test, also one that the code under test swallows."""
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
        if name is not None and str(name).endswith(".invalid"):  # reserved: no resolver knows it
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
async def upstream() -> AsyncIterator[Upstream]:
    """The scripted provider. A request that a real API would refuse fails the test that sent it."""
    async with Upstream() as provider:
        yield provider
    assert provider.problems == []


@pytest.fixture
def wire_fixtures() -> Path:
    """Streams as real servers sent them."""
    return Path(__file__).parent / "fixtures" / "wire"
