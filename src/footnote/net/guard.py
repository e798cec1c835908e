"""The URLs, hosts and addresses that may be opened when a page or a model chose them.

A URL is parsed once, and the parsed value is both checked and requested: two parsers that disagree about where the host
begins are how such checks are bypassed. An address is checked where a socket is made for it (`net/connector.py`), not
where its name is first resolved.
"""

import ipaddress
import re
from collections.abc import Collection
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Self

from yarl import URL

from footnote.net import AddressRefused

MAX_URL_LENGTH = 8_000

_BAD_CHARACTERS = re.compile(
    r"[\x00-\x20\x7f-\xa0\xad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ud800-\udfff\ufeff\\]"
)
"""Control characters, white space of any script, invisible characters, lone surrogates; and the backslash, which some
programs read as a slash and others do not."""
_WITH_AUTHORITY = re.compile(r"https?://([^/?#]*)", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\[\]:@%]+)(?::[0-9]{0,5})?")
"""No user, password, zone id or percent-encoding: no host of the public web needs them."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
_ENDS_IN_A_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")

_BLOCKED_ZONES = (
    *("localhost", "localdomain", "local", "internal", "intranet", "corp", "lan", "home", "home.arpa"),
    *("metadata.goog", "metadata.tencentyun.com", "metadata.packet.net", "metadata.platformequinix.com"),
)
"""Names that belong to a private network, whatever they resolve to here."""

_BLOCKED_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # behind a carrier's NAT; Alibaba's metadata
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's host, in the midst of public addresses
        "169.254.0.0/16",  # link-local; metadata of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments; Oracle's metadata
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks, and the made-up addresses of some proxies
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_UNICAST_V6 = IPv6Network("2000::/3")
"""The global unicast range. Loopback, unique local, link-local, site-local, multicast and discard are outside of it."""
_BLOCKED_V6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: benchmarks, ORCHID, anycast of NAT helpers
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/96"))
"""The second is the first of a network's own prefixes; other layouts below 64:ff9b:1::/48 are not public at all."""
_6TO4 = IPv6Network("2002::/16")
_TEREDO = IPv6Network("2001::/32")
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


def is_public(address: str | IPv4Address | IPv6Address) -> bool:
    """Whether an address is on the public internet; an address that embeds an IPv4 address is checked by both."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(known, IPv4Address):
        return not any(known in network for network in _BLOCKED_V4)
    if known.scope_id is not None or not all(map(is_public, _embedded_ipv4(known))):
        return False
    if known in _MAPPED or known in _TEREDO or any(known in network for network in _NAT64):
        return True
    return known in _UNICAST_V6 and not any(known in network for network in _BLOCKED_V6)


def _embedded_ipv4(address: IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses to which packets for an IPv6 address may be forwarded."""
    bits = int(address)
    last = IPv4Address(bits & 0xFFFF_FFFF)
    if address in _MAPPED or any(address in network for network in _NAT64):
        return [last]
    if address in _6TO4:
        return [IPv4Address(bits >> 80 & 0xFFFF_FFFF)]
    if address in _TEREDO:
        return [IPv4Address(bits >> 64 & 0xFFFF_FFFF), IPv4Address(int(last) ^ 0xFFFF_FFFF)]
    return [last] if bits >> 32 & 0xFFFF_FFFF in _ISATAP else []


class PageUrl:
    """A URL that a page or a model chose, in canonical form: without fragment, user and trailing dot."""

    __slots__ = ("parsed",)

    def __init__(self, parsed: URL) -> None:
        self.parsed = parsed

    @classmethod
    def parse(cls, text: str) -> Self:
        """`AddressRefused` says why the text is not a plain http or https URL."""
        if len(text) > MAX_URL_LENGTH:
            raise AddressRefused(f"the URL is longer than {MAX_URL_LENGTH} characters")
        if _BAD_CHARACTERS.search(text):
            raise AddressRefused("the URL has white space, a backslash or an invisible character in it")
        authority = _WITH_AUTHORITY.match(text)
        if authority is None:
            raise AddressRefused("only http and https URLs are read")
        if "@" in authority[1]:
            raise AddressRefused("the URL has a user name in it")
        if not _AUTHORITY.fullmatch(authority[1]):
            raise AddressRefused("the URL has no valid host and port")
        try:
            parsed = URL(text).with_fragment(None)
            host = (parsed.raw_host or "").removesuffix(".")
            parsed = parsed if host == parsed.raw_host else parsed.with_host(host)
            parsed = parsed.with_path("/", keep_query=True) if parsed.raw_path == "/" else parsed
        except ValueError:
            raise AddressRefused("the URL is not valid") from None
        if not parsed.port or not _is_canonical(host):
            raise AddressRefused("the URL has no valid host and port")
        return cls(parsed)

    def join(self, location: str) -> Self:
        """The target of a redirect. Spaces and undecodable bytes are percent-encoded, as browsers do."""
        quoted = re.sub("[\udc80-\udcff]", lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}", location.strip(" "))
        quoted = quoted.replace(" ", "%20")
        if _SCHEME.match(quoted):
            return type(self).parse(quoted)
        if quoted.startswith("//"):
            return type(self).parse(f"{self.parsed.scheme}:{quoted}")
        if _BAD_CHARACTERS.search(quoted):
            raise AddressRefused("the redirect has a backslash or an invisible character in it")
        return type(self).parse(str(self.parsed.join(URL(quoted))))

    def __str__(self) -> str:
        return str(self.parsed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PageUrl) and self.parsed == other.parsed

    def __hash__(self) -> int:
        return hash(self.parsed)

    @property
    def scheme(self) -> str:
        return self.parsed.scheme

    @property
    def host(self) -> str:
        return self.parsed.raw_host or ""

    @property
    def host_and_port(self) -> str:
        """`host:port` as an operator writes it, with the port also where it is the default."""
        return f"{self.parsed.host_subcomponent}:{self.parsed.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host_and_port}"

    @property
    def path_and_query(self) -> str:
        """The request target: path and query."""
        return self.parsed.raw_path_qs

    @property
    def address(self) -> IPv4Address | IPv6Address | None:
        """The host if it is an IP address, otherwise None."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None

    def is_allowed_private(self, private_hosts: Collection[str]) -> bool:
        """Whether the operator allowed exactly this host and port."""
        return bool(private_hosts) and self.host_and_port in _canonical_hosts(frozenset(private_hosts))

    def check_name(self) -> None:
        """Refuses names of this machine or of the private network."""
        if self.address is None and ("." not in self.host or f".{self.host}".endswith(_BLOCKED_SUFFIXES)):
            raise self.not_public_error()

    def check_host(self) -> None:
        """Refuses a host without a DNS query: private names, and addresses that are not public."""
        self.check_name()
        if self.address is not None and not is_public(self.address):
            raise self.not_public_error()

    def not_public_error(self) -> AddressRefused:
        """The message does not contain the resolved address: that would map the private network for the author of the
        URL."""
        return AddressRefused(
            f"{self.host_and_port} is not on the public web; tools.webSearch.allowPrivateHosts opens it"
        )


_BLOCKED_SUFFIXES = tuple(f".{zone}" for zone in _BLOCKED_ZONES)


def _is_canonical(host: str) -> bool:
    """Whether every program parses this host alike: an address in canonical form, or a name that is no address in any
    form."""
    if ":" in host:
        return True
    if not _ENDS_IN_A_NUMBER.fullmatch(host):
        return _NAME.fullmatch(host) is not None
    try:
        return str(IPv4Address(host)) == host
    except ValueError:
        return False


@lru_cache(maxsize=16)
def _canonical_hosts(entries: frozenset[str]) -> frozenset[str]:
    """The entries in the form of `host_and_port`. An entry that is no host with a port allows nothing."""
    hosts: set[str] = set()
    for entry in entries:
        if _AUTHORITY.fullmatch(entry) and entry[-1].isdigit() and ":" in entry:
            with suppress(AddressRefused):
                hosts.add(PageUrl.parse(f"http://{entry}").host_and_port)
    return frozenset(hosts)
