"""Footnote, a self-hosted research agent: every footnote opens the exact passage that the agent read.

    import asyncio
    from footnote import App

    async def main() -> None:
        async with App.open() as app:
            run = await app.ask("Why is the sky blue?")
            async for event in run.events():
                print(event)

    asyncio.run(main())

`app.research` makes a plan and writes a report in the same way, within a `Budget`. The events are the values of
`footnote.protocol.events`; `footnote.models.scripted` is a model for tests.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from footnote.protocol import __version__

if TYPE_CHECKING:
    from footnote.app import App, Run
    from footnote.cancel import CancelScope
    from footnote.protocol.errors import FootnoteError
    from footnote.protocol.plans import Budget

__all__ = ["App", "Budget", "CancelScope", "FootnoteError", "Run", "__version__"]

_MODULES = {
    "App": "footnote.app",
    "Budget": "footnote.protocol.plans",
    "Run": "footnote.app",
    "CancelScope": "footnote.cancel",
    "FootnoteError": "footnote.protocol.errors",
}


def __getattr__(name: str) -> Any:
    """Imports public names on first use, so that a program that needs only `footnote.protocol` loads nothing else."""
    if name not in _MODULES:
        raise AttributeError(f"module 'footnote' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
