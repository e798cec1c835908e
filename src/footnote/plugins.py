"""Plugins of other installed packages: tools, search providers and model adapters, found by their entry points.

A plugin that cannot be used is left out with a warning that names its package. It never stops Footnote.
"""

import logging
from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

T = TypeVar("T")

log = logging.getLogger(__name__)


def load_plugins(group: str, check: Callable[[str, Any], Iterable[T]]) -> tuple[T, ...]:
    """The parts of all entry points of a group, in the order of their names.

    `check` gets the name of an entry point and the object that it loads. It returns the parts of that object, such as
    tools, and raises an error if the object does not fit the group.
    """
    return tuple(part for entry in sorted(entry_points(group=group)) for part in _load(entry, check))


def _load(entry: EntryPoint, check: Callable[[str, Any], Iterable[T]]) -> tuple[T, ...]:
    try:
        return tuple(check(entry.name, entry.load()))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - code of others may raise any exception when it is imported
        package = entry.dist.name if entry.dist else "an unknown package"
        log.warning(
            "The plugin %s of the package %s could not be loaded and is left out: %s: %s",
            entry.name,
            package,
            type(error).__name__,
            error,
        )
        return ()
