"""Search providers. Each is one module here that has a `Provider`, and is found by looking: a new one is a new file."""

import pkgutil
from functools import cache
from importlib import import_module

from footnote.web_search.providers.base import Provider


@cache
def builtin_providers() -> tuple[Provider, ...]:
    """The providers that ship with Footnote, in the order in which they stand in for each other."""
    modules = (import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__))
    providers = (value for module in modules for value in vars(module).values() if isinstance(value, Provider))
    return tuple(sorted(providers, key=lambda provider: provider.order))
