"""The listening address of a server, and its URL."""

import pytest

from footnote.config.settings import ServerSettings
from footnote.protocol.errors import UsageError
from footnote.server.http_server import address_of, listen


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_address_is_one_that_a_browser_can_open(host: str):
    with listen(host, 0) as listener:
        assert address_of(listener, ServerSettings()) == f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_an_ipv6_address_stands_in_brackets():
    try:
        listener = listen("::1", 0)
    except UsageError:
        pytest.skip("this machine has no IPv6")
    with listener:
        assert address_of(listener, ServerSettings()) == f"http://[::1]:{listener.getsockname()[1]}"


def test_the_public_address_is_what_people_see():
    with listen("127.0.0.1", 0) as listener:
        assert (
            address_of(listener, ServerSettings(public_url="https://footnote.example/")) == "https://footnote.example"
        )


def test_a_host_that_is_none_is_named():
    with pytest.raises(UsageError, match=r"no address 'no\.such\.invalid'.*--host"):
        listen("no.such.invalid", 0)


def test_the_same_port_can_be_had_again_at_once():
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        first.listen()
        with pytest.raises(UsageError, match=f"Port {port} of 127.0.0.1 cannot be used"):
            listen("127.0.0.1", port)
    with listen("127.0.0.1", port):
        pass
