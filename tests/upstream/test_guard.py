"""The guards of the test suite: no connection to another machine, and no settings of the user."""

import asyncio
import os
import socket
from collections.abc import Callable, Mapping

import pytest

Leaking = Callable[[Mapping[str, str]], list[str]]


@pytest.mark.parametrize("host", ["example.com", "93.184.216.34", "10.0.0.1", "169.254.169.254", "0.0.0.1"])
def test_a_connection_to_anywhere_but_loopback_is_an_error(host: str, outside_calls: list[str]):
    with pytest.raises(AssertionError, match="tried to reach"):
        socket.create_connection((host, 80), timeout=1)

    assert outside_calls == [host]
    outside_calls.clear()


async def test_asyncio_connections_are_guarded_too(outside_calls: list[str]):
    with pytest.raises(AssertionError, match="tried to reach"):
        await asyncio.open_connection("93.184.216.34", 80)

    outside_calls.clear()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_loopback_is_allowed(host: str):
    with pytest.raises(OSError, match=r"refused|assign"):
        socket.create_connection((host, 9), timeout=1)


def test_reserved_names_resolve_to_nothing():
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("nowhere.invalid", 80)


def test_no_key_proxy_or_setting_of_ours_is_in_the_environment(leaking_variables: Leaking):
    assert leaking_variables(os.environ) == []


def test_leaking_variables_are_recognised(leaking_variables: Leaking):
    names = {"FOOTNOTE_HOME", "BRAVE_API_KEY", "OPENAI_BASE_URL", "http_proxy", "PATH", "HOME"}

    assert leaking_variables(dict.fromkeys(names, "x")) == [
        "BRAVE_API_KEY",
        "FOOTNOTE_HOME",
        "OPENAI_BASE_URL",
        "http_proxy",
    ]
