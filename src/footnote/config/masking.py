"""How much of a value may be shown. Whatever is a secret becomes `***`, whatever its length."""

import re
from collections.abc import Sequence
from typing import Any

MASK = "***"

REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""`${NAME}`: a variable of the environment, named in `agents.json` in place of its value."""

_SECRET_WORDS = frozenset(
    ("key", "apikey", "token", "secret", "password", "passwd", "pwd", "authorization", "auth", "cookie", "credentials")
)
_OPEN_QUERY = frozenset({"endpoint", "region", "sslmode"})
_WORD_BREAK = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_SCHEME_OF_A_HEADER = re.compile(r"\s*(?:bearer|basic|token)?\s*", re.IGNORECASE)


def names_a_secret(name: str) -> bool:
    """Whether what is called so holds a secret: `X-API-Key`, `--token`, `dbPassword`, but not `MAX_TOKENS`."""
    words = [word.lower() for word in _WORD_BREAK.split(name) if word]
    return bool(words) and words[-1] in _SECRET_WORDS


def masked(_: Any) -> str:
    return MASK


def masked_reference(value: str) -> str:
    """`${NAME}` is no secret and says where to look; any other text may be one."""
    literal = REFERENCE.sub("", value)
    return value if value != literal and _SCHEME_OF_A_HEADER.fullmatch(literal) else MASK


def masked_address(address: str) -> str:
    """A URL without its password, and without those values of its query that are not known to be harmless."""
    scheme, slashes, rest = address.partition("://")
    if not slashes:
        return address
    # Split at the last `@` before anything else: a password may hold `/`, `?` and `#` unescaped.
    userinfo, at, rest = rest.rpartition("@")
    if at:
        user, colon, _ = userinfo.partition(":")
        userinfo = f"{user}:{MASK}" if colon else MASK
    head, question, query = rest.partition("?")
    shown = "&".join(_masked_pair(pair) for pair in query.split("&")) if question else ""
    return f"{scheme}://{userinfo}{at}{head}{question}{shown}"


def _masked_pair(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return pair if name in _OPEN_QUERY else f"{name}={MASK}" if equals else MASK


def masked_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    """The arguments of a command, without what stands behind an option that is named like a secret."""
    shown: list[str] = []
    announced = False
    for argument in arguments:
        option, equals, _ = argument.partition("=")
        is_option = argument.startswith("-")
        if announced and not is_option:
            shown.append(masked_reference(argument))
        elif equals and names_a_secret(option):
            shown.append(f"{option}={MASK}")
        else:
            shown.append(masked_address(argument))
        announced = is_option and not equals and names_a_secret(argument)
    return tuple(shown)
