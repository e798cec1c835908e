"""The registry of search providers. Each module of this package that contains a `Provider` is found by itself; another
package registers a provider as an entry point of the group `footnote.providers`.

The configuration derives the names, sections and environment variables from this registry. Every command reads the
configuration, so importing a provider must not load the HTTP client.
"""

import logging
import pkgutil
import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any

from footnote.plugins import load_plugins
from footnote.web_search.providers.base import Provider

PLUGIN_GROUP = "footnote.providers"

_ID = re.compile("[a-z][a-z0-9-]{0,31}")
_VARIABLE = re.compile("[A-Z][A-Z0-9_]*")

log = logging.getLogger(__name__)


@cache
def builtin_providers() -> tuple[Provider, ...]:
    """The providers that ship with Footnote, in the order in which they are tried."""
    modules = (import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__))
    providers = (value for module in modules for value in vars(module).values() if isinstance(value, Provider))
    return _in_order(providers)


@cache
def search_providers() -> tuple[Provider, ...]:
    """All providers, including those of other packages. A plugin with the name of a built-in provider is ignored."""
    providers = list(builtin_providers())
    known_names = {name for provider in providers for name in (provider.id, *provider.aliases)}
    for provider in load_plugins(PLUGIN_GROUP, _check_plugin):
        names = {provider.id, *provider.aliases}
        if clashes := names & known_names:
            log.warning("A second search provider is called %s; it is left out.", ", ".join(sorted(clashes)))
            continue
        providers.append(provider)
        known_names |= names
    return _in_order(providers)


def _in_order(providers: Iterable[Provider]) -> tuple[Provider, ...]:
    return tuple(sorted(providers, key=lambda provider: provider.order))


def _check_plugin(_: str, loaded: Any) -> tuple[Provider, ...]:
    """The providers of an entry point, which is one provider or an iterable of several."""
    providers: tuple[Any, ...] = (loaded,) if isinstance(loaded, Provider) else tuple(loaded)
    for provider in providers:
        if not isinstance(provider, Provider):
            raise TypeError(f"{provider!r} is not a search provider; make a WebProvider or a subclass of Provider.")
        for name in (provider.id, *provider.aliases):
            if not _ID.fullmatch(name):
                raise TypeError(f"{name!r} cannot be the name of a search provider: 1 to 32 of a-z, 0-9 and -.")
        if provider.key_name and not _VARIABLE.fullmatch(provider.key_name):
            raise TypeError(f"{provider.key_name!r} cannot be the name of an environment variable for a key.")
    return providers
