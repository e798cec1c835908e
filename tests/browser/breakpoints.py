"""Places in a turn at which the scripted model waits until the test releases it."""

import asyncio
from collections.abc import Sequence

from upstream import hold
from upstream.steps import Step


class Breakpoints:
    """`Breakpoints("text")`: the model waits there. `release("text")` lets it continue, `release()` everywhere."""

    def __init__(self, *places: str) -> None:
        self._events = {place: asyncio.Event() for place in places}

    def before(self, place: str) -> Sequence[Step]:
        return (hold(self._events[place]),) if place in self._events else ()

    def release(self, *places: str) -> None:
        for place in places or self._events:
            self._events[place].set()
