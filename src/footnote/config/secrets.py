"""Every secret that the settings and the environment hold, so that nothing that is written down holds it too."""

from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from msgspec import inspect, to_builtins

from footnote.config.environment import SETTINGS_TYPE
from footnote.config.formats import SECRET, is_secret_name
from footnote.config.settings import Settings
from footnote.config.validation import leaves, shape_of

MIN_SECRET_LENGTH = 6
"""What is shorter stands in many words, and is a placeholder."""
_SECRET_SUFFIXES = ("PASSWORD", "PASSWD", "SECRET", "TOKEN", "KEY")


def collect_secrets(settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The longest first: one may be a part of another."""
    found = {
        text for text in (*_settings_secrets(settings), *_environ_secrets(environ)) if len(text) >= MIN_SECRET_LENGTH
    }
    return tuple(sorted(found, key=lambda text: (-len(text), text)))


def _settings_secrets(settings: Settings) -> Iterator[str]:
    for _, node, value in leaves(SETTINGS_TYPE, to_builtins(settings)):
        shape = shape_of(node)
        if not isinstance(value, str) or shape.kind is None or not isinstance(shape.node, inspect.StrType):
            continue
        if shape.kind is SECRET:
            yield value
        else:
            yield from _url_passwords(value)


def _environ_secrets(environ: Mapping[str, str]) -> Iterator[str]:
    for name, value in environ.items():
        if is_secret_name(name) or name.upper().endswith(_SECRET_SUFFIXES):
            yield value.strip()
        else:
            yield from _url_passwords(value)


def _url_passwords(text: str) -> Iterator[str]:
    """The password before the host of a URL, as it is written and as it is meant."""
    _, slashes, rest = text.partition("://")
    userinfo, at, _ = rest.rpartition("@")
    _, colon, password = userinfo.partition(":")
    if slashes and at and colon:
        yield password
        yield unquote(password)
