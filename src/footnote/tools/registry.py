"""Which tools there are, and which of them a run has.

Built-ins are found by looking into `tools/builtin`, so a new tool is a new file and nothing else.
"""

import logging
import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from types import MappingProxyType

from footnote.protocol.tools import Locale, ToolSpec
from footnote.tools import builtin
from footnote.tools.base import Abilities, Tool

log = logging.getLogger(__name__)


@cache
def builtin_tools() -> tuple[Tool, ...]:
    """The tools that ship with Footnote, by name."""
    modules = (import_module(f"{builtin.__name__}.{found.name}") for found in pkgutil.iter_modules(builtin.__path__))
    tools = (value for module in modules for value in vars(module).values() if isinstance(value, Tool))
    return tuple(sorted(tools, key=lambda tool: tool.name))


def merge(*groups: Iterable[Tool]) -> tuple[Tool, ...]:
    """All tools of all groups. Of two with one name the earlier stays: pass the built-ins first."""
    chosen: dict[str, Tool] = {}
    for group in groups:
        for tool in group:
            if chosen.setdefault(tool.name, tool) is not tool:
                log.warning("A second tool is called %s; it is left out. Rename it to have it.", tool.name)
    return tuple(chosen.values())


class Toolbox:
    """The tools of one run: those whose conditions hold. Frozen, and in a stable order, so that the part of a
    request that describes them can be cached by the provider."""

    __slots__ = ("_specs", "_tools")

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = MappingProxyType({tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)})
        self._specs = tuple(tool.spec for tool in self._tools.values())

    @classmethod
    def of(cls, tools: Iterable[Tool], abilities: Abilities) -> "Toolbox":
        return cls(tool for tool in tools if _is_available(tool, abilities))

    @classmethod
    def empty(cls) -> "Toolbox":
        return cls(())

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as a model sees them."""
        return self._specs

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def title(self, name: str, locale: Locale) -> str:
        """What a person calls the tool; a tool that does not exist has only its name."""
        tool = self.get(name)
        return tool.title(locale) if tool is not None else name

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)


def _is_available(tool: Tool, abilities: Abilities) -> bool:
    try:
        return tool.available(abilities)
    except Exception:  # the condition of a plugin is foreign code, and must not end the run of everybody else
        log.exception("The condition of the tool %s failed; the tool is left out.", tool.name)
        return False
