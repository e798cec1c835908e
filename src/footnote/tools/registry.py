"""The tools that exist, and the toolbox of a run.

Built-ins are found in the folder `tools/builtin`, so that a new tool is a new file and nothing else.
"""

import logging
import pkgutil
from collections.abc import Container, Iterable, Iterator
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any

from footnote.plugins import load_plugins
from footnote.protocol.errors import FootnoteError
from footnote.protocol.tools import Locale, ToolSpec
from footnote.tools import builtin
from footnote.tools.base import Abilities, Tool
from footnote.tools.define import validate_name

PLUGIN_GROUP = "footnote.tools"

log = logging.getLogger(__name__)


@cache
def builtin_tools() -> tuple[Tool, ...]:
    """The tools that ship with Footnote, by name."""
    modules = (import_module(f"{builtin.__name__}.{found.name}") for found in pkgutil.iter_modules(builtin.__path__))
    tools = (value for module in modules for value in vars(module).values() if isinstance(value, Tool))
    return tuple(sorted(tools, key=lambda tool: tool.name))


@cache
def plugin_tools() -> tuple[Tool, ...]:
    """The tools of other packages: each entry point is a tool, or an iterable of tools."""
    return load_plugins(PLUGIN_GROUP, _check_plugin)


def _check_plugin(_: str, loaded: Any) -> tuple[Tool, ...]:
    tools: tuple[Any, ...] = (loaded,) if isinstance(loaded, Tool) else tuple(loaded)
    for tool in tools:
        if not isinstance(tool, Tool):
            raise TypeError(f"{tool!r} is not a tool; make it one with footnote.tools.define.tool.")
        validate_name(tool.name)
    return tools


def merge(*groups: Iterable[Tool]) -> tuple[Tool, ...]:
    """All tools of all groups. Of two with one name the earlier stays: pass the built-ins first."""
    chosen: dict[str, Tool] = {}
    for group in groups:
        for tool in group:
            if chosen.setdefault(tool.name, tool) is not tool:
                log.warning("A second tool is called %s; it is left out. Rename it to have it.", tool.name)
    return tuple(chosen.values())


FIRST = "web_search"
"""The tool that a model sees first: small models prefer the first of a list, and most questions need this one."""


class Toolbox:
    """The tools of one run: those whose conditions hold. Frozen, and in a stable order, so that the provider
    can cache the part of a request that describes them. The file tools are the last: they appear with the first file of
    a session, and what stands before them stays cached."""

    __slots__ = ("_specs", "_tools")

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = MappingProxyType({tool.name: tool for tool in sorted(tools, key=_position)})
        self._specs = tuple(tool.spec for tool in self._tools.values())

    @classmethod
    def of(cls, tools: Iterable[Tool], abilities: Abilities) -> "Toolbox":
        return cls(tool for tool in tools if _is_available(tool, abilities))

    @classmethod
    def empty(cls) -> "Toolbox":
        return cls(())

    def only(self, names: Container[str]) -> "Toolbox":
        return Toolbox(tool for tool in self if tool.name in names)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as a model sees them."""
        return self._specs

    async def offered_specs(self, abilities: Abilities) -> tuple[ToolSpec, ...]:
        """The tools that can act now, as a model sees them. The others can be called all the same."""
        if all(not tool.needs_files for tool in self) or await _has_files(abilities):
            return self._specs
        return tuple(tool.spec for tool in self if not tool.needs_files)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def title(self, name: str, locale: Locale) -> str:
        """The title of a tool for users; of a tool that does not exist, its name."""
        tool = self.get(name)
        return tool.title(locale) if tool is not None else name

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)


def _position(tool: Tool) -> tuple[bool, bool, str]:
    return tool.needs_files, tool.name != FIRST, tool.name


async def _has_files(abilities: Abilities) -> bool:
    """Asked in each round: calls, large results, and users who upload or delete something, all change the answer."""
    try:
        return abilities.workspace is not None and await abilities.workspace.has_files()
    except FootnoteError as error:  # a database that is away for a moment must not end the run
        log.warning("Whether the session has files could not be found out: %s", error.message)
        return True


def _is_available(tool: Tool, abilities: Abilities) -> bool:
    try:
        return tool.available(abilities)
    except Exception:  # the condition of a plugin is foreign code, and must not end the run
        log.exception("The condition of the tool %s failed; the tool is left out.", tool.name)
        return False
