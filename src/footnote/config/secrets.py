"""Every secret that the settings and the environment hold, so that nothing that is written down holds it too."""

from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from msgspec import inspect, to_builtins

from footnote.config.environment import SETTINGS
from footnote.config.kinds import SECRET, names_a_secret
from footnote.config.settings import Settings
from footnote.config.shape import leaves, shape_of

SHORTEST = 6
"""What is shorter stands in many words, and is a placeholder."""
_ENDINGS = ("PASSWORD", "PASSWD", "SECRET", "TOKEN", "KEY")


def secrets_of(settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The longest first: one may be a part of another."""
    found = {text for text in (*_in_settings(settings), *_in_environment(environ)) if len(text) >= SHORTEST}
    return tuple(sorted(found, key=lambda text: (-len(text), text)))


def _in_settings(settings: Settings) -> Iterator[str]:
    for _, node, value in leaves(SETTINGS, to_builtins(settings)):
        shape = shape_of(node)
        if not isinstance(value, str) or shape.kind is None or not isinstance(shape.node, inspect.StrType):
            continue
        if shape.kind is SECRET:
            yield value
        else:
            yield from _in_address(value)


def _in_environment(environ: Mapping[str, str]) -> Iterator[str]:
    for name, value in environ.items():
        if names_a_secret(name) or name.upper().endswith(_ENDINGS):
            yield value.strip()
        else:
            yield from _in_address(value)


def _in_address(text: str) -> Iterator[str]:
    """The password before the host of a URL, as it is written and as it is meant."""
    _, slashes, rest = text.partition("://")
    userinfo, at, _ = rest.rpartition("@")
    _, colon, password = userinfo.partition(":")
    if slashes and at and colon:
        yield password
        yield unquote(password)
