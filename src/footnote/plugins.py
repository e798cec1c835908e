"""Third parties: what installed packages offer under the entry-point groups of Footnote.

A plugin that is broken is left out with a warning that names its package. It never stops Footnote.
"""

import logging
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from footnote.tools.base import Tool
from footnote.tools.define import validate_name

TOOLS_GROUP = "footnote.tools"

log = logging.getLogger(__name__)


@cache
def load_tools() -> tuple[Tool, ...]:
    """The tools of all plugins: each entry point is a tool, or an iterable of tools. Looked for once a process."""
    return tuple(tool for entry in sorted(entry_points(group=TOOLS_GROUP)) for tool in _tools_of(entry))


def _tools_of(entry: EntryPoint) -> tuple[Tool, ...]:
    try:
        loaded: Any = entry.load()
        tools = (loaded,) if isinstance(loaded, Tool) else tuple(loaded)
        for tool in tools:
            _check_tool(tool)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code may raise anything when it is imported
        package = entry.dist.name if entry.dist else "an unknown package"
        log.warning(
            "The plugin %s of the package %s could not be loaded and is left out: %s: %s",
            entry.name,
            package,
            type(error).__name__,
            error,
        )
        return ()
    return tools


def _check_tool(tool: Any) -> None:
    if not isinstance(tool, Tool):
        raise TypeError(f"{tool!r} is not a tool; make it one with footnote.tools.define.tool.")
    validate_name(tool.name)
