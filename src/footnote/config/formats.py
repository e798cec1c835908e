"""Formats of strings in the configuration: the check, the text for an error, and the mask for display.

A secret of any length is shown as `***`.
"""

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias
from urllib.parse import urlsplit

from msgspec import Meta


@dataclass(frozen=True, slots=True)
class Format:
    """`expected` completes the sentence "expected …". A string with a `mask` is never quoted in an error.

    `choices` returns the only valid strings, if plugins add to them, so that they are known late.
    """

    expected: str = ""
    accepts: Callable[[str], bool] = lambda _: True
    mask: Callable[[Any], Any] | None = None
    choices: Callable[[], tuple[str, ...]] | None = None


MASK = "***"

VARIABLE_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""`${NAME}`: a variable of the environment, named in `agents.json` in place of its value."""

_SECRET_WORDS = frozenset(
    ("key", "apikey", "token", "secret", "password", "passwd", "pwd", "authorization", "auth", "cookie", "credentials")
)
_PUBLIC_QUERY_KEYS = frozenset({"endpoint", "region", "sslmode", "style", "downloads"})
_WORD_BREAK = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_AUTH_SCHEME = re.compile(r"\s*+(?:(?:bearer|basic|token)\s*+)?", re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    """Whether a value of this name is a secret: `X-API-Key`, `--token`, `dbPassword`, but not `MAX_TOKENS`."""
    words = [word.lower() for word in _WORD_BREAK.split(name) if word]
    return bool(words) and words[-1] in _SECRET_WORDS


def mask_value(_: Any) -> str:
    return MASK


def mask_reference(value: str) -> str:
    """`${NAME}` is no secret and says where to look; any other text may be one."""
    literal = VARIABLE_REFERENCE.sub("", value)
    return value if value != literal and _AUTH_SCHEME.fullmatch(literal) else MASK


def mask_url(address: str) -> str:
    """A URL without its password, and without those values of its query that are not known to be harmless."""
    scheme, slashes, rest = address.partition("://")
    if not slashes:
        return address
    query = ""
    if scheme == "s3":  # the query may hold the URL of an endpoint, with a password of its own
        rest, _, query = rest.partition("?")
    # The last `@` before anything else: a password may hold `/`, `?` and `#` unescaped.
    userinfo, at, rest = rest.rpartition("@")
    if at:
        user, colon, _ = userinfo.partition(":")
        userinfo = f"{user}:{MASK}" if colon else MASK
    if scheme != "s3":
        rest, _, query = rest.partition("?")
    shown = "?" + "&".join(_mask_query_pair(pair) for pair in query.split("&")) if query else ""
    return f"{scheme}://{userinfo}{at}{rest}{shown}"


def _mask_query_pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if name in _PUBLIC_QUERY_KEYS:
        return f"{name}{equals}{mask_url(value)}"
    return f"{name}={MASK}" if equals else MASK


def mask_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    """The arguments of a command, with the values of options masked that are named like a secret."""
    shown: list[str] = []
    expects_secret = False
    for argument in arguments:
        option, equals, _ = argument.partition("=")
        is_option = argument.startswith("-")
        if expects_secret and not is_option:
            shown.append(mask_reference(argument))
        elif equals and is_secret_name(option):
            shown.append(f"{option}={MASK}")
        else:
            shown.append(mask_url(argument))
        expects_secret = is_option and not equals and is_secret_name(argument)
    return tuple(shown)


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


def _is_web_address(text: str) -> bool:
    return _is_address(text, "http", "https")


def _is_address(text: str, *schemes: str) -> bool:
    if not text.isprintable() or " " in text:
        return False
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises for a port that is not a number up to 65535
    except ValueError:
        return False
    return parts.scheme in schemes and bool(parts.hostname)


def _is_host_and_port(text: str) -> bool:
    host, _, port = text.rpartition(":")
    named = re.fullmatch(r"[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]", host)
    return named is not None and port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65_536


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True


SECRET = Format(
    "a key of printable characters without spaces (leave the entry out when there is none)",
    _matches(r"[!-~]+"),
    mask_value,
)
WEB_ADDRESS = Format(
    "an address that starts with http:// or https://, such as https://example.org",
    _is_web_address,
    mask_url,
)
HOST = Format("the name or the address of a network interface, such as 127.0.0.1", _matches(r"[^\s/]+"))
HOST_AND_PORT = Format("host:port, such as wiki.intranet:8080 or [fd00::1]:80", _is_host_and_port)
NETWORK = Format("an IP address or a network, such as 10.0.0.7 or 10.0.0.0/8", _is_network)
MODEL_NAME = Format("PROVIDER/MODEL, such as anthropic/claude-sonnet-5-5", _matches(r"[^\s/]+/\S+"))
SECOND_LOOK_MODEL = Format(
    '"session", "off" or PROVIDER/MODEL, such as ollama/bespoke-minicheck', _matches(r"session|off|[^\s/]+/\S+")
)
PROVIDER_NAME = Format(
    "a name of letters, digits, '.', '_' and '-' (`footnote` is taken by the built-in reader)",
    _matches(r"(?!footnote$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}"),
)
AGENT_ID = Format(
    "an id of small letters, digits, '_' and '-', at most 64 of them, that starts with a letter or digit",
    _matches(r"[a-z0-9][a-z0-9_-]{0,63}"),
)
SERVER_NAME = Format(
    "a name of letters, digits, '_' and '-', at most 32 of them", _matches(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
)
COMMAND = Format("the name or the path of a program", lambda text: bool(text.strip()))
ARGUMENTS = Format("a list of strings", mask=mask_arguments)
VARIABLE_NAME = Format("the name of an environment variable", _matches(r"[^=\s\0]+"))
HEADER_NAME = Format("the name of an HTTP header", _matches(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"))
REFERENCE_TEXT = Format(
    "one line of text, in which ${NAME} stands for a variable of the environment",
    str.isprintable,
    mask_reference,
)
DATABASE_ADDRESS = Format(
    "sqlite:FILE or postgresql://USER:PASSWORD@HOST/NAME",
    lambda text: bool(re.fullmatch(r"sqlite:\S.*", text)) or _is_address(text, "postgresql", "postgres"),
    mask_url,
)
STORAGE_ADDRESS = Format(
    "local:FOLDER or s3://BUCKET?endpoint=…&region=…",
    lambda text: bool(re.fullmatch(r"local:\S.*", text)) or _is_address(text, "s3"),
    mask_url,
)
BUS_ADDRESS = Format(
    "local:, redis://HOST:PORT or postgresql:",
    lambda text: text in ("local:", "postgresql:") or _is_address(text, "redis", "rediss", "postgresql"),
    mask_url,
)

Secret: TypeAlias = Annotated[str, Meta(extra={"kind": SECRET})]
WebAddress: TypeAlias = Annotated[str, Meta(extra={"kind": WEB_ADDRESS})]
Host: TypeAlias = Annotated[str, Meta(extra={"kind": HOST})]
HostAndPort: TypeAlias = Annotated[str, Meta(extra={"kind": HOST_AND_PORT})]
Network: TypeAlias = Annotated[str, Meta(extra={"kind": NETWORK})]
ModelName: TypeAlias = Annotated[str, Meta(extra={"kind": MODEL_NAME})]
SecondLookModel: TypeAlias = Annotated[str, Meta(extra={"kind": SECOND_LOOK_MODEL})]
ProviderName: TypeAlias = Annotated[str, Meta(extra={"kind": PROVIDER_NAME})]
AgentId: TypeAlias = Annotated[str, Meta(extra={"kind": AGENT_ID})]
ServerName: TypeAlias = Annotated[str, Meta(extra={"kind": SERVER_NAME})]
Command: TypeAlias = Annotated[str, Meta(extra={"kind": COMMAND})]
Arguments: TypeAlias = Annotated[tuple[str, ...], Meta(extra={"kind": ARGUMENTS})]
VariableName: TypeAlias = Annotated[str, Meta(extra={"kind": VARIABLE_NAME})]
HeaderName: TypeAlias = Annotated[str, Meta(extra={"kind": HEADER_NAME})]
ReferenceText: TypeAlias = Annotated[str, Meta(extra={"kind": REFERENCE_TEXT})]
DatabaseAddress: TypeAlias = Annotated[str, Meta(extra={"kind": DATABASE_ADDRESS})]
StorageAddress: TypeAlias = Annotated[str, Meta(extra={"kind": STORAGE_ADDRESS})]
BusAddress: TypeAlias = Annotated[str, Meta(extra={"kind": BUS_ADDRESS})]

Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=86_400)]
